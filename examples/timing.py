"""Measures the speed-up of a compiled function."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def speed_up(eager: Callable[..., Any], compiled: Callable[..., Any], *arguments: Any, calls: int = 20) -> float:
    """Returns the time of an eager call divided by the time of a compiled call.

    Eager and compiled calls alternate; the fastest call of each kind counts.
    """
    for _ in range(2):  # the first call records, the second waits for the plan
        compiled(*arguments)
    best = {eager: float("inf"), compiled: float("inf")}
    for _ in range(calls):
        for function in best:
            start = time.perf_counter()
            function(*arguments)
            best[function] = min(best[function], time.perf_counter() - start)
    return best[eager] / best[compiled]
