"""Combining samples into batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import _core, _effects
from ..._core import Tensor
from ..._foreign import is_foreign_tensor, own_tensor
from ..._imported import imported

_effects.pure_module()

_stack = _core.ops["stack"]


def _from_numpy(data: Any) -> str | None:
    """Returns "array" or "scalar" for an object of NumPy, else None.

    Does not import NumPy: if such an object exists, NumPy has been imported.
    """
    numpy = imported("numpy")
    if numpy is None:
        return None
    if isinstance(data, numpy.ndarray):
        return "array"
    return "scalar" if isinstance(data, numpy.generic) else None


def _is_numeric(data: Any) -> bool:
    return data.dtype.kind not in "SUO"


def default_convert(data: Any) -> Any:
    """Converts arrays and tensors of other libraries, also inside dicts and sequences. Other objects stay unchanged."""
    if _from_numpy(data) and _is_numeric(data):
        return _core.as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, Sequence) and not isinstance(data, str | bytes) and not _from_numpy(data):
        return [default_convert(item) for item in data]
    return own_tensor(data) if is_foreign_tensor(data) else data


def default_collate(batch: Sequence[Any]) -> Any:
    """Combines samples into a batch.

    Tensors and arrays are stacked along a new first dimension, numbers become a tensor, dicts and sequences are
    combined item by item, and strings become a list.

    >>> lucid.utils.data.default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ['a', 'b']]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        shapes = {tuple(item.shape) for item in batch}
        if len(shapes) > 1:
            raise RuntimeError(
                f"default_collate: the samples have different shapes, {sorted(shapes)}; pass the loader a collate_fn "
                "that pads them"
            )
        return _stack(list(batch))
    kind = _from_numpy(first)
    if kind == "array" and not _is_numeric(first):
        raise TypeError(f"default_collate: arrays of dtype {first.dtype} cannot be converted to tensors")
    if kind and _is_numeric(first):
        return default_collate([_core.as_tensor(item) for item in batch])
    if isinstance(first, bool):
        return _core.tensor(list(batch))
    if isinstance(first, float):
        return _core.tensor(list(batch), dtype=_core.float64)
    if isinstance(first, int):
        return _core.tensor(list(batch))
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: default_collate([item[key] for item in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("default_collate: the samples are sequences of different lengths")
        columns = [default_collate(column) for column in zip(*batch)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    if is_foreign_tensor(first):
        return default_collate([own_tensor(item) for item in batch])
    raise TypeError(
        f"default_collate: samples must be tensors, arrays, numbers, dicts or sequences, not {_core.describe(first)}; "
        "pass a collate_fn to the loader"
    )
