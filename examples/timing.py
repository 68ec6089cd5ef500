"""Measures how much faster a compiled function is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def speed_up(eager: Callable[..., Any], compiled: Callable[..., Any], *arguments: Any, calls: int = 20) -> float:
    """Time of an eager call over that of a compiled one. Calls take turns, and the fastest of each kind counts."""
    for _ in range(2):  # records, then waits for the plan
        compiled(*arguments)
    best = {eager: float("inf"), compiled: float("inf")}
    for _ in range(calls):
        for function in best:
            start = time.perf_counter()
            function(*arguments)
            best[function] = min(best[function], time.perf_counter() - start)
    return best[eager] / best[compiled]
