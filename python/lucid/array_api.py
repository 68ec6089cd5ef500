"""The Python array API standard, version 2023.12: the namespace that `x.__array_namespace__()` returns.

The functions follow the standard where it differs from `lucid` and PyTorch: `max` and `sort` return one tensor, and
`std` and `var` divide by the number of elements. Dtypes that Lucid does not have (complex numbers, wide unsigned
integers) are missing here too.

>>> import lucid.array_api as xp
>>> xp.max(xp.asarray([[1.0, 4.0], [3.0, 2.0]]), axis=1)
tensor([4., 3.])
"""

# ruff: noqa: F401 -- some imports are names of the standard

from __future__ import annotations

import builtins
import math
from typing import Any

from . import _core, _dtypes, _effects, _overloads
from ._array_functions import (
    UniqueAllResult,
    UniqueCountsResult,
    UniqueInverseResult,
    argmax,
    argmin,
    argsort,
    broadcast_arrays,
    clip,
    concat,
    conj,
    copysign,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    diff,
    expand_dims,
    flip,
    hypot,
    logaddexp,
    matrix_transpose,
    max,
    min,
    nextafter,
    nonzero,
    positive,
    real,
    repeat,
    reshape,
    roll,
    searchsorted,
    signbit,
    sort,
    squeeze,
    std,
    take,
    tensordot,
    tile,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    unstack,
    var,
    vecdot,
)
from ._core import Tensor, from_dlpack, promote_types
from ._dtypes import bool, dtype, finfo, float32, float64, iinfo, int8, int16, int32, int64, uint8

_effects.pure_module()

_ops = _core.ops

__array_api_version__ = "2023.12"

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

_KINDS = {
    "bool": (bool,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8,),
    "real floating": (float32, float64, _dtypes.float16, _dtypes.bfloat16),
    "complex floating": (),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"]

# Ops that already have the semantics of the standard.
arange = _ops["arange"]
broadcast_to = _ops["broadcast_to"]
empty_like = _ops["empty_like"]
eye = _ops["eye"]
full_like = _ops["full_like"]
ones_like = _ops["ones_like"]
tril = _ops["tril"]
triu = _ops["triu"]
zeros_like = _ops["zeros_like"]

abs = _ops["abs"]
acos = _ops["acos"]
acosh = _ops["acosh"]
add = _ops["add"]
asin = _ops["asin"]
asinh = _ops["asinh"]
atan = _ops["atan"]
atan2 = _ops["atan2"]
atanh = _ops["atanh"]
bitwise_and = _ops["bitwise_and"]
bitwise_invert = _ops["bitwise_not"]
bitwise_left_shift = _ops["bitwise_left_shift"]
bitwise_or = _ops["bitwise_or"]
bitwise_right_shift = _ops["bitwise_right_shift"]
bitwise_xor = _ops["bitwise_xor"]
ceil = _ops["ceil"]
cos = _ops["cos"]
cosh = _ops["cosh"]
divide = _ops["div"]
equal = _ops["eq"]
exp = _ops["exp"]
expm1 = _ops["expm1"]
floor = _ops["floor"]
floor_divide = _ops["floor_divide"]
greater = _ops["gt"]
greater_equal = _ops["ge"]
isfinite = _ops["isfinite"]
isinf = _ops["isinf"]
isnan = _ops["isnan"]
less = _ops["lt"]
less_equal = _ops["le"]
log = _ops["log"]
log1p = _ops["log1p"]
log2 = _ops["log2"]
log10 = _ops["log10"]
logical_and = _ops["logical_and"]
logical_not = _ops["logical_not"]
logical_or = _ops["logical_or"]
logical_xor = _ops["logical_xor"]
maximum = _ops["maximum"]
minimum = _ops["minimum"]
multiply = _ops["mul"]
negative = _ops["neg"]
not_equal = _ops["ne"]
pow = _ops["pow"]
reciprocal = _ops["reciprocal"]
remainder = _ops["remainder"]
round = _ops["round"]
sign = _ops["sign"]
sin = _ops["sin"]
sinh = _ops["sinh"]
sqrt = _ops["sqrt"]
square = _ops["square"]
subtract = _ops["sub"]
tan = _ops["tan"]
tanh = _ops["tanh"]
trunc = _ops["trunc"]

all = _ops["all"]
any = _ops["any"]
matmul = _ops["matmul"]
mean = _ops["mean"]
moveaxis = _ops["movedim"]
permute_dims = _ops["permute"]
prod = _ops["prod"]
stack = _ops["stack"]
sum = _ops["sum"]
take_along_axis = _ops["take_along_dim"]
where = _ops["where"]


# Creation.


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: builtins.bool | None = None) -> Tensor:
    """Converts an object to a tensor.

    Args:
        obj: A tensor, an array, a number or nested sequences of numbers.
        copy: True always copies. False raises ValueError unless `obj` is a tensor of the dtype, or an array whose
            memory the tensor can share. None copies only if needed.
    """
    if copy:
        return _core.tensor(obj.detach() if isinstance(obj, Tensor) else obj, dtype=dtype, device=device)
    result = _core.as_tensor(obj, dtype=dtype, device=device)
    if copy is False and result is not obj and not _shares_memory(result, obj):
        raise ValueError(f"asarray: {type(obj).__name__} cannot be converted to a tensor without a copy")
    return result


