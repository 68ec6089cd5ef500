"""Writes the nodes of an ONNX graph or function."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .. import _core
from ._dtypes import NUMBERS, numbers_proto
from ._package import onnx_package
from ._sizes import Size, values_of


class Builder:
    """Nodes in order. Values are names. `sizes` maps a symbol to the value and the dimension that has this size."""

    def __init__(self, opset: int, sizes: dict[str, tuple[str, int]] | None = None) -> None:
        self.opset = opset
        # Names that values must not have.
        self.taken: set[str] = set()
        self.nodes: list[Any] = []
        self._helper = onnx_package().helper
        self._count = 0
        self._constants: dict[bytes, str] = {}
        self._sizes = sizes or {}
        self._known: dict[Any, str] = {}

    def fresh(self) -> str:
        """A name for a value."""
        self._count += 1
        while f"v{self._count}" in self.taken:
            self._count += 1
        return f"v{self._count}"

    def drop(self, start: int) -> None:
        """Removes the nodes from a position on, and what is known about their results."""
        gone = {name for node in self.nodes[start:] for name in node.output}
        del self.nodes[start:]
        self._constants = {key: name for key, name in self._constants.items() if name not in gone}
        self._known = {key: name for key, name in self._known.items() if name not in gone}

    def many(self, op: str, outputs: int, *inputs: str | None, domain: str = "", **attributes: Any) -> list[str]:
        """Adds a node with several results. Absent operands and attributes are None."""
        names = ["" if name is None else name for name in inputs]
        while names and not names[-1]:
            names.pop()
        results = [self.fresh() for _ in range(outputs)]
        given = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(self._helper.make_node(op, names, results, domain=domain, **given))
        return results

    def __call__(self, op: str, *inputs: str | None, **attributes: Any) -> str:
        """Adds a node with one result."""
        return self.many(op, 1, *inputs, **attributes)[0]

    def constant(self, values: Any, dtype: _core.dtype = _core.float32) -> str:
        """A constant: a number or nested lists of numbers."""
        proto = numbers_proto(values, dtype)
        key = proto.SerializeToString()
        if key not in self._constants:
            self._constants[key] = self("Constant", value=proto)
        return self._constants[key]

    def ints(self, values: Sequence[Any]) -> str:
        """A vector of i64, some of which may be sizes that vary."""
        if not any(isinstance(value, Size) for value in values):
            return self.constant(list(values), _core.int64)
        parts: list[str] = []
        plain: list[int] = []
        for value in values:
            if isinstance(value, Size):
                if plain:
                    parts.append(self.constant(plain, _core.int64))
                    plain = []
                parts.append(self.size(value))
            else:
                plain.append(value)
        if plain:
            parts.append(self.constant(plain, _core.int64))
        return parts[0] if len(parts) == 1 else self("Concat", *parts, axis=0)

    def size(self, size: Size) -> str:
        """A vector of one element: a size that varies."""
        return self._computed(size.tree)

    def _computed(self, tree: ast.expr) -> str:
        text = ast.unparse(tree)
        if text not in self._known:
            self._known[text] = self._compute(tree)
        return self._known[text]

    def _compute(self, tree: ast.expr) -> str:
        match tree:
            case ast.Constant(value=int(value)):
                return self.constant([value], _core.int64)
            case ast.Name(id=symbol):
                if symbol not in self._sizes:
                    raise NotImplementedError("the size of an argument is needed inside a function")
                return self.dim(*self._sizes[symbol])
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self("Neg", self._computed(operand))
            case ast.BinOp(left=left, op=op, right=right):
                kinds = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul", ast.Div: "Div", ast.Mod: "Mod"}
                attributes = {"fmod": 1} if isinstance(op, ast.Mod) else {}
                return self(kinds[type(op)], self._computed(left), self._computed(right), **attributes)
        raise NotImplementedError(f"a size that is computed by {ast.unparse(tree)}")

    def dim(self, x: str, dim: int) -> str:
        """A vector of one element: the size of a dimension."""
        if self.opset >= 15:
            return self("Shape", x, start=dim, end=dim + 1)
        return self("Gather", self("Shape", x), self.constant([dim], _core.int64))

    def cast(self, x: str, dtype: _core.dtype) -> str:
        return self("Cast", x, to=NUMBERS[dtype])

    def reshape(self, x: str, shape: Sequence[Any]) -> str:
        """A reshape. One size that varies is left to ONNX to find out."""
        sizes = list(shape)
        varying = [position for position, size in enumerate(sizes) if isinstance(size, Size)]
        if len(varying) == 1 and -1 not in values_of(sizes) and 0 not in values_of(sizes):
            sizes[varying[0]] = -1
        if 0 not in values_of(sizes):
            return self("Reshape", x, self.ints(sizes))
        # Without allowzero a 0 would mean the size of the input.
        if self.opset < 14:
            raise NotImplementedError("ONNX has shapes with sizes of 0 from opset 14 on")
        return self("Reshape", x, self.ints(sizes), allowzero=1)

    def reduce(self, op: str, x: str, dims: Sequence[int] | None, keepdim: bool) -> str:
        """A reduction over some dimensions, or over all of them if they are None. No dimension means no reduction."""
        if dims is not None and not dims:
            return self("Identity", x)
        if op == "ReduceSum" or self.opset >= 18:
            return self(op, x, None if dims is None else self.ints(dims), keepdims=int(keepdim))
        return self(op, x, axes=None if dims is None else list(dims), keepdims=int(keepdim))

    def unsqueeze(self, x: str, dims: Sequence[int]) -> str:
        return self("Unsqueeze", x, self.ints(dims)) if dims else x

    def squeeze(self, x: str, dims: Sequence[int]) -> str:
        return self("Squeeze", x, self.ints(dims)) if dims else x

    def slice(self, x: str, dim: int, start: Any, end: Any, step: int = 1) -> str:
        return self("Slice", x, self.ints([start]), self.ints([end]), self.ints([dim]), self.ints([step]))

    def transpose(self, x: str, dims: Sequence[int]) -> str:
        return self("Transpose", x, perm=list(dims)) if len(dims) > 1 else x

    def expand(self, x: str, size: Sequence[Any]) -> str:
        return self("Expand", x, self.ints(size))
