"""One op of a recorded call that is being exported, and the tables of ops that can be."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import _core
from .._overloads import result_type
from ._builder import Builder, Value
from ._dtypes import HALVES, computing, is_exact, widened
from ._sizes import Size


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
    def computing(self) -> _core.dtype:
        """The dtype in which runtimes compute the first result."""
        return computing(self.dtype)

    @property
    def wide(self) -> _core.dtype:
        """The dtype in which the first result is computed if it is rounded once."""
        return widened(self.dtype)

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

    def fixed(self, sizes: Sequence[Any]) -> list[int]:
        if any(isinstance(size, Size) for size in sizes):
            raise NotImplementedError("a size that varies")
        return list(sizes)

    def x(self, position: int = 0, dtype: _core.dtype | None = None) -> Value:
        """An operand, converted to a dtype, which is that of the first result unless it is given."""
        dtype = dtype or self.dtype
        operand = self.operands[position]
        if isinstance(operand, Value):
            return operand.to(dtype)
        return self.b.size(operand).squeeze(0).cast(dtype) if isinstance(operand, Size) else self.scalar(operand, dtype)

    def xs(self, count: int, dtype: _core.dtype | None = None) -> list[Value]:
        """The first operands, converted to a dtype."""
        return [self.x(position, dtype) for position in range(count)]

    def optional(self, position: int) -> Value | None:
        return self.x(position) if self.has(position) else None

    def common(self, *positions: int) -> _core.dtype:
        """The dtype to which operands are promoted: f32 if numbers are not exact in a 16-bit dtype."""
        positions = tuple(p for p in positions or range(len(self.operands)) if self.has(p))
        found = functools.reduce(_likeness, (_like(self.operands[position]) for position in positions))
        dtype = found.dtype if isinstance(found, _core.Tensor) else result_type(found, found)
        numbers = [self.operands[p] for p in positions if not isinstance(self.operands[p], Value | Size)]
        if dtype in HALVES and not all(is_exact(number, dtype) for number in numbers):
            return _core.float32
        return dtype

    def scalar(self, value: Any, dtype: _core.dtype | None = None) -> Value:
        return self.b.constant(value, dtype or self.dtype)

    def since(self, opset: int, what: str = "ONNX has it") -> None:
        """Raises NotImplementedError before an opset."""
        if self.b.opset < opset:
            raise NotImplementedError(f"{what} from opset {opset} on")

    def holds(self, *numbers: float) -> bool:
        """Whether attributes of ONNX, which are f32, hold numbers as exactly as the op uses them."""
        return self.dtype is not _core.float64 or all(is_exact(number, _core.float32) for number in numbers)

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

    def reduced(self) -> list[int] | None:
        """The reduced dimensions; None means all of them."""
        return (self.dims() or None) if self.rank() else None

    def count(self, dims: Sequence[int] | None, position: int = 0) -> int:
        """The number of elements that a reduction joins."""
        shape = self.value(position).shape
        total = 1
        for size in self.fixed(shape if dims is None else [shape[dim] for dim in dims]):
            total *= size
        return total


def _like(operand: Any) -> Any:
    """A tensor or number that is promoted like an operand."""
    if isinstance(operand, Value):
        return _core.ops["zeros"]([1] * min(len(operand.shape), 1), dtype=operand.dtype)
    return operand.value if isinstance(operand, Size) else operand


def _likeness(first: Any, second: Any) -> Any:
    """A tensor or number that is promoted like two of them."""
    if not isinstance(first, _core.Tensor) and not isinstance(second, _core.Tensor):
        return first if isinstance(first, float) else second
    dtype = result_type(first, second)
    has_dims = any(isinstance(each, _core.Tensor) and each.ndim for each in (first, second))
    return _core.ops["zeros"]([1] if has_dims else [], dtype=dtype)


Emit = Callable[[Call], "Value | list[Value] | None"]
E = TypeVar("E", bound=Emit)

# Ops that become nodes of ONNX which the loader turns into the same op, where an entry does not return None.
DIRECT: dict[str, list[Emit]] = {}
# Ops that become a function of the model: its name and attributes say which op it is, its body computes it.
FUNCTIONS: dict[str, Emit] = {}


def direct(*names: str, **entries: Emit) -> Callable[[E], E]:
    """Registers how ops become nodes of ONNX: entries given by name, and one that is decorated. Those that return None
    add no nodes."""

    def register(emit: E) -> E:
        for name in names:
            DIRECT.setdefault(name, []).append(emit)
        return emit

    for name, entry in entries.items():
        DIRECT.setdefault(name, []).append(entry)
    return register


def function(*names: str, **bodies: Emit) -> Callable[[E], E]:
    """Registers bodies of the functions that ops become: bodies given by name, and one that is decorated."""

    def register(emit: E) -> E:
        FUNCTIONS.update(dict.fromkeys(names, emit))
        return emit

    FUNCTIONS.update(bodies)
    return register
