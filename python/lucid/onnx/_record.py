"""Records a call as a graph, with the tensors that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _core
from ..autograd import no_grad
from ..compiler import Pass, TracingContext
from ._conditions import Condition
from ._dynamic import SizeCheck, probed, tensors_of
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


class _Copy(Pass):
    """Keeps the graph as it was recorded, and lets its last outputs be the constants."""

    def __init__(self, constants: int) -> None:
        self.graph: _core.IRGraph | None = None
        self._constants = constants

    def run(self, graph: _core.IRGraph) -> bool:
        self.graph = graph.copy()
        if self._constants:
            producers = {result: node for node in graph.nodes for result in node.outputs}
            for output, constant in zip(graph.output_ids[-self._constants :], graph.constant_ids):
                graph.replace(producers[output].input_ids[0], constant)
        return self._constants > 0


def _fail(reason: str) -> Exception:
    return ValueError(f"lucid.onnx.export: the call cannot be recorded: it {reason}")


def _graph(program: _core.Program | None, obstacle: str | None, constants: int = 0) -> _core.IRGraph:
    copy = _Copy(constants)
    if program is not None:
        obstacle = program.compile_now([copy])
    if obstacle is not None or copy.graph is None:
        raise _fail(str(obstacle))
    return copy.graph


def record(function: Callable[..., Any], args: Sequence[Any], check: SizeCheck | None) -> Recorded:
    """Records a call, with sizes that vary if there is a check of them."""
    given = [arg for arg in args if isinstance(arg, _core.Tensor)]
    with TracingContext() as context, no_grad():
        tracing = context._recorded()
        tracing.keep_contents()
        try:
            results = tensors_of(function(*args))
            if tracing.obstacle:
                raise _fail(tracing.obstacle)
            captured = [tensor for tensor in tracing.met if all(tensor is not each for each in given)]
            outputs = probed([*results, *given, *captured])
            first = _graph(*_core.record_trace(tracing, [*given, *captured], outputs, [], "model"))
            kinds = [first.values[number] for number in first.constant_ids]
            outputs += probed([_core.ops["zeros"](kind.shape, dtype=kind.dtype).to(kind.device) for kind in kinds])
        finally:
            tracing.stop()
            tracing.restore_contents()
    _reject_effects(first)
    values: list[_core.Tensor] = []
    plain = first
    if kinds:
        program, obstacle = _core.record_trace(tracing, [*given, *captured], outputs, [], "model")
        first = _graph(program, obstacle, len(kinds))
        ran = program.run([*given, *captured]) if program is not None else None
        if ran is None:
            raise _fail("changed while it was recorded")
        values = [value[0] for value in ran[-len(kinds) :]]
    if check is None:
        return _described(first, len(results), given, captured, values)
    run = check.recorded(captured)
    program, obstacle = run.tracing.record(run.arguments, run.outputs, [], "model")
    graph = _graph(program, obstacle)
    assert program is not None
    found = _described(graph, len(run.outputs) - len(given) - len(captured), given, captured, values)
    if _text(found) != _text(_described(plain, len(results), given, captured, values)):
        raise ValueError(
            "lucid.onnx.export: the call does something else with sizes that vary: it may ask for the class of a size; "
            "leave out `dynamic`"
        )
    return found._replace(conditions=check.conditions(program, run))


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


def _described(
    graph: _core.IRGraph,
    results: int,
    given: list[_core.Tensor],
    captured: list[_core.Tensor],
    values: list[_core.Tensor],
) -> Recorded:
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
    producers = {number: step for step in steps for number in step.results}
    probes = [producers[number] for number in graph.output_ids[: results + len(given) + len(captured)]]
    found = [probe.operands[0].number for probe in probes]
    hidden = {number for probe in probes for number in probe.results}
    hidden |= set(graph.output_ids)
    for position in range(results, len(found)):
        # A view of all of a tensor from outside may stand for it.
        while found[position] in producers:
            found[position] = producers[found[position]].operands[0].number
    inputs = found[results : results + len(given)]
    known = dict(zip(found[results + len(given) :], captured))
    for number in [*graph.param_ids, *graph.state_ids, *graph.input_ids]:
        if number not in known and number not in inputs:
            raise _fail("reads several views of one tensor from outside; make the views inside the function")
    symbols: dict[str, tuple[int, int]] = {}
    for argument, number in enumerate(inputs):
        for dim, size in enumerate(kinds[number].shape):
            if getattr(size, "symbol", None):
                symbols.setdefault(size.symbol, (argument, dim))
    return Recorded(
        [step for step in steps if not hidden.issuperset(step.results)],
        kinds,
        inputs,
        known,
        dict(zip(graph.constant_ids, values)),
        found[:results],
        symbols,
    )
