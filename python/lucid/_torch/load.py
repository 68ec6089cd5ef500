"""Loading of files in the two formats of torch.save."""

from __future__ import annotations

import os
import stat
import struct
from typing import IO, Any

from .._formats import HEAD, bytes_of, explained
from .archive import Archive, Bytes, Source
from .pickles import Unpickler
from .tensors import Builder, Storage

_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_VERSION = 1001


def load(f: str | os.PathLike[str] | IO[bytes]) -> Any:
    if hasattr(f, "read"):
        return _load_source(Source(bytes_of("load_torch", f)))
    with open(f, "rb") as file:
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        return _load_source(Source(file if regular else file.read()))


def _load_source(source: Source) -> Any:
    try:
        start = bytes(source.read(0, min(source.size, 4)))
        if start[:2] == b"PK":
            return _load_archive(Archive(source))
        if start[:1] == b"\x80":
            return _load_legacy(source)
        raise ValueError("this is not a file of torch.save; lucid.load reads safetensors files")
    except ValueError as error:
        text = str(error)
        plain = ValueError(text if text.startswith("load_torch: ") else f"load_torch: {text}")
        raise explained("lucid.load_torch", bytes(source.read(0, min(source.size, HEAD))), plain) from None


def _load_archive(archive: Archive) -> Any:
    """Loads a zip file: `data.pkl` holds the object, `data/<key>` its storages."""
    names = archive.names()
    roots = [name.removesuffix("data.pkl") for name in names if name.count("/") == 1 and name.endswith("/data.pkl")]
    if len(roots) != 1:
        raise ValueError("the zip file has no data.pkl; it is not a file of torch.save")
    root = roots[0]
    if f"{root}constants.pkl" in archive:
        raise ValueError("the file is a TorchScript program, which is code; save its state_dict in PyTorch")
    order = bytes(archive.read(f"{root}byteorder")) if f"{root}byteorder" in archive else b"little"
    if order not in (b"little", b"big"):
        raise ValueError("the file has an unknown byte order")

    def read(storage: Storage) -> Bytes:
        name = f"{root}data/{storage.key}"
        if (size := archive.size(name)) != storage.nbytes:
            raise ValueError(f"{name[:100]!r} has {size} bytes, but the storage needs {storage.nbytes}")
        return archive.read(name)

    builder = Builder(read, order == b"big")
    source = Source(archive.read(f"{root}data.pkl"))
    pickle = Unpickler(source, builder.constructors, builder.storage)
    result = pickle.load()
    if pickle.offset != source.size:
        raise ValueError("the pickle is damaged: it has bytes after its end")
    return result


def _load_legacy(source: Source) -> Any:
    """Loads a file as torch.save wrote before version 1.6: several pickles, then the storages.

    The places of the storages are only known after the pickle of the object, which is therefore interpreted twice.
    """

    def plain(offset: int) -> tuple[Any, int]:
        pickle = Unpickler(source, {}, _no_storage, offset)
        return pickle.load(), pickle.offset

    magic, offset = plain(0)
    if magic != _LEGACY_MAGIC:
        raise ValueError("this is a pickle, but not a file of torch.save")
    version, offset = plain(offset)
    if version != _LEGACY_VERSION:
        raise ValueError("the file has an unknown version of the format before PyTorch 1.6")
    _, start = plain(offset)

    scan = Builder(None)
    pickle = Unpickler(source, scan.constructors, scan.storage, start)
    pickle.load()
    keys, offset = plain(pickle.offset)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or len(set(keys)) != len(keys):
        raise ValueError("the file is damaged: its list of storages is wrong")
    places = {}
    for key in keys:
        storage = scan.storages.get(key)
        (numel,) = struct.unpack("<q", source.read(offset, 8))
        if storage is None or numel != storage.numel:
            raise ValueError(f"the file is damaged: storage {key[:100]!r} has another size than its description")
        places[key] = offset + 8
        offset += 8 + storage.nbytes
        if offset > source.size:
            raise ValueError("the file is cut short: a storage is not complete")

    def read(storage: Storage) -> Bytes:
        if storage.key not in places:
            raise ValueError(f"the file does not contain storage {storage.key[:100]!r}")
        return source.read(places[storage.key], storage.nbytes)

    builder = Builder(read)
    return Unpickler(source, builder.constructors, builder.storage, start).load()


def _no_storage(saved_id: Any) -> Any:
    raise ValueError("the file is damaged: a storage is described at a wrong place")
