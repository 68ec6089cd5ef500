"""Export of elementwise ops: arithmetic, comparisons, logic, casts and selection."""

from __future__ import annotations

import math

from .. import _core
from ._call import Call, Value, direct, function, is_float
from ._dtypes import HALVES

_SMALL = frozenset({_core.uint8, _core.int8, _core.int16})


def computing(dtype: _core.dtype) -> _core.dtype:
    """A dtype in which runtimes compute numbers of a dtype: few have kernels for small integers."""
    return _core.int32 if dtype in _SMALL or dtype is _core.bool else dtype


_UNARY = {
    "abs": "Abs",
    "exp": "Exp",
    "log": "Log",
    "sqrt": "Sqrt",
    "reciprocal": "Reciprocal",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "asin": "Asin",
    "acos": "Acos",
    "atan": "Atan",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "tanh": "Tanh",
    "asinh": "Asinh",
    "acosh": "Acosh",
    "atanh": "Atanh",
    "sigmoid": "Sigmoid",
    "erf": "Erf",
    "floor": "Floor",
    "ceil": "Ceil",
    "round": "Round",
}
_ROUNDING = ("floor", "ceil", "round", "trunc")


@direct(*_UNARY)
def _unary(c: Call) -> str:
    if c.op in _ROUNDING and not is_float(c.dtype):
        return c.b("Identity", c.x(0))
    # The functions of integers are floats.
    dtype = computing(c.dtype)
    return c.done(c.b(_UNARY[c.op], c.x(0, dtype)), dtype)


@direct("sign")
def _sign(c: Call) -> str | None:
    if is_float(c.dtype):
        return None
    dtype = computing(c.dtype)
    return c.done(c.b("Sign", c.x(0, dtype)), dtype)


@function("sign")
def _sign_of_floats(c: Call) -> str:
    """The sign of a NaN is 0."""
    dtype = _core.float32 if c.dtype in HALVES else c.dtype
    x = c.x(0, dtype)
    return c.done(c.b("Where", c.b("IsNaN", x), c.scalar(0, dtype), c.b("Sign", x)), dtype)


@direct("neg")
def _neg(c: Call) -> str | None:
    if c.dtype is _core.uint8:
        return None
    return c.b("Neg", c.x(0))


@function("neg")
def _neg_unsigned(c: Call) -> str:
    return c.b.cast(c.b("Neg", c.x(0, _core.int32)), c.dtype)


@direct("square")
def _square(c: Call) -> str:
    dtype = computing(c.dtype)
    x = c.x(0, dtype)
    return c.done(c.b("Mul", x, x), dtype)


@direct("add", "sub", "mul")
def _arithmetic(c: Call) -> str:
    dtype = c.common()
    if dtype is _core.bool:
        return c.b({"add": "Or", "mul": "And", "sub": "Xor"}[c.op], c.x(0, dtype), c.x(1, dtype))
    dtype = computing(dtype)
    return c.done(c.b(c.op.capitalize(), c.x(0, dtype), c.x(1, dtype)), dtype)


@direct("div")
def _div(c: Call) -> str:
    dtype = c.common()
    dtype = dtype if is_float(dtype) else c.dtype
    return c.done(c.b("Div", c.x(0, dtype), c.x(1, dtype)), dtype)


@direct("fmod")
def _fmod(c: Call) -> str:
    dtype = computing(c.common())
    return c.done(c.b("Mod", c.x(0, dtype), c.x(1, dtype), fmod=1), dtype)


@direct("remainder")
def _remainder(c: Call) -> str | None:
    dtype = computing(c.common())
    if is_float(dtype):
        return None
    return c.done(c.b("Mod", c.x(0, dtype), c.x(1, dtype)), dtype)


