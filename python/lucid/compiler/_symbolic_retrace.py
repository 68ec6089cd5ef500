"""Runs calls to record them, with traced numbers and sizes: see `_numbers`."""

from __future__ import annotations

import gc
import math
import operator
import os
import signal
import sys
import types
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .. import _core
from ._code import LIBRARIES, OWN
from ._numbers import NumberTrace, TracedNumber, Varying

# The functions of `math`.
_MATHS: dict[str, Any] = {
    name: function for name, function in vars(math).items() if type(function) is types.BuiltinFunctionType
}


def _traced(function: Callable[..., Any], trace: NumberTrace) -> Callable[..., Any]:
    """A function of `math` that computes traced numbers from traced numbers."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and any(type(arg) is TracedNumber for arg in args):
            return trace.compute(function, *args)
        return function(*args, **kwargs)

    return call


def _replacements(varying: Varying, trace: NumberTrace) -> list[tuple[tuple[Any, ...], Any, Any]]:
    """What the symbolic retrace replaces: a location, what it holds, and what it is to hold."""
    found: list[tuple[tuple[Any, ...], Any, Any]] = []
    for location, name in varying.locations:
        value = _core.object_in(location)
        found.append((location, value, trace.location(value, name)))
    # Other threads and handlers would notice: see docs/decisions/0040-functions-of-math.md.
    if (varying.numbers or varying.locations) and not is_watched():
        entries = vars(math)
        for name in _MATHS:
            if entries.get(name) is _MATHS[name]:
                found.append(((0, entries, name, 0), _MATHS[name], _traced(_MATHS[name], trace)))
    return found


class RaiseWatch:
    """A trace function that records which code runs and what it raises. C code that wants an int or a float raises for
    a traced one, and the function may handle that."""

    def __init__(self) -> None:
        # Each exception and the line of each function that it passed through.
        self.raised: list[str] = []
        # The code of users that ran.
        self.codes: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> RaiseWatch:
        frame.f_trace_lines = False
        code = frame.f_code
        if event == "call" and not code.co_filename.startswith((OWN, *LIBRARIES)):
            self.codes.add(code)
        if event == "exception" and not issubclass(argument[0], StopIteration | GeneratorExit):
            self.raised.append(f"{argument[0].__name__} at {os.path.basename(code.co_filename)}:{frame.f_lineno}")
        return self


class Run(NamedTuple):
    """A call that ran and was recorded."""

    # Tells how the traced numbers were computed.
    trace: NumberTrace
    tracing: _core.Tracing
    # The tensors of the call, as the function got them.
    given: list[_core.Tensor]
    # What the function returned; None if it raised an exception.
    result: Any
    error: Exception | None
    # What the tensors `written` held afterwards.
    contents: list[_core.Tensor]
    watch: RaiseWatch

    @property
    def captured(self) -> list[_core.Tensor]:
        """The tensors that the call used and that are no arguments."""
        return [tensor for tensor in self.tracing.accessed if all(tensor is not each for each in self.given)]

    @property
    def failed(self) -> bool:
        """Whether exceptions were raised or too many numbers traced, so that a plain run may do something else."""
        return self.error is not None or bool(self.watch.raised) or self.trace.failed


def _replaced(value: Any, others: dict[int, Any]) -> Any:
    """An argument with other tensors in it, which may be items of lists, tuples and dicts. `others` replace objects, by
    id. Containers are not changed but copied, each once, however many ways lead to it."""
    cls = type(value)
    if id(value) not in others and (cls is list or cls is tuple or cls is dict):
        items = list(value.values()) if cls is dict else value
        copies = [_replaced(item, others) for item in items]
        is_same = all(map(operator.is_, items, copies))
        others[id(value)] = value if is_same else dict(zip(value, copies)) if cls is dict else cls(copies)
    return others.get(id(value), value)


_NOTHING = Varying([], [], [])


def _nothing(tracing: _core.Tracing) -> list[_core.Tensor]:
    return []


def retrace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: list[_core.Tensor],
    varying: Varying = _NOTHING,
    *,
    keeps_contents: bool = False,
    watches: bool = True,
    written: Callable[[_core.Tracing], list[_core.Tensor]] = _nothing,
) -> Run:
    """Runs a call and records it, with traced numbers and sizes in the place of the `varying` ones.

    `given` are the tensors among the arguments. If it `keeps_contents`, the tensors that the call writes to get their
    old contents back; what those that `written` names held after the call is in the result. If it `watches`, the result
    knows which exceptions code raised, and no debugger sees the call.
    """
    trace = NumberTrace()
    tracing = _core.Tracing(keeps_contents, any(varying))
    values = [*args, *kwargs.values()]
    for index, position in varying.numbers:
        values[index] = trace.argument(values[index], position)
    passed = list(given)
    for tensor in varying.tensors:
        passed[tensor.tensor] = tracing.trace_sizes(given[tensor.tensor], tensor.tensor, tensor.dims)
    values = _replaced(values, {id(plain): traced for plain, traced in zip(given, passed) if traced is not plain})
    positional = values[: len(args)]
    named = dict(zip(kwargs, values[len(args) :]))
    del values
    watch = RaiseWatch()
    replacements = _replacements(varying, trace)
    before = [(location, old) for location, old, _ in replacements]
    collects, tracer = gc.isenabled(), sys.gettrace()
    result: Any = None
    error: Exception | None = None
    try:
        try:
            # Destructors that the collector calls would see traced numbers.
            gc.disable()
            _core.replace_in([(location, new) for location, _, new in replacements])
            if watches:
                sys.settrace(watch)
            tracing.start()
            result = function(*positional, **named)
        except Exception as raised:
            error = raised
        finally:
            _core.end_retrace(before, collects, tracer)
            trace.close()
            tracing.stop()
        contents = [tensor.detach().clone() for tensor in written(tracing)]
        return Run(trace, tracing, passed, result, error, contents, watch)
    finally:
        tracing.restore_contents()
        del error  # its traceback holds this frame


def is_observed() -> bool:
    """Whether a debugger or a profiler would see the retrace."""
    return sys.gettrace() is not None or sys.getprofile() is not None


def is_watched() -> bool:
    """Whether other code may see traced numbers in locations: other threads, or handlers of signals."""
    return not _core.is_only_thread() or any(
        callable(handler := signal.getsignal(number)) and handler is not signal.default_int_handler
        for number in signal.valid_signals()
    )
