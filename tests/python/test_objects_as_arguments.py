"""Arguments that are objects, dicts of other classes, functions, sets, slices and numbers of NumPy."""

import collections
import dataclasses
import functools
import types

import lucid
import lucid.nn as nn
import numpy as np
import pytest
from passed_objects import Batch, Default, Entries, Scaled, scaler, tensor
from same import check


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Ordered(collections.OrderedDict):
    pass


@dataclasses.dataclass
class Output(collections.OrderedDict):
    """As in transformers: a dataclass that is also a dict."""

    loss: lucid.Tensor

    def __post_init__(self):
        self["loss"] = self.loss


MODEL = Scaled()


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
