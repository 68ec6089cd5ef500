"""A workload that a library has prepared: a call to be timed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def nothing(*_):
    return None


@dataclass
class Prepared:
    call: Callable[[], Any]
    # Waits for the result of a call that may still be running.
    wait: Callable[[Any], Any] = nothing
    # Raises an error if the calls did not run as intended, such as compiled.
    check: Callable[[], None] = nothing
    # Whether the last call ran compiled code, so that nothing is left to compile.
    compiled: Callable[[], bool] = lambda: True
