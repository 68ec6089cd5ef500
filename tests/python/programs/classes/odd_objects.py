"""Objects of all kinds as state and as arguments: no call may raise an error that it does not raise eagerly."""

import abc
import array
import asyncio
import collections
import contextvars
import ctypes
import decimal
import enum
import fractions
import functools
import io
import itertools
import logging
import operator
import queue
import re
import sys
import threading
import types
import typing
import weakref
from dataclasses import dataclass

import lucid
import numpy as np
from lucid import nn, optim

from .._harness import Programs, program, x0


class Raises:
    """Raises an error whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError("eq")

    def __hash__(self):
        raise RuntimeError("hash")

    def __bool__(self):
        raise RuntimeError("bool")

    def __len__(self):
        raise RuntimeError("len")

    def __iter__(self):
        raise RuntimeError("iter")

    def __repr__(self):
        raise RuntimeError("repr")


class RaisingMeta(type):
    def __getattribute__(cls, name):
        raise RuntimeError(name)

    def __eq__(cls, other):
        raise RuntimeError("eq")

    def __hash__(cls):
        raise RuntimeError("hash")

    def __instancecheck__(cls, instance):
        raise RuntimeError("instancecheck")


class OfRaisingMeta(metaclass=RaisingMeta):
    pass


class Slots:
    __slots__ = ("a", "b")


class Counted(int):
    def __mul__(self, other):
        return 1


class Odd:
    @property
    def __dict__(self):
        raise RuntimeError("dict")

    @property
    def __class__(self):
        raise RuntimeError("class")


def _nameless():
    return type("", (), {"__module__": 5, "__doc__": 7})()


def _closure():
    if False:
        value = 1

    def inner():
        return value

    return inner


def _traceback():
    try:
        raise ValueError("inner")
    except ValueError as error:
        return error


def _cyclic():
    items, table, box = [], {}, types.SimpleNamespace()
    items.append(items)
    table["self"] = table
    box.box = box
    return [items, table, box]


def _released():
    view = memoryview(bytearray(4))
    view.release()
    return view


def _deep(make, depth=3000):
    value = make(1)
    for _ in range(depth):
        value = make(value)
    return value


class Chain:
    def __init__(self, next_one):
        self.foo = next_one


@dataclass
class Link:
    foo: object


class Point(typing.NamedTuple):
    foo: object


MAKERS = {
    "raises": Raises,
    "raising_meta": OfRaisingMeta,
    "raising_class": lambda: OfRaisingMeta,
    "slots": Slots,
    "counted": lambda: Counted(3),
    "odd": Odd,
    "nameless": _nameless,
    "nameless_class": lambda: type(_nameless()),
    "empty_cell": _closure,
    "error": _traceback,
    "traceback": lambda: _traceback().__traceback__,
    "frame": sys._getframe,
    "code": lambda: _closure.__code__,
    "cyclic_list": lambda: _cyclic()[0],
    "cyclic_dict": lambda: _cyclic()[1],
    "cyclic_box": lambda: _cyclic()[2],
    "released": _released,
    "deep_list": lambda: _deep(lambda v: [v]),
    "deep_tuple": lambda: _deep(lambda v: (v,)),
    "deep_dict": lambda: _deep(lambda v: {"a": v}),
    "deep_objects": lambda: _deep(Chain),
    "deep_links": lambda: _deep(Link),
    "deep_points": lambda: _deep(Point),
    "large_list": lambda: list(range(6000)),
    "many_objects": lambda: [[i] for i in range(4000)],
    "unhashable_value": lambda: {"a": {"b": {1, 2}}},
    "array_0d": lambda: np.array(1.0),
    "array_empty": lambda: np.zeros((0, 3)),
    "array_big_endian": lambda: np.arange(3, dtype=">f8"),
    "array_times": lambda: np.array(["2024-01-01"], "datetime64[D]"),
    "array_objects": lambda: np.array([Raises, 1], object),
    "array_text": lambda: np.array(["a", "bb"]),
    "array_half": lambda: np.zeros(3, np.float16),
    "array_long": lambda: np.zeros(3, np.longdouble),
    "array_structured": lambda: np.zeros(2, [("a", "f4"), ("b", "O")]),
    "array_read_only": lambda: np.broadcast_to(np.array(1.0), (3, 3)),
    "array_large": lambda: np.zeros(5000),
    "array_flat": lambda: np.zeros(3).flat,
    "array_masked": lambda: np.ma.masked_array([1.0], mask=[1]),
    "array_matrix": lambda: np.zeros((2, 2)).view(np.matrix),
    "numpy_void": lambda: np.zeros(1, "V4")[0],
    "numpy_time": lambda: np.datetime64("2024-01-01"),
    "numpy_text": lambda: np.str_("a"),
    "numpy_dtype": lambda: np.dtype([("a", "f4")]),
    "numpy_generator": lambda: np.random.default_rng(0),
    "numpy_module": lambda: np,
    "decimal": lambda: decimal.Decimal("NaN"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "optimizer": lambda: optim.Adam([nn.Parameter(x0())]),
    "scheduler": lambda: optim.lr_scheduler.StepLR(optim.SGD([nn.Parameter(x0())], lr=0.1), 1),
    "module": lambda: nn.Linear(3, 3),
    "module_class": lambda: nn.Linear,
    "empty_module": lambda: nn.Module.__new__(nn.Module),
    "parameter": lambda: nn.Parameter(x0()),
    "hook_handle": lambda: nn.Linear(3, 3).register_forward_hook(lambda *args: None),
    "node": lambda: (x0().requires_grad_() * 2).grad_fn,
    "dtype": lambda: lucid.float32,
    "device": lambda: x0().device,
    "generator": lucid.Generator,
    "compiled": lambda: lucid.compile(lambda x: x),
    "compiled_module": lambda: lucid.compile(nn.Linear(3, 3)),
    "builtin_type": lambda: int,
    "ellipsis": lambda: ...,
    "not_implemented": lambda: NotImplemented,
    "range": lambda: range(10**30),
    "slice": lambda: slice(x0(), None, Raises),
    "weak": lambda: weakref.ref(Slots),
    "dead_weak": lambda: weakref.ref(Chain(1)),
    "weak_set": lambda: weakref.WeakSet([Chain]),
    "proxy": lambda: weakref.proxy(Chain),
    "lock": threading.Lock,
    "condition": threading.Condition,
    "event": threading.Event,
    "thread_local": threading.local,
    "queue": queue.Queue,
    "file": lambda: io.StringIO("a"),
    "standard_error": lambda: sys.stderr,
    "logger": lambda: logging.getLogger("lucid.tests.odd"),
    "match": lambda: re.match("a", "a"),
    "pattern": lambda: re.compile("a"),
    "iterator": lambda: iter([1]),
    "generator_object": lambda: (i for i in [1]),
    "count": itertools.count,
    "context_variable": lambda: contextvars.ContextVar("odd"),
    "context": contextvars.copy_context,
    "event_loop_policy": lambda: asyncio.DefaultEventLoopPolicy(),
    "alias": lambda: list[int],
    "union": lambda: int | str,
    "typing_alias": lambda: typing.Optional[int],
    "type_variable": lambda: typing.TypeVar("T"),
    "enum_class": lambda: enum.Enum("Mode", "A B"),
    "flag": lambda: enum.Flag("Mode", "A B")(0),
    "abstract": lambda: abc.ABC,
    "number_in_c": lambda: ctypes.c_int(3),
    "array": lambda: array.array("d", [1.0]),
    "deque": lambda: collections.deque([1], maxlen=2),
    "user_dict": lambda: collections.UserDict(a=1),
    "chain_map": lambda: collections.ChainMap({}),
    "proxy_of_mapping": lambda: types.MappingProxyType(collections.UserDict(a=1)),
    "partial": lambda: functools.partial(print, end=""),
    "getter": lambda: operator.attrgetter("foo.bar"),
    "item_getter": lambda: operator.itemgetter(1, "a"),
    "super": lambda: super(Counted, Counted(1)),
    "property": lambda: property(lambda self: 1),
    "static": lambda: staticmethod(print),
    "bound_builtin": lambda: [].append,
    "wrapper": lambda: [].__len__,
    "descriptor": lambda: list.append,
    "slot_descriptor": lambda: Slots.a,
    "lru": lambda: functools.lru_cache(lambda: 1),
    "nan": lambda: float("nan"),
    "module_object": lambda: types.ModuleType("odd"),
    "builtins": lambda: __builtins__,
    "system": lambda: sys,
    "main": lambda: sys.modules["__main__"],
    "environment": lambda: __import__("os").environ,
}


class OddObjects(Programs):
    @program("odd_{}", each=MAKERS)
    def odd(run, make):
        state = make()
        for function in (
            lambda x: x * (2 if state is not None else 3),
            lambda x, o=state: x * (2 if o is state else 3),
        ):
            run.repeat(run.compile(function), x0)
        with_argument = [
            lambda x, o: x * (2 if o is state else 3),
            lambda x, *args, **kwargs: x * (len(args) + 1),
        ]
        for function in with_argument:
            run.over(run.compile(function), state, state, make(), [state], {"a": state}, Chain(state), Link(state))
