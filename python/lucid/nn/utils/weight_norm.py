"""Reparametrizations: weights that are computed from other parameters before each call."""

from __future__ import annotations

from typing import Any, TypeVar

from ... import _core, _effects
from ..._core import Tensor
from ...autograd import no_grad
from ..module import Module
from ..parameter import Parameter

_effects.pure_module()

_M = TypeVar("_M", bound=Module)


class _Computed:
    """A forward pre-hook that computes a weight."""

    name: str

    def compute(self, module: Module) -> Tensor:
        raise NotImplementedError

    def __call__(self, module: Module, args: Any) -> None:
        module._register_buffer(self.name, self.compute(module), False)


def _install(module: Module, hook: _Computed) -> None:
    for _, other, *_ in module._hook_list():
        if isinstance(other, _Computed) and other.name == hook.name:
            raise RuntimeError(f"'{hook.name}' of {type(module).__name__} is already computed by a hook")
    delattr(module, hook.name)


def _remove(module: Module, kind: type[_Computed], name: str) -> Any:
    """Removes the hook and returns it. The caller removes the weight."""
    hooks = module._hook_list()
    found = [entry for entry in hooks if isinstance(entry[1], kind) and entry[1].name == name]
    if not found:
        raise ValueError(f"'{name}' of {type(module).__name__} has no {kind.__name__.strip('_')}")
    hook: Any = found[0][1]
    hook.handle.remove()
    return hook


def _norm_except(tensor: Tensor, dim: int | None) -> Tensor:
    if dim is None:
        return _core.ops["norm"](tensor)
    others = [d for d in range(tensor.dim()) if d != dim % tensor.dim()]
    return _core.ops["norm"](tensor, 2.0, others, True) if others else tensor.abs()


class _WeightNorm(_Computed):
    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim
        self.handle: Any = None

    def compute(self, module: Module) -> Tensor:
        length = getattr(module, self.name + "_g")
        direction = getattr(module, self.name + "_v")
        weight: Tensor = direction * (length / _norm_except(direction, self.dim))
        return weight


def weight_norm(module: _M, name: str = "weight", dim: int | None = 0) -> _M:
    """Reparametrizes a weight as a direction `weight_v` and a magnitude `weight_g`.

    There is one magnitude per index of dimension `dim`, or a single one if it is None.

    >>> layer = lucid.nn.utils.weight_norm(lucid.nn.Linear(3, 2))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_g', 'weight_v']
    """
    weight = getattr(module, name)
    hook = _WeightNorm(name, dim)
    with no_grad():
        length = _norm_except(weight, dim)
    _install(module, hook)
    module.register_parameter(name + "_g", Parameter(length.detach()))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    hook.handle = module.register_forward_pre_hook(hook)
    hook(module, None)
    return module


def remove_weight_norm(module: _M, name: str = "weight") -> _M:
    """Replaces direction and magnitude with an ordinary parameter.

    >>> layer = lucid.nn.utils.remove_weight_norm(lucid.nn.utils.weight_norm(lucid.nn.Linear(3, 2)))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    hook = _remove(module, _WeightNorm, name)
    weight = hook.compute(module).detach()
    for part in (name, name + "_g", name + "_v"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight))
    return module


class _SpectralNorm(_Computed):
    def __init__(self, name: str, n_power_iterations: int, eps: float, dim: int) -> None:
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.eps = eps
        self.dim = dim
        self.handle: Any = None

    def matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def unit(self, vector: Tensor) -> Tensor:
        length: Tensor = _core.ops["norm"](vector).clamp(min=self.eps)
        return vector / length

    def compute(self, module: Module) -> Tensor:
        weight = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if module.training:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(self.unit(matrix.T @ u))
                    u.copy_(self.unit(matrix @ v))
        sigma = u.clone().dot(matrix @ v.clone())
        result: Tensor = weight / sigma
        return result


def spectral_norm(
    module: _M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> _M:
    """Divides a weight by its largest singular value. Power iterations estimate it in training mode.

    Args:
        module: The module that holds the parameter.
        name: The name of the parameter.
        n_power_iterations: Power iterations per call.
        eps: Lower bound of norms that vectors are divided by.
        dim: The output dimension; by default 1 for transposed convolutions and 0 for other modules.

    >>> layer = lucid.nn.utils.spectral_norm(lucid.nn.Linear(3, 2))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    weight = getattr(module, name)
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    hook = _SpectralNorm(name, n_power_iterations, eps, dim)
    matrix = hook.matrix(weight.detach())
    _install(module, hook)
    module.register_parameter(name + "_orig", Parameter(weight.detach()))
    u, v = matrix.new_empty(matrix.shape[0]).normal_(), matrix.new_empty(matrix.shape[1]).normal_()
    module.register_buffer(name + "_u", hook.unit(u))
    module.register_buffer(name + "_v", hook.unit(v))
    hook.handle = module.register_forward_pre_hook(hook)
    module._register_buffer(name, weight.detach(), False)
    return module


def remove_spectral_norm(module: _M, name: str = "weight") -> _M:
    """Replaces the parametrization with an ordinary parameter that holds the normalized weight.

    >>> layer = lucid.nn.utils.remove_spectral_norm(lucid.nn.utils.spectral_norm(lucid.nn.Linear(3, 2)))
    >>> sorted(layer.state_dict())
    ['bias', 'weight']
    """
    hook = _remove(module, _SpectralNorm, name)
    training, module.training = module.training, False
    weight = hook.compute(module).detach()
    module.training = training
    for part in (name, name + "_orig", name + "_u", name + "_v"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight))
    return module
