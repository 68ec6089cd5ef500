"""Saving and loading of plain data with tensors."""

from __future__ import annotations

import os
from typing import IO, Any

from . import _core, _effects

Destination = str | os.PathLike[str] | IO[bytes]


@_effects.effect("writes a file")
def save(obj: Any, f: Destination) -> None:
    """Writes dicts, lists, tuples, text, numbers, None and tensors to a file, or to something that has write().

    The format is safetensors: a dict from names to tensors, such as a state_dict, can be read by other libraries;
    nothing in a file can run code.

    The file appears whole or not at all: it is written beside its place and then moved there. A new file gets the
    permissions that open() would give it. One that replaces another keeps the other's permissions, and its owner and
    group as far as the process may set them; other hard links to the old file keep the old contents. A symbolic link
    stays, and the file that it leads to is written. A device, a FIFO or an open file such as /dev/stdout is written as
    open(f, "wb") would write it. A FIFO that nobody reads from is an OSError; pass open(f, "wb") to wait for a reader.

    >>> import io
    >>> file = io.BytesIO()
    >>> lucid.save({"weight": lucid.ones(2), "epoch": 3}, file)
    >>> lucid.load(io.BytesIO(file.getvalue()))
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    if hasattr(f, "write"):
        f.write(_core.save_bytes(obj))
    else:
        _core.save_file(obj, os.fsencode(f))


@_effects.effect("reads a file")
def load(f: Destination) -> Any:
    """Reads what save() wrote, or any other safetensors file: a dict from names to tensors."""
    if hasattr(f, "read"):
        return _core.load_bytes(f.read())
    return _core.load_file(os.fsencode(f))
