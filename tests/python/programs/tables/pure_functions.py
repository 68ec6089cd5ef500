"""Values of immutable types, and calls of C functions: a program for each entry of the tables."""

import abc
import array
import binascii
import bisect
import cmath
import collections
import contextvars
import datetime
import functools
import heapq
import io
import itertools
import json
import math
import operator
import os
import random
import re
import statistics
import string
import struct
import sys
import time
import types
import weakref
import zlib
from collections.abc import Callable
from typing import Any

import lucid
import numpy as np
from lucid.compiler import _type_tables, _values

from .._harness import Box, Programs, program, x0


class First(abc.ABC):  # noqa: B024
    pass


class Second(abc.ABC):  # noqa: B024
    pass


Pair = collections.namedtuple("Pair", "a b")


def code_of(text: str) -> types.CodeType:
    return compile(text, "text", "eval")


_SENTINEL = object()
VALUES: dict[type, tuple[Any, ...]] = {
    int: (2, True, lambda value: value * 3),
    float: (0.0, -0.0, lambda value: math.copysign(1.0, value)),
    bool: (True, False, lambda value: 2 if value else 3),
    str: ("a", "b", ord),
    bytes: (b"a", b"b", ord),
    complex: (2j, 3j, lambda value: value.imag),
    type(None): (None, 2.0, lambda value: 3.0 if value is None else value),
    type(Ellipsis): (..., 2.0, lambda value: 3.0 if value is ... else value),
    type(NotImplemented): (NotImplemented, 2.0, lambda value: 3.0 if value is NotImplemented else value),
    object: (_SENTINEL, object(), lambda value: 2.0 if value is _SENTINEL else 3.0),
    range: (range(2), range(3), len),
    re.Pattern: (re.compile("a+"), re.compile("a"), lambda pattern: pattern.match("aaa").end()),
    datetime.timedelta: (datetime.timedelta(2), datetime.timedelta(3), lambda time: time.days),
    datetime.timezone: (
        datetime.UTC,
        datetime.timezone(datetime.timedelta(hours=1)),
        lambda zone: 2.0 if zone == datetime.UTC else 3.0,
    ),
    types.CodeType: (code_of("1"), code_of("a.b"), lambda code: len(code.co_names) + 1),
    types.WrapperDescriptorType: (int.__add__, int.__mul__, lambda operation: operation(2, 3)),
    type(Pair.a): (Pair.a, Pair.b, lambda field: field.__get__(Pair(2.0, 3.0))),
    type(vars(First)["_abc_impl"]): (
        vars(First)["_abc_impl"],
        vars(Second)["_abc_impl"],
        lambda value: 2.0 if value is vars(First)["_abc_impl"] else 3.0,
    ),
    type(lucid.add): (lucid.add, lucid.mul, lambda op: op(lucid.tensor([1.0, 1.0, 1.0]), 3.0)),
    type(lucid.Tensor.sum): (lucid.Tensor.sum, lucid.Tensor.exp, lambda op: op(lucid.tensor([1.0, 1.0, 1.0]))),
    type(lucid.tensor): (lucid.tensor, lucid.as_tensor, lambda function: len(function.__name__)),
    type(_values._core.Generator.__init__): (
        lucid.Generator.manual_seed,
        lucid.Generator.seed,
        lambda method: len(method.__name__),
    ),
    type(lucid.float32): (lucid.float32, lucid.float64, lambda dtype: dtype.itemsize),
    lucid.device: (lucid.device("cpu"), None, lambda device: 2.0 if device is None else 3.0),
}


# C functions: a call of each.

