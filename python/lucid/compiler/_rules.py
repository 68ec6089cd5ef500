"""Rules for types: what the walk guards of a value, and which other values it visits.

Every type is unknown until a rule here or in `_values.py` names it. A value of a type that no rule names makes the call
run eagerly. docs/capture.md shows the rules.
"""

from __future__ import annotations

import collections
import contextvars
import datetime
import functools
import gc
import io
import operator
import re
import types
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import lucid

from .. import _core
from . import _type_tables
from ._functions import impure_descriptor_name, impure_name, is_reflecting
from ._members import iterate
from ._streams import is_standard, may_be_read
from ._type_tables import ATOMS, ByType, derives, item_of, name_of, simple_name_of
from ._worklist import Worklist

Visit = Callable[[Worklist, Any, str], None]


class Rule(NamedTuple):
    """What the walk does with values of a type."""

    # How docs/capture.md names the type.
    name: str
    guarded: str
    # Why that is enough.
    reason: str
    visit: Visit


# Rules for exact types. FAMILIES, below, has those for types that a predicate accepts.
RULES: ByType[Rule] = ByType({})


def _visits(*types: type, guarded: str, reason: str) -> Callable[[Visit], Visit]:
    def register(visit: Visit) -> Visit:
        for cls in types:
            RULES[cls] = Rule(f"`{name_of(cls)}`", guarded, reason, visit)
        return visit

    return register


_MAX_ITEMS = 5_000

MAX_BYTES = 65_536


@_visits(
    FunctionType,
    guarded="code, name, defaults, closure, and the globals and attributes that the code names",
    reason="code can only read what it names; names that do not show in it make the walk guard everything",
)
def _function(work: Worklist, function: FunctionType, source: str) -> None:
    work.add_function(function, source)


@_visits(
    type,
    guarded="name, bases, all attributes and the metaclass; attributes that code names are visited",
    reason="operators and attribute lookup read the class and its bases",
)
def visit_class(work: Worklist, cls: type, source: str) -> None:
    work.add_class(cls, source)


def refuse_state(work: Worklist, value: Any, source: str) -> None:
    if simple_name_of(type(value)) == "cython_function_or_method":
        work.refuse(source, f"may call {source}, whose effects cannot be known")
        return
    work.refuse(source, f"reads {source}, a {name_of(type(value))} whose state cannot be checked")


@_visits(types.SimpleNamespace, guarded="every attribute", reason="comparing and printing it read them all")
def _namespace(work: Worklist, value: Any, source: str) -> None:
    work.add_instance(value, source, whole=True)


@_visits(
    list,
    collections.deque,
    set,
    guarded=f"the items, in order, up to {_MAX_ITEMS:,}; nothing of a list that code only appends to, if its items are "
    "numbers and texts; `maxlen` if code names it",
    reason="the order of a set depends on its history, so it is compared too",
)
def _items(work: Worklist, value: Any, source: str) -> None:
    size = sum(1 for _ in iterate(value))
    if size > _MAX_ITEMS and type(value) is list and ATOMS.has_all(map(type, value)):
        work.guards.sequence(value, source)
        work.facts.long_lists.append((value, source))
        return
    if size > _MAX_ITEMS:
        work.refuse(source, f"reads {source}, a {name_of(type(value))} of {size} items")
        return
    work.guards.sequence(value, source)
    if derives(type(value), collections.deque):
        work.facts.deques.append((value, source))
    for number, item in enumerate(iterate(value)):
        work.start(item, f"{source}[{number}]")


@_visits(
    frozenset,
    tuple,
    guarded="identity, or for a tuple equal items",
    reason="it does not change; its items are visited",
)
def visit_constants(work: Worklist, value: Any, source: str) -> None:
    for number, item in enumerate(iterate(value)):
        work.start(item, f"{source}[{number}]")


@_visits(
    dict,
    collections.OrderedDict,
    collections.defaultdict,
    guarded=f"keys, values and their order, up to {_MAX_ITEMS:,}; the default factory",
    reason="there is nothing else in it",
)
def _entries(work: Worklist, value: dict[Any, Any], source: str) -> None:
    if dict.__len__(value) > _MAX_ITEMS:
        work.refuse(source, f"reads {source}, a dict of {dict.__len__(value)} entries")
        return
    work.guards.whole(value, source, "item")
    if derives(type(value), collections.OrderedDict):
        work.guards.sequence(value, source)
    if derives(type(value), collections.defaultdict):
        factory: Any = collections.defaultdict.__dict__["default_factory"]
        work.guards.slot(value, factory, f"{source}.default_factory")
        work.start(factory.__get__(value), f"{source}.default_factory")
    for key, item in dict.items(value):
        work.start(key, f"a key of {source}")
        work.start(item, item_of(source, key))


