"""The result of a walk, and the memory of it for the next recording of the same function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

import lucid

from .. import _core
from ..optim import Optimizer
from ._code import Test
from ._code_profile import CodeProfile
from ._facts import References, Tensors
from ._members import Instance
from ._type_tables import ATOMS, ByType, derives, type_set


@dataclass(frozen=True)
class State:
    """What a call could reach when it began, except by its arguments."""

    tensors: Tensors
    # The ids of the objects.
    objects: frozenset[int]
    classes: ByType[None]
    # The types of the containers among the objects.
    containers: ByType[None]
    codes: frozenset[CodeType]
    # The attributes that code names.
    names: frozenset[str]
    # Whether code may read or write the attribute `grad` of a tensor.
    reads_gradients: bool
    # Whether code compares constants by `is`.
    compares_identity: bool
    # Whether there are hooks that would run during backward and were not visited.
    skips_hooks: bool
    references: References
    # The ids of objects that C code may read without naming what is in them.
    shown: frozenset[int]
    # Names with whose values code does one thing only: it appends to a list, appends to the items of a container,
    # counts a number up or down, or assigns.
    appended: frozenset[str]
    filled: frozenset[str]
    counted: frozenset[str]
    assigned: frozenset[str]
    # The steps by which code counts names, and the tests of names.
    steps: dict[str, set[int]]
    tests: dict[str, set[Test]]


@dataclass
class WalkResult:
    """What one walk found."""

    state: State
    guards: _core.GuardSet
    # What cannot be guarded: its source, and the reason.
    reasons: list[tuple[str, str]] = field(default_factory=list)
    # The objects among the arguments, and the containers among them and in their attributes, by id.
    arguments: dict[int, Instance] = field(default_factory=dict)
    containers: set[int] = field(default_factory=set)
    # The tensors that arguments hold other than as items of lists, tuples and dicts, by id.
    held: set[int] = field(default_factory=set)
    # What is guarded of Lucid and NumPy: the ids of functions, and the dict's id and the name of globals.
    guarded: set[Any] = field(default_factory=set)


class Memory:
    """The memory of a walk. It belongs to the guards of a plan: as long as they hold, a walk from arguments of the same
    structure would find the same again. The guards also own the objects that were found."""

    def __init__(self, found: WalkResult, seen: dict[int, Any], structure: bytes, profile: CodeProfile) -> None:
        state = found.state
        self._structure = structure
        # Without references to objects of the program.
        self._state = replace(state, tensors={}, classes=type_set(), containers=type_set())
        self._sources = [source for _, source in state.tensors.values()]
        self._classes, self._containers = len(state.classes), len(state.containers)
        self.update(found, profile)
        # Kept alive, so that their ids are not used again. Guards refer weakly to modules and optimizers, and do not
        # hold when they are gone.
        objects = [value for value in seen.values() if not derives(type(value), _core.Module, Optimizer)]
        tensors = [tensor for tensor, _ in state.tensors.values()]
        found.guards.remember(self, [*tensors, *state.classes, *state.containers, *objects])

    def update(self, found: WalkResult, profile: CodeProfile) -> None:
        """Adds what a recording without obstacles has guarded. The walk found all code that it ran."""
        self._guarded = found.guarded
        self._known = profile.size()

    def recall(self, guards: _core.GuardSet, structure: bytes, profile: CodeProfile) -> WalkResult | None:
        """The cached walk result, or None if it may be stale. `guards` own this memory."""
        if structure != self._structure or profile.size() != self._known or not guards.holds_state():
            return None
        objects, sources = guards.remembered, self._sources
        # Plans compare hooks, not guards.
        if have_hooks(objects[: len(sources)]):
            return None
        copied = _core.GuardSet()
        copied.add_state_of(guards)
        copied.remember(self, objects)
        classes = objects[len(sources) : len(sources) + self._classes + self._containers]
        state = replace(
            self._state,
            tensors={id(tensor): (tensor, source) for tensor, source in zip(objects, sources)},
            classes=type_set(*classes[: self._classes]),
            containers=type_set(*classes[self._classes :]),
        )
        return WalkResult(state, copied, guarded=set(self._guarded))


def have_hooks(tensors: Iterable[lucid.Tensor]) -> bool:
    """Whether one of these tensors has gradient hooks."""
    return any(_core.tensor_hooks(tensor) for tensor in tensors)


def add_containers(values: Iterable[Any], containers: set[int]) -> bool:
    """Adds the ids of the containers among arguments. Returns whether the arguments are only tensors, numbers, texts,
    and lists, tuples and dicts of these: a walk finds nothing else there."""
    for value in values:
        cls = type(value)
        if cls is list or cls is tuple or cls is dict:
            containers.add(id(value))
            if not add_containers(value, containers):
                return False
            if cls is dict and not add_containers(value.values(), containers):
                return False
        elif have_hooks([value]) if cls is lucid.Tensor else cls not in ATOMS:
            return False
    return True
