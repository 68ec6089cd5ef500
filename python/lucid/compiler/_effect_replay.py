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
from .._warnings import warn_at
from ..optim.lr_scheduler import LRScheduler
from ._code import site
from ._effect import copied
from ._escaping_scalars import EscapingScalars
from ._instructions import Site, passes_exceptions_on, site_of, stream_of, values_of
from ._results import Arguments, CannotPass, Text
from ._streams import Printing, are_standard_streams, are_standard_warnings, is_standard_logger
from ._type_tables import ATOMS, derives, printable

_effects.pure_module()

# A call with more effects than this runs eagerly.
_MAX_CALLS = 1000
_ORDER = "changes tensors or other state after it prints, logs or calls an effect"


class RepeatedCall(NamedTuple):
    """A call that a plan repeats."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    site: Site
    # For explain().
    name: str


def _call(effect: Any, /, *args: Any, **kwargs: Any) -> None:
    effect.__wrapped__(*args, **kwargs)


def _print(name: str, *written: str | None) -> None:
    """Writes texts to a stream of `sys`, and flushes it for each None. As `print` does, uses `sys.stdout` if there is
    no such stream, and writes nothing if that is None, too."""
    stream = getattr(sys, name)
    stream = sys.stdout if stream is None else stream
    if stream is None:
        return
    for text in written:
        if text is None:
            stream.flush()
        else:
            stream.write(text)


def _step(scheduler: LRScheduler) -> None:
    scheduler._schedule.step()


def _log(logger: logging.Logger, level: int, caller: tuple[str, int, str], message: str, *args: Any) -> None:
    file, line, function = caller
    record = logger.makeRecord(logger.name, level, file, line, message, args, None, function, None, None)
    logger.handle(record)


def _warning_of(values: dict[str | int, Any]) -> tuple[str, Any] | None:
    """The message and the category of a call of `warnings.warn` with these arguments; None if it has others."""
    names = ("message", "category", "stacklevel")
    given = {names[name] if isinstance(name, int) else name: value for name, value in values.items()}
    message, category = given.pop("message", None), given.pop("category", None) or UserWarning
    if type(message) is not str or given not in ({}, {"stacklevel": 1}):
        return None
    # A category of the user may run code.
    return (message, category) if vars(builtins).get(getattr(category, "__name__", "")) is category else None


def _with_floats(values: list[Any], shown: list[tuple[float, str]]) -> list[Any]:
    """The values, with the floats in their texts taken apart. Each float appears once, formatted as its specification
    says; otherwise raises CannotPass."""
    found: dict[int, list[tuple[int, int, float, str]]] = {}
    for number, spec in shown:
        text = format(number, spec)
        found_at = [
            (index, at)
            for index, value in enumerate(values)
            if type(value) is str
            for at in range(len(value))
            if value.startswith(text, at)
        ]
        if len(found_at) != 1:
            raise CannotPass(f"shows a value of a tensor in a text that also contains {text!r} elsewhere")
        ((index, at),) = found_at
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


def _needs_grad(value: Any) -> bool:
    """Whether there is a tensor that requires grad in a value, which shows when it is printed."""
    if type(value) in (list, tuple):
        return any(map(_needs_grad, value))
    if type(value) is dict:
        return any(map(_needs_grad, value.values()))
    return derives(type(value), _core.Tensor) and value.requires_grad


def _can_be_formatted(message: str, args: tuple[Any, ...]) -> bool:
    """Whether a record has a text. If not, its handler prints the call stack, which differs in a repeated call."""
    try:
        logging.LogRecord("", logging.INFO, "", 0, message, args, None).getMessage()
    except Exception:
        return False
    return True


@_effects.pure
def modes() -> tuple[bool, bool]:
    """The modes of this thread that a replayed call does not set."""
    return _core.is_grad_enabled(), _core.is_inference_mode_enabled()


class CallLog:
    """The calls of one recorded call that a plan repeats. A Watch calls `begin` and `end`."""

    codes = frozenset((logging.Logger._log.__code__,))
    functions = (print, warnings.warn)

    def __init__(self, guards: _core.GuardSet) -> None:
        """`guards` are those of what the call may read and write."""
        self.calls: list[RepeatedCall] = []
        self.loggers: list[logging.Logger] = []
        # The schedules of learning rates that the call steps.
        self.schedulers: list[LRScheduler] = []
        # Where texts are printed.
        self.printing: set[Site] = set()
        self.warns = False
        # Whether another thread has interfered, so that a text is missing.
        self.is_invalidated = False
        self._obstacle: str | None = None
        self._guards = guards
        # The frame that makes the call, and the modes when it began.
        self._caller: FrameType | None = None
        self._modes: tuple[bool, bool] | None = None
        # What the call had changed before the first effect.
        self._before: tuple[int, list[Any] | None] | None = None
        # The running calls: what prints, and where. "alone" for calls that are not observed, None for ignored ones.
        self._running: list[tuple[FrameType, str, Printing] | str | None] = []

    def start(self, caller: FrameType | None, modes: tuple[bool, bool]) -> None:
        """The call begins in these modes; `caller` makes it."""
        self._caller, self._modes = caller, modes

    def stop(self) -> None:
        self._caller = None

    def begin(self, frame: FrameType, function: Any) -> bool:
        """A function of `codes` or `functions` is called. Returns whether `end` is to be called."""
        try:
            if self._obstacle is not None:
                obstacle: str | None = self._obstacle
            elif function is None:
                obstacle = self._begin_to_log(frame)
            else:
                obstacle = self._begin_to_print(frame) if function is print else self._begin_to_warn(frame)
        except Exception:
            # Such as RecursionError, which the program itself might not have raised.
            return False
        if obstacle is not None:
            self._obstacle = obstacle
            if function is print:
                self._running.append(None)
            else:
                self._begin_alone()
        return True

    def end(self) -> None:
        running = self._running.pop()
        if running == "alone":
            _core.resume_recording()
        if running is None or isinstance(running, str):
            return
        frame, name, printing = running
        written = printing.end()
        if written is None:
            self.is_invalidated = True
            return
        self._add(functools.partial(_print, name), tuple(written), {}, frame, "print")
        self.printing.add(self.calls[-1].site)

    def _begin_to_print(self, frame: FrameType) -> str | None:
        name = stream_of(frame)
        stream = getattr(sys, name, None) if name in ("stdout", "stderr") else None
        if name is None or stream is None:
            return "prints to a stream other than sys.stdout and sys.stderr"
        if not are_standard_streams():
            return "prints to a stream of the user's"
        if self._running:
            return "has an effect while it prints"
        self._check(frame, c_calls=1)
        self._running.append((frame, name, Printing(stream)))
        return None

    def _begin_to_log(self, frame: FrameType) -> str | None:
        """A logger makes a record."""
        values = frame.f_locals
        logger, message, args = values["self"], values["msg"], values["args"]
        plain = (values["exc_info"], values["extra"], values["stack_info"], values["stacklevel"])
        if not is_standard_logger(logger):
            return "logs to a handler of the user's"
        if plain != (None, None, False, 1) or type(message) is not str or type(args) is not tuple or _needs_grad(args):
            return "logs a record with more than a message and plain arguments"
        caller: Any = frame.f_back
        while caller is not None and caller.f_code.co_filename == logging._srcfile:
            caller = caller.f_back
        self._check(caller)
        self.loggers.append(logger)
        line = caller.f_code.co_filename, caller.f_lineno, caller.f_code.co_name
        function = functools.partial(_log, logger, values["level"], line)
        self._add(function, copied((message, *args)), {}, caller, "logging")
        self._begin_alone()
        if ATOMS.has_all(map(type, args)) and not _can_be_formatted(message, args):
            self._obstacle = "logs a record that cannot be formatted"
        return None

    def _begin_to_warn(self, frame: FrameType) -> str | None:
        values = values_of(frame)
        given = None if values is None else _warning_of(values)
        if given is None or not are_standard_warnings() or not are_standard_streams():
            return "warns in a way that plans do not repeat"
        message, category = given
        self._check(frame, c_calls=1)
        self.warns = True
        self._add(warn_at(frame, category), (message,), {}, frame, "warnings.warn")
        self._begin_alone()
        return None

    def warn(self, message: str, frame: FrameType) -> None:
        """Lucid itself is about to warn. `frame` called it."""
        _core.pause_recording()
        try:
            if self._obstacle is None:
                if are_standard_warnings() and are_standard_streams():
                    self._check(frame)
                    self.warns = True
                    self._add(warn_at(frame), (message,), {}, frame, "a warning of Lucid's")
                else:
                    self._obstacle = "warns in a way that plans do not repeat"
            warn_at(frame)(message)
        except BaseException:
            self._obstacle = "calls an effect that raises"
            raise
        finally:
            _core.resume_recording()

    def _begin_alone(self) -> None:
        """Stops observing until the function that has been called returns."""
        self._running.append("alone")
        _core.pause_recording()

    def perform(self, effect: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        """Calls a function that is marked with `effect`."""
        noted, named = copied(args), copied(kwargs)
        _core.pause_recording()
        try:
            if self._obstacle is None:
                self._check(frame)
                name = getattr(effect, "__name__", type(effect.__wrapped__).__name__)
                self._add(functools.partial(_call, effect), noted, named, frame, name)
            # The function may change its copies: a replay gets copies of its own.
            _call(effect, *copied(args), **copied(kwargs))
        except BaseException:
            self._obstacle = "calls an effect that raises"
            raise
        finally:
            _core.resume_recording()

    def step(self, scheduler: LRScheduler) -> bool:
        """Steps a schedule of learning rates, if a plan can repeat that. Returns whether it has.

        The step cannot fail and calls no code of the user, and the call cannot use the rates afterwards. So it may come
        before the call's writes.
        """
        schedule, optimizer = scheduler._schedule, scheduler.optimizer
        _core.pause_recording()
        try:
            is_first = all(each.optimizer is not optimizer for each in self.schedulers)
            if self._running or not is_first or not schedule.acts_on(optimizer) or not schedule.can_repeat_step():
                return False
            schedule.step()
            _core.outdate(schedule.cells())
            self.schedulers.append(scheduler)
            self._add(_step, (scheduler,), {}, sys._getframe(1), f"a step of {type(scheduler).__name__}")
            return True
        finally:
            _core.resume_recording()

    def _add(self, function: Callable[..., Any], args: Any, kwargs: Any, frame: FrameType, name: str) -> None:
        if len(self.calls) == _MAX_CALLS:
            self._obstacle = f"has more than {_MAX_CALLS} effects"
        where = site_of(frame.f_code, frame.f_lasti)
        shown = printable(f"{name} ({site(frame.f_code, frame.f_lineno)})")
        self.calls.append(RepeatedCall(function, args, kwargs, where, shown))

    def _check(self, frame: FrameType, c_calls: int = 0) -> None:
        """Sets the obstacle if an effect that `frame` causes would differ after the plan has run. The effect itself
        consists of `c_calls` calls of C functions."""
        now = _core.tracing_effects(), self._identities()
        if self._before is None:
            self._before = now
        if self._before != now:
            self._obstacle = _ORDER
        if any(running is not None for running in self._running):
            self._obstacle = "has an effect while it prints"
        if modes() != self._modes:
            self._obstacle = "has an effect in another grad mode than that of the call"
        at: FrameType | None = frame
        while at is not None and at is not self._caller:
            if not passes_exceptions_on(at):
                self._obstacle = (
                    "has an effect in a `try` or `with` block, a generator, or a method that an operator calls"
                )
            at = at.f_back
        if _core.running_c_calls() > c_calls:
            self._obstacle = "has an effect in a function that C code calls"

    def _identities(self) -> list[Any] | None:
        """What the call has stored so far; None if it has changed Python objects in any other way."""
        writes = self._guards.writes([])
        if writes is None:
            return None
        return [
            (location[0], id(location[1]), location[2:], tuple(map(id, now)) if type(now) is tuple else id(now))
            for location, _, _, now in writes
        ]

    def finish(self, effects: int) -> str | None:
        """Says, after the recorded call, why a plan cannot repeat these calls; None if it can. `effects` counts the
        effects on tensors."""
        if not all(scheduler._schedule.can_repeat_step() for scheduler in self.schedulers):
            return "makes the last step of a learning rate schedule"
        if self._obstacle is None and self._before not in (None, (effects, self._identities())):
            self._obstacle = _ORDER
        return self._obstacle

    def arguments(self, floats: EscapingScalars | None) -> Arguments:
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
