"""Records a call as a graph, with the tensors that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _core
from .._exported import reason_of
from ..autograd import no_grad
from ..compiler import TracingContext
from ._conditions import Condition
from ._dynamic import SizeCheck, tensors_of
from ._sizes import Size, arguments_of, lines_of, size_of


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


def _function(call: _core.RecordedCall | None, obstacle: str | None) -> _core.FunctionGraph:
    if call is None:
        raise _fail(str(obstacle))
    try:
        return call.function()
    except RuntimeError as error:
        raise _fail(reason_of(error)) from None


def record(function: Callable[..., Any], args: Sequence[Any], check: SizeCheck | None) -> Recorded:
    """Records a call, with sizes that vary if there is a check of them."""
    given = [arg for arg in args if isinstance(arg, _core.Tensor)]
    with TracingContext() as context, no_grad():
        tracing = context._recorded()
        tracing.keep_contents()
        try:
            results = tensors_of(function(*args))
        finally:
            tracing.stop()
            tracing.restore_contents()
    if tracing.obstacle:
        raise _fail(tracing.obstacle)
    captured = [tensor for tensor in tracing.accessed if all(tensor is not each for each in given)]
    plain = _function(*_core.record_trace(tracing, given, results, captured, "model"))
    _reject_effects(plain.graph)
    if check is None:
        return _described(plain)
    run = check.recorded()
    call, obstacle = run.tracing.record(run.arguments, run.results, captured, "model")
    found = _described(_function(call, obstacle))
    if _text(found) != _text(_described(plain)):
        raise ValueError(
            "lucid.onnx.export: the call does something else with sizes that vary: it may ask for the class of a size; "
            "leave out `dynamic`"
        )
    assert call is not None
    return found._replace(conditions=check.conditions(call, run))


def _text(recorded: Recorded) -> list[str]:
    """What a recording does with the sizes of the example, as text that two recordings have in common."""
    numbers = {number: f"input {position}" for position, number in enumerate(recorded.inputs)}
    numbers |= {number: f"captured {id(tensor)}" for number, tensor in recorded.captured.items()}
    numbers |= {number: f"constant {position}" for position, number in enumerate(recorded.constants)}

    def plain(value: Any) -> Any:
        if isinstance(value, Use):
            return numbers[value.number]
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        return value.value if isinstance(value, Size) else value

    lines = []
    for step in recorded.steps:
        operands = plain(step.operands)
        for number in step.results:
            numbers[number] = f"value {len(numbers)}"
        attributes = {name: plain(value) for name, value in step.attributes.items()}
        kinds = [(recorded.kinds[number].dtype, plain(recorded.kinds[number].shape)) for number in step.results]
        lines.append(f"{step.op} {operands} {attributes} {kinds} {step.source}")
    return [*lines, str([numbers[number] for number in recorded.outputs])]


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
