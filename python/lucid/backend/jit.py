"""Explicit tracing: what ran is what runs again, whatever Python would decide by then.

`lucid.compile` also sees when something else should run. A traced graph does not: it is for looking at what a model
does, and for code that is known to do the same at each call.

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
from ..compiler._results import CannotRebuild, take_apart
from ..compiler._tracing import OpRecord, TracingContext

__all__ = ["OpRecord", "TracedGraph", "Tracer", "trace"]


class TracedGraph:
    """What was recorded, compiled. It runs on other inputs of the same types; parameters are read when it runs."""

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
        """What runs, after the passes."""
        return self._program.graph

    def __len__(self) -> int:
        return len(self.ops)

    def summary(self) -> str:
        """A line for each op: the numbers of the tensors it read, of what it made, and the shape of that."""
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
            raise ValueError("TracedGraph: what it computes fails, or a tensor that it uses has changed: trace again")
        return results

    def __repr__(self) -> str:
        return f"TracedGraph({len(self.ops)} ops)"


class Tracer:
    """Records the code inside `with`; `build` makes a graph of it."""

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
        """Says that a tensor is an input: in later runs another takes its place. Returns it."""
        if not any(tensor is known for known in self._inputs):
            self._inputs.append(tensor)
        return tensor

    def build(self, outputs: Any) -> TracedGraph:
        """The graph from the inputs to the outputs: a tensor, or tensors nested in lists, tuples and dicts."""
        try:
            tensors, make_result = take_apart(outputs, ())
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
    return f"{name}[{dims}]" + (" requiring a gradient" if tensor.requires_grad else "")


def trace(function: Callable[..., Any], *examples: _core.Tensor) -> TracedGraph:
    """Runs a function or a module once and makes a graph of what it did.

    >>> traced = lucid.backend.jit.trace(lambda x: (x * 2).sum(), lucid.ones(3))
    >>> traced(lucid.tensor([1.0, 2.0, 3.0]))
    tensor(12.)
    """
    tracer = Tracer()
    with tracer:
        # One tensor may be several arguments.
        tracer._inputs = list(examples)
        result = function(*examples)
    tensors, make_result = take_apart(result, ())
    return tracer._build(tensors, make_result)