@function("remainder")
def _remainder_of_floats(c: Call) -> str:
    dtype = c.common()
    x, y = c.x(0, dtype), c.x(1, dtype)
    rest = c.b("Mod", x, y, fmod=1)
    zero = c.scalar(0, dtype)
    differs = c.b("Xor", c.b("Less", rest, zero), c.b("Less", y, zero))
    wraps = c.b("And", differs, c.b("Not", c.b("Equal", rest, zero)))
    return c.done(c.b("Where", wraps, c.b("Add", rest, y), rest), dtype)


@function("floor_divide")
def _floor_divide(c: Call) -> str:
    dtype = computing(c.common())
    x, y = c.x(0, dtype), c.x(1, dtype)
    if is_float(dtype):
        return c.done(c.b("Floor", c.b("Div", x, y)), dtype)
    quotient = c.b("Div", x, y)
    rest = c.b("Sub", x, c.b("Mul", quotient, y))
    zero = c.scalar(0, dtype)
    differs = c.b("Xor", c.b("Less", rest, zero), c.b("Less", y, zero))
    wraps = c.b("And", differs, c.b("Not", c.b("Equal", rest, zero)))
    return c.done(c.b("Sub", quotient, c.b.cast(wraps, dtype)), dtype)


@direct("pow")
@function("power")
def _pow(c: Call) -> str:
    dtype = computing(c.common())
    return c.done(c.b("Pow", c.x(0, dtype), c.x(1, dtype)), dtype)


@function("trunc")
def _trunc(c: Call) -> str:
    x = c.x(0)
    if not is_float(c.dtype):
        return x
    return c.b("Where", c.b("Less", x, c.scalar(0)), c.b("Ceil", x), c.b("Floor", x))


@function("exp2")
def _exp2(c: Call) -> str:
    return c.b("Pow", c.scalar(2), c.x(0, c.dtype))


@function("expm1")
def _expm1(c: Call) -> str:
    """2 exp(x / 2) sinh(x / 2), which is accurate near 0."""
    half = c.b("Mul", c.x(0, c.dtype), c.scalar(0.5))
    return c.b("Mul", c.b("Mul", c.b("Exp", half), c.b("Sinh", half)), c.scalar(2))


@function("log1p")
def _log1p(c: Call) -> str:
    """2 atanh(x / (x + 2)) near 0, which is accurate there."""
    x = c.x(0, c.dtype)
    near = c.b("Mul", c.b("Atanh", c.b("Div", x, c.b("Add", x, c.scalar(2)))), c.scalar(2))
    far = c.b("Log", c.b("Add", x, c.scalar(1)))
    return c.b("Where", c.b("Less", c.b("Abs", x), c.scalar(0.5)), near, far)


@function("log2", "log10")
def _log_of_base(c: Call) -> str:
    base = 2.0 if c.op == "log2" else 10.0
    return c.b("Mul", c.b("Log", c.x(0, c.dtype)), c.scalar(1 / math.log(base)))


@function("rsqrt")
def _rsqrt(c: Call) -> str:
    return c.b("Reciprocal", c.b("Sqrt", c.x(0, c.dtype)))


@function("atan2")
def _atan2(c: Call) -> str:
    y, x = c.x(0, c.dtype), c.x(1, c.dtype)
    zero = c.scalar(0)
    # The sign of zeros: 1 / -0 is negative.
    below = c.b("Less", c.b("Where", c.b("Equal", y, zero), c.b("Reciprocal", y), y), zero)
    half_turn = c.b("Where", below, c.scalar(-math.pi), c.scalar(math.pi))
    angle = c.b("Atan", c.b("Div", y, x))
    turned = c.b("Where", c.b("Less", x, zero), c.b("Add", angle, half_turn), angle)
    upright = c.b("Mul", c.b("Sign", y), c.scalar(math.pi / 2))
    return c.b("Where", c.b("Equal", x, zero), upright, turned)


@function("erfc")
def _erfc(c: Call) -> str:
    return c.b("Sub", c.scalar(1), c.b("Erf", c.x(0, c.dtype)))


