"""Numbers and sizes that vary from call to call.

A call may differ from that of a plan only in sizes of tensors, and in numbers among the arguments or in locations that
the function reads. It runs a second time, the symbolic retrace, with traced numbers and tensors with traced sizes in
their place. The trace records how the numbers that ops get are computed, and what code asks about them. One plan then
serves other numbers, and plans for other sizes can be made.
"""

from __future__ import annotations

import math
import operator
import os
import sys
import threading
import weakref
from collections.abc import Callable, Collection, Iterable
from types import CodeType
from typing import Any, NamedTuple

from .. import _core
from ._type_tables import derives

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
# More steps than this are not worth evaluating at each call.
_MAX_STEPS = 1000


class TracedNumber:
    """An int or a float that records what is computed from it, and what code asks about it.

    It is not an int or a float itself, because C code would read its value unnoticed. `isinstance` takes it for one.
    """

    __slots__ = ("__weakref__", "_number", "_trace", "_value")

    # NumPy leaves operators to us.
    __array_ufunc__ = None

    def __init__(self, value: float, number: int, trace: NumberTrace) -> None:
        self._value = value
        self._number = number
        self._trace = trace

    def _operand(self) -> tuple[float, int]:
        """The value, and the number by which ops know it."""
        return self._value, self._number if self._trace.is_open() else 0

    def _read(self) -> Any:
        """The value, on which the call depends from now on."""
        self._trace.expect(self._number, self._value)
        return self._value

    @property
    def __class__(self) -> Any:
        """What isinstance asks for."""
        return type(self._value)

    @__class__.setter
    def __class__(self, cls: Any) -> None:
        raise TypeError("__class__ assignment only supported for mutable types or ModuleType subclasses")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._read(), name)

    def __bool__(self) -> bool:
        return bool(self._trace.compute(bool, self))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is None:
            return self._trace.compute(operator.pow, self, other)
        return pow(self._read(), _value_of(other), _value_of(modulus))

    def __round__(self, digits: Any = None) -> Any:
        return self._trace.compute(round, self) if digits is None else round(self._read(), _value_of(digits))

    def __copy__(self) -> TracedNumber:
        return self

    def __deepcopy__(self, memo: Any) -> TracedNumber:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self._value), (self._read(),)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        return numpy.asarray(self._read(), dtype)

    def __format__(self, spec: str) -> str:
        return format(self._read(), spec)

    def __index__(self) -> int:
        return operator.index(self._read())


def _value_of(number: Any) -> Any:
    return number._read() if type(number) is TracedNumber else number


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: self._trace.compute(function, self, other)


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: self._trace.compute(function, other, self)


def _unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: self._trace.compute(function, self)


