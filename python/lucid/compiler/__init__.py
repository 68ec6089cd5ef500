"""Recording calls and compiling them."""

import os

from .. import _core
from .._core import IRGraph, IRNode, IRValue
from ._cache import CacheKey, ForwardExecutor, InputKey, PlanCache
from ._compile import JITFunction, compile, jit
from ._compiled import CacheInfo, Counters, counters, wait
from ._dynamic_dims import mark_dynamic
from ._effect import effect
from ._inspect import cache_info, explain, graph, plan, plan_cache
from ._module import JITModule
from ._passes import (
    CommonSubexpressionPass,
    ConstantFoldPass,
    DeadNodeElimPass,
    ExactIdentityPass,
    NoGradStripPass,
    Pass,
)
from ._picture import Plan
from ._tracing import OpRecord, TracingContext

_core.set_package_folder(os.path.dirname(os.path.dirname(__file__)) + os.sep)

__all__ = [
    "CacheInfo",
    "CacheKey",
    "CommonSubexpressionPass",
    "ConstantFoldPass",
    "Counters",
    "DeadNodeElimPass",
    "ExactIdentityPass",
    "ForwardExecutor",
    "IRGraph",
    "IRNode",
    "IRValue",
    "InputKey",
    "JITFunction",
    "JITModule",
    "NoGradStripPass",
    "OpRecord",
    "Pass",
    "Plan",
    "PlanCache",
    "TracingContext",
    "cache_info",
    "compile",
    "counters",
    "effect",
    "explain",
    "graph",
    "jit",
    "mark_dynamic",
    "plan",
    "plan_cache",
    "wait",
]
