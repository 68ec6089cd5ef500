"""Functions that inspect compiled functions and modules."""

from __future__ import annotations

from typing import Any

from .. import _core
from ._cache import PlanCache
from ._compile import JITFunction
from ._compiled import CacheInfo, Compiled
from ._module import JITModule
from ._picture import Plan


def _compiled(function: Any) -> Compiled:
    if isinstance(function, (JITFunction, JITModule)):
        return function._compiled
    raise TypeError(f"expected a function or module compiled by lucid.compile(), got {type(function)}")


def cache_info(function: Any) -> CacheInfo:
    """How many plans of a compiled function or module were compiled, and how often they were used."""
    return _compiled(function).cache_info()


def plan_cache(function: Any) -> PlanCache:
    """The plans of a compiled function or module."""
    return _compiled(function).plans


def explain(function: Any, *args: Any, **kwargs: Any) -> str:
    """A report of the plans, and of the reasons why other calls run eagerly. With arguments, what a call with them
    would do; the function is not called."""
    compiled = _compiled(function)
    if not args and not kwargs:
        return compiled.explain()
    return f"{compiled.name}: this call {compiled.explain_call(args, kwargs)}"


def graph(function: Any, *args: Any, **kwargs: Any) -> _core.IRGraph:
    """The graph of the plan that a call with these arguments runs."""
    return _compiled(function).program(args, kwargs).graph


def plan(function: Any, *args: Any, timed: bool = False, **kwargs: Any) -> Plan:
    """The plan that a call with these arguments runs; printing it shows its steps, and `svg()` draws them.

    With `timed`, the plan runs a few times without any effect, and each step has the shortest time that it took. On a
    gpu, the gpu itself measures it."""
    compiled = _compiled(function)
    program = compiled.program(args, kwargs)
    return Plan(program, compiled.table.time_steps(args, kwargs) if timed else None)