def _shares_memory(tensor: Tensor, array: Any) -> builtins.bool:
    interface = getattr(array, "__array_interface__", None)
    return interface is not None and (tensor.numel() == 0 or tensor.data_ptr() == interface["data"][0])


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns an uninitialized tensor."""
    return _ops["empty"](_sizes(shape), dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns a tensor filled with one value."""
    return _ops["full"](_sizes(shape), fill_value, dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns a tensor of ones."""
    return _ops["ones"](_sizes(shape), dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns a tensor of zeros."""
    return _ops["zeros"](_sizes(shape), dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: builtins.bool = True
) -> Tensor:
    """Returns `num` evenly spaced values from start to stop. `endpoint` says whether stop is one of them."""
    if endpoint or num == 0:
        return _ops["linspace"](start, stop, num, dtype=dtype, device=device)
    return _ops["linspace"](start, stop, num + 1, dtype=dtype, device=device)[:num]


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Returns coordinate grids from coordinate vectors. `indexing` is 'xy' or 'ij'."""
    return list(_ops["meshgrid"](arrays, indexing=indexing))


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


# Dtypes.


def astype(x: Tensor, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Tensor:
    """Converts a tensor to a dtype."""
    return x.to(dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Returns whether type promotion can convert the first dtype to the second."""
    kind = from_.dtype if isinstance(from_, Tensor) else from_
    return promote_types(kind, to) is to


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Returns whether a dtype is of a kind: a dtype, the name of a kind such as 'integral', or a tuple of these."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, part) for part in kind)
    if not isinstance(kind, str):
        return dtype is kind
    if kind not in _KINDS:
        raise ValueError(f"isdtype: unknown dtype kind {kind!r}; expected one of {', '.join(_KINDS)}")
    return dtype in _KINDS[kind]


def result_type(*arrays_and_dtypes: Any) -> dtype:
    """Returns the dtype that promotion of these tensors and dtypes results in."""
    parts = [_ops["empty"]((1,), dtype=part) if isinstance(part, dtype) else part for part in arrays_and_dtypes]
    return _overloads.result_type(*parts)


# Inspection.


class __array_namespace_info__:
    """Describes the capabilities, devices and dtypes of this namespace."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        return _core.device("cpu")

    def devices(self) -> list[Any]:
        return [_core.device("cpu")]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        return {"real floating": _core.get_default_dtype(), "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        known = {
            name: globals()[name] for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64")
        }
        return known if kind is None else {name: value for name, value in known.items() if isdtype(value, kind)}
