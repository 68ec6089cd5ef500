"""Operations with a gradient of their own."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from .._core import FunctionCtx, Tensor

_effects.pure_module()


class Function:
    """An operation whose gradient you write. Subclass it, write both methods, and call `apply`.

    >>> class Cube(lucid.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 3
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * grad
    >>> x = lucid.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)

    Inside forward and backward, `ctx` offers `save_for_backward`, `saved_tensors`, `needs_input_grad`,
    `mark_non_differentiable` and `set_materialize_grads`, and takes any attribute. A class may define
    `setup_context(ctx, inputs, output)`; then forward is called without ctx.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes the result, one tensor or several. Not recorded."""
        raise NotImplementedError("a Function must define forward")

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor) -> Any:
        """Returns a gradient for each argument of forward, None where there is none."""
        raise NotImplementedError("a Function must define backward to be differentiated")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Runs forward; the gradients of its results will go through backward."""
        return _core.apply_function(cls, args)


def once_differentiable(function: Any) -> Any:
    """Decorates a backward that cannot itself be differentiated: it runs without being recorded."""
    from ._modes import no_grad

    return no_grad(function)
