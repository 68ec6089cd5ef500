"""`lucid.compile`: a call is recorded once, then its plan runs instead."""

from __future__ import annotations

import functools
import threading
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

from .. import _core
from ..nn import Module
from ._cache import CacheKey, ForwardExecutor, PlanCache
from ._capture import Capture
from ._passes import Pass, to_core
from ._results import CannotRebuild, take_apart

P = ParamSpec("P")
R = TypeVar("R")

_MOST_KERNELS = 24  # that explain() lists
_OTHER_TENSORS = "tensors that it uses have other types, or share memory in another way"

# A key that was recorded so often without being used stays eager.
_MOST_RECORDINGS = 8
# So many keys are remembered for which calls run eagerly.
_MOST_EAGER_KEYS = 64


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


class _Totals:
    """Counts of the process beside those that the tables keep."""

    lock = threading.Lock()
    misses = compiles = recompiles = fallbacks = 0


def counters() -> Counters:
    """What all compiled functions and modules of this process have done so far."""
    hits, eager = _core.call_counters()
    totals = _Totals
    return Counters(hits, totals.misses, totals.compiles, totals.recompiles, totals.fallbacks + eager)


@dataclass
class _Key:
    """What is known of one key."""

    recordings: int = 0
    # Why calls with this key run eagerly.
    reason: str | None = None


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
        self.lock = threading.RLock()
        self.keys: dict[bytes, _Key] = {}
        self.plans = PlanCache(max_cache_entries)
        self.misses = self.compiles = self.fallbacks = 0
        self.notes: list[str] = []
        table.connect(target, self.record)

    def record(self, *args: Any, **kwargs: Any) -> Any:
        """Runs a call that no plan fits, and makes one of it."""
        if not self.lock.acquire(blocking=False):
            # Another thread records: what it makes will serve the next call.
            self._count_miss()
            return self.target(*args, **kwargs)
        try:
            if self.table.find(args, kwargs) is not None:
                # Another thread has made it since the call looked.
                return self.table(*args, **kwargs)
            self._count_miss()
            key, tensors, classes = _core.flatten_call(args, kwargs)
            known = self.keys.setdefault(key, _Key())
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
            finally:
                tracing.stop()
            known.recordings += 1
            reason = self._compile(key, described, recording, tracing, tensors, classes, result)
            if reason is None and known.recordings > _MOST_RECORDINGS and not self._is_used(key):
                reason = "what it reads is different at every call"
            if reason is not None:
                known.reason = reason
                self.table.run_eagerly(key)
                self._forget_oldest()
                self.fallbacks += 1
                with _Totals.lock:
                    _Totals.fallbacks += 1
                self._note(f"runs eagerly: {reason}")
            return result
        finally:
            self.lock.release()

    def _count_miss(self) -> None:
        with _Totals.lock:
            self.misses += 1
            _Totals.misses += 1

    def _compile(
        self,
        key: bytes,
        described: CacheKey,
        recording: Any,
        tracing: _core.Tracing,
        tensors: list[Any],
        classes: list[Any],
        result: Any,
    ) -> str | None:
        """Makes a plan of a recording. Returns why there can be none; nothing if there is one or may be one later."""
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
        start = time.perf_counter()
        try:
            program, obstacle = _core.compile_trace(
                tracing, tensors, results, [tensor for tensor, _ in found], self.name, self._core_passes
            )
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            if self._core_passes is not None:
                raise
            # The call itself went well: only speed is lost.
            return f"cannot be compiled, which is a mistake in Lucid: {error}"
        if program is None:
            return str(obstacle)
        if (why := recording.kept(program)) is not None:
            return str(why)
        places = {id(tensor): place for tensor, place in found}
        used = [places.get(id(tensor), "the random generator") for tensor in program.state]
        with _Totals.lock:
            _Totals.compiles += 1
            _Totals.recompiles += bool(self.plans.with_key(key))
        gone = self.plans.add(ForwardExecutor(described, program, outcome.guards, used, key))
        self.table.add(key, program, outcome.guards, None if isinstance(result, _core.Tensor) else make_result, classes)
        self.compiles += 1
        for plan in gone:
            self.table.remove(plan.raw_key, plan.program)
            if not self.plans.with_key(plan.raw_key):
                self.keys.pop(plan.raw_key, None)
        if _core.logs("jit"):
            took = (time.perf_counter() - start) * 1000
            _core.log(
                "jit", f"{self.name}: compiled {program.nodes} nodes to {program.kernels} kernels in {took:.1f} ms"
            )
        return None

    def _forget_oldest(self) -> None:
        """Keeps the number of keys that have no plan within bounds."""
        without = [key for key, known in self.keys.items() if known.reason is not None]
        for key in without[:-_MOST_EAGER_KEYS]:
            del self.keys[key]
            if not self.plans.with_key(key):
                self.table.forget(key)

    def _is_used(self, key: bytes) -> bool:
        return any(self.table.hits_of(plan.program) for plan in self.plans.with_key(key))

    def _note(self, text: str) -> None:
        if _core.logs("jit"):
            _core.log("jit", f"{self.name}: {text}")
        if text not in self.notes:
            self.notes = [*self.notes[-31:], text]

    def invalidate(self) -> None:
        with self.lock:
            self.table.clear()
            self.keys.clear()
            self.plans.clear()
            self.capture = Capture(self.target)

    def cache_info(self) -> CacheInfo:
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
        lines.extend(f"  {note}" for note in self.notes)
        return "\n".join(lines)

    def explain_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """What a call with these arguments would do now. Nothing is called."""
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
        program = self.table.find(args, kwargs)
        if program is not None:
            return program
        known = self.keys.get(_core.flatten_call(args, kwargs)[0])
        reason = known.reason if known is not None and known.reason else "call it with these arguments first"
        raise ValueError(f"{self.name} has no plan for these arguments: {reason}")


