"""`lucid.array_api` implements the Python array API standard: every name, compared with NumPy."""

import types

import lucid
import lucid.array_api as xp
import numpy as np
import pytest


def words(text):
    return text.split()


NAMES = words("""
e inf nan newaxis pi
arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
zeros_like astype can_cast finfo iinfo isdtype result_type
bool int8 int16 int32 int64 uint8 float32 float64
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
greater_equal hypot isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not
logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder
round sign signbit sin sinh square sqrt subtract tan tanh trunc
take take_along_axis matmul matrix_transpose tensordot vecdot
broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile
unstack argmax argmin count_nonzero nonzero searchsorted where unique_all unique_counts unique_inverse unique_values
argsort sort cumulative_prod cumulative_sum max mean min prod std sum var all any diff __array_namespace_info__
""")

FLOATS = np.array([[0.5, -1.5, 2.0, 0.0], [-0.25, 3.0, -0.0, 1.0], [0.75, 0.5, -2.0, 4.0]])
POSITIVE = np.abs(FLOATS) + 0.25
INSIDE = FLOATS / 8
WHOLE = np.array([[5, 3, 5, 1], [0, 7, 2, 2]])
BOOLS = np.array([True, False, True])

UNARY = {
    "abs": FLOATS,
    "acos": INSIDE,
    "acosh": POSITIVE + 1,
    "asin": INSIDE,
    "asinh": FLOATS,
    "atan": FLOATS,
    "atanh": INSIDE,
    "bitwise_invert": WHOLE,
    "ceil": FLOATS,
    "conj": FLOATS,
    "cos": FLOATS,
    "cosh": FLOATS,
    "exp": FLOATS,
    "expm1": FLOATS,
    "floor": FLOATS,
    "isfinite": FLOATS,
    "isinf": FLOATS,
    "isnan": FLOATS,
    "log": POSITIVE,
    "log1p": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "logical_not": BOOLS,
    "negative": FLOATS,
    "positive": FLOATS,
    "real": FLOATS,
    "reciprocal": POSITIVE,
    "round": FLOATS,
    "sign": FLOATS,
    "signbit": FLOATS,
    "sin": FLOATS,
    "sinh": FLOATS,
    "square": FLOATS,
    "sqrt": POSITIVE,
    "tan": FLOATS,
    "tanh": FLOATS,
    "trunc": FLOATS,
    "all": BOOLS,
    "any": BOOLS,
    "argmax": FLOATS,
    "argmin": FLOATS,
    "argsort": FLOATS[0],
    "broadcast_arrays": FLOATS,
    "count_nonzero": FLOATS,
    "cumulative_prod": FLOATS[0],
    "cumulative_sum": FLOATS[0],
    "diff": FLOATS,
    "empty_like": None,
    "flip": FLOATS,
    "matrix_transpose": FLOATS,
    "max": FLOATS,
    "mean": FLOATS,
    "meshgrid": FLOATS[0],
    "min": FLOATS,
    "nonzero": FLOATS,
    "ones_like": FLOATS,
    "prod": FLOATS,
    "sort": FLOATS,
    "std": FLOATS,
    "sum": FLOATS,
    "tril": FLOATS,
    "triu": FLOATS,
    "unique_all": WHOLE,
    "unique_counts": WHOLE,
    "unique_inverse": WHOLE,
    "unstack": FLOATS,
    "var": FLOATS,
    "zeros_like": FLOATS,
}
BINARY = {
    name: (FLOATS, FLOATS[::-1].copy())
    for name in words("""add atan2 copysign equal greater greater_equal hypot less less_equal logaddexp maximum minimum
    multiply nextafter not_equal subtract""")
}
BINARY |= dict.fromkeys(("divide", "floor_divide", "remainder"), (FLOATS, POSITIVE))
BINARY |= {name: (WHOLE, WHOLE[::-1].copy()) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")}
BINARY |= dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), (WHOLE, WHOLE % 3))
BINARY |= dict.fromkeys(("logical_and", "logical_or", "logical_xor"), (BOOLS, ~BOOLS[::-1]))
BINARY |= {"pow": (POSITIVE, FLOATS), "matmul": (FLOATS, FLOATS.T.copy()), "vecdot": (FLOATS, FLOATS[::-1].copy())}
BINARY |= {"searchsorted": (np.array([1.0, 2.0, 4.0]), np.array([0.0, 2.0, 5.0])), "tensordot": (FLOATS, FLOATS)}

