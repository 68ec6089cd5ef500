"""What a class is: how its instances store their state, and which types hold no state that changes."""

from __future__ import annotations

import abc
import builtins
import collections
import datetime
import enum
import functools
import re
import sys
import threading
import time
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

import lucid

from .. import _core
from .._imported import imported

_Value = TypeVar("_Value")


class ByType(Generic[_Value]):
    """A dict of types. It compares them by identity: a metaclass may define `__eq__` and `__hash__`."""

    def __init__(self, entries: dict[type, _Value]) -> None:
        self._types = {id(cls): cls for cls in entries}
        self._values = {id(cls): value for cls, value in entries.items()}

    def __setitem__(self, cls: type, value: _Value) -> None:
        self._types[id(cls)] = cls
        self._values[id(cls)] = value

    def __getitem__(self, cls: type) -> _Value:
        return self._values[id(cls)]

    def __contains__(self, cls: object) -> bool:
        return id(cls) in self._values

    def __iter__(self) -> Iterator[type]:
        return iter(self._types.values())

    def __len__(self) -> int:
        return len(self._types)

    def get(self, cls: type) -> _Value | None:
        return self._values.get(id(cls))

    def has_all(self, types: Iterable[type]) -> bool:
        return self._types.keys() >= set(map(id, types))

    def keys(self) -> list[type]:
        return list(self._types.values())

    def items(self) -> list[tuple[type, _Value]]:
        return list(zip(self._types.values(), self._values.values()))


def type_set(*types: type) -> ByType[None]:
    """A set of types, compared by identity."""
    found: ByType[None] = ByType({})
    for cls in types:
        found[cls] = None
    return found


# Reads the gradient of a tensor. As it is when Lucid is imported: classes of users may define another.
gradient_of: Any = _core.class_dict(lucid.Tensor)["grad"].__get__

ATOMS = type_set(int, float, bool, str, bytes, complex, type(None), type(Ellipsis), type(NotImplemented))


_OUR_METACLASSES = type_set(type, abc.ABCMeta, type(lucid.Tensor))


class _Abstract(abc.ABC):  # noqa: B024
    pass


# Types whose instances never change: only their identity or their value matters. Not
# decimal.Decimal: its operators round as the thread's context says at that moment, and no hook sees them.
IMMUTABLE: ByType[str] = ByType({
    object: "has no state",
    range: "three integers",
    re.Pattern: "the pattern and its flags",
    datetime.timedelta: "three integers",
    datetime.timezone: "an offset and a name",
    types.CodeType: "code does not change",
    types.WrapperDescriptorType: "an operator of a builtin class: what it changes is guarded",
    type(collections.namedtuple("_Pair", "a b").a): "the index of a field",  # type: ignore[attr-defined]
    type(_Abstract.__dict__["_abc_impl"]): "caches; a guard counts the classes that are registered with abstract ones",
    # Types of Lucid.
    type(lucid.add): "an op, which is recorded",
    type(lucid.Tensor.sum): "an op, which is recorded",
    type(lucid.tensor): "a function in C++: it must be declared pure",
    type(_core.Generator.__init__): "a method in C++: it must be declared pure",
    type(lucid.float32): "a dtype",
    lucid.device: "a value",
})  # fmt: skip

LOCKS = type_set(type(threading.Lock()), type(threading.RLock()))

# Modules whose types written in C may be called, and why their constructors have no effects. NumPy's datetime64 is not
# among them: it reads the clock if it is called with "now".
PURE_TYPES: dict[str, str] = {
    "builtins": "a new object, made from the arguments; only types that `builtins` and `types` name",
    "collections": "a new container",
    "datetime": "a new value; methods that read the clock are refused",
    "functools": "a new object that calls its function, which is visited",
    "itertools": "a new iterator over the arguments",
    "nanobind": "types of functions that C++ binds; each function is checked",
    "numpy": "a new array, scalar or iterator",
    "numpy.dtypes": "a new dtype",
    "operator": "a new getter; attributes and methods that it names are guarded",
    "re": "cannot be called",
    "types": "a new object, made from the arguments",
    "typing": "a new description of types",
    "weakref": "a new reference to an object of the call or to one that is guarded",
}
_IMPURE_TYPES = {("numpy", "datetime64")}
_BUILTIN_TYPES = type_set(
    *(value for module in (builtins, types) for value in vars(module).values() if isinstance(value, type))
)

# What the attributes of builtin classes are.
BUILTIN_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.ClassMethodDescriptorType,
)

# Attributes of classes, without asking their metaclasses.
mro_of: Any = type.__dict__["__mro__"].__get__
simple_name_of: Any = type.__dict__["__name__"].__get__
_flags_of: Any = type.__dict__["__flags__"].__get__
_size_of: Any = type.__dict__["__basicsize__"].__get__
_weak_offset_of: Any = type.__dict__["__weakrefoffset__"].__get__
_dict_offset_of: Any = type.__dict__["__dictoffset__"].__get__
_module_of: Any = type.__dict__["__module__"].__get__
_qualified_name_of: Any = type.__dict__["__qualname__"].__get__
_HEAP = 1 << 9
_IMMUTABLE_TYPE = 1 << 8


derives = _core.derives


def module_of(cls: type) -> str:
    """The module that a class names."""
    try:
        name = _module_of(cls)
    except AttributeError:
        return "lucid"
    return name if type(name) is str else "lucid"


