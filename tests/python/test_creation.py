"""Tensors from data, and from shapes and ranges."""

import array

import lucid
import numpy as np
import pytest


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, lucid.int64, ()),
        (1.5, lucid.float32, ()),
        (True, lucid.bool, ()),
        ([], lucid.float32, (0,)),
        ([[], []], lucid.float32, (2, 0)),
        ([1, 2], lucid.int64, (2,)),
        ([1, 2.0], lucid.float32, (2,)),
        ([True, False], lucid.bool, (2,)),
        ([True, 2], lucid.int64, (2,)),
        (((1, 2), (3, 4)), lucid.int64, (2, 2)),
        ([[[1.0]]], lucid.float32, (1, 1, 1)),
        (range(3), lucid.int64, (3,)),
        ([range(2), (3, 4)], lucid.int64, (2, 2)),
        (np.float64(2), lucid.float32, ()),
        (np.arange(3, dtype=np.int16), lucid.int16, (3,)),
        (np.float16([1, 2]), lucid.float16, (2,)),
        (np.array(3.0), lucid.float64, ()),
        ([np.float32(1), 2], lucid.float32, (2,)),
        ([np.array([1, 2]), np.array([3, 4])], lucid.int64, (2, 2)),
        (array.array("d", [1, 2]), lucid.float64, (2,)),
        (memoryview(b"ab"), lucid.uint8, (2,)),
    ],
    ids=repr,
)
def test_tensor_infers_dtype_and_shape(data, dtype, shape):
    x = lucid.tensor(data)
    assert x.dtype is dtype
    assert x.shape == shape
    np.testing.assert_array_equal(x.numpy(), np.array(data if not isinstance(data, memoryview) else list(data)))


def test_tensors_inside_lists_are_stacked():
    rows = [lucid.tensor([1.0, 2.0]), lucid.tensor([3.0, 4.0])]
    assert lucid.tensor(rows).tolist() == [[1, 2], [3, 4]]
    assert lucid.tensor([lucid.tensor(1.0), lucid.tensor(2.0)]).tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"element at \[1\] has shape \[3\]"):
        lucid.tensor([lucid.tensor([1, 2]), lucid.tensor([1, 2, 3])])


def test_tensor_converts_to_the_requested_dtype():
    for dtype in (lucid.float64, "float64", "f64", np.float64, np.dtype("float64")):
        assert lucid.tensor([1, 2], dtype=dtype).dtype is lucid.float64
    assert lucid.tensor([1.7, -1.7], dtype=int).tolist() == [1, -1]
    assert lucid.tensor([0, 3], dtype=bool).tolist() == [False, True]
    assert lucid.tensor([1], dtype=float).dtype is lucid.float32
    assert lucid.tensor([255], dtype=lucid.uint8).tolist() == [255]


def test_tensor_copies():
    array = np.ones(3, np.float32)
    x = lucid.tensor(array)
    y = lucid.tensor(x)
    array[0] = 5
    x[1] = 6
    assert x.tolist() == [1, 6, 1]
    assert y.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, r"the one at \[1\] has 1 elements, others there have 2"),
        ([[1], [2, 3]], ValueError, r"the one at \[1\] has 2 elements, others there have 1"),
        ([[[1], [2]], [[3], [4, 5]]], ValueError, r"the one at \[1\]\[1\] has 2"),
        ([1, [2]], ValueError, r"the element at \[1\] is a list where others have a number"),
        ([[1], 2], ValueError, r"the element at \[1\] is an int where others have a list"),
        ([1, "a"], TypeError, r"the element at \[1\] is a str; expected a number"),
        ([[1, None]], TypeError, r"the element at \[0\]\[1\] is None; expected a number"),
        ("abc", TypeError, "must be a number, a list of numbers, an array or a tensor, not a str"),
        (None, TypeError, "not None"),
        ({1: 2}, TypeError, "not a dict"),
        ([2**70], OverflowError, "does not fit in 64 bits"),
        ([1j], TypeError, "is a complex"),
        (np.array(["a"]), TypeError, "array of dtype <U1"),
        (np.array([1j]), TypeError, "array of dtype complex128"),
        (np.array([1], np.uint32), TypeError, "array of dtype uint32"),
    ],
    ids=repr,
)
def test_tensor_reports_invalid_data(data, error, message):
    with pytest.raises(error, match=message):
        lucid.tensor(data)


def test_integers_must_fit_the_dtype():
    for value, dtype in ((256, "u8"), (-1, "u8"), (128, "i8"), (2**31, "i32")):
        with pytest.raises(OverflowError, match=f"{value} does not fit in {dtype}"):
            lucid.tensor([value], dtype=dtype)


def test_a_list_that_contains_itself_raises():
    data = []
    data.append(data)
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        lucid.tensor(data)


def test_a_list_that_changes_while_it_is_read_raises():
    class Shrinks:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            if i >= 2:
                raise IndexError
            data.clear()
            return 1.0

    data = [Shrinks(), [1.0, 2.0]]
    with pytest.raises(ValueError, match="different lengths"):
        lucid.tensor(data)


