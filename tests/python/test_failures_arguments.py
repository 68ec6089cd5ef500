"""Compiled matches eager bit for bit: arguments and results. Numbers refer to docs/failures.md."""

import collections
import dataclasses
import enum

import lucid
import lucid.nn as nn
import pytest
from same import check
from worlds import calls, given, numbered, parts_of, pure

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    a: lucid.Tensor
    b: lucid.Tensor


@dataclasses.dataclass(frozen=True)
class Setting:
    rate: float
    name: str = "a"


class Color(enum.Enum):
    RED = 1
    BLUE = 2


# Results.

RESULTS = {
    "6 tuple": (lambda x: (x + 1, [x * 2, {"a": x - 1, "b": None}]), (3,)),
    "6 list": (lambda x: [x + 1, [x * 2], []], (3,)),
    "6 named": (lambda x: Point(x + 1, x * 2), (3,)),
    "6 dataclass": (lambda x: Pair(x + 1, x * 2), (3,)),
    "6 none": (lambda x: None, (3,)),
    "6 none and a tensor": (lambda x: (None, x * 2), (3,)),
    "6 numbers": (lambda x: (x * 2, 3, "a", 2.5), (3,)),
    "6 shape": (lambda x: (x * 2, x.shape, x.dtype), (3,)),
    "6 the input": (lambda x: x, (3,)),
    "6 the input and a tensor": (lambda x: (x, x * 2, x), (3,)),
    "6 twice": (lambda x: [x.exp()] * 2, (3,)),
    "6 dict of dicts": (lambda x: {"a": {"b": x.exp(), 3: (x,)}}, (3,)),
    "6 named by ops": (lambda x: lucid.max(x, dim=1), (3, 4)),
    "6 pair by ops": (lambda x: lucid.var_mean(x, dim=1), (3, 4)),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(RESULTS)
def test_results(case, grad):
    function, shape = case
    check(pure(function, shape, grad=grad), min_hits=2)


@pytest.mark.parametrize("what", ["parameter", "buffer", "view of a parameter", "weight and result"])
def test_6_state_as_results(what):
    def world():
        layer = nn.BatchNorm1d(3)
        functions = {
            "parameter": lambda x: layer.weight,
            "buffer": lambda x: (layer.running_mean, layer(x)),
            "view of a parameter": lambda x: layer.weight[1:],
            "weight and result": lambda x: [layer(x), layer.weight, layer.weight],
        }
        return functions[what], calls((4, 3)), parts_of(layer)

    check(world, min_hits=2)


# Arguments.

NESTED = {
    "6 list argument": (lambda xs: xs[0] * xs[1], lambda x, y: [x, y]),
    "6 tuple argument": (lambda xs: xs[0] * xs[1], lambda x, y: (x, y)),
    "6 dict argument": (lambda xs: xs["a"] * xs["b"], lambda x, y: {"a": x, "b": y}),
    "6 named argument": (lambda p: Point(p.y, p.x * 2), lambda x, y: Point(x, y)),
    "6 dataclass argument": (lambda p: Pair(p.b, p.a * 2), lambda x, y: Pair(x, y)),
    "6 deep argument": (lambda t: t[0]["a"][1] * t[1], lambda x, y: [{"a": (1, x)}, y]),
    "6 one tensor twice": (lambda xs: xs[0] * xs[1], lambda x, y: [x, x]),
    "6 numbers and tensors": (lambda xs: xs[0] * xs[1] + xs[2], lambda x, y: [x, 3, y]),
    "6 settings": (lambda xs: xs[0] * xs[1].rate + len(xs[1].name), lambda x, y: [x, Setting(0.5)]),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(NESTED)
def test_nested_arguments(case, grad):
    function, nest = case

    def world():
        return function, lambda: ([nest(x, y)] for x, y in calls((3,), (3,), grad=grad)()), []

    check(world, min_hits=2)


def takes_all(x, *rest, scale=1.0, mode="a", **more):
    y = x * scale
    for number in rest:
        y = y + number
    if mode == "b":
        y = -y
    for value in more.values():
        y = y + (0 if value is None else value)
    return y


def test_7_arguments_of_all_kinds():
    kinds = [
        ((), {}),
        ((1,), {}),
        ((1.0,), {}),
        ((True,), {}),
        ((), {"scale": 2}),
        ((), {"mode": "b"}),
        ((), {"extra": None, "other": 2}),
        ((), {"other": 2, "extra": None}),
        ((1, 2.5), {"scale": 3.0}),
    ]

    def world():
        def make():
            for number, (args, kwargs) in enumerate(kinds * 2):
                yield (lucid.full((3,), number + 0.5), *args), kwargs

        return takes_all, make, []

    check(world, compiles=len(kinds), min_hits=len(kinds), max_cache_entries=16)


VALUES = {
    "7 enum": (lambda x, v: x * (2 if v is Color.RED else 3), [Color.RED, Color.BLUE]),
    "7 dtype": (lambda x, v: x.to(v), [lucid.f64, lucid.i32, lucid.f16]),
    "7 tuple": (lambda x, v: x.reshape(*v), [(2, 3), (3, 2), (6,), (-1,)]),
    "7 text": (lambda x, v: x * len(v), ["a", "bb", "", "ä"]),
    "7 none": (lambda x, v: x if v is None else x + v, [None, 1, 0]),
    "7 one": (lambda x, v: x.to(lucid.i32) * v, [1, 1.0, True]),
    "7 zero": (lambda x, v: x / v, [0.0, -0.0, 0]),
    "7 large": (lambda x, v: x * (v % 1000), [2**70 + 1, 2**70 + 2, -(2**70)]),
    "7 bytes": (lambda x, v: x * v[0], [b"a", b"b"]),
    "7 slice of a number": (lambda x, v: x[v:], [0, 1, 5, -2]),
    "7 keyword order": (lambda x, v: x * next(iter(v)), [{1: 2, 3: 4}, {3: 4, 1: 2}]),
    "7 dataclass": (lambda x, v: x * v.rate, [Setting(1.0), Setting(2.0), Setting(2.0, "b")]),
}


@numbered(VALUES)
def test_values(case):
    function, values = case
    makers = [lambda v=v, n=n: [lucid.full((6,), n + 0.5), v] for n in range(3) for v in values]
    check(given(function, *makers), min_hits=len(values))


@pytest.mark.parametrize("make", [float, int], ids=["8 floats", "8 integers"])
def test_scalars_that_change_each_call(make):
    def world():
        return lambda x, t: x / t, lambda: ((lucid.ones(3), make(n + 1)) for n in range(40)), []

    check(world, min_hits=0)
