"""The module that runs a loaded model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _core, _effects
from ..nn import Module
from ._from_lucid import run_lucid
from ._from_pairs import run_pair
from ._host import run_on_host
from ._node import RUN, Node, call_device, tensor
from ._package import DOMAIN

_effects.pure_module()


class Input(NamedTuple):
    """An argument of a loaded model. Sizes that may vary are None or their names."""

    name: str
    dtype: _core.dtype
    shape: tuple[int | str | None, ...] | None


class Step(NamedTuple):
    """A node with the names of its operands and results, and the values that no later node needs."""

    node: Node
    operands: tuple[str, ...]
    results: tuple[str, ...]
    unused: tuple[str, ...]


class ONNXModule(Module):
    """A model that `lucid.onnx.load` has loaded. It is called with a tensor for each input.

    Float initializers are parameters. It can be trained, compiled and saved like other modules.
    """

    def __init__(
        self,
        inputs: tuple[Input, ...],
        outputs: tuple[str, ...],
        steps: tuple[Step, ...],
        constants: dict[str, Any],
        stored: tuple[tuple[str, str], ...],
    ) -> None:
        super().__init__()
        self.inputs = inputs
        self.output_names = outputs
        self._steps = steps
        self._constants = constants
        # The name of a value and the path of the parameter or buffer that holds it.
        self._stored = stored

    @property
    def input_names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.inputs)

    def forward(self, *args: Any) -> Any:
        values = dict(self._constants)
        for name, path in self._stored:
            found: Any = self
            for part in path.split("."):
                found = getattr(found, part)
            values[name] = found
        if len(args) != len(self.inputs):
            raise TypeError(f"the model has {len(self.inputs)} inputs ({', '.join(self.input_names)}), got {len(args)}")
        for declared, arg in zip(self.inputs, args):
            values[declared.name] = _checked(declared, arg)
        devices = [arg.device for arg in args if arg.device.type != "cpu"]
        token = call_device.set(devices[0] if devices else None)
        try:
            self._run(values)
            results = tuple(tensor(values[name]) for name in self.output_names)
        finally:
            call_device.reset(token)
        return results[0] if len(results) == 1 else results

    def _run(self, values: dict[str, Any]) -> None:
        """Runs the nodes on the values that are there, and adds their results."""
        for step in self._steps:
            operands = [values[name] if name else None for name in step.operands]
            made = run_node(step.node, operands)
            if len(made) < len(step.results):
                step.node.unsupported(f"result {len(made) + 1}")
            for name, value in zip(step.results, made):
                if name:
                    values[name] = value
            for name in step.unused:
                del values[name]

    def extra_repr(self) -> str:
        return f"inputs={list(self.input_names)}, outputs={list(self.output_names)}, nodes={len(self._steps)}"


def _checked(declared: Input, arg: Any) -> Any:
    if not isinstance(arg, _core.Tensor):
        raise TypeError(f"input {declared.name!r} must be a tensor, not {type(arg).__name__}")
    if arg.dtype is not declared.dtype:
        raise TypeError(f"input {declared.name!r} must have dtype {declared.dtype}, got {arg.dtype}")
    if declared.shape is not None:
        fits = arg.ndim == len(declared.shape) and all(
            not isinstance(want, int) or want == have for want, have in zip(declared.shape, arg.shape)
        )
        if not fits:
            raise ValueError(f"input {declared.name!r} must have the shape {declared.shape}, got {tuple(arg.shape)}")
    return arg


def run_node(node: Node, operands: list[Any]) -> tuple[Any, ...]:
    """The results of a node. Operands that are known before the call are arrays, and so are such results."""
    made: Any = NotImplemented
    if all(operand is None or isinstance(operand, np.ndarray) for operand in operands):
        made = run_on_host(node, operands)
    if made is NotImplemented:
        made = _run_on_tensors(node, operands)
    return made if isinstance(made, tuple) else (made,)


def _run_on_tensors(node: Node, operands: list[Any]) -> Any:
    if node.pair is not None:
        return run_pair(node.pair, node, operands)
    if node.op.startswith(f"{DOMAIN}."):
        return run_lucid(node, operands)
    if node.op not in RUN:
        node.unsupported(f"{node.op} with these attributes")
    run, known = RUN[node.op]
    return run(node, *[each if place in known else tensor(each) for place, each in enumerate(operands)])
