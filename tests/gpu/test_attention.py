"""Attention on a gpu: the bits of the CPU for any sizes, strides, dtype and mask, and for gradients."""

import lucid
import lucid.nn.functional as F
import pytest
from lucid import nn
from same import bits

INFINITY = float("inf")


def numbers(*shape, dtype=lucid.f32):
    return lucid.randn(*shape).to(dtype)


def operands(queries, keys, width, value_width, *batches, dtype=lucid.f32):
    return [
        numbers(*batches, queries, width, dtype=dtype),
        numbers(*batches, keys, width, dtype=dtype),
        numbers(*batches, keys, value_width, dtype=dtype),
    ]


def check(q, k, v, mask=None, causal=False, gradients=False, compiled=False):
    """Compares the result, and the gradients if asked, with those of the CPU."""

    def attention(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal)

    seen = []
    for device in ("cpu", "gpu"):
        moved = [x.to(device).detach() for x in (q, k, v)]
        if gradients:
            for x in moved:
                x.requires_grad_()
        function = lucid.compile(attention) if compiled else attention
        for _ in range(3 if compiled else 1):
            result = function(*moved, None if mask is None else mask.to(device))
        seen.append([bits(result.cpu())])
        if gradients:
            (result * result).sum().backward()
            seen[-1] += [bits(x.grad.cpu()) for x in moved]
    assert seen[0] == seen[1]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("queries", [1, 17, 65])
@pytest.mark.parametrize("keys", [1, 64, 130])
def test_sizes(queries, keys, causal):
    check(*operands(queries, keys, 8, 16), causal=causal)


@pytest.mark.parametrize("width", [1, 64, 128, 600])
def test_widths_of_keys(width):
    check(*operands(5, 70, width, 8))


@pytest.mark.parametrize("value_width", [1, 20, 64, 128, 129])
def test_widths_of_values(value_width):
    check(*operands(5, 70, 8, value_width), causal=value_width == 20)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("heads", "queries"), [(40, 30), (60, 60)])
def test_large_tiles(heads, queries, causal):
    """Tiles have more queries if there are enough of them."""
    check(*operands(queries, 66, 8, 64, heads), causal=causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [lucid.f64, lucid.f16, lucid.bf16], ids=str)
def test_dtypes(dtype, causal):
    check(*operands(18, 70, 18, 20, 2, dtype=dtype), causal=causal)


def test_masks_of_bools():
    mask = lucid.rand(2, 1, 20, 130) < 0.5
    mask[0, 0, 2] = False
    mask[1, 0, 5, :64] = False
    mask[1, 0, 7, 64:128] = False
    check(*operands(20, 130, 8, 16, 2, 3), mask=mask)
    check(*operands(20, 130, 8, 16, 2, 3), mask=mask[0, 0, 4] | mask[0, 0, 5])


def test_masks_of_numbers():
    mask = lucid.randn(20, 130)
    mask[2] = -INFINITY
    mask[5, :64] = -INFINITY
    check(*operands(20, 130, 8, 16, 2, 3), mask=mask)


def test_strides():
    q, k, v = (x.transpose(1, 2) for x in (numbers(2, 33, 3, 18), numbers(2, 70, 3, 18), numbers(2, 70, 3, 16)))
    check(q, k, v)
    check(q, k[:, :, ::2], v[:, :, ::2], causal=True)
    check(q, k[:, :1].expand(-1, 3, -1, -1), v.transpose(2, 3).contiguous().transpose(2, 3))


def test_special_numbers():
    q, k, v = operands(20, 70, 8, 16)
    q[0, 1], q[1, 0], k[3, 2], k[66, 1] = INFINITY, float("nan"), -INFINITY, float("nan")
    q[2], v[5, 3], v[6, 4], v[7, 5] = -0.0, INFINITY, float("nan"), -0.0
    check(q, k, v)
    check(q, k, v, causal=True)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients(causal):
    check(*operands(33, 70, 18, 20, 2), causal=causal, gradients=True)


@pytest.mark.parametrize("causal", [False, True])
def test_compiled(causal):
    check(*operands(33, 70, 18, 20, 2), causal=causal, compiled=True)
    check(*operands(33, 70, 18, 20, 2), causal=causal, compiled=True, gradients=True)


def test_a_layer():
    lucid.manual_seed(3)
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    x = numbers(2, 20, 32)
    expected = bits(layer(x))
    assert bits(layer.to("gpu")(x.gpu()).cpu()) == expected


@pytest.mark.parametrize("causal", [False, True])
def test_sizes_that_vary(causal):
    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    function = lucid.compile(attention, dynamic=True)
    for sizes in [(20, 30, 8, 12), (33, 70, 8, 12), (65, 130, 8, 12), (1, 5, 8, 12), (9, 65, 20, 12), (9, 65, 20, 40)]:
        x = operands(*sizes, 2)
        expected = bits(attention(*x))
        for _ in range(2):
            assert bits(function(*(y.gpu() for y in x)).cpu()) == expected
