"""Functions that are exported: what was compiled, and the names of inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _core
from .nn import Module


def original(function: Any, exporter: str) -> Callable[..., Any]:
    """The module or function that `lucid.compile` compiled, or the function itself."""
    from .compiler import JITFunction, JITModule

    if not callable(function):
        raise TypeError(f"{exporter} expects a module or a function, got {type(function).__name__}")
    is_compiled = issubclass(type(function), JITFunction | JITModule)
    found: Callable[..., Any] = function._compiled.target if is_compiled else function
    return found


def input_names(target: Any, args: Sequence[Any]) -> list[str]:
    """The names of the parameters to which tensors are passed, as far as they are known."""
    import inspect

    tensors = [position for position, arg in enumerate(args) if isinstance(arg, _core.Tensor)]
    try:
        forward = type(target).forward if isinstance(target, Module) else target
        parameters = list(inspect.signature(forward).parameters.values())
        parameters = parameters[1:] if isinstance(target, Module) else parameters
    except (TypeError, ValueError):
        parameters = []
    single = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    found = [parameter.name for parameter in parameters if parameter.kind in single]
    if len(tensors) == 1 and tensors[0] >= len(found):
        return ["input"]
    return [found[position] if position < len(found) else f"input_{position}" for position in tensors]
