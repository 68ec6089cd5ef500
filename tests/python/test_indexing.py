"""Subscripts: all forms that NumPy has, read and written."""

import lucid
import numpy as np
import pytest

DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

KEYS = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    slice(None),
    slice(0, 1),
    slice(None, None, 2),
    slice(-100, 100),
    slice(2**70),
    (slice(None), slice(1, 3), 2),
    ...,
    (..., 0),
    (0, ..., 1),
    None,
    (None, 0, None),
    (slice(None), None, 1),
    [0, 1],
    [1, 0, 1],
    ([0, 1], [1, 2]),
    (slice(None), [0, 2]),
    ([0, 1], slice(None), [0, 3]),
    (0, slice(None), [0, 3]),
    np.array([1, 0]),
    np.int64(1),
    np.array(1),
    (slice(None), np.array(-1)),
    (0, np.array(2), slice(1, 3)),
    (np.array(1), np.array([0, 2])),
    (np.array(1), slice(None), [0, 3]),
    (np.array([1, 0]), slice(None), np.array(2)),
    (None, np.array(0), ..., np.array(3)),
    (np.array([[0], [1]]), np.array([0, 2])),
    [],
    True,
    False,
    np.array([True, False]),
    DATA > 7,
    (slice(None), np.array([True, False, True])),
]


def numpy_key(key):
    """Converts an empty list, which NumPy reads as floats."""
    return np.array([], int) if isinstance(key, list) and not key else key


def as_key(key):
    if isinstance(key, tuple):
        return tuple(as_key(part) for part in key)
    if isinstance(key, np.ndarray):
        return lucid.tensor(key)
    return key


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reading_matches_numpy(key):
    expected = DATA[numpy_key(key)]
    np.testing.assert_array_equal(lucid.tensor(DATA)[key].numpy(), expected)
    np.testing.assert_array_equal(lucid.tensor(DATA)[as_key(key)].numpy(), expected)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_writing_matches_numpy(key):
    for value in (5.0, np.full(DATA[numpy_key(key)].shape, 7, np.float32)):
        expected = DATA.copy()
        expected[numpy_key(key)] = value
        for written in (key, as_key(key)):
            x = lucid.tensor(DATA)
            x[written] = value
            np.testing.assert_array_equal(x.numpy(), expected)


def test_basic_indices_are_views_and_others_copies():
    x = lucid.zeros(3, 3)
    x[1].fill_(2)
    x[[0]].fill_(9)
    assert x.tolist() == [[0, 0, 0], [2, 2, 2], [0, 0, 0]]


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (5, IndexError, "5 is out of bounds for dimension 0"),
        ((0, 0, 0, 0), IndexError, "4 indices are too many"),
        ((..., ...), IndexError, "only one ellipsis"),
        (slice(None, None, -1), ValueError, "step of a slice must be positive"),
        (slice(None, None, 0), ValueError, "step of a slice must be positive"),
        (slice("a", None), TypeError, "bounds of a slice must be integers"),
        ("a", TypeError, "not a str"),
        (1.5, TypeError, "not a float"),
        ([0.5], IndexError, "must hold integers or bools"),
        (2**70, IndexError, "more than 64 bits"),
        (np.array([True]), IndexError, "does not fit"),
    ],
)
def test_invalid_indices_are_reported(key, error, message):
    x = lucid.tensor(DATA)
    with pytest.raises(error, match=message):
        x[key]
    with pytest.raises(error, match=message):
        x[key] = 1


@pytest.mark.parametrize("index", [2, -3])
def test_integers_in_tensors_are_checked(index):
    x = lucid.tensor(DATA)
    with pytest.raises(IndexError, match="out of bounds"):
        x[lucid.tensor(index)]
    with pytest.raises(IndexError, match="out of bounds"):
        x[lucid.tensor(index)] = 1


def test_elements_cannot_be_deleted():
    x = lucid.zeros(3)
    with pytest.raises(TypeError, match="cannot be deleted"):
        del x[0]


def test_assigning_an_expanded_tensor_to_its_own_slice_raises():
    x = lucid.tensor(-2.0).expand(2)
    with pytest.raises(RuntimeError, match="expanded"):
        x[0:2] = x
    x[...] = x
    assert x.tolist() == [-2.0, -2.0]
    y = lucid.ones(3)
    y[:] = y
    assert y.tolist() == [1.0, 1.0, 1.0]
