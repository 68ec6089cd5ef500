"""The C functions that are pure.

A plan does not call them, so a recorded call may run only functions with an entry here. Their results depend on their
arguments, and they change only objects that guards compare. Any other function makes the call run eagerly.
docs/capture.md shows the entries.
"""

from __future__ import annotations

import _operator
import builtins
import collections
import contextvars
import datetime
import functools
import re
import types
from collections.abc import Collection
from typing import Any, NamedTuple

from .. import _core, _effects
from .._imported import imported
from ._type_tables import derives, is_known_type, is_pure_type, is_python_class, mro_of, name_of


class PureFunctions(NamedTuple):
    """Functions of a module. No names: all of them."""

    names: Collection[str]
    reason: str


_FROM_ARGUMENTS = "results depend on the arguments"
_NUMPY = PureFunctions(
    {
        "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "bincount", "busday_count",
        "busday_offset", "c_einsum", "can_cast", "compare_chararrays", "concatenate", "copyto", "correlate",
        "correlate2", "count_nonzero", "datetime_data", "dot", "dragon4_positional",
        "dragon4_scientific", "format_longfloat", "frombuffer", "fromiter", "fromstring", "inner", "interp",
        "interp_complex", "is_busday", "lexsort", "min_scalar_type", "normalize_axis_index", "packbits",
        "promote_types", "putmask", "ravel_multi_index", "result_type", "scalar", "unpackbits", "unravel_index",
        "vdot", "where", "zeros", "_get_implementing_args", "_monotonicity", "_place", "_reconstruct", "_unique_hash",
        "_vec_string", "empty", "empty_like", "shares_memory", "may_share_memory",
    },
    "results depend on the arguments; arrays that existed before are guarded; empty arrays have no defined contents",
)  # fmt: skip

_OPERATORS = {name for name in dir(_operator) if not name.startswith("is_")}

PURE_FUNCTIONS: dict[str, PureFunctions] = {
    "builtins": PureFunctions(
        {
            "__build_class__", "abs", "all", "any", "ascii", "bin", "callable", "chr", "delattr", "dir", "divmod",
            "format", "getattr", "hasattr", "hash", "hex", "isinstance", "issubclass", "iter", "len", "max", "min",
            "next", "oct", "ord", "pow", "repr", "round", "setattr", "sorted", "sum", "vars",
        },
        "results depend on the arguments; Python code that they call is watched; objects that they change are guarded",
    ),
    "math": PureFunctions((), _FROM_ARGUMENTS),
    "cmath": PureFunctions((), _FROM_ARGUMENTS),
    "itertools": PureFunctions((), "an iterator that existed before the call is refused"),
    "_operator": PureFunctions(_OPERATORS, "as the operators themselves; not `is_`, which depends on identity"),
    "_functools": PureFunctions({"reduce", "cmp_to_key"}, "what they call is watched, or written in C and pure"),
    "_collections": PureFunctions({"_count_elements"}, "counts into a dict that guards compare"),
    "_bisect": PureFunctions((), "writes only to a list that guards compare"),
    "_heapq": PureFunctions((), "writes only to a list that guards compare"),
    "_struct": PureFunctions(
        {"calcsize", "iter_unpack", "pack", "pack_into", "unpack", "unpack_from"},
        "results depend on the arguments; `pack_into` writes to an object that guards compare",
    ),
    "_abc": PureFunctions(
        {"_abc_instancecheck", "_abc_subclasscheck", "_abc_init", "get_cache_token"},
        "depends on registered classes, which a guard counts",
    ),
    "_string": PureFunctions((), _FROM_ARGUMENTS),
    "_json": PureFunctions((), _FROM_ARGUMENTS),
    "_statistics": PureFunctions((), _FROM_ARGUMENTS),
    "binascii": PureFunctions((), _FROM_ARGUMENTS),
    "_sre": PureFunctions((), _FROM_ARGUMENTS),
    "numpy": _NUMPY,
    "numpy.core._multiarray_umath": _NUMPY,
    "numpy._core._multiarray_umath": _NUMPY,
}  # fmt: skip

_READS = "methods read the object, or change it where guards compare it"
_VALUE = "results depend on the value and the arguments"
_TEXT = f"{_READS}; a codec or an error handler in Python makes the call run eagerly"
# Methods that no entry allows.
HIDDEN_METHODS = {
    "__sizeof__": "the memory that an object occupies depends on its history",
    "__subclasses__": "no guard compares which classes derive from a class",
}
# Types whose methods may run. No names: all methods.
PURE_METHODS: dict[type, PureFunctions] = {
    list: PureFunctions((), _READS),
    dict: PureFunctions((), _READS),
    set: PureFunctions((), _READS),
    frozenset: PureFunctions((), _READS),
    tuple: PureFunctions((), _READS),
    str: PureFunctions((), _TEXT),
    bytes: PureFunctions((), _TEXT),
    bytearray: PureFunctions((), _TEXT),
    int: PureFunctions((), _VALUE),
    float: PureFunctions((), _VALUE),
    complex: PureFunctions((), _VALUE),
    range: PureFunctions((), _VALUE),
    slice: PureFunctions((), _VALUE),
    collections.deque: PureFunctions((), _READS),
    re.Pattern: PureFunctions((), _VALUE),
    re.Match: PureFunctions((), _VALUE),
    types.GeneratorType: PureFunctions((), "a generator that existed before the call is refused"),
    types.MappingProxyType: PureFunctions((), _READS),
    datetime.date: PureFunctions(
        {
            "combine", "ctime", "date", "dst", "fromisocalendar", "fromisoformat", "fromordinal", "isocalendar",
            "isoformat", "isoweekday", "replace", "time", "timetuple", "timetz", "toordinal", "tzname",
            "utcfromtimestamp", "utcoffset", "utctimetuple", "weekday",
        },
        "methods that read neither the clock nor the time zone nor the locale",
    ),
    datetime.time: PureFunctions(
        {"dst", "fromisoformat", "isoformat", "replace", "tzname", "utcoffset"}, "methods that do not read the locale"
    ),
    datetime.timedelta: PureFunctions((), _VALUE),
    BaseException: PureFunctions((), "an exception that existed before the call is refused"),
    property: PureFunctions((), "methods call the functions, which are watched, or make another property"),
    contextvars.ContextVar: PureFunctions({"get"}, "the value is guarded"),
}  # fmt: skip

