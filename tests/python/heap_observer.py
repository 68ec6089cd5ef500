"""What a program can tell about a heap; used by heap_fuzzer.py and chaos.py."""

import array
import collections
import contextvars
import datetime
import decimal
import fractions
import functools
import random
import re
import threading
import types
import weakref

import lucid
import numpy as np
from lucid import nn

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def text_of(error):
    """An exception without what differs between two processes."""
    return type(error).__name__, _ADDRESS.sub("0x", str(error))


class Contents:
    """The elements of a tensor. All NaNs count as equal."""

    def __init__(self, tensor):
        tensor = tensor.detach()
        # A copy, because exporting memory to NumPy pins it.
        self._array = (tensor.float() if tensor.dtype in _HALVES else tensor.clone()).numpy()

    def __eq__(self, other):
        mine, others = self._array, other._array
        if mine.tobytes() == others.tobytes():
            return mine.dtype == others.dtype
        if mine.dtype != others.dtype or mine.shape != others.shape or mine.dtype.kind != "f":
            return False
        is_nan = np.isnan(mine) & np.isnan(others)
        return np.where(is_nan, 0, mine).tobytes() == np.where(is_nan, 0, others).tobytes()

    __hash__ = None

    def __repr__(self):
        return str(self._array.tolist())


_HALVES = (lucid.float16, lucid.bfloat16)


def is_a(value, classes):
    """isinstance() that runs no code of the object."""
    return issubclass(type(value), classes)


def attributes_of(value):
    """The attribute dict of an object, read without running code of its class. It is not created: functools.partial()
    merges another partial only if that has none."""
    if value is None or is_a(value, type) or not lucid._core.has_attribute_dict(value):
        return {}
    return object.__getattribute__(value, "__dict__")


def slots_of(value):
    """The slots of an object that are set."""
    cls = type(value)
    # Not kept: programs change classes. Tensors have none, but many attributes to look through.
    if issubclass(cls, (type, types.FunctionType)) or cls is lucid.Tensor:
        return []
    found = []
    for name, member in [entry for base in cls.__mro__ for entry in vars(base).items()]:
        if type(member) is not types.MemberDescriptorType:
            continue
        try:
            found.append((name, member.__get__(value)))
        except AttributeError:
            continue
    return found


# Attributes of classes that changes may touch.
CLASS_NAMES = ("_made", "a", "b", "c", "scale", "factor", "total", "double", "field", "__len__", "__call__", "__eq__")


class Observer:
    """Describes values: equal descriptions mean that no program can tell one heap from the other. Objects are numbered,
    so that aliases are told from copies."""

    def __init__(self):
        self._numbers = {}

    def observe(self, value):
        cls = type(value)
        if cls is lucid.compiler.JITFunction:
            return self.observe(value.__wrapped__)
        if cls in _ATOMS:
            text = repr(value)
            return cls.__name__, _ADDRESS.sub("0x", text) if "0x" in text else text
        if is_a(value, np.generic):
            return cls.__name__, repr(value)
        known = self._numbers.get(id(value))
        if known is not None:
            return "again", known[0]
        # The object is held: its address must not be used again.
        self._numbers[id(value)] = (len(self._numbers), value)
        kind = _kinds.get(cls)
        if kind is None:
            kind = _kinds[cls] = next(kind for kind, classes in _KINDS if issubclass(cls, classes))
        return (cls.__name__, *getattr(self, kind)(value))

    def _named(self, entries):
        return [(name, self.observe(part)) for name, part in entries]

    def _attributes(self, value):
        """Also what is seen of an object of any other class."""
        return self._named([*attributes_of(value).items(), *slots_of(value)])

    def _tensor(self, tensor):
        node = tensor.grad_fn
        return [
            str(tensor.dtype),
            tuple(tensor.shape),
            tuple(tensor.stride()) if tensor.numel() else (),
            tensor.requires_grad,
            tensor.is_leaf,
            None if node is None else node.name(),
            Contents(tensor),
            self.observe(tensor.grad) if tensor.is_leaf else None,
            self._attributes(tensor),
        ]

    def _array(self, value):
        contents = self.observe(value.tolist()) if value.dtype.hasobject else value.tobytes()
        return str(value.dtype), value.shape, value.strides, value.flags.writeable, contents

    def _sequence(self, value):
        return [self.observe(part) for part in value], self._attributes(value)

    def _mapping(self, value):
        return [(self.observe(key), self.observe(part)) for key, part in dict.items(value)], self._attributes(value)

    def _set(self, value):
        return [[repr(part) for part in value]]

    def _module(self, value):
        parts = [*value._parameters.items(), *value._buffers.items(), *value._modules.items()]
        own = [(name, part) for name, part in attributes_of(value).items() if not name.startswith("_")]
        return [value.training, self._named(parts), self._named(own)]

    def _optimizer(self, value):
        return [self.observe(value.state_dict()), [self.observe(group["params"]) for group in value.param_groups]]

    def _function(self, value):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        parts = [value.__defaults__, value.__kwdefaults__, cells, vars(value)]
        return [value.__code__.co_name, *(self.observe(part) for part in parts if part)]

    def _method(self, value):
        return [self.observe(value.__self__), self.observe(value.__func__)]

    def _builtin(self, value):
        return [value.__name__, None if type(value.__self__) is types.ModuleType else self.observe(value.__self__)]

    def _partial(self, value):
        return [self.observe(part) for part in (value.func, value.args, value.keywords)]

    def _variable(self, value):
        return [self.observe(value.get("missing"))]

    def _generator(self, value):
        return [Contents(value.get_state())]

    def _bytes(self, value):
        return [bytes(value)]

    def _random(self, value):
        return [value.getstate()]

    def _text(self, value):
        return [repr(value), self._attributes(value)]

    def _lock(self, value):
        return [value.locked()]

    def _class(self, value):
        entries = vars(value)
        return self._named((name, entries[name]) for name in CLASS_NAMES if name in entries)

    def _exception(self, value):
        return text_of(value)

    def _namespace(self, value):
        return self._named((name, part) for name, part in vars(value).items() if not name.startswith("__"))


_ATOMS = frozenset({int, float, complex, str, bytes, bool, type(None)})
_kinds = weakref.WeakKeyDictionary()
# The first that fits decides.
_KINDS = (
    ("_tensor", lucid.Tensor),
    ("_array", np.ndarray),
    ("_sequence", (list, tuple, collections.deque)),
    ("_mapping", dict),
    ("_set", (set, frozenset)),
    ("_module", nn.Module),
    ("_optimizer", lucid.optim.Optimizer),
    ("_function", types.FunctionType),
    ("_method", types.MethodType),
    ("_builtin", (types.BuiltinFunctionType, types.MethodWrapperType)),
    ("_partial", functools.partial),
    ("_variable", contextvars.ContextVar),
    ("_generator", lucid.Generator),
    ("_bytes", (bytearray, memoryview, array.array)),
    ("_random", random.Random),
    ("_text", (decimal.Decimal, fractions.Fraction, datetime.date, float, str, slice, range)),
    ("_lock", type(threading.Lock())),
    ("_class", type),
    ("_exception", BaseException),
    ("_namespace", types.ModuleType),
    ("_attributes", object),
)
