"""Guards for what a walk has found."""

from __future__ import annotations

import abc
import collections
import functools
import gc
import types
from typing import TYPE_CHECKING, Any

import lucid

from .. import _core
from . import _streams, _type_tables
from ._code import MAX_INTEGER
from ._members import ONLY_NAMED, is_container
from ._stores import refuse_long_lists
from ._type_tables import derives, gradient_of, name_of, type_set
from ._walk_result import State, WalkResult

if TYPE_CHECKING:
    from ._walk import Walk

# Types that C code compares or shows with what their instances hold.
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


def add_guards(walk: Walk) -> None:
    """Guards every place that the walk has found and not guarded yet."""
    guards, all_names = walk.guards, walk.knowledge.all_names
    names = frozenset(walk.names)
    called = names.difference(walk.used, walk.texts, *_uses(walk))
    tested = frozenset() if all_names else walk.tests.keys() - walk.used - walk.texts.union(*_uses(walk)[:-1])
    for entries, wanted, place in walk.globals.values():
        if not _core.has_only_names(entries):
            walk.refuse(place, f"reads {place}names from a dict whose keys are not all strings")
            continue
        guards.named(entries, frozenset(wanted), place, "global")
    for instance in walk.instances:
        if instance.by_path:
            continue
        place = instance.place
        reads_all = all_names or instance.whole
        if not instance.is_module:
            guards.instance(instance.object, place)
        if instance.dict is not None:
            if reads_all:
                guards.whole(instance.dict, place, "attribute")
            elif _core.has_only_names(instance.dict):
                guards.named(instance.dict, names, place, "attribute")
                # Where a number is only called, which raises the same error for each, its value does not matter.
                for name in called & instance.dict.keys():
                    guards.accept_numbers(instance.dict, name)
                # Of a number that is only tested, the outcomes are compared.
                for name in sorted(tested & instance.dict.keys()):
                    _guard_tests(walk, instance.dict, name, f"{place}.{name}")
            else:
                walk.refuse(place, f"reads attributes of {place}, whose names are not all strings")
        for name, member in instance.members:
            is_read = name in names or (reads_all and name not in ONLY_NAMED)
            if is_read and type(member) is types.MemberDescriptorType:
                guards.slot(instance.object, member, f"{place}.{name}")
    reads_gradients = all_names or "grad" in names
    guards.tensors(walk.visible, reads_gradients)
    for tensor, place in walk.visible if reads_gradients else ():
        found = type(gradient_of(tensor))
        if found not in (lucid.Tensor, type(None)):
            walk.refuse(place, f"may read the gradient of {place}, a {name_of(found)}")
    guards.bare(walk.bare, None if all_names else names)
    for cls, place in walk.guarded_classes.items():
        guards.class_(cls, place)
    if all_names or "maxlen" in names:
        read: Any = _core.class_dict(collections.deque)["maxlen"].__get__
        for value, place in walk.deques:
            guards.call(functools.partial(read, value), f"{place}.maxlen")
    if all_names or not _streams.ATTRIBUTES.isdisjoint(names):
        for value, place in walk.streams:
            guards.call(functools.partial(_streams.attributes_of, value), f"an attribute of {place}")
    guards.global_hooks()
    if walk.uses_numpy:
        if (mode := _type_tables.numpy_error_mode()) is not None:
            guards.context(mode, "NumPy's error mode")
        # NumPy warns where it does not raise.
        guards.call(_core.warning_filters, "the warning filters")
    if walk.uses_dates:
        for text in _type_tables.LOCAL_TEXTS:
            guards.call(text, "the locale or the time zone")
    guards.compare_identity(walk.compares_identity)
    if walk.uses_abstract_classes:
        guards.call(abc.get_cache_token, "the classes registered with abstract ones")


def _guard_tests(walk: Walk, entries: dict[str, Any], name: str, place: str) -> None:
    value = entries[name]
    if type(value) is int and abs(value) < MAX_INTEGER:
        walk.guards.accept_numbers(entries, name)
        walk.guards.test((0, entries, name, 0), place, list(walk.tests[name]), value, 0)


def _uses(walk: Walk) -> tuple[set[str], ...]:
    """The names of what code uses in ways that stores know."""
    return walk.appended, walk.filled, walk.counted, walk.assigned, set(walk.tests)


def _only(walk: Walk, names: set[str]) -> frozenset[str]:
    """The names with which code does nothing else."""
    if walk.knowledge.all_names:
        return frozenset()
    others = [kind for kind in _uses(walk) if kind is not names]
    if names is walk.counted:
        others = others[:-1]  # A counter may be tested.
    return frozenset(names.difference(walk.used, walk.texts, *others))


def _shown(walk: Walk) -> frozenset[int]:
    """The ids of objects that C code compares and shows with all that is in them: those whose attributes are all
    guarded, and the containers below. Not those of modules: Lucid's own modules keep what they read in C++."""
    whole = [each for each in walk.instances if each.whole and not each.is_module]
    pending = [value for each in whole for value in (each.object, each.dict)]
    shown: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) not in shown:
            shown.add(id(value))
            pending += (each for each in gc.get_referents(value) if derives(type(each), *_SHOWN))
    return frozenset(shown)


def found_by(walk: Walk) -> WalkResult:
    """What the walk has found."""
    containers = [value for value in walk.seen.values() if is_container(type(value))]
    walk.guards.know(containers)
    state = State(
        tensors=walk.tensors,
        objects=frozenset(walk.seen),
        classes=walk.classes,
        containers=type_set(*map(type, containers)),
        codes=frozenset(walk.codes),
        names=frozenset(walk.names),
        compares_identity=walk.compares_identity,
        skips_hooks=walk.skips_hooks,
        references=walk.references,
        shown=_shown(walk),
        appended=_only(walk, walk.appended),
        filled=_only(walk, walk.filled),
        counted=_only(walk, walk.counted),
        assigned=_only(walk, walk.assigned),
        steps=walk.steps,
        tests=walk.tests,
    )
    found = WalkResult(state, walk.guards, walk.reasons, walk.arguments, walk.containers, walk.held)
    refuse_long_lists(walk.long_lists, found)
    return found
