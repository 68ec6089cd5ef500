"""Optimizers. Their constructors follow from the signatures in C++, which implements the updates.

`foreach`, `fused`, `capturable` and `differentiable` are accepted for compatibility with PyTorch and have no effect.
"""

from __future__ import annotations

from typing import Any

from .. import _effects
from .._core import Tensor
from .optimizer import Optimizer, Params

_effects.pure_module()


def _options(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the options among the arguments of a constructor."""
    return {name: value for name, value in values.items() if name not in ("self", "params", "__class__")}


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum.

    Args:
        params: Parameters to optimize, or dicts that describe groups.
        lr: Learning rate.
        momentum: Decay of the running sum of gradients; 0 for none.
        dampening: Fraction of the gradient left out of the running sum.
        weight_decay: Coefficient of an L2 penalty.
        nesterov: Whether to use Nesterov momentum.
        maximize: Whether to maximize the objective instead.

    >>> w = lucid.ones(2, requires_grad=True)
    >>> optimizer = lucid.optim.SGD([w], lr=0.1, momentum=0.9)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, _options(locals()))


class Adam(Optimizer):
    """Adam: scales the running mean of the gradient by the root of the running mean of its square.

    Args:
        params: Parameters to optimize, or dicts that describe groups.
        lr: Learning rate.
        betas: Decay of the running means of the gradient and of its square, which are corrected for their initial bias.
        eps: Added to the denominator for numerical stability.
        weight_decay: Coefficient of an L2 penalty, or of decoupled weight decay if `decoupled_weight_decay`.
        amsgrad: Whether to use the maximum of all mean squares so far.
        maximize: Whether to maximize the objective instead.

    >>> w = lucid.ones(2, requires_grad=True)
    >>> optimizer = lucid.optim.Adam([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 0.9000], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class AdamW(Optimizer):
    """Adam with decoupled weight decay, which does not enter the running means. Takes the same arguments as Adam.

    >>> w = lucid.ones(2, requires_grad=True)
    >>> optimizer = lucid.optim.AdamW([w], lr=0.1, weight_decay=0.5)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8500, 0.8500], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, _options(locals()))


class RMSprop(Optimizer):
    """Divides the gradient by the root of a running mean of its square.

    `centered` uses the running variance instead of the mean square.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class Adagrad(Optimizer):
    """Divides the gradient by the root of the sum of all its squares so far."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, _options(locals()))


class Adamax(Optimizer):
    """Adam with an exponentially decaying maximum of the gradient's magnitude instead of the mean square."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class NAdam(Optimizer):
    """Adam with Nesterov momentum."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class RAdam(Optimizer):
    """Rectified Adam: divides by the root mean square only once it is based on enough gradients."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class Adadelta(Optimizer):
    """Scales the gradient by the ratio of the root mean squares of past updates and past gradients."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class Rprop(Optimizer):
    """Resilient backpropagation: uses only the sign of the gradient, with a step size per element.

    A step size grows while the sign stays the same, and shrinks when it changes.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class ASGD(Optimizer):
    """Averaged stochastic gradient descent. The averaged parameter is `state[p]["ax"]`."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class Lion(Optimizer):
    """Uses the sign of an interpolation between the gradient and its running mean."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, _options(locals()))


class Muon(Optimizer):
    """Momentum with orthogonalized updates, for matrices. Use AdamW for other parameters.

    A Newton-Schulz iteration orthogonalizes the update, in the dtype of the parameter.

    Args:
        ns_coefficients: Of the polynomial of a Newton-Schulz step.
        adjust_lr_fn: 'original' or 'match_rms_adamw'.
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(params, _options(locals()))


class LBFGS(Optimizer):
    """A quasi-Newton method for deterministic objectives. `step` requires a closure, which it calls several times."""

    # By hand: max_eval follows from max_iter.
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, _options(locals()))