NUMPY_METHODS = PureFunctions({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "byteswap", "choose", "clip", "compress",
    "conj", "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten", "getfield", "item", "max",
    "mean", "min", "nonzero", "partition", "prod", "put", "ravel", "repeat", "reshape", "resize", "round",
    "searchsorted", "setfield", "setflags", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tobytes", "tolist",
    "trace", "transpose", "var", "view", "newbyteorder", "is_integer", "as_integer_ratio", "hex", "fromhex",
    "bit_count", "at", "reduce", "accumulate", "outer", "reduceat", "resolve_dtypes",
}, "methods read the array, or change it where guards compare it; none reads or writes files")  # fmt: skip

# Functions that take names of attributes as strings.
_REFLECTING = {"getattr", "setattr", "delattr", "hasattr", "vars", "dir"}

# Functions and methods that C++ binds.
_BOUND = (type(_core.tensor), type(_core.Generator.__init__))


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def own_effect(function: Any) -> str | None:
    """The public name of a function of Lucid that is impure; None if it is pure, or if only its calls tell.

    Calls of Python functions are seen when they run, so only functions that declare an effect count. Calls of bound
    C++ functions are not seen, so every function counts that is not declared pure.
    """
    if derives(type(function), types.FunctionType):
        is_pure = _effects.declared_effect(function.__code__) is None
    else:
        is_pure = type(function) not in _BOUND or function in _core.pure
    return None if is_pure else f"lucid.{function.__name__}"


def impure_name(function: Any) -> str | None:
    """The name of a C function, such as "time.time", unless it is pure."""
    name, owner = function.__name__, function.__self__
    if owner is None or derives(type(owner), types.ModuleType):
        module = owner.__name__ if owner is not None else str(function.__module__)
        entry = PURE_FUNCTIONS.get(module)
        if function in _core.pure or (entry is not None and (not entry.names or name in entry.names)):
            return None
        return name if vars(builtins).get(name) is function else f"{module.lstrip('_')}.{name}"
    if derives(type(owner), type):
        return None if _is_pure_class_method(owner, name) else f"{name_of(owner)}.{name}"
    return None if _is_pure_method(type(owner), name) else f"{name_of(type(owner))}.{name}"


def impure_descriptor_name(descriptor: Any) -> str | None:
    """The same for a method of a builtin class that is not bound to an object."""
    owner, name = descriptor.__objclass__, descriptor.__name__
    is_pure = _is_pure_class_method(owner, name) and (owner is object or owner is type or _is_pure_method(owner, name))
    return None if is_pure else f"{name_of(owner)}.{name}"


@functools.cache
def impure_methods(cls: type) -> frozenset[str]:
    """The names of the methods of a type with some pure methods that are not pure."""
    methods = (types.MethodDescriptorType, types.ClassMethodDescriptorType, types.BuiltinFunctionType)
    names = {name for base in mro_of(cls) for name, value in _core.class_dict(base).items() if type(value) in methods}
    return frozenset(name for name in names if not _is_pure_class_method(cls, name) or not _is_pure_method(cls, name))


def _is_pure_class_method(owner: type, name: str) -> bool:
    if name in HIDDEN_METHODS or (derives(owner, datetime.date, datetime.time) and not _is_pure_method(owner, name)):
        return False
    return is_python_class(owner) or is_known_type(owner)


def _is_pure_method(cls: type, name: str) -> bool:
    numpy: Any = imported("numpy")
    if name in HIDDEN_METHODS:
        return False
    if is_pure_type(cls):
        return True
    for base, entry in PURE_METHODS.items():
        if derives(cls, base):
            return not entry.names or name in entry.names or _is_special(name)
    if numpy is not None and derives(cls, numpy.ndarray, numpy.generic, numpy.ufunc, numpy.dtype):
        return name in NUMPY_METHODS.names or _is_special(name)
    return is_python_class(cls) and hasattr(object, name)


def is_reflecting(function: Any) -> bool:
    """Whether a C function takes names of attributes as strings."""
    if function.__self__ is builtins:
        return function.__name__ in _REFLECTING
    return type(function.__self__) is str and function.__name__ in ("format", "format_map")
