"""Names and limits of dtypes."""

from __future__ import annotations

import builtins
import math

from . import _core, _effects

_effects.pure_module()

dtype = _core.dtype

bool = _core.bool
uint8 = u8 = _core.uint8
int8 = i8 = _core.int8
int16 = i16 = short = _core.int16
int32 = i32 = int = _core.int32
int64 = i64 = long = _core.int64
float16 = f16 = half = _core.float16
bfloat16 = bf16 = _core.bfloat16
float32 = f32 = float = _core.float32
float64 = f64 = double = _core.float64

# Mantissa bits including the implicit one, and the smallest and largest exponents of normal numbers.
_FLOATS = {float16: (11, -14, 15), bfloat16: (8, -126, 127), float32: (24, -126, 127), float64: (53, -1022, 1023)}
_INTEGERS = {uint8: (8, False), int8: (8, True), int16: (16, True), int32: (32, True), int64: (64, True)}


class finfo:
    """The limits of a floating-point dtype: bits, eps, max, min, tiny, smallest_normal and resolution.

    >>> lucid.finfo(lucid.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, dtype: _core.dtype | None = None) -> None:
        self._dtype = _core.get_default_dtype() if dtype is None else _core.dtype(dtype)
        if self._dtype not in _FLOATS:
            raise TypeError(f"finfo: {self._dtype} is not a floating-point dtype; use iinfo")
        mantissa, low, high = _FLOATS[self._dtype]
        self.bits = self._dtype.itemsize * 8
        self.eps = 2.0 ** (1 - mantissa)
        self.max = (2.0 - self.eps) * 2.0**high
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0**low
        self.resolution = 10.0 ** -_digits(mantissa)
        self.dtype = self._dtype.name

    def __repr__(self) -> str:
        return f"finfo({self.dtype}, eps={self.eps:g}, max={self.max:g}, min={self.min:g}, tiny={self.tiny:g})"


class iinfo:
    """The limits of an integer dtype: bits, min and max.

    >>> lucid.iinfo(lucid.int8).max
    127
    """

    def __init__(self, dtype: _core.dtype) -> None:
        self._dtype = _core.dtype(dtype)
        if self._dtype not in _INTEGERS:
            raise TypeError(f"iinfo: {self._dtype} is not an integer dtype; use finfo")
        self.bits, signed = _INTEGERS[self._dtype]
        self.min = -(2 ** (self.bits - 1)) if signed else 0
        self.max = 2 ** (self.bits - signed) - 1
        self.dtype = self._dtype.name

    def __repr__(self) -> str:
        return f"iinfo({self.dtype}, min={self.min}, max={self.max})"


def _digits(mantissa: builtins.int) -> builtins.int:
    """Returns the number of decimal digits that a mantissa always preserves."""
    return math.floor((mantissa - 1) * math.log10(2))
