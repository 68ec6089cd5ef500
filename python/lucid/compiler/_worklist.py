"""The worklist of a walk: values that are not visited yet, and the facts and guards so far."""

from __future__ import annotations

import abc
import collections
import datetime
import operator
import sys
from types import FunctionType
from typing import Any

import lucid

from .. import _core
from . import _type_tables
from ._code import is_caching, is_library, is_numpy, is_own, named_by
from ._code_profile import CodeProfile
from ._facts import Facts
from ._functions import own_effect
from ._members import Instance, Members, is_singleton, members_of
from ._type_tables import ByType, derives, mro_of, name_of, printable, simple_name_of, type_set

_MISSING: Any = object()
# The containers to which references are counted. Other objects may forward what they hold unseen.
_COUNTED = type_set(list, tuple, dict, collections.deque, collections.OrderedDict, collections.defaultdict)
_OWN_METACLASSES = type_set(type, type(lucid.Tensor))
# Attributes through which code reads the variables of other code.
_FRAMES = {"f_back", "f_builtins", "f_globals", "f_locals", "__globals__"}


class Worklist:
    """Rules add to it: values to visit, facts, guards, and reasons against a plan."""

    def __init__(self, profile: CodeProfile) -> None:
        self.profile = profile
        self.facts = Facts()
        self.guards = _core.GuardSet()
        # Values that are not visited yet, and instances and classes in which no names are looked up yet.
        self.values: list[tuple[Any, str]] = []
        self.instances: list[Instance] = []
        self.classes: list[type] = []
        # The object that is being visited.
        self.holder: Any = None
        # For each class of modules: whether Lucid's own code runs them.
        self.own_modules: ByType[bool] = ByType({})
        self._members: ByType[Members] = ByType({})

    def start(self, value: Any, source: str, holder: Any = None, name: str | None = None) -> None:
        """Adds a value to visit, and a reference to it: see `refer`."""
        self.refer(value, source, holder, name)
        self.values.append((value, source))

    def refer(self, value: Any, source: str, holder: Any = None, name: str | None = None) -> None:
        """Adds a reference to a value. The holder is by default the object that is being visited; the name, or else the
        source, tells its references apart."""
        cls = type(value)
        if cls in _COUNTED or derives(cls, lucid.Tensor):
            holder = self.holder if holder is None else holder
            self.facts.references.setdefault(id(value), {})[id(holder), name or source] = source

    def refuse(self, source: str, reason: str) -> None:
        """Adds a reason why the call cannot be guarded."""
        self.facts.refuse(source, reason)

    def backward_hooks(self, hooks: list[Any], source: str) -> None:
        """Visits hooks that run during backward, if a call that was recorded has run it."""
        if hooks and not self.profile.runs_backward:
            self.facts.skips_hooks = True
            return
        for hook in hooks:
            self.start(hook, f"a hook of {source}")

    def add_instance(self, value: Any, source: str, *, whole: bool = False, by_path: bool = False) -> Instance:
        """Guards the attributes of an object: those that code names, or all of them if `whole`."""
        members = self._members.get(type(value))
        if members is None:
            members = self._members[type(value)] = members_of(type(value))
        instance = Instance(value, source, members, whole, by_path)
        self.instances.append(instance)
        return instance

    def add_function(self, function: FunctionType, source: str) -> None:
        """Guards a function and visits what its code names."""
        code = function.__code__
        cells = function.__closure__ or ()
        if is_own(code):
            if name := own_effect(function):
                self.refuse(name, f"may call {name}")
            # A function that Lucid wraps, for instance with no_grad(), is the user's. Hooks keep weak references to
            # their tensors.
            for cell in cells:
                if not _type_tables.is_weak_tensor(cell):
                    self.start(cell, source)
            return
        self.guards.function(function, source)
        self.add_instance(function, source)
        if not self.add_code(function):
            return
        for name, cell in zip(code.co_freevars, cells):
            self.start(cell, f"closure {name}")
        function_name = printable(function.__name__)
        for default in function.__defaults__ or ():
            self.start(default, f"a default of {function_name}")
        for name, default in (function.__kwdefaults__ or {}).items():
            self.start(default, f"the default {printable(name)} of {function_name}")

    def add_code(self, function: FunctionType) -> bool:
        """Visits what the code of a function names. Returns whether it may run."""
        code, profile = function.__code__, self.profile
        if is_numpy(code) or ((profile.only_ran_code or is_library(code)) and code not in profile.ran):
            return False
        named = named_by(code)
        if "__annotations__" in named.attributes and not is_library(code):
            self.refuse("__annotations__", "reads __annotations__, which may change unseen")
        facts = self.facts.code
        if not facts.compares_identity and not is_library(code):
            facts.compares_identity = any(not is_singleton(function, names) for names in named.identities)
        for name in sorted(_FRAMES & named.attributes):
            self.refuse(name, f"reads {name}, which shows variables that are not guarded")
        facts.add(named, is_caching=is_caching(code))
        profile.all_names = profile.all_names or named.reflects
        self._name_globals(function, named.globals)
        for name in sorted(named.imports):
            self._import(name, function.__globals__)
        return True

    def _name_globals(self, function: FunctionType, names: set[str]) -> None:
        entries: dict[str, Any] = function.__globals__
        builtins: Any = function.__builtins__  # type: ignore[attr-defined,unused-ignore]
        if type(entries) is not dict or type(builtins) is not dict:
            self.refuse(function.__name__, f"calls {function.__name__}, whose globals are not a plain dict")
            return
        _, wanted, _ = self.facts.globals.setdefault(id(entries), (entries, set(), "global "))
        _, shadowed, _ = self.facts.globals.setdefault(id(builtins), (builtins, set(), "builtin "))
        wanted |= names
        # Sorted, so that messages are the same in every process.
        for name in sorted(names):
            value = entries.get(name, _MISSING)
            if value is _MISSING:
                shadowed.add(name)
                value = builtins.get(name, _MISSING)
                if value is not _MISSING:
                    self.start(value, name, builtins)
            else:
                self.start(value, f"global {name}", entries)

    def _import(self, name: str, entries: dict[str, Any]) -> None:
        package = entries.get("__package__")
        candidates = [name]
        while isinstance(package, str) and package:
            candidates.append(f"{package}.{name}" if name else package)
            package = package.rpartition(".")[0]
        _, wanted, _ = self.facts.globals.setdefault(id(sys.modules), (sys.modules, set(), "module "))
        for candidate in candidates:
            while candidate:
                wanted.add(candidate)
                if (module := sys.modules.get(candidate)) is not None:
                    self.facts.imported.add(id(module))
                    self.start(module, candidate)
                candidate = candidate.rpartition(".")[0]

    def add_class(self, cls: type, source: str) -> None:
        """Guards a class, the classes that it derives from, and its metaclass."""
        if cls in self.facts.classes:
            return
        self.facts.classes[cls] = None
        if cls is operator.attrgetter or cls is operator.methodcaller:
            self.profile.all_names = True
        module = _type_tables.module_of(cls)
        self.facts.uses_numpy = self.facts.uses_numpy or module.split(".")[0] == "numpy"
        self.facts.uses_dates = self.facts.uses_dates or module == "datetime"
        metaclass = type(cls)
        if derives(metaclass, abc.ABCMeta):
            self.facts.uses_abstract_classes = True
        if metaclass not in _OWN_METACLASSES:
            self.add_class(metaclass, simple_name_of(metaclass))
        if not _type_tables.is_heap_class(cls) and derives(cls, datetime.date, datetime.time):
            self.facts.kinds[cls] = None
        for base in mro_of(cls):
            if not _type_tables.is_heap_class(base):
                if not _type_tables.is_known_type(base):
                    self.refuse(source, f"may create a {name_of(cls)}, whose state cannot be checked")
                continue
            if base not in self.facts.guarded_classes:
                self.facts.guarded_classes[base] = simple_name_of(base)
                self.classes.append(base)
