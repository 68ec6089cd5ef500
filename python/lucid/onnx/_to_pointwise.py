"""Export of elementwise ops: arithmetic, comparisons, logic, casts and selection."""

from __future__ import annotations

import math

from .. import _core
from ._builder import Value, squared
from ._call import Call, direct, function
from ._dtypes import HALVES, computing, is_float, widened

_OF_BOOLS = {"add": "Or", "mul": "And", "sub": "Xor"}
_OF_BOOLS |= {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor", "bitwise_not": "Not"}


@direct(*_OF_BOOLS)
def _of_bools(c: Call) -> Value | None:
    return c.b(_OF_BOOLS[c.op], *c.xs(len(c.operands), _core.bool)) if c.common() is _core.bool else None


direct(
    **dict.fromkeys(("ceil", "floor", "round"), lambda c: None if is_float(c.dtype) else c.x()("Identity")),
    sign=lambda c: None if is_float(c.dtype) else c.x(0, c.computing)("Sign"),
    square=lambda c: squared(c.x(0, c.computing)),
    ne=lambda c: ~Value.equals(*c.xs(2, computing(c.common()))),
    minimum=lambda c: c.x(0, c.computing)("Min", c.x(1, c.computing)),
    maximum=lambda c: c.x(0, c.computing)("Max", c.x(1, c.computing)),
    to=lambda c: c.x(),
    where=lambda c: _selected(c, c.x(0, _core.bool), 1, 2),
    masked_fill=lambda c: _selected(c, c.x(1, _core.bool), 2, 0),
    isinf=lambda c: _in_f32(c)("IsInf") if is_float(c.value(0).dtype) else None,
)


@function("sign")
def _sign_of_floats(c: Call) -> Value:
    """The sign of a NaN is 0."""
    x = c.x(0, c.wide)
    return x("IsNaN").where(c.scalar(0, c.wide), x("Sign"))


@direct("div")
def _div(c: Call) -> Value:
    dtype = c.common()
    x, y = c.xs(2, dtype if is_float(dtype) else c.dtype)
    return x / y


def _wraps(rest: Value, y: Value, zero: Value) -> Value:
    """Whether the remainder of a division has another sign than the divisor."""
    return ((rest < zero) ^ (y < zero)) & ~rest.equals(zero)


@function("remainder")
def _remainder_of_floats(c: Call) -> Value:
    x, y = c.xs(2, c.common())
    rest = x("Mod", y, fmod=1)
    return _wraps(rest, y, c.scalar(0, x.dtype)).where(rest + y, rest)


@function("floor_divide")
def _floor_divide(c: Call) -> Value:
    x, y = c.xs(2, computing(c.common()))
    quotient = x / y
    if is_float(x.dtype):
        return quotient("Floor")
    rest = x - quotient * y
    return quotient - _wraps(rest, y, c.scalar(0, x.dtype)).cast(x.dtype)


@direct("pow")
@function("power")
def _pow(c: Call) -> Value:
    x, y = c.xs(2, computing(c.common()))
    return x("Pow", y)


function(
    neg=lambda c: (-c.x(0, _core.int32)).cast(c.dtype),
    trunc=lambda c: (c.x() < 0).where(c.x()("Ceil"), c.x()("Floor")) if is_float(c.dtype) else c.x(),
    exp2=lambda c: c.scalar(2)("Pow", c.x()),
    log2=lambda c: c.x()("Log") * (1 / math.log(2.0)),
    log10=lambda c: c.x()("Log") * (1 / math.log(10.0)),
    rsqrt=lambda c: c.x()("Sqrt")("Reciprocal"),
    erfc=lambda c: c.scalar(1) - c.x()("Erf"),
    ndtr=lambda c: ((c.x() * math.sqrt(0.5))("Erf") + 1) * 0.5,
)


@function("expm1")
def _expm1(c: Call) -> Value:
    """2 exp(x / 2) sinh(x / 2), which is accurate near 0."""
    half = c.x() * 0.5
    return half("Exp") * half("Sinh") * 2


@function("log1p")
def _log1p(c: Call) -> Value:
    """2 atanh(x / (x + 2)) near 0, which is accurate there."""
    x = c.x()
    near = (x / (x + 2))("Atanh") * 2
    far = (x + 1)("Log")
    return (x("Abs") < 0.5).where(near, far)


@function("atan2")
def _atan2(c: Call) -> Value:
    y, x = c.xs(2)
    zero = c.scalar(0)
    # The sign of zeros: 1 / -0 is negative.
    below = y.equals(zero).where(y("Reciprocal"), y) < zero
    half_turn = below.where(c.scalar(-math.pi), math.pi)
    angle = (y / x)("Atan")
    turned = (x < zero).where(angle + half_turn, angle)
    upright = y("Sign") * (math.pi / 2)
    return x.equals(zero).where(upright, turned)


def _in_f32(c: Call) -> Value:
    return c.x(0, widened(c.value(0).dtype))


@function("isnan", "isinf", "isfinite")
def _is_finite(c: Call) -> Value:
    if is_float(c.value(0).dtype):
        x = _in_f32(c)
        return ~(x("IsNaN") | x("IsInf"))
    same = c.value(0).equals(c.value(0))
    return same if c.op == "isfinite" else ~same


@function("isclose")
def _isclose(c: Call) -> Value:
    dtype = c.common(0, 1)
    x, y = c.xs(2, computing(dtype))
    same = x.equals(y)
    x, y = c.xs(2, dtype if is_float(dtype) else _core.float64)
    bound: Value = y("Abs") * c["rtol"] + c["atol"]
    difference = (x - y)("Abs")
    found = same | ((difference <= bound) & (difference < math.inf))
    return found | (x("IsNaN") & y("IsNaN")) if c["equal_nan"] and x.dtype is not _core.float64 else found


@function("bitwise_left_shift", "bitwise_right_shift")
def _shift(c: Call) -> Value:
    """A product with a power of 2, or the floor of a quotient."""
    wide = _core.int64
    x, count = c.xs(2, wide)
    zero = c.scalar(0, wide)
    bits = {_core.uint8: 8, _core.int8: 8, _core.int16: 16, _core.int32: 32}.get(c.dtype, 64)
    # Every bit is shifted out by a negative count, or one as large as the width.
    gone = (count < zero) | (count >= bits)
    power = c.scalar(2, wide)("Pow", gone.where(zero, count))
    if c.op == "bitwise_left_shift":
        return gone.where(zero, x * power).cast(c.dtype)
    quotient = x / power
    rest = x - quotient * power
    shifted = quotient - (rest < zero).cast(wide)
    sign = -(x < zero).cast(wide)
    return gone.where(sign, shifted).cast(c.dtype)


def _selected(c: Call, condition: Value, first: int, second: int) -> Value:
    """One of two operands, elementwise."""
    return condition.where(c.x(first, c.computing), c.x(second, c.computing))


@direct("clamp", "clip")
def _clamp(c: Call) -> Value | None:
    bounds = [operand for operand in c.operands[1:] if operand is not None]
    dtype = c.dtype
    if any(isinstance(bound, Value) for bound in bounds) or not bounds:
        return None
    if dtype in HALVES and c.common() not in HALVES:
        return None
    if dtype is not c.value(0).dtype or dtype in (_core.int16, _core.bool):
        return None
    return c.x()("Clip", c.optional(1), c.optional(2))


@function("clamp", "clip")
def _clamp_between(c: Call) -> Value:
    dtype = widened(c.computing)
    found = c.x(0, dtype)
    for position, op in ((1, "Max"), (2, "Min")):
        found = found(op, c.x(position, dtype)) if c.has(position) else found
    return found


@function("nan_to_num")
def _nan_to_num(c: Call) -> Value:
    found = c.x(0, c.wide)
    if not is_float(c.dtype):
        return found
    limits = {_core.float16: 65504.0, _core.bfloat16: 3.3895313892515355e38, _core.float32: 3.4028234663852886e38}
    limit = limits.get(c.dtype, 1.7976931348623157e308)
    nan = found("IsNaN")
    high = limit if c["posinf"] is None else c["posinf"]
    low = -limit if c["neginf"] is None else c["neginf"]
    found = found.equals(math.inf).where(high, found)
    found = found.equals(-math.inf).where(low, found)
    return nan.where(c["nan"], found)


@function("lerp")
def _lerp(c: Call) -> Value:
    x, end, weight = c.xs(3, c.common(0, 1))
    return x + weight * (end - x)


@function("addcmul", "addcdiv")
def _addc(c: Call) -> Value:
    part = c.x(1)("Mul" if c.op == "addcmul" else "Div", c.x(2))
    part = part if c["value"] == 1 else part * c["value"]
    return c.x() + part
