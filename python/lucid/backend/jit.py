"""Explicit tracing: a traced graph always runs the recorded ops, whatever the Python code would do.

`lucid.compile` also checks whether the Python code would do something else. A traced graph does not: use it to inspect
a model, or for code that is known to do the same at each call.

>>> from lucid.backend.jit import Tracer
>>> x, w = lucid.ones(2, 3), lucid.ones(4, 3)
>>> tracer = Tracer()
>>> with tracer:
...     x = tracer.register_input(x)
...     y = lucid.relu(lucid.nn.functional.linear(x, w))
>>> print(tracer.build([y]).summary())
TracedGraph: 2 ops
  [0] linear: [0, 1] -> 2 (2, 4)
  [1] relu: [2] -> 3 (2, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core
from ..autograd import enable_grad, grad_enabled
from ..compiler._results import CannotRebuild, flatten_result
from ..compiler._tracing import OpRecord, TracingContext

__all__ = ["OpRecord", "TracedGraph", "Tracer", "trace"]


class TracedGraph:
    """A compiled recording. It runs on other inputs of the same types; parameters are read when it runs."""

    def __init__(
        self,
        program: _core.Program,
        ops: list[OpRecord],
        inputs: Sequence[_core.Tensor],
        make_result: Callable[[list[_core.Tensor]], Any],
    ) -> None:
        self.ops = ops
        self._program = program
        self._key = _core.call_key(tuple(inputs), {})
        self._inputs = [_describe(tensor) for tensor in inputs]
        self._records_gradients = grad_enabled()
        self._make_result = make_result

    @property
    def graph(self) -> _core.IRGraph:
        """The graph that runs, after the passes."""
        return self._program.graph

    def __len__(self) -> int:
        return len(self.ops)

    def summary(self) -> str:
        """One line for each op: the numbers of its inputs and outputs, and the shape of the first output."""
        lines = [f"TracedGraph: {len(self.ops)} ops"]
        for number, op in enumerate(self.ops):
            made = ", ".join(map(str, op.outputs))
            lines.append(f"  [{number}] {op.name}: {op.inputs} -> {made} {op.shape}")
        return "\n".join(lines)

    def __call__(self, *inputs: _core.Tensor) -> Any:
        if not all(isinstance(tensor, _core.Tensor) for tensor in inputs):
            raise TypeError("TracedGraph: the inputs must be tensors")
        if self._records_gradients and not grad_enabled():
            with enable_grad():
                results = self._run(inputs)
            return self._make_result([tensor.detach() if tensor.requires_grad else tensor for tensor in results])
        return self._make_result(self._run(inputs))

    def _run(self, inputs: tuple[_core.Tensor, ...]) -> list[_core.Tensor]:
        if _core.call_key(inputs, {}) != self._key:
            given = ", ".join(map(_describe, inputs))
            raise ValueError(
                f"TracedGraph: traced with ({', '.join(self._inputs)}), called with ({given}); "
                "types, strides and requires_grad must be the same; trace again, and with gradients if they are needed"
            )
        results = self._program.run(list(inputs))
        if results is None:
            raise ValueError("TracedGraph: a check failed, or a tensor that it uses has changed; trace again")
        return results

    def __repr__(self) -> str:
        return f"TracedGraph({len(self.ops)} ops)"


class Tracer:
    """Records the code inside `with`; `build` returns its graph."""

    def __init__(self) -> None:
        self._context = TracingContext()
        self._inputs: list[_core.Tensor] = []

    def __enter__(self) -> Tracer:
        self._inputs = []
        self._context.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._context.__exit__(*error)

    def register_input(self, tensor: _core.Tensor) -> _core.Tensor:
        """Declares a tensor as an input, which later runs replace by another tensor. Returns it."""
        if not any(tensor is known for known in self._inputs):
            self._inputs.append(tensor)
        return tensor

    def build(self, outputs: Any) -> TracedGraph:
        """The graph from the inputs to the outputs: a tensor, or tensors nested in lists, tuples and dicts."""
        try:
            tensors, make_result = flatten_result(outputs)
        except CannotRebuild as error:
            raise TypeError(f"Tracer.build: {error}") from None
        if isinstance(outputs, list) and len(outputs) == 1:
            return self._build(tensors, lambda results: results[0])
        return self._build(tensors, make_result)

    def _build(self, tensors: list[_core.Tensor], make_result: Callable[[list[_core.Tensor]], Any]) -> TracedGraph:
        program = self._context.program(self._inputs, tensors, "traced")
        return TracedGraph(program, self._context.records(self._inputs), self._inputs, make_result)


def _describe(tensor: _core.Tensor) -> str:
    dims = ",".join(map(str, tensor.shape))
    name = str(tensor.dtype).rpartition(".")[2]
    return f"{name}[{dims}]" + (" requires grad" if tensor.requires_grad else "")


def trace(function: Callable[..., Any], *examples: _core.Tensor) -> TracedGraph:
    """Runs a function or a module once and returns the graph of the ops that ran.

    >>> traced = lucid.backend.jit.trace(lambda x: (x * 2).sum(), lucid.ones(3))
    >>> traced(lucid.tensor([1.0, 2.0, 3.0]))
    tensor(12.)
    """
    tracer = Tracer()
    with tracer:
        # The same tensor may be passed as several arguments.
        tracer._inputs = list(examples)
        result = function(*examples)
    tensors, make_result = flatten_result(result)
    return tracer._build(tensors, make_result)
