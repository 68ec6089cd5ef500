"""The Python array API standard, for libraries that ask a tensor for its namespace (`x.__array_namespace__()`).

The functions mean what the standard says, which is not always what `lucid` and PyTorch mean by the name: `max` and
`sort` give one tensor, `std` and `var` divide by the number of elements. Dtypes that Lucid lacks (complex numbers, wide
unsigned integers) are missing here too.

>>> import lucid.array_api as xp
>>> xp.max(xp.asarray([[1.0, 4.0], [3.0, 2.0]]), axis=1)
tensor([4., 3.])
"""

# ruff: noqa: F401 -- some imports are names of the standard

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _core, _dtypes, _effects, _overloads
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

# Functions that have the standard's name and meaning already.
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


class UniqueAllResult(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


# Making tensors.


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: builtins.bool | None = None) -> Tensor:
    """The object as a tensor; without a copy where that is possible and `copy` is not true."""
    if copy:
        return _core.tensor(obj.detach() if isinstance(obj, Tensor) else obj, dtype=dtype, device=device)
    result = _core.as_tensor(obj, dtype=dtype, device=device)
    if copy is False and result is not obj:
        raise ValueError(f"asarray: {type(obj).__name__} cannot become a tensor without a copy")
    return result


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    return _ops["empty"](_sizes(shape), dtype=dtype, device=device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    return _ops["full"](_sizes(shape), fill_value, dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    return _ops["ones"](_sizes(shape), dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    return _ops["zeros"](_sizes(shape), dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: builtins.bool = True
) -> Tensor:
    if endpoint or num == 0:
        return _ops["linspace"](start, stop, num, dtype=dtype, device=device)
    return _ops["linspace"](start, stop, num + 1, dtype=dtype, device=device)[:num]


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    return list(_ops["meshgrid"](arrays, indexing=indexing))


def _sizes(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


# Dtypes.


def astype(x: Tensor, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Tensor:
    return x.to(dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether promotion can turn the first dtype into the second."""
    kind = from_.dtype if isinstance(from_, Tensor) else from_
    return promote_types(kind, to) is to


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, part) for part in kind)
    if not isinstance(kind, str):
        return dtype is kind
    if kind not in _KINDS:
        raise ValueError(f"isdtype: no kind of dtypes is called {kind!r}; there are {', '.join(_KINDS)}")
    return dtype in _KINDS[kind]


def result_type(*arrays_and_dtypes: Any) -> dtype:
    parts = [_ops["empty"]((1,), dtype=part) if isinstance(part, dtype) else part for part in arrays_and_dtypes]
    return _overloads.result_type(*parts)


# Elementwise.


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    return x.clone() if min is None and max is None else _ops["clamp"](x, min, max)


def copysign(x1: Any, x2: Any, /) -> Tensor:
    size = _ops["abs"](x1)
    return where(signbit(x2), -size, size)


def hypot(x1: Any, x2: Any, /) -> Tensor:
    a, b = _ops["abs"](x1), _ops["abs"](x2)
    large, small = maximum(a, b), minimum(a, b)
    ratio = where(large == 0, 0.0, small / large)
    return where(isinf(a) | isinf(b), inf, large * sqrt(ratio * ratio + 1))


def logaddexp(x1: Any, x2: Any, /) -> Tensor:
    distance = _ops["abs"](_ops["sub"](x1, x2))
    return maximum(x1, x2) + log1p(exp(-where(isnan(distance), 0.0, distance)))


def nextafter(x1: Any, x2: Any, /) -> Tensor:
    import numpy

    target = _core.as_tensor(x2, dtype=x1.dtype)
    return _core.from_numpy(numpy.asarray(numpy.nextafter(x1.detach().numpy(), target.detach().numpy())))


def positive(x: Tensor, /) -> Tensor:
    return x.clone()


def real(x: Tensor, /) -> Tensor:
    return x


def conj(x: Tensor, /) -> Tensor:
    return x


def signbit(x: Tensor, /) -> Tensor:
    """Whether the sign is negative, of zeros too."""
    if not x.dtype.is_floating_point:
        return x < 0
    negative: Tensor = (x < 0) | ((x == 0) & (1.0 / x < 0))
    return negative


# Moving and picking elements.


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    shape = _overloads.broadcast_shapes(*(array.shape for array in arrays))
    return [array.expand(shape) for array in arrays]


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    if axis is None:
        return _ops["cat"]([array.reshape(-1) for array in arrays], 0)
    return _ops["cat"](arrays, axis)


def expand_dims(x: Tensor, /, *, axis: int = 0) -> Tensor:
    return x.unsqueeze(axis)


def flip(x: Tensor, /, *, axis: Any = None) -> Tensor:
    return x.flip(_axes(x, axis))


def matrix_transpose(x: Tensor, /) -> Tensor:
    return x.mT


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    if not isinstance(repeats, Tensor):
        return _ops["repeat_interleave"](x, repeats, axis)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    ends = repeats.expand((x.shape[axis],)).cumsum(0)
    return x.index_select(axis, _ops["searchsorted"](ends, _ops["arange"](int(ends[-1].item())), right=True))


def reshape(x: Tensor, /, shape: Any, *, copy: builtins.bool | None = None) -> Tensor:
    if copy is False:
        return x.view(tuple(shape))
    result = x.reshape(tuple(shape))
    return result.clone() if copy and result.data_ptr() == x.data_ptr() else result


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    return _ops["roll"](x, shift) if axis is None else _ops["roll"](x, shift, axis)


def squeeze(x: Tensor, /, axis: Any) -> Tensor:
    axes = _axes(x, axis)
    for one in axes:
        if x.shape[one] != 1:
            raise ValueError(f"squeeze: dimension {one} of shape {x.shape} has another size than 1")
    return x.squeeze(axes)


def take(x: Tensor, indices: Tensor, /, *, axis: int = 0) -> Tensor:
    return x.index_select(axis, indices.long())


def tile(x: Tensor, repetitions: Any, /) -> Tensor:
    return _ops["tile"](x, tuple(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    return tuple(x.unbind(axis))


def _axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.dim()))
    return (axis,) if isinstance(axis, int) else tuple(axis)


# Products.


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    if isinstance(axes, int):
        return _ops["tensordot"](x1, x2, axes)
    return _ops["tensordot"](x1, x2, tuple(axes[0]), tuple(axes[1]))


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    return (x1 * x2).sum(axis).to(promote_types(x1.dtype, x2.dtype))


# Searching, sorting, sets.


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
    return _ops["argmax"](x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
    return _ops["argmin"](x, axis, keepdims)


def argsort(x: Tensor, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
    return _ops["argsort"](x, axis, descending, stable=stable)


def count_nonzero(x: Tensor, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Tensor:
    count: Tensor = (x != 0).sum(axis, keepdims)
    return count


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    return tuple(_overloads.nonzero(x, as_tuple=True))


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    ordered = x1 if sorter is None else x1.index_select(0, sorter.long())
    return _ops["searchsorted"](ordered, x2, right=side == "right")


def sort(x: Tensor, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
    return _ops["sort"](x, axis, descending, stable=stable)[0]


def unique_all(x: Tensor, /) -> UniqueAllResult:
    values, inverse, counts = _ops["unique_all"](x)
    order = _ops["argsort"](inverse.reshape(-1), stable=True)
    first = order.index_select(0, counts.cumsum(0) - counts)
    return UniqueAllResult(values, first, inverse.reshape(x.shape), counts)


def unique_counts(x: Tensor, /) -> UniqueCountsResult:
    values, _, counts = _ops["unique_all"](x)
    return UniqueCountsResult(values, counts)


def unique_inverse(x: Tensor, /) -> UniqueInverseResult:
    values, inverse, _ = _ops["unique_all"](x)
    return UniqueInverseResult(values, inverse.reshape(x.shape))


def unique_values(x: Tensor, /) -> Tensor:
    return _ops["unique_all"](x)[0]


# Statistics.


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False
) -> Tensor:
    return _cumulative("cumprod", 1, x, axis, dtype, include_initial)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False
) -> Tensor:
    return _cumulative("cumsum", 0, x, axis, dtype, include_initial)


def _cumulative(op: str, initial: int, x: Tensor, axis: int | None, dtype: Any, include: builtins.bool) -> Tensor:
    if axis is None:
        if x.dim() != 1:
            raise ValueError(f"{op}: axis is needed for a tensor of shape {x.shape}")
        axis = 0
    result: Tensor = _ops[op](x, axis, dtype=dtype)
    if not include:
        return result
    shape = [1 if i == axis % x.dim() else size for i, size in enumerate(result.shape)]
    return _ops["cat"]([result.new_full(shape, initial), result], axis)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    parts = [part for part in (prepend, x, append) if part is not None]
    return _ops["diff"](x if len(parts) == 1 else _ops["cat"](parts, axis), n, axis)


def max(x: Tensor, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Tensor:
    return _ops["amax"](x, axis, keepdims)


def min(x: Tensor, /, *, axis: Any = None, keepdims: builtins.bool = False) -> Tensor:
    return _ops["amin"](x, axis, keepdims)


def std(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Tensor:
    return _ops["std"](x, axis, keepdims, correction=correction)


def var(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Tensor:
    return _ops["var"](x, axis, keepdims, correction=correction)


# Inspection.


class __array_namespace_info__:
    """What this namespace can do."""

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