# Calls with other arguments: functions of the library's namespace and of a function that creates an array.
CALLS = [
    lambda xp, a: xp.arange(1, 9, 2),
    lambda xp, a: xp.argmax(a(FLOATS), axis=1, keepdims=True),
    lambda xp, a: (
        xp.argsort(a(FLOATS), axis=0, descending=True, stable=True) if xp is not np else np.argsort(-FLOATS, 0)
    ),
    lambda xp, a: xp.astype(a(FLOATS), xp.int64),
    lambda xp, a: xp.broadcast_to(a(FLOATS[0]), (2, 4)),
    lambda xp, a: xp.clip(a(FLOATS), -1, 1),
    lambda xp, a: xp.concat([a(FLOATS), a(FLOATS)], axis=1),
    lambda xp, a: xp.concat([a(FLOATS), a(WHOLE * 1.0)], axis=None),
    lambda xp, a: xp.cumulative_sum(a(FLOATS), axis=1, include_initial=True),
    lambda xp, a: xp.cumulative_prod(a(FLOATS), axis=0, include_initial=True),
    lambda xp, a: xp.diff(a(FLOATS), axis=0, n=2),
    lambda xp, a: xp.expand_dims(a(FLOATS), axis=1),
    lambda xp, a: xp.eye(2, 3, dtype=xp.float64),
    lambda xp, a: xp.flip(a(FLOATS), axis=1),
    lambda xp, a: xp.full((2, 3), 4.0, dtype=xp.float64),
    lambda xp, a: xp.full_like(a(FLOATS), 4.0),
    lambda xp, a: xp.linspace(0.0, 2.0, 5, dtype=xp.float64),
    lambda xp, a: xp.linspace(0.0, 2.0, 5, dtype=xp.float64, endpoint=False),
    lambda xp, a: xp.max(a(FLOATS), axis=(0, 1), keepdims=True),
    lambda xp, a: xp.moveaxis(a(FLOATS), 0, 1),
    lambda xp, a: xp.ones((2, 3), dtype=xp.float64),
    lambda xp, a: xp.permute_dims(a(FLOATS), (1, 0)),
    lambda xp, a: xp.repeat(a(FLOATS), 2, axis=1),
    lambda xp, a: xp.repeat(a(FLOATS[:, 0]), a(np.array([2, 0, 1]))),
    lambda xp, a: xp.reshape(a(FLOATS), (2, 6)),
    lambda xp, a: xp.roll(a(FLOATS), 1, axis=1),
    lambda xp, a: xp.searchsorted(a(np.array([1, 2, 4])), a(np.array([2, 4])), side="right"),
    lambda xp, a: xp.sort(a(FLOATS), axis=0),
    lambda xp, a: xp.squeeze(a(FLOATS[:, :1]), axis=1),
    lambda xp, a: xp.stack([a(FLOATS), a(FLOATS)], axis=1),
    lambda xp, a: xp.std(a(FLOATS), axis=1, correction=1.0),
    lambda xp, a: xp.take(a(FLOATS), a(np.array([2, 0])), axis=1),
    lambda xp, a: xp.take_along_axis(a(FLOATS), a(np.argsort(FLOATS, 1)), axis=1),
    lambda xp, a: xp.tensordot(a(FLOATS), a(FLOATS), axes=((0,), (0,))),
    lambda xp, a: xp.tile(a(FLOATS), (2, 1)),
    lambda xp, a: xp.sort(xp.unique_values(a(WHOLE))),
    lambda xp, a: xp.where(a(FLOATS > 0), a(FLOATS), 0.0),
    lambda xp, a: xp.zeros(3, dtype=xp.float64),
    lambda xp, a: xp.asarray([[1.0, 2.0]], dtype=xp.float64),
    lambda xp, a: xp.from_dlpack(a(FLOATS)),
]
# Not functions of arrays. Tested below.
OTHERS = {"e", "inf", "nan", "newaxis", "pi", "can_cast", "finfo", "iinfo", "isdtype", "result_type", "empty"}
OTHERS |= {"bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64", "__array_namespace_info__"}


