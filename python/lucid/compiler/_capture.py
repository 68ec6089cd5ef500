"""Finds the Python state that a call reads, so that its plan is never stale.

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
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Self

import lucid

from .. import _core, _effects
from ._argument_walk import visit_argument
from ._arguments import Contents, Descriptions, parameter_names
from ._code import LIBRARIES, OWN, is_caching, is_library, is_numpy, is_own, named_by, site
from ._code_profile import CodeProfile, NewFunction
from ._effect_replay import CallLog, modes
from ._escaping_scalars import EscapingScalars
from ._functions import impure_name, is_reflecting
from ._guarding import result_of
from ._numbers import VaryingLocation, inspects_types
from ._ran import guard_numpy, guard_own, root_of
from ._results import Known
from ._shared import SharedObjects
from ._stores import Write, can_be_repeated, declare_stores, release_logs
from ._streams import are_standard_streams, are_standard_warnings, is_standard_logger
from ._type_tables import is_heap_class, is_lock, name_of, printable
from ._walk import Walk
from ._walk_result import Memory, WalkResult, add_containers, have_hooks
from ._worklist import Worklist

# How often a call that writes to objects is recorded: the first call may only have initialized something. Also the
# maximum number of functions remembered for one code object.
_TRIES = 3
# The maximum number of numbers outside the arguments that are traced because they differ from the last call's.
_MAX_VARYING = 16


@dataclass
class Outcome:
    """The result of a recording."""

    # None if the call cannot be replayed, for the given reason, or must be recorded again.
    guards: _core.GuardSet | None
    reason: str | None
    # Whether the next call should be recorded: this one ran code that the walk had not found, or set up state.
    record_again: bool
    # Every tensor that the walk found and its source, by id, except `inputs`.
    tensors: dict[int, tuple[lucid.Tensor, str]] = field(default_factory=dict)
    # What the call stored in guarded locations, and the tensors that it found there: later calls store too, and may
    # find others.
    stored: list[Any] = field(default_factory=list)
    inputs: list[lucid.Tensor] = field(default_factory=list)


class Capture:
    """What earlier recordings of one function have found. It does not keep arguments alive."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.profile = CodeProfile()
        # The guards of the newest recording that can be replayed, if its plan exists.
        self.newest_guards: Callable[[], _core.GuardSet | None] = lambda: None
        self.writes = 0
        self._sites: tuple[set[CodeType], dict[str, str]] = set(), {}

    def sites_of(self, codes: set[CodeType]) -> dict[str, str]:
        """The first line of the user's code that reads each name. Most recordings run the same code."""
        if codes != self._sites[0]:
            self._sites = codes, _sites(codes)
        return self._sites[1]

    def begin(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Recording:
        """Walks from the function and the arguments. Must be called right before the call."""
        return Recording(self, args, kwargs or {})


class Recording:
    """One call under observation."""

    def __init__(self, capture: Capture, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._capture = capture
        self._args = args
        self._kwargs = kwargs
        self._structure, _ = _core.call_key(args, kwargs)
        # The memory of an earlier walk if that was reused; otherwise, the objects that the walk found.
        self._memory: Memory | None = None
        self._seen: dict[int, Any] = {}
        # The tensors in attributes and items of objects that were passed.
        self._inputs: list[lucid.Tensor] = []
        # The numbers outside the arguments in which this call differs from the last one.
        self.varying = self._varying_numbers()
        names = parameter_names(capture.function, args, kwargs)
        self._contents = Contents((), {}, [])
        # A walk creates many objects and no garbage.
        collects = gc.isenabled()
        gc.disable()
        try:
            self._found = self._recall() or self._walk(names)
            self._describe(names)
            self._contents = Contents(args, kwargs, names)
        except RecursionError:
            work = Worklist(capture.profile)
            work.refuse("", "takes an argument that contains itself")
            self._found = result_of(work.facts, work.guards, all_names=capture.profile.all_names)
        finally:
            if collects:
                gc.enable()
        # Not a dict: a metaclass may define how its classes are hashed.
        self._subclasses = [(cls, _subclasses_of(cls)) for cls in self._found.state.classes]
        self.log = CallLog(self._found.guards)
        self._watch = _core.Watch(OWN, LIBRARIES, self.log)
        self._changes_modes = False
        # Why a plan cannot repeat the effects of the call.
        self.obstacle: str | None = None
        # What the call wrote to guarded locations.
        self.written: list[Write] = []

    def _varying_numbers(self) -> list[VaryingLocation]:
        guards = self._capture.newest_guards()
        writes = guards.writes([]) if guards is not None else None
        if not writes or len(writes) > _MAX_VARYING:
            return []
        if any(type(before) is not type(now) or type(now) not in (int, float) for _, _, before, now in writes):
            return []
        locations = {name: VaryingLocation(location, name) for location, name, _, _ in writes}
        return list(locations.values()) if len(locations) == len(writes) else []

    def vary(self, locations: list[VaryingLocation]) -> None:
        """Lets the numbers in these locations vary."""
        if not locations:
            return
        for location, name in locations:
            self._found.guards.vary(location, name)
        # The next walk would not guard the numbers, either.
        self._capture.newest_guards = lambda: None

    def _recall(self) -> WalkResult | None:
        """The cached walk result, or None if it may be stale."""
        guards = self._capture.newest_guards()
        if guards is None or guards.memory is None:
            return None
        containers: set[int] = set()
        if not add_containers((*self._args, *self._kwargs.values()), containers):
            return None
        found: WalkResult | None = guards.memory.recall(guards, self._structure, self._capture.profile)
        if found is not None:
            found.containers = containers
            self._memory = guards.memory
        return found

    def _walk(self, names: list[str]) -> WalkResult:
        work = Worklist(self._capture.profile)
        function = self._capture.function
        if type(function) is types.MethodType:
            work.start(function.__self__, "self")
            work.start(function.__func__, printable(getattr(function.__func__, "__qualname__", None)))
        elif type(function) is types.FunctionType:
            work.start(function, printable(function.__qualname__))
        else:
            work.start(function, "self")
        for name, value in zip(names, (*self._args, *self._kwargs.values())):
            visit_argument(work, value, name)
        found = Walk(work).run()
        self._seen = work.facts.seen
        return found

    def _inputs_now(self) -> list[lucid.Tensor]:
        """The tensors in attributes and items of objects that were passed."""
        descriptions = Descriptions(self._found, self._capture.profile.all_names)
        for value in (*self._args, *self._kwargs.values()):
            descriptions.of(value)
        return descriptions.tensors

    def _describe(self, names: list[str]) -> None:
        """Guards the arguments that are objects."""
        args, kwargs = self._args, self._kwargs
        descriptions = Descriptions(self._found, self._capture.profile.all_names)
        for where, name, value in zip((*range(len(args)), *kwargs), names, (*args, *kwargs.values())):
            description = descriptions.of(value)
            if description[0] != "any":
                self._found.guards.argument(where, name, description)
        self._inputs = descriptions.tensors

    @property
    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the call, until finish()."""
        return self._args, self._kwargs

    @property
    def structure(self) -> bytes:
        """The structure of the call's key."""
        return self._structure

    @property
    def inspects_numbers(self) -> bool:
        """Whether code that ran may tell a number from another object that acts like it."""
        return self._found.state.compares_identity or inspects_types(code for code, _ in self._watch.ran)

    def is_held(self, tensor: lucid.Tensor) -> bool:
        """Whether an argument holds a tensor other than as an item of lists, tuples and dicts."""
        return id(tensor) in self._found.held

    def forwards(self, floats: EscapingScalars) -> bool:
        """Whether the call only forwards the floats that it has read: it returns, stores or prints them, and no code
        reads what it stored."""
        state, function = self._found.state, self._capture.function
        if type(function) is types.MethodType:
            function = function.__func__
        code = function.__code__ if type(function) is types.FunctionType else None
        repeated = [call.site for call in self.log.calls]
        unread = state.assigned | state.appended | state.filled
        return floats.are_forwarded(code, unread, repeated, self.log.printing)

    def known(self, tensors: list[lucid.Tensor]) -> Known:
        """The objects that the call could reach when it began. `tensors` are its arguments."""
        found, state = self._found, self._found.state
        return Known(
            state.objects | found.arguments.keys() | found.containers,
            state.tensors.keys() | set(map(id, tensors)) | set(map(id, self._inputs)),
            {code for code, _ in self._watch.ran},
            state.classes,
            state.objects - found.arguments.keys() - found.containers,
        )

    def sharing_obstacle(self, call: _core.RecordedCall) -> str | None:
        """Why the gradient graphs of later calls cannot share the Python objects that this call's graph holds."""
        why = SharedObjects(self._found.state).reason(call.kept)
        return self._message("", why, {}) if why is not None else None

    def __enter__(self) -> Self:
        self._modes = modes()
        self.log.start(sys._getframe().f_back, self._modes)
        self._watch.start()
        return self

    @_effects.pure
    def __exit__(self, *exception: object) -> None:
        self._watch.stop()
        self.log.stop()
        self._changes_modes = modes() != self._modes

    def finish(self, result: Any = None, floats: EscapingScalars | None = None, effects: int = 0) -> Outcome:
        """Returns guards for everything that the call read, or why it cannot be replayed. `floats` are those that it
        has read from tensors, if it only forwards them; `effects` counts its effects on tensors."""
        self._floats = floats or EscapingScalars([])
        try:
            return self._finish(effects)
        finally:
            # A recording that outlives the call must not keep the arguments alive.
            self._args, self._kwargs, self._seen, self._inputs = (), {}, {}, []
            self._watch.clear()

    def _finish(self, effects: int) -> Outcome:
        capture, found, profile = self._capture, self._found, self._capture.profile
        state = found.state
        ran = self._watch.ran
        codes = {code for code, _ in ran if not is_own(code) and not is_numpy(code)}
        sites = capture.sites_of(codes)
        effect = self._effects(ran)
        found.guards.set_sites(sites)
        guard_numpy(self._found, ran)

        guard_own(self._found, self._capture.profile, ran)
        newly_seen = codes - state.codes - profile.ran
        skipped_hooks = state.skips_hooks and any(_effects.runs_backward(code) for code, _ in ran)
        newly_seen |= self._add_functions(ran, newly_seen)
        if skipped_hooks:
            profile.runs_backward = True
            newly_seen |= codes
        imports = any(code.co_filename.startswith("<frozen importlib") for code in codes)
        profile.ran |= {code for code in codes if not code.co_filename.startswith("<frozen importlib")}
        called = self._watch.called
        reflects = any(is_reflecting(function) and not is_numpy(code) for function, code, _, _ in called)
        if reflects and not profile.all_names:
            profile.all_names = True
            newly_seen |= codes

        if imports:
            # Code that runs for the first time may import a module that stays imported.
            record_again = not profile.only_ran_code
            profile.forget_other_code(reflects)
            return Outcome(None, self._message("", "imports a module while it runs", sites), record_again)
        if effect:
            return Outcome(None, effect, False)
        if self.log.is_invalidated:
            return Outcome(None, None, True)
        if (obstacle := self.log.finish(effects)) is not None:
            self.obstacle = self._message("", obstacle, sites)
            return Outcome(None, self.obstacle, False)
        writes = self._writes()
        if isinstance(writes, str):
            capture.writes += 1
            profile.forget_other_code(reflects)
            return Outcome(None, writes, capture.writes < _TRIES)
        self.written = writes
        if newly_seen:
            profile.forget_other_code(reflects)
            return Outcome(None, None, True)
        if found.reasons:
            # Only code that did not run may have led to the obstacle: walk again with the code that ran.
            record_again = not profile.only_ran_code
            profile.forget_other_code(reflects)
            return Outcome(None, self._message(*found.reasons[0], sites), record_again)
        self._guard_effects()
        if writes:
            tensors, stored, inputs = declare_stores(writes, found, self._seen)
            return Outcome(found.guards, None, False, tensors, stored, [*self._inputs, *inputs])
        if not release_logs(found, self._seen) and not self.log.calls:
            self._remember()
        return Outcome(found.guards, None, False, state.tensors, [], self._inputs)

    def _guard_effects(self) -> None:
        """Guards that no code of the user sees what the call prints and logs: in a replay it would run later."""
        guards = self._found.guards
        if len(self.log.calls) > len(self.log.schedulers):
            guards.call(are_standard_streams, "the standard streams")
        for scheduler in self.log.schedulers:
            entries: Any = _core.attributes_of(scheduler)
            guards.named(entries, frozenset(("_schedule",)), "a learning rate schedule", "attribute")
            guards.call(scheduler._schedule.can_repeat_step, "whether a learning rate schedule can step")
        if self.log.warns:
            guards.call(are_standard_warnings, "how warnings are shown")
        for logger in {id(logger): logger for logger in self.log.loggers}.values():
            guards.call(functools.partial(is_standard_logger, logger), f"the handlers of logger {logger.name}")

    def _remember(self) -> None:
        """Keeps what was found with the guards, for the next recording."""
        found, profile = self._found, self._capture.profile
        if self._memory is not None:
            self._memory.update(found, profile)
        elif self._is_plain():
            Memory(found, self._seen, self._structure, profile)
        self._capture.newest_guards = weakref.ref(found.guards)

    def _is_plain(self) -> bool:
        """Whether the walk depended only on the structure of the arguments and on guarded state."""
        tensors = (tensor for tensor, _ in self._found.state.tensors.values())
        return add_containers((*self._args, *self._kwargs.values()), set()) and not have_hooks(tensors)

    def _add_functions(self, ran: list[tuple[CodeType, Any]], newly_seen: set[CodeType]) -> set[CodeType]:
        """Remembers functions that ran although the walk did not find them. Returns their code objects."""
        objects = self._found.state.objects | self._found.arguments.keys()
        functions = self._capture.profile.functions
        news = set()
        while ran:
            code, function = ran.pop()
            if type(function) is not types.FunctionType or id(function) in objects or is_own(code) or is_numpy(code):
                continue
            # A new function with a known code object. If the call itself created it, nothing else refers to it now:
            # only the watch, `function` and the argument of getrefcount do. A function that refers to itself is still
            # alive, and there is a new one at each call; hence the limit of _TRIES.
            is_new = function.__closure__ is not None and sys.getrefcount(function) > 3
            if code in newly_seen or (is_new and len(functions.get(code, ())) < _TRIES):
                functions.setdefault(code, []).append(NewFunction(function))
                news.add(code)
        return news

    def _message(self, name: str, reason: str, sites: dict[str, str]) -> str:
        """A reason, prefixed with the line where the name occurs or, failing that, where the function begins."""
        # The part before the first bracket ends in a name that occurs in code.
        names = re.findall(r"[A-Za-z_]\w*", name.partition("[")[0])
        where = next((sites[part] for part in reversed(names) if part in sites), None)
        if where is None:
            root = root_of(self._capture.function)
            where = site(root) if root is not None else None
        return printable(f"{where}: {reason}" if where else reason)

    def _effects(self, ran: list[tuple[CodeType, Any]]) -> str | None:
        """A side effect of the call that no guard can represent; None if there is none."""
        if not self._watch.saw_everything:
            return "sets a profile function"
        if self._changes_modes:
            return self._message("", "leaves the grad mode changed", {})
        for function, code, user_code, line in self._watch.called:
            name = None if is_lock(function.__self__) and is_caching(code) else impure_name(function)
            if name is not None and not code.co_filename.startswith("<frozen importlib"):
                return printable(f"{site(user_code, line)}: calls {name}")
        for cls, before in self._subclasses:
            if not _subclasses_of(cls) <= before:
                return self._message("", f"derives a class from {name_of(cls)}", {})
        for code, _ in ran:
            if is_own(code) and (effect := _effects.effect_of(code)) is not None:
                return self._message("", f"calls {code.co_qualname}, which {effect}", {})
        return None

    def _writes(self) -> list[Write] | str:
        """What the call wrote to guarded locations. If a plan cannot repeat that, a message about one of them."""
        guards, codes = self._found.guards, self._found.state.codes
        difference = guards.difference()
        changed = self._contents.changed()
        argument = guards.argument_difference(self._args, self._kwargs)
        if changed is None and argument is None and self._inputs:
            now = self._inputs_now()
            if len(now) != len(self._inputs) or any(a is not b for a, b in zip(now, self._inputs)):
                return self._message("", "the call replaces a tensor in an object that was passed to it", {})
        if changed is None and argument is None:
            # A float that the call has read and stored may equal the one that it replaced.
            floats = self._floats.values
            writes = guards.writes(floats) if difference is not None or floats else []
            profile = self._capture.profile
            if writes and all(can_be_repeated(write, self._found, profile, self._floats) for write in writes):
                return writes
            if difference is None:
                return []
        difference = difference or argument
        written: dict[str, str] = {}
        for code in _in_order(codes | self._capture.profile.ran):
            for name, line in named_by(code).writes.items():
                written.setdefault(name, site(code, line))
        sites = {**_sites(codes), **written}
        if difference is not None:
            source, name, _, _ = difference
            return self._message(name, f"the call writes {source}", sites)
        return self._message(changed or "", f"the call writes {changed}, which was passed to it", sites)


def _sites(codes: Iterable[CodeType]) -> dict[str, str]:
    """The first line of the user's code that reads each name."""
    sites: dict[str, str] = {}
    for code in _in_order(codes):
        for name, line in named_by(code).reads.items():
            sites.setdefault(name, site(code, line))
    return sites


def _subclasses_of(cls: type) -> set[int]:
    """The ids of the classes that derive from a class defined in Python."""
    return set(map(id, type.__subclasses__(cls))) if is_heap_class(cls) else set()


def _in_order(codes: Iterable[CodeType]) -> list[CodeType]:
    """The user's own code, in the same order in every process."""
    own = (code for code in codes if not is_library(code))
    return sorted(own, key=lambda code: (code.co_filename, code.co_firstlineno))
