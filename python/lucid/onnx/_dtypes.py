"""Dtypes and tensors of Lucid as those of ONNX, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ._package import onnx_package

# TensorProto.DataType, which never changes.
NUMBERS = {
    _core.float32: 1,
    _core.uint8: 2,
    _core.int8: 3,
    _core.int16: 5,
    _core.int32: 6,
    _core.int64: 7,
    _core.bool: 9,
    _core.float16: 10,
    _core.float64: 11,
    _core.bfloat16: 16,
}
DTYPES = {number: dtype for dtype, number in NUMBERS.items()}

ARRAY_TYPES: dict[_core.dtype, Any] = {
    _core.float32: np.float32,
    _core.uint8: np.uint8,
    _core.int8: np.int8,
    _core.int16: np.int16,
    _core.int32: np.int32,
    _core.int64: np.int64,
    _core.bool: np.bool_,
    _core.float16: np.float16,
    _core.float64: np.float64,
}

FLOATS = frozenset({_core.float16, _core.bfloat16, _core.float32, _core.float64})
HALVES = frozenset({_core.float16, _core.bfloat16})


def name_of(number: int) -> str:
    """The name of an ONNX data type, for messages."""
    kinds = onnx_package().TensorProto.DataType
    return str(kinds.Name(number)) if number in kinds.values() else f"data type {number}"


def dtype_of(number: int) -> _core.dtype:
    """The dtype of an ONNX data type. Raises NotImplementedError if Lucid has none."""
    found = DTYPES.get(number)
    if found is None:
        raise NotImplementedError(f"lucid.onnx: Lucid has no dtype for ONNX's {name_of(number)}")
    return found


def rounded_to_bfloat16(array: Any) -> Any:
    """The bits of float32 numbers, rounded to bfloat16, as uint16."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(array), np.uint16(0x7FC0), rounded)


def to_proto(tensor: _core.Tensor, name: str) -> Any:
    """A tensor as a TensorProto."""
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype is _core.bfloat16:
        data = rounded_to_bfloat16(tensor.to(_core.float32).numpy()).tobytes()
    else:
        data = tensor.numpy().tobytes()
    proto = onnx_package().TensorProto
    return proto(name=name, data_type=NUMBERS[tensor.dtype], dims=list(tensor.shape), raw_data=data)


def numbers_proto(values: Any, dtype: _core.dtype, name: str = "") -> Any:
    """Numbers as a TensorProto."""
    if dtype is _core.bfloat16:
        array = np.asarray(values, np.float32)
        data = rounded_to_bfloat16(array).tobytes()
    else:
        array = np.asarray(values).astype(ARRAY_TYPES[dtype])
        data = np.ascontiguousarray(array).tobytes()
    proto = onnx_package().TensorProto
    return proto(name=name, data_type=NUMBERS[dtype], dims=list(array.shape), raw_data=data)


def is_exact(value: Any, dtype: _core.dtype) -> bool:
    """Whether a number has this value in a dtype of floats."""
    value = float(value)
    if value != value or value in (float("inf"), float("-inf")):
        return True
    if dtype is _core.float64:
        return True
    with np.errstate(over="ignore"):
        if dtype is _core.bfloat16:
            bits = rounded_to_bfloat16(np.float32(value)).astype(np.uint32) << np.uint32(16)
            return bool(float(bits.view(np.float32)) == value)
        return bool(float(ARRAY_TYPES[dtype](value)) == value)
