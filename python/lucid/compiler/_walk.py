"""The walk: finds, before a call, every place that the call can read, and guards it.

It starts at the function and goes through closures, defaults, globals that code names, imports, attributes and
containers. It does not follow what the code does: attribute names are the union over all code that may run, and any
object that can be reached is guarded at those names. Nothing of the user's runs meanwhile.
"""

from __future__ import annotations

import abc
import collections
import functools
import operator
import re
import sys
import types
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import lucid

from .. import _core
from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler
from . import _kinds
from ._code import is_library, is_library_file, is_numpy, is_own, named_by
from ._kinds import ATOMS, IMMUTABLE, derives, mro_of, name_of

_MISSING: Any = object()
_MOST_OBJECTS = 20_000
_MOST_ITEMS = 5_000
_MOST_BYTES = 4_096
_BASE_NAMES = {"forward", "__call__", "__getattr__"}
# Classes of these modules are as good as builtin.
_TRUSTED_CLASSES = {"enum", "abc", "typing", "numbers", "collections.abc", "dataclasses", "functools"}


class Knowledge:
    """What recordings of one function have taught: which code runs, and whether it hides the names it looks up."""

    def __init__(self) -> None:
        self.ran: set[CodeType] = set()
        # Functions that ran although no walk found them.
        self.functions: dict[CodeType, list[FunctionType]] = {}
        # Whether only code that ran before is looked at.
        self.settled = False
        self.all_names = False


class _Instance:
    """An object whose attributes are guarded by name."""

    __slots__ = ("by_path", "dict", "is_closed", "is_module", "members", "object", "place", "whole")

    def __init__(self, object: Any, place: str, members: dict[str, Any], whole: bool, by_path: bool) -> None:
        self.object = object
        self.place = place
        self.dict: dict[str, Any] | None = _core.attributes_of(object)
        self.members = members
        self.whole = whole
        self.by_path = by_path
        # One of ours; guards of modules look at the class and the dict themselves.
        self.is_module = derives(type(object), _core.Module)
        # A module of a library: what code does not name there is not looked into.
        self.is_closed = derives(type(object), types.ModuleType) and (
            self.dict is None or _is_library(self.dict.get("__file__"))
        )