def _reading(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: function(self._read())


def _define_operators() -> None:
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
        function = getattr(operator, f"__{name}__")
        if name != "pow":
            setattr(TracedNumber, f"__{name}__", _binary(function))
        setattr(TracedNumber, f"__r{name}__", _reflected(function))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(TracedNumber, f"__{name}__", _binary(getattr(operator, name)))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(TracedNumber, f"__{name}__", _unary(getattr(operator, name)))
    for name in ("trunc", "floor", "ceil"):
        setattr(TracedNumber, f"__{name}__", _unary(getattr(math, name)))
    for function in (int, float, complex, hash, str, repr):
        setattr(TracedNumber, f"__{function.__name__}__", _reading(function))


_define_operators()
_core.set_traced_number(TracedNumber)


class NumberTrace:
    """The trace of the numbers of one call: how they are computed, and on which of them the call depends."""

    def __init__(self) -> None:
        # As NumberProgram takes them. The traced number k is value k - 1.
        self.values: list[tuple[Any, ...]] = []
        self.expected: list[tuple[int, Any]] = []
        self._recorded: list[Any] = []
        self._numbers: list[weakref.ref[TracedNumber]] = []
        self._thread = threading.get_ident()
        self._is_closed = False
        self.failed = False

    def is_open(self) -> bool:
        """Whether numbers are traced now, on this thread."""
        return not self._is_closed and threading.get_ident() == self._thread

    def close(self) -> None:
        self._is_closed = True

    def argument(self, value: float, position: int) -> TracedNumber:
        """The number at a position of the key of the call."""
        return self._add(("number", position, type(value) is float), value)

    def location(self, value: float, name: str) -> TracedNumber:
        """The number in a location with this name."""
        return self._add(("location", name), value)

    def _add(self, how: tuple[Any, ...], value: Any) -> TracedNumber:
        self.values.append(how)
        self._recorded.append(value)
        number = TracedNumber(value, len(self.values), self)
        self._numbers.append(weakref.ref(number))
        self.failed = self.failed or len(self.values) > _MAX_STEPS
        return number

    def expect(self, number: int, value: Any) -> None:
        """Adds a guard on the value of a number."""
        if self.is_open():
            self.expected.append((number - 1, value))

    def compute(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Applies a function to traced numbers and other objects."""
        if any(derives(type(operand), _core.Tensor) for operand in operands):
            return NotImplemented
        operands = tuple(int(operand) if type(operand) is _core.TracedSize else operand for operand in operands)
        if not all(type(operand) in (TracedNumber, int, float, bool) for operand in operands):
            return function(*map(_value_of, operands))
        plain = [operand._value if type(operand) is TracedNumber else operand for operand in operands]
        result = function(*plain)
        if not self.is_open():
            return result
        step = ("call", function, [self._index(operand) for operand in operands], type(result))
        if type(result) is int or type(result) is float:
            return self._add(step, result)
        if type(result) is not bool:
            return function(*map(_value_of, operands))
        self.values.append(step)
        self._recorded.append(result)
        self.expected.append((len(self.values) - 1, result))
        return result

    def _index(self, operand: Any) -> int:
        if type(operand) is TracedNumber and operand._trace is self:
            return operand._number - 1
        value = operand._value if type(operand) is TracedNumber else operand
        self.values.append(("constant", value))
        self._recorded.append(value)
        return len(self.values) - 1

    def is_leaking(self) -> bool:
        """Whether a number is still referred to."""
        return any(number() is not None for number in self._numbers)

    def program(self, outputs: Iterable[int], read: Iterable[int], locations: list[str]) -> _core.NumberProgram:
        """Computes the traced numbers `outputs`; those in `read` must have their recorded value. Of the locations, only
        those with these names vary."""
        values = []
        for value, recorded in zip(self.values, self._recorded):
            if value[0] == "location":
                name = value[1]
                value = ("location", locations.index(name)) if name in locations else ("constant", recorded)
            values.append(value)
        expected = [*self.expected, *((number - 1, self._recorded[number - 1]) for number in read)]
        results = [(number - 1, type(self._recorded[number - 1]) is float) for number in outputs]
        return _core.NumberProgram(values, expected, results)

    def fixed(self, read: Iterable[int]) -> set[Any]:
        """The positions of the key, and the names of locations, on whose values the call depends."""
        known = {index for index, value in self.expected if type(value) is not bool} | {number - 1 for number in read}
        return {self.values[index][1] for index in known if self.values[index][0] in ("number", "location")}

    def of_arguments(self, fixed: Collection[Any]) -> list[int]:
        """The traced numbers that are arguments, or in locations, in `fixed`."""
        kinds = ("number", "location")
        return [number for number, value in enumerate(self.values, 1) if value[0] in kinds and value[1] in fixed]


class VaryingTensor(NamedTuple):
    """A tensor whose sizes vary: an argument, or an item of one."""

    argument: int
    # Its index among the tensors of the call.
    tensor: int
    # Of its first size in the key. The other sizes follow, then the strides.
    position: int
    # Each with its bounds; None if there is none.
    dims: list[tuple[int, int | None, int | None]]


class VaryingLocation(NamedTuple):
    """A location with a number that varies."""

    # As GuardSet.writes() describes it.
    location: tuple[Any, ...]
    name: str


class Varying(NamedTuple):
    """What differs between a call and the plans of its key."""

    # Pairs of an argument's index and its position in the key.
    numbers: list[tuple[int, int]]
    tensors: list[VaryingTensor]
    locations: list[VaryingLocation]

    def only(self, fixed: Collection[Any], sizes: Collection[int]) -> Varying:
        """Without the positions and names `fixed`, and with only those sizes that are at `sizes`."""
        tensors = []
        for tensor in self.tensors:
            keys = {dim: tensor.position + dim[0] for dim in tensor.dims}
            dims = [dim for dim, key in keys.items() if key not in fixed and key in sizes]
            if dims:
                tensors.append(tensor._replace(dims=dims))
        numbers = [number for number in self.numbers if number[1] not in fixed]
        return Varying(numbers, tensors, [location for location in self.locations if location.name not in fixed])

    def positions(self) -> list[int]:
        """The positions of the numbers and sizes in the key."""
        numbers = [position for _, position in self.numbers]
        return numbers + [tensor.position + dim for tensor in self.tensors for dim, _, _ in tensor.dims]

    def all(self) -> list[Any]:
        """The positions in the key, and the names of locations."""
        return [*self.positions(), *(location.name for location in self.locations)]


# Names in code that may tell a traced number from an int or a float. From 3.12 on, `sum` adds floats more precisely.
_TELLING = {"type", "sum"} if sys.version_info >= (3, 12) else {"type"}


def inspects_types(codes: Iterable[CodeType]) -> bool:
    """Whether code of users may tell a traced number from an int or a float. Lucid's own code does not depend on it."""
    return any(not _TELLING.isdisjoint(code.co_names) and not code.co_filename.startswith(_PACKAGE) for code in codes)
