"""The samples of the op table as arguments of calls: NumPy arrays, numbers and attributes by parameter name."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lucid
import numpy as np

NUMPY_DTYPES = {
    lucid.bool: np.bool_,
    lucid.uint8: np.uint8,
    lucid.int8: np.int8,
    lucid.int16: np.int16,
    lucid.int32: np.int32,
    lucid.int64: np.int64,
    lucid.float16: np.float16,
    lucid.float32: np.float32,
    lucid.float64: np.float64,
}


class BFloat16(np.ndarray):
    """A float32 array whose values are all representable in bfloat16, which NumPy lacks."""


def rounded_to_bfloat16(array: np.ndarray) -> np.ndarray:
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


@dataclass
class Call:
    """A valid call. `arguments` has an entry for each parameter that is not left at its default."""

    op: dict[str, Any]
    sample: int
    dtype: Any
    arguments: dict[str, Any]
    bounds: dict[str, int]  # for index arrays with negative numbers: the size of the indexed dimension

    @property
    def name(self) -> str:
        return str(self.op["name"])

    def run(self, change: Callable[[Any], Any] = lambda value: value) -> Any:
        """Runs the call with Lucid. `change` may replace arrays by tensors."""
        arguments = {name: as_lucid(change(value)) for name, value in self.arguments.items()}
        return lucid._core.ops[self.name](**arguments)

    def __str__(self) -> str:
        return f"{self.name}[{self.sample}] {self.dtype}: {self.arguments}"


def as_lucid(value: Any) -> Any:
    """Converts arrays to tensors on the default device, with the same strides."""
    if isinstance(value, list):
        return [as_lucid(part) for part in value]
    if not isinstance(value, np.ndarray):
        return value
    tensor = lucid.from_numpy(np.asarray(value))
    if isinstance(value, BFloat16):
        tensor = tensor.bfloat16()
    device = lucid.get_default_device()
    if device == tensor.device or tensor.is_contiguous() or 0 in tensor.shape:
        return tensor.to(device)
    # A copy on another device is contiguous: copy the memory, then view it. Detached, it is no view.
    strides = tensor.stride()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, strides))
    memory = np.lib.stride_tricks.as_strided(np.asarray(value), (extent,), (value.itemsize,))
    moved = lucid.from_numpy(memory.copy()).to(device, tensor.dtype)
    return lucid._core.ops["strided_part"](moved, tensor.shape, strides).detach()


def random_values(random: np.random.Generator, fill: str, dtype: np.dtype[Any], count: int, bound: int) -> np.ndarray:
    floating, unsigned = dtype.kind == "f", dtype.kind in "ub"
    normal, unit = random.standard_normal(count), random.uniform(-1, 1, count)
    whole = random.integers
    match fill:
        case "normal":
            return normal if floating else whole(0 if unsigned else -4, 5, count)
        case "positive":
            return 0.5 + abs(normal) if floating else whole(1, 6, count)
        case "large":
            return 1.25 + abs(normal) if floating else whole(2, 7, count)
        case "unit":
            return unit * 0.9 if floating else whole(0 if unsigned else -1, 2, count)
        case "probability":
            return 0.5 + unit * 0.45 if floating else whole(0, 2, count)
        case "sign":
            return np.where(unit > 0, 1, -1)
        case "nonzero":
            size = 0.5 + abs(normal) if floating else whole(1, 5, count)
            return size if unsigned else np.copysign(size, unit)
        case "distinct":
            return np.arange(count) * 37 % 113 * (0.25 if floating else 1)
        case "index":
            return whole(-bound, bound, count)
        case "offset":
            return whole(0, bound, count)
        case "mask":
            return unit > 0
        case "bound":
            return np.full(count, bound)
        case "true_mask":
            return np.ones(count)
    raise ValueError(f"op_samples: no fill {fill}")


@functools.lru_cache(maxsize=1000)
def cached_values(seed: int, fill: str, kind: np.dtype[Any], count: int, bound: int, is_bfloat16: bool) -> np.ndarray:
    memory = random_values(np.random.default_rng(seed), fill, kind, count, bound).astype(kind)
    return rounded_to_bfloat16(memory) if is_bfloat16 else memory


def make_array(tensor: dict[str, Any], dtype: Any, seed: int) -> np.ndarray:
    shape = tensor["shape"]
    dtype = tensor.get("dtype", dtype)
    is_bfloat16 = dtype is lucid.bfloat16
    kind = np.dtype(np.float32 if is_bfloat16 else NUMPY_DTYPES[dtype])
    strides = tensor.get("strides")
    if strides is None:
        strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    spans = [(size - 1) * stride for size, stride in zip(shape, strides)]
    empty = 0 in shape
    first = 0 if empty else -sum(span for span in spans if span < 0)
    count = 0 if empty else 1 + first + sum(span for span in spans if span > 0)
    memory = cached_values(seed, tensor["fill"], kind, count, tensor["bound"], is_bfloat16).copy()
    bytes_each = [stride * kind.itemsize for stride in strides]
    array: np.ndarray = np.ndarray(shape, kind, memory, first * kind.itemsize, bytes_each)
    return array.view(BFloat16) if is_bfloat16 else array


def make_call(op: dict[str, Any], position: int, dtype: Any) -> Call:
    """The sample of the op at index `position`. Tensors whose dtype the sample leaves open have this dtype."""
    sample = op["samples"][position]
    parameters = op["parameters"]
    single = sum(parameter["kind"] == "tensor" for parameter in parameters)
    listed = len(sample["tensors"]) - single
    tensors = iter(enumerate(sample["tensors"]))
    arguments: dict[str, Any] = {}
    bounds: dict[str, int] = {}

    def operand(name: str) -> Any:
        i, tensor = next(tensors)
        if tensor is None:
            return None
        if "number" in tensor:
            return tensor["number"]
        if tensor["fill"] == "index":
            bounds[name] = tensor["bound"]
        return make_array(tensor, dtype, 1000 * position + i)

    for parameter in parameters:
        name = parameter["name"]
        if parameter["kind"] == "tensor":
            arguments[name] = operand(name)
        elif parameter["kind"] == "tensors":
            arguments[name] = [operand(name) for _ in range(listed)]
        elif name in sample["attributes"]:
            arguments[name] = sample["attributes"][name]
    return Call(op, position, dtype, arguments, bounds)


def all_arguments(call: Call) -> dict[str, Any]:
    """The arguments, including defaults."""
    signature = inspect.signature(lucid._core.ops[call.name])
    defaults = {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    return {
        parameter["name"]: call.arguments.get(parameter["name"], defaults.get(parameter["name"]))
        for parameter in call.op["parameters"]
    }