class Walk:
    """One walk. Afterwards `guards` holds the guards, `tensors` the tensors, and `reasons` what cannot be guarded."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.guards = _core.GuardSet()
        # By identity: the tensor and its place.
        self.tensors: dict[int, tuple[lucid.Tensor, str]] = {}
        # What cannot be guarded: a name in the code, and words.
        self.reasons: list[tuple[str, str]] = []
        self.codes: set[CodeType] = set()
        self.seen: dict[int, Any] = {}
        self.arguments: dict[int, _Instance] = {}
        self.names: set[str] = set(_BASE_NAMES)
        self._pending: list[tuple[Any, str]] = []
        self._instances: list[_Instance] = []
        self._classes: dict[type, str] = {}
        self._globals: dict[int, tuple[dict[str, Any], set[str], str]] = {}
        self._members: dict[type, dict[str, Any]] = {}
        self._visits: dict[type, Callable[[Walk, Any, str], None]] = dict(_VISITS)
        self._walked_classes: set[type] = set()
        self._own_modules: dict[type, bool] = {}
        self._uses_abstract_classes = False
        # C functions with effects: a call by Python code is seen, one by C code that was handed the function is not.
        self._impure: list[tuple[str, str | None, str]] = []
        self._passed: set[str] = set()

    # The walk itself.

    def start(self, value: Any, place: str) -> None:
        """Adds a place to begin at."""
        self._pending.append((value, place))

    def run(self) -> None:
        """Walks until nothing new is found, then guards what was found."""
        for code, functions in self.knowledge.functions.items():
            for function in functions:
                self.start(function, code.co_qualname)
        self._generator(None, "the default generator")
        for function in _core.global_hook_functions():
            self.start(function, "the hooks of all modules")
        looked_up: set[str] = set()
        saw_all = False
        while True:
            while self._pending:
                self._visit(*self._pending.pop())
            all_names = self.knowledge.all_names
            if self.names == looked_up and all_names == saw_all:
                break
            fresh = self.names - looked_up
            looked_up |= fresh
            for instance in self._instances:
                self._look_up(instance, fresh, all_names and not saw_all)
            for cls in list(self._classes):
                self._look_up_class(cls, fresh, all_names and not saw_all)
            saw_all = all_names
        for place, name, words in self._impure:
            if name is None or name in self._passed:
                self.refuse(place, words)
        self._guard()

    def _guard(self) -> None:
        guards, all_names = self.guards, self.knowledge.all_names
        names = frozenset(self.names)
        for entries, wanted, place in self._globals.values():
            guards.named(entries, frozenset(wanted), place, "global")
        for instance in self._instances:
            if instance.by_path:
                continue
            place = instance.place
            if not instance.is_module:
                guards.instance(instance.object, place)
            if instance.dict is not None:
                if all_names or instance.whole:
                    guards.whole(instance.dict, place, "attribute")
                else:
                    guards.named(instance.dict, names, place, "attribute")
            for name, member in instance.members.items():
                if all_names or instance.whole or name in names:
                    guards.slot(instance.object, member, f"{place}.{name}")
        for cls, place in self._classes.items():
            guards.class_(cls, place)
        guards.global_hooks()
        if self._uses_abstract_classes:
            guards.call(abc.get_cache_token, "the classes registered with abstract ones")

    def refuse(self, place: str, words: str) -> None:
        """Notes that something cannot be guarded."""
        self.reasons.append((place, words))

    def _refuse_state(self, value: Any, place: str) -> None:
        if type(value).__name__ == "cython_function_or_method":
            self.refuse(place, f"may call {place}, whose effects cannot be known")
            return
        self.refuse(place, f"reads {place}, a {name_of(type(value))} whose state cannot be checked")

    # Looking up names in what was found so far, and in what is found now.

    def _look_up(self, instance: _Instance, names: set[str], all_names: bool) -> None:
        entries, place = instance.dict, instance.place
        everything = (all_names or instance.whole) and not instance.is_closed
        if entries is not None:
            chosen = [name for name in entries if everything or name in names]
            for name in chosen:
                self._attribute(instance, entries[name], f"{place}.{name}")
        for name, member in instance.members.items():
            if everything or name in names:
                try:
                    value = member.__get__(instance.object)
                except AttributeError:
                    continue
                self._attribute(instance, value, f"{place}.{name}")

    def _attribute(self, instance: _Instance, value: Any, place: str) -> None:
        if instance.by_path:
            self.argument(value, place, inside=True)
        else:
            self._pending.append((value, place))

    def _look_up_class(self, cls: type, names: set[str], all_names: bool) -> None:
        place = self._classes[cls]
        for name, value in list(_core.class_dict(cls).items()):
            if name in names or all_names or self._ran(value):
                self._pending.append((value, f"{place}.{name}"))

    def _ran(self, value: Any) -> bool:
        if type(value) in (staticmethod, classmethod):
            value = value.__func__
        elif type(value) is property:
            value = value.fget
        return type(value) is FunctionType and value.__code__ in self.knowledge.ran

    def _add_instance(self, value: Any, place: str, *, whole: bool = False, by_path: bool = False) -> _Instance:
        members = self._members.get(type(value))
        if members is None:
            members = self._members[type(value)] = _members_of(type(value))
        instance = _Instance(value, place, members, whole, by_path)
        self._instances.append(instance)
        self._look_up(instance, self.names, self.knowledge.all_names)
        return instance

    # What is done with each kind of value.

    def _visit(self, value: Any, place: str) -> None:
        cls = type(value)
        if cls in ATOMS or id(value) in self.seen:
            return
        self.seen[id(value)] = value
        if len(self.seen) > _MOST_OBJECTS:
            if len(self.seen) == _MOST_OBJECTS + 1:
                self.refuse(place, f"can reach more than {_MOST_OBJECTS} objects")
            return
        visit = self._visits.get(cls)
        if visit is None:
            visit = self._visits[cls] = _choose(cls)
        visit(self, value, place)

    def _tensor(self, tensor: lucid.Tensor, place: str) -> None:
        self.tensors[id(tensor)] = (tensor, place)
        if type(tensor) is not lucid.Tensor:
            self._class(type(tensor), type(tensor).__name__)
            self._add_instance(tensor, place)

    def _constant(self, value: Any, place: str) -> None:
        if setting := _kinds.own_setting(value):
            self.refuse(setting.rpartition(".")[2], f"may call {setting}")

    def _nothing(self, value: Any, place: str) -> None:
        """A schedule: running one is noticed."""

    def _namespace(self, value: Any, place: str) -> None:
        self._add_instance(value, place)

    def _object(self, value: Any, place: str) -> None:
        cls = type(value)
        self._class(cls, cls.__name__)
        self._add_instance(value, place)
        for base in _kinds.builtin_bases(cls):
            if base in (
                list,
                dict,
                set,
                frozenset,
                collections.deque,
                collections.OrderedDict,
                collections.defaultdict,
            ):
                _VISITS[base](self, value, place)
                return
            if base is tuple:
                _VISITS[tuple](self, value, place)
                return
            if base not in (int, float, str, bytes, complex):
                self._refuse_state(value, place)
                return

    def _own(self, value: Any, place: str) -> None:
        """An object of one of Lucid's other classes: everything that it holds may matter."""
        inner = getattr(value, "__wrapped__", None)
        if inner is not None:
            self._pending.append((inner, place))
        elif _kinds.is_python_class(type(value)):
            self._add_instance(value, place, whole=True)
        elif type(value).__module__ != "lucid._core":
            self._refuse_state(value, place)

    def _function(self, function: FunctionType, place: str) -> None:
        code = function.__code__
        cells = function.__closure__ or ()
        if is_own(code):
            if setting := _kinds.own_setting(function):
                self.refuse(function.__name__, f"may call {setting}")
            # What we wrap, with no_grad() for instance, is the user's.
            for cell in cells:
                self._pending.append((cell, place))
            return
        self.guards.function(function, place)
        knowledge = self.knowledge
        if is_numpy(code) or ((knowledge.settled or is_library(code)) and code not in knowledge.ran):
            return
        named = named_by(code)
        self.codes |= named.codes
        self.names |= named.attributes
        self._passed |= named.passed
        knowledge.all_names = knowledge.all_names or named.reflects
        self._name_globals(function, named.globals)
        for name in sorted(named.imports):
            self._import(name, function.__globals__)
        for name, cell in zip(code.co_freevars, cells):
            self._pending.append((cell, f"closure {name}"))
        for default in function.__defaults__ or ():
            self._pending.append((default, f"a default of {function.__name__}"))
        for name, default in (function.__kwdefaults__ or {}).items():
            self._pending.append((default, f"the default {name} of {function.__name__}"))
        self._add_instance(function, place)

    def _name_globals(self, function: FunctionType, names: set[str]) -> None:
        entries: dict[str, Any] = function.__globals__
        builtins: Any = function.__builtins__  # type: ignore[attr-defined]
        _, wanted, _ = self._globals.setdefault(id(entries), (entries, set(), "global "))
        _, shadowed, _ = self._globals.setdefault(id(builtins), (builtins, set(), "builtin "))
        wanted |= names
        # Sorted, so that messages are the same in every process.
        for name in sorted(names):
            value = entries.get(name, _MISSING)
            if value is _MISSING:
                shadowed.add(name)
                value = builtins.get(name, _MISSING)
                if value is not _MISSING:
                    self._pending.append((value, name))
            else:
                self._pending.append((value, f"global {name}"))

    def _import(self, name: str, entries: dict[str, Any]) -> None:
        package = entries.get("__package__")
        candidates = [name]
        while isinstance(package, str) and package:
            candidates.append(f"{package}.{name}" if name else package)
            package = package.rpartition(".")[0]
        _, wanted, _ = self._globals.setdefault(id(sys.modules), (sys.modules, set(), "module "))
        for candidate in candidates:
            while candidate:
                wanted.add(candidate)
                if (module := sys.modules.get(candidate)) is not None:
                    self._pending.append((module, candidate))
                candidate = candidate.rpartition(".")[0]

    def _class(self, cls: type, place: str) -> None:
        if cls in self._walked_classes:
            return
        self._walked_classes.add(cls)
        if cls in (operator.attrgetter, operator.methodcaller):
            self.knowledge.all_names = True
        metaclass = type(cls)
        if derives(metaclass, abc.ABCMeta):
            self._uses_abstract_classes = True
        if metaclass not in (type, abc.ABCMeta) and _kinds.module_of(metaclass) not in ("enum", "nanobind"):
            self._class(metaclass, metaclass.__name__)
        if not _kinds.is_heap_class(cls) and not _kinds.is_known_type(cls):
            self.refuse(place, f"may make a {name_of(cls)}, whose state cannot be checked")
        for base in mro_of(cls):
            if not _kinds.is_heap_class(base) or base in self._classes or _kinds.module_of(base) in _TRUSTED_CLASSES:
                continue
            self._classes[base] = base.__name__
            if _kinds.module_of(base).split(".")[0] == "lucid":
                continue
            self._look_up_class(base, self.names, self.knowledge.all_names)

    def _module(self, module: Any, place: str) -> None:
        self._class(type(module), type(module).__name__)
        try:
            self.guards.module(module, place)
        except AttributeError:
            self.refuse(place, f"reads {place}, a module that is not initialised")
            return
        parameters, buffers, modules, hooks = _core.describe_module(module)
        for name, tensor in (*parameters, *buffers):
            self._pending.append((tensor, f"{place}.{name}"))
        for name, child in modules:
            self._pending.append((child, f"{place}[{name}]" if name.isdigit() else f"{place}.{name}"))
        for number, hook in enumerate(hooks):
            self._pending.append((hook, f"hook {number} of {place}"))
        # Code of ours, whose names are not collected, reads what its classes keep.
        ours = self._own_modules.get(type(module))
        if ours is None:
            ours = any(_kinds.is_own_class(base) and base not in _MODULE_BASES for base in mro_of(type(module)))
            self._own_modules[type(module)] = ours
        self._add_instance(module, place, whole=ours)

    def _optimizer(self, optimizer: Any, place: str) -> None:
        self._class(type(optimizer), type(optimizer).__name__)
        for tensor, where in self.guards.optimizer(optimizer, place):
            self.tensors.setdefault(id(tensor), (tensor, where))
            if type(tensor) is not lucid.Tensor:
                self._pending.append((tensor, where))
        self._add_instance(optimizer, place)
        # Which hooks run is not named by anybody's code but ours.
        for name in ("_pre_hooks", "_post_hooks"):
            if (hooks := (_core.attributes_of(optimizer) or {}).get(name)) is not None:
                self._pending.append((hooks, f"{place}.{name}"))

    def _items(self, value: Any, place: str) -> None:
        size = sum(1 for _ in _iterate(value))
        if size > _MOST_ITEMS:
            self.refuse(place, f"reads {place}, a {name_of(type(value))} of {size} items")
            return
        self.guards.sequence(value, place)
        for number, item in enumerate(_iterate(value)):
            self._pending.append((item, f"{place}[{number}]"))

    def _constants(self, value: Any, place: str) -> None:
        for number, item in enumerate(_iterate(value)):
            self._pending.append((item, f"{place}[{number}]"))

    def _entries(self, value: dict[Any, Any], place: str) -> None:
        if dict.__len__(value) > _MOST_ITEMS:
            self.refuse(place, f"reads {place}, a dict of {dict.__len__(value)} entries")
            return
        self.guards.whole(value, place, "item")
        if derives(type(value), collections.OrderedDict):
            self.guards.sequence(value, place)
        if derives(type(value), collections.defaultdict):
            factory: Any = collections.defaultdict.__dict__["default_factory"]
            self.guards.slot(value, factory, f"{place}.default_factory")
            self._pending.append((factory.__get__(value), f"{place}.default_factory"))
        for key, item in dict.items(value):
            self._pending.append((key, f"a key of {place}"))
            self._pending.append((item, f"{place}[{key!r}]" if type(key) in ATOMS else f"{place}[...]"))

    def _cell(self, cell: types.CellType, place: str) -> None:
        self.guards.cell(cell, place)
        try:
            self._pending.append((cell.cell_contents, place))
        except ValueError:
            return

    def _array(self, value: Any, place: str) -> None:
        size = value.nbytes if hasattr(value, "nbytes") else len(value)
        if size > _MOST_BYTES or getattr(getattr(value, "dtype", None), "hasobject", False):
            self.refuse(place, f"reads {place}, a {name_of(type(value))} that is too large to be compared at each call")
            return
        try:
            self.guards.bytes(value, place)
        except TypeError:
            self._refuse_state(value, place)

    def _builtin(self, function: Any, place: str) -> None:
        owner = function.__self__
        if _kinds.is_reflecting(function):
            self.knowledge.all_names = True
        elif owner is None or isinstance(owner, types.ModuleType) or derives(type(owner), type):
            if (reason := _kinds.reason_for(function)) is not None:
                self._impure.append((place, _last_name(place), f"may {reason.replace('calls', 'call', 1)}"))
        elif type(owner) in (list, dict, set, collections.deque, lucid.Tensor, collections.OrderedDict):
            self._pending.append((owner, place))
        elif type(owner) not in ATOMS and type(owner) is not tuple and type(owner) not in IMMUTABLE:
            self.refuse(place, f"may call {place}, a method of a {name_of(type(owner))} whose state cannot be checked")

    def _generator(self, generator: lucid.Generator | None, place: str) -> None:
        state = _core.generator_state(generator)
        self.tensors[id(state)] = (state, f"the state of {place}")

    def _method(self, method: types.MethodType, place: str) -> None:
        self._pending.append((method.__self__, _owner(place)))
        self._pending.append((method.__func__, place))

    def _partial(self, partial: functools.partial[Any], place: str) -> None:
        self._pending.append((partial.func, f"{place}()"))
        self._pending.append((partial.args, f"{place}.args"))
        self._pending.append((partial.keywords, f"{place}.keywords"))
        self._add_instance(partial, place)

    def _wrapper(self, wrapper: Any, place: str) -> None:
        self._pending.append((wrapper.__func__, place))

    def _property(self, wrapper: property, place: str) -> None:
        for function in (wrapper.fget, wrapper.fset, wrapper.fdel):
            if function is not None:
                self._pending.append((function, place))

    def _getter(self, function: Any, place: str) -> None:
        self.knowledge.all_names = True

    def _cached(self, function: Any, place: str) -> None:
        self.refuse(place, f"may call {place}, which keeps results in a cache that cannot be checked")

    # Arguments: what they hold is compared part by part, so that another object with the same values will do.

    def argument(self, value: Any, place: str, inside: bool = False) -> None:
        """Walks from an argument. `inside` says that it is an attribute of one."""
        cls = type(value)
        if cls in ATOMS:
            return
        if derives(cls, lucid.Tensor):
            if inside:
                self.refuse(place, f"reads {place}, a tensor in an attribute of an argument: pass it by itself")
        elif cls in (list, tuple) or (derives(cls, tuple) and hasattr(cls, "_fields")):
            for number, item in enumerate(value):
                self.argument(item, f"{place}[{number}]", inside)
            if cls not in (list, tuple):
                self._class(cls, cls.__name__)
        elif cls is dict:
            for key, item in value.items():
                self.argument(key, f"a key of {place}", inside)
                self.argument(item, f"{place}[{key!r}]" if type(key) in ATOMS else f"{place}[...]", inside)
        elif self._is_compared(cls):
            if id(value) not in self.arguments and id(value) not in self.seen:
                self._class(cls, cls.__name__)
                # Known before what it holds is walked: it may hold itself.
                self.arguments[id(value)] = _PENDING
                self.arguments[id(value)] = self._add_instance(value, place, by_path=True)
        elif derives(cls, *_REFUSED_ARGUMENTS) or _kinds.numpy_kind(cls) == "array":
            self.refuse(
                place, f"takes {place}, a {name_of(cls)}: pass a tensor, or a list or dict of tensors or numbers"
            )
        else:
            self._pending.append((value, place))

    def _is_compared(self, cls: type) -> bool:
        if cls is types.SimpleNamespace:
            return True
        if derives(cls, _core.Module, Optimizer, LRScheduler, type) or _kinds.module_of(cls).split(".")[0] == "lucid":
            return False
        if cls in _VISITS or cls in IMMUTABLE or _kinds.is_enum(cls):
            return False
        return _kinds.is_python_class(cls) and not _kinds.builtin_bases(cls)


