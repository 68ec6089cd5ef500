"""Warnings about likely mistakes that the C++ library notices."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from . import _core, _effects

_effects.pure_module()

_PACKAGE = __name__.partition(".")[0]


def _warn_explicitly(entries: dict[str, Any], file: str, line: int, category: Any, message: str) -> None:
    registry = entries.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, file, line, entries.get("__name__", "<string>"), registry)


def warn_at(frame: FrameType, category: Any = UserWarning) -> Callable[[str], None]:
    """A function that warns as `warnings.warn` does in this frame now."""
    return functools.partial(_warn_explicitly, frame.f_globals, frame.f_code.co_filename, frame.f_lineno, category)


def _warn(message: str) -> None:
    """Warns about the line of the user's that called Lucid."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    log = _core.call_log()
    if log is None:
        warn_at(frame)(message)
    else:
        log.warn(message, frame)


_core.set_warning_function(_warn)
