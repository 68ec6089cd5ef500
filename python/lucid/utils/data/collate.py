"""Batches from samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ... import _core, _effects
from ..._core import Tensor
from ..._imported import imported

_effects.pure_module()

_stack = _core.ops["stack"]


def _from_numpy(data: Any) -> str | None:
    """The kind of an object of NumPy, "array" or "scalar". Does not import it: who has one has imported it."""
    numpy = imported("numpy")
    if numpy is None:
        return None
    if isinstance(data, numpy.ndarray):
        return "array"
    return "scalar" if isinstance(data, numpy.generic) else None


def _is_numeric(data: Any) -> bool:
    return data.dtype.kind not in "SUO"


def default_convert(data: Any) -> Any:
    """Arrays and NumPy's scalars become tensors, at any depth of dicts and lists; the rest stays as it is."""
    if _from_numpy(data) and _is_numeric(data):
        return _core.as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, Sequence) and not isinstance(data, str | bytes) and not _from_numpy(data):
        return [default_convert(item) for item in data]
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """Stacks samples: tensors and arrays along a new first dimension, numbers as a tensor, dicts and sequences item by
    item, text as a list.

    >>> lucid.utils.data.default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ['a', 'b']]
    """
    first = batch[0]
    if isinstance(first, Tensor):
        shapes = {tuple(item.shape) for item in batch}
        if len(shapes) > 1:
            raise RuntimeError(
                f"default_collate: the samples have different shapes, {sorted(shapes)}; give the loader a collate_fn "
                "that pads them"
            )
        return _stack(list(batch))
    kind = _from_numpy(first)
    if kind == "array" and not _is_numeric(first):
        raise TypeError(f"default_collate: arrays of dtype {first.dtype} cannot become tensors")
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
    raise TypeError(
        f"default_collate: samples must be tensors, arrays, numbers, dicts or sequences, not {type(first).__name__}; "
        "give the loader a collate_fn"
    )
