"""`lucid.onnx.export`: a recorded call as an ONNX model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _core
from .._exported import arguments, input_names, original
from ..nn import Module, Parameter
from ._builder import Builder, Value
from ._call import Call, Emit
from ._dtypes import NUMBERS, numbers_proto, to_proto
from ._dynamic import SizeCheck
from ._load import load
from ._not_exported import reason_of
from ._package import BUFFERS, DEFAULT_OPSET, DOMAIN, MAX_MESSAGE, NEWEST_OPSET, OLDEST_OPSET, onnx_package
from ._pairs import PARAMETERS
from ._record import Kind, Recorded, Step, Use, record
from ._sizes import Size
from ._tables import DIRECT, FUNCTIONS

_OPERANDS = ("tensor", "tensors")
_clone, _contiguous = _core.ops["clone"], _core.ops["contiguous"]


def export(
    function: Callable[..., Any],
    args: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    dynamic: Mapping[str, Mapping[int, str]] | None = None,
    opset: int = DEFAULT_OPSET,
) -> Any:
    """Writes what a call computes to an ONNX file, and returns it as an `onnx.ModelProto`.

    The call is recorded as `lucid.compile` records it: what can be compiled can be exported, if ONNX has the ops.
    Tensors among `args` become inputs; other arguments keep their values. Parameters and buffers become initializers
    with their names in the module. The call must not draw random numbers or change tensors that exist before it, so
    modules are exported in evaluation mode. The export leaves tensors as they were.

    Args:
        function: A module or a function. If it is compiled, the original is recorded.
        args: A tuple or list of arguments, or one argument.
        path: The file to write. None writes no file.
        input_names: A name for each tensor among the arguments. The default is the name of the parameter.
        output_names: A name for each tensor of the result. The default is "output", or "output_0", "output_1", ...
        dynamic: Dimensions whose sizes may vary, from 1 on, with a name for each size: `{"x": {0: "batch"}}`.
            ValueError if the call does something else for other sizes; to find out, it is called several times.
        opset: The version of ONNX's operator set, from 13 to 23.

    Raises NotImplementedError for an op that ONNX cannot express; the message has the op and the user's line.

    >>> model = lucid.nn.Sequential(lucid.nn.Linear(3, 4), lucid.nn.ReLU())
    >>> proto = lucid.onnx.export(model, lucid.ones(2, 3), dynamic={"input": {0: "batch"}})
    >>> [node.op_type for node in proto.graph.node]
    ['Gemm', 'Relu']
    >>> [initializer.name for initializer in proto.graph.initializer]
    ['0.weight', '0.bias']
    """
    onnx = onnx_package()
    if not isinstance(opset, int) or not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise ValueError(f"lucid.onnx.export: opset must be from {OLDEST_OPSET} to {NEWEST_OPSET}, got {opset!r}")
    if _core.is_tracing():
        raise RuntimeError("lucid.onnx.export cannot be called by a function that is being recorded")
    values = list(arguments(args))
    target = original(function, "lucid.onnx.export")
    inputs = _input_names(target, values, input_names)
    names = _varying(inputs, [arg for arg in values if isinstance(arg, _core.Tensor)], dynamic or {})
    # Copies, so that each input has memory of its own, which the call may change.
    copies = [_clone(_contiguous(arg)).detach() if isinstance(arg, _core.Tensor) else arg for arg in values]
    check = SizeCheck(target, copies, inputs, names) if names else None
    recorded = record(target, copies if check is None else check.args, check)
    exporter = _Exporter(recorded, inputs, names, opset)
    proto = exporter.model(_captured_names(target, recorded.captured, inputs), output_names)
    if check is not None:
        check.check(recorded.conditions, load(proto))
    if path is not None:
        _write(onnx, proto, os.fspath(path))
    return proto


def _input_names(target: Any, args: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    tensors = [position for position, arg in enumerate(args) if isinstance(arg, _core.Tensor)]
    if names is not None:
        return _checked(names, "input_names", len(tensors))
    return input_names(target, args)


def _checked(names: Sequence[str], what: str, count: int) -> list[str]:
    if len(names) != count or len(set(names)) != count or not all(names):
        raise ValueError(f"lucid.onnx.export: {what} must be {count} different names, got {names}")
    return list(names)


def _varying(
    names: list[str], tensors: list[_core.Tensor], dynamic: Mapping[str, Mapping[int, str]]
) -> dict[int, dict[int, str]]:
    """The dimensions that vary for each tensor, and the names of their sizes."""
    found: dict[int, dict[int, str]] = {}
    for name, dims in dynamic.items():
        if name not in names:
            raise ValueError(f"lucid.onnx.export: dynamic names {name!r}, but the inputs are {names}")
        position = names.index(name)
        rank = tensors[position].ndim
        for dim, size in dims.items():
            if not isinstance(dim, int) or not -rank <= dim < rank:
                raise IndexError(f"lucid.onnx.export: dynamic has dimension {dim!r} of {name!r}, which has {rank}")
            if not isinstance(size, str) or not size:
                raise TypeError(f"lucid.onnx.export: dynamic[{name!r}][{dim}] must be the name of a size, got {size!r}")
            found.setdefault(position, {})[dim % rank] = size
    return found


def _captured_names(target: Any, captured: dict[int, _core.Tensor], taken: list[str]) -> dict[int, tuple[str, bool]]:
    """For each captured tensor its name, and whether it is a parameter."""
    known: dict[int, str] = {}
    owner = target if isinstance(target, Module) else getattr(target, "__self__", None)
    if isinstance(owner, Module):
        for pairs in (owner.named_parameters(), owner.named_buffers()):
            known.update({id(tensor): name for name, tensor in pairs})
    found: dict[int, tuple[str, bool]] = {}
    used = set(taken)
    # In the order of the module, which a loaded module then has too.
    order = {key: place for place, key in enumerate(known)}
    for number in sorted(captured, key=lambda number: order.get(id(captured[number]), len(order))):
        tensor = captured[number]
        name = _free(known.get(id(tensor)) or f"tensor_{len(found)}", used)
        found[number] = name, isinstance(tensor, Parameter) or tensor.requires_grad
    return found


def _free(name: str, taken: set[str]) -> str:
    """The name, or a similar one if it is taken. It is taken afterwards."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _write(onnx: Any, proto: Any, path: str) -> None:
    if proto.ByteSize() <= MAX_MESSAGE:
        with open(path, "wb") as file:
            file.write(proto.SerializeToString())
        return
    # A message cannot hold more; the tensors go to a file next to it.
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    onnx.save_model(copy, path, save_as_external_data=True, location=os.path.basename(path) + ".data")


