"""Setting weights to zero for good: a parameter `weight` becomes `weight_orig` times a buffer `weight_mask`."""

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
    def __init__(self, name: str) -> None:
        self.name = name
        self.handle: Any = None

    def compute(self, module: Module) -> Tensor:
        weight: Tensor = getattr(module, self.name + "_orig") * getattr(module, self.name + "_mask")
        return weight


def _count(amount: float, total: int) -> int:
    """How many of so many elements an amount is: a number of them, or a fraction."""
    if isinstance(amount, int):
        if not 0 <= amount <= total:
            raise ValueError(f"prune: cannot prune {amount} of {total}")
        return amount
    if not 0 <= amount <= 1:
        raise ValueError(f"prune: a fraction must be between 0 and 1, got {amount}")
    return round(amount * total)


def _current(module: Module, name: str) -> tuple[Tensor, Tensor]:
    """The weight and its mask so far."""
    weight = getattr(module, name).detach()
    mask = getattr(module, name + "_mask", None)
    return weight, weight.new_ones(weight.shape) if mask is None else mask


def custom_from_mask(module: _M, name: str, mask: Tensor) -> _M:
    """Prunes where the mask is 0.

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
    """The mask without those of its elements that matter least."""
    flat = mask.flatten().clone()
    left = int(flat.sum().item())
    count = _count(amount, left)
    scores = _core.ops["where"](flat != 0, importance.flatten(), float("inf"))
    flat[scores.argsort()[:count]] = 0
    return flat.reshape(mask.shape)


def l1_unstructured(module: _M, name: str, amount: float, importance_scores: Tensor | None = None) -> _M:
    """Prunes the elements nearest to 0: so many of them, or a fraction.

    >>> layer = lucid.nn.utils.prune.l1_unstructured(lucid.nn.Linear(4, 1), "weight", 0.5)
    >>> int((layer.weight == 0).sum())
    2
    """
    weight, mask = _current(module, name)
    scores = weight if importance_scores is None else importance_scores
    return custom_from_mask(module, name, _lowest(scores.abs(), mask, amount))


def random_unstructured(module: _M, name: str, amount: float) -> _M:
    """Prunes elements at random.

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
    """Prunes the whole parts along a dimension whose n-norm is least.

    >>> layer = lucid.nn.utils.prune.ln_structured(lucid.nn.Linear(4, 2), "weight", 1, n=2, dim=0)
    >>> int((layer.weight == 0).all(1).sum())
    1
    """
    weight, _ = _current(module, name)
    others = [d for d in range(weight.dim()) if d != dim % weight.dim()]
    return _structured(module, name, amount, dim, _core.ops["norm"](weight, float(n), others))


def random_structured(module: _M, name: str, amount: float, dim: int) -> _M:
    """Prunes whole parts along a dimension at random.

    >>> layer = lucid.nn.utils.prune.random_structured(lucid.nn.Linear(4, 2), "weight", 1, dim=0)
    >>> int((layer.weight == 0).all(1).sum())
    1
    """
    weight, _ = _current(module, name)
    return _structured(module, name, amount, dim, weight.new_empty(weight.shape[dim]).uniform_())


def global_l1_unstructured(parameters: Iterable[tuple[Module, str]], amount: float) -> None:
    """Prunes the elements nearest to 0 among several parameters together.

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
    """Prepares a parameter for pruning without pruning anything.

    >>> layer = lucid.nn.utils.prune.identity(lucid.nn.Linear(2, 1), "weight")
    >>> lucid.nn.utils.prune.is_pruned(layer)
    True
    """
    weight, _ = _current(module, name)
    return custom_from_mask(module, name, weight.new_ones(weight.shape))


def remove(module: _M, name: str) -> _M:
    """Makes the pruned weight an ordinary parameter.

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
    """Whether the module or one below it is pruned.

    >>> lucid.nn.utils.prune.is_pruned(lucid.nn.Linear(2, 1))
    False
    """
    return any(isinstance(hook, _Pruning) for part in module.modules() for _, hook, *_ in part._hook_list())
