"""The walk: finds everything that a call can read, before the call, and guards it.

It starts at the function and follows closures, defaults, globals that code names, imports, attributes and containers.
It does not analyze control flow: attribute names are the union over all code that may run, and every reachable object
is guarded at those names. The walk runs no user code.
"""

from __future__ import annotations

import types
from types import FunctionType
from typing import Any

import lucid

from .. import _core
from . import _type_tables
from ._argument_walk import Where, visit_argument
from ._code import is_library, is_library_file
from ._functions import impure_name
from ._guarding import add_guards, result_of
from ._members import ONLY_NAMED, Instance, is_function_of_module, is_object, patched
from ._opaque_calls import identify_arguments, open_modules, refuse_hashes_of_arguments, refuse_impure_functions
from ._rules import RULES, Visit, visit_generator, visit_output
from ._streams import is_output
from ._type_tables import ATOMS, IMMUTABLE, ByType, printable, type_set
from ._values import rule_for
from ._walk_result import WalkResult
from ._worklist import Worklist

_MAX_OBJECTS = 20_000
# All attributes of classes of these packages are guarded. Only those that programs have put there are visited: the
# others are code, which matters once it has run.
_LIBRARY_CLASSES = {"lucid", "enum", "abc", "typing", "numbers", "collections", "dataclasses", "functools"}
_OF_LIBRARIES = type_set(property, staticmethod, classmethod, *_type_tables.BUILTIN_DESCRIPTORS, *IMMUTABLE)

# The attributes of the class as they are when Lucid is imported.
_TENSOR_ATTRIBUTES = dict(_core.class_dict(lucid.Tensor))


