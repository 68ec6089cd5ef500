"""PyTorch's equivalents of the ops of the table. By default the name and the argument order are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

# Ops without a reference in PyTorch or NumPy, and why.
NO_COUNTERPART = {
    "random_bits": "random streams differ between libraries; tests/ops compares with Philox's published numbers",
    "random_uniform": "random streams differ",
    "random_normal": "random streams differ",
    "random_integers": "random streams differ",
    "random_bernoulli": "random streams differ",
    "random_permutation": "random streams differ",
    "random_multinomial": "random streams differ",
    "random_dropout": "random streams differ; its gradient is tested in tests/ops",
    "random_feature_dropout": "random streams differ",
    "random_alpha_dropout": "random streams differ",
    "random_feature_alpha_dropout": "random streams differ",
    "random_rrelu": "random streams differ",
    "random_gumbel_softmax": "random streams differ",
    "empty": "its elements are undefined",
    "empty_like": "its elements are undefined",
}


# Ops that select one of several equal elements, where PyTorch does not specify which. Bools are mostly equal.
PICKS = {"topk", "kthvalue", "median_dim"}


def over_dims(function: Callable[..., Any]) -> Callable[..., Any]:
    """Extends a reduction over one dimension or all to several dimensions."""

    def reduce(x: Any, dim: Any, keepdim: bool, **rest: Any) -> Any:
        dims = range(x.dim()) if dim is None else [d % max(x.dim(), 1) for d in dim]
        if x.dim() == 0:
            return function(x, **rest)
        for d in sorted(dims, reverse=True):
            x = function(x, d, keepdim, **rest)
            rest = {}
        return x

    return reduce


def pad(x: Any, pad: Any, mode: str, value: float) -> Any:
    """PyTorch supports reflection padding and similar modes for some ranks only. NumPy provides the indices."""
    if mode == "constant":
        return functional.pad(x, pad, mode, value)
    name: Any = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    for i in range(len(pad) // 2):
        dim = x.dim() - 1 - i
        places = np.pad(np.arange(x.shape[dim]), (pad[2 * i], pad[2 * i + 1]), name)
        x = x.index_select(dim, torch.from_numpy(places))
    return x


def mean(x: Any, *arguments: Any, **keywords: Any) -> Any:
    """The result for integers is a float, as in NumPy."""
    return torch.mean(x if x.is_floating_point() else x.float(), *arguments, **keywords)


def full(size: Any, value: Any, **keywords: Any) -> Any:
    """Filling with a tensor: PyTorch's result has the default dtype, Lucid's the dtype of the tensor."""
    if isinstance(value, torch.Tensor):
        keywords = {"dtype": value.dtype, **keywords}
    return torch.full(size, value, **keywords)


def of_bools(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that PyTorch lacks for bools: passes them as bytes and converts bytes in the result to bools."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        if not any(isinstance(x, torch.Tensor) and x.dtype == torch.bool for x in arguments):
            return function(*arguments, **keywords)
        arguments = tuple(x.byte() if isinstance(x, torch.Tensor) and x.dtype == torch.bool else x for x in arguments)
        results = function(*arguments, **keywords)
        results = (results,) if isinstance(results, torch.Tensor) else results
        return tuple(result.bool() if result.dtype == torch.uint8 else result for result in results)

    return call


def of_bytes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that rejects negative factors of bytes, extended to wrap around."""

    def call(*tensors: Any, **factors: Any) -> Any:
        if tensors[0].dtype != torch.uint8:
            return function(*tensors, **factors)
        return function(*(torch.as_tensor(tensor).long() for tensor in tensors), **factors).byte()

    return call


def isclose(x: Any, y: Any, *rest: Any) -> Any:
    """PyTorch requires two tensors of the same dtype."""
    kind = torch.result_type(x, y)
    return torch.isclose(torch.as_tensor(x, dtype=kind), torch.as_tensor(y, dtype=kind), *rest)


def index_put(x: Any, values: Any, indices: Any, accumulate: bool) -> Any:
    return torch.index_put(x, tuple(indices), torch.as_tensor(values, dtype=x.dtype), accumulate)


def linear(x: Any, weight: Any, bias: Any) -> Any:
    """PyTorch accepts no bias if the weight is a vector."""
    product = x @ (weight.mT if weight.dim() > 1 else weight)
    return product if bias is None else product + bias


