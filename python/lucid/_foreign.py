"""Arguments that programs pass by mistake or habit: tensors of other libraries, and no tensors at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core, _effects
from ._core import Tensor

_effects.pure_module()


def own_tensor(value: Any) -> Any:
    """Returns the tensor with the elements of an array of any library. Other objects are returned as they are."""
    if isinstance(value, Tensor):
        return value
    if getattr(value, "requires_grad", None) is True and hasattr(value, "detach"):
        value = value.detach()
    tensor = _core.from_array(value)
    return value if tensor is None else tensor


def is_foreign_tensor(value: Any) -> bool:
    """Whether an object is a tensor of another library, such as PyTorch, or an array of NumPy."""
    return not isinstance(value, Tensor) and hasattr(type(value), "__dlpack__")


def own_tensors(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """own_tensor() of all values of a dict."""
    return {key: own_tensor(value) for key, value in values.items()}


def check_iterable(function: str, params: Any, first: str, second: str) -> None:
    """Raises TypeError, with the remedy, for what is often passed in place of parameters.

    `first` and `second` are the arguments of a right call: the parameters and, up to its value, a number.
    """
    wanted = f"{function}: the parameters must be an iterable of tensors, not"
    if isinstance(params, int | float):
        raise TypeError(
            f"{wanted} the number {params}; the arguments are swapped: write {function}({first}, {second}{params})"
        )
    if isinstance(params, _core.Module):
        raise TypeError(f"{wanted} a module; use module.parameters()")
    # Not by isinstance(): the first answer of an abstract class for a type runs code that looks names up.
    is_iterable = hasattr(type(params), "__iter__")
    if callable(params) and not is_iterable:
        raise TypeError(f"{wanted} a function; call it: parameters()")
    if isinstance(params, str) or not is_iterable:
        raise TypeError(f"{wanted} {_core.describe(params)}")