class Walk:
    """One walk: takes values from a worklist until nothing new is found."""

    def __init__(self, work: Worklist) -> None:
        self._work = work
        self._facts = work.facts
        self._visits: ByType[Visit] = ByType({cls: rule.visit for cls, rule in RULES.items()})
        # The names that are looked up in every object, and whether all are. New objects are searched for all names,
        # known objects for new names only.
        self._names: set[str] = set()
        self._all_names = False
        self._classes: list[type] = []
        # Seeds not visited yet: functions that ran but were not found statically, of libraries and of users.
        self._seeds = [False, True]

    def run(self) -> WalkResult:
        """Walks until nothing new is found, then guards what was found."""
        work, facts = self._work, self._facts
        visit_generator(work, None, "the default generator")
        self._visit_tensor_class()
        for entries, names in work.profile.own_globals.values():
            for key in names & patched(entries):
                work.start(entries[key], key)
        hooks, backward_hooks = _core.global_hook_functions()
        for function in hooks:
            work.start(function, "the hooks of all modules")
        work.backward_hooks(backward_hooks, "all modules")
        while self._has_work():
            while work.values:
                self._visit(*work.values.pop())
            self._look_up_names()
            if not work.values:
                identify_arguments(work)
        refuse_hashes_of_arguments(work)
        refuse_impure_functions(work)
        add_guards(facts, work.guards, all_names=work.profile.all_names)
        return result_of(facts, work.guards, all_names=work.profile.all_names)

    def _has_work(self) -> bool:
        work, facts = self._work, self._facts
        if work.values or work.instances or work.classes or facts.code.names != self._names:
            return True
        # Code of libraries may lead to other functions.
        while self._seeds and not work.values:
            of_libraries = self._seeds.pop()
            for code, functions in work.profile.functions.items():
                if is_library(code) is not of_libraries:
                    continue
                # C code has called it, and keeps it where no guard looks.
                if code not in facts.code.codes and not of_libraries:
                    work.refuse("", f"runs {printable(code.co_qualname)}, which was not found before the call")
                for function in functions:
                    work.start(function.get(), printable(code.co_qualname))
        return bool(work.values)

    def _visit_tensor_class(self) -> None:
        """Guards the class Tensor, and visits what programs have put there."""
        self._facts.guarded_classes[lucid.Tensor] = "Tensor"
        for name, value in list(_core.class_dict(lucid.Tensor).items()):
            if _TENSOR_ATTRIBUTES.get(name) is not value:
                self._work.start(value, f"Tensor.{name}")

    def _look_up_names(self) -> None:
        work, facts = self._work, self._facts
        names, all_names = set(facts.code.names), work.profile.all_names
        fresh = names - self._names
        if fresh or all_names != self._all_names:
            for instance in facts.instances:
                self._look_up(instance, fresh, all_names)
            for cls in self._classes:
                self._look_up_class(cls, fresh, all_names)
        self._names, self._all_names = names, all_names
        for view, source, name in facts.views:
            if name in names or all_names:
                work.start(getattr(view, name), f"{source}.{name}")
        facts.views = [] if all_names else [view for view in facts.views if view[2] not in names]
        if all_names:
            open_modules(work, (*facts.instances, *work.instances))
        instances, work.instances = work.instances, []
        classes, work.classes = work.classes, []
        facts.instances += instances
        self._classes += classes
        for instance in instances:
            self._look_up(instance, names, all_names)
        for cls in classes:
            self._look_up_class(cls, names, all_names)

    def _look_up(self, instance: Instance, names: set[str], all_names: bool) -> None:
        self._work.holder = instance.object
        entries = instance.dict
        everything = (all_names or instance.whole) and not instance.is_closed
        if entries is not None:
            if instance.by_path and not _core.has_only_names(entries):
                self._work.refuse(
                    instance.source, f"takes {instance.source}, whose attributes do not all have plain names"
                )
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
        source = f"{instance.source}.{printable(name)}"
        if instance.whole and type(value) is types.BuiltinFunctionType:
            # The names in the code that uses it are not collected.
            self._facts.code.passed.add(name)
        if instance.by_path:
            visit_argument(self._work, value, source, Where.FIELD if name in instance.fields else Where.INSIDE, name)
        elif is_output(instance.object, name, value):
            visit_output(self._work, value, source)
        else:
            self._work.start(value, source, name=name)

    def _look_up_class(self, cls: type, names: set[str], all_names: bool) -> None:
        self._work.holder = cls
        source = self._facts.guarded_classes[cls]
        of_library = _type_tables.library_of(cls) in _LIBRARY_CLASSES
        for name, value in list(_core.class_dict(cls).items()):
            if type(value) is types.MemberDescriptorType:
                continue
            # Operators and the like call special methods that no code names.
            is_implicit = name.startswith("__") and is_object(value)
            if name.startswith("__") and is_function_of_module(value) and (impure := impure_name(value)) is not None:
                self._work.refuse(name, f"may call {source}.{name}, which calls {impure}")
            if not (name in names or all_names or is_implicit or self._ran(value)):
                continue
            if of_library and (
                type(value) in _OF_LIBRARIES
                or (type(value) is FunctionType and is_library_file(value.__code__.co_filename))
            ):
                continue
            self._work.start(value, f"{source}.{name}")

    def _ran(self, value: Any) -> bool:
        if type(value) is staticmethod or type(value) is classmethod:
            value = value.__func__
        elif type(value) is property:
            value = value.fget
        return type(value) is FunctionType and value.__code__ in self._work.profile.ran

    def _visit(self, value: Any, source: str) -> None:
        cls = type(value)
        if cls in ATOMS:
            return
        seen = self._facts.seen
        if id(value) in seen:
            return
        seen[id(value)] = value
        if len(seen) > _MAX_OBJECTS:
            if len(seen) == _MAX_OBJECTS + 1:
                self._work.refuse(source, f"can reach more than {_MAX_OBJECTS} objects")
            return
        visit = self._visits.get(cls)
        if visit is None:
            visit = self._visits[cls] = rule_for(cls).visit
        self._work.holder = value
        visit(self._work, value, source)
