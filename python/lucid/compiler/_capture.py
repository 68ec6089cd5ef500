"""Finds what a call reads of Python's state, so that a plan made from it is never stale.

capture = Capture(function)
recording = capture.begin(args, kwargs)
with recording:
    result = function(*args, **kwargs)
outcome = recording.finish(result)
"""

from __future__ import annotations

import functools
import gc
import re
import sys
import types
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Self

import lucid

from .. import _core, _effects
from . import _kinds
from ._arguments import Contents, Descriptions, parameter_names
from ._code import LIBRARIES, OWN, is_library, is_numpy, is_own, named_by, site
from ._kept import Kept
from ._walk import Knowledge, Walk

# How often a call that writes to objects is looked at again: the first may only have set something up. Also how many
# functions of one code are learned.
_TRIES = 3


@dataclass
class Outcome:
    """What a recording has found out."""

    # None when the call cannot be replayed, for the reason given, or when it must be recorded again.
    guards: _core.GuardSet | None
    reason: str | None
    # Whether the next call should be recorded, since this one taught something.
    learned: bool
    # By identity, every tensor that the walk found, with its place.
    tensors: dict[int, tuple[lucid.Tensor, str]] = field(default_factory=dict)


class Capture:
    """What recordings of one function have taught. Keeps nothing of the arguments alive."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.knowledge = Knowledge()
        self.writes = 0

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Recording:
        """Walks from the function and the arguments. To be called right before the call."""
        return Recording(self, args, kwargs or {})


class Recording:
    """One call that is watched."""

    def __init__(self, capture: Capture, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._capture = capture
        self._args = args
        self._kwargs = kwargs
        names = parameter_names(capture.function, args, kwargs)
        self._walk = walk = Walk(capture.knowledge)
        function = capture.function
        if type(function) is types.MethodType:
            walk.start(function.__self__, "self")
            walk.start(function.__func__, function.__func__.__qualname__)
        elif isinstance(function, types.FunctionType):
            walk.start(function, function.__qualname__)
        else:
            walk.start(function, "self")
        self._contents = Contents((), {}, [])
        # A walk makes many objects and no garbage.
        collects = gc.isenabled()
        gc.disable()
        try:
            for name, value in zip(names, (*args, *kwargs.values())):
                walk.argument(value, name)
            walk.run()
            self._describe(names)
            self._contents = Contents(args, kwargs, names)
        except RecursionError:
            walk.refuse("", "takes an argument that lies in itself")
        finally:
            if collects:
                gc.enable()
        self._watch = _core.Watch(OWN, LIBRARIES)

    def _describe(self, names: list[str]) -> None:
        """Guards the arguments that are objects."""
        args, kwargs = self._args, self._kwargs
        descriptions = Descriptions(self._walk)
        for where, name, value in zip((*range(len(args)), *kwargs), names, (*args, *kwargs.values())):
            description = descriptions.of(value)
            if description[0] != "any":
                self._walk.guards.argument(where, name, description)

    @property
    def known(self) -> set[int]:
        """The objects that the call could reach when it began, by identity."""
        return {*self._walk.seen, *self._walk.arguments, *self._contents.objects()}

    def kept(self, program: _core.Program) -> str | None:
        """Why gradient graphs of later calls cannot share what that of this one holds of Python."""
        why = Kept(self._walk).reason(program.kept)
        return self._words("", why, {}) if why is not None else None

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    @_effects.pure
    def __exit__(self, *exception: object) -> None:
        self._watch.stop()

    def finish(self, result: Any = None) -> Outcome:
        """Says what the call read, or why it cannot be replayed."""
        try:
            return self._finish()
        finally:
            # A recording that somebody keeps must not keep the arguments.
            self._args, self._kwargs = (), {}
            self._watch = _core.Watch(OWN, LIBRARIES)

    def _finish(self) -> Outcome:
        capture, walk, knowledge = self._capture, self._walk, self._capture.knowledge
        ran = self._watch.ran
        codes = {code for code, _ in ran if not is_own(code) and not is_numpy(code)}
        sites = self._sites(codes)
        facts = self._effects(ran)
        walk.guards.set_sites(sites)

        late = codes - walk.codes - knowledge.ran
        late |= self._learn_functions(ran, late)
        imports = any(code.co_filename.startswith("<frozen importlib") for code in codes)
        knowledge.ran |= {code for code in codes if not code.co_filename.startswith("<frozen importlib")}
        called = self._watch.called
        reflects = any(_kinds.is_reflecting(function) and not is_numpy(code) for function, code, _, _ in called)
        if reflects and not knowledge.all_names:
            knowledge.all_names = True
            late |= codes

        if imports:
            # Code that runs for the first time may import what is there from then on.
            learned, knowledge.settled = not knowledge.settled, True
            return Outcome(None, self._words("", "imports a module while it runs", sites), learned)
        if facts:
            return Outcome(None, facts, False)
        written = self._written()
        if written:
            capture.writes += 1
            knowledge.settled = True
            return Outcome(None, written, capture.writes < _TRIES)
        if late:
            knowledge.settled = True
            return Outcome(None, None, True)
        if walk.reasons:
            # Code that did not run may have led there: look again at the code that did.
            learned = not knowledge.settled
            knowledge.settled = True
            return Outcome(None, self._words(*walk.reasons[0], sites), learned)
        return Outcome(walk.guards, None, False, walk.tensors)

    def _learn_functions(self, ran: list[tuple[CodeType, Any]], late: set[CodeType]) -> set[CodeType]:
        """Remembers functions that ran although the walk did not find them, and returns their codes."""
        walk, functions = self._walk, self._capture.knowledge.functions
        news = set()
        while ran:
            code, function = ran.pop()
            if type(function) is not types.FunctionType or id(function) in walk.seen or is_own(code) or is_numpy(code):
                continue
            # Another function of a code that is known. If the call itself made it, it is gone by now: only the watch,
            # `function` and the argument of getrefcount refer to it. One that refers to itself is still there, and a
            # new one at each call: so there is an end to learning.
            is_new = function.__closure__ is not None and sys.getrefcount(function) > 3
            if code in late or (is_new and len(functions.get(code, ())) < _TRIES):
                functions.setdefault(code, []).append(function)
                news.add(code)
        return news

    def _root(self) -> CodeType | None:
        function: Any = self._capture.function
        while True:
            if type(function) is types.MethodType:
                function = function.__func__
            elif type(function) is functools.partial:
                function = function.func
            else:
                break
        if not isinstance(function, types.FunctionType):
            function = getattr(type(function), "forward" if isinstance(function, _core.Module) else "__call__", None)
        return getattr(function, "__code__", None)

    def _sites(self, codes: set[CodeType]) -> dict[str, str]:
        """Where the user's code names what."""
        sites: dict[str, str] = {}
        for code in _in_order(codes):
            for name, line in named_by(code).reads.items():
                sites.setdefault(name, site(code, line))
        return sites

    def _words(self, name: str, words: str, sites: dict[str, str]) -> str:
        """A reason with the line that it is about: where the name occurs, or where the function begins."""
        # What stands before the first bracket ends in a name that code has.
        names = re.findall(r"[A-Za-z_]\w*", name.partition("[")[0])
        where = next((sites[part] for part in reversed(names) if part in sites), None)
        if where is None:
            root = self._root()
            where = site(root) if root is not None else None
        return f"{where}: {words}" if where else words

    def _effects(self, ran: list[tuple[CodeType, Any]]) -> str | None:
        """What ran that guards cannot stand for."""
        if not self._watch.saw_everything:
            return "sets a profile function"
        for function, code, user_code, line in self._watch.called:
            reason = _kinds.reason_for(function)
            if reason is not None and not code.co_filename.startswith("<frozen importlib"):
                return f"{site(user_code, line)}: {reason}"
        for code, _ in ran:
            if is_own(code) and (effect := _effects.effect_of(code)) is not None:
                return self._words("", f"calls {code.co_qualname}, which {effect}", {})
        return None

    def _written(self) -> str | None:
        """A place that the call changed."""
        walk = self._walk
        writes: dict[str, str] = {}
        for code in _in_order(walk.codes | walk.knowledge.ran):
            for name, line in named_by(code).writes.items():
                writes.setdefault(name, site(code, line))
        sites = {**self._sites(walk.codes), **writes}
        difference = walk.guards.difference() or walk.guards.argument_difference(self._args, self._kwargs)
        if difference is not None:
            place, name, _, _ = difference
            return self._words(name, f"the call writes {place}", sites)
        changed = self._contents.changed()
        return self._words(changed, f"the call writes {changed}, which was passed to it", sites) if changed else None


def _in_order(codes: set[CodeType]) -> list[CodeType]:
    """The user's own code, in the same order in every process."""
    own = (code for code in codes if not is_library(code))
    return sorted(own, key=lambda code: (code.co_filename, code.co_firstlineno))
