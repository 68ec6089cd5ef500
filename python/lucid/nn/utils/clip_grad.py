"""Gradient clipping."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ... import _core, _effects
from ..._core import Tensor
from ..._foreign import check_iterable
from ..._overloads import expect_tensor
from ...autograd import no_grad

_effects.pure_module()

_Tensors = Tensor | Iterable[Tensor]


def _listed(function: str, parameters: _Tensors) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        return [parameters]
    check_iterable(function, parameters, "parameters", "")
    listed = list(parameters)
    for parameter in listed:
        expect_tensor(function, "parameters", parameter)
    return listed


def _gradients(parameters: list[Tensor]) -> list[Tensor]:
    return [parameter.grad for parameter in parameters if parameter.grad is not None]


def get_total_norm(tensors: _Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """Returns the norm of all tensors together, as if they were concatenated into one vector.

    Args:
        tensors: A tensor or an iterable of tensors.
        norm_type: The p of the p-norm; may be inf.
        error_if_nonfinite: Whether a norm that is nan or infinite raises RuntimeError.

    >>> lucid.nn.utils.get_total_norm([lucid.tensor([3.0]), lucid.tensor([4.0])])
    tensor(5.)
    """
    listed = _listed("get_total_norm", tensors)
    if not listed:
        return _core.tensor(0.0)
    with no_grad():
        device = listed[0].device
        norms = _core.ops["stack"]([_core.ops["norm"](tensor, float(norm_type)).to(device) for tensor in listed])
        total: Tensor = norms.max() if math.isinf(norm_type) else _core.ops["norm"](norms, float(norm_type))
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"the total norm of order {norm_type} is {total.item()}, so gradients cannot be clipped; "
            "pass error_if_nonfinite=False to clip anyway"
        )
    return total


def clip_grads_with_norm_(parameters: _Tensors, max_norm: float, total_norm: Tensor) -> None:
    """Scales the gradients in place by `max_norm / total_norm`, if that is below 1.

    >>> x = lucid.nn.Parameter(lucid.ones(1))
    >>> x.grad = lucid.tensor([4.0])
    >>> lucid.nn.utils.clip_grads_with_norm_(x, 1.0, lucid.tensor(2.0))
    >>> x.grad
    tensor([2.0000])
    """
    with no_grad():
        scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for gradient in _gradients(_listed("clip_grads_with_norm_", parameters)):
            gradient.mul_(scale.to(gradient.device, gradient.dtype))


def clip_grad_norm_(
    parameters: _Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients of all parameters in place so that their total norm is at most `max_norm`.

    Returns the total norm before clipping. Takes the same arguments as get_total_norm; `foreach` has no effect.

    >>> x = lucid.nn.Parameter(lucid.ones(2))
    >>> x.grad = lucid.tensor([3.0, 4.0])
    >>> lucid.nn.utils.clip_grad_norm_([x], 1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    listed = _listed("clip_grad_norm_", parameters)
    total = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


def clip_grad_value_(parameters: _Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamps every element of the gradients in place to [-clip_value, clip_value]. `foreach` has no effect.

    >>> x = lucid.nn.Parameter(lucid.ones(2))
    >>> x.grad = lucid.tensor([3.0, -4.0])
    >>> lucid.nn.utils.clip_grad_value_([x], 1.0)
    >>> x.grad
    tensor([ 1., -1.])
    """
    with no_grad():
        for gradient in _gradients(_listed("clip_grad_value_", parameters)):
            gradient.clamp_(-float(clip_value), float(clip_value))