def arrays_of(result):
    if isinstance(result, tuple | list):
        return [np.array(part.detach().numpy() if isinstance(part, lucid.Tensor) else part) for part in result]
    return [np.array(result.detach().numpy() if isinstance(result, lucid.Tensor) else result)]


def check(ours, theirs):
    ours, theirs = arrays_of(ours), arrays_of(theirs)
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs):
        assert mine.shape == wanted.shape
        assert mine.dtype == wanted.dtype
        np.testing.assert_allclose(mine, wanted, rtol=1e-14)


@pytest.mark.parametrize("name", [name for name, argument in UNARY.items() if argument is not None])
def test_functions_of_one_array(name):
    check(getattr(xp, name)(lucid.tensor(UNARY[name])), getattr(np, name)(UNARY[name]))


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(name):
    check(getattr(xp, name)(*map(lucid.tensor, BINARY[name])), getattr(np, name)(*BINARY[name]))


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    check(call(xp, lucid.tensor), call(np, np.asarray))


def test_all_names_are_there_and_tested():
    assert [name for name in NAMES if not hasattr(xp, name)] == []
    called = {name for call in CALLS for name in call.__code__.co_names}
    assert {name for name in NAMES if name not in UNARY.keys() | BINARY.keys() | called | OTHERS} == set()


def test_namespace_of_a_tensor():
    x = lucid.zeros(2)
    assert x.__array_namespace__() is xp
    assert isinstance(x.__array_namespace__(api_version="2022.12"), types.ModuleType)
    with pytest.raises(ValueError, match="2999"):
        x.__array_namespace__(api_version="2999.12")
    assert x.to_device("cpu") is x
    assert xp.empty((2, 3), dtype=xp.int64).shape == (2, 3)
    assert xp.empty_like(x).shape == (2,)


def test_dtypes():
    assert xp.can_cast(xp.int8, xp.int32)
    assert not xp.can_cast(xp.float64, xp.float32)
    assert xp.isdtype(xp.float32, "real floating")
    assert xp.isdtype(xp.uint8, ("bool", "integral"))
    assert not xp.isdtype(xp.bool, "numeric")
    with pytest.raises(ValueError, match="'number'"):
        xp.isdtype(xp.int8, "number")
    assert xp.result_type(xp.int8, lucid.zeros(2)) is xp.float32
    assert xp.finfo(xp.float32).bits == 32
    assert xp.iinfo(xp.int8).max == 127
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["integral"] is xp.int64
    assert set(info.dtypes(kind="integral")) == {"int8", "int16", "int32", "int64", "uint8"}


def test_asarray_copies_on_request():
    x = lucid.zeros(2)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    array = np.arange(3.0)
    shared = xp.asarray(array, copy=False)
    array[0] = 7
    assert shared[0].item() == 7
    with pytest.raises(ValueError, match="ndarray cannot be converted"):
        xp.asarray(array, dtype=xp.float32, copy=False)
    assert xp.asarray(x, copy=True).data_ptr() != x.data_ptr()
    with pytest.raises(ValueError, match="list"):
        xp.asarray([1.0], copy=False)


@pytest.mark.parametrize("name", ["hypot", "logaddexp", "copysign"])
def test_extremes(name):
    values = np.array([0.0, -0.0, 1e300, -1e300, np.inf, -np.inf, np.nan, 1.0])
    x, y = np.meshgrid(values, values)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x, y)
    if name == "copysign":  # the sign of a NaN is unspecified
        x, y, wanted = (array[~np.isnan(y)] for array in (x, y, wanted))
    np.testing.assert_allclose(getattr(xp, name)(lucid.tensor(x), lucid.tensor(y)).numpy(), wanted, rtol=1e-14)
