"""What is known of one compiled function or module: its plans, those that are being made, and why calls run eagerly."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from .. import _core
from ..nn import Module
from ._cache import CacheKey, ForwardExecutor, PlanCache
from ._capture import Capture, Recording
from ._passes import Pass, to_core
from ._results import CannotRebuild, take_apart

_MOST_KERNELS = 24  # that explain() lists
_OTHER_TENSORS = "tensors that it uses have other types, or share memory in another way"

# A key that was recorded so often without being used stays eager.
_MOST_RECORDINGS = 8
# After this many calls in a row that raised, calls with a key are not recorded until one returns.
_MOST_RAISING = 3
# How many keys are remembered that have no plan.
_MOST_EAGER_KEYS = 64

# From so many on, those are looked for that are gone.
_MOST_UNSETTLED = 64

# What compiling may raise. The call itself went well: only speed is lost.
_MISTAKES = (RuntimeError, ValueError, TypeError, IndexError)


def _mistake(error: Exception) -> str:
    return f"cannot be compiled, which is a mistake in Lucid: {error}"


# Held, never for long, by whoever changes what is known of compiled functions; nobody runs a call or waits for a plan
# with it. One for all of them: a fork waits until it is free, so that the child finds nothing half changed.
_books = threading.RLock()
os.register_at_fork(before=_books.acquire, after_in_parent=_books.release, after_in_child=_books.release)


class CacheInfo(NamedTuple):
    """What a compiled function or module has done so far."""

    hits: int
    misses: int
    compiles: int
    fallbacks: int
    entries: int
    max_entries: int
    bytes: int


class Counters(NamedTuple):
    """What all compiled functions and modules of the process have done so far."""

    hits: int
    misses: int
    compiles: int
    # Compiles for arguments that a plan had been made for already.
    recompiles: int
    eager_calls: int
    # Plans for backward passes that run outside what is compiled, and their runs.
    backward_plans: int
    backward_runs: int


class _Totals:
    """Counts of the process beside those that the tables keep."""

    misses = compiles = recompiles = fallbacks = 0
    # Those with plans that are being made, by identity. No set of weak references: those call Python when something
    # goes, which recordings would see.
    unsettled: ClassVar[dict[int, weakref.ref[Compiled]]] = {}


def _is_unsettled(compiled: Compiled) -> None:
    with _books:
        if len(_Totals.unsettled) >= _MOST_UNSETTLED:
            kept = {key: reference for key, reference in _Totals.unsettled.items() if reference() is not None}
            _Totals.unsettled.clear()
            _Totals.unsettled.update(kept)
        _Totals.unsettled[id(compiled)] = weakref.ref(compiled)


def wait() -> None:
    """Waits until the plans of all calls so far, and of backward passes, have been made, on the thread that makes them.

    Nothing needs it: a call waits for its plan. It is for measuring, and for a server that wants no call to wait.

    >>> f = lucid.compile(lambda x: x * 2)
    >>> y = f(lucid.ones(3))
    >>> lucid.compiler.wait()
    """
    with _books:
        unsettled = [reference() for reference in _Totals.unsettled.values()]
        _Totals.unsettled.clear()
    for compiled in unsettled:
        if compiled is not None:
            compiled.settle()
    _core.wait_for_compile_tasks()


# The interpreter may end while plans are being made.
atexit.register(_core.stop_compile_thread)


def counters() -> Counters:
    """What all compiled functions and modules of this process have done so far."""
    wait()
    hits, eager = _core.call_counters()
    totals = _Totals
    fallbacks = totals.fallbacks + eager
    return Counters(hits, totals.misses, totals.compiles, totals.recompiles, fallbacks, *_core.backward_counters())


@dataclass
class _Key:
    """What is known of one key."""

    recordings: int = 0
    # Recordings that raised, since the last call that returned.
    raised: int = 0
    # Why calls with this key run eagerly.
    reason: str | None = None


@dataclass(eq=False)
class _Pending:
    """A recorded call whose plan is being made."""

    plan: ForwardExecutor
    known: _Key
    make_result: Callable[..., Any] | None
    # The key names these by address.
    classes: list[Any]


class Compiled:
    """The plans of a compiled function or module. `table` finds and runs them; here they are made."""

    def __init__(
        self,
        table: _core.CallTable,
        target: Any,
        name: str,
        max_cache_entries: int,
        passes: Sequence[Pass | type[Pass]] | None = None,
    ) -> None:
        if max_cache_entries < 1:
            raise ValueError(
                f"lucid.compile() needs room for at least one plan, got max_cache_entries={max_cache_entries}"
            )
        self.table = table
        self.target = target
        self.name = name
        self.passes = passes
        self._core_passes = to_core(passes)
        self.capture = Capture(target)
        # The process and the thread that record; a thread of the parent records nothing here.
        self.recorder: tuple[int, int] | None = None
        # How often everything was forgotten: what was recorded before is not kept.
        self.generation = 0
        self.pending: list[_Pending] = []  # in the order of recording
        self.keys: dict[bytes, _Key] = {}
        self.plans = PlanCache(max_cache_entries)
        self.misses = self.compiles = self.fallbacks = 0
        self.notes: list[str] = []
        table.connect(target, self.record)

    def record(self, *args: Any, **kwargs: Any) -> Any:
        """Runs a call that no plan fits, and has one made of it. If one is being made, waits for that."""
        key, tensors, classes = _core.flatten_call(args, kwargs)
        if not self._is_pending(key):
            known = self.keys.get(key)
            if known is not None and known.raised >= _MOST_RAISING:
                return self._run_raising(known, args, kwargs)
            if not self._begin_recording():
                # Another thread records: what it makes will serve the next call.
                self._count_miss()
                return self.target(*args, **kwargs)
            try:
                # Another thread may have recorded it since the call looked.
                if not self._is_pending(key) and self.table.find(args, kwargs) is None:
                    return self._record(key, tensors, classes, args, kwargs)
            finally:
                self.recorder = None
        self.settle(key)
        # Not as a class derived from the table's may have it, for that is where the call comes from.
        return _core.CallTable.__call__(self.table, *args, **kwargs)

    def _begin_recording(self) -> bool:
        with _books:
            if self.recorder is not None and self.recorder[0] == os.getpid():
                return False
            self.recorder = (os.getpid(), threading.get_ident())
            return True

    def _record(
        self, key: bytes, tensors: list[Any], classes: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        self._count_miss()
        generation = self.generation
        known = self.keys.setdefault(key, _Key())
        # Calls that raise, or whose recording taught something, leave keys without plans.
        if len(self.keys) > 2 * self.plans.max_entries + _MOST_EAGER_KEYS:
            self._forget_oldest()
        described = CacheKey.of(tensors, args, kwargs, isinstance(self.target, Module) and self.target.training)
        stale = self.plans.with_key(key)
        if stale:
            why = stale[-1].guards.failed(args, kwargs) or _OTHER_TENSORS
            self._note(f"recorded again: {why}")
        recording = self.capture.begin(args, kwargs)
        tracing = _core.Tracing()
        try:
            with recording:
                result = self.target(*args, **kwargs)
        except Exception as error:
            self._note_raised(known, error)
            raise
        finally:
            tracing.stop()
        known.raised = 0
        if self.generation != generation:
            return result
        # The call is done. Without memory for its plan, the next one is recorded again.
        with suppress(MemoryError):
            self._plan(key, known, described, recording, tracing, tensors, classes, result)
        return result

    def _plan(
        self,
        key: bytes,
        known: _Key,
        described: CacheKey,
        recording: Recording,
        tracing: _core.Tracing,
        tensors: list[Any],
        classes: list[Any],
        result: Any,
    ) -> None:
        """Has a plan made of a recording, or notes why there can be none."""
        made = self._make(key, known, described, recording, tracing, tensors, classes, result)
        known.recordings += 1
        if not isinstance(made, _Pending):
            self._judge(key, known, made)
            return
        if self._core_passes is not None:
            # They may be Python's: they run here.
            self._take_in(made, made.plan.program.compile_now(self._core_passes))
            return
        made.plan.program.compile_later()
        with _books:
            self.pending.append(made)
        _is_unsettled(self)
        # No more may wait than there is room for: a call for each of many keys must not outrun the compile thread.
        if len(self.pending) > self.plans.max_entries:
            self._settle_first(self.pending[0])

    def _note_raised(self, known: _Key, error: Exception) -> None:
        """Recording takes much longer than the call, and a call that raises leaves nothing to make a plan of."""
        with _books:
            known.raised += 1
            if known.raised >= _MOST_RAISING:
                known.reason = f"the last {_MOST_RAISING} calls that were recorded raised {type(error).__name__}"
                self._note(f"runs eagerly until a call returns: {known.reason}")
            self._forget_oldest()

    def _run_raising(self, known: _Key, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._count_miss()
        result = self.target(*args, **kwargs)
        with _books:
            known.raised = 0
            known.reason = None
        return result

    def _count_miss(self) -> None:
        with _books:
            self.misses += 1
            _Totals.misses += 1

    def _make(
        self,
        key: bytes,
        known: _Key,
        described: CacheKey,
        recording: Recording,
        tracing: _core.Tracing,
        tensors: list[Any],
        classes: list[Any],
        result: Any,
    ) -> _Pending | str | None:
        """What a recording becomes, still without its plan; or why there can be none; or nothing, if there may be one
        later."""
        try:
            results, make_result = take_apart(result, recording.known)
        except CannotRebuild as error:
            return str(error)
        outcome = recording.finish(result)
        if outcome.learned:
            return None
        if outcome.guards is None:
            # What the call did with tensors says more than what it might have read.
            return tracing.obstacle or str(outcome.reason)
        found = list(outcome.tensors.values())
        try:
            program, obstacle = _core.record_trace(
                tracing, tensors, results, [tensor for tensor, _ in found], self.name
            )
        except _MISTAKES as error:
            return _mistake(error)
        if program is None:
            return str(obstacle)
        if (why := recording.kept(program)) is not None:
            return str(why)
        places = {id(tensor): place for tensor, place in found}
        used = [places.get(id(tensor), "the random generator") for tensor in program.state]
        plan = ForwardExecutor(described, program, outcome.guards, used, key)
        return _Pending(plan, known, None if isinstance(result, _core.Tensor) else make_result, classes)

    # Plans that are being made. They are taken in in the order of their recordings, so that the oldest leaves first
    # whatever calls come in between.

    def _is_pending(self, key: bytes) -> bool:
        with _books:
            return any(pending.plan.raw_key == key for pending in self.pending)

    def settle(self, key: bytes | None = None) -> None:
        """Waits for the plans that are being made, or as far as those for a key, and takes them in."""
        while self.pending and (key is None or self._is_pending(key)):
            with _books:
                first = self.pending[0] if self.pending else None
            if first is not None:
                self._settle_first(first)

    def _settle_first(self, first: _Pending) -> None:
        program = first.plan.program
        program.wait()
        with _books:
            if not self.pending or self.pending[0] is not first:
                # Another thread has taken it in, or it was forgotten.
                return
            del self.pending[0]
            try:
                obstacle = program.finish()
            except _MISTAKES as error:
                obstacle = _mistake(error)
            except MemoryError:
                # For now: the next call is recorded again.
                return
            self._take_in(first, obstacle)

    def _take_in(self, pending: _Pending, obstacle: str | None) -> None:
        """Adds a plan, or notes why there is none."""
        plan, key = pending.plan, pending.plan.raw_key
        with _books:
            known = self.keys.setdefault(key, pending.known)
            if obstacle is not None:
                self._judge(key, known, obstacle)
                return
            _Totals.compiles += 1
            _Totals.recompiles += bool(self.plans.with_key(key))
            gone = self.plans.add(plan)
            self.table.add(key, plan.program, plan.guards, pending.make_result, pending.classes)
            self.compiles += 1
            for old in gone:
                self.table.remove(old.raw_key, old.program)
                of_old = self.keys.get(old.raw_key)
                if not self.plans.with_key(old.raw_key) and (of_old is None or of_old.reason is None):
                    self.keys.pop(old.raw_key, None)
            self._judge(key, known, None)

    def _judge(self, key: bytes, known: _Key, reason: str | None) -> None:
        """Lets calls with this key run eagerly from now on, if there is a reason."""
        if reason is None and known.recordings > _MOST_RECORDINGS and not self._is_used(key):
            reason = "what it reads is different at every call"
        if reason is None:
            return
        with _books:
            known.reason = reason
            self.table.run_eagerly(key)
            self._forget_oldest()
            self.fallbacks += 1
            _Totals.fallbacks += 1
            self._note(f"runs eagerly: {reason}")

    def _forget_oldest(self) -> None:
        """Keeps the number of keys that have no plan within bounds."""
        with _books:
            made = {plan.raw_key for plan in self.plans} | {pending.plan.raw_key for pending in self.pending}
            without = [key for key in self.keys if key not in made]
            for key in without[:-_MOST_EAGER_KEYS]:
                del self.keys[key]
                self.table.forget(key)

    def _is_used(self, key: bytes) -> bool:
        return any(self.table.hits_of(plan.program) for plan in self.plans.with_key(key))

    def _note(self, text: str) -> None:
        if _core.logs("jit"):
            _core.log("jit", f"{self.name}: {text}")
        if text not in self.notes:
            self.notes = [*self.notes[-31:], text]

    def invalidate(self) -> None:
        self.settle()
        with _books:
            self.generation += 1
            self.pending.clear()
            self.table.clear()
            self.keys.clear()
            self.plans.clear()
            self.capture = Capture(self.target)

    def cache_info(self) -> CacheInfo:
        self.settle()
        return CacheInfo(
            self.table.hits,
            self.misses,
            self.compiles,
            self.fallbacks + self.table.eager_calls,
            len(self.plans),
            self.plans.max_entries,
            sum(plan.program.arena_bytes for plan in self.plans),
        )

    def explain(self) -> str:
        """What was compiled, and why what was not."""
        info = self.cache_info()
        lines = [
            f"{self.name}: {info.entries} of at most {info.max_entries} plans",
            f"  {info.hits} hits, {info.misses} misses, {info.compiles} compiles, {info.fallbacks} eager calls",
        ]
        for number, plan in enumerate(self.plans, start=1):
            lines.append(
                f"  plan {number}: {plan.program.nodes} nodes, {plan.program.kernels} kernels, "
                f"{plan.program.arena_bytes:,} bytes of memory while it runs, {len(plan.guards)} guards, "
                f"{self.table.hits_of(plan.program)} hits"
            )
            lines.extend(f"    uses {place}" for place in plan.places)
            names = plan.program.kernel_names
            lines.extend(f"    runs {name}" for name in names[:_MOST_KERNELS])
            if len(names) > _MOST_KERNELS:
                lines.append(f"    and {len(names) - _MOST_KERNELS} more")
            lines.extend(f"    {line}" for line in plan.program.backward_plans)
        lines.extend(f"  {note}" for note in self.notes)
        return "\n".join(lines)

    def explain_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """What a call with these arguments would do now. Nothing is called."""
        self.settle()
        program = self.table.find(args, kwargs)
        for number, plan in enumerate(self.plans, start=1):
            if plan.program is program:
                return f"runs plan {number}"
        key, _, _ = _core.flatten_call(args, kwargs)
        known = self.keys.get(key)
        if known is not None and known.reason is not None:
            return f"runs eagerly: {known.reason}"
        stale = self.plans.with_key(key)
        if not stale:
            return "would be recorded: there is no plan for arguments of these types"
        why = stale[-1].guards.failed(args, kwargs) or _OTHER_TENSORS
        return f"would be recorded again: {why}"

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _core.Program:
        """What a call with these arguments would run now."""
        self.settle()
        program = self.table.find(args, kwargs)
        if program is not None:
            return program
        known = self.keys.get(_core.flatten_call(args, kwargs)[0])
        reason = known.reason if known is not None and known.reason else "call it with these arguments first"
        raise ValueError(f"{self.name} has no plan for these arguments: {reason}")