BUILTINS: dict[str, Callable] = {
    "abs": lambda x: x * abs(-2.0),
    "all": lambda x: x * all([1, 2]),
    "any": lambda x: x * any([1, 2]),
    "ascii": lambda x: x * len(ascii("a")),
    "bin": lambda x: x * len(bin(5)),
    "callable": lambda x: x * callable(len),
    "chr": lambda x: x * len(chr(65)),
    "divmod": lambda x: x * divmod(7, 2)[0],
    "format": lambda x: x * len(format(2.0, ".3f")),
    "hash": lambda x: x * (hash(2) + 1),
    "hex": lambda x: x * len(hex(7)),
    "isinstance": lambda x: x * isinstance(2, int),
    "issubclass": lambda x: x * issubclass(bool, int),
    "iter": lambda x: x * sum(iter([2.0])),
    "len": lambda x: x * len("ab"),
    "max": lambda x: x * max(1.0, 2.0),
    "min": lambda x: x * min(1.0, 2.0),
    "next": lambda x: x * next(iter([2.0])),
    "oct": lambda x: x * len(oct(9)),
    "ord": lambda x: x * ord("a"),
    "pow": lambda x: x * pow(2, 3, 5),
    "repr": lambda x: x * len(repr("a")),
    "round": lambda x: x * round(2.4),
    "sorted": lambda x: x * sorted([2.0, 1.0], key=abs)[0],
    "sum": lambda x: x * sum([1.0, 2.0]),
}


def _make_object() -> Any:
    box = Box()
    setattr(box, "value", 2.0)  # noqa: B010
    return box


def _delete(x):
    box = _make_object()
    delattr(box, "value")
    return x * 2


def _define(x):
    class Local:
        factor = 2.0

    return x * Local.factor


BUILTINS |= {
    "__build_class__": _define,
    "delattr": _delete,
    "dir": lambda x: x * ("value" in dir(_make_object())),
    "getattr": lambda x: x * getattr(_make_object(), "value"),  # noqa: B009
    "hasattr": lambda x: x * hasattr(_make_object(), "value"),
    "setattr": lambda x: x * _make_object().value,
    "vars": lambda x: x * vars(_make_object())["value"],
}

FUNCTIONS: dict[str, list[Callable]] = {
    "math": [lambda x: x * math.sqrt(2.0), lambda x: x * math.prod([2, 3])],
    "cmath": [lambda x: x * cmath.sqrt(-4).imag],
    "itertools": [
        lambda x: x * len(list(itertools.product([1, 2], [3]))),
        lambda x: x * next(itertools.tee([2.0])[0]),
    ],
    "_operator": [lambda x: operator.mul(x, 2), lambda x: x * operator.index(2)],
    "_functools": [
        lambda x: x * functools.reduce(operator.add, [1, 2, 3]),
        lambda x: x * sorted([2, 1], key=functools.cmp_to_key(lambda a, b: a - b))[0],
    ],
    "_collections": [lambda x: x * collections.Counter("aab")["a"]],
    "_bisect": [lambda x: x * bisect.bisect([1, 2, 3], 2)],
    "_heapq": [lambda x: x * heapq.heappushpop([1, 2, 3], 2)],
    "_struct": [lambda x: x * struct.calcsize("fi"), lambda x: x * struct.unpack("f", struct.pack("f", 2.0))[0]],
    "_abc": [lambda x: x * (2 if isinstance([], collections.abc.Sized) else 3)],
    "_string": [lambda x: x * len(string.Formatter().format("{}", 2))],
    "_json": [lambda x: x * len(json.dumps("a"))],
    "_statistics": [lambda x: x * statistics.NormalDist().inv_cdf(0.75)],
    "binascii": [lambda x: x * len(b"ab".hex()), lambda x: x * binascii.crc32(b"a")],
    "_sre": [lambda x: x * re.compile("a").groups + x],
    "numpy": [lambda x: x * float(np.dot(np.array([1.0, 2.0]), np.array([1.0, 2.0])))],
    "numpy._core._multiarray_umath": [
        lambda x: x * float(np.arange(3)[1]),
        lambda x: x * float(np.zeros(2)[0]),
        lambda x: x * float(np.asarray([1.0, 2.0])[1]),
    ],
}


def _raise(x):
    try:
        raise ValueError("a")
    except ValueError as error:
        return x * len(error.with_traceback(None).args)


