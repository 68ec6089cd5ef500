"""What a file is that a loader cannot read, by its first bytes, and what reads it."""

from __future__ import annotations

import os
import re
from typing import IO, Any

# The number of first bytes that tell files apart.
HEAD = 512
_TORCH = "a file of torch.save", "lucid.load_torch reads it"
_SAFETENSORS = "a safetensors file", "lucid.load reads it, or lucid.load_program if lucid.export wrote it"

# Patterns of first bytes; what a file is that begins so; and the remedy.
_KINDS: list[tuple[bytes, str, str]] = [
    (rb".{6}\0\0 *{", *_SAFETENSORS),
    (rb"PK\x03\x04.{26}[^/]{1,99}/data\.pkl", *_TORCH),
    (rb"PK\x03\x04.{26}[^/]{1,99}/(\.data|version|byteorder|\.format_version)", *_TORCH),
    (rb"PK\x03\x04.{26}[^/]{1,99}\.npy", "a .npz file of NumPy", "numpy.load reads it, and lucid.tensor its arrays"),
    (rb"PK\x03\x04", "a zip archive", "lucid.load_torch reads those of torch.save; others must be unpacked"),
    (rb"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19", *_TORCH),
    (rb"\x80[\x02-\x05]", "a pickle", "lucid.load_torch reads those of torch.save, pickle.load all if you trust them"),
    (rb"\x93NUMPY", "a .npy file of NumPy", "numpy.load reads it, and lucid.tensor its array"),
    (rb"\x89HDF\r\n", "an HDF5 file", "h5py reads it, and lucid.tensor its arrays"),
    (rb"GGUF", "a GGUF file", "convert it to safetensors"),
    (rb"ARROW1|PAR1", "a table of Arrow or Parquet", "pandas reads it, and lucid.tensor its columns"),
    (rb"\x1f\x8b", "a file in gzip", "unpack it, or use lucid.data.read_idx if it is an IDX file"),
    (rb"BZh|\xfd7zXZ|\x28\xb5\x2f\xfd", "a compressed file", "unpack it"),
    (rb"\x08[\x01-\x20][\x12\x1a\x22\x3a\x42]", "an ONNX file", "lucid.onnx.load reads it"),
    (rb"\0\0[\x08-\x0e][\x01-\x08]\0", "an IDX file", "lucid.data.read_idx reads it"),
    (rb"version https://git-lfs", "a pointer of Git LFS, not the file itself", "fetch it with `git lfs pull`"),
    (rb"(?i)\s*<(!doctype|html|\?xml)", "a web page, probably of a download that failed", "download it again"),
    (rb"\s*[{\[]", "a text in JSON", "json.load reads it"),
]


def format_of(head: bytes) -> tuple[str, str] | None:
    """What a file is that begins with these bytes, and what reads it. None if that is not known."""
    for pattern, words, remedy in _KINDS:
        if re.match(pattern, head, re.DOTALL):
            return words, remedy
    return None


def head_of(f: str | bytes | os.PathLike[str] | IO[bytes]) -> bytes:
    """The first bytes of a file; none if it is not a regular file."""
    try:
        if isinstance(f, str | bytes | os.PathLike) and os.path.isfile(f):
            with open(f, "rb") as file:
                return file.read(HEAD)
    except OSError:
        pass
    return b""


def explained(function: str, head: bytes, error: ValueError) -> ValueError:
    """The error that a loader raises: which other kind of file this is, or `error` if that is not known."""
    found = format_of(head)
    if found is None or re.search(rf"\b{function}\b", found[1]):
        return error
    return ValueError(f"{str(error).partition(':')[0]}: this is {found[0]}; {found[1]}")


def bytes_of(function: str, f: Any) -> bytes:
    """The bytes that f.read() returns."""
    data = f.read()
    if isinstance(data, str):
        raise TypeError(f"{function}: the file is open for text; open it with open(path, 'rb')")
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"{function}: f.read() must return bytes, not {type(data).__name__}")
    return bytes(data)
