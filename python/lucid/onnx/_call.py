"""One op of a recorded call that is being exported, and the tables of ops that can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import _core
from .._overloads import result_type
from ._builder import Builder
from ._dtypes import FLOATS, HALVES, is_exact
from ._sizes import Size


class Value(NamedTuple):
    """An operand that is a tensor."""

    name: str
    dtype: _core.dtype
    shape: tuple[Any, ...]


class Call:
    """An op with its operands: each is a Value, a number, a Size or None."""

    def __init__(
        self, op: str, operands: list[Any], attributes: dict[str, Any], results: list[Any], builder: Builder
    ) -> None:
        self.op = op
        self.operands = operands
        self.attributes = attributes
        self.results = results
        self.b = builder

    def __getitem__(self, name: str) -> Any:
        return self.attributes[name]

    @property
    def dtype(self) -> _core.dtype:
        """The dtype of the first result."""
        found: _core.dtype = self.results[0].dtype
        return found

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape of the first result."""
        found: tuple[Any, ...] = self.results[0].shape
        return found

    def has(self, position: int) -> bool:
        return position < len(self.operands) and self.operands[position] is not None

    def value(self, position: int) -> Value:
        """An operand that must be a tensor."""
        operand = self.operands[position]
        if not isinstance(operand, Value):
            raise NotImplementedError(f"a number in the place of operand {position}")
        return operand

    def rank(self, position: int = 0) -> int:
        return len(self.value(position).shape)

    def sizes(self, position: int = 0) -> list[int]:
        """The shape of an operand, which must not vary."""
        return self.fixed(self.value(position).shape)

    def sizes_or_none(self, position: int = 0) -> list[Any]:
        """The shape of an operand, in which sizes that vary are None."""
        return [None if isinstance(size, Size) else size for size in self.value(position).shape]

    def fixed(self, sizes: Sequence[Any]) -> list[int]:
        if any(isinstance(size, Size) for size in sizes):
            raise NotImplementedError("a size that varies")
        return list(sizes)

    def x(self, position: int = 0, dtype: _core.dtype | None = None) -> str:
        """An operand, converted to a dtype. Numbers become constants."""
        operand = self.operands[position]
        if isinstance(operand, Value):
            return operand.name if dtype in (None, operand.dtype) else self.b.cast(operand.name, dtype or self.dtype)
        if isinstance(operand, Size):
            scalar = self.b.squeeze(self.b.size(operand), [0])
            return self.b.cast(scalar, dtype or self.dtype)
        return self.b.constant(operand, dtype or self.dtype)

    def optional(self, position: int, dtype: _core.dtype | None = None) -> str | None:
        return self.x(position, dtype) if self.has(position) else None

    def common(self, *positions: int) -> _core.dtype:
        """The dtype to which operands are promoted: f32 if numbers are not exact in a 16-bit dtype."""
        positions = tuple(p for p in positions or range(len(self.operands)) if self.has(p))
        found: Any = None
        like: Any
        for position in positions:
            operand = self.operands[position]
            if isinstance(operand, Value):
                like = _core.ops["zeros"]([1] * min(len(operand.shape), 1), dtype=operand.dtype)
            else:
                like = operand.value if isinstance(operand, Size) else operand
            found = like if found is None else _likeness(found, like)
        dtype = found.dtype if isinstance(found, _core.Tensor) else result_type(found, found)
        numbers = [self.operands[p] for p in positions if not isinstance(self.operands[p], Value | Size)]
        if dtype in HALVES and not all(is_exact(number, dtype) for number in numbers):
            return _core.float32
        return dtype

    def done(self, name: str, dtype: _core.dtype) -> str:
        """A result that was computed in a dtype, in the dtype that it must have."""
        return name if dtype is self.dtype else self.b.cast(name, self.dtype)

    def scalar(self, value: Any, dtype: _core.dtype | None = None) -> str:
        return self.b.constant(value, dtype or self.dtype)

    def dims(self, name: str = "dim", position: int = 0) -> list[int] | None:
        """The attribute with axes of an operand, counted from 0; None if it is None."""
        dims = self.attributes[name]
        if dims is None:
            return None
        rank = self.rank(position)
        return [dim % rank if rank else 0 for dim in (dims if isinstance(dims, tuple | list) else [dims])]

    def dim(self, name: str = "dim", rank: int | None = None) -> int:
        """The attribute with an axis of the first operand, or of a tensor of `rank` dimensions, counted from 0."""
        rank = self.rank() if rank is None else rank
        return int(self.attributes[name]) % rank if rank else 0

    def count(self, dims: Sequence[int] | None, position: int = 0) -> int:
        """The number of elements that a reduction joins."""
        shape = self.value(position).shape
        total = 1
        for size in self.fixed(shape if dims is None else [shape[dim] for dim in dims]):
            total *= size
        return total


def _likeness(first: Any, second: Any) -> Any:
    """A tensor or number that is promoted like two of them."""
    if not isinstance(first, _core.Tensor) and not isinstance(second, _core.Tensor):
        return first if isinstance(first, float) else second
    dtype = result_type(first, second)
    has_dims = any(isinstance(each, _core.Tensor) and each.ndim for each in (first, second))
    return _core.ops["zeros"]([1] if has_dims else [], dtype=dtype)


Emit = Callable[[Call], "str | list[str] | None"]

# Ops that become nodes of ONNX which the loader turns into the same op. An entry returns None where that is not so.
DIRECT: dict[str, Emit] = {}
# Ops that become a function of the model: its name and attributes say which op it is, its body computes it.
FUNCTIONS: dict[str, Emit] = {}


def direct(*names: str) -> Callable[[Emit], Emit]:
    """Registers how ops become nodes of ONNX."""

    def register(emit: Emit) -> Emit:
        DIRECT.update(dict.fromkeys(names, emit))
        return emit

    return register


def function(*names: str) -> Callable[[Emit], Emit]:
    """Registers the body of the function that an op becomes."""

    def register(emit: Emit) -> Emit:
        FUNCTIONS.update(dict.fromkeys(names, emit))
        return emit

    return register


def is_float(dtype: _core.dtype) -> bool:
    return dtype in FLOATS
