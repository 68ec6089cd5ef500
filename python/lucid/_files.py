"""Saving and loading of plain data with tensors."""

from __future__ import annotations

import os
from typing import IO, Any

from . import _core

Destination = str | os.PathLike[str] | IO[bytes]


def save(obj: Any, f: Destination) -> None:
    """Writes dicts, lists, tuples, text, numbers, None and tensors to a file, or to something that has write().

    The format is safetensors: a dict from names to tensors, such as a state_dict, can be read by other libraries;
    nothing in a file can run code. The file appears whole or not at all.

    >>> import io
    >>> file = io.BytesIO()
    >>> lucid.save({"weight": lucid.ones(2), "epoch": 3}, file)
    >>> lucid.load(io.BytesIO(file.getvalue()))
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    if hasattr(f, "write"):
        f.write(_core.save_bytes(obj))
    else:
        _core.save_file(obj, os.fsdecode(f))


def load(f: Destination) -> Any:
    """Reads what save() wrote, or any other safetensors file: a dict from names to tensors."""
    if hasattr(f, "read"):
        return _core.load_bytes(f.read())
    return _core.load_file(os.fsdecode(f))