@function("ndtr")
def _ndtr(c: Call) -> str:
    scaled = c.b("Mul", c.x(0, c.dtype), c.scalar(math.sqrt(0.5)))
    return c.b("Mul", c.b("Add", c.b("Erf", scaled), c.scalar(1)), c.scalar(0.5))


_COMPARISONS = {
    "eq": "Equal",
    "ne": "Equal",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
}


@direct(*_COMPARISONS)
def _compare(c: Call) -> str:
    dtype = computing(c.common())
    found = c.b(_COMPARISONS[c.op], c.x(0, dtype), c.x(1, dtype))
    return c.b("Not", found) if c.op == "ne" else found


_LOGIC = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}


@direct(*_LOGIC)
def _logic(c: Call) -> str:
    return c.b(_LOGIC[c.op], c.x(0, _core.bool), c.x(1, _core.bool))


@direct("logical_not")
def _logical_not(c: Call) -> str:
    return c.b("Not", c.x(0, _core.bool))


def _in_f32(c: Call) -> str:
    dtype = c.value(0).dtype
    return c.x(0, _core.float32 if dtype in HALVES else dtype)


@direct("isnan", "isinf")
def _is_special(c: Call) -> str | None:
    if not is_float(c.value(0).dtype):
        return None
    return c.b("IsNaN" if c.op == "isnan" else "IsInf", _in_f32(c))


@function("isnan", "isinf", "isfinite")
def _is_finite(c: Call) -> str:
    if is_float(c.value(0).dtype):
        x = _in_f32(c)
        return c.b("Not", c.b("Or", c.b("IsNaN", x), c.b("IsInf", x)))
    same = c.b("Equal", c.x(0), c.x(0))
    return same if c.op == "isfinite" else c.b("Not", same)


@function("isclose")
def _isclose(c: Call) -> str:
    dtype = c.common(0, 1)
    same = c.b("Equal", c.x(0, computing(dtype)), c.x(1, computing(dtype)))
    if not is_float(dtype):
        dtype = _core.float64
    x, y = c.x(0, dtype), c.x(1, dtype)
    bound = c.b("Add", c.b("Mul", c.b("Abs", y), c.scalar(c["rtol"], dtype)), c.scalar(c["atol"], dtype))
    difference = c.b("Abs", c.b("Sub", x, y))
    near = c.b("And", c.b("LessOrEqual", difference, bound), c.b("Less", difference, c.scalar(math.inf, dtype)))
    found = c.b("Or", same, near)
    if c["equal_nan"] and dtype is not _core.float64:
        found = c.b("Or", found, c.b("And", c.b("IsNaN", x), c.b("IsNaN", y)))
    return found


_BITWISE = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor"}


