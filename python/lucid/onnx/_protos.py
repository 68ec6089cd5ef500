"""Reads the messages of an ONNX file. Nothing in a file is trusted."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from .. import _core
from .._formats import HEAD, explained
from ._dtypes import ARRAY_TYPES, DTYPES, name_of
from ._node import HOST_SIZE
from ._package import onnx_package

_MAX_RANK = 32


def fail(reason: str) -> ValueError:
    return ValueError(f"lucid.onnx.load: {reason}")


def read_model(source: Any) -> tuple[Any, str | None]:
    """The message, and the folder in which its external data may be."""
    onnx = onnx_package()
    if isinstance(source, onnx.ModelProto):
        return source, None
    folder = None
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        folder = os.path.dirname(os.path.realpath(path))
        with open(path, "rb") as file:
            source = file.read()
    if not isinstance(source, bytes | bytearray | memoryview):
        raise TypeError(f"lucid.onnx.load expects a path, bytes or an onnx.ModelProto, got {type(source).__name__}")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(bytes(source))
    except Exception as error:
        raise explained("lucid.onnx.load", bytes(source[:HEAD]), fail(f"this is not an ONNX file: {error}")) from None
    if not model.HasField("graph") or not model.opset_import:
        raise explained("lucid.onnx.load", bytes(source[:HEAD]), fail("this is not an ONNX file: it has no graph"))
    return model, folder


def _external(proto: Any, folder: str | None) -> bytes:
    """The bytes of a tensor that are in another file, which must be inside the model's folder."""
    entries = {entry.key: entry.value for entry in proto.external_data}
    location = entries.get("location", "")
    name = f"tensor {proto.name!r}"
    if folder is None:
        raise fail(f"{name} is in the file {location!r}; load the model by its path")
    if not location or os.path.isabs(location) or "\0" in location:
        raise fail(f"{name} is in the file {location!r}, which is not inside the model's folder")
    path = os.path.realpath(os.path.join(folder, location))
    if os.path.commonpath([path, folder]) != folder:
        raise fail(f"{name} is in the file {location!r}, which is not inside the model's folder")
    try:
        offset = int(entries.get("offset", "0") or 0)
        length = int(entries["length"]) if entries.get("length") else -1
    except ValueError:
        raise fail(f"{name} has an offset or a length that is not a number") from None
    if not os.path.isfile(path):
        raise fail(f"{name} is in the file {location!r}, which does not exist")
    size = os.path.getsize(path)
    length = size - offset if length < 0 else length
    if offset < 0 or length < 0 or offset + length > size:
        raise fail(f"{name} is not inside the file {location!r}, which has {size} bytes")
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(length)


def read_tensor(proto: Any, folder: str | None) -> Any:
    """A tensor: an array if it is small and NumPy has its dtype, else a Tensor."""
    onnx = onnx_package()
    dtype = DTYPES.get(proto.data_type)
    name = f"tensor {proto.name!r}"
    if dtype is None:
        raise NotImplementedError(f"lucid.onnx.load: {name} has the data type {name_of(proto.data_type)}")
    dims = list(proto.dims)
    if len(dims) > _MAX_RANK or any(dim < 0 for dim in dims):
        raise fail(f"{name} has the shape {dims}")
    if proto.HasField("segment"):
        raise fail(f"{name} is in segments")
    count = math.prod(dims)
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        raw: bytes | None = _external(proto, folder)
    else:
        raw = proto.raw_data if proto.HasField("raw_data") else None
    half = dtype is _core.bfloat16
    kind = np.dtype(np.uint16 if half else ARRAY_TYPES[dtype])
    if raw is not None:
        if len(raw) != count * kind.itemsize:
            raise fail(f"{name} has {len(raw)} bytes, but its shape {dims} needs {count * kind.itemsize}")
        found = np.frombuffer(raw, kind.newbyteorder("<")).reshape(dims).astype(kind)
    else:
        found = _typed(proto, dtype, kind, count, name).reshape(dims)
    if half:
        bits = found.astype(np.uint32) << np.uint32(16)
        return _core.tensor(bits.view(np.float32)).to(_core.bfloat16)
    return found if count <= HOST_SIZE else _core.tensor(found)


def _typed(proto: Any, dtype: _core.dtype, kind: Any, count: int, name: str) -> Any:
    """The elements of the field that a data type uses."""
    fields: dict[_core.dtype, tuple[Any, Any]] = {
        _core.float32: (proto.float_data, np.float32),
        _core.float64: (proto.double_data, np.float64),
        _core.int64: (proto.int64_data, np.int64),
    }
    field, wide = fields.get(dtype, (proto.int32_data, np.int32))
    if len(field) != count:
        raise fail(f"{name} has {len(field)} elements, but its shape {list(proto.dims)} needs {count}")
    values = np.array(field, wide)
    if dtype in (_core.float16, _core.bfloat16):
        # Their bits, as integers.
        return values.astype(np.uint16).view(kind)
    return values.astype(kind)


def read_attributes(attributes: Any, folder: str | None, given: dict[str, Any], label: str) -> dict[str, Any]:
    """The values of attributes. Those that refer to attributes of a function have the values `given`."""
    onnx = onnx_package()
    kinds = onnx.AttributeProto
    found: dict[str, Any] = {}
    for attribute in attributes:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in given:
                found[attribute.name] = given[attribute.ref_attr_name]
            continue
        match attribute.type:
            case kinds.FLOAT:
                value: Any = float(attribute.f)
            case kinds.INT:
                value = int(attribute.i)
            case kinds.STRING:
                value = _text(attribute.s, label)
            case kinds.TENSOR:
                value = read_tensor(attribute.t, folder)
            case kinds.FLOATS:
                value = [float(each) for each in attribute.floats]
            case kinds.INTS:
                value = [int(each) for each in attribute.ints]
            case kinds.STRINGS:
                value = [_text(each, label) for each in attribute.strings]
            case _:
                raise NotImplementedError(
                    f"lucid.onnx.load: {label} has the attribute {attribute.name!r}, which is a graph"
                )
        found[attribute.name] = value
    return found


def _text(data: bytes, label: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise fail(f"{label} has text that is not UTF-8") from None
