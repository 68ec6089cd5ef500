"""Custom functions with their own gradients."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from .._core import FunctionCtx, Tensor

_effects.pure_module()


class Function:
    """The base class of custom differentiable functions. Define forward and backward, and call `apply`.

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

    In forward and backward, `ctx` has `save_for_backward`, `saved_tensors`, `needs_input_grad`,
    `mark_non_differentiable` and `set_materialize_grads`, and accepts any other attribute. If the class defines
    `setup_context(ctx, inputs, output)`, forward is called without ctx.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Computes the result, a tensor or several. Its ops are not recorded."""
        raise NotImplementedError("a Function must define forward")

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor) -> Any:
        """Returns a gradient for each argument of forward, or None for arguments without one."""
        raise NotImplementedError("a Function must define backward to be differentiated")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Runs forward on the arguments. Gradients of the result are computed by backward."""
        return _core.apply_function(cls, args)


def once_differentiable(function: Any) -> Any:
    """Decorates a backward method that is not differentiable itself: it runs without gradient recording."""
    from ._modes import no_grad

    return no_grad(function)