def _generate(x):
    generator = (value for value in [2.0])
    return x * generator.send(None)


VARIABLE = contextvars.ContextVar("VARIABLE", default=2.0)
METHODS: dict[type, list[Callable]] = {
    list: [lambda x: x * [1, 2].index(2), lambda x: x * sorted([3, 2]).pop()],
    dict: [lambda x: x * {"a": 2.0}.get("a"), lambda x: x * {"a": 2.0}.popitem()[1]],
    set: [lambda x: x * len({1}.union({2}))],
    frozenset: [lambda x: x * len(frozenset({1}).union({2}))],
    tuple: [lambda x: x * (1, 2).index(2)],
    str: [lambda x: x * "a b".find("b"), lambda x: x * len("é".encode("latin-1"))],
    bytes: [lambda x: x * len(b"a b".split()), lambda x: x * len(b"a".decode())],
    bytearray: [lambda x: x * bytearray(b"ab").find(b"b")],
    int: [lambda x: x * (5).bit_length(), lambda x: x * int.from_bytes(b"a", "big")],
    float: [lambda x: x * (2.5).as_integer_ratio()[0]],
    complex: [lambda x: x * (2j).conjugate().imag],
    range: [lambda x: x * range(5).index(3)],
    slice: [lambda x: x * slice(None).indices(3)[1]],
    collections.deque: [lambda x: x * collections.deque([1, 2]).popleft()],
    re.Pattern: [lambda x: x * re.compile("a").match("a").end()],
    re.Match: [lambda x: x * len(re.compile("a").match("a").group())],
    types.GeneratorType: [_generate],
    types.MappingProxyType: [lambda x: x * types.MappingProxyType({"a": 2.0}).get("a")],
    datetime.date: [
        lambda x: x * datetime.date(2000, 1, 2).weekday(),
        lambda x: x * datetime.date.fromordinal(2).day,
        lambda x: x * datetime.datetime(2000, 1, 2).date().day,
    ],
    datetime.time: [lambda x: x * len(datetime.time(2).isoformat())],
    datetime.timedelta: [lambda x: x * datetime.timedelta(2).total_seconds()],
    BaseException: [_raise],
    property: [lambda x: x * (2 if property(len).setter(len) else 3)],
    contextvars.ContextVar: [lambda x: x * VARIABLE.get()],
}
NUMPY_METHODS = [
    lambda x: x * float(np.array([1.0, 2.0]).sum()),
    lambda x: x * float(np.array([1.0, 2.0]).reshape(2, 1)[1, 0]),
    lambda x: x * np.float32(2.0).item(),
    lambda x: x * float(np.add.reduce(np.array([1.0, 2.0]))),
    lambda x: x * np.dtype("f4").newbyteorder().itemsize,
]

# Calls of types written in C.
CONSTRUCTORS: dict[str, list[Callable]] = {
    "builtins": [lambda x: x * int("2"), lambda x: x * sum(map(abs, [1, -1])), lambda x: x * len(list(zip([1], [2])))],
    "collections": [lambda x: x * len(collections.deque([1, 2])), lambda x: x * len(collections.OrderedDict(a=1))],
    "datetime": [lambda x: x * datetime.date(2000, 1, 2).day],
    "functools": [lambda x: functools.partial(operator.mul, 2)(x)],
    "itertools": [lambda x: x * next(itertools.count(2))],
    "nanobind": [lambda x: x * (2 if isinstance(lucid.tensor, type(lucid.tensor)) else 3)],
    "numpy": [lambda x: x * float(np.float32(2.0)), lambda x: x * np.ndarray((2,)).size],
    "numpy.dtypes": [lambda x: x * np.dtypes.Float32DType().itemsize],
    "operator": [lambda x: x * operator.itemgetter(0)([2.0])],
    "re": [lambda x: x * (2 if isinstance("a", re.Pattern) else 3)],
    "types": [lambda x: x * types.SimpleNamespace(a=2.0).a],
    "typing": [lambda x: x * 2],
    "weakref": [lambda x: x * (2 if weakref.ref(VARIABLE_HOLDER)() is VARIABLE_HOLDER else 3)],
}
VARIABLE_HOLDER = Box()