_PENDING: Any = None
_MODULE_BASES = frozenset(mro_of(lucid.nn.Module))
# Containers that are neither part of a plan's key nor compared part by part.
_REFUSED_ARGUMENTS = (list, dict, set, frozenset, collections.deque, bytearray)
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

_VISITS: dict[type, Any] = {
    FunctionType: Walk._function,
    types.MethodType: Walk._method,
    types.BuiltinFunctionType: Walk._builtin,
    types.CellType: Walk._cell,
    staticmethod: Walk._wrapper,
    classmethod: Walk._wrapper,
    property: Walk._property,
    functools.partial: Walk._partial,
    type(functools.lru_cache(lambda: None)): Walk._cached,
    list: Walk._items,
    collections.deque: Walk._items,
    set: Walk._items,
    frozenset: Walk._constants,
    tuple: Walk._constants,
    dict: Walk._entries,
    collections.OrderedDict: Walk._entries,
    collections.defaultdict: Walk._entries,
    bytearray: Walk._array,
    lucid.Generator: Walk._generator,
    operator.attrgetter: Walk._getter,
    operator.methodcaller: Walk._getter,
    type: Walk._class,
}


def _choose(cls: type) -> Callable[[Walk, Any, str], None]:
    """What is done with instances of a class that _VISITS does not name."""
    if derives(cls, lucid.Tensor):
        return Walk._tensor
    if derives(cls, _core.Module):
        return Walk._module
    if derives(cls, Optimizer):
        return Walk._optimizer
    if derives(cls, LRScheduler):
        return Walk._nothing
    if derives(cls, type):
        return Walk._class
    if cls in IMMUTABLE or _kinds.numpy_kind(cls) == "constant":
        return Walk._constant
    if _kinds.numpy_kind(cls) == "array":
        return Walk._array
    if derives(cls, types.ModuleType) or cls is types.SimpleNamespace:
        return Walk._namespace
    if cls.__flags__ & 1 << 9 and _kinds.module_of(cls).split(".")[0] == "lucid":
        return Walk._own
    return Walk._object if _kinds.is_python_class(cls) else Walk._refuse_state


def _members_of(cls: type) -> dict[str, Any]:
    """The descriptors of the slots of a class."""
    members: dict[str, Any] = {}
    for base in mro_of(cls):
        if _kinds.is_heap_class(base) and "__slots__" in _core.class_dict(base):
            for name, member in _core.class_dict(base).items():
                if type(member) is types.MemberDescriptorType and name not in members:
                    members[name] = member
    return members


def _is_library(file: Any) -> bool:
    return not isinstance(file, str) or is_library_file(file)


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
