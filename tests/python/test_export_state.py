"""Exported programs with branches, state, random numbers and training steps."""

import contextlib

import lucid
import pytest
from exporting import BOTH, SIZES, Counter, F, check, check_or_refuse, check_sizes
from lucid import nn
from same import bits

# Modules in training mode are exported on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:lucid.export. these ops do in the program")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


# ---- Branches on values.


def test_branches(path):
    def function(x):
        return x * 2 if x.sum() > 0 else x - 1

    x = lucid.ones(3)
    check(lambda: function, x, path, calls=[x, -x, x * 5, -x], examples=[-x])


def test_branches_within_branches(path):
    def function(x):
        if x.sum() > 0:
            return x * 2 if x[0] > 5 else x * 3
        return x - 1 if x[1] > 0 else x - 2

    examples = [lucid.tensor(values) for values in ([6.0, 0], [1.0, 1], [-3.0, 1], [-1.0, -1])]
    check(lambda: function, examples[0], path, calls=examples * 2, examples=examples[1:])


def test_branches_at_sizes_that_vary(path):
    x = lucid.ones(4, 3)
    calls = [sign * lucid.ones(size, 3) for size in SIZES for sign in (1, -1)]
    options = {"examples": [-x, x[:1], -x[:1]], "dynamic": {"x": {0: "n"}}}
    check(lambda: lambda x: x * 2 if x.sum() > 0 else x - 1, x, path, calls=calls, **options)


def test_branches_at_sizes_that_are_recorded_by_themselves(path):
    """All examples are resized for sizes that need calls of their own, such as 1."""
    x = lucid.ones(4)
    calls = [sign * lucid.ones(size) for size in (1, 2, 9) for sign in (1, -1)]
    options = {"examples": [-x], "dynamic": {"x": {0: "n"}}}
    check(lambda: lambda x: x * 2 if x.sum() > 0 else x - 1, x, path, calls=calls, **options)


@BOTH
def test_branch_that_was_not_exported(path, trusted):
    def function(x):
        return x * 2 if x.sum() > 0 else x - 1  # the branch

    lucid.export(function, lucid.ones(3), path)
    program = lucid.load_program(path, trusted=trusted)
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(
        RuntimeError, match=rf"branch .* was not exported.* at test_export_state.py:{line}; export it with an"
    ):
        program(-lucid.ones(3))
    assert program(lucid.ones(3)).tolist() == [2, 2, 2]


# ---- State.


@BOTH
def test_counter_reset_and_copy(path, trusted):
    model, x = Counter(), lucid.randn(4, 3)
    lucid.export(model, x, path)
    assert model.count.item() == 0
    expected = [model(x).detach() for _ in range(3)]
    program = lucid.load_program(path, trusted=trusted)
    assert bits([program(x) for _ in range(2)]) == bits(expected[:2])
    copy = program.copy()
    assert bits(copy(x)) == bits(expected[0])
    assert bits(program(x)) == bits(expected[2])
    assert program.state_dict()["count"].item() == 3
    program.reset()
    assert program.state_dict()["count"].item() == 0
    assert bits(program(x)) == bits(expected[0])
    assert copy.state_dict()["count"].item() == 1


def test_state_that_was_not_zero(path):
    model = Counter()
    for _ in range(5):
        model(lucid.ones(4, 3))
    lucid.export(model, lucid.ones(4, 3), path)
    assert model.count.item() == 5
    assert lucid.load_program(path).state_dict()["count"].item() == 5


def test_calls_of_several_sizes_share_state(path):
    def make():
        count = lucid.zeros(1)

        def function(x):
            count.add_(10 if x.shape[0] > 10 else 1)
            return x + count

        return function

    calls = [lucid.randn(size, 3) for size in (1, 2, 20, 3, 64, 1)]
    program = check(make, lucid.randn(4, 3), path, calls=calls, dynamic={"x": {0: "n"}})
    assert program.state_dict()["count"].item() == 24


def test_branches_share_state(path):
    def make():
        high, low = lucid.zeros(3), lucid.zeros(3)

        def function(x):
            if x.sum() > 0:
                high.add_(x)
                return high - low
            low.add_(x)
            return low * high

        return function

    x = lucid.randn(3).abs()
    check(make, x, path, calls=[x, x, -x, x, -x, -x], examples=[-x])


