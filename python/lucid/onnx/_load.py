"""`lucid.onnx.load`: an ONNX model as a module."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import _core
from ..nn import Module, Parameter
from . import (
    _from_image,
    _from_linalg,
    _from_movement,
    _from_norm,
    _from_pointwise,
    _from_reduce,
    _from_windows,
)
from ._dtypes import FLOATS, dtype_of
from ._from_lucid import check_lucid, lucid_op
from ._module import Input, ONNXModule, Step
from ._node import HOST_SIZE, RUN, Node
from ._package import BUFFERS, DOMAIN, NEWEST_OPSET, OLDEST_OPSET, onnx_package
from ._pairs import PAIRS_OF
from ._protos import fail, read_attributes, read_model, read_tensor
from ._tables import DIRECT, FUNCTIONS

__all__ = ["FAMILIES", "load", "supported_ops"]

# Importing them fills the table of functions that run nodes.
FAMILIES = (_from_image, _from_linalg, _from_movement, _from_norm, _from_pointwise, _from_reduce, _from_windows)
_EXPORTED = frozenset(DIRECT) | frozenset(FUNCTIONS)
_SUPPORTED = frozenset({*RUN, *PAIRS_OF, "Constant"})
# What functions that call functions may grow to.
_MAX_NODES = 250_000
_MAX_DEPTH = 50

# Definitions after opset 23 that only add data types, or attributes that are checked.
_LATER_OPS = {
    24: "Swish TopK",
    25: "Attention CastLike Constant ConstantOfShape Flatten Identity Pad Reshape Shape Size Squeeze "
    "Transpose Unsqueeze",
    26: "CumProd",
    27: "Range",
    28: "BitShift Cast Celu Compress DepthToSpace Einsum Mod OneHot ReduceLogSum ReduceLogSumExp "
    "ReverseSequence SpaceToDepth Unique",
}
_LATER = {op: version for version, ops in _LATER_OPS.items() for op in ops.split()}
# Operands whose elements must be known: initializers that only these use are constants, not parameters.
_KNOWN: dict[str, tuple[int, ...]] = {
    "Clip": (1, 2),
    "ConstantOfShape": (0,),
    "CumSum": (1,),
    "Dropout": (1, 2),
    "OneHot": (1, 2),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "Resize": (1, 2, 3),
}
# Operands that are statistics: initializers that only these use are buffers.
_STATISTICS: dict[str, tuple[int, ...]] = {"BatchNormalization": (3, 4)}


def supported_ops() -> list[str]:
    """The ops of ONNX that `load` runs, in alphabetical order.

    >>> "Conv" in lucid.onnx.supported_ops()
    True
    """
    return sorted(_SUPPORTED)


def load(source: Any) -> ONNXModule:
    """Returns a module that computes what an ONNX model says.

    The nodes run with Lucid's ops. Float initializers become parameters with their names; the module can be trained,
    compiled and saved. A model that `export` has written comes back with the same ops, and gives the same bits.

    A file is data: nothing in it is executed, sizes are checked before memory is allocated for them, and external data
    is only read inside the folder of the model.

    Args:
        source: A path, the bytes of a file, or an `onnx.ModelProto`.

    Raises NotImplementedError with all ops of the model that are not supported, and ValueError for a damaged file.

    >>> model = lucid.nn.Linear(3, 2)
    >>> proto = lucid.onnx.export(model, lucid.ones(4, 3))
    >>> loaded = lucid.onnx.load(proto)
    >>> lucid.equal(loaded(lucid.ones(4, 3)), model(lucid.ones(4, 3)))
    True
    >>> [name for name, _ in loaded.named_parameters()]
    ['weight', 'bias']
    """
    model, folder = read_model(source)
    return _Loader(model, folder).module()


class _Loader:
    def __init__(self, model: Any, folder: str | None) -> None:
        self._model = model
        self._folder = folder
        self._onnx = onnx_package()
        self._opsets = self._imports(model.opset_import)
        self._functions = {(each.domain, each.name): each for each in model.functions}
        # The nodes, and where each value is used.
        self._steps: list[Step] = []
        self._uses: dict[str, list[tuple[str, int]]] = {}
        self._missing: dict[str, None] = {}
        self._skipped: set[str] = set()
        self._count = 0

    def _imports(self, imports: Any) -> dict[str, int]:
        found = {"" if each.domain == "ai.onnx" else each.domain: int(each.version) for each in imports}
        version = found.get("")
        newest = self._onnx.defs.onnx_opset_version()
        if version is not None and not 1 <= version <= newest:
            raise fail(f"the opset is {version}, and the installed onnx has those up to {newest}")
        return found

    def module(self) -> ONNXModule:
        graph = self._model.graph
        if graph.sparse_initializer:
            raise NotImplementedError("lucid.onnx.load: sparse initializers are not supported")
        initializers: dict[str, Any] = {}
        for proto in graph.initializer:
            if not proto.name or proto.name in initializers:
                raise fail(f"initializer {proto.name!r} has no name of its own")
            initializers[proto.name] = proto
        inputs = tuple(self._input(each) for each in graph.input if each.name not in initializers)
        known = {*initializers, *(each.name for each in inputs)}
        if len(known) != len(initializers) + len(inputs):
            raise fail("two inputs have the same name")
        self._expand(graph.node, {}, "", self._opsets, {}, 0)
        constants, steps = self._checked_steps(known)
        if self._missing:
            listed = ", ".join(sorted(self._missing))
            hint = "; onnx.version_converter may convert the model" if " of opset " in listed else ""
            raise NotImplementedError(f"lucid.onnx.load: the model has nodes that are not supported: {listed}{hint}")
        outputs = tuple(each.name for each in graph.output)
        made = {name for step in steps for name in step.results} | known | set(constants)
        if not outputs or any(name not in made for name in outputs):
            raise fail("an output is not computed")
        return self._build(inputs, outputs, steps, constants, initializers)

    def _input(self, value: Any) -> Input:
        kind = value.type
        if not value.name or kind.WhichOneof("value") != "tensor_type":
            raise NotImplementedError(f"lucid.onnx.load: input {value.name!r} is not a tensor")
        dtype = dtype_of(kind.tensor_type.elem_type)
        shape = None
        if kind.tensor_type.HasField("shape"):
            dims = kind.tensor_type.shape.dim
            shape = tuple(dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in dims)
        return Input(value.name, dtype, shape)

    # Nodes, with functions replaced by what they hold.

    def _expand(
        self, nodes: Any, names: dict[str, str], prefix: str, opsets: dict[str, int], given: dict[str, Any], depth: int
    ) -> None:
        """Adds nodes. `names` are the names in the model of the operands and results of a function."""
        for node in nodes:
            self._count += 1
            if self._count > _MAX_NODES or depth > _MAX_DEPTH:
                raise fail("the functions of the model call each other without end")
            operands = tuple(_renamed(name, names, prefix) for name in node.input)
            results = tuple(_renamed(name, names, prefix) for name in node.output)
            domain = "" if node.domain == "ai.onnx" else node.domain
            label = f"node {prefix}{node.name or node.output[0] if node.output else '?'} ({node.op_type})"
            key = (node.domain, node.op_type)
            op = lucid_op(node.op_type, _EXPORTED) if domain == DOMAIN else None
            if op is None and key in self._functions:
                self._inline(node, operands, results, given, label, depth)
                continue
            attributes = self._attributes(node, given, label, domain)
            version, defaults = (1, {}) if op is not None else self._definition(node, attributes, domain, opsets, label)
            if attributes is None or version is None:
                # The model is rejected when all its nodes have been seen.
                self._skipped.update(results)
                continue
            name = node.op_type if op is None else f"{DOMAIN}.{op}"
            made = Node(name, version, attributes, defaults, len(results), label)
            self._steps.append(Step(made, operands, results, ()))

    def _attributes(self, node: Any, given: dict[str, Any], label: str, domain: str) -> dict[str, Any] | None:
        """The attributes of a node, or None if the node is not supported."""
        try:
            return read_attributes(node.attribute, self._folder, given, label)
        except NotImplementedError as error:
            if node.op_type not in _SUPPORTED:
                self._missing[_name(node.op_type, domain)] = None
            else:
                self._missing[str(error).removeprefix("lucid.onnx.load: ")] = None
            return None

    def _inline(
        self, node: Any, operands: tuple[str, ...], results: tuple[str, ...], given: Any, label: str, depth: int
    ) -> None:
        function = self._functions[(node.domain, node.op_type)]
        if len(operands) > len(function.input) or len(results) > len(function.output):
            raise fail(f"{label} has more operands or results than its function")
        defaults = read_attributes(function.attribute_proto, self._folder, {}, label)
        attributes = {**defaults, **read_attributes(node.attribute, self._folder, given, label)}
        prefix = f"{label}#{self._count}/"
        names = dict(zip(function.input, operands + ("",) * (len(function.input) - len(operands))))
        for name, result in zip(function.output, results):
            if result:
                names[name] = result
        self._expand(function.node, names, prefix, self._imports(function.opset_import), attributes, depth + 1)

    def _definition(
        self, node: Any, attributes: dict[str, Any] | None, domain: str, opsets: dict[str, int], label: str
    ) -> tuple[int | None, dict[str, Any]]:
        """The version of an op's definition, or None if it is not supported, and the defaults of its attributes."""
        op = node.op_type
        if domain != "" or op not in _SUPPORTED:
            self._missing[_name(op, domain)] = None
            return None, {}
        opset = opsets.get("")
        if opset is None:
            raise fail(f"{op} is used, but the model names no opset")
        defs = self._onnx.defs
        try:
            schema = defs.get_schema(op, opset, "")
        except defs.SchemaError:
            raise fail(f"opset {opset} has no op {op}") from None
        version = int(schema.since_version)
        # An older or newer opset is no obstacle if it defines the op as one from 13 to 23 does.
        oldest = defs.get_schema(op, max(OLDEST_OPSET, version), "").since_version
        if version >= oldest and version <= max(NEWEST_OPSET, _LATER.get(op, 0)):
            _check_node(node, schema, attributes, label)
            defaults = [each.default_value for each in schema.attributes.values() if each.default_value.type]
            return version, read_attributes(defaults, None, {}, label)
        self._missing[f"{op} of opset {version}"] = None
        return None, {}

    def _checked_steps(self, known: set[str]) -> tuple[dict[str, Any], tuple[Step, ...]]:
        """Nodes in order, and the values of constants."""
        constants: dict[str, Any] = {}
        kept: list[Step] = []
        known |= self._skipped
        for step in self._steps:
            for name in step.operands:
                if name and name not in known:
                    raise fail(f"{step.node.label} reads {name!r}, which no earlier node computes")
            for name in step.results:
                if name and name in known:
                    raise fail(f"{step.node.label} computes {name!r}, which exists already")
                if name:
                    known.add(name)
            if step.node.op == "Constant":
                constants[step.results[0]] = _constant(step.node)
            else:
                kept.append(step)
        if self._missing:
            return constants, ()
        outputs = {each.name for each in self._model.graph.output}
        last: dict[str, int] = {}
        for position, step in enumerate(kept):
            last |= dict.fromkeys((*step.operands, *step.results), position)
            for place, name in enumerate(step.operands):
                self._uses.setdefault(name, []).append((step.node.op, place))
        own = {name for step in kept for name in step.results if name}
        steps = []
        for position, step in enumerate(kept):
            if step.node.op.startswith(f"{DOMAIN}."):
                check_lucid(step.node, len(step.operands))
            names = dict.fromkeys((*step.operands, *step.results))
            unused = tuple(name for name in names if name in own and last[name] == position and name not in outputs)
            steps.append(step._replace(unused=unused))
        return constants, tuple(steps)

    # The module.

    def _build(
        self,
        inputs: tuple[Input, ...],
        outputs: tuple[str, ...],
        steps: tuple[Step, ...],
        constants: dict[str, Any],
        initializers: dict[str, Any],
    ) -> ONNXModule:
        buffers = self._buffer_names()
        stored: list[tuple[str, str]] = []
        module = ONNXModule(inputs, outputs, steps, {}, ())
        for name, proto in initializers.items():
            value = read_tensor(proto, self._folder)
            uses = self._uses.get(name, [])
            is_float = (value.dtype in FLOATS) if isinstance(value, _core.Tensor) else value.dtype.kind == "f"
            if name not in buffers and isinstance(value, np.ndarray) and _only(uses, _KNOWN):
                constants[name] = value
            elif is_float or name in buffers:
                is_buffer = name in buffers or _only(uses, _STATISTICS)
                stored.append((name, _store(module, name, value, is_buffer)))
            else:
                constants[name] = value
        small = {}
        for name, value in constants.items():
            if isinstance(value, np.ndarray) and value.size <= HOST_SIZE:
                small[name] = value
            else:
                stored.append((name, _store(module, f"constant_{len(stored)}", value, True, persistent=False)))
        module._constants = small
        module._stored = tuple(stored)
        return module

    def _buffer_names(self) -> set[str]:
        for entry in self._model.metadata_props:
            if entry.key == BUFFERS:
                try:
                    names = json.loads(entry.value)
                except (ValueError, RecursionError):
                    names = None
                if not isinstance(names, list):
                    raise fail(f"the metadata {BUFFERS} is not a list")
                return {name for name in names if isinstance(name, str)}
        return set()


