"""Guards for what a walk has found."""

from __future__ import annotations

import abc
import collections
import functools
import gc
import types
from typing import Any

import lucid

from .. import _core
from . import _streams, _type_tables
from ._code import MAX_INTEGER, Test
from ._facts import Facts
from ._members import ONLY_NAMED, is_container
from ._stores import refuse_long_lists
from ._type_tables import derives, gradient_of, name_of, type_set
from ._walk_result import State, WalkResult

# Types whose instances C code compares or prints with their contents.
_SHOWN: tuple[type, ...] = (
    list,
    tuple,
    dict,
    set,
    frozenset,
    collections.deque,
    functools.partial,
    types.SimpleNamespace,
    types.MappingProxyType,
    types.MethodType,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)


def add_guards(facts: Facts, guards: _core.GuardSet, *, all_names: bool) -> None:
    """Guards what a walk has found and the rules have not guarded. `all_names`: code may read any attribute."""
    names = frozenset(facts.code.names)
    called = facts.code.only_called
    tested = frozenset() if all_names else facts.code.only_tested
    for entries, wanted, source in facts.globals.values():
        if not _core.has_only_names(entries):
            facts.refuse(source, f"reads {source}names from a dict whose keys are not all strings")
            continue
        guards.named(entries, frozenset(wanted), source, "global")
    for instance in facts.instances:
        if instance.by_path:
            continue
        source = instance.source
        reads_all = all_names or instance.whole
        if not instance.is_module:
            guards.instance(instance.object, source)
        if instance.dict is not None:
            if reads_all:
                guards.whole(instance.dict, source, "attribute")
            elif _core.has_only_names(instance.dict):
                guards.named(instance.dict, names, source, "attribute")
                # The value of a number that is only called does not matter: each raises the same error.
                for name in called & instance.dict.keys():
                    guards.accept_numbers(instance.dict, name)
                # For a number that is only tested, the outcomes are compared.
                for name in sorted(tested & instance.dict.keys()):
                    _guard_tests(facts.code.tests[name], guards, instance.dict, name, f"{source}.{name}")
            else:
                facts.refuse(source, f"reads attributes of {source}, whose names are not all strings")
        for name, member in instance.members:
            is_read = name in names or (reads_all and name not in ONLY_NAMED)
            if is_read and type(member) is types.MemberDescriptorType:
                guards.slot(instance.object, member, f"{source}.{name}")
    reads_gradients = all_names or facts.code.reads_gradients
    guards.tensors(facts.visible, reads_gradients)
    for tensor, source in facts.visible if reads_gradients else ():
        found = type(gradient_of(tensor))
        if found not in (lucid.Tensor, type(None)):
            facts.refuse(source, f"may read the gradient of {source}, a {name_of(found)}")
    guards.bare(facts.bare, None if all_names else names)
    for cls, source in facts.guarded_classes.items():
        guards.class_(cls, source)
    if all_names or "maxlen" in names:
        read: Any = _core.class_dict(collections.deque)["maxlen"].__get__
        for value, source in facts.deques:
            guards.call(functools.partial(read, value), f"{source}.maxlen")
    if all_names or not _streams.ATTRIBUTES.isdisjoint(names):
        for value, source in facts.streams:
            guards.call(functools.partial(_streams.attributes_of, value), f"an attribute of {source}")
    guards.global_hooks()
    if facts.uses_numpy:
        if (mode := _type_tables.numpy_error_mode()) is not None:
            guards.context(mode, "NumPy's error mode")
        # NumPy warns where it does not raise.
        guards.call(_core.warning_filters, "the warning filters")
    if facts.uses_dates:
        for text in _type_tables.LOCAL_TEXTS:
            guards.call(text, "the locale or the time zone")
    guards.compare_identity(facts.code.compares_identity)
    if facts.uses_abstract_classes:
        guards.call(abc.get_cache_token, "the classes registered with abstract ones")


def _guard_tests(tests: set[Test], guards: _core.GuardSet, entries: dict[str, Any], name: str, source: str) -> None:
    value = entries[name]
    if type(value) is int and abs(value) < MAX_INTEGER:
        guards.accept_numbers(entries, name)
        guards.test((0, entries, name, 0), source, list(tests), value, 0)


def _shown(facts: Facts) -> frozenset[int]:
    """The ids of objects that C code compares and prints with their contents: those whose attributes are all guarded,
    and the containers in them. Modules are left out: Lucid's own modules keep what they read in C++."""
    whole = [each for each in facts.instances if each.whole and not each.is_module]
    pending = [value for each in whole for value in (each.object, each.dict)]
    shown: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) not in shown:
            shown.add(id(value))
            pending += (each for each in gc.get_referents(value) if derives(type(each), *_SHOWN))
    return frozenset(shown)


def result_of(facts: Facts, guards: _core.GuardSet, *, all_names: bool) -> WalkResult:
    """The result of a walk that has found these facts."""
    containers = [value for value in facts.seen.values() if is_container(type(value))]
    guards.know(containers)
    code = facts.code

    def only(names: set[str]) -> frozenset[str]:
        # Code that looks names up at run time may do anything with their values.
        return frozenset() if all_names else code.only_stored(names)

    state = State(
        tensors=facts.tensors,
        objects=frozenset(facts.seen),
        classes=facts.classes,
        containers=type_set(*map(type, containers)),
        codes=frozenset(code.codes),
        names=frozenset(code.names),
        reads_gradients=code.reads_gradients,
        compares_identity=code.compares_identity,
        skips_hooks=facts.skips_hooks,
        references=facts.references,
        shown=_shown(facts),
        appended=only(code.appended),
        filled=only(code.filled),
        counted=only(code.counted),
        assigned=only(code.assigned),
        steps=dict(code.steps),
        tests=dict(code.tests),
    )
    found = WalkResult(state, guards, facts.reasons, facts.arguments, facts.containers, facts.held)
    refuse_long_lists(facts.long_lists, found)
    return found
