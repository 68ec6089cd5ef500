"""Arguments that are objects, dicts of other classes, functions, sets, slices and numbers of NumPy."""

import collections
import dataclasses
import functools
import gc
import types
import weakref

import lucid
import lucid.nn as nn
import numpy as np
import pytest
from same import check


class Batch:
    """An ordinary object with tensors."""

    def __init__(self, x, y=None, **others):
        self.x, self.y = x, y
        vars(self).update(others)

    def total(self):
        return self.x.sum() if self.y is None else (self.x * self.y).sum()


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Entries(dict):
    """A dict with attributes and methods."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.scale = 2.0

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def first(self):
        return next(iter(self.values()))


class Ordered(collections.OrderedDict):
    pass


class Default(dict):
    """Gives what is missing."""

    def __missing__(self, key):
        return len(key)


@dataclasses.dataclass
class Output(collections.OrderedDict):
    """As in transformers: a dataclass that is also a dict."""

    loss: lucid.Tensor

    def __post_init__(self):
        self["loss"] = self.loss


class Scaled:
    factor = 2

    def scaled(self, t):
        return t * self.factor


MODEL = Scaled()


def tensor():
    return lucid.randn(3)


def scaler(factor):
    def scale(t):
        return t * factor

    return scale


def counter():
    """A function that counts its calls."""
    count = 0

    def call(t):
        nonlocal count
        count += 1
        return t * count

    return call


def with_defaults(x, y):
    def add(t, k=2, x=x, *, y=y):
        return t * k + x - y

    return add


def recursive():
    def power(t, n):
        return t if n == 0 else power(t * 2, n - 1)

    return power


OBJECTS = {
    "object": (lambda b: b.x * b.y, lambda: Batch(tensor(), tensor())),
    "method of an object": (lambda b: b.total() * 2, lambda: Batch(tensor(), tensor())),
    "one tensor twice": (lambda b: b.x + b.y, lambda: (lambda t: Batch(t, t))(tensor())),
    "tensors of requires_grad": (
        lambda b: (b.x * b.y).sum(),
        lambda: Batch(lucid.randn(3, requires_grad=True), lucid.randn(3, requires_grad=True)),
    ),
    "parameters": (lambda b: (b.x * b.y).sum(), lambda: Batch(nn.Parameter(tensor()), tensor())),
    "in-place": (lambda b: b.x.add_(b.y), lambda: Batch(tensor(), tensor())),
    "an unread tensor": (lambda b: b.x * 2, lambda: Batch(tensor(), lucid.randn(int(lucid.randint(1, 9, ()))))),
    "an object in an object": (lambda b: b.x.x * b.y, lambda: Batch(Batch(tensor()), tensor())),
    "a list in an object": (lambda b: b.x[0] + b.x[1], lambda: Batch([tensor(), tensor()])),
    "a dict in an object": (lambda b: b.x["a"] * b.x["k"], lambda: Batch({"a": tensor(), "k": 2})),
    "a tuple in an object": (lambda b: b.x[0] * b.x[1], lambda: Batch((tensor(), 3))),
    "slots": (lambda b: b.x - b.y, lambda: Slotted(tensor(), tensor())),
    "namespace": (lambda b: b.x / b.y, lambda: types.SimpleNamespace(x=tensor(), y=tensor())),
    "ordered": (lambda b: b["x"] * 2, lambda: collections.OrderedDict(x=tensor(), y=tensor())),
    "items of ordered": (lambda b: sum(b.values()), lambda: collections.OrderedDict(x=tensor(), y=tensor())),
    "ordered class": (lambda b: b["x"] * b["k"], lambda: Ordered(x=tensor(), k=2.0)),
    "dict class": (lambda b: b["x"] * b.scale, lambda: Entries(x=tensor())),
    "dict class by attribute": (lambda b: b.x + b.first(), lambda: Entries(x=tensor(), y=tensor())),
    "dict class with defaults": (lambda b: b["x"] * b["four"], lambda: Default(x=tensor())),
    "unpacked": (lambda b: (lambda x, y: x * y)(**b), lambda: Entries(x=tensor(), y=tensor())),
    "dataclass and dict": (lambda b: b.loss + b["loss"], lambda: Output(tensor())),
    "lambda": (lambda f: f(lucid.ones(2)), lambda: lambda t: t * 2),
    "closure": (lambda f: f(lucid.ones(2)), lambda: scaler(3)),
    "closure over a tensor": (lambda f: f(lucid.ones(3)), lambda: scaler(tensor())),
    "closure over a function": (
        lambda f: f(lucid.ones(3)).sum(),
        lambda: (lambda g: lambda t: g(t) + 1)(scaler(tensor())),
    ),
    "defaults": (lambda f: f(lucid.ones(3)), lambda: with_defaults(tensor(), tensor())),
    "recursive": (lambda f: f(lucid.ones(2), 3), recursive),
    "functions in a list": (lambda fs: sum(f(lucid.ones(2)) for f in fs), lambda: [scaler(2), scaler(3)]),
    "one function twice": (lambda fs: fs[0](lucid.ones(2)), lambda: (lambda f: [f, f])(scaler(2))),
    "partial": (lambda f: f(lucid.ones(2)), lambda: functools.partial(lucid.clamp, min=2)),
    "partial of a lambda": (lambda f: f(2.0), lambda: functools.partial(lambda x, k: x * k, tensor())),
    "partial of partials": (lambda f: f(), lambda: functools.partial(functools.partial(scaler(2)), tensor())),
    "method": (lambda f: f(lucid.ones(2)), lambda: MODEL.scaled),
    "set": (lambda s: lucid.ones(2) * 2 if "a" in s else lucid.ones(2), lambda: {"a"}),
    "frozenset": (lambda s: lucid.ones(2) * len(s), lambda: frozenset((1, "b"))),
    "slice": (lambda s: lucid.arange(9)[s] * 2, lambda: slice(1, None, 2)),
    "integer of NumPy": (lambda k: lucid.arange(9.0)[: int(k)] * 2, lambda: np.int64(5)),
    "float of NumPy": (lambda k: lucid.ones(2) * float(k), lambda: np.float32(0.1)),
    "bool of NumPy": (lambda k: lucid.ones(2) * 2 if k else lucid.ones(2), lambda: np.bool_(True)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name):
    """A new object at each call."""
    function, make = OBJECTS[name]

    def world():
        return function, [(make(),) for _ in range(8)], []

    check(world, min_hits=5)


@pytest.mark.parametrize("name", ["object", "slots", "namespace", "ordered", "dict class", "a dict in an object"])
def test_shapes_and_dtypes_in_objects(name):
    function, make = OBJECTS[name]
    kinds = [
        lambda t: t,
        lambda t: t.double(),
        lambda t: t[:2],
        lambda t: t[::2],
        lambda t: t.requires_grad_(),
        lambda t: nn.Parameter(t),
        lambda t: t[0],
    ]

    def change(value, kind):
        if isinstance(value, lucid.Tensor):
            return kind(value)
        if isinstance(value, dict):
            for key, item in list(value.items()):
                value[key] = change(item, kind)
        elif isinstance(value, Slotted):
            value.x, value.y = change(value.x, kind), change(value.y, kind)
        elif hasattr(value, "__dict__"):
            for key, item in list(vars(value).items()):
                setattr(value, key, change(item, kind))
        return value

    def world():
        return function, [(change(make(), kind),) for kind in kinds for _ in range(4)], []

    check(world, fallback="", min_hits=0)


def test_what_is_one_tensor():
    """Tensors in objects, arguments and state may be the same, or not."""

    def world():
        state = lucid.randn(3)

        def function(x, b):
            b.x.add_(1)
            return x + b.x * b.y - state

        def calls():
            for step in range(40):
                x, y, z = tensor(), tensor(), tensor()
                b = [Batch(y, z), Batch(x, z), Batch(y, x), Batch(y, y), Batch(x, x), Batch(state, y), Batch(y, state)]
                yield x, b[step // 3 % 7]

        return function, calls, lambda: [state]

    check(world, fallback="", min_hits=0)


def test_memory_that_is_shared():
    def world():
        def function(x, b):
            b.x.mul_(2)
            return x + b.y

        def calls():
            for step in range(24):
                x, y = tensor(), tensor()
                yield x, [Batch(y, tensor()), Batch(x[:], tensor()), Batch(y, y[:]), Batch(y[:2], x[1:])][step // 3 % 4]

        return function, calls, []

    check(world, fallback="", min_hits=0)


class Model:
    """Methods of an ordinary class that trains parameters of its own."""

    def __init__(self):
        self.w = nn.Parameter(lucid.randn(3, 2))
        self.b = lucid.zeros(2)
        self.optimizer = lucid.optim.SGD([self.w], lr=0.1, momentum=0.9)

    def forward(self, x):
        return (x @ self.w + self.b).tanh()

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.forward(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


@pytest.mark.parametrize("name", ["forward", "step"])
def test_methods_of_ordinary_classes(name):
    """Compiled in the class, so that the object is an argument."""

    def world():
        models = [Model(), Model()]
        method = getattr(Model, name)
        calls = [(models[step // 4 % 2], lucid.randn(5, 3)) for step in range(24)]
        return method, calls, lambda: [tensor for model in models for tensor in (model.w, model.b)]

    check(world, min_hits=8)


def replace_tensor(b):
    y = b.x * 2
    b.x = y
    return y


def replace_entry(b):
    b["x"] = b["x"] * 2
    return b["x"]


def add_entry(b):
    b["new"] = b["x"]
    return b["x"] * 2


def move_to_end(b):
    b.move_to_end("x")
    return sum(b.values())


def add_item(s):
    s.add("new")
    return lucid.ones(2) * len(s)


WRITING = {
    "object": (replace_tensor, lambda: Batch(tensor())),
    "namespace": (replace_tensor, lambda: types.SimpleNamespace(x=tensor())),
    "ordered": (replace_entry, lambda: collections.OrderedDict(x=tensor())),
    "dict class": (replace_entry, lambda: Entries(x=tensor())),
    "new entry": (add_entry, lambda: Entries(x=tensor())),
    "order": (move_to_end, lambda: collections.OrderedDict(x=tensor(), y=tensor() * 1e8, z=tensor() * -1e8)),
    "set": (add_item, lambda: {"a"}),
}


@pytest.mark.parametrize("name", WRITING)
def test_calls_that_change_what_was_passed(name):
    function, make = WRITING[name]

    def world():
        objects = [make() for _ in range(6)]

        def state():
            kept = []
            for value in objects:
                items = value if isinstance(value, (dict, set)) else vars(value)
                kept += [lucid.tensor(len(items))]
                if not isinstance(value, set):
                    kept += [item for item in items.values() if isinstance(item, lucid.Tensor)]
            return kept

        return function, [(value,) for value in objects], state

    check(world, fallback="", min_hits=0)


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
