"""Lucid's optimizers. What they compute is written once, in the core; here are their arguments."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .._core import Tensor
from .optimizer import Optimizer, Params

_effects.pure_module()


def _options(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor that are options."""
    return {name: value for name, value in values.items() if name not in ("self", "params", "__class__")}


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum, Nesterov's too.

    >>> w = lucid.ones(2, requires_grad=True)
    >>> optimizer = lucid.optim.SGD([w], lr=0.1, momentum=0.9)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 0.9000], requires_grad=True)
    """

    _kind = "SGD"

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
    """Adam: averages of the gradient and of its square, both corrected for starting at zero.

    >>> w = lucid.ones(2, requires_grad=True)
    >>> optimizer = lucid.optim.Adam([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 0.9000], requires_grad=True)
    """

    _kind = "Adam"

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
    """Adam with weight decay that does not pass through the averages.

    >>> w = lucid.ones(2, requires_grad=True)
    >>> optimizer = lucid.optim.AdamW([w], lr=0.1, weight_decay=0.5)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8500, 0.8500], requires_grad=True)
    """

    _kind = "AdamW"

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
    """Divides the gradient by a running average of its magnitude; `centered` subtracts its mean first."""

    _kind = "RMSprop"

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

    _kind = "Adagrad"

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
    """Adam with the largest gradient so far, fading, in place of the average of squares."""

    _kind = "Adamax"

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

    _kind = "NAdam"

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
    """Adam that trusts the average of squares only once it has seen enough of them."""

    _kind = "RAdam"

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
    """Scales the gradient by the ratio of the averages of past updates and gradients."""

    _kind = "Adadelta"

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
    """Follows the sign of the gradient with a step for each element that grows while the sign stays."""

    _kind = "Rprop"

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
    """Averaged stochastic gradient descent; the average is `state[p]["ax"]`."""

    _kind = "ASGD"

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
    """Follows the sign of the gradient mixed with its average."""

    _kind = "Lion"

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
    """Momentum whose update is made nearly orthogonal; for matrices. Give other parameters to AdamW.

    The iteration that orthogonalizes runs in the dtype of the parameter.
    """

    _kind = "Muon"

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
    """A quasi-Newton method for problems without noise. `step` needs a closure, which it calls several times."""

    _kind = "LBFGS"

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
