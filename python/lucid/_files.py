"""Saving and loading of tensors and plain data."""

from __future__ import annotations

import os
from typing import IO, Any

from . import _core, _effects
from ._formats import bytes_of, explained, head_of

Destination = str | os.PathLike[str] | IO[bytes]


@_effects.effect("writes a file")
def save(obj: Any, f: Destination) -> None:
    """Writes dicts, lists, tuples, strings, numbers, None and tensors to a file, or to an object with write().

    The format is safetensors. Other libraries can read a dict from names to tensors, such as a state_dict. Loading a
    file never runs code.

    The write is atomic: the data is written to a temporary file in the same folder, which then replaces the target. A
    new file gets the permissions that open() would give it. A replaced file keeps its permissions, and its owner and
    group as far as the process may set them; other hard links to it keep the old contents. If the path is a symbolic
    link, the link stays and its target is written. A device, a FIFO or an open file such as /dev/stdout is written as
    open(f, "wb") would write it. A FIFO without a reader raises OSError; pass open(f, "wb") to wait for a reader.

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
    """Reads a file that save() wrote, or any other safetensors file as a dict from names to tensors.

    `f` is a path or an object with read(). Files of torch.save, NumPy and others raise ValueError, which names the
    function that reads them.
    """
    head = b""
    try:
        if hasattr(f, "read"):
            head = bytes_of("load", f)
            return _core.load_bytes(head)
        return _core.load_file(os.fsencode(f))
    except ValueError as error:
        raise explained("lucid.load", head or head_of(f), error) from None


@_effects.effect("reads a file")
def load_torch(f: Destination) -> Any:
    """Reads a file that torch.save wrote, such as a state dict or a checkpoint in a .pt, .pth or .bin file.

    `f` is a path or an object with read(). Files of all versions since PyTorch 0.4 are read, without PyTorch.

    The file may contain tensors, parameters, dicts, lists, tuples, sets, texts, bytes, numbers, None and dtypes.
    Everything else raises ValueError, which names the class that the file wants to build and its key. So do damaged
    files, and complex, sparse and quantized tensors. Loading a file never runs code.

    Tensors are loaded to the CPU, wherever they were saved. Those that share memory in PyTorch share memory here.
    `torch.Size` becomes a tuple, `torch.device` its name, `OrderedDict`, `Counter` and `defaultdict` a dict.

    >>> model.load_state_dict(lucid.load_torch("model.pth"))  # doctest: +SKIP
    IncompatibleKeys(missing_keys=[], unexpected_keys=[])
    >>> import io, pickle
    >>> lucid.load_torch(io.BytesIO(pickle.dumps(print)))
    Traceback (most recent call last):
        ...
    ValueError: load_torch: the file wants to build builtins.print, which is not built: load_torch builds ...
    """
    from ._torch.load import load

    return load(f)
