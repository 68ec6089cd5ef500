"""Normalization, attention and resizing of loaded models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core, _effects
from ._dtypes import FLOATS, HALVES
from ._node import Node, array, axes_of, axis_of, ints, ops, option, runs, tensor, wanted_dtype

_effects.pure_module()

_EPSILON = float(np.float32(1e-5))


@runs("BatchNormalization")
def _batch_norm(node: Node, x: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
    x, scale, bias, mean, var = map(tensor, (x, scale, bias, mean, var))
    eps, momentum = node.get("epsilon", _EPSILON), node.get("momentum", float(np.float32(0.9)))
    if not node.get("training_mode", 0):
        return ops["batch_norm"](x, mean, var, scale, bias, False, 0.1, eps)[0]
    dims = [0, *range(2, x.ndim)]
    own = ops["mean"](x, dims)
    # ONNX keeps the biased variance, Lucid the unbiased one.
    spread = ops["var"](x, dims, correction=0)
    found = ops["batch_norm"](x, None, None, scale, bias, True, 0.1, eps)[0]
    keep = 1 - momentum
    running = [
        ops["add"](ops["mul"](old, momentum), ops["mul"](new, keep)) for old, new in ((mean, own), (var, spread))
    ]
    return (found, *running)[: node.outputs]


@runs("InstanceNormalization")
def _instance_norm(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    return ops["instance_norm"](
        tensor(x), None, None, tensor(scale), tensor(bias), True, 0.1, node.get("epsilon", _EPSILON)
    )[0]


@runs("LayerNormalization")
def _layer_norm(node: Node, x: Any, scale: Any, bias: Any = None) -> Any:
    x, scale, bias = tensor(x), tensor(scale), tensor(bias)
    axis = axis_of(node, node.get("axis", -1), x.ndim)
    shape = list(x.shape[axis:])
    eps = node.get("epsilon", _EPSILON)
    if list(scale.shape) != shape:
        found = ops["mul"](ops["layer_norm"](x, shape, None, None, eps), scale)
        found = found if bias is None else ops["add"](found, bias)
    else:
        found = ops["layer_norm"](x, shape, scale, None if bias is None else ops["expand"](bias, shape), eps)
    if node.outputs == 1:
        return found
    dims = list(range(axis, x.ndim))
    wide = x.to(_core.float32) if x.dtype in HALVES else x
    var, mean = ops["var_mean"](wide, dims, True, correction=0)
    return (found, mean, ops["rsqrt"](ops["add"](var, eps)))[: node.outputs]


@runs("RMSNormalization")
def _rms_norm(node: Node, x: Any, scale: Any) -> Any:
    x, scale = tensor(x), tensor(scale)
    axis = axis_of(node, node.get("axis", -1), x.ndim)
    shape = list(x.shape[axis:])
    eps = node.get("epsilon", _EPSILON)
    if list(scale.shape) == shape and scale.dtype is x.dtype:
        return ops["rms_norm"](x, shape, scale, eps)
    return ops["mul"](ops["rms_norm"](x, shape, None, eps), scale)


@runs("GroupNormalization")
def _group_norm(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    x, scale, bias = tensor(x), tensor(scale), tensor(bias)
    groups = node.get("num_groups", 0)
    if groups < 1 or x.ndim < 2 or x.shape[1] % groups:
        node.fail("num_groups must divide the channels")
    if node.version < 21:
        # One scale for each group.
        each = x.shape[1] // groups
        scale, bias = ops["repeat_interleave"](scale, each, 0), ops["repeat_interleave"](bias, each, 0)
    return ops["group_norm"](x, groups, scale, bias, node.get("epsilon", _EPSILON))


@runs("LRN")
def _lrn(node: Node, x: Any) -> Any:
    x = tensor(x)
    size = node.get("size", 1)
    alpha, beta = node.get("alpha", float(np.float32(1e-4))), node.get("beta", 0.75)
    k = node.get("bias", 1.0)
    if size % 2:
        return ops["local_response_norm"](x, size, alpha, beta, k)
    # Lucid has the longer half of an even window before the channel, ONNX after it.
    return ops["flip"](ops["local_response_norm"](ops["flip"](x, [1]), size, alpha, beta, k), [1])


@runs("LpNormalization")
def _lp_norm(node: Node, x: Any) -> Any:
    x = tensor(x)
    axis = axis_of(node, node.get("axis", -1), x.ndim)
    p = node.get("p", 2)
    if p not in (1, 2):
        node.fail("p must be 1 or 2")
    size = ops["norm"](x, float(p), [axis], True)
    # Vectors of zeros stay zeros.
    return ops["where"](ops["eq"](size, 0), ops["zeros_like"](x), ops["div"](x, size))


@runs("MeanVarianceNormalization")
def _mvn(node: Node, x: Any) -> Any:
    x = tensor(x)
    dims = axes_of(node, node.get("axes", [0, 2, 3]), x.ndim)
    mean = ops["mean"](x, dims, True)
    square = ops["mean"](ops["square"](x), dims, True)
    spread = ops["sqrt"](ops["sub"](square, ops["square"](mean)))
    return ops["div"](ops["sub"](x, mean), ops["add"](spread, 1e-9))


# Attention.


def _heads(node: Node, x: Any, name: str) -> Any:
    """[batch, time, heads * size] as [batch, heads, time, size]."""
    if x.ndim == 4:
        return x
    count = node.get(name, 0)
    if x.ndim != 3 or count < 1 or x.shape[2] % count:
        node.fail(f"{name} must divide the last of 3 dimensions")
    parts = ops["reshape"](x, [x.shape[0], x.shape[1], count, x.shape[2] // count])
    return ops["permute"](parts, [0, 2, 1, 3])


@runs("Attention")
def _attention(
    node: Node, q: Any, k: Any, v: Any, mask: Any = None, past_k: Any = None, past_v: Any = None, lengths: Any = None
) -> Any:
    q, k, v, mask = map(tensor, (q, k, v, mask))
    is_flat = q.ndim == 3
    q, k, v = _heads(node, q, "q_num_heads"), _heads(node, k, "kv_num_heads"), _heads(node, v, "kv_num_heads")
    if lengths is not None or node.get("left_window_size", -1) >= 0 or node.get("right_window_size", -1) >= 0:
        node.unsupported("attention with windows or with lengths of keys")
    past = 0
    if past_k is not None:
        past = past_k.shape[2]
        k, v = ops["cat"]([tensor(past_k), k], 2), ops["cat"]([tensor(past_v), v], 2)
    present = k, v
    causal, scale = bool(node.get("is_causal", 0)), node.get("scale")
    is_plain = mask is None and past == 0 and node.outputs < 4 and not node.get("softcap", 0.0)
    is_plain = is_plain and node.get("softmax_precision") is None
    if is_plain and q.shape[1] == k.shape[1]:
        found, scores = ops["scaled_dot_product_attention"](q, k, v, is_causal=causal, scale=scale), None
    else:
        found, scores = _attention_of_parts(node, q, k, v, mask, causal, scale, past)
    if is_flat:
        moved = ops["permute"](found, [0, 2, 1, 3])
        found = ops["reshape"](moved, [moved.shape[0], moved.shape[1], moved.shape[2] * moved.shape[3]])
    return (found, *present, scores)[: node.outputs] if node.outputs > 1 else found


def _attention_of_parts(
    node: Node, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float | None, past: int
) -> tuple[Any, Any]:
    """Attention in the order of ONNX's definition, with the scores of the stage that the node asks for."""
    dtype = q.dtype
    groups = q.shape[1] // max(k.shape[1], 1)
    if k.shape[1] * groups != q.shape[1]:
        node.fail("the heads of the keys must divide those of the queries")
    if groups != 1:
        k, v = ops["repeat_interleave"](k, groups, 1), ops["repeat_interleave"](v, groups, 1)
    root = math.sqrt(1 / math.sqrt(q.shape[3]) if scale is None else scale)
    scores = ops["matmul"](ops["mul"](q, root), ops["mul"](ops["permute"](k, [0, 1, 3, 2]), root))
    stages = [scores]
    if cap := node.get("softcap", 0.0):
        scores = ops["mul"](ops["tanh"](ops["div"](scores, cap)), cap)
    stages.append(scores)
    bias = _bias(mask, causal, scores.shape[2], scores.shape[3], past, dtype)
    if bias is not None:
        scores = ops["add"](scores, bias)
    stages.append(scores)
    precision = node.get("softmax_precision")
    wide = dtype if precision is None else wanted_dtype(node, precision)
    hidden = ops["eq"](ops["amax"](scores, [3], True), -math.inf)
    weights = ops["softmax"](scores.to(wide), 3).to(dtype)
    weights = ops["where"](hidden, ops["zeros_like"](weights), weights)
    stages.append(weights)
    mode = node.get("qk_matmul_output_mode", 0)
    if not 0 <= mode <= 3:
        node.fail(f"qk_matmul_output_mode is {mode}")
    return ops["matmul"](weights, v), stages[mode]