def einsum(equation: str, tensors: Any) -> Any:
    """Without a product, PyTorch sums, which converts integers to int64."""
    return torch.einsum(equation, *tensors).to(tensors[0].dtype)


def slice_of(x: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]


def clamp(x: Any, low: Any, high: Any) -> Any:
    if isinstance(low, torch.Tensor) and isinstance(high, int | float):
        high = torch.tensor(high)
    if isinstance(high, torch.Tensor) and isinstance(low, int | float):
        low = torch.tensor(low)
    return torch.clamp(x, low, high)


def arange(start: Any, end: Any, step: Any, **rest: Any) -> Any:
    if end is None:
        start, end = 0, start
    return torch.arange(start, end, 1 if step is None else step, **rest)


def scatter(x: Any, dim: int, index: Any, src: Any, reduce: str | None) -> Any:
    if reduce is None:
        return torch.scatter(x, dim, index, src)
    return torch.scatter_reduce(x, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])


def all_dims(x: Any, dim: Any) -> Any:
    return tuple(range(x.dim())) if dim is None else dim


def start_of_statistics(x: Any) -> tuple[Any, Any]:
    """Statistics of 16-bit floats are in single precision."""
    dtype = torch.float64 if x.dtype is torch.float64 else torch.float32
    return torch.zeros(x.shape[1], dtype=dtype), torch.ones(x.shape[1], dtype=dtype)


def batch_norm(x: Any, mean: Any, var: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float) -> Any:
    """Also returns the running statistics that PyTorch writes, or those of the batch if there are none."""
    if mean is None:
        mean, var, momentum = *start_of_statistics(x), 1.0
    mean, var = mean.clone(), var.clone()
    return functional.batch_norm(x, mean, var, weight, bias, training, momentum, eps), mean, var


def instance_norm(x: Any, mean: Any, var: Any, weight: Any, bias: Any, use: bool, momentum: float, eps: float) -> Any:
    if mean is None:
        mean, var, momentum = *start_of_statistics(x), 1.0
    mean, var = mean.clone(), var.clone()
    return functional.instance_norm(x, mean, var, weight, bias, use, momentum, eps), mean, var


def multi_margin_loss(x: Any, target: Any, p: int, margin: float, weight: Any, reduction: str) -> Any:
    return functional.multi_margin_loss(x, target, p, margin, weight, reduction=reduction)


def soft_margin_loss(x: Any, target: Any, **keywords: Any) -> Any:
    return functional.soft_margin_loss(*torch.broadcast_tensors(x, target), **keywords)


def cross_entropy(x: Any, target: Any, weight: Any, **keywords: Any) -> Any:
    """PyTorch rejects an ignored class with class probabilities, where it has no meaning."""
    if target.is_floating_point():
        keywords["ignore_index"] = -100
    return functional.cross_entropy(x, target, weight, **keywords)


def interpolate(x: Any, size: Any, scale_factor: Any, mode: str, align_corners: Any) -> Any:
    if size is not None:
        size = size[0] if len(size) == 1 else tuple(size)
    return functional.interpolate(x, size, scale_factor, mode, align_corners)


def embedding_bag(weight: Any, indices: Any, offsets: Any, samples: Any, **keywords: Any) -> Any:
    return functional.embedding_bag(indices, weight, offsets, per_sample_weights=samples, **keywords)


def rrelu(x: Any, lower: float, upper: float) -> Any:
    return functional.rrelu(x, lower, upper, training=False)


def ctc_loss(log_probs: Any, targets: Any, inputs: Any, lengths: Any, blank: int, **keywords: Any) -> Any:
    return functional.ctc_loss(log_probs, targets, inputs, lengths, blank, **keywords)


def attention_weights(query: Any, key: Any, mask: Any, **keywords: Any) -> Any:
    """Attention weights, as attention over the rows of the identity."""
    values = torch.eye(key.shape[-2], dtype=query.dtype).expand(*key.shape[:-1], key.shape[-2])
    return functional.scaled_dot_product_attention(query, key, values, mask, **keywords)


