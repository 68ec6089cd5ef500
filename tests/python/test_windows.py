"""Convolutions and pooling: padding modes, optional results, and errors."""

import lucid
import numpy as np
import pytest


def naive_conv2d(x, weight, stride, padding, dilation, groups):
    """A convolution by its definition, in double precision."""
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    out, inside, rows, columns = weight.shape
    height = (x.shape[2] - dilation * (rows - 1) - 1) // stride + 1
    width = (x.shape[3] - dilation * (columns - 1) - 1) // stride + 1
    result = np.zeros((x.shape[0], out, height, width))
    for o in range(out):
        first = o // (out // groups) * inside
        for r in range(rows):
            for c in range(columns):
                part = x[
                    :,
                    first : first + inside,
                    r * dilation : r * dilation + stride * (height - 1) + 1 : stride,
                    c * dilation : c * dilation + stride * (width - 1) + 1 : stride,
                ]
                result[:, o] += np.einsum("nihw,i->nhw", part, weight[o, :, r, c].astype(np.float64))
    return result


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1), (3, 0, 1, 4)]
)
def test_conv2d_matches_its_definition(stride, padding, dilation, groups):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 8, 13, 19)).astype(np.float32)
    weight = random.standard_normal((12, 8 // groups, 3, 3)).astype(np.float32)
    got = lucid.conv2d(lucid.from_numpy(x), lucid.from_numpy(weight), None, stride, padding, dilation, groups)
    np.testing.assert_allclose(got.numpy(), naive_conv2d(x, weight, stride, padding, dilation, groups), atol=1e-4)


def test_same_padding_keeps_the_size_and_pads_the_end_for_odd_totals():
    x, weight = lucid.arange(5.0).reshape(1, 1, 5), lucid.tensor([[[1.0, 10.0]]])
    same = lucid.conv1d(x, weight, padding="same")
    assert same.tolist() == [[[10.0, 21.0, 32.0, 43.0, 4.0]]]
    assert lucid.conv1d(x, weight, padding="valid").shape == (1, 1, 4)
    assert lucid.conv2d(lucid.ones(1, 2, 7, 9), lucid.ones(3, 2, 3, 4), padding="same", dilation=(2, 1)).shape == (
        1,
        3,
        7,
        9,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"padding": "same", "stride": 2}, 'conv2d: padding "same" needs stride 1'),
        ({"padding": "half"}, 'padding must be numbers, "same" or "valid", got "half"'),
        ({"padding": (1, 2, 3)}, "conv2d: padding must be one number"),
        ({"padding": -1}, "all non-negative"),
        ({"stride": 0}, r"conv2d: stride must be at least 1, got \[0\]"),
        ({"stride": (1, 2, 3)}, "conv2d: stride must be one number or 2"),
        ({"dilation": 9}, "spans more than the 6 padded elements"),
        ({"groups": 2}, "conv2d: groups must divide dimension 0 of weight"),
        ({"bias": lucid.ones(4)}, "bias must be a vector with one element for each of the 5 output channels"),
    ],
)
def test_conv2d_reports_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        lucid.conv2d(lucid.ones(1, 3, 6, 6), lucid.ones(5, 3, 3, 3), **arguments)


def test_invalid_operands_are_named():
    with pytest.raises(
        ValueError, match=r"x f32\[1,4,6,6\] has 4 channels, but weight f32\[5,3,3,3\] with 1 groups expects 3"
    ):
        lucid.conv2d(lucid.ones(1, 4, 6, 6), lucid.ones(5, 3, 3, 3))
    with pytest.raises(TypeError, match="must have the same dtype"):
        lucid.conv2d(lucid.ones(1, 3, 6, 6), lucid.ones(5, 3, 3, 3, dtype=lucid.float64))
    with pytest.raises(ValueError, match="conv_transpose2d: output_padding must be smaller than stride or dilation"):
        lucid.conv_transpose2d(lucid.ones(1, 3, 4, 4), lucid.ones(3, 2, 2, 2), output_padding=1)
    with pytest.raises(ValueError, match="max_pool2d: padding must be at most half of the window"):
        lucid.max_pool2d(lucid.ones(1, 4, 4), 2, padding=2)
    with pytest.raises(ValueError, match="avg_pool1d: windows over 9 elements do not fit dimension 1"):
        lucid.avg_pool1d(lucid.ones(1, 4), 9)


def test_other_padding_modes_use_pad():
    x = lucid.arange(16.0).reshape(1, 1, 4, 4)
    weight = lucid.ones(1, 1, 3, 3)
    for mode, kind in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")):
        padded = np.pad(x.numpy(), [(0, 0), (0, 0), (1, 1), (1, 1)], kind)
        expected = naive_conv2d(padded, weight.numpy(), 1, 0, 1, 1)
        got = lucid.conv2d(lucid.pad(x, (1, 1, 1, 1), mode), weight)
        np.testing.assert_array_equal(got.numpy(), expected)


def test_pools_return_indices_on_request():
    x = lucid.tensor([[[1.0, 7.0, 7.0, 2.0], [3.0, 0.0, float("nan"), 9.0]]])
    values, indices = lucid.max_pool2d(x, 2, return_indices=True)
    assert values[0, 0, 0].item() == 7.0
    assert np.isnan(values[0, 0, 1].item())
    assert indices.tolist() == [[[1, 6]]]
    assert lucid.max_pool2d(x, 2).shape == (1, 1, 2)
    assert lucid.adaptive_max_pool2d(x, (None, 2)).shape == (1, 2, 2)
    assert lucid.adaptive_max_pool2d(x, 1, return_indices=True)[1].item() == 6
    assert lucid.adaptive_avg_pool2d(lucid.ones(1, 4, 6), (2, None)).shape == (1, 2, 6)


def test_unpooling_inverts_pooling():
    x = lucid.rand(2, 3, 6, 8)
    values, indices = lucid.max_pool2d(x, 2, return_indices=True)
    back = lucid.max_unpool2d(values, indices, 2)
    assert lucid.equal(lucid.where(back != 0, x, 0.0), back)
    assert lucid.equal(lucid.max_pool2d(back, 2), values)


def test_gradients_reach_input_weight_and_bias():
    x = lucid.randn(2, 4, 9, 9, requires_grad=True)
    weight = lucid.randn(6, 2, 3, 3, requires_grad=True)
    bias = lucid.zeros(6, requires_grad=True)
    result = lucid.conv2d(x, weight, bias, stride=2, padding=1, groups=2)
    result.backward(lucid.ones_like(result))
    assert bias.grad.tolist() == [50.0] * 6
    # The function is linear, so the sum of gradient times weight is its value.
    assert abs((weight.grad * weight).sum().item() - (result - bias.reshape(6, 1, 1)).sum().item()) < 1e-2
    assert abs((x.grad * x).sum().item() - result.sum().item()) < 1e-2
