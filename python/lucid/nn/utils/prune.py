"""Pruning: a parameter `weight` becomes the product of a parameter `weight_orig` and a buffer `weight_mask`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ... import _core, _effects
from ..._core import Tensor
from ..module import Module
from ..parameter import Parameter
from .weight_norm import _Computed, _remove

_effects.pure_module()

_M = TypeVar("_M", bound=Module)


class _Pruning(_Computed):
    """Computes a pruned weight before each call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.handle: Any = None

    def compute(self, module: Module) -> Tensor:
        weight: Tensor = getattr(module, self.name + "_orig") * getattr(module, self.name + "_mask")
        return weight


def _count(amount: float, total: int) -> int:
    """Converts an amount, a count (int) or a fraction (float) of `total` elements, to a count."""
    if isinstance(amount, int):
        if not 0 <= amount <= total:
            raise ValueError(f"prune: cannot prune {amount} of {total} elements")
        return amount
    if not 0 <= amount <= 1:
        raise ValueError(f"prune: a fraction must be between 0 and 1, got {amount}")
    return round(amount * total)


def _current(module: Module, name: str) -> tuple[Tensor, Tensor]:
    """Returns the weight and its current mask."""
    weight = getattr(module, name).detach()
    mask = getattr(module, name + "_mask", None)
    return weight, weight.new_ones(weight.shape) if mask is None else mask


def custom_from_mask(module: _M, name: str, mask: Tensor) -> _M:
    """Prunes the elements where the mask is 0, in addition to those already pruned.

    >>> layer = lucid.nn.utils.prune.custom_from_mask(lucid.nn.Linear(2, 1), "weight", lucid.tensor([[1, 0]]))
    >>> layer.weight[0, 1].item()
    0.0
    """
    if hasattr(module, name + "_mask"):
        module.register_buffer(name + "_mask", mask * getattr(module, name + "_mask"))
    else:
        weight = getattr(module, name)
        delattr(module, name)
        module.register_parameter(name + "_orig", Parameter(weight.detach()))
        module.register_buffer(name + "_mask", mask.to(weight.dtype))
        hook = _Pruning(name)
        hook.handle = module.register_forward_pre_hook(hook)
    _Pruning(name)(module, None)
    return module


def _lowest(importance: Tensor, mask: Tensor, amount: float) -> Tensor:
    """Returns the mask without `amount` of its remaining elements, those of lowest importance."""
    flat = mask.flatten().clone()
    left = int(flat.sum().item())
    count = _count(amount, left)
    scores = _core.ops["where"](flat != 0, importance.flatten(), float("inf"))
    flat[scores.argsort()[:count]] = 0
    return flat.reshape(mask.shape)


def l1_unstructured(module: _M, name: str, amount: float, importance_scores: Tensor | None = None) -> _M:
    """Prunes the elements closest to 0.

    Args:
        module: The module that holds the parameter.
        name: The name of the parameter.
        amount: Number of elements to prune (int), or fraction of the remaining elements (float).
        importance_scores: Prunes the elements with the smallest absolute score, instead of the smallest weight.

    >>> layer = lucid.nn.utils.prune.l1_unstructured(lucid.nn.Linear(4, 1), "weight", 0.5)
    >>> int((layer.weight == 0).sum())
    2
    """
    weight, mask = _current(module, name)
    scores = weight if importance_scores is None else importance_scores
    return custom_from_mask(module, name, _lowest(scores.abs(), mask, amount))


def random_unstructured(module: _M, name: str, amount: float) -> _M:
    """Prunes random elements. `amount` is a count (int) or a fraction of the remaining elements (float).

    >>> layer = lucid.nn.utils.prune.random_unstructured(lucid.nn.Linear(4, 1), "weight", 3)
    >>> int((layer.weight == 0).sum())
    3
    """
    weight, mask = _current(module, name)
    return custom_from_mask(module, name, _lowest(weight.new_empty(weight.shape).uniform_(), mask, amount))


def _structured(module: _M, name: str, amount: float, dim: int, norms: Tensor) -> _M:
    weight, mask = _current(module, name)
    shape = [1] * weight.dim()
    shape[dim] = -1
    kept = _lowest(norms, norms.new_ones(norms.shape), amount).reshape(shape)
    return custom_from_mask(module, name, mask * kept)


def ln_structured(module: _M, name: str, amount: float, n: float, dim: int) -> _M:
    """Prunes whole slices along dimension `dim`, those with the smallest n-norm.

    `amount` is the number of slices (int) or a fraction of them (float).

    >>> layer = lucid.nn.utils.prune.ln_structured(lucid.nn.Linear(4, 2), "weight", 1, n=2, dim=0)
    >>> int((layer.weight == 0).all(1).sum())
    1
    """
    weight, _ = _current(module, name)
    others = [d for d in range(weight.dim()) if d != dim % weight.dim()]
    return _structured(module, name, amount, dim, _core.ops["norm"](weight, float(n), others))


def random_structured(module: _M, name: str, amount: float, dim: int) -> _M:
    """Prunes random whole slices along dimension `dim`.

    `amount` is the number of slices (int) or a fraction of them (float).

    >>> layer = lucid.nn.utils.prune.random_structured(lucid.nn.Linear(4, 2), "weight", 1, dim=0)
    >>> int((layer.weight == 0).all(1).sum())
    1
    """
    weight, _ = _current(module, name)
    return _structured(module, name, amount, dim, weight.new_empty(weight.shape[dim]).uniform_())


def global_l1_unstructured(parameters: Iterable[tuple[Module, str]], amount: float) -> None:
    """Prunes the elements closest to 0 among all given (module, name) parameters together.

    >>> a, b = lucid.nn.Linear(4, 1), lucid.nn.Linear(4, 1)
    >>> lucid.nn.utils.prune.global_l1_unstructured([(a, "weight"), (b, "weight")], 4)
    >>> int((a.weight == 0).sum() + (b.weight == 0).sum())
    4
    """
    listed = list(parameters)
    current = [_current(module, name) for module, name in listed]
    importance = _core.ops["cat"]([weight.abs().flatten() for weight, _ in current])
    masks = _lowest(importance, _core.ops["cat"]([mask.flatten() for _, mask in current]), amount)
    begin = 0
    for (module, name), (weight, _) in zip(listed, current):
        custom_from_mask(module, name, masks[begin : begin + weight.numel()].reshape(weight.shape))
        begin += weight.numel()


def identity(module: _M, name: str) -> _M:
    """Adds a mask of ones to a parameter, without pruning any element.

    >>> layer = lucid.nn.utils.prune.identity(lucid.nn.Linear(2, 1), "weight")
    >>> lucid.nn.utils.prune.is_pruned(layer)
    True
    """
    weight, _ = _current(module, name)
    return custom_from_mask(module, name, weight.new_ones(weight.shape))


def remove(module: _M, name: str) -> _M:
    """Makes the pruned weight an ordinary parameter again. Pruned elements stay 0.

    >>> layer = lucid.nn.utils.prune.l1_unstructured(lucid.nn.Linear(4, 1), "weight", 0.5)
    >>> sorted(lucid.nn.utils.prune.remove(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    hook = _remove(module, _Pruning, name)
    weight = hook.compute(module).detach()
    for part in (name, name + "_orig", name + "_mask"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight))
    return module


def is_pruned(module: Module) -> bool:
    """Returns whether the module or a submodule has a pruned parameter.

    >>> lucid.nn.utils.prune.is_pruned(lucid.nn.Linear(2, 1))
    False
    """
    return any(isinstance(hook, _Pruning) for part in module.modules() for _, hook, *_ in part._hook_list())
