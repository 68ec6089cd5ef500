"""Functions whose shapes, branches, numbers and state change from call to call: a few plans serve nearly all calls."""

import random

import lucid
import lucid.nn as nn
import pytest
from same import bits


def check(function, arguments, *, compiles, hits):
    """Calls a function with each of the arguments, eagerly and compiled. `hits` is the least share of calls that run a
    plan.
    """
    compiled = lucid.compile(function)
    for args in arguments:
        assert bits(compiled(*args)) == bits(function(*args))
    info = compiled.cache_info()
    assert info.compiles <= compiles, compiled.explain()
    assert info.hits >= hits * len(arguments), compiled.explain()


@pytest.fixture(autouse=True)
def seeded():
    lucid.manual_seed(0)
    with lucid.no_grad():
        yield random.Random(0)


def small_gpt():
    return lucid.models.gpt(vocab_size=65, context=128, layers=2).eval()


def tokens(batch, length):
    return lucid.randint(0, 65, (batch, length))


def test_lengths_of_a_language_model(seeded):
    arguments = [(tokens(1, seeded.randint(1, 128)),) for _ in range(150)]
    check(small_gpt(), arguments, compiles=6, hits=0.95)


def test_lengths_and_batches_of_a_language_model(seeded):
    arguments = [(tokens(seeded.randint(1, 7), seeded.randint(1, 128)),) for _ in range(150)]
    check(small_gpt(), arguments, compiles=8, hits=0.9)


def test_batches_of_a_network():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
    check(model, [(lucid.randn(1 + 37 * i % 211, 64),) for i in range(200)], compiles=4, hits=0.95)


def test_branches_on_values():
    def f(x):
        if x.sum() > 0:
            return (x * 2).tanh() + 1
        if x[0, 0] > 0.5:
            return x.exp().sum(1)
        return (x - 1).sigmoid()

    check(f, [(lucid.randn(16, 16),) for _ in range(100)], compiles=4, hits=0.9)


def test_a_loop_until_a_value_is_small():
    def root(x):
        for _ in range(20):
            if (x * x - 2).abs().max().item() <= 1e-5:
                break
            x = x - (x * x - 2) / (2 * x)
        return x

    check(root, [(lucid.rand(64) + 1,) for _ in range(100)], compiles=16, hits=0.9)


def test_caches_that_grow_in_lists():
    def decode(x, caches):
        grown = []
        for keys, values in caches:
            keys, values = lucid.cat([keys, x], 0), lucid.cat([values, x * 2], 0)
            grown.append((keys, values))
            x = (x @ keys.T).softmax(-1) @ values
        return x, grown

    compiled, caches = lucid.compile(decode), [(lucid.randn(1, 8), lucid.randn(1, 8)) for _ in range(2)]
    for _ in range(60):
        x = lucid.randn(1, 8)
        found, expected = compiled(x, caches), decode(x, caches)
        assert bits(found) == bits(expected)
        caches = found[1]
    assert compiled.cache_info().compiles <= 4, compiled.explain()
    assert compiled.cache_info().hits >= 55


def test_a_cache_that_is_written_at_a_position():
    caches = [lucid.zeros(16, 4), lucid.zeros(16, 4)]

    def attend(cache, x, position):
        cache[position] = x
        scores = (cache @ x).masked_fill(lucid.arange(16) > position, float("-inf"))
        return scores.softmax(0) @ cache

    compiled = lucid.compile(lambda x, position: attend(caches[0], x, position))
    for position in range(16):
        x = lucid.randn(4)
        assert bits(compiled(x, lucid.tensor(position))) == bits(attend(caches[1], x, lucid.tensor(position)))
    assert bits(caches[0]) == bits(caches[1])
    assert compiled.cache_info().compiles == 1, compiled.explain()
    assert compiled.cache_info().hits >= 14


def test_a_number_that_varies():
    def scale(x, k):
        return (x * k + k * k).tanh()

    check(scale, [(lucid.randn(8, 8), 0.01 * i) for i in range(100)], compiles=3, hits=0.9)


def test_a_growing_cache():
    embedding = nn.Embedding(100, 64)

    def attend(token, past):
        x = embedding(token)
        keys = lucid.cat([past, x], 1)
        return (x @ keys.transpose(1, 2)).softmax(-1) @ keys

    arguments = [(lucid.randint(0, 100, (1, 1)), lucid.randn(1, 1 + i, 64)) for i in range(200)]
    check(attend, arguments, compiles=4, hits=0.95)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.last = 0, 0.0
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        self.calls += 1
        y = self.linear(x).relu()
        if self.calls % 10 == 0:
            y = y * 0.5
        self.last = y.mean().item()
        return y


def test_a_module_that_counts_and_keeps_a_value():
    eager, compiled = Counting().eval(), Counting().eval()
    compiled.load_state_dict(eager.state_dict())
    fast = compiled.compile()
    for _ in range(100):
        x = lucid.randn(4, 8)
        assert bits(fast(x)) == bits(eager(x))
        assert (compiled.calls, compiled.last) == (eager.calls, eager.last)
    assert fast.cache_info().hits >= 90, fast.explain()


def test_a_training_step_that_logs_and_branches():
    start = lucid.randn(16, 16)

    def make(wrap):
        weight, log = start.clone().requires_grad_(), []
        optimizer = lucid.optim.SGD([weight], lr=0.1)

        def step(x):
            loss = ((x @ weight) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            if loss.item() > 20:
                nn.utils.clip_grad_norm_([weight], 1.0)
            optimizer.step()
            log.append(loss.item())
            return loss.detach()

        return wrap(step), weight, log

    eager, weight, log = make(lambda step: step)
    compiled, fast_weight, fast_log = make(lucid.compile)
    with lucid.enable_grad():
        for i in range(100):
            x = lucid.randn(4 + i % 5, 16)
            assert bits(compiled(x)) == bits(eager(x))
    assert fast_log == log
    assert bits(fast_weight) == bits(weight)
    assert compiled.cache_info().hits >= 85, compiled.explain()