@_visits(types.CellType, guarded="the value of the variable", reason="there is nothing else in it")
def _cell(work: Worklist, cell: types.CellType, source: str) -> None:
    work.guards.cell(cell, source)
    try:
        work.start(cell.cell_contents, source)
    except ValueError:
        return


@_visits(
    bytearray,
    memoryview,
    guarded=f"the bytes, up to {MAX_BYTES:,}, format, shape, strides and whether they can be written to",
    reason="the object behind a view is visited",
)
def _bytes(work: Worklist, value: Any, source: str) -> None:
    try:
        if type(value) is memoryview:
            work.start(value.obj, f"{source}.obj")
        array(work, value, source)
    except ValueError:  # It is released.
        refuse_state(work, value, source)


def array(work: Worklist, value: Any, source: str) -> None:
    if (value.nbytes if hasattr(value, "nbytes") else len(value)) > MAX_BYTES:
        work.refuse(source, f"reads {source}, a {name_of(type(value))} that is too large to be compared at each call")
        return
    if getattr(getattr(value, "dtype", None), "hasobject", False):
        refuse_state(work, value, source)
        return
    try:
        work.guards.bytes(value, source)
    except TypeError:
        refuse_state(work, value, source)


@_visits(
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    guarded="its object",
    reason="the recording sees calls by Python code; a function that C code may call must be pure",
)
def _builtin(work: Worklist, function: Any, source: str) -> None:
    owner = function.__self__
    of_module = type(owner) is types.ModuleType or owner is None
    if of_module or type(function) is types.BuiltinFunctionType:
        if is_reflecting(function):
            work.profile.all_names = True
        else:
            _add_impure(work, source, impure_name(function))
    if not of_module:
        work.start(owner, source if derives(type(owner), type) else _owner(source))


def _add_impure(work: Worklist, source: str, name: str | None) -> None:
    if name is not None:
        work.facts.impure.append((source, last_name(source), f"may call {name}"))


@_visits(
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    guarded="nothing: it does not change",
    reason="the recording sees calls by Python code; a method that C code may call must be pure",
)
def _descriptor(work: Worklist, descriptor: Any, source: str) -> None:
    _add_impure(work, source, impure_descriptor_name(descriptor))


@_visits(
    datetime.date,
    datetime.datetime,
    datetime.time,
    guarded="identity; the locale and the time zone of the process, which formatting reads",
    reason="it does not change; the time zone of a time is visited, because it may be an object of the user's",
)
def _time(work: Worklist, value: Any, source: str) -> None:
    work.facts.uses_dates = True
    work.facts.kinds[type(value)] = None
    if type(value) is not datetime.date:
        work.start(value.tzinfo, f"{source}.tzinfo")


@_visits(
    types.GenericAlias,
    types.UnionType,
    guarded="identity; the types that it names are visited",
    reason="calling it, or reading its attributes, uses these types",
)
def _alias(work: Worklist, alias: Any, source: str) -> None:
    if type(alias) is types.GenericAlias:
        work.start(alias.__origin__, f"{source}.__origin__")
    work.start(alias.__args__, f"{source}.__args__")


@_visits(slice, guarded="start, stop and step", reason="they do not change, and are visited")
def _slice(work: Worklist, value: slice, source: str) -> None:
    for name in ("start", "stop", "step"):
        work.start(getattr(value, name), f"{source}.{name}")


@_visits(operator.itemgetter, guarded="identity", reason="it does not change; its keys are visited")
def _item_getter(work: Worklist, getter: Any, source: str) -> None:
    for number, key in enumerate(getter.__reduce__()[1]):
        work.start(key, f"a key of {source}" if number == 0 else f"key {number} of {source}")


@_visits(
    *_type_tables.LOCKS,
    guarded="nothing",
    reason="a call that may lock it runs eagerly; `functools` and `logging` lock only what a plan does not use",
)
def _lock(work: Worklist, lock: Any, source: str) -> None:
    # Calls of its methods are seen; `with lock:` is not.
    work.facts.locks.append((source, last_name(source), f"may lock {source}"))


