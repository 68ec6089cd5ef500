"""Dtypes and tensors of Lucid as those of ONNX, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ._package import onnx_package

# TensorProto.DataType, which never changes.
_NAMES = {1: "float32", 2: "uint8", 3: "int8", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16"}
_NAMES |= {11: "float64", 16: "bfloat16"}
DTYPES: dict[int, _core.dtype] = {number: getattr(_core, name) for number, name in _NAMES.items()}
NUMBERS = {dtype: number for number, dtype in DTYPES.items()}
# NumPy lacks bfloat16.
ARRAY_TYPES: dict[_core.dtype, Any] = {
    DTYPES[number]: np.dtype(name).type for number, name in _NAMES.items() if name != "bfloat16"
}

FLOATS = frozenset({_core.float16, _core.bfloat16, _core.float32, _core.float64})
HALVES = frozenset({_core.float16, _core.bfloat16})
_SMALL = frozenset({_core.uint8, _core.int8, _core.int16, _core.bool})


def is_float(dtype: _core.dtype) -> bool:
    return dtype in FLOATS


def computing(dtype: _core.dtype) -> _core.dtype:
    """A dtype in which runtimes compute numbers of a dtype: few have kernels for small integers."""
    return _core.int32 if dtype in _SMALL else dtype


def widened(dtype: _core.dtype) -> _core.dtype:
    """The dtype in which floats are computed that are rounded to a dtype."""
    return _core.float32 if dtype in HALVES else dtype


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
    array = (tensor.to(_core.float32) if tensor.dtype is _core.bfloat16 else tensor).numpy()
    return numbers_proto(array, tensor.dtype, name)


def numbers_proto(values: Any, dtype: _core.dtype, name: str = "") -> Any:
    """Numbers as a TensorProto."""
    array = np.asarray(values).astype(ARRAY_TYPES.get(dtype, np.float32), copy=False)
    data = (rounded_to_bfloat16(array) if dtype is _core.bfloat16 else np.ascontiguousarray(array)).tobytes()
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
