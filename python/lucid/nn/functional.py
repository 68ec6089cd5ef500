"""Functional forms of the modules.

All ops that networks use are available here. This module also defines functions whose arguments choose between several
ops, and functions that use random numbers.

>>> lucid.nn.functional.relu(lucid.tensor([-1.0, 2.0]))
tensor([0., 2.])
"""

from __future__ import annotations

from typing import Any

import lucid

from .. import _core, _effects
from .._core import Tensor

_effects.pure_module()

_ops = _core.ops
_random_ops = _core.random_ops


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'lucid.nn.functional' has no attribute '{name}'")
    found = getattr(lucid, name, None)
    if found is None or not callable(found) or isinstance(found, type):
        raise AttributeError(f"module 'lucid.nn.functional' has no attribute '{name}'")
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_core.public_ops})


def _in_place(input: Tensor, result: Tensor, inplace: bool) -> Tensor:
    return input.copy_(result) if inplace else result


def _check(name: str, p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: the probability must be between 0 and 1, got {p}")


def _activation(name: str) -> Any:
    """Returns the function of an op that also takes `inplace`, after the op's own parameters."""
    op: Any = _ops[name]
    _, *others = op.__text_signature__[1:-1].split(", ")
    names = ["input", *(other.partition("=")[0] for other in others)]
    head = f"def {name}({', '.join(['input', *others, 'inplace=False'])}):"
    body = f"return (in_place if inplace else op)({', '.join(names)})"
    scope = {"__name__": __name__, "op": op, "in_place": getattr(Tensor, name + "_")}
    exec(compile(f"{head} {body}", __file__, "exec"), scope)
    function: Any = scope[name]
    function.__doc__ = op.__doc__
    return function


globals().update({name: _activation(name) for name in _core.inplace_functions})


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, sets each element to zero with probability `p` and scales the others by 1 / (1 - p).

    >>> lucid.nn.functional.dropout(lucid.ones(2), training=False)
    tensor([1., 1.])
    """
    _check("dropout", p)
    if not training or p == 0:
        return input
    return _in_place(input, _random_ops["random_dropout"](input, float(p)), inplace)


def _channel_dropout(name: str, spatial: int, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    _check(name, p)
    if input.dim() not in (spatial + 1, spatial + 2):
        raise ValueError(f"{name}: expected {spatial + 1} or {spatial + 2} dimensions, got shape {input.shape}")
    if not training or p == 0:
        return input
    if input.dim() == spatial + 1:
        result = _random_ops["random_feature_dropout"](input.unsqueeze(0), float(p)).squeeze(0)
    else:
        result = _random_ops["random_feature_dropout"](input, float(p))
    return _in_place(input, result, inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, sets whole channels of sequences to zero with probability `p` and scales the others by 1 / (1 - p).

    >>> lucid.nn.functional.dropout1d(lucid.ones(1, 2, 3), 1.0).sum()
    tensor(0.)
    """
    return _channel_dropout("dropout1d", 1, input, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, sets whole channels of images to zero with probability `p` and scales the others by 1 / (1 - p).

    >>> lucid.nn.functional.dropout2d(lucid.ones(1, 2, 3, 3), 1.0).sum()
    tensor(0.)
    """
    return _channel_dropout("dropout2d", 2, input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, sets whole channels of volumes to zero with probability `p` and scales the others by 1 / (1 - p).

    >>> lucid.nn.functional.dropout3d(lucid.ones(1, 2, 3, 3, 3), 1.0).sum()
    tensor(0.)
    """
    return _channel_dropout("dropout3d", 3, input, p, training, inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that preserves the mean and variance of normally distributed inputs. Intended for networks with selu.

    >>> lucid.nn.functional.alpha_dropout(lucid.ones(2))
    tensor([1., 1.])
    """
    _check("alpha_dropout", p)
    if not training or p == 0:
        return input
    return _in_place(input, _random_ops["random_alpha_dropout"](input, float(p)), inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels.

    >>> lucid.nn.functional.feature_alpha_dropout(lucid.ones(1, 2))
    tensor([[1., 1.]])
    """
    _check("feature_alpha_dropout", p)
    if not training or p == 0:
        return input
    return _in_place(input, _random_ops["random_feature_alpha_dropout"](input, float(p)), inplace)


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """Applies leaky_relu with random slopes.

    In training, each slope is sampled uniformly from [lower, upper]. Otherwise the slope is their mean.

    >>> lucid.nn.functional.rrelu(lucid.tensor([-4.0]), 0.5, 0.5)
    tensor([-2.])
    """
    result = _random_ops["random_rrelu"](input, lower, upper) if training else _ops["rrelu"](input, lower, upper)
    return _in_place(input, result, inplace)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Samples from the Gumbel-softmax distribution, a differentiable approximation of a categorical distribution.

    Args:
        logits: Unnormalized log-probabilities.
        tau: The temperature.
        hard: Whether to return one-hot samples, with the gradient of the soft ones.
        dim: The dimension of the categories.

    >>> lucid.nn.functional.gumbel_softmax(lucid.zeros(3), hard=True).sum()
    tensor(1.)
    """
    return _random_ops["random_gumbel_softmax"](logits, float(tau), hard, dim)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Returns the rows of `weight` at the indices in `input`. See nn.Embedding for the arguments.

    >>> lucid.nn.functional.embedding(lucid.tensor([1]), lucid.eye(2))
    tensor([[0., 1.]])
    """
    return _core.nn_embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Reduces each bag of rows of `weight` to its mean, sum or maximum. See nn.EmbeddingBag for the arguments.

    `per_sample_weights` scales the rows before a sum.

    >>> lucid.nn.functional.embedding_bag(lucid.tensor([[0, 1]]), lucid.eye(2), mode="sum")
    tensor([[1., 1.]])
    """
    return _core.nn_embedding_bag(
        input,
        weight,
        offsets,
        per_sample_weights,
        mode,
        include_last_offset,
        padding_idx,
        max_norm,
        norm_type,
        scale_grad_by_freq,
    )


def _with_statistics(op: Any, mean: Tensor | None, var: Tensor | None, keep: bool, *arguments: Any) -> Tensor:
    result, new_mean, new_var = op(*arguments)
    if keep and mean is not None and var is not None:
        with lucid.no_grad():
            mean.copy_(new_mean)
            var.copy_(new_var)
    output: Tensor = result
    return output


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each channel over the batch to mean 0 and variance 1.

    In training, updates the running statistics with those of the batch; otherwise uses the running statistics.

    >>> mean = lucid.zeros(1)
    >>> lucid.nn.functional.batch_norm(lucid.tensor([[1.0], [3.0]]), mean, lucid.ones(1), training=True).flatten()
    tensor([-1.0000,  1.0000])
    >>> mean
    tensor([0.2000])
    """
    given = (input, running_mean, running_var, weight, bias, training, float(momentum), float(eps))
    return _with_statistics(_ops["batch_norm"], running_mean, running_var, training, *given)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalizes each channel of each sample to mean 0 and variance 1.

    >>> lucid.nn.functional.instance_norm(lucid.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    given = (input, running_mean, running_var, weight, bias, use_input_stats, float(momentum), float(eps))
    return _with_statistics(_ops["instance_norm"], running_mean, running_var, use_input_stats, *given)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Computes `softmax(query @ key.mT * scale + attn_mask) @ value`.

    Args:
        query, key, value: Tensors of shape (..., time, size).
        attn_mask: Added to the scores, or boolean: true where attention is allowed.
        dropout_p: Probability of dropout on the attention weights.
        is_causal: Whether to mask positions after the query.
        scale: 1 / sqrt(size) by default.
        enable_gqa: Whether several query heads may share a key and value head.

    >>> x = lucid.ones(1, 2, 4)
    >>> lucid.nn.functional.scaled_dot_product_attention(x, x, x).shape
    (1, 2, 4)
    """
    if dropout_p == 0:
        return _ops["scaled_dot_product_attention"](
            query, key, value, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
        )
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    weights = _ops["attention_weights"](query, key, attn_mask, is_causal=is_causal, scale=scale)
    return dropout(weights, dropout_p) @ value


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resamples the input to a given size, or by a scale factor. See nn.Upsample for the arguments.

    >>> lucid.nn.functional.interpolate(lucid.ones(1, 1, 2), scale_factor=2).shape
    (1, 1, 4)
    """
    if antialias:
        raise NotImplementedError("interpolate: antialias is not supported")
    if scale_factor is not None and (recompute_scale_factor or not isinstance(scale_factor, int | float)):
        factors = [scale_factor] * (input.dim() - 2) if isinstance(scale_factor, int | float) else list(scale_factor)
        size = [int(old * factor) for old, factor in zip(input.shape[2:], factors)]
        scale_factor = None
    return _ops["interpolate"](input, size, scale_factor, mode, align_corners)
