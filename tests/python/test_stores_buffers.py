"""Calls that replace buffers of modules."""

import gc
import weakref

import lucid
import lucid.nn as nn
import pytest
from same import bits


class Averages(nn.Module):
    """Replaces its buffers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", lucid.zeros(3))
        self.register_buffer("count", lucid.zeros((), dtype=lucid.int64), persistent=False)
        self.register_buffer("none", None)
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.detach()
        self.count = self.count + 1
        return self.linear(x - self.mean) * self.count


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Averages(), Averages()])

    def forward(self, x):
        return self.parts[1](self.parts[0](x))


@pytest.mark.parametrize("make", [Averages, Nested])
def test_buffers_are_replaced(make):
    def run(compile):
        lucid.manual_seed(5)
        module = make()
        compiled = compile(module)
        seen = []
        for number in range(8):
            x = lucid.ones(3) * number
            seen.append(
                (bits(compiled(x)), [(name, bits(b)) for name, b in module.named_buffers()], list(module.state_dict()))
            )
            if number == 4:
                module.load_state_dict({**module.state_dict()})
            if number == 5:
                module.eval()
        return seen, compiled

    eager, _ = run(lambda module: module)
    found, compiled = run(lucid.compile)
    assert found == eager
    assert compiled.cache_info().hits >= 4, compiled.explain()


def test_a_replaced_buffer_is_used_elsewhere():
    module = Averages()
    kept = []

    def f(x):
        y = module(x)
        return y + kept[0] if kept else y

    compiled = lucid.compile(f)
    other = Averages()
    other.load_state_dict(module.state_dict())
    for number in range(8):
        x = lucid.ones(3) * number
        if number == 4:
            kept.append(module.mean)
        expected = other(x)
        found = compiled(x)
        if kept:
            expected = expected + kept[0]
        assert bits(found.detach()) == bits(expected.detach())
        assert bits(module.mean) == bits(other.mean)


def test_a_buffer_gets_another_type():
    module = Averages()
    compiled = lucid.compile(module)
    for _ in range(4):
        compiled(lucid.ones(3))
    assert compiled.cache_info().hits > 0, compiled.explain()
    module.mean = lucid.zeros(3, dtype=lucid.float64)
    module.linear = module.linear.double()
    result = compiled(lucid.ones(3, dtype=lucid.float64))
    assert result.dtype == lucid.float64
    assert module.mean.dtype == lucid.float64
    module.mean = None
    with pytest.raises(TypeError):
        compiled(lucid.ones(3, dtype=lucid.float64))
    module.mean = lucid.ones(3, dtype=lucid.float64)
    assert compiled(lucid.ones(3, dtype=lucid.float64)).dtype == lucid.float64


def test_plans_that_replace_buffers_do_not_keep_modules_alive():
    module = Averages()
    compiled = lucid.compile(module)
    for _ in range(4):
        compiled(lucid.ones(3))
    assert compiled.cache_info().hits > 0
    gone = weakref.ref(module)
    del module, compiled
    gc.collect()
    assert gone() is None


def test_a_buffer_is_the_parameter_of_nobody_else():
    module = Averages()

    def f(x):
        module.mean = x
        return module.mean * 2

    compiled = lucid.compile(f)
    for number in range(6):
        x = lucid.ones(3) * number
        result = compiled(x)
        assert module.mean is x
        assert result.tolist() == [2.0 * number] * 3