def test_as_tensor_and_from_numpy_share_memory():
    array = np.zeros((2, 3), np.float32)
    for make in (lucid.as_tensor, lucid.from_numpy):
        x = make(array)
        array[0, 0] += 1
        assert x[0, 0].item() == array[0, 0]
        x[1, 1] += 5
        assert array[1, 1] == x[1, 1].item()
    x = lucid.tensor([1.0])
    assert lucid.as_tensor(x) is x
    assert lucid.as_tensor(x, dtype=lucid.float64).dtype is lucid.float64
    assert lucid.as_tensor([1, 2]).tolist() == [1, 2]
    with pytest.raises(TypeError, match="must be an array, not a list"):
        lucid.from_numpy([1])


def test_arrays_of_any_layout_keep_their_values():
    base = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    big_endian = base.astype(">f8")
    for given in (base.T, base[:, ::2], base[::-1], base[..., ::-1], np.broadcast_to(base[0, 0], (3, 4)), big_endian):
        np.testing.assert_array_equal(lucid.tensor(given).numpy(), given)
        np.testing.assert_array_equal(lucid.from_numpy(given).numpy(), given)


def test_the_memory_of_an_array_outlives_the_array():
    x = lucid.from_numpy(np.full(1000, 3.0))
    np.zeros(1000)
    assert x.sum().item() == 3000


def test_factories():
    assert lucid.zeros(2, 3).tolist() == [[0, 0, 0]] * 2
    assert lucid.zeros((2, 3)).shape == lucid.zeros(size=[2, 3]).shape == (2, 3)
    assert lucid.zeros(()).shape == lucid.zeros(()).shape == ()
    assert lucid.ones(2, dtype=lucid.int8).dtype is lucid.int8
    assert lucid.ones(2, requires_grad=True).requires_grad
    assert lucid.full((2,), 3).dtype is lucid.int64
    assert lucid.full((2,), 3.0).dtype is lucid.float32
    assert lucid.full((2,), True).dtype is lucid.bool
    assert lucid.empty(2, 0).shape == (2, 0)
    x = lucid.tensor([1.5], dtype=lucid.float64)
    assert lucid.zeros_like(x).dtype is lucid.float64
    assert lucid.full_like(x, 2).tolist() == [2.0]
    assert lucid.ones_like(x, dtype=lucid.int64).dtype is lucid.int64
    assert x.new_zeros(2).dtype is lucid.float64
    assert x.new_full((1,), 4).tolist() == [4.0]
    assert lucid.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    "arguments",
    [(5,), (2, 5), (0, 10, 3), (10, 0, -3), (3, 3), (0, 1, 0.25), (1.5,), (0.0, 5.0), (-3, 3), (0, 1, 0.1)],
)
def test_arange_matches_numpy(arguments):
    expected = np.arange(*arguments)
    x = lucid.arange(*arguments)
    assert x.dtype is (lucid.int64 if expected.dtype.kind == "i" else lucid.float32)
    np.testing.assert_array_equal(x.numpy(), expected.astype(x.numpy().dtype))


def test_linspace_is_exact_at_both_ends():
    for steps in (1, 2, 3, 10, 33):
        x = lucid.linspace(0.1, 0.7, steps, dtype=lucid.float64)
        np.testing.assert_allclose(x.numpy(), np.linspace(0.1, 0.7, steps), rtol=1e-15)
        assert x[0].item() == 0.1
        assert steps == 1 or x[-1].item() == 0.7


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lucid.zeros(-1), ValueError, "negative"),
        (
            lambda: lucid.zeros("a"),
            TypeError,
            "zeros: argument 'size' must be an integer or a sequence of integers, not a str",
        ),
        (
            lambda: lucid.zeros(1.5),
            TypeError,
            "zeros: argument 'size' must be an integer or a sequence of integers, not a float",
        ),
        (lambda: lucid.zeros(2, foo=1), TypeError, "zeros: got an unexpected keyword argument 'foo'"),
        (lambda: lucid.zeros(2**62), ValueError, "zeros"),
        (lambda: lucid.zeros(2**50), MemoryError, "bytes"),
        (lambda: lucid.arange(0, 1, 0), ValueError, "step must not be 0"),
        (lambda: lucid.arange(5, 2), ValueError, "do not lead from 5.* to 2"),
        (lambda: lucid.arange("a"), TypeError, "arange: argument 'start' must be a tensor or a number, not a str"),
        (lambda: lucid.zeros(2, device="cuda"), ValueError, "no device 'cuda'; the devices are: 'cpu'"),
        (lambda: lucid.zeros(2, dtype="float99"), ValueError, "no dtype 'float99'"),
        (lambda: lucid.zeros(2, dtype=np.uint32), TypeError, "does not support the NumPy dtype uint32"),
        (lambda: lucid.zeros(2, dtype=3), TypeError, "must be a dtype, not an int"),
        (lambda: lucid.ones(2, dtype=lucid.int64, requires_grad=True), RuntimeError, "float"),
    ],
)
def test_factories_report_invalid_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
