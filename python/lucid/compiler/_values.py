"""What the walk does with each kind of value: what of it is guarded, and where it leads."""

from __future__ import annotations

import collections
import functools
import gc
import operator
import re
import types
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import lucid

from .. import _core
from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler
from . import _kinds
from ._kinds import ATOMS, IMMUTABLE, derives, mro_of, name_of

if TYPE_CHECKING:
    from ._walk import Walk

_MOST_ITEMS = 5_000
_MOST_BYTES = 4_096
_MODULE_BASES = frozenset(mro_of(lucid.nn.Module))
_CONTAINERS = (
    list,
    tuple,
    dict,
    set,
    frozenset,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
)


def _function(walk: Walk, function: FunctionType, place: str) -> None:
    walk.add_function(function, place)


def _class(walk: Walk, cls: type, place: str) -> None:
    walk.add_class(cls, place)


def _refuse_state(walk: Walk, value: Any, place: str) -> None:
    if type(value).__name__ == "cython_function_or_method":
        walk.refuse(place, f"may call {place}, whose effects cannot be known")
        return
    walk.refuse(place, f"reads {place}, a {name_of(type(value))} whose state cannot be checked")


def _tensor(walk: Walk, tensor: lucid.Tensor, place: str) -> None:
    walk.tensors.setdefault(id(tensor), (tensor, place))
    walk.visible.append((tensor, place))
    if type(tensor) is not lucid.Tensor:
        walk.add_class(type(tensor), type(tensor).__name__)
        if type(tensor) is lucid.nn.Parameter and not _core.attributes_of(tensor):
            walk.bare.append((tensor, place))
        else:
            walk.add_instance(tensor, place)


def _constant(walk: Walk, value: Any, place: str) -> None:
    if name := _kinds.own_effect(value):
        walk.refuse(name.rpartition(".")[2], f"may call {name}")


def _nothing(walk: Walk, value: Any, place: str) -> None:
    """A schedule: running one is noticed."""


def _namespace(walk: Walk, value: Any, place: str) -> None:
    walk.add_instance(value, place)


def _object(walk: Walk, value: Any, place: str) -> None:
    cls = type(value)
    walk.add_class(cls, cls.__name__)
    walk.add_instance(value, place)
    for base in _kinds.builtin_bases(cls):
        if base in _CONTAINERS:
            VISITS[base](walk, value, place)
            return
        if base not in (int, float, str, bytes, complex):
            _refuse_state(walk, value, place)
            return


def _own(walk: Walk, value: Any, place: str) -> None:
    """An object of one of Lucid's other classes: everything that it holds may matter."""
    inner = getattr(value, "__wrapped__", None)
    if inner is not None:
        walk.start(inner, place)
    elif _kinds.is_python_class(type(value)):
        walk.add_instance(value, place, whole=True)
    elif not _kinds.is_pure_type(type(value)):
        _refuse_state(walk, value, place)


def _module(walk: Walk, module: Any, place: str) -> None:
    walk.add_class(type(module), type(module).__name__)
    try:
        walk.guards.module(module, place)
    except AttributeError:
        walk.refuse(place, f"reads {place}, a module that is not initialised")
        return
    parameters, buffers, modules, hooks = _core.describe_module(module)
    for name, tensor in (*parameters, *buffers):
        # This place says more than that of an optimizer.
        walk.tensors[id(tensor)] = (tensor, f"{place}.{name}")
        walk.start(tensor, f"{place}.{name}")
    for name, child in modules:
        walk.start(child, f"{place}[{name}]" if name.isdigit() else f"{place}.{name}")
    for number, hook in enumerate(hooks):
        walk.start(hook, f"hook {number} of {place}")
    # Code of ours, whose names are not collected, reads what its classes keep.
    ours = walk.own_modules.get(type(module))
    if ours is None:
        ours = any(_kinds.is_own_class(base) and base not in _MODULE_BASES for base in mro_of(type(module)))
        walk.own_modules[type(module)] = ours
    walk.add_instance(module, place, whole=ours)


def _optimizer(walk: Walk, optimizer: Any, place: str) -> None:
    walk.add_class(type(optimizer), type(optimizer).__name__)
    for tensor, where in walk.guards.optimizer(optimizer, place):
        walk.tensors.setdefault(id(tensor), (tensor, where))
        if type(tensor) is not lucid.Tensor:
            walk.start(tensor, where)
    walk.add_instance(optimizer, place)
    # Which hooks run is not named by anybody's code but ours.
    for name in ("_pre_hooks", "_post_hooks"):
        if (hooks := (_core.attributes_of(optimizer) or {}).get(name)) is not None:
            walk.start(hooks, f"{place}.{name}")


def _items(walk: Walk, value: Any, place: str) -> None:
    size = sum(1 for _ in _iterate(value))
    if size > _MOST_ITEMS:
        walk.refuse(place, f"reads {place}, a {name_of(type(value))} of {size} items")
        return
    walk.guards.sequence(value, place)
    for number, item in enumerate(_iterate(value)):
        walk.start(item, f"{place}[{number}]")


def _constants(walk: Walk, value: Any, place: str) -> None:
    for number, item in enumerate(_iterate(value)):
        walk.start(item, f"{place}[{number}]")


def _entries(walk: Walk, value: dict[Any, Any], place: str) -> None:
    if dict.__len__(value) > _MOST_ITEMS:
        walk.refuse(place, f"reads {place}, a dict of {dict.__len__(value)} entries")
        return
    walk.guards.whole(value, place, "item")
    if derives(type(value), collections.OrderedDict):
        walk.guards.sequence(value, place)
    if derives(type(value), collections.defaultdict):
        factory: Any = collections.defaultdict.__dict__["default_factory"]
        walk.guards.slot(value, factory, f"{place}.default_factory")
        walk.start(factory.__get__(value), f"{place}.default_factory")
    for key, item in dict.items(value):
        walk.start(key, f"a key of {place}")
        walk.start(item, f"{place}[{key!r}]" if type(key) in ATOMS else f"{place}[...]")