def of_integers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that PyTorch has for floats only: integers are converted to doubles, which are exact."""

    def call(x: Any, *arguments: Any, **keywords: Any) -> Any:
        if x.is_floating_point():
            return function(x, *arguments, **keywords)
        arguments = tuple(a.double() if isinstance(a, torch.Tensor) else a for a in arguments)
        results = function(x.double(), *arguments, **keywords)
        if isinstance(results, torch.Tensor):
            return results.long().to(x.dtype)
        return (results[0].long().to(x.dtype), *results[1:])

    return call


def max_pool(dimensions: int, indices: bool) -> Callable[..., Any]:
    function = getattr(functional, f"max_pool{dimensions}d")

    def call(x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
        return function(x, kernel_size, stride, padding, dilation, ceil_mode, indices)

    return of_integers(call)


def adaptive_max_pool(dimensions: int) -> Callable[..., Any]:
    function = getattr(functional, f"adaptive_max_pool{dimensions}d")
    return of_integers(lambda x, size: function(x, size * dimensions if len(size) == 1 else size, True))


def avg_pool(dimensions: int) -> Callable[..., Any]:
    function = getattr(functional, f"avg_pool{dimensions}d")
    return lambda x, kernel_size, stride, *rest: function(x, kernel_size, stride or kernel_size, *rest)


def lp_pool(dimensions: int) -> Callable[..., Any]:
    function = getattr(functional, f"lp_pool{dimensions}d")

    def call(x: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
        sizes = kernel_size[0] if dimensions == 1 else tuple(kernel_size) * (dimensions // len(kernel_size))
        return function(x, norm_type, sizes, stride[0] if stride and dimensions == 1 else stride, ceil_mode)

    return call


def adaptive_avg_pool(dimensions: int) -> Callable[..., Any]:
    function = getattr(functional, f"adaptive_avg_pool{dimensions}d")
    return lambda x, size: function(x, size * dimensions if len(size) == 1 else size)


def spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that accepts a number for all dimensions, but not a tuple of one element."""

    def call(*arguments: Any) -> Any:
        return function(*(a[0] if isinstance(a, list | tuple) and len(a) == 1 else a for a in arguments))

    return call


def max_unpool(dimensions: int) -> Callable[..., Any]:
    function = getattr(functional, f"max_unpool{dimensions}d")
    return spread(lambda x, i, size, stride, pad, out: function(x, i, size, stride, pad, out and list(out)))


def set_strided_part(x: torch.Tensor, part: torch.Tensor, stride: Any, offset: int) -> torch.Tensor:
    whole = x.contiguous().clone()
    # Not as_strided_scatter, whose gradient by x fails PyTorch's own check of gradients in 2.13.
    whole.as_strided(part.shape, stride, offset).copy_(part)
    return whole


