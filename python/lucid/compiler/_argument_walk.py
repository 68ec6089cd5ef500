"""Walks from arguments. Guards compare their contents, so a plan also accepts another object with the same values."""

from __future__ import annotations

import collections
import enum
import types
from typing import Any

import lucid

from .. import _core
from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler
from . import _type_tables
from ._members import (
    entries_of,
    field_names,
    is_compared_function,
    is_compared_partial,
    is_input,
    is_record,
    members_of,
    parts_of_function,
)
from ._rules import RULES
from ._type_tables import ATOMS, IMMUTABLE, derives, item_of, name_of, simple_name_of
from ._worklist import Worklist

_PENDING: Any = None
# The types written in C that classes of arguments may derive from.
_BASES = (dict, collections.OrderedDict)
_REFUSED_ARGUMENTS = (list, dict, set, frozenset, collections.deque, bytearray)
# How many items of a set are compared.
_MAX_ITEMS = 64


class Where(enum.IntEnum):
    """How an argument holds a value."""

    # The value is the argument, or an item of a list, a tuple or a dict: the symbolic retrace can replace it.
    ITEM = 0
    # In a field of a named tuple or of a dataclass: the key of the call contains it, too.
    FIELD = 1
    # In an attribute, a closure or the like, which guards compare.
    INSIDE = 2


def visit_argument(work: Worklist, value: Any, source: str, where: Where = Where.ITEM, name: str | None = None) -> None:
    """Walks from an argument or from what it holds. `name` is that of an attribute."""
    cls = type(value)
    if cls in ATOMS:
        return
    if derives(cls, lucid.Tensor):
        if where is not Where.ITEM:
            work.facts.held.add(id(value))
        if where is Where.INSIDE and not is_input(value):
            work.refuse(source, f"reads {source}, a {name_of(cls)} in an attribute of an argument: pass it by itself")
        _tensor_argument(work, value, source)
        return
    # Not of tensors: each call compares which arguments are the same tensor.
    work.refer(value, source, name=name)
    if cls is list or is_record(cls):
        work.facts.containers.add(id(value))
        where = where if cls is list or cls is tuple else max(where, Where.FIELD)
        for number, item in enumerate(list.__iter__(value) if cls is list else tuple.__iter__(value)):
            visit_argument(work, item, f"{source}[{number}]", where)
        if cls is not list and cls is not tuple:
            work.add_class(cls, simple_name_of(cls))
            if _core.attributes_of(value):
                work.refuse(source, f"takes {source}, a {name_of(cls)} with attributes")
    elif cls is dict:
        work.facts.containers.add(id(value))
        for key, item in value.items():
            visit_argument(work, key, f"a key of {source}", where)
            visit_argument(work, item, item_of(source, key), where)
    elif _is_compared(cls):
        if id(value) not in work.facts.arguments and id(value) not in work.facts.seen:
            work.add_class(cls, simple_name_of(cls))
            # Registered before its contents are walked: it may contain itself.
            work.facts.arguments[id(value)] = _PENDING
            instance = work.facts.arguments[id(value)] = work.add_instance(
                value, source, whole=cls is types.SimpleNamespace, by_path=True
            )
            if where is not Where.INSIDE:
                instance.fields = frozenset(field_names(cls))
            for key, item in entries_of(value):
                if type(key) not in ATOMS:
                    work.refuse(source, f"takes {source}, whose keys are not all numbers and texts")
                visit_argument(work, item, item_of(source, key), Where.INSIDE)
    elif is_compared_function(value):
        if id(value) not in work.facts.arguments and id(value) not in work.facts.seen:
            work.facts.arguments[id(value)] = work.add_instance(value, source, by_path=True)
            if work.add_code(value):
                for name, part in parts_of_function(value):
                    visit_argument(work, part, f"{source}'s {name}", Where.INSIDE)
    elif is_compared_partial(value):
        if id(value) not in work.facts.arguments and id(value) not in work.facts.seen:
            work.facts.arguments[id(value)] = work.add_instance(value, source, by_path=True)
            visit_argument(work, value.func, f"{source}.func", Where.INSIDE)
            visit_argument(work, value.args, f"{source}.args", Where.INSIDE)
            visit_argument(work, value.keywords, f"{source}.keywords", Where.INSIDE)
    elif cls is set or cls is frozenset:
        work.facts.containers.add(id(value))
        if len(value) > _MAX_ITEMS or any(type(item) not in ATOMS for item in value):
            work.refuse(source, f"takes {source}, a {name_of(cls)} of more than numbers and texts, or of many")
    elif cls is slice:
        for part in (value.start, value.stop, value.step):
            visit_argument(work, part, source, Where.INSIDE)
    elif derives(cls, *_REFUSED_ARGUMENTS) or _type_tables.numpy_kind(cls) == "array":
        work.refuse(source, f"takes {source}, a {name_of(cls)}: pass a tensor, or a list or dict of tensors or numbers")
    else:
        work.start(value, source)


def _tensor_argument(work: Worklist, tensor: lucid.Tensor, source: str) -> None:
    work.backward_hooks(_core.tensor_hooks(tensor), source)
    if type(tensor) is lucid.Tensor:
        return
    work.add_class(type(tensor), simple_name_of(type(tensor)))
    has_attributes = _core.attributes_of(tensor) or members_of(type(tensor))
    if has_attributes and id(tensor) not in work.facts.arguments:
        work.facts.arguments[id(tensor)] = work.add_instance(tensor, source, by_path=True)


def _is_compared(cls: type) -> bool:
    if cls is types.SimpleNamespace or cls is collections.OrderedDict:
        return True
    if derives(cls, _core.Module, Optimizer, LRScheduler, type) or _type_tables.library_of(cls) == "lucid":
        return False
    if cls in RULES or cls in IMMUTABLE or _type_tables.is_enum(cls):
        return False
    return _type_tables.is_python_class(cls) and all(base in _BASES for base in _type_tables.builtin_bases(cls))
