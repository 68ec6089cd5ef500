"""Runs exported models: with onnxruntime, and loaded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lucid
import lucid.onnx
import numpy as np
import onnxruntime
from op_samples import Call, as_lucid
from same import Numbers

onnxruntime.set_default_logger_severity(4)


def results_of(value: Any) -> list[lucid.Tensor]:
    return [value] if isinstance(value, lucid.Tensor) else list(value)


def bits(value: Any) -> list[Any]:
    """Results in a form that == compares bit by bit."""
    return [(each.dtype, tuple(each.shape), Numbers(each.contiguous())) for each in results_of(value)]


def run_elsewhere(proto: Any, args: Sequence[lucid.Tensor]) -> list[Any]:
    """The results of onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in proto.graph.input]
    found: list[Any] = session.run(None, {name: arg.detach().numpy() for name, arg in zip(names, args)})
    return found


def error(found: Any, expected: lucid.Tensor, whole: bool = False) -> float:
    """The largest difference, relative to each number above 1 or, with `whole`, to the largest number."""
    array = expected.detach().numpy()
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    if array.dtype.kind != "f":
        assert np.array_equal(found, array)
        return 0.0
    same = (found == array) | (np.isnan(found) & np.isnan(array))
    with np.errstate(invalid="ignore"):
        size = np.abs(array).max(initial=0) if whole else np.abs(array)
        difference = np.where(same, 0, np.abs(found - array) / np.maximum(size, 1))
    return float(np.max(difference, initial=0))


def check(function: Callable[..., Any], args: Sequence[lucid.Tensor], whole: bool = False, **options: Any) -> Any:
    """Exports a call, and compares what onnxruntime and the loaded model compute with what the function does."""
    expected = function(*args)
    proto = lucid.onnx.export(function, tuple(args), **options)
    assert bits(lucid.onnx.load(proto)(*args)) == bits(expected)
    for found, tensor in zip(run_elsewhere(proto, args), results_of(expected), strict=True):
        assert error(found, tensor, whole) <= 1e-5
    return proto


def called(call: Call) -> tuple[Callable[..., Any], list[lucid.Tensor]]:
    """A sample of an op as a function of tensors, and the tensors."""
    arguments = {name: as_lucid(value) for name, value in call.arguments.items()}
    tensors: list[lucid.Tensor] = []
    for value in arguments.values():
        tensors += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, lucid.Tensor)]
    op = lucid._core.ops[call.name]

    def function(*given: lucid.Tensor) -> Any:
        queue = iter(given)

        def replaced(value: Any) -> Any:
            if isinstance(value, list) and value and isinstance(value[0], lucid.Tensor):
                return [next(queue) for _ in value]
            return next(queue) if isinstance(value, lucid.Tensor) else value

        result = op(**{name: replaced(value) for name, value in arguments.items()})
        return result if isinstance(result, lucid.Tensor) else tuple(result)

    return function, tensors