DIFFERENT: dict[str, Callable[..., Any]] = {
    "logsigmoid": functional.logsigmoid,
    "ndtr": torch.special.ndtr,
    "to": lambda x, dtype: x.to(dtype),
    "clamp": clamp,
    "clip": clamp,
    "mean": mean,
    "any": lambda x, *arguments: torch.any(x.bool(), *arguments),  # PyTorch's result for bytes is bytes
    "all": lambda x, *arguments: torch.all(x.bool(), *arguments),
    "prod": over_dims(torch.prod),
    "amax": lambda x, dim, keepdim: torch.amax(x, all_dims(x, dim), keepdim),
    "amin": lambda x, dim, keepdim: torch.amin(x, all_dims(x, dim), keepdim),
    "max_dim": torch.max,
    "min_dim": torch.min,
    "median": of_bools(torch.median),
    "median_dim": of_bools(torch.median),
    "topk": of_bools(torch.topk),
    "kthvalue": of_bools(torch.kthvalue),
    "searchsorted": of_bools(torch.searchsorted),
    "bucketize": of_bools(torch.bucketize),
    "trace": of_bools(torch.trace),
    "scatter_reduce": of_bools(torch.scatter_reduce),
    "addcmul": of_bytes(torch.addcmul),
    "addmm": of_bytes(torch.addmm),
    "addmv": of_bytes(torch.addmv),
    "linear": linear,
    "full": full,
    "var": lambda x, dim, keepdim, correction: torch.var(x, dim, correction=correction, keepdim=keepdim),
    "std": lambda x, dim, keepdim, correction: torch.std(x, dim, correction=correction, keepdim=keepdim),
    "var_mean": lambda x, dim, keepdim, correction: torch.var_mean(x, dim, correction=correction, keepdim=keepdim),
    "logsumexp": lambda x, dim, keepdim: torch.logsumexp(x, all_dims(x, dim), keepdim),
    "squeeze": lambda x, dim: torch.squeeze(x) if dim is None else torch.squeeze(x, dim),
    "expand": lambda x, size: x.expand(size),
    "slice": slice_of,
    "contiguous": lambda x: x.contiguous(),
    "strided_part": lambda x, size, stride, offset: x.contiguous().as_strided(size, stride, offset),
    "set_strided_part": set_strided_part,
    "repeat": lambda x, repeats: x.repeat(repeats),
    "split": lambda x, size, dim: torch.split(x, size[0] if len(size) == 1 else list(size), dim),
    "meshgrid": lambda tensors, indexing: torch.meshgrid(*tensors, indexing=indexing),
    "pad": pad,
    "embedding": lambda weight, indices, padding: functional.embedding(indices, weight, padding),
    "embedding_bag": embedding_bag,
    "layer_norm": functional.layer_norm,
    "batch_norm": batch_norm,
    "instance_norm": instance_norm,
    "multi_margin_loss": multi_margin_loss,
    "soft_margin_loss": soft_margin_loss,
    "cross_entropy": cross_entropy,
    "interpolate": interpolate,
    "rrelu": rrelu,
    "ctc_loss": ctc_loss,
    "attention_weights": attention_weights,
    "gaussian_nll_loss": lambda x, target, var, full, eps, reduction: functional.gaussian_nll_loss(
        x, target, var, full, eps, reduction
    ),
    "poisson_nll_loss": functional.poisson_nll_loss,
    "kl_div": functional.kl_div,
    "hinge_embedding_loss": functional.hinge_embedding_loss,
    "cosine_embedding_loss": functional.cosine_embedding_loss,
    "triplet_margin_loss": functional.triplet_margin_loss,
    "margin_ranking_loss": functional.margin_ranking_loss,
    "binary_cross_entropy_with_logits": lambda x, target, weight, positive, reduction: (
        functional.binary_cross_entropy_with_logits(x, target, weight, reduction=reduction, pos_weight=positive)
    ),
    "grid_sample": functional.grid_sample,
    "affine_grid": lambda theta, size, aligned: functional.affine_grid(theta, list(size), aligned),
    "scatter": scatter,
    "index_put": index_put,
    "isclose": isclose,
    "eye": lambda n, m, **rest: torch.eye(n, n if m is None else m, **rest),
    "arange": arange,
    "einsum": einsum,
    "tensordot": lambda x, y, dims, dims_y: torch.tensordot(x, y, dims[0] if dims_y is None else (dims, dims_y)),
    "sort": lambda x, dim, descending, stable: torch.sort(x, dim=dim, descending=descending, stable=True),
    "argsort": lambda x, dim, descending, stable: torch.argsort(x, dim=dim, descending=descending, stable=True),
    **{f"conv{d}d": of_integers(getattr(functional, f"conv{d}d")) for d in (1, 2, 3)},
    **{f"conv_transpose{d}d": of_integers(getattr(functional, f"conv_transpose{d}d")) for d in (1, 2, 3)},
    **{f"max_pool{d}d": max_pool(d, False) for d in (1, 2, 3)},
    **{f"max_pool{d}d_with_indices": max_pool(d, True) for d in (1, 2, 3)},
    **{f"adaptive_max_pool{d}d_with_indices": adaptive_max_pool(d) for d in (1, 2, 3)},
    **{f"adaptive_avg_pool{d}d": adaptive_avg_pool(d) for d in (1, 2, 3)},
    **{f"avg_pool{d}d": avg_pool(d) for d in (1, 2, 3)},
    **{f"lp_pool{d}d": lp_pool(d) for d in (1, 2, 3)},
    **{f"max_unpool{d}d": max_unpool(d) for d in (1, 2, 3)},
    "unfold": of_integers(of_bools(spread(functional.unfold))),
    "fold": spread(functional.fold),
    "to_device": lambda x, device: x.to(device, copy=True),
    "unique_all": lambda x, dim: torch.unique(x, return_inverse=True, return_counts=True, dim=dim),
}


def counterpart(name: str) -> Callable[..., Any]:
    if name in DIFFERENT:
        return DIFFERENT[name]
    for place in (torch, functional, torch.Tensor):
        if hasattr(place, name):
            return getattr(place, name)
    raise LookupError(f"PyTorch has no {name}: name its counterpart or the reason why there is none")
