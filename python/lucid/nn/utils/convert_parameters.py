"""Conversion between parameters and one flat vector."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _core, _effects
from ..._core import Tensor

_effects.pure_module()


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenates the elements of all parameters into one vector.

    >>> lucid.nn.utils.parameters_to_vector([lucid.ones(2), lucid.zeros(1, 1)])
    tensor([1., 1., 0.])
    """
    return _core.ops["cat"]([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Replaces the data of the parameters with views of consecutive parts of a vector.

    >>> x = lucid.nn.Parameter(lucid.zeros(1, 2))
    >>> lucid.nn.utils.vector_to_parameters(lucid.ones(2), [x])
    >>> x.detach()
    tensor([[1., 1.]])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: expected a tensor, not {type(vec)}")
    listed = list(parameters)
    wanted = sum(parameter.numel() for parameter in listed)
    if vec.numel() != wanted:
        raise ValueError(f"vector_to_parameters: the vector has {vec.numel()} elements, the parameters have {wanted}")
    begin = 0
    for parameter in listed:
        end = begin + parameter.numel()
        parameter.data = vec[begin:end].detach().view(parameter.shape)
        begin = end
