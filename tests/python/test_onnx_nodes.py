"""Nodes of loaded files, compared with onnxruntime, and nodes whose attributes make no sense."""

import lucid
import lucid.onnx
import numpy as np
import pytest
from onnx import helper
from onnx_runs import bits, run_elsewhere


def model(op, arrays, opset=22, **attributes):
    """A model of one node. Operands that are None are absent."""
    names = ["" if array is None else f"x{i}" for i, array in enumerate(arrays)]
    given = [(name, array) for name, array in zip(names, arrays) if name]
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given]
    output = helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(arrays[0].dtype), None)
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "g", infos, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def given(arrays):
    return [lucid.tensor(array) for array in arrays if array is not None]


def ran(op, arrays, **attributes):
    return lucid.onnx.load(model(op, arrays, **attributes))(*given(arrays))


def check_like_onnxruntime(op, arrays, **attributes):
    [expected] = run_elsewhere(model(op, arrays, **attributes), given(arrays))
    assert bits(ran(op, arrays, **attributes)) == bits(lucid.tensor(expected))


def numbers(*shape, dtype=np.float32):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("mode", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("size", [[10, 8], [9, 8], [8, 8], [8, 7], [8, 6], [7, 5], [10, 2]])
def test_conv_transpose_with_an_output_shape(mode, size):
    arrays = [numbers(1, 1, 3, 3), numbers(1, 2, 3, 3)]
    check_like_onnxruntime("ConvTranspose", arrays, output_shape=size, strides=[3, 2], auto_pad=mode)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_conv_transpose_with_the_same_size(mode):
    check_like_onnxruntime("ConvTranspose", [numbers(1, 1, 3, 3), numbers(1, 2, 3, 3)], strides=[2, 2], auto_pad=mode)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("where", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])
def test_resize_to_the_nearest(where, rounding, dtype):
    for size in ([1, 2, 7, 3], [1, 2, 2, 9], [1, 2, 1, 5], [1, 2, 10, 10]):
        check_like_onnxruntime(
            "Resize",
            [numbers(1, 2, 5, 4, dtype=dtype), None, None, np.array(size)],
            coordinate_transformation_mode=where,
            nearest_mode=rounding,
        )


def test_resize_to_the_nearest_outside_the_operand():
    region = np.array([0, 0, -0.25, 0.125, 1, 1, 0.75, 1.25], np.float32)
    for dtype in (np.float32, np.int32):
        check_like_onnxruntime(
            "Resize",
            [numbers(1, 1, 5, 4, dtype=dtype), region, None, np.array([1, 1, 7, 6])],
            coordinate_transformation_mode="tf_crop_and_resize",
            extrapolation_value=7.0,
        )


def test_resize_to_the_nearest_selects_elements():
    twice = np.array([1, 1, 1, 2], np.float32)
    mask = np.array([[[[0, -np.inf, -0.0]]]], np.float32)
    check_like_onnxruntime("Resize", [mask, None, twice])
    large = np.array([[[[2**53 + 1, 2**53 + 3]]]])
    assert ran("Resize", [large, None, twice]).flatten().tolist() == [2**53 + 1] * 2 + [2**53 + 3] * 2
    flags = np.array([[[[True, False]]]])
    assert ran("Resize", [flags, None, twice]).flatten().tolist() == [True, True, False, False]


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_without_channels(mode):
    x = np.zeros((1, 0, 2, 2), np.float32)
    assert ran("Resize", [x, None, None, np.array([1, 0, 3, 3])], mode=mode).shape == (1, 0, 3, 3)
    with pytest.raises(ValueError, match=r"\(Resize\): the operand has the shape \[1, 0, 2, 2\]"):
        ran("Resize", [x, None, None, np.array([1, 2, 3, 3])], mode=mode)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (np.inf, "scales must be positive and finite"),
        (np.nan, "scales must be positive and finite"),
        (-1, "scales must be positive and finite"),
        (0, "scales must be positive and finite"),
        (1e30, "the result would have the shape"),
    ],
)
def test_scales_that_make_no_sense(scale, message, mode):
    with pytest.raises(ValueError, match=rf"\(Resize\): {message}"):
        ran("Resize", [numbers(1, 1, 4, 4), None, np.array([1, 1, scale, 1], np.float32)], mode=mode)


@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [2**62, 2]},
        {"strides": [2**31, 2**30], "pads": [2**62] * 4},
        {"strides": [2, 2], "pads": [-(2**62)] * 4},
        {"strides": [0, 2]},
        {"strides": [2, 2], "pads": [0]},
        {"strides": [2, 2, 2], "kernel_shape": [2, 2, 2]},
    ],
)
def test_max_unpool_that_makes_no_sense(attributes):
    places = np.array([[[[0, 3], [8, 11]]]])
    with pytest.raises(ValueError, match=r"\(MaxUnpool\)"):
        ran("MaxUnpool", [numbers(1, 1, 2, 2), places], **{"kernel_shape": [2, 2], **attributes})


def test_max_unpool_to_a_shape_of_another_rank():
    arrays = [numbers(1, 1, 2, 2), np.array([[[[0, 3], [8, 11]]]]), np.array([1, 1])]
    with pytest.raises(ValueError, match=r"\(MaxUnpool\): output_shape is \[1, 1\]"):
        ran("MaxUnpool", arrays, kernel_shape=[2, 2], strides=[2, 2])


@pytest.mark.parametrize("size", [3, 7, 9, 10, -2])
def test_a_rotation_of_an_odd_number_of_elements_is_refused(size):
    arrays = [numbers(1, 3, 2, 8), numbers(1, 2, 4), numbers(1, 2, 4)]
    with pytest.raises(ValueError, match=rf"\(RotaryEmbedding\): rotary_embedding_dim is {size}"):
        ran("RotaryEmbedding", arrays, opset=23, rotary_embedding_dim=size)


def test_the_sign_of_a_nan():
    """It is NaN in ONNX and 0 in Lucid."""
    x = np.array([np.nan, -np.inf, -0.0, 0.0, 3.0], np.float32)
    check_like_onnxruntime("Sign", [x])
    proto = lucid.onnx.export(lambda x: x.sign(), lucid.tensor(x))
    [expected] = run_elsewhere(proto, [lucid.tensor(x)])
    assert expected.tolist() == [0, -1, 0, 0, 1]
    assert bits(lucid.onnx.load(proto)(lucid.tensor(x))) == bits(lucid.tensor(x).sign())
