"""Recording the calls of one compiled function or module. Its plan table, in C++, finds, runs and stores plans."""

from __future__ import annotations

import atexit
import sys
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import _core
from ..nn import Module
from ._arguments import parameter_names
from ._cache import CacheKey, PlanCache, requires_grad
from ._capture import Capture, Recording
from ._dynamic_dims import marked_dims
from ._effect_replay import CallLog
from ._escaping_scalars import EscapingScalars
from ._numbers import Varying, VaryingLocation, VaryingTensor
from ._passes import Pass, to_core
from ._results import CannotPass, CannotRebuild, Known, UnknownClass, flatten_result
from ._symbolic_retrace import is_observed, is_watched, retrace
from ._type_tables import derives, gradient_of, printable
from ._verify import difference


class CacheInfo(NamedTuple):
    """Counters of a compiled function or module."""

    hits: int
    misses: int
    compiles: int
    fallbacks: int
    entries: int
    max_entries: int
    bytes: int
    # Calls that no plan served, but whose ops all ran in plans.
    pieces: int


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


class _Traced(NamedTuple):
    """What a symbolic retrace has told of a call."""

    tracing: _core.Tracing
    # The tensors of the call, some of which have traced sizes.
    tensors: list[_core.Tensor]
    results: list[_core.Tensor]
    # Computes the numbers that a plan is given.
    program: _core.NumberProgram | None
    # In the key: what may vary.
    positions: list[int]
    names: list[str]
    # The indices of the arguments that are numbers and may vary.
    numbers: list[int]
    locations: list[VaryingLocation]

    def record(
        self, given: list[_core.Tensor], state: list[_core.Tensor], name: str
    ) -> tuple[_core.RecordedCall | None, str | None]:
        arguments = [*self.tensors, *given[len(self.tensors) :]]
        return self.tracing.record(arguments, self.results, state, name)


class _Plan(NamedTuple):
    """What a plan of the table is made of. PythonPlan (python/bindings/python_plan.cpp) reads the fields by name."""

    key: CacheKey
    call: _core.RecordedCall
    guards: _core.GuardSet
    # Makes the result of a call from tensors; None if the result is the tensor.
    make_result: Any
    # The names of captured tensors.
    sources: list[str]
    # What may vary: how the numbers that the program is given are computed, positions in the key, and names.
    varying: tuple[_core.NumberProgram | None, list[int], list[str]] | None
    # Repeats calls such as print(), with their names.
    repeat: tuple[Any, list[str]] | None


