"""The classes, functions and variables that random heaps consist of; used by heap_fuzzer.py."""

# Runs at the start of each world, so that worlds share no classes and no functions.
HEAD = """
import abc, array, collections, contextvars, copy, dataclasses, datetime, decimal, enum, fractions, functools, itertools
import math, operator, random, re, threading, types, weakref
from typing import NamedTuple
import lucid
import numpy as np
from lucid import nn

# Nothing here reads attributes by names that are not in the code: then every attribute would be guarded.
MISSING = object()

def num(v):
    if isinstance(v, (bool, int, float)):
        return float(v)
    if isinstance(v, (str, list, tuple, dict, set, frozenset, collections.deque)):
        return len(v) + 0.5
    return 1.0

def note(v, depth=3):
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    if isinstance(v, (list, tuple, collections.deque)) and depth:
        return [note(part, depth - 1) for part in v]
    if isinstance(v, dict) and depth:
        return [(note(key, 1), note(part, depth - 1)) for key, part in v.items()]
    return type(v).__name__

class Box:
    scale = 1.0
    def __init__(self, a=MISSING, b=MISSING, c=MISSING, scale=MISSING):
        if a is not MISSING:
            self.a = a
        if b is not MISSING:
            self.b = b
        if c is not MISSING:
            self.c = c
        if scale is not MISSING:
            self.scale = scale
    def total(self):
        return num(self.a) * num(self.scale)
    @property
    def double(self):
        return num(self.a) * 2
    @classmethod
    def made(cls):
        return num(cls.scale)
    @staticmethod
    def fixed(v=1.5):
        return v

class Derived(Box):
    def total(self):
        try:
            return super().total() + num(self.b)
        except AttributeError:
            return 0.25

class Other(Box):
    scale = 2.0
    def total(self):
        return 3.0

class Slotted:
    __slots__ = ("a", "b")
    def __init__(self, a=MISSING, b=MISSING):
        if a is not MISSING:
            self.a = a
        if b is not MISSING:
            self.b = b
    def total(self):
        return num(self.a)

class Both(Slotted):
    __slots__ = ("c", "__dict__")

@dataclasses.dataclass
class Point:
    a: object = 1.0
    b: object = None

@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object = 1.0
    b: object = None

@dataclasses.dataclass(slots=True)
class Packed:
    a: object = 1.0
    b: object = None

class Pair(NamedTuple):
    a: object = 1.0
    b: object = None

class Color(enum.Enum):
    RED = 1
    BLUE = 2.5

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3

class Meta(type):
    factor = 1.0
    def __len__(cls):
        return int(cls.factor)

class Made(metaclass=Meta):
    scale = 1.0
    def __init__(self, a=1.0):
        self.a = a

class Lazy:
    def __init__(self, **store):
        self.store = store
    def __getattr__(self, name):
        if name == "store" or name not in self.store:
            raise AttributeError(name)
        return self.store[name]

class Sized:
    def __init__(self, a=1.0):
        self.a = a
    def __len__(self):
        return int(abs(num(self.a)))
    def __getitem__(self, key):
        return num(self.a) + key
    def __iter__(self):
        return iter([num(self.a), 2.0])
    def __contains__(self, value):
        return value == self.a
    def __call__(self, v=1.0):
        return num(self.a) * num(v)
    def __eq__(self, other):
        return isinstance(other, Sized) and num(self.a) == num(other.a)
    __hash__ = None

class Items(list):
    scale = 1.0

class Table(dict):
    def __missing__(self, key):
        try:
            return self.a
        except AttributeError:
            return 7.0

class Descriptor:
    def __init__(self, a=1.0):
        self.a = a
    def __get__(self, instance, owner):
        return self.a if instance is None else num(self.a) + 1.0

class Holder:
    field = Descriptor(2.0)
    def __init__(self, a=1.0):
        self.a = a

class Layer(nn.Module):
    def __init__(self, a=1.0):
        super().__init__()
        self.a = a
        self.weight = nn.Parameter(lucid.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("count", lucid.zeros(1))
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        if self.training:
            self.count.add_(1)
        return x * self.weight * num(self.a)

def add(v, k=1.0, *, s=2.0):
    return num(v) * num(k) + num(s)

def sub(v, k=1.0, *, s=3.0):
    return num(v) - num(k) - num(s)

def counter(v):
    def read(w=0.0):
        return num(v) + num(w)
    def write(new):
        nonlocal v
        v = new
    read.write = write
    return read

def calling(function):
    compiled = jit(function)
    def call(v=1.0):
        return compiled(v)
    return call

def optimizer(kind, *parameters):
    return kind(list(parameters), lr=0.125)

def backward(result):
    while not isinstance(result, lucid.Tensor):
        result = result[0]
    if result.requires_grad:
        result.sum().backward()

class Number(float):
    def __new__(cls, value=1.0, a=1.0):
        made = float.__new__(cls, value)
        made.a = a
        return made

class Text(str):
    scale = 1.0

class Cached:
    def __init__(self, a=1.0):
        self.a = a
    @functools.cached_property
    def double(self):
        return num(self.a) * 2

class Strict:
    def __init__(self, a=1.0):
        self.a = a
    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        return value if name != "a" else (value, name)
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
    def __lt__(self, other):
        return num(self.a[0]) < 2.0
    def __bool__(self):
        return num(self.a[0]) > 1.0
    def __add__(self, other):
        return num(self.a[0]) + num(other)

class Abstract(abc.ABC):
    def __init__(self, a=1.0):
        self.a = a
    def total(self):
        return num(self.a)
    @classmethod
    def __subclasshook__(cls, other):
        return NotImplemented

class Single:
    _made = []
    def __init__(self, a=1.0):
        self.a = a
    def total(self):
        return num(self.a) + len(self._made)
    def __enter__(self):
        return self.a
    def __exit__(self, *exception):
        return False

KEPT = Box(a=2.0)
log = []
shared = types.ModuleType("shared")
shared.a = 1.0
shared.add = add
"""
