"""Writes the nodes of an ONNX graph or function."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, cast

from .. import _core
from ._dtypes import NUMBERS, numbers_proto
from ._package import onnx_package
from ._sizes import Size, evaluated, values_of

_TRUTHS = {"And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual", "Not", "Or", "Xor"}
_POSITIONS = frozenset({"ArgMax", "ArgMin", "Shape"})
# Nodes whose second result is positions.
_WITH_POSITIONS = frozenset({"MaxPool", "TopK"})


def _operator(op: str) -> Callable[..., Value]:
    def apply(self: Value, *others: Any) -> Value:
        return self.builder(op, self, *others)

    return apply


class Value:
    """A value of the graph. Operators, methods and calls add nodes: `x("Clip", 0, 6)` is the result of the node Clip
    with `x` as its first operand. Numbers become constants."""

    __slots__ = ("builder", "dtype", "name", "shape")

    def __init__(self, builder: Builder, name: str, dtype: _core.dtype, shape: tuple[Any, ...] = ()) -> None:
        self.builder = builder
        self.name = name
        self.dtype = dtype
        # Only operands of the op have it.
        self.shape = shape

    def __call__(self, op: str, *others: Any, **attributes: Any) -> Value:
        return self.builder(op, self, *others, **attributes)

    __add__ = _operator("Add")
    __sub__ = _operator("Sub")
    __mul__ = _operator("Mul")
    __truediv__ = _operator("Div")
    __neg__ = _operator("Neg")
    __lt__ = _operator("Less")
    __le__ = _operator("LessOrEqual")
    __gt__ = _operator("Greater")
    __ge__ = _operator("GreaterOrEqual")
    __and__ = _operator("And")
    __or__ = _operator("Or")
    __xor__ = _operator("Xor")
    __invert__ = _operator("Not")
    equals = _operator("Equal")
    where = _operator("Where")

    def shaped(self, shape: tuple[Any, ...]) -> Value:
        """The value with a known shape."""
        return Value(self.builder, self.name, self.dtype, shape)

    def to(self, dtype: _core.dtype) -> Value:
        """The value in a dtype."""
        return self if dtype is self.dtype else self.cast(dtype)

    def cast(self, dtype: _core.dtype) -> Value:
        return self("Cast", to=NUMBERS[dtype], result=dtype)

    def reshape(self, shape: Sequence[Any]) -> Value:
        """A reshape. One size that varies is left to ONNX to find out."""
        sizes = list(shape)
        varying = [position for position, size in enumerate(sizes) if isinstance(size, Size)]
        if len(varying) == 1 and -1 not in values_of(sizes) and 0 not in values_of(sizes):
            sizes[varying[0]] = -1
        if 0 not in values_of(sizes):
            return self("Reshape", self.builder.ints(sizes))
        # Without allowzero a 0 would mean the size of the input.
        if self.builder.opset < 14:
            raise NotImplementedError("ONNX has shapes with sizes of 0 from opset 14 on")
        return self("Reshape", self.builder.ints(sizes), allowzero=1)

    def reduce(self, kind: str, dims: Sequence[int] | None = None, keepdim: bool = False) -> Value:
        """A reduction over some dimensions, or over all of them if they are None. No dimension means no reduction."""
        if dims is not None and not dims:
            return self("Identity")
        if kind == "Sum" or self.builder.opset >= 18:
            return self(f"Reduce{kind}", None if dims is None else self.builder.ints(dims), keepdims=int(keepdim))
        return self(f"Reduce{kind}", axes=None if dims is None else list(dims), keepdims=int(keepdim))

    def unsqueeze(self, *dims: int) -> Value:
        return self("Unsqueeze", self.builder.ints(dims)) if dims else self

    def squeeze(self, *dims: int) -> Value:
        return self("Squeeze", self.builder.ints(dims)) if dims else self

    def slice(self, dim: int, start: Any, end: Any, step: int = 1) -> Value:
        return self("Slice", *(self.builder.ints([each]) for each in (start, end, dim, step)))

    def transpose(self, dims: Sequence[int]) -> Value:
        return self("Transpose", perm=list(dims)) if len(dims) > 1 else self

    def expand(self, size: Sequence[Any]) -> Value:
        return self("Expand", self.builder.ints(size))


def squared(x: Value) -> Value:
    return x * x


class Builder:
    """Nodes in order. `sizes` maps a symbol to the value and the dimension that has this size."""

    def __init__(self, opset: int, sizes: dict[str, tuple[str, int]] | None = None) -> None:
        self.opset = opset
        # Names that values must not have.
        self.taken: set[str] = set()
        self.nodes: list[Any] = []
        self._helper = onnx_package().helper
        self._count = 0
        self._constants: dict[bytes, Value] = {}
        self._sizes = sizes or {}
        self._known: dict[Any, Value] = {}

    def fresh(self) -> str:
        """A name for a value."""
        self._count += 1
        while f"v{self._count}" in self.taken:
            self._count += 1
        return f"v{self._count}"

    def many(
        self,
        op: str,
        outputs: int,
        *operands: Any,
        domain: str = "",
        result: _core.dtype | None = None,
        **attributes: Any,
    ) -> list[Value]:
        """Adds a node with several results. Absent operands and attributes are None. Numbers have the dtype of the
        other operands, and so do the results, unless the op has its own or `result` is their dtype."""
        values = [each for each in operands[op == "Where" :] if isinstance(each, Value)]
        names = [
            "" if each is None else (each if isinstance(each, Value) else self.constant(each, values[0].dtype)).name
            for each in operands
        ]
        while names and not names[-1]:
            names.pop()
        results = [self.fresh() for _ in range(outputs)]
        given = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(self._helper.make_node(op, names, results, domain=domain, **given))
        dtype = result or (_core.bool if op in _TRUTHS else _core.int64 if op in _POSITIONS else values[0].dtype)
        second = _core.int64 if op in _WITH_POSITIONS else dtype
        return [Value(self, name, second if position else dtype) for position, name in enumerate(results)]

    def __call__(self, op: str, *operands: Any, **attributes: Any) -> Value:
        """Adds a node with one result."""
        return self.many(op, 1, *operands, **attributes)[0]

    def constant(self, values: Any, dtype: _core.dtype) -> Value:
        """A constant: a number or nested lists of numbers."""
        proto = numbers_proto(values, dtype)
        key = proto.SerializeToString()
        if key not in self._constants:
            self._constants[key] = self("Constant", value=proto, result=dtype)
        return self._constants[key]

    def ints(self, values: Sequence[Any]) -> Value:
        """A vector of i64, some of which may be sizes that vary."""
        parts: list[Value] = []
        for varies, group in itertools.groupby(values, lambda value: isinstance(value, Size)):
            listed = list(group)
            parts += map(self.size, listed) if varies else [self.constant(listed, _core.int64)]
        return self.joined(parts, 0) if parts else self.constant([], _core.int64)

    def joined(self, parts: Sequence[Value], axis: int) -> Value:
        """A concatenation."""
        return self("Concat", *parts, axis=axis) if len(parts) > 1 else parts[0]

    def size(self, size: Size) -> Value:
        """A vector of one element: a size that varies."""
        return cast("Value", evaluated(size.tree, self._leaf, self._computed))

    def _leaf(self, leaf: int | str) -> Value:
        if isinstance(leaf, int):
            return self.constant([leaf], _core.int64)
        if leaf not in self._sizes:
            raise NotImplementedError("the size of an argument is needed inside a function")
        if leaf not in self._known:
            name, dim = self._sizes[leaf]
            self._known[leaf] = self._dim(Value(self, name, _core.int64), dim)
        return self._known[leaf]

    def _computed(self, op: str, *operands: Value) -> Value:
        key = (op, *(operand.name for operand in operands))
        if key not in self._known:
            self._known[key] = self(op, *operands, fmod=1 if op == "Mod" else None)
        return self._known[key]

    def _dim(self, x: Value, dim: int) -> Value:
        """A vector of one element: the size of a dimension."""
        if self.opset >= 15:
            return x("Shape", start=dim, end=dim + 1)
        return x("Shape")("Gather", self.constant([dim], _core.int64))
