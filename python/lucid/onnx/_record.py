"""Records a call as a graph, with the tensors that it reads."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _core
from .._export_sizes import difference
from .._exported import reason_of
from ..compiler._symbolic_retrace import Run
from ._conditions import Condition
from ._dynamic import SizeCheck, record_call
from ._sizes import arguments_of, lines_of, size_of


class Kind(NamedTuple):
    """The type of a value. Sizes that vary are objects of class Size."""

    dtype: _core.dtype
    shape: tuple[Any, ...]


class Use(NamedTuple):
    """An operand that is a value."""

    number: int


class Step(NamedTuple):
    """One op. An operand is a Use, a number, a Size or None."""

    op: str
    operands: list[Any]
    attributes: dict[str, Any]
    results: list[int]
    source: str


class Recorded(NamedTuple):
    """A recorded call. Values are numbered."""

    steps: list[Step]
    kinds: dict[int, Kind]
    inputs: list[int]
    captured: dict[int, _core.Tensor]
    constants: dict[int, _core.Tensor]
    outputs: list[int]
    # The argument and the dimension whose size each symbol is.
    symbols: dict[str, tuple[int, int]]
    # What must hold for the sizes that vary.
    conditions: Sequence[Condition] = ()


def _fail(reason: str) -> Exception:
    return ValueError(f"lucid.onnx.export: the call cannot be recorded: it {reason}")


def _finished(run: Run, captured: list[_core.Tensor]) -> _core.RecordedCall:
    call, obstacle = run.tracing.record(run.given, run.result, captured, "model")
    if call is None:
        raise _fail(str(obstacle))
    return call


def _function(call: _core.RecordedCall) -> _core.FunctionGraph:
    try:
        return call.function()
    except RuntimeError as error:
        raise _fail(reason_of(error)) from None


def record(function: Callable[..., Any], args: Sequence[Any], check: SizeCheck | None) -> Recorded:
    """Records a call, with sizes that vary if there is a check of them."""
    plain = record_call(function, args)
    if plain.error is not None:
        raise plain.error
    expected = _function(_finished(plain, plain.captured))
    _reject_effects(expected.graph)
    if check is None:
        return _described(expected)
    traced = check.recorded()
    call = _finished(traced, plain.captured)
    found = _function(call)
    what = difference(expected.graph, found.graph)
    if what is None and any(map(operator.is_not, expected.captured.values(), found.captured.values())):
        what = "it uses other tensors"
    if what is not None:
        raise ValueError(
            f"lucid.onnx.export: the call does something else with sizes that vary: {what}; it may ask for the class "
            "of a size; leave out `dynamic`"
        )
    return _described(found)._replace(conditions=check.conditions(call, traced))


def _reject_effects(graph: _core.IRGraph) -> None:
    for node in graph.nodes:
        if node.op.startswith("random_"):
            raise ValueError(
                f"lucid.onnx.export: {node.source}: {node.op} draws random numbers, which a file cannot repeat; "
                "call model.eval() before the export"
            )
    if graph.updates:
        cell = graph.updates[0][0]
        lines = [node.source for node in graph.nodes if cell in node.input_ids and node.source]
        where = f"{lines[0]}: " if lines else ""
        raise ValueError(
            f"lucid.onnx.export: {where}the call changes a tensor that exists before it, which a file cannot; "
            "call model.eval() before the export, and do not write to arguments or buffers"
        )


def _operand(value: Any, text: str) -> Any:
    """An operand of a node. Only the text of the graph tells the numbers of values from plain numbers."""
    if text.startswith("%"):
        return Use(value)
    return size_of(text, value) if type(value) is int else value


def _described(function: _core.FunctionGraph) -> Recorded:
    graph = function.graph
    text = str(graph)
    kinds = {number: Kind(kind.dtype, kind.shape) for number, kind in graph.values.items()}
    for number, dims in arguments_of(text).items():
        kinds[number] = Kind(kinds[number].dtype, tuple(map(size_of, dims, kinds[number].shape)))
    steps = []
    for node, line in zip(graph.nodes, lines_of(text), strict=True):
        for number, dims in zip(node.outputs, line.results):
            kinds[number] = Kind(kinds[number].dtype, tuple(map(size_of, dims, kinds[number].shape)))
        attributes = dict(node.attributes)
        for name, value in line.attributes.items():
            old = attributes[name]
            attributes[name] = tuple(map(size_of, value, old)) if isinstance(value, list) else size_of(value, old)
        operands = [_operand(*pair) for pair in zip(node.inputs, line.operands, strict=True)]
        steps.append(Step(node.op, operands, attributes, list(node.outputs), node.source))
    symbols: dict[str, tuple[int, int]] = {}
    for argument, number in enumerate(function.argument_ids):
        for dim, size in enumerate(kinds[number].shape):
            if getattr(size, "symbol", None):
                symbols.setdefault(size.symbol, (argument, dim))
    return Recorded(
        steps, kinds, function.argument_ids, function.captured, function.constants, list(graph.output_ids), symbols
    )
