"""Tensors that belong to modules."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from .._core import Tensor

_effects.pure_module()


class Parameter(Tensor):
    """A tensor that is trained. Assigned to an attribute of a module, it becomes one of the module's parameters.

    Args:
        data: The initial value. The parameter shares its memory if it is a tensor.
        requires_grad: Whether gradients are computed for it.

    >>> layer = lucid.nn.Module()
    >>> layer.scale = lucid.nn.Parameter(lucid.ones(2))
    >>> [name for name, _ in layer.named_parameters()]
    ['scale']
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        tensor = Tensor() if data is None else _core.as_tensor(data)
        parameter: Parameter = _core.as_parameter(cls, tensor, requires_grad)
        return parameter

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __str__ = __repr__


class Buffer(Tensor):
    """A tensor that is part of a module's state but is not trained.

    Assigned to an attribute of a module, it becomes one of the module's buffers. state_dict() contains it if it is
    `persistent`.

    >>> layer = lucid.nn.Module()
    >>> layer.count = lucid.nn.Buffer(lucid.zeros(1), persistent=False)
    >>> list(layer.state_dict())
    []
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        tensor = Tensor() if data is None else _core.as_tensor(data)
        buffer: Buffer = _core.as_parameter(cls, tensor, False)
        buffer.persistent = persistent
        return buffer
