"""Recording calls explicitly."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from .. import _core
from ._passes import Pass, to_core


class OpRecord(NamedTuple):
    """One op that ran. Tensors are numbered in the order of their first use, inputs first."""

    name: str
    inputs: list[int]
    outputs: list[int]
    shape: tuple[int, ...]
    source: str


class TracingContext:
    """Records what this thread does to tensors. The code inside runs eagerly.

    >>> x = lucid.ones(3)
    >>> with lucid.compiler.TracingContext() as context:
    ...     y = (x + 1).sum()
    >>> [record.name for record in context.records([x])]
    ['add', 'sum']
    >>> context.graph([x], [y]).nodes[0].op
    'add'
    """

    def __init__(self) -> None:
        self._tracing: _core.Tracing | None = None

    @staticmethod
    def is_active() -> bool:
        """Whether this thread is being recorded."""
        return _core.is_tracing()

    def __enter__(self) -> Self:
        if _core.is_tracing():
            raise RuntimeError("TracingContext: this thread is being recorded already; recordings do not nest")
        self._tracing = _core.Tracing()
        self._tracing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._recorded().stop()

    def _recorded(self) -> _core.Tracing:
        if self._tracing is None:
            raise RuntimeError("TracingContext: nothing has been recorded; use it with `with`")
        return self._tracing

    @property
    def obstacle(self) -> str | None:
        """Why the recording cannot become a graph; None if it can."""
        return self._recorded().obstacle or None

    def records(self, inputs: Sequence[_core.Tensor] = ()) -> list[OpRecord]:
        """The ops that ran, in order."""
        return [OpRecord(*record) for record in self._recorded().records(list(inputs))]

    def graph(
        self, inputs: Sequence[_core.Tensor], outputs: Sequence[_core.Tensor], passes: Sequence[Any] | None = None
    ) -> _core.IRGraph:
        """The recording as a graph from the inputs to the outputs, after the passes. Nothing is compiled."""
        function = self._call(inputs, outputs, "graph").function()
        function.run_passes(to_core(passes))
        return function.graph

    def program(
        self,
        inputs: Sequence[_core.Tensor],
        outputs: Sequence[_core.Tensor],
        name: str = "graph",
        passes: Sequence[Pass | type[Pass]] | None = None,
    ) -> _core.Program:
        """The compiled recording. Every other tensor from outside that the recording used is captured as state."""
        program = self._call(inputs, outputs, name).program()
        if (obstacle := program.compile_now(to_core(passes))) is not None:
            raise RuntimeError(f"the recording cannot become a graph: it {obstacle}")
        return program

    def _call(self, inputs: Sequence[_core.Tensor], outputs: Sequence[_core.Tensor], name: str) -> _core.RecordedCall:
        tracing = self._recorded()
        state = [tensor for tensor in tracing.accessed if all(tensor is not given for given in inputs)]
        call, obstacle = tracing.record(list(inputs), list(outputs), state, name)
        if call is None:
            raise RuntimeError(f"the recording cannot become a graph: it {obstacle}")
        return call