def printable(name: Any) -> str:
    """A name in a message. Names of attributes and files may have characters that cannot be encoded."""
    text = name if type(name) is str else "..."
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def item_of(source: str, key: Any) -> str:
    """The source of an item of a dict. Python refuses to print large integers."""
    is_short = type(key) in ATOMS and not (type(key) is int and key.bit_length() > 64)
    return f"{source}[{key!r}]" if is_short else f"{source}[...]"


def is_own_class(cls: type) -> bool:
    """Whether the class is defined in Python code of the package."""
    name = module_of(cls)
    return name.startswith("lucid.") and name != "lucid._core" and library_of(cls) == "lucid"


def library_of(cls: type) -> str | None:
    """The package whose module has the class under its name; None for a class that only claims so, or that a function
    made."""
    module = sys.modules.get(name := module_of(cls))
    found: Any = module
    for part in _qualified_name_of(cls).split("."):
        if type(found) is types.ModuleType or derives(type(found), types.ModuleType):
            found = (_core.attributes_of(found) or {}).get(part)
        elif derives(type(found), type):
            found = _core.class_dict(found).get(part)
        else:
            return None
    return name.partition(".")[0] if found is cls else None


def name_of(cls: type) -> str:
    """A class in a message."""
    module = module_of(cls)
    name: str = _qualified_name_of(cls)
    return name if module in ("builtins", "__main__") else f"{module}.{name}"


def is_heap_class(cls: type) -> bool:
    """Whether the class has attributes that can be set."""
    return bool(_flags_of(cls) & (_HEAP | _IMMUTABLE_TYPE) == _HEAP)


def is_python_class(cls: type) -> bool:
    """Whether instances hold nothing but what their dict and their slots show: the class was made by a statement."""
    if not is_heap_class(cls):
        return False
    base, slots = 16, 0
    for ancestor in mro_of(cls):
        if _flags_of(ancestor) & _HEAP:
            slots += sum(type(value) is types.MemberDescriptorType for value in _core.class_dict(ancestor).values())
        elif ancestor is not object:
            base = max(base, _size_of(ancestor))
    spare = (1 if _weak_offset_of(cls) else 0) + (1 if _dict_offset_of(cls) else 0)
    return bool(_size_of(cls) <= base + 8 * (slots + spare))


def builtin_bases(cls: type) -> list[type]:
    """The types written in C that a class derives from, `object` excepted."""
    return [base for base in mro_of(cls) if base is not object and not is_heap_class(base)]


def is_enum(cls: type) -> bool:
    """Whether the class lists its instances."""
    return derives(cls, enum.Enum)


def is_lock(value: Any) -> bool:
    """Whether a value is a lock."""
    return type(value) in LOCKS


def is_pure_type(cls: type) -> bool:
    """Whether a type of Lucid, or one of its bases, was declared pure."""
    # Other metaclasses may define `__hash__`.
    return any(type(base) in _OUR_METACLASSES and base in _core.pure for base in mro_of(cls))


def is_known_type(cls: type) -> bool:
    """Whether making an instance of a type written in C has no effects."""
    if derives(cls, BaseException) or is_pure_type(cls):
        return True
    module = module_of(cls)
    if module == "builtins":
        # Types of extensions whose names have no dot are in this module, too.
        return cls in _BUILTIN_TYPES
    return module in PURE_TYPES and (module, simple_name_of(cls)) not in _IMPURE_TYPES


def numpy_kind(cls: type) -> str | None:
    """ "array" or "constant"; None for types that are not NumPy's."""
    numpy: Any = imported("numpy")
    if numpy is None:
        return None
    if cls is numpy.ndarray:
        return "array"
    if is_heap_class(cls):
        return None
    # Records, numpy.void, can be written to.
    is_scalar = derives(cls, numpy.generic) and not derives(cls, numpy.void)
    if is_scalar or derives(cls, numpy.dtype, numpy.ufunc) or cls is type(numpy.sum):
        return "constant"
    return None


def is_number(cls: type) -> bool:
    """Whether instances are numbers of NumPy of a fixed size, whose memory shows their value."""
    numpy: Any = imported("numpy")
    return numpy is not None and cls in _numbers_of(numpy)


@functools.cache
def _numbers_of(numpy: Any) -> ByType[None]:
    integers = (numpy.int8, numpy.int16, numpy.int32, numpy.int64)
    unsigned = (numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64)
    return type_set(numpy.bool_, *integers, *unsigned, numpy.float16, numpy.float32, numpy.float64)


def has_fields(value: Any) -> bool:
    """Whether a value is a structured dtype of NumPy."""
    numpy: Any = imported("numpy")
    return numpy is not None and derives(type(value), numpy.dtype) and value.fields is not None


def is_numpy_function(value: Any) -> bool:
    """False for a ufunc that is not one of NumPy's: it may call any function."""
    numpy: Any = imported("numpy")
    return not derives(type(value), numpy.ufunc) or vars(numpy).get(value.__name__) is value


def numpy_error_mode() -> Any:
    """The context variable that says what NumPy does about floating-point errors; None before NumPy 2."""
    umath: Any = imported("numpy._core.umath")
    return getattr(umath, "_extobj_contextvar", None)


# C functions without arguments whose results depend on the locale and on the time zone of the process.
LOCAL_TEXTS = [
    functools.partial(time.strftime, "%A%B%c%p%s%x%X%Z", time.struct_time((2024, month, 1, 0, 0, 0, 0, 1, -1)))
    for month in (1, 7)
]


def is_weak_tensor(cell: types.CellType) -> bool:
    """Whether a cell holds a weak reference to a tensor."""
    try:
        reference = cell.cell_contents
    except ValueError:
        return False
    return type(reference) is weakref.ref and derives(type(reference()), lucid.Tensor)