class _NoPlan(Exception):
    """A recorded call has no plan, for this reason. None: the next call is to be recorded."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason)
        self.reason = reason


def _stride_positions(varying: Varying, tensors: list[_core.Tensor]) -> list[int]:
    """The positions of strides, which vary with the sizes if the tensor is contiguous."""
    positions = []
    for tensor in varying.tensors:
        traced = tensors[tensor.tensor]
        if traced.is_contiguous():
            positions += [tensor.position + traced.ndim + dim for dim in range(traced.ndim)]
    return positions


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
        dynamic: bool | None = None,
        verify: int | None = None,
    ) -> None:
        if not isinstance(max_cache_entries, int):
            kind = type(max_cache_entries).__name__
            raise TypeError(f"lucid.compile(): max_cache_entries must be an int, got {kind}")
        max_cache_entries = min(max_cache_entries, sys.maxsize)
        if max_cache_entries < 1:
            raise ValueError(f"lucid.compile(): max_cache_entries must be at least 1, got {max_cache_entries}")
        # The table refers to this object. In a cycle, what a function holds would live on when the function is dropped.
        self._table = weakref.ref(table)
        self.target = target
        self.name = name
        self.max_cache_entries = max_cache_entries
        self.passes = passes
        self.wait = bool(wait)
        if dynamic is not None and not isinstance(dynamic, bool):
            raise TypeError(f"lucid.compile(): dynamic must be True, False or None, got {type(dynamic).__name__}")
        self.dynamic = dynamic
        if verify is not None and not isinstance(verify, int):
            raise TypeError(f"lucid.compile(): verify must be an int or None, got {type(verify).__name__}")
        if verify is not None and not 0 <= verify <= sys.maxsize:
            raise ValueError(f"lucid.compile(): verify must be at least 0, got {verify}")
        self.verify = verify
        self.marked_dims = marked_dims
        self.capture = Capture(target)
        table.connect(target, self, name, max_cache_entries, to_core(passes), self.wait, verify, dynamic)

    @property
    def table(self) -> _core.CompiledCallable:
        table = self._table()
        if table is None:
            raise ReferenceError("the compiled function is gone")
        return table

    def part(self, target: Any) -> _core.CompiledCallable:
        """A callable that `target` does not know of, compiled by itself: see python/bindings/parts.h."""
        table = _core.CompiledCallable()
        name = getattr(target, "__name__", type(target).__name__)
        Compiled(table, target, name, self.max_cache_entries, self.passes, self.wait, self.dynamic, self.verify)
        return table

    @property
    def options(self) -> tuple[Any, ...]:
        """The options of lucid.compile(), in order."""
        return self.max_cache_entries, self.passes, self.wait, self.dynamic, self.verify

    # PythonCall (python/bindings/python_call.cpp) calls these before and after a call that it records.

    def begin(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[_core.Tensor]
    ) -> tuple[Recording, CacheKey]:
        """Walks from the target and the arguments. The call then runs inside the recording."""
        training = derives(type(self.target), Module) and self.target.training
        key = CacheKey.of(tensors, args, kwargs, training)
        return self.capture.begin(args, kwargs), key

    def finish(
        self,
        recording: Recording,
        key: CacheKey,
        tracing: _core.Tracing,
        tensors: list[_core.Tensor],
        result: Any,
        varying: tuple[list[Any], list[Any], set[str]],
    ) -> _Plan | str | None:
        """What a plan is made of. A string is the reason why there is no plan; None means that the next call is to be
        recorded. `varying` are numbers and tensors as in a Varying, and the names of locations that do not vary."""
        try:
            return self._plan(recording, key, tracing, tensors, result, varying)
        except _NoPlan as no_plan:
            return no_plan.reason

    def _plan(
        self,
        recording: Recording,
        key: CacheKey,
        tracing: _core.Tracing,
        tensors: list[_core.Tensor],
        result: Any,
        varying: tuple[list[Any], list[Any], set[str]],
    ) -> _Plan:
        known = recording.known(tensors)
        read = EscapingScalars(tracing.floats)
        floats = read if read.copies and recording.forwards(read) else None
        tracing.forwards_scalars = floats is not None
        wanted = self._wanted(recording, tensors, varying)
        arguments = recording.arguments if any(wanted) else ((), {})
        results, make_result = self._flattened(recording, result, known)
        outcome = recording.finish(result, floats, tracing.effects)
        if outcome.record_again:
            raise _NoPlan(None)
        if outcome.guards is None:
            # An obstacle in the use of tensors is more specific than state that the call might have read.
            raise _NoPlan(recording.obstacle or tracing.obstacle or str(outcome.reason))
        found = list(outcome.tensors.values())
        given = [*tensors, *outcome.inputs]
        leaves = [*given, *(tensor for tensor, _ in found)]
        if any(gradient_of(leaf) is result for result in results for leaf in leaves):
            raise _NoPlan("returns the gradient of a tensor")
        repeat = recording.log.repeat()
        is_whole = bool(outcome.stored) or repeat is not None
        if is_whole or floats is not None:
            log = None if repeat is None else recording.log
            whole = (result, *outcome.stored) if is_whole else result
            results, make_result = self._flattened_with(whole, log, known, floats, tracing)
        outcome.guards.set_inputs(tensors, outcome.inputs)
        traced = None
        state = [tensor for tensor, _ in found]
        has_effects = is_whole or floats is not None or not tracing.may_run_twice
        if any(wanted) and not has_effects and not any(map(requires_grad, [*results, *tensors])):
            traced = self._trace(recording.structure, tracing, results, known, arguments, tensors, wanted)
        call, obstacle = (None, None) if traced is None else traced.record(given, state, self.name)
        if traced is not None and call is not None:
            names = [*range(len(arguments[0])), *arguments[1]]
            key = key.without({names[index] for index in traced.numbers})
            recording.vary(traced.locations)
        else:
            traced = None
            call, obstacle = tracing.record(given, results, state, self.name)
        if call is None:
            raise _NoPlan(str(obstacle))
        if (why := recording.sharing_obstacle(call)) is not None:
            raise _NoPlan(str(why))
        sources = {id(tensor): source for tensor, source in found}
        return _Plan(
            key,
            call,
            outcome.guards,
            None if derives(type(result), _core.Tensor) and not is_whole else make_result,
            [sources.get(id(tensor), "the random generator") for tensor in call.captured],
            None if traced is None else (traced.program, traced.positions, traced.names),
            repeat,
        )

    def _wanted(
        self, recording: Recording, tensors: list[_core.Tensor], varying: tuple[list[Any], list[Any], set[str]]
    ) -> Varying:
        """The numbers and sizes that a plan should be given, if the call does not depend on them."""
        if recording.inspects_numbers:
            return Varying([], [], [])
        numbers, sizes, fixed = varying
        # While the call runs again, traced numbers are where other code might find them.
        others = [] if recording.varying and is_watched() else recording.varying
        return Varying(
            numbers,
            # The symbolic retrace would find plain sizes where it cannot replace the tensor.
            [VaryingTensor(*tensor) for tensor in sizes if not recording.is_held(tensors[tensor[1]])],
            [location for location in others if location.name not in fixed],
        )

    @staticmethod
    def _flattened(recording: Recording, result: Any, known: Known) -> tuple[list[_core.Tensor], Any]:
        try:
            return flatten_result(result, known)
        except CannotRebuild as error:
            record_again = isinstance(error, UnknownClass) and recording.finish(result).record_again
            raise _NoPlan(None if record_again else printable(str(error))) from None

    @staticmethod
    def _flattened_with(
        result: Any, log: CallLog | None, known: Known, floats: EscapingScalars | None, tracing: _core.Tracing
    ) -> tuple[list[_core.Tensor], Any]:
        """The same with what the call stores, with the arguments of calls that are repeated, and with floats."""
        try:
            whole = result if log is None else (*result, log.arguments(floats))
            return flatten_result(whole, known, floats)
        except CannotPass as error:
            raise _NoPlan(printable(str(error))) from None
        except CannotRebuild as error:
            tracing.forwards_scalars = False
            raise _NoPlan(tracing.obstacle or printable(str(error))) from None

    def _trace(
        self,
        structure: bytes,
        tracing: _core.Tracing,
        results: list[_core.Tensor],
        known: Known,
        arguments: tuple[tuple[Any, ...], dict[str, Any]],
        given: list[_core.Tensor],
        varying: Varying,
    ) -> _Traced | None:
        """Runs the call again to find out how it uses the numbers and sizes that vary: see `_numbers`. Returns None if
        the plan serves only the recorded ones."""
        run = None if is_observed() else retrace(self.target, *arguments, given, varying)
        try:
            others = None if run is None or run.failed else flatten_result(run.result, known)[0]
        except CannotRebuild:
            others = None  # it holds a traced number or size
        if run is None or others is None:
            self.table.add_fixed(structure, varying.all())
            return None
        trace, second, tensors = run.trace, run.tracing, run.given
        del run
        fixed = trace.fixed(second.read_numbers)
        positions_of = {tensor.tensor: tensor.position for tensor in varying.tensors}
        fixed |= {positions_of[index] + dim for index, dim, is_fixed in second.sizes if is_fixed}
        self.table.add_fixed(structure, fixed)
        free = varying.only(fixed, {positions_of[index] + dim for index, dim, _ in second.sizes})
        kept = trace.of_arguments(fixed)
        outputs = second.number_operands(tracing, results, others, kept) if any(free) else None
        if outputs is None or trace.is_leaking():
            self.table.add_fixed(structure, varying.all())
            return None
        all_names = self.argument_names(*arguments)
        names = [all_names[index] for index, _ in free.numbers]
        names += [f"the shape of {all_names[tensor.argument]}" for tensor in free.tensors]
        in_locations = [location.name for location in free.locations]
        names += in_locations
        program = trace.program(outputs, second.read_numbers, in_locations) if free.numbers or in_locations else None
        positions = sorted([*free.positions(), *_stride_positions(free, tensors)])
        numbers = [index for index, _ in free.numbers]
        return _Traced(second, tensors, others, program, positions, names, numbers, free.locations)

    def difference(self, compared: list[tuple[str, Any, Any]]) -> str | None:
        """Says where what a plan would have done differs from what the function did; None if it does not."""
        differences = (difference(compiled, eager, path) for path, compiled, eager in compared)
        return next((text for text in differences if text is not None), None)

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
