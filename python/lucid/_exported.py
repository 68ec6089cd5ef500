"""Functions that are exported: what was compiled, and the names of inputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
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


def reason_of(error: RuntimeError) -> str:
    """Why a recorded call cannot become a graph, of which it is the error."""
    return str(error).partition(": it ")[2]


def arguments(args: Any) -> tuple[Any, ...]:
    """The arguments that an example stands for: several in a tuple or list, or one."""
    return tuple(args) if isinstance(args, tuple | list) else (args,)


def training_ops(graph: _core.IRGraph) -> Iterator[str]:
    """The ops of a graph that do something else in training, each with the user's line."""
    for node in graph.nodes:
        if (
            node.op.endswith("dropout")
            or node.op == "random_rrelu"
            or (node.op == "batch_norm" and node.attributes["training"])
        ):
            name = node.op.removeprefix("random_")
            yield f"{name} ({node.source})" if node.source else name


def warn_of(unrepeated: Iterable[str], training: Iterable[str]) -> None:
    """Warns of calls that a program does not repeat, and of ops that do something else in training."""
    if calls := ", ".join(unrepeated):
        warnings.warn(f"lucid.export: the program does not make these calls of the function: {calls}", stacklevel=3)
    if ops := ", ".join(training):
        warnings.warn(
            f"lucid.export: these ops do in the program what they do in training: {ops}; to run the model as it is "
            "used after training, call model.eval() before the export",
            stacklevel=3,
        )


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
