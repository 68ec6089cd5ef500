"""Floats that a call reads from tensors, and only compares: each way through the function is a plan."""

import math

import lucid
import lucid.nn as nn
import numpy as np
import pytest
from limits import Box, Limits
from same import check

LIMIT = 0.5


def against_a_variable(x, limit=0.25):
    total = x.sum().item()
    y = x * 3
    if total > limit and total <= 2:
        y = y + 1
    return y, total


def in_a_while_loop(x):
    count = 0
    x = x.abs() + 1
    while (x * x - 2).abs().max().item() > 1e-5 and count < 20:
        x = x - (x * x - 2) / (2 * x)
        count += 1
    return x, count


def until_a_variable_is_small(x):
    error = 1.0
    while error > 0.1:
        x = x * 0.5
        error = x.abs().max().item()
    return x


def classified(x):
    total = x.sum().item()
    if math.isnan(total) or math.isinf(total):
        return x * 0
    return x + 1 if math.isfinite(x[0].item()) else x


def checked(x):
    if not x.abs().sum().item() >= 0:
        raise ValueError("not a number")
    return x + 1


class Limited(nn.Module):
    def __init__(self):
        super().__init__()
        self.limit = 0.3

    def forward(self, x):
        return x + 1 if x.sum().item() > self.limit else x


def against_an_attribute(x):
    limits = LIMITS
    return x + 1 if x.sum().item() > limits.limit else x


def shadowed(x, math=LIMIT):
    return x + 1 if x.sum().item() > math else x


LIMITS = Limits()


COMPARED = {
    "less": lambda x: x + 1 if x.sum().item() < 0 else x,
    "at most": lambda x: x + 1 if x.sum().item() <= -0.0 else x,
    "greater": lambda x: x + 1 if x.sum().item() > 0.0 else x,
    "at least": lambda x: x + 1 if x.sum().item() >= 1 else x,
    "equal": lambda x: x + 1 if x.sum().item() == 0 else x,
    "not equal": lambda x: x + 1 if x.sum().item() != 0 else x,
    "on the right": lambda x: x + 1 if 0.5 < float(x.sum()) else x,  # noqa: SIM300
    "at most, on the right": lambda x: x + 1 if 0.5 <= float(x.sum()) else x,  # noqa: SIM300
    "truth": lambda x: x + 1 if x.sum().item() else x,
    "no truth": lambda x: x if not x.sum().item() else x + 1,
    "none": lambda x: x if x.sum().item() is None else x + 1,
    "global": lambda x: x + 1 if x.sum().item() > LIMIT else x,
    "returned": lambda x: x.sum().item() > 0,
    "half": lambda x: x + 1 if x.half().sum().item() > 0.1 else x,
    "bfloat16": lambda x: x + 1 if x.to(lucid.bf16).sum().item() > 0.1 else x,
    "double": lambda x: x + 1 if x.double().sum().item() > 0.1 else x,
    "third": lambda x: x + 1 if x.sum().item() > 1 / 3 else x,
    "subnormal": lambda x: x + 1 if (x.sum() * 1e-38).item() > 1e-40 else x,
    "infinite": lambda x: x + 1 if (x.sum() / 0).item() < 1e308 else x,
    "variable": against_a_variable,
    "while": in_a_while_loop,
    "until": until_a_variable_is_small,
    "classified": classified,
    "checked": checked,
    "attribute": against_an_attribute,
    "module": Limited(),
    "shadowed": shadowed,
}
SPECIAL = [0.0, -0.0, math.nan, math.inf, -math.inf, 1 / 3, 1e-40, 2.0**53]


@pytest.mark.parametrize("name", COMPARED)
def test_floats_that_are_compared(name):
    """Each way through the function is a plan."""
    special = [] if name in ("while", "until") else SPECIAL

    def world():
        calls = [(lucid.randn(4),) for _ in range(20)]
        calls += [(lucid.tensor([value, 0.0, 0.0, 0.0]),) for value in special for _ in range(2)]
        return COMPARED[name], calls, []

    check(world, min_hits=12)


def test_what_a_float_is_compared_with_may_change():
    """The limit is an argument, a global and an attribute."""
    box = Box(limit=0.0)

    def function(x, limit):
        if x.sum().item() > limit:
            x = x + 1
        if x.sum().item() > LIMIT:
            x = x * 2
        if x.sum().item() > box.limit:
            x = x - 3
        return x

    f = lucid.compile(function, wait=True)
    hits = 0
    try:
        for step in range(60):
            x, limit = lucid.randn(4), (step // 20) * 0.3
            globals()["LIMIT"] = 0.5 if step % 20 < 10 else -0.5
            box.limit = 0.0 if step % 10 < 5 else 0.4
            assert np.array_equal(f(x, limit).numpy(), function(x, limit).numpy())
        hits = f.cache_info().hits
    finally:
        globals()["LIMIT"] = 0.5
    assert hits >= 10


def test_a_metaclass_is_not_asked():
    """Finding out what a float is compared with runs no code of the program."""
    asked = []

    class Meta(type):
        def __getattribute__(cls, name):
            asked.append(name)
            return super().__getattribute__(name)

    class Settings(metaclass=Meta):
        def __init__(self):
            self.limit = 0.25

    settings = Settings()

    def function(x):
        return x + 1 if x.sum().item() > settings.limit else x

    f = lucid.compile(function, wait=True)
    del asked[:]
    for _ in range(4):
        f(lucid.ones(3))
    assert not asked


def test_loops_that_end_when_a_value_is_small():
    """One plan for each number of rounds; a call that needs more is a call of the function."""
    f = lucid.compile(until_a_variable_is_small, wait=True)
    for step in range(60):
        x = lucid.full((4,), 0.15 * 2 ** (step % 5))
        assert np.array_equal(f(x).numpy(), until_a_variable_is_small(x).numpy())
    info = f.cache_info()
    assert (info.compiles, info.hits, info.entries) == (5, 55, 1)