# Functions and methods that are in no table, and the reason that explain() gives.
NOT_LISTED: dict[str, Callable] = {
    "prints to a stream other than": lambda x: print(end="", file=io.StringIO()) or x,
    "calls _io.TextIOWrapper.write": lambda x: sys.__stdout__.write("") * x,
    "calls id": lambda x: x * (id(x) > 0),
    "calls globals": lambda x: x * len(globals()),
    "calls eval": lambda x: x * eval("2"),
    "calls time.time": lambda x: x * (time.time() > 0),
    "calls posix.getpid": lambda x: x * (os.getpid() > 0),
    "calls sys.getrecursionlimit": lambda x: x * sys.getrecursionlimit(),
    "calls random.Random.random": lambda x: x * random.random(),
    "calls zlib.crc32": lambda x: x * zlib.crc32(b"a"),
    "calls list.__sizeof__": lambda x: x * [].__sizeof__(),
    "__subclasses__": lambda x: x * len(Box.__subclasses__()),
    "calls datetime.datetime.now": lambda x: x * datetime.datetime.now().year,
    "calls datetime.date.today": lambda x: x * datetime.date.today().year,
    "calls datetime.datetime.timestamp": lambda x: x * datetime.datetime(2000, 1, 2).timestamp(),
    "calls datetime.date.strftime": lambda x: x * len(datetime.date(2000, 1, 2).strftime("%x")),
    "as the locale says": lambda x: x * len(f"{1234567:n}"),
    "calls memoryview.tolist": lambda x: x * memoryview(b"a").tolist()[0],
    "calls _contextvars.ContextVar.set": lambda x: VARIABLE.set(2.0) and x * 2,
    "may create a array.array": lambda x: x * len(array.array("f")),
    "may create a numpy.datetime64": lambda x: x * (np.datetime64("now", "s") > np.datetime64(0, "s")),
    "may read the clock": lambda x: x * float(np.array("today", dtype="M8[D]").astype("i8") > 0),
    "datetime_as_string": lambda x: x * len(np.datetime_as_string(np.array(0, "M8[s]"))),
}


def _numbered(table: dict[Any, list[Callable]]) -> dict[str, Callable]:
    """The functions of a table by name and number."""
    names = {key: key if isinstance(key, str) else _type_tables.name_of(key) for key in table}
    return {f"{names[key]}_{i}": function for key, functions in table.items() for i, function in enumerate(functions)}


_REFUSED = type(_values._core.Generator.__init__)
_COMPILED = {_type_tables.name_of(cls): VALUES[cls] for cls in VALUES if cls is not _REFUSED}


class Constants(Programs, compiles=True):
    @program("{}_replaced", each=_COMPILED)
    def replaced(run, values):
        run.shows_replaced(*values)

    @program(eager="may call lucid.manual_seed")
    def method_replaced(run):
        run.shows_replaced(*VALUES[_REFUSED])


class PureFunctions(Programs, compiles=True):
    @program("builtin_{}", each=BUILTINS)
    def builtin(run, function):
        run.repeat(run.compile(function), x0, n=5)

    @program("function_{}", each=_numbered(FUNCTIONS))
    def function(run, function):
        run.repeat(run.compile(function), x0, n=5)

    @program("method_{}", each=_numbered({**METHODS, "numpy": NUMPY_METHODS}))
    def method(run, function):
        run.repeat(run.compile(function), x0, n=5)

    @program("constructor_{}", each=_numbered(CONSTRUCTORS))
    def constructor(run, function):
        run.repeat(run.compile(function), x0, n=5)


class NotListed(Programs, compiles=True):
    @program("not_listed_{}", each=NOT_LISTED, eager="{}")
    def not_listed(run, function):
        run.repeat(run.compile(function), x0, n=4)
