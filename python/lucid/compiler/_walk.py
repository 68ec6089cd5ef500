"""The walk: finds, before a call, every place that the call can read, and guards it.

It starts at the function and goes through closures, defaults, globals that code names, imports, attributes and
containers. It does not follow what the code does: attribute names are the union over all code that may run, and any
object that can be reached is guarded at those names. Nothing of the user's runs meanwhile.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import operator
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
from ._values import VISITS, choose, visit_generator

_MISSING: Any = object()
_MOST_OBJECTS = 20_000
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

    __slots__ = ("by_path", "dict", "fields", "is_closed", "is_module", "members", "object", "place", "whole")

    def __init__(self, object: Any, place: str, members: dict[str, Any], whole: bool, by_path: bool) -> None:
        self.object = object
        self.place = place
        self.dict: dict[str, Any] | None = _core.attributes_of(object)
        self.members = members
        self.whole = whole
        self.by_path = by_path
        # Of an argument: the names of what is taken apart like the items of a tuple.
        self.fields: frozenset[str] = frozenset()
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
        self._new_instances: list[_Instance] = []
        self._new_classes: list[type] = []
        # Tensors that code can look at.
        self.visible: list[tuple[lucid.Tensor, str]] = []
        # Parameters without attributes, which is what most are.
        self.bare: list[tuple[lucid.Tensor, str]] = []
        self._classes: dict[type, str] = {}
        self._globals: dict[int, tuple[dict[str, Any], set[str], str]] = {}
        self._members: dict[type, dict[str, Any]] = {}
        self._visits: dict[type, Callable[[Walk, Any, str], None]] = dict(VISITS)
        self._walked_classes: set[type] = set()
        # Whether modules of a class are run by code of ours.
        self.own_modules: dict[type, bool] = {}
        self._uses_abstract_classes = False
        # C functions with effects: a call by Python code is seen, one by C code that was handed the function is not.
        self.impure: list[tuple[str, str | None, str]] = []
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
        visit_generator(self, None, "the default generator")
        for function in _core.global_hook_functions():
            self.start(function, "the hooks of all modules")
        looked_up: set[str] = set()
        saw_all = False
        instances: list[_Instance] = []
        classes: list[type] = []
        while self._pending or self._new_instances or self._new_classes or self.names != looked_up:
            while self._pending:
                self._visit(*self._pending.pop())
            # What is new is looked at for all names, what was there before for those that are new.
            names, all_names = set(self.names), self.knowledge.all_names
            fresh = names - looked_up
            if fresh or all_names != saw_all:
                for instance in instances:
                    self._look_up(instance, fresh, all_names)
                for cls in classes:
                    self._look_up_class(cls, fresh, all_names)
            looked_up, saw_all = names, all_names
            instances += self._new_instances
            classes += self._new_classes
            new_instances, self._new_instances = self._new_instances, []
            new_classes, self._new_classes = self._new_classes, []
            for instance in new_instances:
                self._look_up(instance, names, all_names)
            for cls in new_classes:
                self._look_up_class(cls, names, all_names)
        self._instances = instances
        for place, name, words in self.impure:
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
        guards.tensors(self.visible, all_names or "grad" in names)
        guards.bare(self.bare, None if all_names else names)
        for cls, place in self._classes.items():
            guards.class_(cls, place)
        guards.global_hooks()
        if self._uses_abstract_classes:
            guards.call(abc.get_cache_token, "the classes registered with abstract ones")

    def refuse(self, place: str, words: str) -> None:
        """Notes that something cannot be guarded."""
        self.reasons.append((place, words))

    # Looking up names in what was found so far, and in what is found now.

    def _look_up(self, instance: _Instance, names: set[str], all_names: bool) -> None:
        entries = instance.dict
        everything = (all_names or instance.whole) and not instance.is_closed
        if entries is not None:
            chosen = [name for name in entries if everything or name in names]
            for name in chosen:
                self._attribute(instance, entries[name], name)
        for name, member in instance.members.items():
            if everything or name in names:
                try:
                    value = member.__get__(instance.object)
                except AttributeError:
                    continue
                self._attribute(instance, value, name)

    def _attribute(self, instance: _Instance, value: Any, name: str) -> None:
        place = f"{instance.place}.{name}"
        if instance.by_path:
            self.argument(value, place, inside=name not in instance.fields)
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

    def add_instance(self, value: Any, place: str, *, whole: bool = False, by_path: bool = False) -> _Instance:
        """Guards the attributes of an object: those that code names, or the whole of them."""
        members = self._members.get(type(value))
        if members is None:
            members = self._members[type(value)] = _members_of(type(value))
        instance = _Instance(value, place, members, whole, by_path)
        self._new_instances.append(instance)
        return instance

    # What is done with values: _values.py says it for most kinds.

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
            visit = self._visits[cls] = choose(cls)
        visit(self, value, place)

    def add_function(self, function: FunctionType, place: str) -> None:
        """Guards a function and looks at what its code names."""
        code = function.__code__
        cells = function.__closure__ or ()
        if is_own(code):
            if name := _kinds.own_effect(function):
                self.refuse(function.__name__, f"may call {name}")
            # What we wrap, with no_grad() for instance, is the user's.
            for cell in cells:
                self._pending.append((cell, place))
            return
        self.guards.function(function, place)
        knowledge = self.knowledge
        if is_numpy(code) or ((knowledge.settled or is_library(code)) and code not in knowledge.ran):
            return
        named = named_by(code)
        if "__annotations__" in named.attributes and not is_library(code):
            self.refuse("__annotations__", "reads __annotations__, which may change unseen")
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
        self.add_instance(function, place)

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

    def add_class(self, cls: type, place: str) -> None:
        """Guards a class, the classes that it derives from, and its metaclass."""
        if cls in self._walked_classes:
            return
        self._walked_classes.add(cls)
        if cls in (operator.attrgetter, operator.methodcaller):
            self.knowledge.all_names = True
        metaclass = type(cls)
        if derives(metaclass, abc.ABCMeta):
            self._uses_abstract_classes = True
        if metaclass not in (type, abc.ABCMeta) and _kinds.module_of(metaclass) not in ("enum", "nanobind"):
            self.add_class(metaclass, metaclass.__name__)
        if not _kinds.is_heap_class(cls) and not _kinds.is_known_type(cls):
            self.refuse(place, f"may make a {name_of(cls)}, whose state cannot be checked")
        for base in mro_of(cls):
            if not _kinds.is_heap_class(base) or base in self._classes or _kinds.module_of(base) in _TRUSTED_CLASSES:
                continue
            self._classes[base] = base.__name__
            if _kinds.module_of(base).split(".")[0] == "lucid":
                continue
            self._new_classes.append(base)

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
                self.add_class(cls, cls.__name__)
        elif cls is dict:
            for key, item in value.items():
                self.argument(key, f"a key of {place}", inside)
                self.argument(item, f"{place}[{key!r}]" if type(key) in ATOMS else f"{place}[...]", inside)
        elif self._is_compared(cls):
            if id(value) not in self.arguments and id(value) not in self.seen:
                self.add_class(cls, cls.__name__)
                # Known before what it holds is walked: it may hold itself.
                self.arguments[id(value)] = _PENDING
                instance = self.arguments[id(value)] = self.add_instance(value, place, by_path=True)
                if not inside:
                    instance.fields = frozenset(field_names(cls))
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
        if cls in VISITS or cls in IMMUTABLE or _kinds.is_enum(cls):
            return False
        return _kinds.is_python_class(cls) and not _kinds.builtin_bases(cls)


_PENDING: Any = None


_REFUSED_ARGUMENTS = (list, dict, set, frozenset, collections.deque, bytearray)


# What code may read of functions and rarely does; what they do and their names are guarded anyway.
_OF_FUNCTIONS = ("__doc__", "__module__")


def field_names(cls: type) -> list[str]:
    """The fields of a dataclass; none for other classes."""
    return [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []


def _members_of(cls: type) -> dict[str, Any]:
    """The descriptors of the slots of a class."""
    members: dict[str, Any] = {}
    if cls is FunctionType:
        return {name: _core.class_dict(cls)[name] for name in _OF_FUNCTIONS}
    for base in mro_of(cls):
        if _kinds.is_heap_class(base) and "__slots__" in _core.class_dict(base):
            for name, member in _core.class_dict(base).items():
                if type(member) is types.MemberDescriptorType and name not in members:
                    members[name] = member
    return members


def _is_library(file: Any) -> bool:
    return not isinstance(file, str) or is_library_file(file)
