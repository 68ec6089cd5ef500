"""Backward passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _core, _effects
from .._core import Tensor

_effects.pure_module()

_Tensors = Tensor | Sequence[Tensor]
_Gradients = Tensor | Sequence[Tensor | None] | None


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, Tensor) else tuple(value)


def backward(
    tensors: _Tensors,
    grad_tensors: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: _Tensors | None = None,
) -> None:
    """Adds the gradients of tensors to the `.grad` of the leaves they depend on, or only of `inputs`.

    >>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
    >>> lucid.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    outputs = _as_tuple(tensors)
    gradients = _as_tuple(grad_tensors)
    if inputs is not None and not _as_tuple(inputs):
        raise RuntimeError("backward: inputs is empty; leave it out to reach all leaves")
    if gradients and len(gradients) != len(outputs):
        raise RuntimeError(f"backward: {len(outputs)} tensors need as many gradients, got {len(gradients)}")
    _core.backward(
        outputs,
        gradients or (None,) * len(outputs),
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        _as_tuple(inputs),
    )


def grad(
    outputs: _Tensors,
    inputs: _Tensors,
    grad_outputs: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of outputs with respect to inputs, weighted by grad_outputs; `.grad` stays as it is.

    >>> x = lucid.tensor(3.0, requires_grad=True)
    >>> lucid.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    results = _as_tuple(outputs)
    weights = _as_tuple(grad_outputs)
    if weights and len(weights) != len(results):
        raise RuntimeError(f"grad: {len(results)} outputs need as many gradients, got {len(weights)}")
    return _core.grad(
        results,
        _as_tuple(inputs),
        weights or (None,) * len(results),
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        allow_unused,
    )


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: _Tensors | None = None,
) -> None:
    """Adds the gradients of this tensor to the `.grad` of the leaves it depends on.

    >>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """
    if inputs is not None:
        return backward(self, gradient, retain_graph, create_graph, inputs)
    keep = create_graph if retain_graph is None else retain_graph
    return _core.backward((self,), (gradient,), keep, create_graph, ())


def _tensor_register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> _core.HookHandle:
    """Calls hook(gradient) during backward; what it returns, if not None, replaces the gradient.

    The returned object's remove() takes the hook away.
    """
    return _core.register_hook(self, hook)


def _tensor_register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> _core.HookHandle:
    """Calls hook(tensor) after a gradient was added to this leaf's `.grad`."""
    import weakref

    # The hook lives in the tensor, so it must not keep it alive.
    reference = weakref.ref(self)

    def call(gradient: Tensor) -> None:
        tensor = reference()
        if tensor is not None:
            hook(tensor)

    return _core.register_post_accumulate_hook(self, call)
