"""Which types hold no state that changes, and which C functions do nothing but compute."""

from __future__ import annotations

import abc
import builtins
import collections
import datetime
import enum
import fractions
import operator
import re
import threading
import types
from typing import Any

import lucid

from .. import _core, _effects
from .._imported import imported

ATOMS: frozenset[type] = frozenset(
    {int, float, bool, str, bytes, complex, type(None), type(Ellipsis), type(NotImplemented)}
)


class _Abstract(abc.ABC):  # noqa: B024
    pass


# Looking at these tells everything there is to know, and they never change. Not decimal.Decimal: its operators round as
# the thread's context says at that moment, and no hook sees them.
IMMUTABLE: frozenset[type] = frozenset(
    {
        object,
        range,
        slice,
        re.Pattern,
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
        datetime.timezone,
        operator.itemgetter,
        types.CodeType,
        types.GenericAlias,
        types.UnionType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.MemberDescriptorType,
        types.GetSetDescriptorType,
        types.MethodWrapperType,
        types.ClassMethodDescriptorType,
        type(collections.namedtuple("_Pair", "a b").a),  # type: ignore[attr-defined]
        # Who holds a lock does not matter to a thread that gets it.
        type(threading.Lock()),
        type(threading.RLock()),
        # Guarded by the number of classes that were registered.
        type(_Abstract.__dict__["_abc_impl"]),
        # Ours.
        type(lucid.add),
        type(lucid.Tensor.sum),
        type(lucid.tensor),
        type(_core.Generator.__init__),
        type(lucid.float32),
        lucid.device,
        lucid.finfo,
        lucid.iinfo,
    }
)

# Functions and methods that C++ binds.
_BOUND = (type(lucid.tensor), type(_core.Generator.__init__))
# Functions by which code gets at attributes that it does not name.
REFLECTING = {"getattr", "setattr", "delattr", "hasattr", "vars", "dir"}
# Builtin functions whose results or effects the guards cannot know.
_IMPURE_BUILTINS = {
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "globals",
    "id",
    "input",
    "locals",
    "open",
    "print",
    "__import__",
}

_PURE_MODULES = {
    "math",
    "cmath",
    "_operator",
    "itertools",
    "_functools",
    "_collections",
    "_bisect",
    "_heapq",
    "_struct",
    "_abc",
    "_string",
    "_json",
    "_statistics",
    "binascii",
    "_sre",
    "numpy",
    "numpy.core._multiarray_umath",
    "numpy._core._multiarray_umath",
}
# Modules whose types only hold what they are given.
_PURE_TYPE_MODULES = {
    "builtins",
    "collections",
    "functools",
    "itertools",
    "fractions",
    "datetime",
    "operator",
    "re",
    "types",
    "typing",
    "abc",
    "enum",
    "numpy",
    "numpy.dtypes",
    "nanobind",
    "weakref",
}
_IMPURE_NUMPY = {
    "fromfile",
    "tofile",
    "dump",
    "geterrobj",
    "seterrobj",
    "_get_extobj_dict",
    "_make_extobj",
    "setbufsize",
    "set_string_function",
    "set_typeDict",
}
# They read the clock, the time zone, or which classes there are.
_IMPURE_METHODS = {"now", "today", "utcnow", "fromtimestamp", "astimezone", "timestamp", "__subclasses__"}

_PURE_SELF: tuple[type, ...] = (
    list,
    dict,
    set,
    frozenset,
    tuple,
    str,
    bytes,
    bytearray,
    int,
    float,
    complex,
    range,
    slice,
    type(None),
    collections.deque,
    re.Pattern,
    re.Match,
    types.GeneratorType,
    fractions.Fraction,
    datetime.date,
    datetime.timedelta,
    types.MappingProxyType,
    BaseException,
    property,
    type(threading.Lock()),
    type(threading.RLock()),
)

mro_of: Any = type.__dict__["__mro__"].__get__
_HEAP = 1 << 9
_IMMUTABLE_TYPE = 1 << 8


def derives(cls: type, *bases: type) -> bool:
    """Whether a class derives from one of these, without asking its metaclass."""
    order = mro_of(cls)
    return any(base in order for base in bases)


def module_of(cls: type) -> str:
    """The module that a class names."""
    name = cls.__module__
    return name if isinstance(name, str) else "lucid"


def is_own_class(cls: type) -> bool:
    """Whether the class is one of the package's Python code."""
    name = module_of(cls)
    return name.startswith("lucid.") and name != "lucid._core"


