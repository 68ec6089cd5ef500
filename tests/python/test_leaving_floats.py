"""Floats that a call reads from tensors, and hands on or uses: plans know them if the call only hands them on."""

import collections
import functools
import math

import lucid
import lucid.nn as nn
import numpy as np
import pytest
from limits import Box, Limits
from same import check


class Property:
    """Looks at what is stored."""

    def __init__(self):
        self._last = 0.0

    @property
    def last(self):
        return self._last

    @last.setter
    def last(self, value):
        self._last = value if value > 0 else -1.0


class Log:
    """Looks at what is appended."""

    def __init__(self):
        self.items = []

    def append(self, value):
        self.items.append(value if value > 0 else -1.0)


def in_a_variable(x):
    total = x.sum().item()
    y = x * 2
    return y, total


def in_two_variables(x):
    total = x.sum().item()
    other = total
    return {"total": other, "same": total}


def of_two_branches(x):
    total = x.sum().item() if x.sum() > 0 else 0.5
    return x, total


def dropped(x):
    x.sum().item()
    return x * 2


def in_a_loop(x):
    for part in (x, x * 2):
        total = part.sum().item()
    return total


HANDED_ON = {
    "returned": lambda x: x.sum().item(),
    "float": lambda x: float(x.sum()),
    "in a tuple": lambda x: (x.sum().item(), x * 2),
    "in a dict": lambda x: {"loss": x.sum().item(), "mean": x.mean().item(), "x": x},
    "nested": lambda x: [1, ({"a": x.max().item()}, "text"), float(x.min())],
    "variable": in_a_variable,
    "variables": in_two_variables,
    "dropped": dropped,
    "half": lambda x: x.half().sum().item(),
    "double": lambda x: x.double().sum().item(),
    "nan": lambda x: (x.sum() * math.nan).item(),
    "argument": lambda x: (x[0].item(), x.add_(1)),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("name", HANDED_ON)
def test_floats_that_are_handed_on(name, grad):
    def world():
        calls = [(lucid.randn(4, requires_grad=grad and name != "argument"),) for _ in range(6)]
        return HANDED_ON[name], calls, []

    check(world, min_hits=4)


def test_floats_that_are_kept():
    def world():
        model = nn.Linear(3, 1)
        optimizer = lucid.optim.SGD(model.parameters(), lr=0.1)
        box = Box(last=None, best=0.0, losses=[])

        def function(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            box.last = loss.item()
            box.losses.append(loss.item())
            return loss.item()

        def state():
            return [lucid.tensor([*box.losses, box.last or 0.0]), *model.parameters()]

        return function, [(lucid.randn(4, 3),) for _ in range(8)], state

    check(world, min_hits=5)


def test_floats_that_stay_the_same():
    """Each call stores a float that equals the one before."""

    def world():
        box = Box(last=0.0, n=0)
        x = lucid.randn(3)

        def function(x):
            box.n += 1
            y = x * 2 if box.n % 4 == 0 else x + 1
            box.last = x.sum().item()
            return y

        return function, [(x,) for _ in range(24)], lambda: [lucid.tensor([box.last, box.n])]

    check(world, min_hits=20)


class Slotted:
    __slots__ = ("limit",)


def of_two_values(x):
    return x + 1 if x[0].item() > x[1].item() else x


def of_two_variables(x):
    first, second = x[0].item(), x[1].item()
    return x + 1 if first > second else x


def against_a_changed_variable(x, limit=0.25):
    total = x.sum().item()
    limit = limit - 0.25
    return x + 1 if total > limit else x


def against_a_deleted_variable(x, limit=0.25):
    total = x.sum().item()
    if total < -1e9:
        del limit
    return x + 1 if total > limit else x


def against_a_property(x):
    limits = LIMITS
    return x + 1 if x.sum().item() > limits.computed else x


def against_what_getattr_finds(x):
    limits = LIMITS
    return x + 1 if x.sum().item() > limits.other else x


def against_a_slot(x):
    limits = SLOTTED
    return x + 1 if x.sum().item() > limits.limit else x


def against_a_sum(x):
    return x + 1 if x.sum().item() > LIMIT + 0.1 else x


def against_a_large_integer(x):
    return x + 1 if x.sum().item() > 2**53 + 1 else x


def in_a_chain(x):
    return x + 1 if 0 < x.sum().item() < 2 else x


LIMIT = 0.5
LIMITS, SLOTTED = Limits(), Slotted()
SLOTTED.limit = 0.1


def of_a_helper(x):
    return helper(x) * 2


def helper(x):
    return x.sum().item()


def returned_by_a_helper(x):
    total = helper(x)
    return (x * 2 if total > 0 else x), total


def looked_at_by_a_property():
    owner = Property()

    def function(x):
        owner.last = x.sum().item()
        return x * 2

    return function


def looked_at_by_a_log():
    log = Log()

    def function(x):
        log.append(x.sum().item())
        return x * 2

    return function


def looked_at_later():
    box = Box(last=0.0)

    def function(x):
        box.last = x.sum().item()
        return x * 2 if box.last > 0 else x

    return function


def looked_at_by_name():
    box = Box(last=0.0)

    def function(x):
        box.last = x.sum().item()
        return x * 2 if getattr(box, "last") > 0 else x  # noqa: B009

    return function


def looked_at_in_a_list():
    log = []

    def function(x):
        log.append(x.sum().item())
        return x * len(log)

    return function


def wrapped(function):
    @functools.wraps(function)
    def call(x):
        result = function(x)
        return result if result > 0 else -1.0

    return call


def generator(x):
    def values():
        yield x.sum().item()

    return x * next(values())


USED = {
    "two values": of_two_values,
    "two variables": of_two_variables,
    "changed variable": against_a_changed_variable,
    "deleted variable": against_a_deleted_variable,
    "property": against_a_property,
    "getattr": against_what_getattr_finds,
    "slot": against_a_slot,
    "computed": against_a_sum,
    "large": against_a_large_integer,
    "chain": in_a_chain,
    "helper": of_a_helper,
    "helper and branch": returned_by_a_helper,
    "sum": lambda x: x.sum().item() + 1,
    "rounded": lambda x: round(x.sum().item(), 2),
    "text": lambda x: (f"{x.sum().item():.2f}", x * 2),
    "key": lambda x: {x.sum().item(): x},
    "max": lambda x: max(x[0].item(), 0.0),
    "sqrt": lambda x: math.sqrt(x.square().sum()),
    "NumPy": lambda x: np.float64(x.sum()),
    "operand": lambda x: x * x.sum().item(),
    "wrapped": wrapped(lambda x: x.sum().item()),
    "comprehension": lambda x: [part.item() for part in x],
    "sorted": lambda x: sorted(x.unbind(0), key=lambda part: part.item())[0],
    "map": lambda x: list(map(lucid.Tensor.item, x.unbind(0))),
    "generator": generator,
    "deque": lambda x: collections.deque([x.sum().item()])[0],
    "and": lambda x: x.sum().item() and x,
    "not": lambda x: not x.sum().item(),
    "negative": lambda x: -x.sum().item(),
    "branches": of_two_branches,
    "int": lambda x: int(x.sum()),
    "loop": in_a_loop,
}
# These make a function that keeps something.
KEPT_AND_USED = {
    "setter": looked_at_by_a_property,
    "log": looked_at_by_a_log,
    "read later": looked_at_later,
    "read by name": looked_at_by_name,
    "list": looked_at_in_a_list,
}


@pytest.mark.parametrize("name", [*USED, *KEPT_AND_USED])
def test_floats_that_are_used(name):
    """Whatever is done with the value, the call returns the same as eagerly."""

    def world():
        function = USED[name] if name in USED else KEPT_AND_USED[name]()
        return function, [(lucid.randn(4),) for _ in range(8)], []

    check(world, fallback="", min_hits=0)


@pytest.mark.parametrize("name", ["two values", "helper", "sum", "text", "operand", "read later", "setter", "log"])
def test_explain_names_the_line(name):
    f = lucid.compile(USED[name] if name in USED else KEPT_AND_USED[name]())
    for _ in range(4):
        f(lucid.ones(4))
    assert f.cache_info().hits == 0
    # The value would be appended to a list that code reads.
    reason = "the call writes closure log.items" if name == "log" else "reads a value of a tensor"
    assert reason in f.explain(), f.explain()
    assert "test_leaving_floats.py:" in f.explain()


def test_tensors_that_are_not_single_raise_as_eagerly():
    f = lucid.compile(lambda x: x.item())
    for _ in range(3):
        with pytest.raises(RuntimeError, match="only a one-element tensor"):
            f(lucid.ones(2))
    assert f(lucid.ones(1)) == 1.0


def test_a_compiled_function_that_calls_another():
    inner = lucid.compile(lambda x: x.sum().item())

    def world():
        def function(x):
            return x * inner(x)

        return function, [(lucid.randn(4),) for _ in range(6)], []

    check(world, fallback="reads a value", min_hits=0)


def test_a_float_that_is_kept_twice_is_one_object():
    box, log = Box(a=0.0, b=0.0), []

    def f(x):
        total = x.sum().item()
        box.a = total
        box.b = total
        log.append(total)
        return total, [total]

    compiled = lucid.compile(f)
    for number in range(5):
        first, (second,) = compiled(lucid.full((2,), number + 0.25))
        assert first is second is box.a is box.b is log[-1]
        assert first == 2 * number + 0.5
    assert compiled.cache_info().hits == 4, compiled.explain()