class _Exporter:
    """Converts a recorded call."""

    def __init__(
        self, recorded: Recorded, inputs: list[str], size_names: dict[int, dict[int, str]], opset: int
    ) -> None:
        self._helper = onnx_package().helper
        self._recorded = recorded
        self._inputs = inputs
        self._opset = opset
        self._names = dict(zip(recorded.inputs, inputs))
        sizes = {symbol: (inputs[argument], dim) for symbol, (argument, dim) in recorded.symbols.items()}
        self._size_names = {symbol: size_names[argument][dim] for symbol, (argument, dim) in recorded.symbols.items()}
        self._builder = Builder(opset, sizes)
        self._functions: dict[bytes, Any] = {}
        self._initializers: list[Any] = []

    def model(self, captured: dict[int, tuple[str, bool]], output_names: Sequence[str] | None) -> Any:
        recorded = self._recorded
        steps = _live(recorded)
        used = {operand.number for step in steps for operand in step.operands if isinstance(operand, Use)}
        used |= set(recorded.outputs)
        taken = self._builder.taken
        taken |= {*self._inputs, *(output_names or ()), *(name for name, _ in captured.values())}
        initializers = self._initializers
        for number, (name, _) in captured.items():
            self._names[number] = name
            if number in used:
                initializers.append(to_proto(recorded.captured[number], name))
        for position, (number, tensor) in enumerate(recorded.constants.items()):
            self._names[number] = _free(f"constant_{position}", taken)
            if number in used:
                initializers.append(to_proto(tensor, self._names[number]))
        for step in steps:
            self._emit(step)
        outputs = self._outputs(output_names)
        graph = self._helper.make_graph(
            self._builder.nodes,
            "lucid",
            [self._info(name, recorded.kinds[n]) for name, n in zip(self._inputs, recorded.inputs)],
            [self._info(name, recorded.kinds[n]) for name, n in zip(outputs, recorded.outputs)],
            initializers,
        )
        buffers = [name for n, (name, is_parameter) in captured.items() if n in used and not is_parameter]
        return self._wrapped(graph, buffers)

    def _wrapped(self, graph: Any, buffers: list[str]) -> Any:
        from .. import __version__

        imports = [self._helper.make_opsetid("", self._opset)]
        if self._functions:
            imports.append(self._helper.make_opsetid(DOMAIN, 1))
        oldest = self._helper.find_min_ir_version_for(imports[:1])
        model = self._helper.make_model(
            graph,
            opset_imports=imports,
            ir_version=max(8, oldest),
            producer_name="lucid",
            producer_version=__version__,
            functions=list(self._functions.values()),
        )
        if buffers:
            self._helper.set_model_props(model, {BUFFERS: json.dumps(buffers)})
        return model

    def _info(self, name: str, kind: Kind) -> Any:
        shape = [self._size_name(size) if isinstance(size, Size) else size for size in kind.shape]
        return self._helper.make_tensor_value_info(name, NUMBERS[kind.dtype], shape)

    def _size_name(self, size: Size) -> str:
        return re.sub(r"\bs\d+\b", lambda symbol: self._size_names[symbol[0]], size.text)

    def _outputs(self, names: Sequence[str] | None) -> list[str]:
        """The names of the outputs, which replace those of the values."""
        numbers = self._recorded.outputs
        count = len(numbers)
        taken = {*self._inputs, *(each.name for each in self._initializers)}
        if names is None:
            plain = ["output"] if count == 1 else [f"output_{position}" for position in range(count)]
            found = [_free(name, taken) for name in plain]
        else:
            found = _checked(names, "output_names", count)
            if clash := taken.intersection(found):
                raise ValueError(f"lucid.onnx.export: {min(clash)!r} is the name of an input or a parameter")
        made = {name for node in self._builder.nodes for name in node.output}
        renamed: dict[str, str] = {}
        for name, number in zip(found, numbers):
            value = self._names[number]
            if value in made and value not in renamed:
                renamed[value] = name
            else:
                node = self._helper.make_node("Identity", [value], [name])
                self._builder.nodes.append(node)
        for node in self._builder.nodes:
            for names_of_node in (node.input, node.output):
                for position, name in enumerate(names_of_node):
                    if name in renamed:
                        names_of_node[position] = renamed[name]
        return found

    def _emit(self, step: Step) -> None:
        operands = [self._value(operand) for operand in step.operands]
        results = [self._recorded.kinds[number] for number in step.results]
        try:
            made = self._converted(step, operands, results)
        except NotImplementedError as error:
            where = f"{step.source}: " if step.source else ""
            raise NotImplementedError(f"lucid.onnx.export: {where}{step.op} cannot be exported: {error}") from None
        self._names.update(zip(step.results, made))

    def _value(self, operand: Any) -> Any:
        if not isinstance(operand, Use):
            return operand
        kind = self._recorded.kinds[operand.number]
        return Value(self._builder, self._names[operand.number], kind.dtype, kind.shape)

    def _converted(self, step: Step, operands: list[Any], results: list[Kind]) -> list[str]:
        start = len(self._builder.nodes)
        for emit in DIRECT.get(step.op, ()):
            made = _made(emit, Call(step.op, operands, step.attributes, results, self._builder))
            if made is not None:
                for node in self._builder.nodes[start:]:
                    node.doc_string = step.source
                return [value.name for value in made]
        if step.op not in FUNCTIONS:
            raise NotImplementedError(reason_of(step.op))
        return self._function(step, operands, results)

    def _function(self, step: Step, operands: list[Any], results: list[Kind]) -> list[str]:
        """Adds a call of a function whose body computes the op."""
        builder = Builder(self._opset)
        given = [operand if isinstance(operand, Value) else None for operand in operands]
        formal = [f"x{position}" for position in range(len(given))]
        inside = [
            operand if value is None else Value(builder, name, value.dtype, value.shape)
            for operand, value, name in zip(operands, given, formal)
        ]
        attributes = _attributes(step, operands)
        made = _made(FUNCTIONS[step.op], Call(step.op, inside, step.attributes, results, builder))
        if made is None:
            raise NotImplementedError("with these arguments ONNX has no equivalent")
        outputs = [f"y{position}" for position in range(len(made))]
        for value, output in zip(made, outputs):
            builder.nodes.append(self._helper.make_node("Identity", [value.name], [output]))
        while given and given[-1] is None:
            given.pop()
        imports = [self._helper.make_opsetid("", self._opset)]
        body = self._helper.make_function(
            DOMAIN, step.op, formal[: len(given)], outputs, builder.nodes, imports, sorted(attributes)
        )
        key = body.SerializeToString()
        if key not in self._functions:
            same = sum(function.doc_string == step.op for function in self._functions.values())
            body.doc_string = step.op
            body.name = step.op if not same else f"{step.op}_{same}"
            self._functions[key] = body
        start = len(self._builder.nodes)
        found = self._builder.many(
            self._functions[key].name, len(made), *given, domain=DOMAIN, result=results[0].dtype, **attributes
        )
        self._builder.nodes[start].doc_string = step.source
        return [value.name for value in found]


