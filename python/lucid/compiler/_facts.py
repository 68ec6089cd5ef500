"""What a walk finds. Rules fill it in; guards and the result of the walk are made from it.

The source of an object is a text that says where code reads it, such as `closure box.items[0]`.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import lucid

from ._code import Named, Test
from ._members import Instance
from ._type_tables import ByType

# By id of a tensor or a container: the references to it and their sources. A reference is the id of its holder and
# what tells it from other references there. Arguments hold containers, too.
References = dict[int, dict[tuple[int, str], str]]
# Tensors and their sources, by id.
Tensors = dict[int, tuple[lucid.Tensor, str]]

# Attributes that C code reads although no code names them.
_BASE_NAMES = {"forward", "__call__", "__getattr__", "__bases__"}


@dataclass
class CodeFacts:
    """The names in all code that may run. `Named` says what the sets hold."""

    codes: set[CodeType] = field(default_factory=set)
    names: set[str] = field(default_factory=lambda: set(_BASE_NAMES))
    texts: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    # `passed`, without code that takes locks for its own sake.
    passed_on: set[str] = field(default_factory=set)
    appended: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=lambda: set(_BASE_NAMES))
    steps: dict[str, set[int]] = field(default_factory=lambda: collections.defaultdict(set))
    tests: dict[str, set[Test]] = field(default_factory=lambda: collections.defaultdict(set))
    # Whether code compares constants by `is`.
    compares_identity: bool = False

    def add(self, named: Named, *, is_caching: bool) -> None:
        """Adds the names in a code object."""
        self.codes |= named.codes
        self.names |= named.attributes
        self.texts |= named.texts
        self.passed |= named.passed
        if not is_caching:
            self.passed_on |= named.passed
        self.appended |= named.appended
        self.filled |= named.filled
        self.counted |= named.counted
        self.assigned |= named.assigned
        self.used |= named.used
        for name, steps in named.steps.items():
            self.steps[name] |= steps
        for name, tests in named.tests.items():
            self.tests[name] |= tests

    @property
    def only_called(self) -> frozenset[str]:
        """The names with which code does nothing but call their values."""
        return frozenset(self.names.difference(self.used, self.texts, *self._stores, self.tests))

    @property
    def reads_gradients(self) -> bool:
        """Whether code may read or write the attribute `grad` of a tensor. `lucid.autograd.grad(y, x)` does not: a
        gradient cannot be called."""
        return "grad" in self.names - self.only_called

    @property
    def only_tested(self) -> frozenset[str]:
        """The names with which code does nothing but test their values."""
        return frozenset(self.tests.keys() - self.used.union(self.texts, *self._stores))

    def only_stored(self, names: set[str]) -> frozenset[str]:
        """The names in one of the sets `appended`, `filled`, `counted` and `assigned` with which code does nothing
        else. A counter may be tested."""
        others = [each for each in self._stores if each is not names]
        tested = () if names is self.counted else self.tests
        return frozenset(names.difference(self.used, self.texts, *others, tested))

    @property
    def _stores(self) -> tuple[set[str], ...]:
        return self.appended, self.filled, self.counted, self.assigned


@dataclass
class Facts:
    """What a walk finds."""

    code: CodeFacts = field(default_factory=CodeFacts)
    # What cannot be guarded: its source, and the reason.
    reasons: list[tuple[str, str]] = field(default_factory=list)
    # All objects, by id.
    seen: dict[int, Any] = field(default_factory=dict)
    # The objects whose attributes are guarded by name.
    instances: list[Instance] = field(default_factory=list)
    # The objects among the arguments, and the containers among them and in their attributes, by id.
    arguments: dict[int, Instance] = field(default_factory=dict)
    containers: set[int] = field(default_factory=set)
    # The tensors that arguments hold other than as items of lists, tuples and dicts, by id.
    held: set[int] = field(default_factory=set)
    # By id of a dict: the dict, the names that code reads there, and the prefix of their sources.
    globals: dict[int, tuple[dict[str, Any], set[str], str]] = field(default_factory=dict)

    tensors: Tensors = field(default_factory=dict)
    references: References = field(default_factory=dict)
    # Tensors that code can access.
    visible: list[tuple[lucid.Tensor, str]] = field(default_factory=list)
    # Parameters without Python attributes, the common case.
    bare: list[tuple[lucid.Tensor, str]] = field(default_factory=list)

    # Classes that the call could reach when it began; and those of them, and of their bases, that Python code defines.
    classes: ByType[None] = field(default_factory=lambda: ByType({}))
    guarded_classes: ByType[str] = field(default_factory=lambda: ByType({}))
    # Types that the call may reach and that have impure methods. If code passes the name of such a method to other
    # code, the call runs eagerly.
    kinds: ByType[None] = field(default_factory=lambda: ByType({}))

    # C functions with effects: the source, its last name, and the reason. The watch sees calls by Python code, but not
    # calls by C code that was passed the function.
    impure: list[tuple[str, str | None, str]] = field(default_factory=list)
    locks: list[tuple[str, str | None, str]] = field(default_factory=list)

    # Arrays and views, and the name of the attribute that gives what is behind them.
    views: list[tuple[Any, str, str]] = field(default_factory=list)
    deques: list[tuple[Any, str]] = field(default_factory=list)
    streams: list[tuple[Any, str]] = field(default_factory=list)
    # Lists with too many items to be compared at each call.
    long_lists: list[tuple[list[Any], str]] = field(default_factory=list)

    # Modules that code imports, and those of libraries of which everything was visited, by id.
    imported: set[int] = field(default_factory=set)
    opened: set[int] = field(default_factory=set)

    uses_abstract_classes: bool = False
    uses_dates: bool = False
    uses_numpy: bool = False
    # Whether there are hooks that would run during backward and were not visited.
    skips_hooks: bool = False

    def refuse(self, source: str, reason: str) -> None:
        """Adds a reason why the call cannot be guarded."""
        self.reasons.append((source, reason))
