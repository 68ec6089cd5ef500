"""Numerical checks of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core import Tensor, float64
from ._backward import grad
from ._modes import enable_grad, no_grad


class GradcheckError(RuntimeError):
    """A gradient differs from its numerical approximation."""


def _outputs(result: Any) -> list[Tensor]:
    results = (result,) if isinstance(result, Tensor) else tuple(result)
    return [tensor for tensor in results if isinstance(tensor, Tensor) and tensor.dtype.is_floating_point]


def _numerical(function: Callable[..., Any], inputs: Sequence[Any], which: int, eps: float) -> list[list[list[float]]]:
    """Returns, for each output, the rows d(output) / d(element of the input), by central differences."""
    base = inputs[which].detach()
    flat = base.reshape(-1).tolist()
    columns: list[list[list[float]]] = []
    for i, value in enumerate(flat):
        sides = []
        for moved in (value + eps, value - eps):
            changed = list(flat)
            changed[i] = moved
            arguments = list(inputs)
            arguments[which] = type(base)(changed, dtype=float64).reshape(base.shape)
            with no_grad():
                sides.append([tensor.detach().reshape(-1).tolist() for tensor in _outputs(function(*arguments))])
        columns.append([[(a - b) / (2 * eps) for a, b in zip(up, down)] for up, down in zip(*sides)])
    if not columns:
        return []
    return [[column[o] for column in columns] for o in range(len(columns[0]))]


def gradcheck(
    function: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compares the gradients of a function with central differences.

    Args:
        function: The function to check. It returns a tensor or several.
        inputs: Its arguments. Tensors that require grad are checked and must be float64.
        eps: Step of the differences.
        atol: Absolute tolerance.
        rtol: Relative tolerance.
        raise_exception: Whether a mismatch raises GradcheckError instead of returning False.

    >>> x = lucid.tensor([0.5, 1.5], dtype=lucid.float64, requires_grad=True)
    >>> lucid.autograd.gradcheck(lambda x: x.exp(), x)
    True
    """
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [i for i, x in enumerate(arguments) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck: no input requires grad")
    for i in checked:
        if arguments[i].dtype is not float64:
            raise ValueError(f"gradcheck: input {i} is {arguments[i].dtype}; numerical gradients need float64")
    with enable_grad():
        outputs = _outputs(function(*arguments))
    for i in checked:
        numerical = _numerical(function, arguments, i, eps)
        for o, output in enumerate(outputs):
            for row in range(output.numel()):
                found: Tensor | None = None
                if output.requires_grad:
                    one = [0.0] * output.numel()
                    one[row] = 1.0
                    weight = type(output.detach())(one, dtype=float64).reshape(output.shape)
                    (found,) = grad(output, arguments[i], weight, retain_graph=True, allow_unused=True)
                count = arguments[i].numel()
                analytical = [0.0] * count if found is None else found.detach().reshape(-1).tolist()
                for column in range(count):
                    expected, actual = numerical[o][column][row], analytical[column]
                    if not abs(expected - actual) <= atol + rtol * abs(expected):
                        if not raise_exception:
                            return False
                        raise GradcheckError(
                            f"gradcheck: d(output {o})[{row}] / d(input {i})[{column}] is {actual:.8g} by backward, "
                            f"{expected:.8g} by central differences"
                        )
    return True