def name_of(cls: type) -> str:
    """A class in a message."""
    module = module_of(cls)
    return cls.__qualname__ if module in ("builtins", "__main__") else f"{module}.{cls.__qualname__}"


def is_heap_class(cls: type) -> bool:
    """Whether the class has attributes that can be set."""
    return bool(cls.__flags__ & _HEAP) and not cls.__flags__ & _IMMUTABLE_TYPE


def is_python_class(cls: type) -> bool:
    """Whether instances hold nothing but what their dict and their slots show: the class was made by a statement."""
    if not is_heap_class(cls):
        return False
    base, slots = 16, 0
    for ancestor in mro_of(cls):
        if ancestor.__flags__ & _HEAP:
            slots += sum(type(value) is types.MemberDescriptorType for value in _core.class_dict(ancestor).values())
        elif ancestor is not object:
            base = max(base, ancestor.__basicsize__)
    spare = (1 if cls.__weakrefoffset__ else 0) + (1 if cls.__dictoffset__ else 0)
    return cls.__basicsize__ <= base + 8 * (slots + spare)


def builtin_bases(cls: type) -> list[type]:
    """The types written in C that a class derives from, `object` excepted."""
    return [base for base in mro_of(cls) if base is not object and not is_heap_class(base)]


def is_enum(cls: type) -> bool:
    """Whether the class lists its instances."""
    return derives(cls, enum.Enum)


def is_pure_type(cls: type) -> bool:
    """Whether a type of ours was declared pure, or one that it derives from."""
    return not _core.pure.isdisjoint(mro_of(cls))


def is_known_type(cls: type) -> bool:
    """Whether making an instance of a type written in C has no effects."""
    return module_of(cls) in _PURE_TYPE_MODULES or issubclass(cls, BaseException) or is_pure_type(cls)


def numpy_kind(cls: type) -> str | None:
    """ "array", "constant", or None for what is not NumPy's."""
    numpy: Any = imported("numpy")
    if numpy is None:
        return None
    if cls is numpy.ndarray:
        return "array"
    if derives(cls, numpy.generic, numpy.dtype, numpy.ufunc) or cls.__name__ == "_ArrayFunctionDispatcher":
        return "constant"
    return None


def own_effect(function: Any) -> str | None:
    """The public name of a function of ours that is known to be not pure before it runs; None for all others.

    Calls of Python functions are seen when they run, so only those count that declare an effect; calls of bound C++
    functions are not seen, so all count that are not declared pure.
    """
    if isinstance(function, types.FunctionType):
        is_pure = _effects.declared_effect(function.__code__) is None
    else:
        is_pure = not isinstance(function, _BOUND) or function in _core.pure
    return None if is_pure else f"lucid.{function.__name__}"


def reason_for(function: Any) -> str | None:
    """Why a C function that was called makes the call run eagerly; None if it only computes."""
    name = function.__name__
    owner = function.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        module = owner.__name__ if owner is not None else str(function.__module__)
        if module == "builtins":
            return f"calls {name}" if name in _IMPURE_BUILTINS else None
        if function in _core.pure:
            return None
        if function is open:
            return "calls open"
        if module in _PURE_MODULES and name not in _IMPURE_NUMPY:
            return None
        return f"calls {module.lstrip('_')}.{name}"
    if isinstance(owner, type):
        if name in _IMPURE_METHODS or not (is_python_class(owner) or is_known_type(owner)):
            return f"calls {name_of(owner)}.{name}"
        return None
    cls = type(owner)
    numpy: Any = imported("numpy")
    if derives(cls, datetime.date) and name in _IMPURE_METHODS:
        return f"calls {name_of(cls)}.{name}"
    if is_pure_type(cls) or derives(cls, *_PURE_SELF) or isinstance(owner, type):
        return None
    if numpy is not None and derives(cls, numpy.ndarray, numpy.generic, numpy.ufunc, numpy.dtype):
        return f"calls {name_of(cls)}.{name}" if name in _IMPURE_NUMPY else None
    if is_python_class(cls) and hasattr(object, name):
        return None
    return f"calls {name_of(cls)}.{name}"


def is_reflecting(function: Any) -> bool:
    """Whether a C function gets at attributes by names that it is given."""
    if function.__self__ is builtins:
        return function.__name__ in REFLECTING
    return type(function.__self__) is str and function.__name__ in ("format", "format_map")
