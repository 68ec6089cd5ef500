"""The walk: finds every place that a call can read, before the call, and guards it.

It starts at the function and follows closures, defaults, globals that code names, imports, attributes and containers.
It does not analyze control flow: attribute names are the union over all code that may run, and every reachable object
is guarded at those names. The walk runs no user code.
"""

from __future__ import annotations

import abc
import collections
import datetime
import operator
import sys
import types
from types import CodeType, FunctionType
from typing import Any

import lucid

from .. import _core
from . import _type_tables
from ._argument_walk import Where, visit_argument
from ._code import Test, is_caching, is_library, is_library_file, is_numpy, is_own, named_by
from ._code_profile import CodeProfile
from ._functions import own_effect, reason_for
from ._guarding import add_guards, found_by
from ._members import (
    ONLY_NAMED,
    Instance,
    Members,
    is_function_of_module,
    is_object,
    is_singleton,
    members_of,
    patched,
)
from ._opaque_calls import identify_arguments, open_modules, refuse_hashes_of_arguments, refuse_impure_functions
from ._rules import RULES, Visit, visit_generator, visit_output
from ._streams import is_output
from ._type_tables import ATOMS, IMMUTABLE, ByType, derives, mro_of, name_of, printable, simple_name_of, type_set
from ._values import rule_for
from ._walk_result import References, WalkResult

_MISSING: Any = object()
_MAX_OBJECTS = 20_000
# Attributes that C code reads although no code names them.
_BASE_NAMES = {"forward", "__call__", "__getattr__", "__bases__"}
# All attributes of classes of these packages are guarded, but only those that programs have put there are visited: the
# rest is code that matters once it has run.
_LIBRARY_CLASSES = {"lucid", "enum", "abc", "typing", "numbers", "collections", "dataclasses", "functools"}
_OF_LIBRARIES = type_set(property, staticmethod, classmethod, *_type_tables.BUILTIN_DESCRIPTORS, *IMMUTABLE)
# The containers to which references are counted. What else holds a value may hand it on unseen.
_COUNTED = type_set(list, tuple, dict, collections.deque, collections.OrderedDict, collections.defaultdict)
_OWN_METACLASSES = type_set(type, type(lucid.Tensor))
# Attributes through which code reads the variables of other code.
_FRAMES = {"f_back", "f_builtins", "f_globals", "f_locals", "__globals__"}


# The attributes of the class as they are when Lucid is imported.
_TENSOR_ATTRIBUTES = dict(_core.class_dict(lucid.Tensor))


