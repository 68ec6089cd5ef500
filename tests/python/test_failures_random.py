"""Compiled matches eager bit for bit: random numbers. Numbers refer to docs/failures.md."""

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import pytest
from same import bits, check, check_scenario
from worlds import calls, module_world, numbered, pure


def seeded(x):
    lucid.manual_seed(5)
    return x + lucid.rand(3, 4)


def seeded_between_random_ops(x):
    first = lucid.rand(3, 4)
    lucid.manual_seed(7)
    return x * first + lucid.rand(3, 4)


def filled(x):
    return lucid.empty(3, 4).uniform_(-1, 1) * x + lucid.empty(3, 4).normal_()


def noise_in_a_loop(x):
    for _ in range(3):
        x = x + lucid.randn(3, 4) * 0.1
    return x


RANDOM_FUNCTIONS = {
    "21 dropout": lambda x: F.dropout(x, 0.5, training=True) * 2,
    "21 dropout twice": lambda x: F.dropout(F.dropout(x, 0.5, training=True) * 2, 0.2, training=True),
    "21 dropout of channels": lambda x: F.dropout1d(x.reshape(1, 3, 4), 0.5, training=True),
    "21 alpha dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
    "21 dropout in eval mode": lambda x: F.dropout(x, 0.5, training=False) * 2,
    "21 dropout with p = 1": lambda x: F.dropout(x, 1.0, training=True),
    "21 mean of a dropout": lambda x: F.dropout(x, 0.3, training=True).mean(0),
    "21 sum of a dropout": lambda x: F.dropout(x, 0.3, training=True).sum(1),
    "21 rrelu": lambda x: F.rrelu(x, training=True),
    "22 seed inside": seeded,
    "22 seed between random ops": seeded_between_random_ops,
    "23 rand": lambda x: x * lucid.rand(3, 4),
    "23 randn": lambda x: x * lucid.randn(3, 4),
    "23 randint": lambda x: x * lucid.randint(0, 10, (3, 4)),
    "23 randperm": lambda x: x[lucid.randperm(3)],
    "23 multinomial": lambda x: x * lucid.multinomial(lucid.softmax(x.detach(), -1), 2).sum(),
    "23 rand_like": lambda x: x * lucid.rand_like(x) + lucid.randn_like(x),
    "23 bernoulli": lambda x: x * lucid.bernoulli(lucid.sigmoid(x.detach())),
    "23 normal": lambda x: x + lucid.normal(0.0, 2.0, (3, 4)),
    "23 fills": filled,
    "23 in a loop": noise_in_a_loop,
    "23 unused random numbers": lambda x: (lucid.rand(7), x * 2)[1],
    "23 gumbel": lambda x: F.gumbel_softmax(x, hard=False),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(RANDOM_FUNCTIONS)
def test_random_functions(case, grad):
    check(pure(case, (3, 4), grad=grad), min_hits=2)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_21_masks_do_not_depend_on_threads(threads):
    before = lucid.get_num_threads()
    lucid.set_num_threads(threads)
    try:
        compiled = check(pure(lambda x: F.dropout(x, 0.5, training=True).exp(), (300, 70), grad=True), min_hits=2)
        lucid.manual_seed(1)
        found = bits(compiled(lucid.ones(300, 70, requires_grad=True)))
    finally:
        lucid.set_num_threads(before)
    lucid.manual_seed(1)
    assert found == bits(F.dropout(lucid.ones(300, 70, requires_grad=True), 0.5, training=True).exp())


def test_21_masks_are_new_at_each_call():
    f = lucid.compile(lambda x: F.dropout(x, 0.5, training=True))
    masks = {bits(f(lucid.ones(64))) for _ in range(8)}
    assert len(masks) == 8
    assert f.cache_info().hits == 7


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_22_seeds_between_calls(grad):
    def world():
        f = pure(lambda x: x * lucid.rand(4), (4,))()[0]
        seed = lambda number: lucid.manual_seed(number // 2) if number % 2 else None  # noqa: E731
        return f, calls((4,), count=8, grad=grad, before=seed), []

    check(world, min_hits=6)


def test_22_states_saved_and_restored_between_calls():
    def scenario(wrap):
        f = wrap(lambda x: F.dropout(x, 0.5, training=True) + lucid.randn(5))
        seen = []
        for _ in range(3):
            state = lucid.get_rng_state()
            seen.append(f(lucid.ones(5)))
            lucid.set_rng_state(state)
            seen.append(f(lucid.ones(5)))
            seen.append(lucid.rand(3))
        assert bits(seen[0]) == bits(seen[1])
        return seen

    check_scenario(scenario, min_hits=5)


def test_22_a_custom_generator():
    def world():
        generator = lucid.Generator().manual_seed(3)

        def f(x):
            return x * lucid.rand(4, generator=generator) + lucid.rand(4)

        def reseed(number):
            if number == 3:
                generator.manual_seed(3)

        return f, calls((4,), count=6, before=reseed), []

    check(world, min_hits=4)


def test_22_eager_and_compiled_calls_share_one_stream():
    def scenario(wrap):
        f = wrap(lambda x: x + lucid.rand(3))
        return [(f(lucid.ones(3)), lucid.rand(2), lucid.randint(0, 9, (2,))) for _ in range(4)]

    check_scenario(scenario, min_hits=3)


def test_23_backward_uses_the_mask_of_forward():
    def scenario(wrap):
        f = wrap(lambda x: F.dropout(x, 0.5, training=True))
        seen = []
        for _ in range(4):
            x = lucid.ones(32, requires_grad=True)
            y = f(x)
            lucid.rand(100)
            y.sum().backward()
            assert bits(x.grad) == bits(y.detach())
            seen.append((y, x.grad))
        return seen

    check_scenario(scenario, min_hits=3)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("kind", ["21 dropout", "21 transformer", "21 recurrent"])
def test_modules_with_random_ops(kind, train):
    kinds = {
        "21 dropout": (lambda: nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2)), (3, 4)),
        "21 transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3), (3, 2, 8)),
        "21 recurrent": (lambda: Last(nn.LSTM(4, 5, num_layers=2, dropout=0.4)), (3, 2, 4)),
    }
    make, shape = kinds[kind]
    check(module_world(make, shape, prepare=lambda module: module.train(train)), min_hits=2)


class Last(nn.Module):
    """The outputs of a recurrent network without its final states."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(x)[0]


# Bugs that random programs found.


@pytest.mark.parametrize("dim", [0, 1, (0, 2), (1, 2)])
def test_21_reductions_of_random_numbers(dim):
    check(pure(lambda x: F.dropout(x, 0.3, training=True).mean(dim), (3, 1, 4)))
    check(pure(lambda x: F.dropout(x, 0.3, training=True).sum(dim), (5, 3, 4), grad=True))
