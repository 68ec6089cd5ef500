"""Arguments that are objects or functions: what differs from call to call is seen, and nothing is kept."""

import collections
import functools
import gc
import weakref

import lucid
import numpy as np
import pytest
from passed_objects import Batch, Default, Entries, Scaled, counter, scaler, tensor
from same import check

CHANGES = {
    "closure": (lambda f: f(lucid.ones(2)), lambda step: scaler(step // 3)),
    "closure over tensors": (lambda f: f(lucid.ones(4)), lambda step: scaler(lucid.randn(4 if step // 3 % 2 else 1))),
    "code": (lambda f: f(lucid.ones(2)), lambda s: (lambda t: t * 2) if s // 3 % 2 else (lambda t: t * 3)),
    "default": (lambda f: f(lucid.ones(2)), lambda step: lambda t, k=step // 3: t * k),
    "keyword default": (lambda f: f(lucid.ones(2)), lambda step: lambda t, *, k=step // 3: t * k),
    "name": (lambda f: lucid.ones(2) * len(f.__name__), lambda step: named("f" * (1 + step // 3))),
    "attribute of a function": (lambda f: lucid.ones(2) * getattr(f, "k", 1), lambda step: with_attribute(step // 3)),
    "a function that counts": (lambda f: f(lucid.ones(2)) + f(lucid.ones(2)), lambda step: counter()),
    "functions that are one": (
        lambda fs: lucid.ones(2) * (2 if fs[0] is fs[1] else 3),
        lambda step: [scaler(2), scaler(2)] if step // 3 % 2 else (lambda f: [f, f])(scaler(2)),
    ),
    "text of a function": (
        lambda f: lucid.ones(2) * len(f.__qualname__),
        lambda step: scaler(2) if step // 3 % 2 else counter(),
    ),
    "partial": (lambda f: f(), lambda step: functools.partial(scaler(step // 3), lucid.ones(2))),
    "keywords of a partial": (lambda f: f(lucid.ones(2)), lambda step: functools.partial(lucid.clamp, min=step // 3)),
    "function of a partial": (
        lambda f: f(lucid.ones(2)),
        lambda s: functools.partial(
            lucid.clamp if s // 3 % 2 else lucid.add, **({"min": 2} if s // 3 % 2 else {"other": 2})
        ),
    ),
    "attribute of a partial": (
        lambda f: lucid.ones(2) * getattr(f, "k", 1),
        lambda step: with_attribute(step // 3, functools.partial(abs)),
    ),
    "method": (lambda f: f(lucid.ones(2)), lambda step: factor_of(step // 3).scaled),
    "attribute": (lambda b: b.x * b.k, lambda step: Batch(tensor(), k=step // 3)),
    "missing attribute": (
        lambda b: b.x * getattr(b, "k", 5),
        lambda step: Batch(tensor(), k=2) if step % 4 < 2 else Batch(tensor()),
    ),
    "none": (lambda b: b.total(), lambda step: Batch(tensor(), tensor() if step % 4 < 2 else None)),
    "entry": (lambda b: b["x"] * b["k"], lambda step: Entries(x=tensor(), k=step // 3)),
    "keys": (
        lambda b: sum(b.values()) * len(b),
        lambda step: Entries({f"{i}": tensor() for i in range(1 + step // 3)}),
    ),
    "types of keys": (
        lambda b: b["x"] * sum(type(k) is bool for k in b),
        lambda s: Entries({"x": tensor(), True if s // 3 % 2 else 1: 1}),
    ),
    "order": (
        lambda b: next(iter(b.values())) * 2,
        lambda step: collections.OrderedDict(x=tensor(), y=tensor()) if step // 3 % 2 else swapped(),
    ),
    "attribute of dict": (lambda b: b["x"] * b.scale, lambda step: scaled(step // 3)),
    "class": (
        lambda b: b["x"] * (2 if type(b) is Entries else 3),
        lambda s: (Entries if s // 3 % 2 else Default)(x=tensor()),
    ),
    "set": (lambda s: lucid.ones(2) * sum(map(len, s)), lambda step: {"a", "bc"} if step // 3 % 2 else {"a"}),
    "type of an item": (
        lambda s: lucid.ones(2) * sum(type(i) is int for i in s),
        lambda s: {1} if s // 3 % 2 else {True},
    ),
    "order of a set": (
        lambda s: lucid.ones(2) * next(iter(s)),
        lambda step: {0, 8} if step // 3 % 2 else set_in_order(8, 0),
    ),
    "slice": (lambda s: lucid.arange(9)[s] * 2, lambda step: slice(step // 3, None, 1 + step % 2)),
    "slice of floats": (lambda s: lucid.ones(2) * s.start, lambda step: slice([1, 1.0, True][step // 3 % 3])),
    "integer of NumPy": (lambda k: lucid.arange(9.0)[: int(k)] * 2, lambda step: np.int64(step // 3)),
    "zero of NumPy": (
        lambda k: 1 / (lucid.zeros(2) * float(k)),
        lambda step: np.float64(0.0 if step // 3 % 2 else -0.0),
    ),
    "NaN of NumPy": (lambda k: lucid.ones(2) * float(k), lambda step: np.float64("nan")),
    "type of a number": (lambda k: lucid.ones(2) * k.itemsize, lambda s: (np.int32, np.int64)[s // 3 % 2](1)),
}


def named(name):
    def function(t):
        return t

    function.__name__ = name
    return function


def with_attribute(k, function=None):
    function = function or (lambda t: t)
    if k % 2:
        function.k = k
    return function


def factor_of(factor):
    made = Scaled()
    made.factor = factor
    return made


def swapped():
    return collections.OrderedDict(y=tensor(), x=tensor())


def scaled(scale):
    made = Entries(x=tensor())
    made.scale = scale
    return made


def set_in_order(*items):
    made = set()
    for item in items:
        made.add(item)
    return made


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_is_seen(name):
    function, make = CHANGES[name]

    def world():
        return function, [(make(step),) for step in range(18)], []

    check(world, fallback="", min_hits=0)


def test_an_order_that_only_the_dict_knows():
    """move_to_end changes the order of an OrderedDict, but not that of the dict inside."""

    def function(b):
        first, second = b.values()
        return first - second

    f = lucid.compile(function, wait=True)
    for step in range(12):
        b = collections.OrderedDict(x=tensor(), y=tensor())
        if step // 3 % 2:
            b.move_to_end("x")
        assert np.array_equal(f(b).numpy(), function(b).numpy())
    assert f.cache_info().hits >= 4


class Key:
    """A key that counts how often it is looked at."""

    looks = 0

    def __hash__(self):
        Key.looks += 1
        return 1

    def __eq__(self, other):
        Key.looks += 1
        return self is other


def test_keys_are_not_looked_at():
    """Guards run no code of the program."""
    f = lucid.compile(lambda b: b["x"] * 2, wait=True)
    for _ in range(4):
        f(collections.OrderedDict(x=tensor()))
    assert f.cache_info().hits > 0
    other = collections.OrderedDict(x=tensor())
    other[Key()] = 1
    expected = Key.looks
    f(other)
    assert Key.looks == expected


def test_functions_are_not_kept():
    f = lucid.compile(lambda g, x: g(x), wait=True)
    refs = []
    for _ in range(6):
        held = tensor()
        function = scaler(held)
        refs += [weakref.ref(function), weakref.ref(held)]
        f(function, tensor())
    del function, held
    gc.collect()
    assert f.cache_info().hits >= 4
    assert all(ref() is None for ref in refs)


def test_objects_are_not_kept():
    f = lucid.compile(lambda b: b.x * 2, wait=True)
    refs = []
    for _ in range(5):
        b = Batch(tensor())
        refs.append((weakref.ref(b), weakref.ref(b.x)))
        f(b)
    del b
    gc.collect()
    assert f.cache_info().hits >= 3
    assert all(ref() is None for pair in refs for ref in pair)