class Walk:
    """One walk."""

    def __init__(self, knowledge: CodeProfile) -> None:
        self.knowledge = knowledge
        self.guards = _core.GuardSet()
        # By id: the tensor and its place.
        self.tensors: dict[int, tuple[lucid.Tensor, str]] = {}
        # The references to tensors and containers: see `refer`.
        self.references: References = {}
        # The object that is being visited: what it refers to is found.
        self._holder: Any = None
        # What code does with the values of names: see `Named`.
        self.appended: set[str] = set()
        self.filled: set[str] = set()
        self.counted: set[str] = set()
        self.assigned: set[str] = set()
        self.used: set[str] = set(_BASE_NAMES)
        self.steps: dict[str, set[int]] = {}
        self.tests: dict[str, set[Test]] = {}
        # What cannot be guarded: a name in the code, and the reason.
        self.reasons: list[tuple[str, str]] = []
        self.codes: set[CodeType] = set()
        self.seen: dict[int, Any] = {}
        self.arguments: dict[int, Instance] = {}
        # The containers among the arguments and in their attributes, by id.
        self.containers: set[int] = set()
        # The tensors that arguments hold in other ways than as items of lists, tuples and dicts, by id.
        self.held: set[int] = set()
        self.names: set[str] = set(_BASE_NAMES)
        self._pending: list[tuple[Any, str]] = []
        self.instances: list[Instance] = []
        self._new_instances: list[Instance] = []
        self._new_classes: list[type] = []
        # Tensors that code can access.
        self.visible: list[tuple[lucid.Tensor, str]] = []
        # Parameters without Python attributes, the common case.
        self.bare: list[tuple[lucid.Tensor, str]] = []
        self.guarded_classes: ByType[str] = ByType({})
        self.globals: dict[int, tuple[dict[str, Any], set[str], str]] = {}
        self._members: ByType[Members] = ByType({})
        self._visits: ByType[Visit] = ByType({cls: rule.visit for cls, rule in RULES.items()})
        # Classes that the call could reach when it began.
        self.classes: ByType[None] = ByType({})
        # For each class of modules: whether Lucid's own code runs them.
        self.own_modules: ByType[bool] = ByType({})
        self.uses_abstract_classes = False
        # C functions with effects. The watch sees a call by Python code, but not one by C code that was passed the
        # function.
        self.impure: list[tuple[str, str | None, str]] = []
        self.passed: set[str] = set()
        # The same without code that takes locks for its own sake.
        self.passed_on: set[str] = set()
        self.locks: list[tuple[str, str | None, str]] = []
        # Strings in the code, which may name attributes.
        self.texts: set[str] = set()
        # Types of which some methods are impure.
        self.kinds: ByType[None] = ByType({})
        # Arrays and views, and the name of the attribute that gives what is behind them.
        self.views: list[tuple[Any, str, str]] = []
        self.deques: list[tuple[Any, str]] = []
        self.streams: list[tuple[Any, str]] = []
        # Lists with too many items to be compared at each call.
        self.long_lists: list[tuple[list[Any], str]] = []
        self.uses_numpy = False
        # Whether there are hooks that would run during backward and were not visited.
        self.skips_hooks = False
        self.uses_dates = False
        # Whether code compares constants by `is`.
        self.compares_identity = False
        # Modules that code imports, and those of libraries of which everything has been visited, by id.
        self.imported: set[int] = set()
        self.opened: set[int] = set()
        # Whether seeds are left: functions that ran but that no walk had found, of libraries and of users.
        self._seeds = [False, True]

    # The walk itself.

    def start(self, value: Any, place: str, holder: Any = None, name: str | None = None) -> None:
        """Adds a value from which to walk. `refer` says what holder and name are."""
        self.refer(value, place, holder, name)
        self._pending.append((value, place))

    def refer(self, value: Any, place: str, holder: Any = None, name: str | None = None) -> None:
        """Notes that a holder, by default the object that is being visited, refers to a value. The name, or else the
        place, tells its references apart."""
        cls = type(value)
        if cls in _COUNTED or derives(cls, lucid.Tensor):
            holder = self._holder if holder is None else holder
            self.references.setdefault(id(value), {})[id(holder), name or place] = place

    def run(self) -> WalkResult:
        """Walks until nothing new is found, then guards what was found."""
        visit_generator(self, None, "the default generator")
        self._visit_tensor_class()
        for entries, names in self.knowledge.own_globals.values():
            for key in names & patched(entries):
                self.start(entries[key], key)
        hooks, backward_hooks = _core.global_hook_functions()
        for function in hooks:
            self.start(function, "the hooks of all modules")
        self.backward_hooks(backward_hooks, "all modules")
        looked_up: set[str] = set()
        saw_all = False
        instances: list[Instance] = []
        classes: list[type] = []
        while self._has_work(looked_up):
            while self._pending:
                self._visit(*self._pending.pop())
            # New objects are searched for all names, known objects for new names only.
            names, all_names = set(self.names), self.knowledge.all_names
            fresh = names - looked_up
            if fresh or all_names != saw_all:
                for instance in instances:
                    self._look_up(instance, fresh, all_names)
                for cls in classes:
                    self._look_up_class(cls, fresh, all_names)
            looked_up, saw_all = names, all_names
            for view, place, name in self.views:
                if name in names or all_names:
                    self.start(getattr(view, name), f"{place}.{name}")
            self.views = [] if all_names else [view for view in self.views if view[2] not in names]
            if all_names:
                open_modules(self, (*instances, *self._new_instances))
            instances += self._new_instances
            classes += self._new_classes
            new_instances, self._new_instances = self._new_instances, []
            new_classes, self._new_classes = self._new_classes, []
            for instance in new_instances:
                self._look_up(instance, names, all_names)
            for cls in new_classes:
                self._look_up_class(cls, names, all_names)
            if not self._pending:
                identify_arguments(self)
        self.instances = instances
        refuse_hashes_of_arguments(self)
        refuse_impure_functions(self)
        add_guards(self)
        return found_by(self)

    def backward_hooks(self, hooks: list[Any], place: str) -> None:
        """Visits hooks that run during backward, if a call that was recorded has run it."""
        if hooks and not self.knowledge.runs_backward:
            self.skips_hooks = True
            return
        for hook in hooks:
            self.start(hook, f"a hook of {place}")

    def _has_work(self, looked_up: set[str]) -> bool:
        if self._pending or self._new_instances or self._new_classes or self.names != looked_up:
            return True
        # Code of libraries may lead to other functions.
        while self._seeds and not self._pending:
            of_libraries = self._seeds.pop()
            for code, functions in self.knowledge.functions.items():
                if is_library(code) is not of_libraries:
                    continue
                # C code has called it, and keeps it in a place that cannot be guarded.
                if code not in self.codes and not of_libraries:
                    self.refuse("", f"runs {printable(code.co_qualname)}, which was not found before the call")
                for function in functions:
                    self.start(function.get(), printable(code.co_qualname))
        return bool(self._pending)

    def _visit_tensor_class(self) -> None:
        """Guards the class Tensor, and visits what programs have put there."""
        self.guarded_classes[lucid.Tensor] = "Tensor"
        for name, value in list(_core.class_dict(lucid.Tensor).items()):
            if _TENSOR_ATTRIBUTES.get(name) is not value:
                self.start(value, f"Tensor.{name}")

    def refuse(self, place: str, reason: str) -> None:
        """Notes that something cannot be guarded."""
        self.reasons.append((place, reason))

    # Looking up names in known and in new objects.

    def _look_up(self, instance: Instance, names: set[str], all_names: bool) -> None:
        self._holder = instance.object
        entries = instance.dict
        everything = (all_names or instance.whole) and not instance.is_closed
        if entries is not None:
            if instance.by_path and not _core.has_only_names(entries):
                self.refuse(instance.place, f"takes {instance.place}, whose attributes do not all have plain names")
            for name, value in list(entries.items()):
                if everything or (type(name) is str and name in names):
                    self._attribute(instance, value, name)
        for name, member in instance.members:
            if (everything and name not in ONLY_NAMED) or name in names:
                try:
                    value = member.__get__(instance.object)
                except AttributeError:
                    continue
                self._attribute(instance, value, name)

    def _attribute(self, instance: Instance, value: Any, name: str) -> None:
        place = f"{instance.place}.{printable(name)}"
        if instance.whole and type(value) is types.BuiltinFunctionType:
            # The names in the code that uses it are not collected.
            self.passed.add(name)
        if instance.by_path:
            visit_argument(self, value, place, Where.FIELD if name in instance.fields else Where.INSIDE, name)
        elif is_output(instance.object, name, value):
            visit_output(self, value, place)
        else:
            self.start(value, place, name=name)

    def _look_up_class(self, cls: type, names: set[str], all_names: bool) -> None:
        self._holder = cls
        place = self.guarded_classes[cls]
        of_library = _type_tables.library_of(cls) in _LIBRARY_CLASSES
        for name, value in list(_core.class_dict(cls).items()):
            if type(value) is types.MemberDescriptorType:
                continue
            # Operators and the like call special methods that no code names.
            is_implicit = name.startswith("__") and is_object(value)
            if name.startswith("__") and is_function_of_module(value) and (reason := reason_for(value)) is not None:
                self.refuse(name, f"may call {place}.{name}, which {reason}")
            if not (name in names or all_names or is_implicit or self._ran(value)):
                continue
            if of_library and (
                type(value) in _OF_LIBRARIES
                or (type(value) is FunctionType and is_library_file(value.__code__.co_filename))
            ):
                continue
            self.start(value, f"{place}.{name}")

    def _ran(self, value: Any) -> bool:
        if type(value) is staticmethod or type(value) is classmethod:
            value = value.__func__
        elif type(value) is property:
            value = value.fget
        return type(value) is FunctionType and value.__code__ in self.knowledge.ran

    def add_instance(self, value: Any, place: str, *, whole: bool = False, by_path: bool = False) -> Instance:
        """Guards the attributes of an object: those that code names, or all of them if `whole`."""
        members = self._members.get(type(value))
        if members is None:
            members = self._members[type(value)] = members_of(type(value))
        instance = Instance(value, place, members, whole, by_path)
        self._new_instances.append(instance)
        return instance

    # Visiting values. The visitors for most kinds are in _values.py.

    def _visit(self, value: Any, place: str) -> None:
        cls = type(value)
        if cls in ATOMS:
            return
        if id(value) in self.seen:
            return
        self.seen[id(value)] = value
        if len(self.seen) > _MAX_OBJECTS:
            if len(self.seen) == _MAX_OBJECTS + 1:
                self.refuse(place, f"can reach more than {_MAX_OBJECTS} objects")
            return
        visit = self._visits.get(cls)
        if visit is None:
            visit = self._visits[cls] = rule_for(cls).visit
        self._holder = value
        visit(self, value, place)

    def add_function(self, function: FunctionType, place: str) -> None:
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
                    self.start(cell, place)
            return
        self.guards.function(function, place)
        self.add_instance(function, place)
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
        code, knowledge = function.__code__, self.knowledge
        if is_numpy(code) or ((knowledge.only_ran_code or is_library(code)) and code not in knowledge.ran):
            return False
        named = named_by(code)
        if "__annotations__" in named.attributes and not is_library(code):
            self.refuse("__annotations__", "reads __annotations__, which may change unseen")
        if not self.compares_identity and not is_library(code):
            self.compares_identity = any(not is_singleton(function, names) for names in named.identities)
        for name in sorted(_FRAMES & named.attributes):
            self.refuse(name, f"reads {name}, which shows variables that are not guarded")
        self.codes |= named.codes
        self.names |= named.attributes
        self.appended |= named.appended
        self.filled |= named.filled
        self.counted |= named.counted
        self.assigned |= named.assigned
        self.used |= named.used
        for ours, theirs in ((self.steps, named.steps), (self.tests, named.tests)):
            for name, found in theirs.items():
                ours.setdefault(name, set()).update(found)  # type: ignore[arg-type]
        self.passed |= named.passed
        if not is_caching(code):
            self.passed_on |= named.passed
        self.texts |= named.texts
        knowledge.all_names = knowledge.all_names or named.reflects
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
        _, wanted, _ = self.globals.setdefault(id(entries), (entries, set(), "global "))
        _, shadowed, _ = self.globals.setdefault(id(builtins), (builtins, set(), "builtin "))
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
        _, wanted, _ = self.globals.setdefault(id(sys.modules), (sys.modules, set(), "module "))
        for candidate in candidates:
            while candidate:
                wanted.add(candidate)
                if (module := sys.modules.get(candidate)) is not None:
                    self.imported.add(id(module))
                    self.start(module, candidate)
                candidate = candidate.rpartition(".")[0]

    def add_class(self, cls: type, place: str) -> None:
        """Guards a class, the classes that it derives from, and its metaclass."""
        if cls in self.classes:
            return
        self.classes[cls] = None
        if cls is operator.attrgetter or cls is operator.methodcaller:
            self.knowledge.all_names = True
        module = _type_tables.module_of(cls)
        self.uses_numpy = self.uses_numpy or module.split(".")[0] == "numpy"
        self.uses_dates = self.uses_dates or module == "datetime"
        metaclass = type(cls)
        if derives(metaclass, abc.ABCMeta):
            self.uses_abstract_classes = True
        if metaclass not in _OWN_METACLASSES:
            self.add_class(metaclass, simple_name_of(metaclass))
        if not _type_tables.is_heap_class(cls) and derives(cls, datetime.date, datetime.time):
            self.kinds[cls] = None
        for base in mro_of(cls):
            if not _type_tables.is_heap_class(base):
                if not _type_tables.is_known_type(base):
                    self.refuse(place, f"may create a {name_of(cls)}, whose state cannot be checked")
                continue
            if base not in self.guarded_classes:
                self.guarded_classes[base] = simple_name_of(base)
                self._new_classes.append(base)
