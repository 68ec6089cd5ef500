"""Matrix products on a gpu: the bits of the CPU for any shape, strides and dtype, and for gradients."""

import lucid
import lucid.nn.functional as F
import pytest
from against_cpu import FLOATS, INTEGERS, check, numbers
from same import bits

# The shape of a tensor, and a view of it that has `batches` matrices of `rows` by `columns`.
VIEWS = {
    "plain": (lambda batches, rows, columns: (batches, rows, columns), lambda x: x),
    "transposed": (lambda batches, rows, columns: (batches, columns, rows), lambda x: x.transpose(1, 2)),
    "strided": (lambda batches, rows, columns: (batches, 2 * rows, 3 * columns), lambda x: x[:, ::2, ::3]),
    "broadcast": (lambda _, rows, columns: (1, rows, columns), lambda x: x.expand(3, -1, -1)),
}


@pytest.mark.parametrize("k", [1, 15, 16, 33, 512, 513, 1100])
def test_lengths(k):
    check(lucid.matmul, numbers(5, k), numbers(k, 20))


@pytest.mark.parametrize(
    ("m", "n"), [(1, 2), (1, 40), (16, 16), (17, 33), (64, 64), (70, 130), (130, 70), (300, 40), (2, 1), (300, 1)]
)
def test_sizes(m, n):
    check(lucid.matmul, numbers(m, 20), numbers(20, n))


@pytest.mark.parametrize("size", [520, 1030])
def test_large_tiles(size):
    """Tiles are larger if there are enough of them."""
    x, y = numbers(size, 9), numbers(9, size)
    assert bits(lucid.matmul(x, y)) == bits(lucid.matmul(x.gpu(), y.gpu()).cpu())


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
def test_dtypes(dtype):
    check(lucid.matmul, numbers(19, 30, dtype=dtype), numbers(30, 21, dtype=dtype))
    check(lucid.bmm, numbers(2, 3, 530, dtype=dtype), numbers(2, 530, 18, dtype=dtype))


@pytest.mark.parametrize("left", VIEWS)
@pytest.mark.parametrize("right", VIEWS)
def test_strides(left, right):
    left_shape, left_view = VIEWS[left]
    right_shape, right_view = VIEWS[right]
    check(
        lambda x, y: lucid.matmul(left_view(x), right_view(y)),
        numbers(*left_shape(3, 20, 18)),
        numbers(*right_shape(3, 18, 22)),
    )


def test_broadcast_batches():
    check(lucid.matmul, numbers(2, 1, 5, 18), numbers(3, 18, 20))
    check(lucid.matmul, numbers(4, 5, 18), numbers(18, 20))


def test_linear():
    check(F.linear, numbers(33, 40), numbers(50, 40), numbers(50))
    check(F.linear, numbers(2, 3, 40), numbers(50, 40), numbers(50))


def test_a_compiled_layer():
    def layer(x, weight, bias):
        return F.relu(F.linear(x, weight, bias)) @ weight

    check(lucid.compile(layer), numbers(33, 40), numbers(50, 40), numbers(50))


def test_special_numbers():
    x, y = numbers(5, 600), numbers(600, 20)
    x[0, 3], x[1, 5], y[7, 2], y[9, 3] = float("inf"), float("nan"), float("-inf"), -0.0
    x[2] = 0.0
    check(lucid.matmul, x, y)
