"""Convolutions on a gpu by tiles in shared memory: the bits of the CPU, for results and for gradients."""

import lucid
import lucid.nn.functional as F
import pytest
from against_cpu import check, numbers


@pytest.mark.parametrize(
    "options",
    [{}, {"padding": 1}, {"stride": 2, "padding": 1}, {"dilation": 2, "padding": 2}, {"groups": 2}],
    ids=str,
)
def test_options(options):
    groups = options.get("groups", 1)
    weight, bias = numbers(18, 16 // groups, 3, 3), numbers(18)
    check(lambda x, w, b: F.conv2d(x, w, b, **options), numbers(2, 16, 9, 10), weight, bias)


def test_other_numbers_of_axes():
    check(F.conv1d, numbers(2, 9, 40), numbers(17, 9, 5))
    check(lambda x, w: F.conv3d(x, w, padding=1), numbers(1, 8, 4, 5, 6), numbers(8, 8, 3, 3, 3))


@pytest.mark.parametrize("options", [{}, {"stride": 2, "output_padding": 1, "padding": 1}], ids=str)
def test_transposed(options):
    check(lambda x, w: F.conv_transpose2d(x, w, **options), numbers(2, 10, 7, 6), numbers(10, 12, 3, 3))


@pytest.mark.parametrize("dtype", [lucid.f64, lucid.f16, lucid.bf16], ids=str)
def test_dtypes(dtype):
    check(lambda x, w: F.conv2d(x, w, padding=1), numbers(1, 8, 6, 7, dtype=dtype), numbers(9, 8, 3, 3, dtype=dtype))


def test_several_chains():
    """600 terms for an output, 630 pixels for a weight."""
    check(lambda x, w: F.conv2d(x, w, padding=2), numbers(3, 24, 14, 15), numbers(8, 24, 5, 5))


def test_special_numbers():
    x, weight = numbers(1, 8, 6, 6), numbers(8, 8, 3, 3)
    x[0, 1, 2, 3], x[0, 2, 0, 0], weight[3, 1, 0, 0], weight[4, 2, 2, 2] = float("nan"), -0.0, float("inf"), -0.0
    check(lambda x, w: F.conv2d(x, w, padding=1), x, weight)


def test_a_compiled_block():
    def block(x, first, second):
        return F.relu(x + F.conv2d(F.relu(F.conv2d(x, first, padding=1)), second, padding=1))

    check(lucid.compile(block), numbers(2, 16, 8, 8), numbers(16, 16, 3, 3) * 0.1, numbers(16, 16, 3, 3) * 0.1)
