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


@_effects.backward
def backward(
    tensors: _Tensors,
    grad_tensors: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: _Tensors | None = None,
) -> None:
    """Computes the gradients of tensors and adds them to the `.grad` of the leaves that they depend on.

    Args:
        tensors: The tensors to differentiate.
        grad_tensors: The gradient of each tensor; may be left out for tensors with one element.
        retain_graph: Whether to keep the graph for another backward pass. By default, if `create_graph`.
        create_graph: Whether to record the backward pass, for higher derivatives.
        inputs: The leaves to accumulate gradients into; by default all.

    >>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
    >>> lucid.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    outputs = _as_tuple(tensors)
    gradients = _as_tuple(grad_tensors)
    if inputs is not None and not _as_tuple(inputs):
        raise RuntimeError("backward: inputs is empty; omit it to accumulate into all leaves")
    if gradients and len(gradients) != len(outputs):
        raise RuntimeError(f"backward: got {len(gradients)} gradients for {len(outputs)} tensors")
    _core.backward(
        outputs,
        gradients or (None,) * len(outputs),
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        _as_tuple(inputs),
    )


@_effects.backward
def grad(
    outputs: _Tensors,
    inputs: _Tensors,
    grad_outputs: _Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """Returns the gradients of outputs with respect to inputs. Does not change any `.grad`.

    Args:
        outputs: The tensors to differentiate.
        inputs: The tensors to differentiate with respect to.
        grad_outputs: The gradient of each output; may be left out for outputs with one element.
        retain_graph: Whether to keep the graph for another backward pass. By default, if `create_graph`.
        create_graph: Whether to record the backward pass, for higher derivatives.
        allow_unused: Whether to return None for inputs that the outputs do not depend on, instead of raising an error.

    >>> x = lucid.tensor(3.0, requires_grad=True)
    >>> lucid.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    results = _as_tuple(outputs)
    weights = _as_tuple(grad_outputs)
    if weights and len(weights) != len(results):
        raise RuntimeError(f"grad: got {len(weights)} gradients for {len(results)} outputs")
    return _core.grad(
        results,
        _as_tuple(inputs),
        weights or (None,) * len(results),
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        allow_unused,
    )


@_effects.backward
def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: _Tensors | None = None,
) -> None:
    """Computes the gradients of this tensor and adds them to the `.grad` of the leaves that it depends on.

    Args:
        gradient: The gradient of this tensor; may be left out if it has one element.
        retain_graph: Whether to keep the graph for another backward pass. By default, if `create_graph`.
        create_graph: Whether to record the backward pass, for higher derivatives.
        inputs: The leaves to accumulate gradients into; by default all.

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
    """Registers `hook(gradient)` to run during backward. A result other than None replaces the gradient.

    Returns a handle whose remove() unregisters the hook.
    """
    return _core.register_hook(self, hook)


def _tensor_register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> _core.HookHandle:
    """Registers `hook(tensor)` to run after a gradient is added to this leaf's `.grad`.

    Returns a handle whose remove() unregisters the hook.
    """
    import weakref

    # The tensor owns the hook, so the hook must not own the tensor.
    reference = weakref.ref(self)

    def call(gradient: Tensor) -> None:
        tensor = reference()
        if tensor is not None:
            hook(tensor)

    return _core.register_post_accumulate_hook(self, call)