def _made(emit: Emit, call: Call) -> list[Value] | None:
    """The results of an op in the dtypes that they must have."""
    made = emit(call)
    if made is None:
        return None
    values = made if isinstance(made, list) else [made]
    return [value.to(kind.dtype) for value, kind in zip(values, call.results, strict=True)]


def _live(recorded: Recorded) -> list[Step]:
    """The steps whose results are needed, in order."""
    needed = set(recorded.outputs)
    kept = []
    for step in reversed(recorded.steps):
        if needed.intersection(step.results):
            kept.append(step)
            needed.update(operand.number for operand in step.operands if isinstance(operand, Use))
    return kept[::-1]


def _attributes(step: Step, operands: list[Any]) -> dict[str, Any]:
    """The attributes of a node that stands for an op: those of the op, and operands that are numbers."""
    found: dict[str, Any] = {}
    parameters = PARAMETERS[step.op]
    for parameter, operand in zip((each for each in parameters if each["kind"] in _OPERANDS), operands):
        if parameter["kind"] == "tensor" and operand is not None and not isinstance(operand, Value):
            kind = {bool: _core.bool, float: _core.float64}.get(type(operand), _core.int64)
            found[parameter["name"]] = numbers_proto(int(operand) if kind is _core.int64 else operand, kind)
    for parameter in parameters:
        value = step.attributes.get(parameter["name"])
        if value is not None and parameter["kind"] not in _OPERANDS:
            found[parameter["name"]] = _encoded(value, parameter["kind"])
    return found


def _encoded(value: Any, kind: str) -> Any:
    """An attribute. Sizes that vary cannot be converted to numbers, and raise NotImplementedError."""
    match kind:
        case "float":
            return numbers_proto(float(value), _core.float64)
        case "dtype":
            return NUMBERS[value]
        case "ints" | "axes":
            return numbers_proto([int(each) for each in value], _core.int64)
        case "str":
            return value
    return int(value)
