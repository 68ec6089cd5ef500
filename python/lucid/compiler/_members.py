"""What instances and classes consist of: slots, fields, and members of classes. No code of users runs."""

from __future__ import annotations

import collections
import functools
import sys
import types
from types import FunctionType
from typing import Any

import lucid

from .. import _core
from ..nn.parameter import Parameter
from . import _type_tables
from ._code import is_library_file
from ._type_tables import ATOMS, derives, mro_of, type_set

# The descriptors of slots, with the names under which classes have them.
Members = list[tuple[str, Any]]


class Instance:
    """An object whose attributes are guarded by name."""

    __slots__ = ("by_path", "dict", "fields", "is_closed", "is_module", "members", "object", "source", "whole")

    def __init__(self, object: Any, source: str, members: Members, whole: bool, by_path: bool) -> None:
        self.object = object
        self.source = source
        # Not read from a partial: that would create it, and functools.partial() merges only partials without a dict.
        self.dict: dict[str, Any] | None = None if is_compared_partial(object) else _core.attributes_of(object)
        self.members = members
        self.whole = whole
        self.by_path = by_path
        # For an argument: the names of the fields that are compared like the items of a tuple.
        self.fields: frozenset[str] = frozenset()
        # An nn.Module: guards of modules check the class and the dict themselves.
        self.is_module = derives(type(object), _core.Module)
        # A Python module of a library: only attributes that code names are visited.
        self.is_closed = derives(type(object), types.ModuleType) and (
            self.dict is None or _is_library(self.dict.get("__file__"))
        )


def hash_of(cls: type) -> Any:
    """The `__hash__` of a class."""
    return next(_core.class_dict(base)["__hash__"] for base in mro_of(cls) if "__hash__" in _core.class_dict(base))


def is_record(cls: type) -> bool:
    """Whether a class is tuple, or a class of named tuples."""
    return cls is tuple or (derives(cls, tuple) and any("_fields" in _core.class_dict(base) for base in mro_of(cls)))


def is_input(value: Any) -> bool:
    """Whether a tensor in an attribute of an argument can be an input of a plan."""
    if type(value) is lucid.Tensor:
        return not _core.tensor_hooks(value)
    return type(value) is Parameter and not _core.attributes_of(value) and not _core.tensor_hooks(value)


def is_compared_function(value: Any) -> bool:
    """Whether an argument is a function that is compared by its code and by what it holds."""
    return (
        type(value) is FunctionType
        and not is_library_file(value.__code__.co_filename)
        and not _core.attributes_of(value)
        and type(value.__globals__) is dict
    )


def is_compared_partial(value: Any) -> bool:
    """Whether an argument is a functools.partial that is compared by what it holds."""
    return type(value) is functools.partial and not _core.has_attribute_dict(value)


def parts_of_function(function: FunctionType) -> list[tuple[str, Any]]:
    """The defaults and the closure of a function. EMPTY stands for what an empty cell holds."""
    parts = [("defaults", function.__defaults__), ("keyword defaults", function.__kwdefaults__)]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            parts.append((name, cell.cell_contents))
        except ValueError:
            parts.append((name, EMPTY))
    return parts


def is_container(cls: type) -> bool:
    return cls is list or cls is dict or is_record(cls)


# Stands for what an empty cell holds.
EMPTY = NotImplemented

# Attributes of functions that code can read but rarely does; the code and the names of functions are always guarded.
_OF_FUNCTIONS = (
    "__doc__",
    "__module__",
    "__closure__",
    "__defaults__",
    "__kwdefaults__",
    "__globals__",
    "__builtins__",
)
# Attributes that lead to everything.
ONLY_NAMED = {"__globals__", "__builtins__"}


def field_names(cls: type) -> list[str]:
    """The fields of a dataclass; none for other classes."""
    for base in mro_of(cls):
        fields = _core.class_dict(base).get("__dataclass_fields__") if _type_tables.is_heap_class(base) else None
        if type(fields) is dict:
            return [name for name in fields if type(name) is str]
    return []


def field_value(value: Any, name: str) -> Any:
    """What an instance stores under a name, in its dict or in a slot, or None. Runs no code of users."""
    attributes = _core.attributes_of(value)
    if attributes is not None and _core.has_only_names(attributes) and name in attributes:
        return attributes[name]
    member = next((member for known, member in members_of(type(value)) if known == name), None)
    try:
        return None if member is None else member.__get__(value)
    except AttributeError:
        return None