def _cell(walk: Walk, cell: types.CellType, place: str) -> None:
    walk.guards.cell(cell, place)
    try:
        walk.start(cell.cell_contents, place)
    except ValueError:
        return


def _array(walk: Walk, value: Any, place: str) -> None:
    if (value.nbytes if hasattr(value, "nbytes") else len(value)) > _MOST_BYTES:
        walk.refuse(place, f"reads {place}, a {name_of(type(value))} that is too large to be compared at each call")
        return
    if getattr(getattr(value, "dtype", None), "hasobject", False):
        _refuse_state(walk, value, place)
        return
    try:
        walk.guards.bytes(value, place)
    except TypeError:
        _refuse_state(walk, value, place)


def _builtin(walk: Walk, function: Any, place: str) -> None:
    owner = function.__self__
    if _kinds.is_reflecting(function):
        walk.knowledge.all_names = True
    elif owner is None or isinstance(owner, types.ModuleType) or derives(type(owner), type):
        if (reason := _kinds.reason_for(function)) is not None:
            walk.impure.append((place, _last_name(place), f"may {reason.replace('calls', 'call', 1)}"))
    elif type(owner) in (list, dict, set, collections.deque, lucid.Tensor, collections.OrderedDict):
        walk.start(owner, place)
    elif type(owner) not in ATOMS and type(owner) is not tuple and type(owner) not in IMMUTABLE:
        walk.refuse(place, f"may call {place}, a method of a {name_of(type(owner))} whose state cannot be checked")


def _view(walk: Walk, view: Any, place: str) -> None:
    """Shows what another object holds, always the same one."""
    for value in gc.get_referents(view):
        if type(value) is not type:
            walk.start(value, place)


def visit_generator(walk: Walk, generator: lucid.Generator | None, place: str) -> None:
    state = _core.generator_state(generator)
    walk.tensors[id(state)] = (state, f"the state of {place}")


def _method(walk: Walk, method: types.MethodType, place: str) -> None:
    walk.start(method.__self__, _owner(place))
    walk.start(method.__func__, place)


def _partial(walk: Walk, partial: functools.partial[Any], place: str) -> None:
    walk.start(partial.func, f"{place}()")
    walk.start(partial.args, f"{place}.args")
    walk.start(partial.keywords, f"{place}.keywords")
    walk.add_instance(partial, place)


def _wrapper(walk: Walk, wrapper: Any, place: str) -> None:
    walk.start(wrapper.__func__, place)


def _property(walk: Walk, wrapper: property, place: str) -> None:
    for function in (wrapper.fget, wrapper.fset, wrapper.fdel):
        if function is not None:
            walk.start(function, place)


def _getter(walk: Walk, function: Any, place: str) -> None:
    walk.knowledge.all_names = True


def _cached(walk: Walk, function: Any, place: str) -> None:
    walk.refuse(place, f"may call {place}, which keeps results in a cache that cannot be checked")


VISITS: dict[type, Any] = {
    FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinFunctionType: _builtin,
    types.CellType: _cell,
    staticmethod: _wrapper,
    classmethod: _wrapper,
    property: _property,
    functools.partial: _partial,
    type(functools.lru_cache(lambda: None)): _cached,
    list: _items,
    collections.deque: _items,
    set: _items,
    frozenset: _constants,
    tuple: _constants,
    dict: _entries,
    collections.OrderedDict: _entries,
    collections.defaultdict: _entries,
    bytearray: _array,
    memoryview: _array,
    types.MappingProxyType: _view,
    type({}.keys()): _view,
    type({}.values()): _view,
    type({}.items()): _view,
    lucid.Generator: visit_generator,
    operator.attrgetter: _getter,
    operator.methodcaller: _getter,
    type: _class,
}


def choose(cls: type) -> Callable[[Walk, Any, str], None]:
    """What is done with instances of a class that VISITS does not name."""
    if derives(cls, lucid.Tensor):
        return _tensor
    if derives(cls, _core.Module):
        return _module
    if derives(cls, Optimizer):
        return _optimizer
    if derives(cls, LRScheduler):
        return _nothing
    if derives(cls, type):
        return _class
    if cls in IMMUTABLE or _kinds.numpy_kind(cls) == "constant":
        return _constant
    if _kinds.numpy_kind(cls) == "array":
        return _array
    if derives(cls, types.ModuleType) or cls is types.SimpleNamespace:
        return _namespace
    if cls.__flags__ & 1 << 9 and _kinds.module_of(cls).split(".")[0] == "lucid":
        return _own
    return _object if _kinds.is_python_class(cls) else _refuse_state


def _iterate(value: Any) -> Any:
    """The items of a container, whatever a subclass makes of iterating."""
    for cls in (list, tuple, set, frozenset, collections.deque):
        if derives(type(value), cls):
            return cls.__iter__(value)
    raise TypeError(f"{type(value)} is no container")


def _last_name(place: str) -> str | None:
    """What code calls the value in a place; None for items of containers and the like."""
    found = re.fullmatch(r"(?:global |closure )?(?:\w+\.)*(\w+)", place)
    return found[1] if found else None


def _owner(place: str) -> str:
    """What stands before the last dot of a place."""
    owner, dot, _ = place.rpartition(".")
    return owner if dot else f"{place}.__self__"