@direct("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
def _bitwise(c: Call) -> str:
    prefix = "" if c.dtype is _core.bool else "Bitwise"
    if prefix and c.b.opset < 18:
        raise NotImplementedError("ONNX has it from opset 18 on")
    if c.op == "bitwise_not":
        return c.b(f"{prefix}Not", c.x(0))
    return c.b(prefix + _BITWISE[c.op], c.x(0, c.dtype), c.x(1, c.dtype))


@function("bitwise_left_shift", "bitwise_right_shift")
def _shift(c: Call) -> str:
    """A product with a power of 2, or the floor of a quotient."""
    wide = _core.int64
    x, count = c.x(0, wide), c.x(1, wide)
    zero = c.scalar(0, wide)
    bits = {_core.uint8: 8, _core.int8: 8, _core.int16: 16, _core.int32: 32}.get(c.dtype, 64)
    # Every bit is shifted out by a negative count, or one as large as the width.
    gone = c.b("Or", c.b("Less", count, zero), c.b("GreaterOrEqual", count, c.scalar(bits, wide)))
    power = c.b("Pow", c.scalar(2, wide), c.b("Where", gone, zero, count))
    if c.op == "bitwise_left_shift":
        return c.b.cast(c.b("Where", gone, zero, c.b("Mul", x, power)), c.dtype)
    quotient = c.b("Div", x, power)
    rest = c.b("Sub", x, c.b("Mul", quotient, power))
    shifted = c.b("Sub", quotient, c.b.cast(c.b("Less", rest, zero), wide))
    sign = c.b("Neg", c.b.cast(c.b("Less", x, zero), wide))
    return c.b.cast(c.b("Where", gone, sign, shifted), c.dtype)


@direct("to")
def _to(c: Call) -> str:
    return c.x(0) if c.value(0).dtype is c.dtype else c.b.cast(c.x(0), c.dtype)


def selected(c: Call, condition: str, first: int, second: int) -> str:
    """One of two operands, elementwise."""
    dtype = computing(c.dtype)
    return c.done(c.b("Where", condition, c.x(first, dtype), c.x(second, dtype)), dtype)


@direct("where")
def _where(c: Call) -> str:
    return selected(c, c.x(0, _core.bool), 1, 2)


@direct("masked_fill")
def _masked_fill(c: Call) -> str:
    return selected(c, c.x(1, _core.bool), 2, 0)


@direct("minimum", "maximum")
def _extreme(c: Call) -> str:
    dtype = computing(c.dtype)
    return c.done(c.b("Min" if c.op == "minimum" else "Max", c.x(0, dtype), c.x(1, dtype)), dtype)


@direct("clamp", "clip")
def _clamp(c: Call) -> str | None:
    bounds = [operand for operand in c.operands[1:] if operand is not None]
    dtype = c.dtype
    if any(isinstance(bound, Value) for bound in bounds) or not bounds:
        return None
    if dtype in HALVES and c.common() not in HALVES:
        return None
    if dtype is not c.value(0).dtype or dtype in (_core.int16, _core.bool):
        return None
    return c.b("Clip", c.x(0), c.optional(1, dtype), c.optional(2, dtype))


@function("clamp", "clip")
def _clamp_between(c: Call) -> str:
    dtype = computing(c.dtype)
    if dtype in HALVES:
        dtype = _core.float32
    found = c.x(0, dtype)
    if c.has(1):
        found = c.b("Max", found, c.x(1, dtype))
    if c.has(2):
        found = c.b("Min", found, c.x(2, dtype))
    return c.done(found, dtype)


@function("nan_to_num")
def _nan_to_num(c: Call) -> str:
    if not is_float(c.dtype):
        return c.x(0)
    dtype = _core.float32 if c.dtype in HALVES else c.dtype
    limits = {_core.float16: 65504.0, _core.bfloat16: 3.3895313892515355e38, _core.float32: 3.4028234663852886e38}
    limit = limits.get(c.dtype, 1.7976931348623157e308)
    found = c.x(0, dtype)
    nan = c.b("IsNaN", found)
    high = limit if c["posinf"] is None else c["posinf"]
    low = -limit if c["neginf"] is None else c["neginf"]
    found = c.b("Where", c.b("Equal", found, c.scalar(math.inf, dtype)), c.scalar(high, dtype), found)
    found = c.b("Where", c.b("Equal", found, c.scalar(-math.inf, dtype)), c.scalar(low, dtype), found)
    return c.done(c.b("Where", nan, c.scalar(c["nan"], dtype), found), dtype)


@function("lerp")
def _lerp(c: Call) -> str:
    dtype = c.common(0, 1)
    x, end, weight = c.x(0, dtype), c.x(1, dtype), c.x(2, dtype)
    return c.done(c.b("Add", x, c.b("Mul", weight, c.b("Sub", end, x))), dtype)


@function("addcmul", "addcdiv")
def _addc(c: Call) -> str:
    dtype = c.dtype
    part = c.b("Mul" if c.op == "addcmul" else "Div", c.x(1, dtype), c.x(2, dtype))
    if c["value"] != 1:
        part = c.b("Mul", part, c.scalar(c["value"], dtype))
    return c.b("Add", c.x(0, dtype), part)