def _only(uses: list[tuple[str, int]], places: dict[str, tuple[int, ...]]) -> bool:
    return bool(uses) and all(position in places.get(op, ()) for op, position in uses)


def _check_node(node: Any, schema: Any, attributes: dict[str, Any] | None, label: str) -> None:
    """Checks the operands and results, and the attributes with their kinds."""
    given, made = len(node.input), len(node.output)
    if not schema.min_input <= given <= schema.max_input or not schema.min_output <= made <= schema.max_output:
        raise fail(f"{label} has {given} operands and {made} results")
    for position, name in enumerate(node.input):
        declared = schema.inputs[min(position, len(schema.inputs) - 1)]
        if not name and declared.option != type(declared.option).Optional:
            raise fail(f"{label} lacks the operand {declared.name!r}")
    for attribute in node.attribute:
        known = schema.attributes.get(attribute.name)
        if known is None or int(known.type) != attribute.type:
            raise fail(f"{label} has an attribute {attribute.name!r} that it cannot have")
    for name, known in schema.attributes.items():
        if known.required and attributes is not None and name not in attributes:
            raise fail(f"{label} lacks the attribute {name!r}")


def _name(op: str, domain: str) -> str:
    return f"{domain}.{op}" if domain else op


def _renamed(name: str, names: dict[str, str], prefix: str) -> str:
    if not name:
        return ""
    return names[name] if name in names else prefix + name


