"""Records a call as a graph, with the tensors that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _core
from ..autograd import no_grad
from ..compiler import Pass, TracingContext
from ..compiler._results import CannotRebuild, flatten_result
from ._sizes import arguments_of, lines_of, size_of

_stack: Any = _core.ops["stack"]


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


def _probed(tensors: Sequence[_core.Tensor]) -> list[_core.Tensor]:
    """New tensors whose nodes in a graph have the values of these tensors as operands."""
    return [_stack([tensor]) for tensor in tensors]


def _graph(program: _core.Program | None, obstacle: str | None, constants: int = 0) -> _core.IRGraph:
    copy = _Copy(constants)
    if program is not None:
        obstacle = program.compile_now([copy])
    if obstacle is not None or copy.graph is None:
        raise _fail(str(obstacle))
    return copy.graph


def _tensors(result: Any) -> list[_core.Tensor]:
    try:
        return flatten_result(result)[0]
    except CannotRebuild as error:
        raise TypeError(f"lucid.onnx.export: {error}; return tensors, or tensors in lists, tuples and dicts") from None


def record(function: Callable[..., Any], args: Sequence[Any], varying: dict[int, list[int]]) -> Recorded:
    """Records a call. `varying` has the dimensions that vary, for the position of each tensor among the tensors."""
    given: list[_core.Tensor] = []
    args = list(args)
    for position, arg in enumerate(args):
        if isinstance(arg, _core.Tensor):
            # A tensor that is passed twice would be one input.
            is_known = any(arg is each for each in given)
            args[position] = _core.ops["clone"](arg) if is_known else arg
            given.append(args[position])
    if _core.is_tracing():
        raise RuntimeError("lucid.onnx.export cannot be called by a function that is being recorded")
    with TracingContext() as context, no_grad():
        results = _tensors(function(*args))
        tracing = context._recorded()
        if tracing.obstacle:
            raise _fail(tracing.obstacle)
        captured = [tensor for tensor in tracing.met if all(tensor is not each for each in given)]
        outputs = _probed([*results, *given, *captured])
        first = _graph(*_core.record_trace(tracing, [*given, *captured], outputs, [], "model"))
        kinds = [first.values[number] for number in first.constant_ids]
        outputs += _probed([_core.ops["zeros"](kind.shape, dtype=kind.dtype).to(kind.device) for kind in kinds])
    _reject_effects(first)
    values: list[_core.Tensor] = []
    if kinds:
        program, obstacle = _core.record_trace(tracing, [*given, *captured], outputs, [], "model")
        first = _graph(program, obstacle, len(kinds))
        ran = program.run([*given, *captured]) if program is not None else None
        if ran is None:
            raise _fail("changed while it was recorded")
        values = [value[0] for value in ran[-len(kinds) :]]
    graph = _with_sizes(function, args, given, captured, varying) if varying else first
    return _described(graph, len(results), given, captured, values)


def _with_sizes(
    function: Callable[..., Any],
    args: Sequence[Any],
    given: list[_core.Tensor],
    captured: list[_core.Tensor],
    varying: dict[int, list[int]],
) -> _core.IRGraph:
    """Records the call a second time, with sizes that may vary."""
    tracing = _core.SecondTracing()
    traced = list(given)
    for position, dims in varying.items():
        traced[position] = tracing.trace_sizes(given[position], position, [(dim, None, None) for dim in dims])
    replaced = iter(traced)
    values = [next(replaced) if isinstance(arg, _core.Tensor) else arg for arg in args]
    tracing.start()
    try:
        with no_grad():
            results = _tensors(function(*values))
            outputs = _probed([*results, *traced, *captured])
    finally:
        tracing.stop()
    for position, dim, is_fixed in tracing.sizes:
        if is_fixed:
            raise ValueError(
                f"lucid.onnx.export: the call uses the size of dimension {dim} of input {position} as a plain number, "
                "so that size cannot be dynamic"
            )
    if tracing.caught_error:
        raise ValueError("lucid.onnx.export: the call catches an error, which may be another one for other sizes")
    return _graph(*tracing.record([*traced, *captured], outputs, [], "model"))


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
