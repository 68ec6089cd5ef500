"""The standard streams and loggers: whether code of the user sees what a call prints and logs, and what it printed."""

from __future__ import annotations

import io
import logging
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from typing import Any

from .. import _core, _effects
from ._type_tables import derives, is_heap_class, mro_of

_effects.pure_module()

# The attributes of a stream that code can read.
ATTRIBUTES = frozenset(("closed", "encoding", "errors", "line_buffering", "mode", "name", "newlines", "write_through"))
_STREAMS = (io.TextIOWrapper, io.StringIO)
# The attributes of `sys` and of handlers that hold streams for output.
_OUTPUTS = frozenset(("stdout", "stderr", "__stdout__", "__stderr__", "stream"))
_BUFFER: Any = _core.class_dict(io.TextIOWrapper)["buffer"]
_BUFFERS = (io.BufferedWriter, io.BufferedRandom, io.BytesIO, io.FileIO)
# Methods that a class must not define for its streams to count as standard.
_OVERRIDES = ("write", "flush", "__getattribute__", "__getattr__")
_HANDLERS = (logging.StreamHandler, logging.FileHandler, logging.NullHandler, type(logging.lastResort))
_LOGGING = logging._srcfile
_STYLES = (logging.PercentStyle, logging.StrFormatStyle, logging.StringTemplateStyle)


class _Tee:
    """Replaces the methods `write` and `flush` of a stream while a recorded thread prints. It forwards to the originals
    and records what that thread writes."""

    def __init__(self, stream: Any) -> None:
        self._write, self._flush = stream.write, stream.flush
        # By thread: the texts, and None where it is flushed.
        self.written: dict[int, list[str | None]] = {}

    def write(self, text: Any) -> Any:
        count = self._write(text)
        self._append(text)
        return count

    def flush(self) -> None:
        self._flush()
        self._append(None)

    def _append(self, text: str | None) -> None:
        noted = self.written.get(threading.get_ident())
        if noted is not None:
            noted.append(text)


def _tee_of(stream: Any) -> _Tee | None:
    """The tee that replaces methods of a stream; None if the stream has its own."""
    owner = getattr((_core.attributes_of(stream) or {}).get("write"), "__self__", None)
    return owner if type(owner) is _Tee else None


def attributes_of(stream: Any) -> tuple[Any, ...]:
    """What code can read of a stream."""
    values = []
    for name in sorted(ATTRIBUTES):
        try:
            values.append(getattr(stream, name, None))
        except ValueError:  # It is closed.
            values.append(None)
    return tuple(values)


def is_standard(stream: Any) -> bool:
    """Whether only code of the standard library sees what is written to a stream."""
    cls = type(stream)
    if not derives(cls, *_STREAMS):
        return stream is None
    for base in mro_of(cls):
        if is_heap_class(base) and any(name in _core.class_dict(base) for name in _OVERRIDES):
            return False
    attributes = _core.attributes_of(stream) or {}
    if not attributes.keys().isdisjoint(("write", "flush")) and _tee_of(stream) is None:
        return False
    if derives(cls, io.StringIO):
        return True
    try:
        buffer = _BUFFER.__get__(stream)
        return type(buffer) in _BUFFERS and type(getattr(buffer, "raw", None)) in (io.FileIO, type(None))
    except ValueError:  # It is detached.
        return False


def may_be_read(stream: Any) -> bool:
    """Whether code may iterate over a stream, which moves it."""
    try:
        return bool(stream.readable())
    except ValueError:  # It is closed or detached.
        return True


def is_output(owner: Any, name: str, value: Any) -> bool:
    """Whether an attribute is a stream that programs only write to, even if it can be read, as `io.StringIO` can."""
    if name not in _OUTPUTS or type(value) not in _STREAMS:
        return False
    return owner is sys or (name == "stream" and derives(type(owner), logging.StreamHandler))


def are_standard_streams() -> bool:
    """Whether only code of the standard library sees what is printed."""
    return is_standard(getattr(sys, "stdout", ...)) and is_standard(getattr(sys, "stderr", ...))


def _takes_texts(handler: Any) -> bool:
    """Whether only code of the standard library sees what a handler writes. One that cannot write prints the call
    stack, which differs in a call that a plan repeats."""
    stream = handler.stream
    if stream is None:
        return derives(type(handler), logging.FileHandler)  # It opens its file when it writes.
    return is_standard(stream) and not stream.closed


def _is_standard_handler(handler: Any) -> bool:
    formatter = handler.formatter
    return (
        type(handler) in _HANDLERS
        and not handler.filters
        and (formatter is None or (type(formatter) is logging.Formatter and type(formatter._style) in _STYLES))
        and (not derives(type(handler), logging.StreamHandler) or _takes_texts(handler))
        and vars(handler).keys().isdisjoint(("emit", "handle", "format", "filter", "acquire", "release"))
    )


def _with_parents(logger: Any) -> Iterator[Any]:
    while logger is not None:
        yield logger
        logger = logger.parent if logger.propagate else None


def is_standard_logger(logger: Any) -> bool:
    """Whether only code of the standard library sees what is logged."""
    if logging.getLogRecordFactory() is not logging.LogRecord or logging._srcfile != _LOGGING:
        return False
    return all(
        type(each) in (logging.Logger, logging.RootLogger)
        and not each.filters
        and vars(each).keys().isdisjoint(("handle", "makeRecord", "callHandlers", "filter", "findCaller"))
        and all(map(_is_standard_handler, each.handlers))
        for each in _with_parents(logger)
    )


_SHOW: Any = warnings._showwarnmsg_impl  # type: ignore[attr-defined]
_SHOW_ONE = warnings.showwarning


def are_standard_warnings() -> bool:
    """Whether only code of the standard library sees warnings: they are printed, or appended to a list."""
    show: Any = warnings._showwarnmsg_impl  # type: ignore[attr-defined]
    appends = type(show) is types.BuiltinMethodType and type(show.__self__) is list
    return warnings.showwarning is _SHOW_ONE and (show is _SHOW or appends)


class Printing:
    """One call that prints: records what this thread writes to a stream meanwhile."""

    def __init__(self, stream: Any) -> None:
        self._thread = threading.get_ident()
        self._stream = stream
        tee = _tee_of(stream)
        if tee is None:
            tee = _Tee(stream)
            attributes: Any = _core.attributes_of(stream)
            attributes.update(write=tee.write, flush=tee.flush)
        self._tee = tee
        tee.written[self._thread] = []

    def end(self) -> list[str | None] | None:
        """The texts that were written, and None where the stream was flushed; None if this is not known."""
        # Another thread that has just finished may have removed it.
        is_there = _tee_of(self._stream) is self._tee
        written = self._tee.written.pop(self._thread)
        if is_there and not self._tee.written:
            attributes: Any = _core.attributes_of(self._stream)
            del attributes["write"], attributes["flush"]
        return written if is_there else None
