"""Normalization and attention of loaded models."""

from __future__ import annotations

import math
from typing import Any

from .. import _core, _effects
from ._dtypes import HALVES
from ._node import Node, axes_of, created, ops, runs, wanted_dtype

_effects.pure_module()


@runs("BatchNormalization")
def _batch_norm(node: Node, x: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
    eps, momentum = node.get("epsilon"), node.get("momentum")
    if not node.get("training_mode"):
        return ops["batch_norm"](x, mean, var, scale, bias, False, 0.1, eps)[0]
    dims = [0, *range(2, x.ndim)]
    own = ops["mean"](x, dims)
    # ONNX keeps the biased variance, Lucid the unbiased one.
    spread = ops["var"](x, dims, correction=0)
    found = ops["batch_norm"](x, None, None, scale, bias, True, 0.1, eps)[0]
    running = [old * momentum + new * (1 - momentum) for old, new in ((mean, own), (var, spread))]
    return (found, *running)[: node.outputs]


@runs("InstanceNormalization")
def _instance_norm(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    return ops["instance_norm"](x, None, None, scale, bias, True, 0.1, node.get("epsilon"))[0]


@runs("LayerNormalization")
def _layer_norm(node: Node, x: Any, scale: Any, bias: Any = None) -> Any:
    axis = node.axis(x.ndim)
    shape = list(x.shape[axis:])
    eps = node.get("epsilon")
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
    axis = node.axis(x.ndim)
    shape = list(x.shape[axis:])
    eps = node.get("epsilon")
    if list(scale.shape) == shape and scale.dtype is x.dtype:
        return ops["rms_norm"](x, shape, scale, eps)
    return ops["mul"](ops["rms_norm"](x, shape, None, eps), scale)


@runs("GroupNormalization")
def _group_norm(node: Node, x: Any, scale: Any, bias: Any) -> Any:
    groups = node.get("num_groups")
    if groups < 1 or x.ndim < 2 or x.shape[1] % groups:
        node.fail("num_groups must divide the channels")
    if node.version < 21:
        # One scale for each group.
        each = x.shape[1] // groups
        scale, bias = ops["repeat_interleave"](scale, each, 0), ops["repeat_interleave"](bias, each, 0)
    return ops["group_norm"](x, groups, scale, bias, node.get("epsilon"))


@runs("LRN")
def _lrn(node: Node, x: Any) -> Any:
    size, *numbers = map(node.get, ("size", "alpha", "beta", "bias"))
    if size % 2:
        return ops["local_response_norm"](x, size, *numbers)
    # Lucid has the longer half of an even window before the channel, ONNX after it.
    return ops["flip"](ops["local_response_norm"](ops["flip"](x, [1]), size, *numbers), [1])


@runs("LpNormalization")
def _lp_norm(node: Node, x: Any) -> Any:
    axis = node.axis(x.ndim)
    p = node.get("p")
    if p not in (1, 2):
        node.fail("p must be 1 or 2")
    size = ops["norm"](x, float(p), [axis], True)
    # Vectors of zeros stay zeros.
    return ops["where"](ops["eq"](size, 0), ops["zeros_like"](x), ops["div"](x, size))


@runs("MeanVarianceNormalization")
def _mvn(node: Node, x: Any) -> Any:
    dims = axes_of(node, node.get("axes"), x.ndim)
    mean, square = ops["mean"](x, dims, True), ops["mean"](ops["square"](x), dims, True)
    return (x - mean) / (ops["sqrt"](square - ops["square"](mean)) + 1e-9)


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
    is_flat = q.ndim == 3
    q, k, v = _heads(node, q, "q_num_heads"), _heads(node, k, "kv_num_heads"), _heads(node, v, "kv_num_heads")
    if lengths is not None or node.get("left_window_size", -1) >= 0 or node.get("right_window_size", -1) >= 0:
        node.unsupported("attention with windows or with lengths of keys")
    past = 0
    if past_k is not None:
        past = past_k.shape[2]
        k, v = ops["cat"]([past_k, k], 2), ops["cat"]([past_v, v], 2)
    present = k, v
    causal, scale = bool(node.get("is_causal")), node.get("scale")
    is_plain = mask is None and past == 0 and node.outputs < 4 and not node.get("softcap")
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
    if cap := node.get("softcap"):
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
    mode = node.get("qk_matmul_output_mode")
    if not 0 <= mode <= 3:
        node.fail(f"qk_matmul_output_mode is {mode}")
    return ops["matmul"](weights, v), stages[mode]


def _bias(mask: Any, causal: bool, rows: int, columns: int, past: int, dtype: Any) -> Any:
    """What is added to the scores: a mask, and -inf for keys that come later."""
    bias = None
    if mask is not None:
        if mask.dtype is _core.bool:
            low = created("full", [], -math.inf, dtype=dtype)
            bias = ops["where"](mask, created("zeros", [], dtype=dtype), low)
        else:
            bias = mask
        if bias.shape[-1] < columns:
            pad = [0, columns - bias.shape[-1]]
            bias = ops["constant_pad"](bias, pad, -math.inf)
    if causal:
        later = ops["gt"](created("arange", columns), ops["add"](created("arange", rows).reshape(-1, 1), past))
        hidden = ops["where"](later, created("full", [], -math.inf, dtype=dtype), created("zeros", [], dtype=dtype))
        bias = hidden if bias is None else ops["add"](bias, hidden)
    return bias


@runs("RotaryEmbedding")
def _rotary(node: Node, x: Any, cos: Any, sin: Any, positions: Any = None) -> Any:
    is_flat = x.ndim == 3
    if is_flat:
        count = node.get("num_heads", 0)
        if count < 1 or x.shape[2] % count:
            node.fail("num_heads must divide the last dimension")
        x = ops["reshape"](x, [x.shape[0], x.shape[1], count, x.shape[2] // count])
    else:
        x = ops["permute"](x, [0, 2, 1, 3])
    size = x.shape[3]
    turned = node.get("rotary_embedding_dim") or size
    if turned % 2 or not 0 <= turned <= size:
        node.fail(f"rotary_embedding_dim is {turned}, which must be even and at most {size}")
    rest = ops["narrow"](x, 3, turned, size - turned) if turned < size else None
    part = ops["narrow"](x, 3, 0, turned)
    half = turned // 2
    if positions is not None:
        cos, sin = (ops["index"](each, [positions.to(_core.int64)]) for each in (cos, sin))
    cos, sin = (ops["unsqueeze"](ops["narrow"](each, each.ndim - 1, 0, half), 2) for each in (cos, sin))
    if node.get("interleaved"):
        pairs = ops["reshape"](part, [*part.shape[:3], half, 2])
        a, b = ops["select"](pairs, 4, 0), ops["select"](pairs, 4, 1)
    else:
        a, b = ops["narrow"](part, 3, 0, half), ops["narrow"](part, 3, half, half)
    real, other = cos * a - sin * b, sin * a + cos * b
    if node.get("interleaved"):
        found = ops["reshape"](ops["stack"]([real, other], 4), list(part.shape))
    else:
        found = ops["cat"]([real, other], 3)
    found = found if rest is None else ops["cat"]([found, rest], 3)
    if is_flat:
        return ops["reshape"](found, [found.shape[0], found.shape[1], found.shape[2] * found.shape[3]])
    return ops["permute"](found, [0, 2, 1, 3])