class JITFunction(_core.CallTable, Generic[P, R]):
    """A compiled function. What it returns is what the function would, bit for bit."""

    def __init__(
        self,
        function: Callable[P, R],
        max_cache_entries: int = 8,
        passes: Sequence[Pass | type[Pass]] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        name = getattr(function, "__name__", type(function).__name__)
        self._compiled = Compiled(self, function, name, max_cache_entries, passes)

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"JITFunction({self._compiled.name})"

    def invalidate_cache(self) -> None:
        """Forgets all plans; the next call is recorded again."""
        self._compiled.invalidate()

    def cache_info(self) -> CacheInfo:
        """How often plans were made and used."""
        return self._compiled.cache_info()

    def explain(self) -> str:
        """Plans, their sizes, and why calls were recorded again or run eagerly."""
        return self._compiled.explain()

    def graph(self, *args: P.args, **kwargs: P.kwargs) -> _core.IRGraph:
        """The graph of the plan that such a call runs; printing it shows its text."""
        return self._compiled.program(args, kwargs).graph


_Passes = Sequence[Pass | type[Pass]] | None


@overload
def compile(target: Module, *, max_cache_entries: int = 8, passes: _Passes = None) -> Any: ...
@overload
def compile(target: Callable[P, R], *, max_cache_entries: int = 8, passes: _Passes = None) -> JITFunction[P, R]: ...
@overload
def compile(
    target: None = None, *, max_cache_entries: int = 8, passes: _Passes = None
) -> Callable[[Callable[P, R]], JITFunction[P, R]]: ...
def compile(target: Any = None, *, max_cache_entries: int = 8, passes: _Passes = None) -> Any:
    """Makes a function or a module fast. Results, gradients, random numbers and state stay the same, bit for bit.

    Nothing happens before the first call, which runs as ever while it is recorded. Later calls with arguments of the
    same types run the plan that was made of it. What cannot be compiled runs as it is written, and `explain()` says
    why. At most `max_cache_entries` plans are kept; the oldest leaves first. Graphs go through `passes` in place of the
    standard ones: classes or objects derived from `lucid.compiler.Pass`.

    >>> @lucid.compile
    ... def f(x, y):
    ...     return (x * y + x).sum()
    >>> f(lucid.ones(3), lucid.ones(3)), f(lucid.ones(3), lucid.zeros(3))
    (tensor(6.), tensor(3.))
    >>> f.cache_info().hits
    1
    """
    if target is None:
        return functools.partial(compile, max_cache_entries=max_cache_entries, passes=passes)
    if isinstance(target, JITFunction) or type(target).__name__ == "JITModule":
        return target
    if isinstance(target, Module):
        from ._module import JITModule

        return JITModule(target, max_cache_entries, passes)
    if callable(target):
        return JITFunction(target, max_cache_entries, passes)
    raise TypeError(f"lucid.compile() expects an nn.Module or a callable, got {type(target)}")


jit = compile