@_visits(
    io.TextIOWrapper,
    io.StringIO,
    guarded="identity, and attributes such as `closed` if code names them",
    reason="a call of one of its methods runs eagerly; one that can be read, because no call shows that it is iterated "
    "over, is refused, as is one that writes to an object of the user's",
)
def _stream(work: Worklist, stream: Any, source: str) -> None:
    if may_be_read(stream):
        refuse_state(work, stream, source)
    else:
        visit_output(work, stream, source)


def visit_output(work: Worklist, stream: Any, source: str) -> None:
    """A stream that code only writes to."""
    if is_standard(stream):
        work.facts.streams.append((stream, source))
    else:
        refuse_state(work, stream, source)


@_visits(contextvars.ContextVar, guarded="its value in the current context", reason="only `get` may be called")
def _context_variable(work: Worklist, variable: contextvars.ContextVar[Any], source: str) -> None:
    work.facts.kinds[contextvars.ContextVar] = None
    work.guards.context(variable, source)
    try:
        work.start(variable.get(), f"{source}.get()")
    except LookupError:
        return


@_visits(
    types.MappingProxyType,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    guarded="the dict behind it",
    reason="it always shows the same dict",
)
def _view(work: Worklist, view: Any, source: str) -> None:
    """A view always shows the same object."""
    for value in gc.get_referents(view):
        if type(value) is not type:
            work.start(value, source)


@_visits(
    lucid.Generator,
    guarded="identity",
    reason="its state is a tensor that the plan reads and writes",
)
def visit_generator(work: Worklist, generator: lucid.Generator | None, source: str) -> None:
    state = _core.generator_state(generator)
    work.facts.tensors[id(state)] = (state, f"the state of {source}")


@_visits(types.MethodType, guarded="the object and the function", reason="they do not change, and are visited")
def _method(work: Worklist, method: types.MethodType, source: str) -> None:
    work.start(method.__self__, _owner(source))
    work.start(method.__func__, source)


def _guard_members(work: Worklist, value: Any, source: str, *names: str) -> None:
    for name in names:
        work.guards.slot(value, _core.class_dict(type(value))[name], f"{source}.{name}")


@_visits(
    functools.partial,
    guarded="the function, the arguments and attributes that code names",
    reason="there is nothing else in it",
)
def _partial(work: Worklist, partial: functools.partial[Any], source: str) -> None:
    _guard_members(work, partial, source, "func", "args", "keywords")
    work.start(partial.func, f"{source}()")
    # Not `.args`: a call of the partial reads them, whatever code does with that name.
    work.start(partial.args, f"the arguments of {source}")
    work.start(partial.keywords, f"the keywords of {source}")
    # functools.partial() merges another partial only if that has no dict.
    if _core.has_attribute_dict(partial):
        work.add_instance(partial, source)
    else:
        work.guards.instance(partial, source)


@_visits(staticmethod, classmethod, guarded="the function", reason="`__init__` can replace it")
def _wrapper(work: Worklist, wrapper: Any, source: str) -> None:
    _guard_members(work, wrapper, source, "__func__")
    work.start(wrapper.__func__, source)


@_visits(property, guarded="the functions and the documentation", reason="`__init__` can replace them")
def _property(work: Worklist, wrapper: property, source: str) -> None:
    _guard_members(work, wrapper, source, "fget", "fset", "fdel", "__doc__")
    for function in (wrapper.fget, wrapper.fset, wrapper.fdel):
        if function is not None:
            work.start(function, source)


@_visits(
    operator.attrgetter,
    operator.methodcaller,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    guarded="every attribute of every object",
    reason="it reads attributes that no code names",
)
def _getter(work: Worklist, function: Any, source: str) -> None:
    work.profile.all_names = True
    if type(function) in (operator.attrgetter, operator.methodcaller):
        work.facts.code.texts |= {
            part for name in function.__reduce__()[1] if type(name) is str for part in name.split(".")
        }


@_visits(
    type(functools.lru_cache(lambda: None)),
    guarded="refused",
    reason="whether it calls its function depends on a cache that cannot be read",
)
def _cached(work: Worklist, function: Any, source: str) -> None:
    work.refuse(source, f"may call {source}, which keeps results in a cache that cannot be checked")


def last_name(source: str) -> str | None:
    """The last name in a source; None for items of containers and the like."""
    found = re.fullmatch(r"(?:global |closure )?(?:\w+\.)*(\w+)", source)
    return found[1] if found else None


def _owner(source: str) -> str:
    """The part of a source before its last dot."""
    owner, dot, _ = source.rpartition(".")
    return owner if dot else f"{source}.__self__"