def members_of(cls: type) -> Members:
    """The slots of a class. A class may have a slot of the same name as its base, and a slot under another name."""
    if cls is FunctionType:
        return [(name, _core.class_dict(cls)[name]) for name in _OF_FUNCTIONS]
    return [
        (name, member)
        for base in mro_of(cls)
        if _type_tables.is_heap_class(base)
        for name, member in _core.class_dict(base).items()
        if type(member) is types.MemberDescriptorType and _is_slot(cls, member)
    ]


def _is_slot(cls: type, member: Any) -> bool:
    """Whether a member was made for an entry of `__slots__` of this class or of one that it derives from."""
    owner = member.__objclass__
    return derives(cls, owner) and _type_tables.is_heap_class(owner) and "__slots__" in _core.class_dict(owner)


# The types of attributes of ordinary classes.
_ORDINARY_MEMBERS = type_set(
    dict, frozenset, list, tuple, types.ClassMethodDescriptorType, types.FunctionType, types.MemberDescriptorType,
    types.GetSetDescriptorType, types.MethodDescriptorType, types.WrapperDescriptorType,
)  # fmt: skip


def is_function_of_module(value: Any) -> bool:
    """Whether a value is a function in C, and not a method of an object."""
    return type(value) is types.BuiltinFunctionType and (
        value.__self__ is None or derives(type(value.__self__), types.ModuleType)
    )


def is_object(value: Any) -> bool:
    """Whether an attribute of a class is an object with state of its own, and not a function or a constant."""
    cls = type(value)
    if cls is staticmethod or cls is classmethod:
        return is_object(value.__func__)
    if cls is property:
        return any(is_object(part) for part in (value.fget, value.fset, value.fdel))
    if cls is types.BuiltinFunctionType:
        return not is_function_of_module(value)
    if cls in ATOMS or cls in _ORDINARY_MEMBERS:
        return False
    return not derives(cls, type) and _type_tables.module_of(cls).split(".")[0] not in ("lucid", "nanobind")


def entries_of(value: Any) -> list[tuple[Any, Any]]:
    """The entries of an object whose class derives from dict, in its own order; none for other objects."""
    entries = list(dict.items(value)) if derives(type(value), dict) else []
    # An OrderedDict looks up its keys when it is iterated, which would run code of users.
    if not derives(type(value), collections.OrderedDict) or any(type(key) not in ATOMS for key, _ in entries):
        return entries
    return [(key, dict.__getitem__(value, key)) for key in collections.OrderedDict.__iter__(value)]


def iterate(value: Any) -> Any:
    """The items of a container. Runs no `__iter__` of a subclass."""
    for cls in (list, tuple, set, frozenset, collections.deque):
        if derives(type(value), cls):
            return cls.__iter__(value)
    raise TypeError(f"{type(value)} is no container")


def _is_library(file: Any) -> bool:
    return not isinstance(file, str) or is_library_file(file)


def is_singleton(function: FunctionType, names: tuple[str, str | None] | None) -> bool:
    """Whether a global of a function, or an attribute of one, is an object that no equal constant can be: a class, a
    function, a member of an enum, a dtype."""
    if names is None:
        return False
    name, attribute = names
    scopes = (function.__globals__, function.__builtins__)  # type: ignore[attr-defined,unused-ignore]
    value: Any = next((scope[name] for scope in scopes if type(scope) is dict and name in scope), None)
    if attribute is not None:
        if type(value) is types.ModuleType:
            value = value.__dict__.get(attribute)
        elif derives(type(value), type) and _type_tables.is_enum(value):
            return attribute in _core.class_dict(value).get("_member_map_", {})
        else:
            return False
    cls = type(value)
    return (
        derives(cls, type, FunctionType, types.ModuleType)
        or cls is object
        or cls is _DTYPE
        or _type_tables.is_enum(cls)
    )


_DTYPE = type(_core.get_default_dtype())

# The globals of Lucid's modules as they are when it is imported.
_GLOBALS = {
    id(module.__dict__): dict(module.__dict__)
    for name, module in list(sys.modules.items())
    if name.partition(".")[0] == "lucid" and type(module) is types.ModuleType
}


def patched(entries: dict[str, Any]) -> set[str]:
    """The globals of a module of Lucid that programs have set."""
    before = _GLOBALS.get(id(entries), {})
    return {name for name, value in entries.items() if before.get(name, value) is not value}
