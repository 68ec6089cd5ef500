"""How calls of one compiled function or module are recorded. Its plan table, in C++, finds, runs and keeps plans."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _core
from ..nn import Module
from ._cache import CacheKey, PlanCache
from ._capture import Capture, Recording
from ._passes import Pass, to_core
from ._results import CannotRebuild, take_apart


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


def wait() -> None:
    """Waits until the plans of all calls so far, and of backward passes, have been made, on the thread that makes them.

    Nothing needs it: a call waits for its plan. It is for measuring, and for a server that wants no call to wait.

    >>> f = lucid.compile(lambda x: x * 2)
    >>> y = f(lucid.ones(3))
    >>> lucid.compiler.wait()
    """
    _core.finish_all_recordings()


# The interpreter may end while plans are being made.
atexit.register(_core.stop_compile_thread)


def counters() -> Counters:
    """What all compiled functions and modules of this process have done so far."""
    return Counters(*_core.call_counters(), *_core.backward_counters())


class Compiled:
    """Records the calls of a compiled function or module for its plan table."""

    def __init__(
        self,
        table: _core.CompiledCallable,
        target: Any,
        name: str,
        max_cache_entries: int,
        passes: Sequence[Pass | type[Pass]] | None = None,
    ) -> None:
        if not isinstance(max_cache_entries, int):
            kind = type(max_cache_entries).__name__
            raise TypeError(f"lucid.compile(): max_cache_entries must be an int, got {kind}")
        max_cache_entries = min(max_cache_entries, sys.maxsize)
        if max_cache_entries < 1:
            raise ValueError(
                f"lucid.compile() needs room for at least one plan, got max_cache_entries={max_cache_entries}"
            )
        self.table = table
        self.target = target
        self.name = name
        self.max_cache_entries = max_cache_entries
        self.passes = passes
        self.capture = Capture(target)
        table.connect(target, self, name, max_cache_entries, to_core(passes))

    # What the table calls around a call that it records.

    def begin(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[_core.Tensor]
    ) -> tuple[Recording, CacheKey]:
        """Walks from the target and the arguments. The call follows, inside the recording."""
        training = isinstance(self.target, Module) and self.target.training
        key = CacheKey.of(tensors, args, kwargs, training)
        return self.capture.begin(args, kwargs), key

    def finish(
        self, recording: Recording, key: CacheKey, tracing: _core.Tracing, tensors: list[_core.Tensor], result: Any
    ) -> tuple[Any, ...] | str | None:
        """What a plan is made of: key, program, guards, how to rebuild results, places of state. Or why there can be
        none. Or None where this call taught something, and the next is to be recorded."""
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
        program, obstacle = _core.record_trace(tracing, tensors, results, [tensor for tensor, _ in found], self.name)
        if program is None:
            return str(obstacle)
        if (why := recording.kept(program)) is not None:
            return str(why)
        places = {id(tensor): place for tensor, place in found}
        used = [places.get(id(tensor), "the random generator") for tensor in program.state]
        rebuild = None if isinstance(result, _core.Tensor) else make_result
        return key, program, outcome.guards, rebuild, used

    # Queries. They wait for the plans that are being made.

    @property
    def plans(self) -> PlanCache:
        """The plans, as they are when somebody looks."""
        return PlanCache(self.table, self.max_cache_entries)

    def invalidate(self) -> None:
        self.table.invalidate()
        self.capture = Capture(self.target)

    def cache_info(self) -> CacheInfo:
        return CacheInfo(*self.table.counters())

    def explain(self) -> str:
        """What was compiled, and why what was not."""
        return self.table.explain_plans()

    def explain_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """What a call with these arguments would do now. Nothing is called."""
        return self.table.explain_call(args, kwargs)

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _core.Program:
        """What a call with these arguments would run now."""
        program = self.table.find(args, kwargs)
        if program is not None:
            return program
        reason = self.table.eager_reason(args, kwargs) or "call it with these arguments first"
        raise ValueError(f"{self.name} has no plan for these arguments: {reason}")