def _constant(node: Node) -> Any:
    """The value of a node Constant, which one of several attributes holds."""
    if len(node.attributes) != 1:
        raise fail(f"{node.label} must have one attribute")
    [(name, value)] = node.attributes.items()
    match name:
        case "value" if isinstance(value, np.ndarray | _core.Tensor):
            return value
        case "value_float" | "value_floats":
            return np.array(value, np.float32)
        case "value_int" | "value_ints":
            return np.array(value, np.int64)
    raise NotImplementedError(f"lucid.onnx.load: {node.label}: a constant given by {name!r}")


def _store(module: Module, name: str, value: Any, is_buffer: bool, persistent: bool = True) -> str:
    """Makes a value a parameter or a buffer, under its name if that is possible, and returns the path to it."""
    tensor = value if isinstance(value, _core.Tensor) else _core.tensor(value)
    *folders, leaf = name.split(".")
    plain = "".join(character if character.isalnum() else "_" for character in name) or "value"
    if len(folders) > 50 or not all([*folders, leaf]):
        folders, leaf = [], plain
    owner: Module = module
    for folder in folders:
        found = owner._modules.get(folder)
        if found is None and hasattr(owner, folder):
            owner, folders, leaf = module, [], plain
            break
        if found is None:
            owner.add_module(folder, Module())
        owner = owner._modules[folder]
    while hasattr(owner, leaf):
        leaf += "_"
    if is_buffer:
        owner.register_buffer(leaf, tensor, persistent)
    else:
        owner.register_parameter(leaf, Parameter(tensor))
    return ".".join([*folders, leaf])
