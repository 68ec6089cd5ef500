"""Opaque calls, which a recording cannot see, so the walk refuses them: C functions that C code calls, and texts and
hashes that show addresses of objects."""

from __future__ import annotations

import datetime
import re
import types
from collections.abc import Iterable

import lucid

from .. import _core
from ._code import is_library, named_by
from ._functions import impure_methods, impure_name
from ._members import Instance, hash_of
from ._rules import last_name
from ._type_tables import derives, mro_of, name_of
from ._worklist import Worklist

# Specifications that format numbers by the locale, alone or in a template.
_LOCAL = re.compile(r"^[^{}]{0,2}[-+ ]?#?0?\d*[,_]?(\.\d+)?n$|:[^{}]*n\}")
# Texts that NumPy parses as the current time.
_CLOCK = {"now", "today"}


def open_modules(work: Worklist, instances: Iterable[Instance]) -> None:
    """Visits everything in modules of libraries that may be passed to a function that takes names as strings."""
    facts, code = work.facts, work.facts.code
    for instance in instances:
        if not instance.is_closed or id(instance.object) in facts.opened:
            continue
        name = last_name(instance.source)
        if name is not None and name not in code.passed and id(instance.object) not in facts.imported:
            continue
        facts.opened.add(id(instance.object))
        is_own = (instance.dict or {}).get("__name__", "").startswith("lucid.")
        for name, value in (instance.dict or {}).items():
            # Every module has these.
            if name in ("__builtins__", "__loader__", "__spec__") and name not in code.texts:
                continue
            source = f"{instance.source}.{name}"
            if type(value) is types.BuiltinFunctionType and (impure := impure_name(value)) is not None:
                work.refuse(source, f"may call {impure}")
            elif type(value) is types.ModuleType and not is_own:
                facts.imported.add(id(value))
            work.start(value, source)


def identify_arguments(work: Worklist) -> None:
    """Guards the identity of arguments whose address code may read, instead of their contents."""
    if not any(named_by(code).shows_values for code in work.facts.code.codes if not is_library(code)):
        return
    for instance in list(work.facts.arguments.values()):
        if instance is None or id(instance.object) in work.facts.seen:
            continue
        cls = type(instance.object)
        if not derives(cls, lucid.Tensor) and not (_defines(cls, "__repr__") and _defines(cls, "__hash__")):
            work.start(instance.object, instance.source)


def refuse_impure_functions(work: Worklist) -> None:
    """Refuses C functions and methods with effects that code does more with than call them."""
    facts, code = work.facts, work.facts.code
    passed = code.passed | code.texts if work.profile.all_names else code.passed
    for source, name, reason in facts.impure:
        # Operators and the like call special methods. Classes whose instances may be made are checked by themselves.
        is_special = name is not None and name.startswith("__") and name != "__new__" and "." in source
        if name is None or is_special or name in passed:
            work.refuse(source, reason)
    for source, name, reason in facts.locks:
        if name is None or name in code.passed_on:
            work.refuse(source, reason)
    if "__subclasses__" in passed:
        work.refuse("__subclasses__", "may call __subclasses__")
    formats = any(named_by(each).formats for each in code.codes if not is_library(each))
    if formats and any(_LOCAL.search(text) for text in code.texts):
        work.refuse("", "may format a number as the locale says")
    for cls in sorted(facts.kinds, key=name_of):
        names = sorted(impure_methods(cls) & passed)
        if names:
            work.refuse(names[0], f"may call {name_of(cls)}.{names[0]}")
        elif work.profile.all_names and derives(cls, datetime.date, datetime.time):
            work.refuse("", f"may call a method of {name_of(cls)} by a name that is not in the code")
    if facts.uses_numpy and not _CLOCK.isdisjoint(code.texts):
        work.refuse("", "may read the clock through NumPy")


def refuse_hashes_of_arguments(work: Worklist) -> None:
    """Hashes of objects are addresses, which differ from call to call. The order of a set depends on them."""
    if not any(named_by(code).uses_hashes for code in work.facts.code.codes if not is_library(code)):
        return
    for instance in work.facts.arguments.values():
        if instance is not None and hash_of(type(instance.object)) is object.__hash__:
            work.refuse(instance.source, f"may use the hash of {instance.source}, which depends on its address")


def _defines(cls: type, name: str) -> bool:
    """Whether a class, or one that it derives from, defines what `object` defines too."""
    return any(name in _core.class_dict(base) for base in mro_of(cls) if base is not object)