def test_branch_that_depends_on_state(path):
    def make():
        count = lucid.zeros(1)

        def function(x):
            count.add_(1)
            if count.sum() > 1:
                count.zero_()
            return x + count

        return function

    lucid.export(make(), lucid.ones(3), path)
    program = lucid.load_program(path)
    assert program(lucid.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="was not exported"):
        program(lucid.ones(3))
    assert program.state_dict()["count"].item() == 1


def test_cache_that_is_written_at_a_position(path):
    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("rows", lucid.zeros(4, 3))
            self.register_buffer("position", lucid.zeros(1, dtype=lucid.int64))

        def forward(self, x):
            self.rows.index_put_([self.position], x)
            self.position += 1
            return self.rows.sum(0)

    calls = [lucid.randn(1, 3) for _ in range(4)]
    program = check(Cache, calls[0], path, calls=calls)
    before = bits(program.state_dict())
    with pytest.raises(IndexError, match="index"):
        program(calls[0])
    assert bits(program.state_dict()) == before


def test_writes_to_views_of_state(path):
    def make():
        base = lucid.zeros(3, 4)
        columns, middle = base.T, base.reshape(-1)[3:9]

        def function(x):
            columns[1].add_(x.sum())
            middle.mul_(2)
            base[0].sub_(1)
            return columns + 1, middle - 1, base.sum()

        return function

    check(make, lucid.ones(3), path, calls=[lucid.randn(3) for _ in range(4)])


def test_views_and_strided_tensors(path):
    base = lucid.arange(24.0)
    parts = base[::2], base[3:9].reshape(2, 3), base.reshape(4, 6).T, base[5], base[:1].expand(4)
    program = check(lambda: lambda x: [part * x for part in parts], lucid.tensor(2.0), path)
    assert len(program.state_dict()) == 1


def test_batch_normalization_in_training(path):
    calls = [lucid.randn(size, 3) for size in (2, 3, 8)]
    dynamic = {"input": {0: lucid.Dim("n", min=2, max=8)}}
    check(lambda: nn.BatchNorm1d(3).train(), calls[1], path, calls=calls * 2, dynamic=dynamic)


def test_tied_weights(path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens):
            return self.head(self.embedding(tokens))

    program = check(Tied, lucid.tensor([1, 2]), path, calls=[lucid.tensor([3, 5])])
    assert list(program.state_dict()) == ["embedding.weight"]


def test_weights_keep_their_values(path):
    model, x = nn.Linear(3, 2), lucid.randn(4, 3)
    lucid.export(model, x, path)
    program, expected = lucid.load_program(path), model(x).detach()
    with lucid.no_grad():
        model.weight.zero_()
    program.state_dict()["weight"].zero_()
    assert bits(program(x)) == bits(expected)


def test_constants_made_in_the_function(path):
    check_sizes(lambda x: lucid.zeros(3).add_(x.sum(0)) * lucid.tensor([1.0, 2.0, 3.0]), path)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("hidden", lucid.zeros(3))

    def forward(self, x):
        self.hidden = self.hidden + x
        return self.hidden * 2


def test_attribute_that_is_replaced(path):
    check_or_refuse("hidden", Recurrent, lucid.ones(3), path, calls=[lucid.ones(3)] * 3)


def test_export_leaves_attributes_as_they_were(path):
    model = Recurrent()
    with contextlib.suppress(ValueError):
        lucid.export(model, lucid.ones(3), path)
    assert model.hidden.tolist() == [0, 0, 0]


def test_number_that_each_call_changes(path):
    def make():
        counts = [0]

        def function(x):
            counts[0] += 1
            return x + counts[0]

        return function

    check_or_refuse("", make, lucid.ones(3), path, calls=[lucid.ones(3)] * 3)


def test_a_write_to_state_fails_as_a_whole(path):
    def make():
        total = lucid.zeros(3)

        def function(x, index):
            total.add_(x)
            return total.clone(), x[index]

        return function

    x = lucid.ones(3)
    lucid.export(make(), (x, lucid.tensor([1])), path)
    program = lucid.load_program(path, trusted=True)
    with pytest.raises(IndexError, match="out of range"):
        program(x, lucid.tensor([7]))
    assert program(x, lucid.tensor([0]))[0].tolist() == [1, 1, 1]


# ---- Random numbers.


def test_dropout(path):
    def make():
        return nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.5)).train()

    check(make, lucid.randn(4, 3), path, calls=[lucid.ones(4, 3)] * 4)


def test_dropout_at_sizes_that_vary(path):
    calls = [lucid.ones(size, 3) for size in (1, 4, 2, 7, 7)]
    check(lambda: nn.Dropout(0.5).train(), calls[1], path, calls=calls, dynamic={"input": {0: lucid.Dim("n", max=8)}})


