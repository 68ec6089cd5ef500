"""Recording the calls of one compiled function or module. Its plan table, in C++, finds, runs and stores plans."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _core
from ..nn import Module
from ._arguments import parameter_names
from ._cache import CacheKey, PlanCache
from ._capture import Capture, Recording
from ._kinds import derives, gradient_of, printable
from ._passes import Pass, to_core
from ._results import CannotRebuild, UnknownClass, flatten_result


class CacheInfo(NamedTuple):
    """Counters of a compiled function or module."""

    hits: int
    misses: int
    compiles: int
    fallbacks: int
    entries: int
    max_entries: int
    bytes: int


class Counters(NamedTuple):
    """Counters of all compiled functions and modules of the process."""

    hits: int
    misses: int
    compiles: int
    # Compiles for arguments that already had a plan.
    recompiles: int
    eager_calls: int
    # Plans for backward passes outside compiled code, and how often they ran.
    backward_plans: int
    backward_runs: int


def wait() -> None:
    """Waits until the compile thread has compiled the plans of all calls so far, and of backward passes.

    Calls whose plan is not there yet run eagerly. Servers wait once after the first calls, and benchmarks before they
    measure.

    >>> f = lucid.compile(lambda x: x * 2)
    >>> y = f(lucid.ones(3))
    >>> lucid.compiler.wait()
    """
    _core.finish_all_recordings()


# The interpreter may exit while plans are being compiled.
atexit.register(_core.stop_compile_thread)


def counters() -> Counters:
    """The counters of all compiled functions and modules of this process."""
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
        wait: bool = False,
    ) -> None:
        if not isinstance(max_cache_entries, int):
            kind = type(max_cache_entries).__name__
            raise TypeError(f"lucid.compile(): max_cache_entries must be an int, got {kind}")
        max_cache_entries = min(max_cache_entries, sys.maxsize)
        if max_cache_entries < 1:
            raise ValueError(f"lucid.compile(): max_cache_entries must be at least 1, got {max_cache_entries}")
        self.table = table
        self.target = target
        self.name = name
        self.max_cache_entries = max_cache_entries
        self.passes = passes
        self.wait = bool(wait)
        self.capture = Capture(target)
        table.connect(target, self, name, max_cache_entries, to_core(passes), self.wait)

    @property
    def options(self) -> tuple[Any, ...]:
        """The options of lucid.compile(), in order."""
        return self.max_cache_entries, self.passes, self.wait

    # The table calls these before and after a call that it records.

    def begin(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[_core.Tensor]
    ) -> tuple[Recording, CacheKey]:
        """Walks from the target and the arguments. The call then runs inside the recording."""
        training = derives(type(self.target), Module) and self.target.training
        key = CacheKey.of(tensors, args, kwargs, training)
        return self.capture.begin(args, kwargs), key

    def finish(
        self, recording: Recording, key: CacheKey, tracing: _core.Tracing, tensors: list[_core.Tensor], result: Any
    ) -> tuple[Any, ...] | str | None:
        """Returns the parts of a plan: key, program, guards, a function that rebuilds results, places of captured
        tensors. Returns a string with the reason if there is no plan, or None if the next call is to be recorded."""
        try:
            results, make_result = flatten_result(result, recording.known(tensors))
        except CannotRebuild as error:
            learned = isinstance(error, UnknownClass) and recording.finish(result).learned
            return None if learned else printable(str(error))
        outcome = recording.finish(result)
        if outcome.learned:
            return None
        if outcome.guards is None:
            # An obstacle in the use of tensors is more specific than state that the call might have read.
            return tracing.obstacle or str(outcome.reason)
        found = list(outcome.tensors.values())
        leaves = [*tensors, *(tensor for tensor, _ in found)]
        if any(gradient_of(leaf) is result for result in results for leaf in leaves):
            return "returns the gradient of a tensor"
        program, obstacle = _core.record_trace(tracing, tensors, results, [tensor for tensor, _ in found], self.name)
        if program is None:
            return str(obstacle)
        if (why := recording.sharing_obstacle(program)) is not None:
            return str(why)
        places = {id(tensor): place for tensor, place in found}
        used = [places.get(id(tensor), "the random generator") for tensor in program.state]
        rebuild = None if derives(type(result), _core.Tensor) else make_result
        return key, program, outcome.guards, rebuild, used

    def argument_names(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """What to call each argument in a message: "argument x", or "argument 0" if the parameter is not known."""
        names = parameter_names(self.target, args, kwargs)
        return [name if name == f"argument {number}" else f"argument {name}" for number, name in enumerate(names)]

    # Queries. They wait for the plans that are being compiled.

    @property
    def plans(self) -> PlanCache:
        """The plans, read from the table at each access."""
        return PlanCache(self.table, self.max_cache_entries)

    def invalidate(self) -> None:
        self.table.invalidate()
        self.capture = Capture(self.target)

    def cache_info(self) -> CacheInfo:
        return CacheInfo(*self.table.counters())

    def explain(self) -> str:
        """A report of the plans, and of the reasons why other calls run eagerly."""
        return self.table.explain_plans()

    def explain_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """What a call with these arguments would do now. The function is not called."""
        return self.table.explain_call(args, kwargs)

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _core.Program:
        """The program that a call with these arguments would run now."""
        program = self.table.find(args, kwargs)
        if program is not None:
            return program
        reason = self.table.eager_reason(args, kwargs) or "call it with these arguments first"
        raise ValueError(f"{self.name} has no plan for these arguments: {reason}")


# A function that reads the compiled functions among its state does not depend on how their calls are recorded.
_core.pure.add(Compiled)
