"""What a library's module hands out for a workload: a call to be timed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def nothing(*_):
    return None


@dataclass
class Prepared:
    call: Callable[[], Any]
    # Waits for the result of a call that may still be under way.
    wait: Callable[[Any], Any] = nothing
    # Raises if the calls were not what they are given out for.
    check: Callable[[], None] = nothing
    # Whether the last call was one of those that follow: nothing is left to compile.
    settled: Callable[[], bool] = lambda: True
