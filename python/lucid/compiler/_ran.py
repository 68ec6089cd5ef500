"""Guards what functions of Lucid and NumPy depend on that ran in a call: programs may replace it."""

from __future__ import annotations

import functools
import types
from types import CodeType
from typing import Any

from .. import _core
from ._code import is_numpy, is_own, named_by
from ._code_profile import CodeProfile
from ._type_tables import derives, is_heap_class, mro_of, simple_name_of
from ._walk_result import WalkResult

Ran = list[tuple[CodeType, Any]]


def guard_numpy(found: WalkResult, ran: Ran) -> None:
    """Guards the globals that NumPy's functions name, and attributes of modules among them. Nothing behind them is
    visited."""
    named: dict[int, tuple[dict[str, Any], set[str]]] = {}
    for code, function in ran:
        if type(function) is types.FunctionType and is_numpy(code):
            entries, uses = function.__globals__, named_by(code)
            named.setdefault(id(entries), (entries, set()))[1].update(uses.globals)
            for module in (entries.get(name) for name in uses.globals):
                if type(module) is types.ModuleType:
                    named.setdefault(id(vars(module)), (vars(module), set()))[1].update(uses.attributes)
    for entries, names in named.values():
        if new := _not_guarded(found, entries, names):
            found.guards.named(entries, new, "NumPy's ", "global")


def guard_own(found: WalkResult, profile: CodeProfile, ran: Ran) -> None:
    """Guards functions of Lucid that ran, and the globals that they read."""
    guards = found.guards
    read: dict[int, tuple[dict[str, Any], set[str]]] = {}
    for code, function in ran:
        if is_own(code) and type(function) is types.FunctionType:
            if id(function) not in found.guarded:
                found.guarded.add(id(function))
                guards.function(function, code.co_qualname)
            _, names = read.setdefault(id(function.__globals__), (function.__globals__, set()))
            names.update(code.co_names)
    for entries, names in read.values():
        if not (new := _not_guarded(found, entries, names)):
            continue
        guards.named(entries, new, f"{entries['__name__']}.", "global")
        for value in [entries[name] for name in sorted(names) if name in entries]:
            if type(value) is types.ModuleType:
                guards.named(vars(value), frozenset(names), f"{value.__name__}.", "global")
            elif derives(type(value), type):
                for base in filter(is_heap_class, mro_of(value)):
                    guards.class_(base, simple_name_of(base))
        profile.own_globals.setdefault(id(entries), (entries, set()))[1].update(names)


def _not_guarded(found: WalkResult, entries: dict[str, Any], names: set[str]) -> frozenset[str]:
    """The names whose globals are not guarded yet. From now on they are."""
    new = frozenset(name for name in names if (id(entries), name) not in found.guarded)
    found.guarded.update((id(entries), name) for name in new)
    return new


def root_of(function: Any) -> CodeType | None:
    """The code that a call of a function, method, partial or module runs first."""
    while True:
        if type(function) is types.MethodType:
            function = function.__func__
        elif type(function) is functools.partial:
            function = function.func
        else:
            break
    if type(function) is not types.FunctionType:
        name = "forward" if derives(type(function), _core.Module) else "__call__"
        classes = [_core.class_dict(base) for base in mro_of(type(function))]
        function = next((entries[name] for entries in classes if name in entries), None)
    return function.__code__ if type(function) is types.FunctionType else None
