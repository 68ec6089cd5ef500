"""Operators of Tensor: values, reflected and in-place forms, and invalid operands."""

import operator

import lucid
import numpy as np
import pytest

X = [1.5, -2.0, 3.0]
Y = [2.0, 4.0, -0.5]

BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
]


@pytest.mark.parametrize("op", BINARY)
def test_binary_operators_match_numpy_with_tensors_numbers_and_arrays(op):
    x, y = lucid.tensor(X), lucid.tensor(Y)
    a, b = np.array(X, np.float32), np.array(Y, np.float32)
    for other, array in ((y, b), (2.5, np.float32(2.5)), (2, np.float32(2))):
        np.testing.assert_array_equal(op(x, other).numpy(), op(a, array))
        np.testing.assert_array_equal(op(other, x).numpy(), op(array, a))
    np.testing.assert_array_equal(op(x, b).numpy(), op(a, b))
    result = op(b, x)
    assert type(result) is lucid.Tensor
    np.testing.assert_array_equal(result.numpy(), op(b, a))


def test_power_takes_tensors_and_numbers_on_either_side():
    x = lucid.tensor([1.0, 2.0, 3.0])
    assert (x**2).tolist() == [1, 4, 9]
    assert (2**x).tolist() == [2, 4, 8]
    assert (x**x).tolist() == [1, 4, 27]
    with pytest.raises(TypeError, match="third argument"):
        pow(x, 2, 3)


@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift])
def test_bit_operators_match_python(op):
    a, b = [12, 7, 1], [1, 2, 3]
    assert op(lucid.tensor(a), lucid.tensor(b)).tolist() == [op(p, q) for p, q in zip(a, b)]
    assert op(lucid.tensor(a), 2).tolist() == [op(p, 2) for p in a]
    assert op(9, lucid.tensor(b)).tolist() == [op(9, q) for q in b]


def test_unary_operators():
    x = lucid.tensor([1, -2, 3])
    assert (-x).tolist() == [-1, 2, -3]
    assert abs(x).tolist() == [1, 2, 3]
    assert (~x).tolist() == [-2, 1, -4]
    assert (~lucid.tensor([True, False])).tolist() == [False, True]
    assert +x is x


IN_PLACE = [
    (operator.iadd, operator.add),
    (operator.isub, operator.sub),
    (operator.imul, operator.mul),
    (operator.itruediv, operator.truediv),
    (operator.ifloordiv, operator.floordiv),
    (operator.imod, operator.mod),
    (operator.ipow, operator.pow),
]


@pytest.mark.parametrize(("in_place", "plain"), IN_PLACE)
def test_in_place_operators_write_through_every_handle(in_place, plain):
    x = lucid.tensor([1.0, 2.0, 3.0, 4.0])
    view = x[1:3]
    expected = plain(view, 2).tolist()
    before = view
    view = in_place(view, 2)
    assert view is before
    assert x.tolist() == [1.0, *expected, 4.0]


def test_in_place_bit_operators():
    x = lucid.tensor([12, 7])
    x &= 6
    x |= 8
    x ^= 1
    x <<= 2
    x >>= 1
    assert x.tolist() == [(((12 & 6) | 8) ^ 1) * 2, (((7 & 6) | 8) ^ 1) * 2]


def test_numbers_do_not_change_the_dtype_of_tensors():
    assert (lucid.tensor([1.0]) * 2).dtype is lucid.float32
    assert (lucid.tensor([1], dtype=lucid.int8) + 1).dtype is lucid.int8
    assert (lucid.tensor([1]) + 1.5).dtype is lucid.float32
    assert (lucid.tensor([1], dtype=lucid.int8) + True).dtype is lucid.int8
    assert (lucid.tensor([1.0], dtype=lucid.float16) + np.float64(2)).dtype is lucid.float16
    assert (lucid.tensor([1], dtype=lucid.int16) + np.int64(2)).dtype is lucid.int16
    assert (lucid.tensor([1.0]) + np.array([2.0])).dtype is lucid.float64


def test_operands_that_are_not_numbers_are_rejected():
    x = lucid.tensor([1.0])
    for other in ("a", None, [1.0], {}, object()):
        with pytest.raises(TypeError, match="unsupported operand"):
            x + other
        with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate"):
            other + x
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True


def test_integers_beyond_64_bits_overflow():
    with pytest.raises(OverflowError, match=r"add: argument 'y'.* does not fit in 64 bits"):
        lucid.tensor([1.0]) + 2**64


def test_bool_int_float_and_index_of_one_element():
    assert bool(lucid.tensor([2.0])) is True
    assert bool(lucid.tensor(0)) is False
    assert bool(lucid.tensor(float("nan"))) is True
    assert int(lucid.tensor([[3.7]])) == 3
    assert float(lucid.tensor(3)) == 3.0
    assert [10, 20, 30][lucid.tensor(1)] == 20
    with pytest.raises(RuntimeError, match=r"bool: the truth value of f32\[2\] with 2 elements is ambiguous"):
        bool(lucid.tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="only a tensor of one element"):
        float(lucid.tensor([1.0, 2.0]))
    with pytest.raises(TypeError, match="only a tensor of one integer"):
        [1][lucid.tensor(0.0)]
    with pytest.raises(OverflowError):
        int(lucid.tensor(float("inf")))


def test_length_iteration_and_membership():
    x = lucid.tensor([[1, 2], [3, 4]])
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    a, b = x
    a += 10
    assert x.tolist() == [[11, 12], [3, 4]]
    assert b.tolist() == [3, 4]
    assert [r.tolist() for r in reversed(x)] == [[3, 4], [11, 12]]
    assert 3 in x
    assert 5 not in x
    for function in (len, iter):
        with pytest.raises(TypeError, match="0-d tensor"):
            function(lucid.tensor(1))


def test_hash_is_identity():
    x, y = lucid.tensor([1.0]), lucid.tensor([1.0])
    table = {x: "x", y: "y"}
    assert table[x] == "x"
    assert table[y] == "y"