def test_random_numbers_of_several_kinds(path):
    check(lambda: lambda x: (x + lucid.rand(3), lucid.randn(5), lucid.randint(0, 9, (4,))), lucid.ones(3), path)


def test_generator_of_the_function(path):
    def make():
        generator = lucid.Generator()
        generator.manual_seed(5)
        return lambda x: x + lucid.rand(3, generator=generator)

    check(make, lucid.ones(3), path, calls=[lucid.ones(3)] * 4)


def test_export_leaves_the_generator_as_it_was(path):
    lucid.manual_seed(4)
    before = bits(lucid.get_rng_state())
    lucid.export(nn.Dropout(0.5).train(), lucid.ones(4), path, dynamic={"input": {0: "n"}})
    assert bits(lucid.get_rng_state()) == before


def test_programs_do_not_advance_the_generator(path):
    lucid.export(nn.Dropout(0.5).train(), lucid.ones(64), path)
    program = lucid.load_program(path)
    before = bits(lucid.get_rng_state())
    first, second = program(lucid.ones(64)), program(lucid.ones(64))
    assert bits(lucid.get_rng_state()) == before
    assert bits(first) != bits(second)
    program.reset()
    assert bits(program(lucid.ones(64))) == bits(first)


# ---- Training.


def training(optimizer, dropout=0.0):
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 1))
    optimizer = optimizer(model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


OPTIMIZERS = [
    lambda parameters: lucid.optim.SGD(parameters, lr=0.1, momentum=0.9),
    lambda parameters: lucid.optim.Adam(parameters, lr=0.01),
    lambda parameters: lucid.optim.AdamW(parameters, lr=0.01),
]


@BOTH
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=["sgd", "adam", "adamw"])
def test_training_step(optimizer, path, trusted):
    lucid.manual_seed(2)
    model, optimizer, step = training(optimizer, dropout=0.25)
    batches = [(lucid.randn(4, 3), lucid.randn(4, 1)) for _ in range(21)]
    step(*batches.pop())
    before = bits(model.state_dict())
    lucid.export(step, batches[0], path)
    assert bits(model.state_dict()) == before
    program = lucid.load_program(path, trusted=trusted)
    for batch in batches:
        assert bits(program(*batch)) == bits(step(*batch).detach())
    found = program.state_dict()
    for name, weight in model.state_dict().items():
        assert bits(found[f"model.{name}"]) == bits(weight.detach()), name
    for parameter, state in optimizer.state.items():
        name = next(name for name, each in model.named_parameters() if each is parameter)
        for key, value in state.items():
            if isinstance(value, lucid.Tensor):
                assert bits(found[f"optimizer.model.{name}.{key}"]) == bits(value), (name, key)


def test_training_step_at_sizes_that_vary(path):
    def make():
        _, _, step = training(OPTIMIZERS[1])
        step(lucid.ones(4, 3), lucid.ones(4, 1))
        return step

    calls = [(lucid.randn(size, 3), lucid.randn(size, 1)) for size in (1, 2, 4, 6, 3)]
    check(make, calls[2], path, calls=calls, dynamic={"x": {0: lucid.Dim("n", max=6)}, "y": {0: "n"}})


def test_gradients_computed_in_the_function(path):
    def function(x):
        y = (x * 1).requires_grad_()
        return lucid.autograd.grad((y**3).sum(), y)[0]

    check_sizes(function, path)


def test_export_leaves_gradients_as_they_were(path):
    model = nn.Linear(3, 1)

    def function(x):
        model.zero_grad()
        loss = model(x).sum()
        loss.backward()
        return loss

    with contextlib.suppress(ValueError):
        lucid.export(function, lucid.ones(2, 3), path)
    assert model.weight.grad is None


def test_first_training_step_is_refused(path):
    _, _, step = training(OPTIMIZERS[1])
    with pytest.raises(ValueError, match=r"creates state .* optimizer's; call the function once before"):
        lucid.export(step, (lucid.ones(4, 3), lucid.ones(4, 1)), path)


def test_gradients_from_before_the_call_are_refused(path):
    model = nn.Linear(3, 1)

    def function(x):
        loss = model(x).sum()
        loss.backward()
        return loss

    function(lucid.ones(2, 3))
    with pytest.raises(ValueError, match=r"gradients from before it; call zero_grad\(\)"):
        lucid.export(function, lucid.ones(2, 3), path)
