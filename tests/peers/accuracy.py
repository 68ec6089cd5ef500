"""Error bounds of floats relative to the exact result. All bounds are here.

The exact result is PyTorch's in double precision, from the same elements. For float64 it is PyTorch's own result.

- Elementwise ops: 2 ULP; 4 ULP for activations and other ops that combine several functions. Where numbers cancel, the
  ULP is that of the largest intermediate term.
- Sums and matrix products: n eps times the same sum of absolute values, for n terms.
- Products, norms, softmax and other ops based on a sum: the formulas of `CHAINS`. Layers and losses: see `LAYERS`.
- All other ops only move or select elements: exact.
- float16 and bfloat16: computed in float32 and rounded once, so one ULP of the result in addition to the bound of
  float32.
- Results too small for a normal number may be 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import lucid
import numpy as np
from op_samples import Call

Array = np.ndarray[Any, Any]
# The exact result of an op for the arguments of a call.
Exact = Callable[[Call], list[Array]]


class Format(NamedTuple):
    eps: float
    smallest: float  # normal number
    largest: float


FORMATS = {
    lucid.float16: Format(2.0**-10, 2.0**-14, 65504.0),
    lucid.bfloat16: Format(2.0**-7, 2.0**-126, 2.0**128 - 2.0**120),
    lucid.float32: Format(2.0**-23, 2.0**-126, 2.0**128 - 2.0**104),
    lucid.float64: Format(2.0**-52, 2.0**-1022, float(np.finfo(np.float64).max)),
}

# Composites that are elementwise: each computes at most one rounded function.
ELEMENTWISE = {"square", "pow", "relu6", "threshold", "hardtanh", "hardshrink", "softshrink", "clamp", "clip"}
ELEMENTWISE |= {"masked_fill", "prelu"}

# Ops that combine several functions: 4 ULP of the result, or of the value that this function of the arguments returns.
COMPOSED: dict[str, Callable[..., Any] | None] = {
    "silu": None,
    "mish": None,
    "leaky_relu": None,
    "elu": None,
    "celu": None,
    "selu": None,
    "softplus": None,
    "logsigmoid": None,
    "softsign": None,
    "hardsigmoid": None,
    "hardswish": None,
    "glu": None,
    "rrelu": None,
    "gelu": None,
    "tanhshrink": None,
    "lerp": lambda x, end, weight: np.abs(x) + (np.abs(x) + np.abs(end)) * (1 + np.abs(weight)),
    "addcmul": lambda x, tensor1, tensor2, value=1.0: np.abs(x) + np.abs(value * tensor1 * tensor2),
    "addcdiv": lambda x, tensor1, tensor2, value=1.0: np.abs(x) + np.abs(value * tensor1 / tensor2),
    "arange": lambda start, end=0, step=1: np.maximum(np.abs(start), np.abs(end)),
    "linspace": lambda start, end, steps: np.maximum(np.abs(start), np.abs(end)),
    "logspace": lambda start, end, steps, base=10.0: (
        base ** np.maximum(start, end) * np.maximum(np.abs(start), np.abs(end)) * np.log(base)
    ),
}

# Ops where PyTorch subtracts and Lucid does not. PyTorch's double precision result, the reference, has the rounding
# error of these terms.
CANCELLING: dict[str, Callable[[Array], Array]] = {"ndtr": np.ones_like, "gelu": np.abs, "tanhshrink": np.abs}

# Sums of products of the operands' elements.
SUMS = {"sum", "nansum", "cumsum", "scatter_add", "index_add", "index_put", "scatter", "bmm", "matmul", "mm"}
SUMS |= {"mv", "dot", "vdot", "outer", "inner", "addmm", "addmv", "baddbmm", "linear", "bilinear", "einsum"}
SUMS |= {"tensordot", "kron", "trace", "mean", "nanmean", "fold"}
SUMS |= {f"{name}{n}d" for n in (1, 2, 3) for name in ("conv", "conv_transpose")}

# Functions of n terms, the machine epsilon, the exact result and the largest element.
CHAINS: dict[str, Callable[[int, float, Array, float], Any]] = {
    "prod": lambda n, eps, exact, largest: n * eps * np.abs(exact),
    "cumprod": lambda n, eps, exact, largest: n * eps * np.abs(exact),
    "scatter_reduce": lambda n, eps, exact, largest: n * eps * np.maximum(np.abs(exact), largest),
    "var": lambda n, eps, exact, largest: (n + 4) * eps * np.abs(exact),
    "std": lambda n, eps, exact, largest: (n + 4) * eps * np.abs(exact),
    # The mean is the second result.
    "var_mean": lambda n, eps, exact, largest: (n + 4) * eps * np.maximum(np.abs(exact), largest),
    "norm": lambda n, eps, exact, largest: (n + 8) * eps * np.abs(exact),
    "cdist": lambda n, eps, exact, largest: (n + 4) * eps * np.abs(exact),
    "softmax": lambda n, eps, exact, largest: (n + 4 + 2 * largest) * eps * np.abs(exact),
    "softmin": lambda n, eps, exact, largest: (n + 4 + 2 * largest) * eps * np.abs(exact),
    "log_softmax": lambda n, eps, exact, largest: (n + 4 + 2 * largest) * eps,
    "logsumexp": lambda n, eps, exact, largest: (n + 4 + 2 * largest) * eps,
    "diff": lambda n, eps, exact, largest: 4 * eps * largest,
    "bincount": lambda n, eps, exact, largest: n * n * eps * largest,
}

# Layers and losses, chains of sums and functions over up to all n elements: (n + 16) eps times the largest element of
# operands and result, or 1.
LAYERS = {"layer_norm", "rms_norm", "group_norm", "batch_norm", "instance_norm", "local_response_norm", "normalize"}
LAYERS |= {"scaled_dot_product_attention", "attention_weights", "embedding_bag", "interpolate", "grid_sample"}
LAYERS |= {"affine_grid", "cosine_similarity", "pairwise_distance", "cross_entropy", "mse_loss", "l1_loss"}
LAYERS |= {"smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy", "kl_div", "nll_loss"}
LAYERS |= {"binary_cross_entropy_with_logits", "multilabel_margin_loss", "multilabel_soft_margin_loss", "ctc_loss"}
LAYERS |= {"margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss", "triplet_margin_loss"}
LAYERS |= {"multi_margin_loss", "gaussian_nll_loss", "poisson_nll_loss"}
LAYERS |= {f"{name}{n}d" for n in (1, 2, 3) for name in ("avg_pool", "adaptive_avg_pool", "lp_pool")}


def is_half(dtype: Any) -> bool:
    return dtype is lucid.float16 or dtype is lucid.bfloat16


def with_arrays(call: Call, change: Callable[[Any], Any]) -> Call:
    """The call with every float array or number x replaced by change(x)."""

    def replace(value: Any) -> Any:
        if isinstance(value, list):
            return [replace(part) for part in value]
        is_array = isinstance(value, np.ndarray) and value.dtype.kind != "b"
        is_index = is_array and value.dtype == np.int64 and call.dtype is not lucid.int64
        if isinstance(value, float):
            return float(change(value))
        return np.asarray(change(value)) if is_array and not is_index else value

    return dataclasses.replace(call, arguments={name: replace(value) for name, value in call.arguments.items()})


def floats_of(call: Call) -> list[Array]:
    found = []
    for value in call.arguments.values():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, np.ndarray) and part.dtype.kind in "fiu" and part.size:
                found.append(np.abs(np.asarray(part, np.float64)))
    return found


def ulps(exact: Array, format: Format) -> Array:
    """The ULP of each number."""
    size = np.maximum(np.abs(exact), format.smallest)
    return np.where(np.isfinite(size), 2.0 ** np.floor(np.log2(size, where=size > 0)) * format.eps, 0.0)


def terms(call: Call, exact: Array) -> int:
    """The number of input elements that contribute to one element of the result."""
    largest = max((array.size for array in floats_of(call)), default=1)
    return max(1, largest if call.name in ("cumprod", "scatter_reduce") else largest // max(exact.size, 1))


def computed(call: Call, position: int, exact: Array, format: Format, ask: Exact) -> Any:
    """The error bound of a result before it is rounded to 16 bits."""
    name = call.name
    if name in CANCELLING and format is FORMATS[lucid.float64]:
        return 4 * np.maximum(ulps(exact, format), ulps(CANCELLING[name](call.arguments["x"]), format))
    if name not in COMPOSED and (call.op["pointwise"] or name in ELEMENTWISE):
        return 2 * ulps(exact, format)
    if name in COMPOSED:
        scale = COMPOSED[name]
        if scale is None:
            return 4 * ulps(exact, format)
        known = scale.__code__.co_varnames[: scale.__code__.co_argcount]
        arguments = {key: value for key, value in call.arguments.items() if key in known}
        arguments = {key: np.asarray(value, np.float64) for key, value in arguments.items() if value is not None}
        return 4 * np.maximum(ulps(exact, format), ulps(scale(**arguments), format))
    if name in SUMS:
        size = ask(with_arrays(call, np.abs))[position]
        if name in ("mean", "nanmean"):
            return (terms(call, exact) + 1) * format.eps * size
        count = ask(with_arrays(call, np.ones_like))
        return np.maximum(count[position], 1) * format.eps * size
    largest = max((float(array.max()) for array in floats_of(call)), default=0.0)
    if name in LAYERS:
        count = max((array.size for array in floats_of(call)), default=1)
        size = np.abs(exact[np.isfinite(exact)]).max(initial=max(largest, 1.0))
        return (count + 16) * format.eps * size
    if name in CHAINS:
        return CHAINS[name](terms(call, exact), format.eps, exact, largest)
    return 0.0


def bound(call: Call, position: int, exact: Array, dtype: Any, ask: Exact) -> Any:
    """The error bound of each element of the result at index `position` of the call, for this dtype."""
    with np.errstate(all="ignore"):
        if not is_half(dtype):
            return computed(call, position, exact, FORMATS[dtype], ask)
        once = ulps(exact, FORMATS[dtype])
        return once + computed(call, position, exact, FORMATS[lucid.float32], ask)


def agrees(call: Call, position: int, ours: Array, exact: Array, dtype: Any, ask: Exact) -> bool:
    format = FORMATS[dtype]
    with np.errstate(all="ignore"):
        near = np.abs(ours - exact) <= bound(call, position, exact, dtype, ask)
        tiny = (np.abs(exact) < format.smallest) & (ours == 0)
        overflows = (np.abs(exact) >= format.largest) & np.isinf(ours) & (np.sign(ours) == np.sign(exact))
    return bool(np.all(near | tiny | overflows | (ours == exact) | (np.isnan(ours) & np.isnan(exact))))
