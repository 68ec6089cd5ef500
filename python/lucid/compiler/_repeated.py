"""Calls that a plan repeats after it has run: those that print, log or warn, and those of functions that are marked
with `lucid.compiler.effect`. See docs/decisions/0028-effects.md.
"""

from __future__ import annotations

import builtins
import functools
import logging
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from .. import _core, _effects
from ._code import site
from ._effect import copied
from ._instructions import Site, arguments_of, site_of
from ._kinds import derives, printable
from ._leaving import LeavingFloats
from ._results import Arguments, CannotPass, Text
from ._streams import Printing, are_standard_streams, are_standard_warnings, is_standard_logger

_effects.pure_module()

# A call with more effects than this runs eagerly.
_MAX_CALLS = 1000


class RepeatedCall(NamedTuple):
    """A call that a plan repeats."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    site: Site
    # For explain().
    name: str


def _print(name: str, flushes: bool, text: str) -> None:
    stream = getattr(sys, name)
    if stream is not None:
        stream.write(text)
    if stream is not None and flushes:
        stream.flush()


def _log(logger: logging.Logger, level: int, place: tuple[str, int, str], message: str, *args: Any) -> None:
    file, line, function = place
    record = logger.makeRecord(logger.name, level, file, line, message, args, None, function, None, None)
    logger.handle(record)


def _warn(entries: dict[str, Any], file: str, line: int, message: str, category: Any) -> None:
    """As `warnings.warn` does in a function with these globals."""
    registry = entries.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, file, line, entries.get("__name__", "<string>"), registry)


def _with_floats(values: list[Any], shown: list[tuple[float, str]]) -> list[Any]:
    """Values in whose texts floats appear, each once, formatted as it says. Raises CannotPass if one appears more
    often, or not at all."""
    found: dict[int, list[tuple[int, int, float, str]]] = {}
    for number, spec in shown:
        text = format(number, spec)
        places = [
            (index, at)
            for index, value in enumerate(values)
            if type(value) is str
            for at in range(len(value))
            if value.startswith(text, at)
        ]
        if len(places) != 1:
            raise CannotPass(f"shows a value of a tensor in a text that also contains {text!r} elsewhere")
        ((index, at),) = places
        found.setdefault(index, []).append((at, at + len(text), number, spec))
    values = list(values)
    for index, parts in found.items():
        values[index] = _take_apart(values[index], sorted(parts))
    return values


def _take_apart(text: str, floats: list[tuple[int, int, float, str]]) -> Text:
    parts: list[Any] = []
    end = 0
    for start, after, number, spec in floats:
        if start < end:
            raise CannotPass("shows values of tensors that overlap in a text")
        parts += [text[end:start], (number, spec)]
        end = after
    return Text([*parts, text[end:]])


class CallLog:
    """The calls of one recorded call that a plan repeats. A Watch calls `begin` and `end`."""

    codes = frozenset((logging.Logger._log.__code__,))
    functions = (print, warnings.warn)

    def __init__(self, guards: _core.GuardSet) -> None:
        """`guards` are those of what the call may read and write."""
        self.calls: list[RepeatedCall] = []
        self.loggers: list[logging.Logger] = []
        # Whether another thread has prevented that a text was noted.
        self.is_disturbed = False
        self._obstacle: str | None = None
        self._guards = guards
        # What the call had changed before the first effect.
        self._before: tuple[int, list[Any] | None] | None = None
        # The calls that are running: where they were called, and what is being printed.
        self._running: list[tuple[FrameType, Printing] | None] = []
        self.warns = False

    def begin(self, frame: FrameType, function: Any) -> bool:
        """A function of `codes` or `functions` is called. Returns whether a plan can repeat that."""
        try:
            if function is None:
                return self._begins_to_log(frame)
            if not are_standard_streams():
                return False
            return self._begins_to_print(frame) if function is print else self._begins_to_warn(frame)
        except Exception:
            # Such as RecursionError, which the program itself might not have raised.
            return False

    def end(self) -> None:
        running = self._running.pop()
        if running is None:
            _core.resume_recording()
            return
        frame, printing = running
        printed = printing.end()
        if printed is None:
            self.is_disturbed = True
        elif not printed and sys.stdout is not None:
            self._obstacle = "prints to a stream other than sys.stdout and sys.stderr"
        for stream, text, flushes in printed or ():
            self._add(functools.partial(_print, stream, flushes), (text,), {}, frame, "print")

    def _begins_to_print(self, frame: FrameType) -> bool:
        if self._running:
            self._obstacle = "prints while it prints something else"
            return False
        self._note_order()
        self._running.append((frame, Printing()))
        return True

    def _begin_alone(self) -> None:
        """What the function does that has been called is not observed."""
        self._running.append(None)
        _core.pause_recording()

    def _begins_to_log(self, frame: FrameType) -> bool:
        """A logger makes a record."""
        values = frame.f_locals
        logger, message = values["self"], values["msg"]
        if any(values[name] for name in ("exc_info", "extra", "stack_info")) or values["stacklevel"] != 1:
            return False
        if type(message) is not str or not is_standard_logger(logger) or type(values["args"]) is not tuple:
            return False
        if any(derives(type(value), _core.Tensor) and value.requires_grad for value in values["args"]):
            return False
        caller: Any = frame.f_back
        while caller is not None and caller.f_code.co_filename == logging._srcfile:
            caller = caller.f_back
        if caller is None:
            return False
        self._note_order()
        self.loggers.append(logger)
        place = caller.f_code.co_filename, caller.f_lineno, caller.f_code.co_name
        function = functools.partial(_log, logger, values["level"], place)
        self._add(function, copied((message, *values["args"])), {}, caller, "logging")
        self._begin_alone()
        return True

    def _begins_to_warn(self, frame: FrameType) -> bool:
        arguments = arguments_of(frame)
        if arguments is None or not are_standard_warnings():
            return False
        args, kwargs = arguments
        given = dict(zip(("message", "category", "stacklevel"), args)) | kwargs
        message, category = given.pop("message", None), given.pop("category", None) or UserWarning
        if type(message) is not str or given not in ({}, {"stacklevel": 1}):
            return False
        # A category of the user may run code.
        if vars(builtins).get(category.__name__) is not category:
            return False
        self._note_order()
        self.warns = True
        function = functools.partial(_warn, frame.f_globals, frame.f_code.co_filename, frame.f_lineno)
        self._add(function, (message, category), {}, frame, "warnings.warn")
        self._begin_alone()
        return True

    def perform(self, function: Callable[..., Any], args: Any, kwargs: Any, frame: FrameType, name: str) -> None:
        """Calls a function that is marked with `effect`."""
        _core.pause_recording()
        try:
            self._note_order()
            self._add(function, args, kwargs, frame, name)
            function(*args, **kwargs)
        finally:
            _core.resume_recording()

    def _add(self, function: Callable[..., Any], args: Any, kwargs: Any, frame: FrameType, name: str) -> None:
        if len(self.calls) == _MAX_CALLS:
            self._obstacle = f"has more than {_MAX_CALLS} effects"
            return
        where = site_of(frame.f_code, frame.f_lasti)
        shown = printable(f"{name} ({site(frame.f_code, frame.f_lineno)})")
        self.calls.append(RepeatedCall(function, args, kwargs, where, shown))

    def _note_order(self) -> None:
        if self._before is None:
            self._before = _core.tracing_effects(), self._identities()

    def _identities(self) -> list[Any] | None:
        """What the call has stored so far; None if it has done anything else to Python objects."""
        writes = self._guards.writes([])
        if writes is None:
            return None
        return [
            (place[0], id(place[1]), place[2:], tuple(map(id, now)) if type(now) is tuple else id(now))
            for place, _, _, now in writes
        ]

    def finish(self, effects: int) -> str | None:
        """Says, after the recorded call, why a plan cannot repeat these calls; None if it can. `effects` counts the
        effects on tensors."""
        if self._obstacle is None and self._before not in (None, (effects, self._identities())):
            self._obstacle = "changes tensors or other state after it prints, logs or calls an effect"
        return self._obstacle

    def arguments(self, floats: LeavingFloats | None) -> Arguments:
        """The arguments of the calls. Floats that the call has read from tensors may be in texts."""
        texts = floats.texts if floats is not None else []
        calls = []
        for call in self.calls:
            shown = [(value, spec) for value, spec, where in texts if where == call.site]
            values = _with_floats([*call.args, *call.kwargs.values()], shown)
            count = len(call.args)
            calls.append((tuple(values[:count]), dict(zip(call.kwargs, values[count:]))))
        return Arguments(calls)

    def repeat(self) -> tuple[Callable[[Any], None], list[str]] | None:
        """A function that repeats the calls with other arguments, and their names; None if there are none."""
        if not self.calls:
            return None
        functions = [call.function for call in self.calls]

        def repeat(arguments: list[tuple[Any, Any]]) -> None:
            for function, (args, kwargs) in zip(functions, arguments):
                function(*args, **kwargs)

        return repeat, [call.name for call in self.calls]
