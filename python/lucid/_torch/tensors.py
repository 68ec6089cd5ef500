"""The names that files of torch.save may mention: constructors of tensors and containers, storages and dtypes."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from .. import Tensor, _core, _dtypes, empty, no_grad, strided_part, tensor
from ..nn import Parameter
from .archive import Bytes
from .pickles import Constructor, Internal, Keys, Name, make_frozen_set, make_set

# For each dtype, the names of PyTorch's storages and the formats of NumPy.
_DTYPES = {
    "bool": (_dtypes.bool, "BoolStorage", "u1"),
    "uint8": (_dtypes.uint8, "ByteStorage", "u1"),
    "int8": (_dtypes.int8, "CharStorage", "i1"),
    "int16": (_dtypes.int16, "ShortStorage", "i2"),
    "int32": (_dtypes.int32, "IntStorage", "i4"),
    "int64": (_dtypes.int64, "LongStorage", "i8"),
    "float16": (_dtypes.float16, "HalfStorage", "f2"),
    "bfloat16": (_dtypes.bfloat16, "BFloat16Storage", "u2"),
    "float32": (_dtypes.float32, "FloatStorage", "f4"),
    "float64": (_dtypes.float64, "DoubleStorage", "f8"),
}
_FORMATS = {dtype: form for dtype, _, form in _DTYPES.values()}
# Dtypes that Lucid does not have.
_OTHER_DTYPES = (
    *("complex32", "complex64", "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"),
    *("float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2"),
    *("quint8", "qint8", "qint32", "quint4x2", "quint2x4"),
)
_OTHER_STORAGES = (
    *("ComplexFloatStorage", "ComplexDoubleStorage", "QUInt8Storage", "QInt8Storage", "QInt32Storage"),
    *("QUInt4x2Storage", "QUInt2x4Storage"),
)
_MAX_RANK = 64
_MAX_BYTES = (1 << 63) - 1


class StorageType(Name):
    """The class of a storage. `dtype` is None if Lucid has no such dtype."""

    def __init__(self, name: str, dtype: _core.dtype | None) -> None:
        super().__init__(name)
        self.dtype = dtype


class Storage(Internal):
    """A one-dimensional block of memory that tensors are views of. It is read when its first tensor is built."""

    name = "a storage without a tensor"

    def __init__(self, type: StorageType, key: str, numel: int) -> None:
        self.type = type
        self.key = key
        self.numel = numel
        self.memory: Tensor | None = None

    @property
    def nbytes(self) -> int:
        return self.numel * (self.type.dtype.itemsize if self.type.dtype else 1)


class Reader(Protocol):
    """Returns the bytes of a storage, whose number is `storage.nbytes`."""

    def __call__(self, storage: Storage) -> Bytes: ...


class Builder:
    """Builds the tensors of one file. Tensors that share a storage in the file share memory.

    Args:
        read: Returns the bytes of a storage. Without it no data is read, and every tensor is empty.
        big_endian: Whether the bytes of numbers are stored in reverse order.
    """

    def __init__(self, read: Reader | None, big_endian: bool = False) -> None:
        self._read = read
        self._big_endian = big_endian
        self.storages: dict[str, Storage] = {}
        self.constructors = self._constructors()

    def storage(self, saved_id: Any) -> Storage:
        """Returns the storage that a persistent id names."""
        match saved_id:
            case (str(kind), StorageType() as type, str(key), str(), int(numel), *view) if kind == "storage":
                if view and (len(view) > 1 or view[0] is not None):
                    raise ValueError("the file has views of storages, as PyTorch wrote before version 0.4")
            case (str(kind), *_) if kind == "module":
                raise ValueError("the file contains a module, which is code; save its state_dict in PyTorch")
            case _:
                raise ValueError("the file is damaged: the description of a storage is wrong")
        found = self.storages.setdefault(key, Storage(type, key, numel))
        if (found.type, found.numel) != (type, numel) or not 0 <= found.nbytes <= _MAX_BYTES:
            raise ValueError(f"the file is damaged: it describes storage {key[:100]!r} in two ways, or as too large")
        return found

    def tensor(self, *arguments: Any) -> Tensor:
        match arguments:
            case (Storage() as storage, int(offset), tuple(size), tuple(stride), bool(grad), _):
                pass
            case (Storage() as storage, int(offset), tuple(size), tuple(stride), bool(grad), _, metadata):
                if type(metadata) is not dict or any(bit is not False for bit in metadata.values()):
                    raise ValueError("the tensor is conjugated or negated lazily; save x.resolve_conj().resolve_neg()")
            case (Storage() as storage, int(offset), tuple(size), tuple(stride)):
                grad = False
            case _:
                _refuse_arguments("a tensor")
        if storage.type.dtype is None:
            raise ValueError(f"the tensor is stored in a {storage.type.name}, of a dtype that Lucid does not have")
        _check_view(storage, offset, size, stride)
        with no_grad():
            result = self._view(storage, offset, size, stride)
        return _with_grad(result, grad)

    def _view(self, storage: Storage, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
        if self._read is None or 0 in size:
            return empty(size if self._read else 0, dtype=storage.type.dtype, device="cpu")
        if storage.memory is None:
            whole = math.prod(size) == storage.numel and _is_contiguous(size, stride)
            memory = self._load(storage, size if whole else (storage.numel,))
            # The tensor may come to require gradients, which views of the memory must not see.
            storage.memory = memory.detach()
            if whole:
                return memory
        return strided_part(storage.memory, size, stride, offset)

    def _load(self, storage: Storage, size: tuple[int, ...]) -> Tensor:
        """Copies a storage to a tensor."""
        import numpy

        assert self._read is not None
        assert storage.type.dtype is not None
        dtype = storage.type.dtype
        data = self._read(storage)
        array = numpy.frombuffer(data, (">" if self._big_endian else "<") + _FORMATS[dtype])
        if dtype == _dtypes.bool:
            array = array != 0
        if self._big_endian:
            array = array.astype(array.dtype.newbyteorder("="))
        if dtype == _dtypes.bfloat16:
            return _load_bfloat16(array.data.cast("B"), size)
        return tensor(array.reshape(size), device="cpu")

    def _constructors(self) -> dict[str, Any]:
        """The table of names. Python 2 called the module of built-in functions __builtin__."""
        table: dict[str, Any] = {}

        def add(names: str, build: Callable[..., Any]) -> None:
            for name in names.split():
                table[name] = Constructor(name, build)

        add("torch._utils._rebuild_tensor torch._utils._rebuild_tensor_v2", self.tensor)
        add("torch._utils._rebuild_parameter torch.nn.parameter.Parameter", _parameter)
        add("torch._utils._rebuild_parameter_with_state", lambda *all: _parameter(*all[:-1]))
        add("torch._tensor._rebuild_from_type_v2", self._from_type)
        add("torch._utils._rebuild_tensor_v3", _refuse_dtype)
        for names, reason in _REFUSED.items():
            add(names, _refusal(reason))
        add("torch.Size", _size)
        add("torch.device", _device)
        add("torch.serialization._get_layout", lambda *name: Name("torch.layout"))
        add("collections.OrderedDict", _ordered_dict)
        add("collections.Counter", _counter)
        add("collections.defaultdict", _default_dict)
        add("_codecs.encode", _encode)
        for module in ("__builtin__", "builtins"):
            add(f"{module}.set", lambda *all: make_set(_items(all)))
            add(f"{module}.frozenset", lambda *all: make_frozen_set(_items(all)))
            add(f"{module}.bytes", lambda *all: bytes(_binary(all)))
            add(f"{module}.bytearray", lambda *all: bytearray(_binary(all)))
            add(f"{module}.complex", _complex)
            for name in ("list", "dict", "int", "float", "str", "bool"):
                table[f"{module}.{name}"] = Name(f"builtins.{name}")
        for name, (dtype, storage, _) in _DTYPES.items():
            table[f"torch.{name}"] = dtype
            for module in ("torch", "torch.cuda"):
                table[f"{module}.{storage}"] = StorageType(f"torch.{storage}", dtype)
        for storage in _OTHER_STORAGES:
            for module in ("torch", "torch.cuda"):
                table[f"{module}.{storage}"] = StorageType(f"torch.{storage}", None)
        table["torch.storage.UntypedStorage"] = StorageType("torch.UntypedStorage", None)
        for name in ("Tensor", "per_tensor_affine", "per_channel_affine", *_OTHER_DTYPES):
            table[f"torch.{name}"] = Name(f"torch.{name}")
        return table

    def _from_type(self, *arguments: Any) -> Tensor:
        """A tensor with attributes, which are dropped, or of a subclass, which is refused."""
        match arguments:
            case (Constructor() as function, Name(name=name), tuple(rest), _):
                if name not in ("torch.Tensor", "torch.nn.parameter.Parameter"):
                    raise ValueError(f"the tensor is an instance of {name}, which is not built")
                if function.name.startswith("torch._utils."):
                    result: Tensor = function.build(*rest)
                    return result
        _refuse_arguments("a tensor with attributes")


# Kinds of tensors that Lucid does not have, and what to save instead.
_REFUSED = {
    "torch._utils._rebuild_sparse_tensor torch._utils._rebuild_sparse_csr_tensor": "is sparse; save x.to_dense()",
    "torch._utils._rebuild_qtensor": "is quantized; save x.dequantize()",
    "torch._utils._rebuild_nested_tensor": "is nested; save a list of tensors",
    "torch._utils._rebuild_meta_tensor_no_storage": "has no values: it is on the device 'meta'",
    "torch._utils._rebuild_wrapper_subclass": "is an instance of a subclass; save a plain tensor",
    "torch._utils._rebuild_device_tensor_from_numpy torch._utils._rebuild_device_tensor_from_cpu_tensor "
    "torch._utils._rebuild_xla_tensor": "is on another device; save x.cpu()",
}


def _refusal(reason: str) -> Callable[..., NoReturn]:
    def refuse(*arguments: Any) -> NoReturn:
        raise ValueError(f"the tensor {reason}")

    return refuse


def _refuse_dtype(*arguments: Any) -> NoReturn:
    names = [argument.name for argument in arguments if isinstance(argument, Name)]
    raise ValueError(f"the tensor has dtype {names[-1] if names else 'unknown'}, which Lucid does not have")


def _refuse_arguments(kind: str) -> NoReturn:
    raise ValueError(f"the file is damaged: {kind} is described by wrong arguments")


def _check_view(storage: Storage, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> None:
    """Raises ValueError unless the view lies inside its storage."""
    if len(size) != len(stride) or len(size) > _MAX_RANK:
        raise ValueError(f"the file is damaged: a tensor has {len(size)} sizes and {len(stride)} strides")
    if any(type(number) is not int or number < 0 for number in (offset, *size, *stride)):
        raise ValueError("the file is damaged: a size, stride or offset of a tensor is not a number from 0 on")
    assert storage.type.dtype is not None
    # A size of 0 does not excuse others that are too large.
    if math.prod(max(number, 1) for number in size) * storage.type.dtype.itemsize > _MAX_BYTES:
        raise ValueError("the file is damaged: a tensor is too large")
    last = offset + sum((number - 1) * step for number, step in zip(size, stride))
    if 0 not in size and last >= storage.numel:
        raise ValueError(
            f"the file is damaged: a tensor of size {size}, stride {stride} and offset {offset} reaches outside its "
            f"storage of {storage.numel} elements"
        )


def _is_contiguous(size: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    step = 1
    for number, found in zip(reversed(size), reversed(stride)):
        if number != 1 and found != step:
            return False
        step *= number
    return True


def _load_bfloat16(data: Bytes, size: tuple[int, ...]) -> Tensor:
    """Loads numbers that NumPy has no dtype for, as a safetensors file."""
    entry = {"dtype": "BF16", "shape": list(size), "data_offsets": [0, len(data)]}
    header = json.dumps({"x": entry}).encode()
    result: Tensor = _core.load_bytes(b"".join([struct.pack("<Q", len(header)), header, data]))["x"]
    return result


def _with_grad(x: Tensor, grad: bool) -> Tensor:
    if not grad:
        return x
    if not x.dtype.is_floating_point:
        raise ValueError("the file is damaged: a tensor of integers requires gradients")
    return x.requires_grad_()


def _parameter(*arguments: Any) -> Parameter:
    match arguments:
        case (Tensor() as data, *rest) if len(rest) <= 2:
            grad = rest[0] if rest else True
            if type(grad) is bool and (data.dtype.is_floating_point or not grad):
                return Parameter(data.detach(), requires_grad=grad)
    _refuse_arguments("a parameter")


def _size(*arguments: Any) -> tuple[int, ...]:
    match arguments:
        case (tuple(sizes),) if all(type(number) is int for number in sizes):
            return sizes
    _refuse_arguments("a size")


def _device(*arguments: Any) -> str:
    match arguments:
        case (str(kind),):
            return kind
        case (str(kind), int(index)):
            return f"{kind}:{index}"
    _refuse_arguments("a device")


def _ordered_dict(*arguments: Any) -> dict[Any, Any]:
    match arguments:
        case ():
            return {}
        case (list(pairs),):
            result: dict[Any, Any] = {}
            keys = Keys()
            for pair in pairs:
                if type(pair) not in (list, tuple) or len(pair) != 2:
                    _refuse_arguments("an OrderedDict")
                result[keys.check(result, pair[0])] = pair[1]
            return result
    _refuse_arguments("an OrderedDict")


def _counter(*arguments: Any) -> dict[Any, Any]:
    match arguments:
        case ():
            return {}
        case (dict(counts),):
            return counts
    _refuse_arguments("a Counter")


def _default_dict(*arguments: Any) -> dict[Any, Any]:
    match arguments:
        case () | (None | Name(),):
            return {}
    _refuse_arguments("a defaultdict")


def _items(arguments: tuple[Any, ...]) -> list[Any]:
    match arguments:
        case ():
            return []
        case (list(items),):
            return items
    _refuse_arguments("a set")


def _encode(*arguments: Any) -> bytes:
    match arguments:
        case (str(text), str(encoding)) if encoding in ("latin1", "latin-1"):
            try:
                return text.encode("latin-1")
            except UnicodeEncodeError:
                pass
    _refuse_arguments("bytes")


def _binary(arguments: tuple[Any, ...]) -> bytes:
    match arguments:
        case ():
            return b""
        case (bytes(data),):
            return data
        case (str(), _):
            return _encode(*arguments)
    _refuse_arguments("bytes")


def _complex(*arguments: Any) -> complex:
    match arguments:
        case (float(real), float(imaginary)):
            return complex(real, imaginary)
    _refuse_arguments("a complex number")