def _bias(mask: Any, causal: bool, rows: int, columns: int, past: int, dtype: Any) -> Any:
    """What is added to the scores: a mask, and -inf for keys that come later."""
    bias = None
    if mask is not None:
        if mask.dtype is _core.bool:
            low = ops["full"]([], -math.inf, dtype=dtype)
            bias = ops["where"](mask, ops["zeros"]([], dtype=dtype), low)
        else:
            bias = mask
        if bias.shape[-1] < columns:
            pad = [0, columns - bias.shape[-1]]
            bias = ops["constant_pad"](bias, pad, -math.inf)
    if causal:
        later = ops["gt"](ops["arange"](columns), ops["add"](ops["arange"](rows).reshape(-1, 1), past))
        hidden = ops["where"](later, ops["full"]([], -math.inf, dtype=dtype), ops["zeros"]([], dtype=dtype))
        bias = hidden if bias is None else ops["add"](bias, hidden)
    return bias


@runs("RotaryEmbedding")
def _rotary(node: Node, x: Any, cos: Any, sin: Any, positions: Any = None) -> Any:
    x, cos, sin = tensor(x), tensor(cos), tensor(sin)
    is_flat = x.ndim == 3
    if is_flat:
        count = node.get("num_heads", 0)
        if count < 1 or x.shape[2] % count:
            node.fail("num_heads must divide the last dimension")
        x = ops["reshape"](x, [x.shape[0], x.shape[1], count, x.shape[2] // count])
    else:
        x = ops["permute"](x, [0, 2, 1, 3])
    size = x.shape[3]
    turned = node.get("rotary_embedding_dim", 0) or size
    rest = ops["narrow"](x, 3, turned, size - turned) if turned < size else None
    part = ops["narrow"](x, 3, 0, turned)
    half = turned // 2
    if positions is not None:
        index = tensor(positions).to(_core.int64)
        cos, sin = (ops["index"](each, [index]) for each in (cos, sin))
    cos, sin = (ops["unsqueeze"](ops["narrow"](each, each.ndim - 1, 0, half), 2) for each in (cos, sin))
    if node.get("interleaved", 0):
        pairs = ops["reshape"](part, [*part.shape[:3], half, 2])
        a, b = ops["select"](pairs, 4, 0), ops["select"](pairs, 4, 1)
    else:
        a, b = ops["narrow"](part, 3, 0, half), ops["narrow"](part, 3, half, half)
    real = ops["sub"](ops["mul"](cos, a), ops["mul"](sin, b))
    other = ops["add"](ops["mul"](sin, a), ops["mul"](cos, b))
    if node.get("interleaved", 0):
        found = ops["reshape"](ops["stack"]([real, other], 4), list(part.shape))
    else:
        found = ops["cat"]([real, other], 3)
    found = found if rest is None else ops["cat"]([found, rest], 3)
    if is_flat:
        return ops["reshape"](found, [found.shape[0], found.shape[1], found.shape[2] * found.shape[3]])
    return ops["permute"](found, [0, 2, 1, 3])


# Images.


@runs("GridSample")
def _grid_sample(node: Node, x: Any, grid: Any) -> Any:
    x, grid = tensor(x), tensor(grid)
    mode = option(node, "mode", "linear", ("linear", "bilinear", "nearest", "cubic", "bicubic"))
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    outside = option(node, "padding_mode", "zeros", ("zeros", "border", "reflection"))
    return ops["grid_sample"](x, grid, mode, outside, bool(node.get("align_corners", 0)))


@runs("AffineGrid")
def _affine_grid(node: Node, theta: Any, size: Any) -> Any:
    return ops["affine_grid"](tensor(theta), ints(node, size, "size"), bool(node.get("align_corners", 0)))


def _target(node: Node, x: Any, scales: Any, sizes: Any) -> tuple[list[int], list[float]]:
    """The size of the result and the ratio for each dimension."""
    axes = axes_of(node, node.get("axes", list(range(x.ndim))), x.ndim)
    new, ratios = [int(size) for size in x.shape], [1.0] * x.ndim
    if sizes is not None and array(node, sizes, "sizes").size:
        given = ints(node, sizes, "sizes")
        if len(given) != len(axes):
            node.fail("sizes must have one number for each axis")
        wanted = [given[i] / x.shape[axis] for i, axis in enumerate(axes)]
        policy = option(node, "keep_aspect_ratio_policy", "stretch", ("stretch", "not_larger", "not_smaller"))
        if policy != "stretch":
            ratio = min(wanted) if policy == "not_larger" else max(wanted)
            given = [math.floor(ratio * x.shape[axis] + 0.5) for axis in axes]
            wanted = [ratio] * len(axes)
        for size, ratio, axis in zip(given, wanted, axes):
            new[axis], ratios[axis] = size, ratio
        return new, ratios
    given_scales = [float(each) for each in array(node, scales, "scales").reshape(-1)]
    if len(given_scales) != len(axes):
        node.fail("scales must have one number for each axis")
    for ratio, axis in zip(given_scales, axes):
        new[axis], ratios[axis] = math.floor(x.shape[axis] * ratio), ratio
    return new, ratios


@runs("Resize")
def _resize(node: Node, x: Any, roi: Any = None, scales: Any = None, sizes: Any = None) -> Any:
    x = tensor(x)
    mode = option(node, "mode", "nearest", ("nearest", "linear", "cubic"))
    where = node.get("coordinate_transformation_mode", "half_pixel")
    has_sizes = sizes is not None and array(node, sizes, "sizes").size > 0
    new, ratios = _target(node, x, scales, sizes)
    if min(new) < 0:
        node.fail(f"the result would have the shape {new}")
    lucid_mode = _lucid_mode(node, x, mode, where, new)
    if lucid_mode is not None:
        spatial = x.ndim - 2
        aligned = where == "align_corners"
        corners = None if lucid_mode.startswith("nearest") else aligned
        same = all(ratio == ratios[2] for ratio in ratios[2:])
        if not has_sizes and not aligned and same and spatial and _scaled(x, ratios[2]) == new[2:]:
            return ops["interpolate"](x, None, ratios[2], lucid_mode, corners)
        if has_sizes or all(float(size) * ratio == n for size, ratio, n in zip(x.shape, ratios, new)):
            return ops["interpolate"](x, new[2:], None, lucid_mode, corners)
    return _resize_by_weights(node, x, mode, where, new, ratios, roi)


def _scaled(x: Any, ratio: float) -> list[int]:
    return [math.floor(size * ratio) for size in x.shape[2:]]


def _lucid_mode(node: Node, x: Any, mode: str, where: str, new: list[int]) -> str | None:
    """The mode of `interpolate` that does the same; None if there is none."""
    if x.dtype not in FLOATS or x.ndim not in (3, 4, 5) or new[:2] != list(x.shape[:2]):
        return None
    if node.get("antialias", 0) or node.get("exclude_outside", 0) or 0 in new or x.numel() == 0:
        return None
    if mode == "nearest":
        rounding = node.get("nearest_mode", "round_prefer_floor")
        if where == "asymmetric" and rounding == "floor":
            return "nearest"
        return "nearest-exact" if where == "half_pixel" and rounding == "round_prefer_ceil" else None
    if where not in ("half_pixel", "align_corners"):
        return None
    if mode == "linear":
        return {3: "linear", 4: "bilinear", 5: "trilinear"}[x.ndim]
    return "bicubic" if x.ndim == 4 and node.get("cubic_coeff_a", -0.75) == -0.75 else None


def _resize_by_weights(node: Node, x: Any, mode: str, where: str, new: list[int], ratios: list[float], roi: Any) -> Any:
    """Resizes one dimension after another, by products with matrices of weights."""
    from ._resize import weights_of

    region = None
    if where == "tf_crop_and_resize":
        region = [float(each) for each in array(node, roi, "roi").reshape(-1)]
        axes = axes_of(node, node.get("axes", list(range(x.ndim))), x.ndim)
        if len(region) != 2 * len(axes):
            node.fail("roi must have two numbers for each axis")
        region = [
            region[axes.index(dim) + part * len(axes)] if dim in axes else float(part)
            for part in (0, 1)
            for dim in range(x.ndim)
        ]
    dtype = x.dtype
    found = x if dtype in FLOATS else x.to(_core.float64)
    outside = np.zeros([1] * x.ndim, bool)
    for dim in range(x.ndim):
        bounds = None if region is None else (region[dim], region[dim + x.ndim])
        if new[dim] == x.shape[dim] and ratios[dim] == 1 and bounds in (None, (0.0, 1.0)):
            continue
        weights, beyond = weights_of(node, int(x.shape[dim]), new[dim], ratios[dim], mode, where, bounds)
        matrix = _core.tensor(weights).to(found.dtype)
        moved = ops["transpose"](found, dim, x.ndim - 1)
        found = ops["transpose"](ops["matmul"](moved, ops["permute"](matrix, [1, 0])), dim, x.ndim - 1)
        outside = outside | beyond.reshape([-1 if d == dim else 1 for d in range(x.ndim)])
    if outside.any():
        fill = node.get("extrapolation_value", 0.0)
        found = ops["where"](_core.tensor(outside), fill, found)
    return found if dtype in FLOATS else ops["round"](found).to(dtype)
