"""Bytes of files, and zip archives of entries that are not compressed."""

from __future__ import annotations

import io
import os
import struct
import zlib
from typing import NamedTuple

Bytes = bytes | memoryview


class Source:
    """The bytes of a file, or bytes in memory."""

    def __init__(self, data: Bytes | io.BufferedReader) -> None:
        self._data = data
        self.size = os.fstat(data.fileno()).st_size if isinstance(data, io.BufferedReader) else len(data)

    def read(self, offset: int, size: int) -> Bytes:
        """Returns a range of bytes. Raises ValueError if the file does not contain all of it."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise ValueError(f"the file is cut short: it has {self.size} bytes, and names {size} at {offset}")
        if not isinstance(self._data, io.BufferedReader):
            return self._data[offset : offset + size]
        self._data.seek(offset)
        data = self._data.read(size)
        if len(data) != size:
            raise ValueError("the file became shorter while it was read")
        return data


class Entry(NamedTuple):
    """The place of an entry's bytes. `is_stored` is whether they are neither compressed nor encrypted."""

    offset: int
    size: int
    crc: int
    is_stored: bool


# The records of a zip file. Signatures and fields that are not needed are skipped.
_END = struct.Struct("<4x4H2IH")
_END_64 = struct.Struct("<4x8x4x2I4Q")
_LOCATOR_64 = struct.Struct("<4xIQI")
_CENTRAL = struct.Struct("<4x2x5H3I3H2x2x4xI")
_LOCAL = struct.Struct("<26x2H")
_MAX_COMMENT = 0xFFFF
# A field with all bits set is stored in a 64-bit field elsewhere.
_LARGE_16, _LARGE_32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED = 1


class Archive:
    """The entries of a zip file, which do not overlap and have different names. Compressed ones cannot be read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._entries: dict[str, Entry] = {}
        start, size, count = _directory(source)
        self._read_directory(bytes(source.read(start, size)), count, start)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        return list(self._entries)

    def size(self, name: str) -> int:
        return self._entry(name).size

    def read(self, name: str) -> Bytes:
        entry = self._entry(name)
        data = self._source.read(entry.offset, entry.size)
        # PyTorch writes 0 if it was told to compute no checksums.
        if entry.crc and zlib.crc32(data) != entry.crc:
            raise ValueError(f"the checksum of {name[:100]!r} is wrong: the file is damaged")
        return data

    def _entry(self, name: str) -> Entry:
        entry = self._entries.get(name)
        if entry is None:
            raise ValueError(f"the file does not contain {name[:100]!r}")
        if not entry.is_stored:
            raise ValueError(f"{name[:100]!r} is compressed or encrypted, which files of torch.save are not")
        return entry

    def _read_directory(self, directory: bytes, count: int, limit: int) -> None:
        at = 0
        ranges = []
        for _ in range(count):
            name, header, at, entry = _central_entry(directory, at)
            if name in self._entries:
                raise ValueError(f"the file contains {name[:100]!r} twice")
            offset = self._data_offset(name, header)
            self._entries[name] = entry._replace(offset=offset)
            ranges.append((header, offset + entry.size))
        if at != len(directory):
            raise ValueError("the zip directory is damaged: it has more bytes than entries")
        # Entries that overlap would let a small file name a large amount of data.
        ranges.sort()
        for (_, end), (start, _) in zip(ranges, [*ranges[1:], (limit, limit)]):
            if end > start:
                raise ValueError("the entries of the zip file overlap")

    def _data_offset(self, name: str, header: int) -> int:
        record = bytes(self._source.read(header, _LOCAL.size))
        if not record.startswith(b"PK\3\4"):
            raise ValueError(f"the header of {name[:100]!r} is damaged")
        name_size, extra_size = _LOCAL.unpack(record)
        expected = name.encode()
        if name_size != len(expected) or bytes(self._source.read(header + _LOCAL.size, name_size)) != expected:
            raise ValueError(f"the zip directory names {name[:100]!r}, its header another entry")
        return header + _LOCAL.size + len(expected) + int(extra_size)


def _directory(source: Source) -> tuple[int, int, int]:
    """Returns the offset and size of the zip directory, and its number of entries."""
    tail_size = min(source.size, _END.size + _MAX_COMMENT)
    tail_start = source.size - tail_size
    tail = bytes(source.read(tail_start, tail_size))
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise ValueError("the zip file is cut short: it has no directory")
    disk, first_disk, here, count, size, start, comment = _END.unpack_from(tail, at)
    if at + _END.size + comment != len(tail):
        raise ValueError("the end of the zip file is damaged")
    end = tail_start + at
    if _LARGE_16 in (here, count) or _LARGE_32 in (size, start):
        end, disk, first_disk, here, count, size, start = _directory_64(source, end)
    if disk or first_disk or here != count:
        raise ValueError("the zip file consists of several parts")
    if start + size > end:
        raise ValueError("the zip directory is damaged: it reaches over its end")
    return start, size, count


def _directory_64(source: Source, end: int) -> tuple[int, ...]:
    record = bytes(source.read(end - _LOCATOR_64.size, _LOCATOR_64.size))
    if not record.startswith(b"PK\6\7"):
        raise ValueError("the end of the zip file is damaged")
    _, start, _ = _LOCATOR_64.unpack(record)
    record = bytes(source.read(start, _END_64.size))
    if not record.startswith(b"PK\6\6"):
        raise ValueError("the end of the zip file is damaged")
    return (start, *_END_64.unpack(record))


def _central_entry(directory: bytes, at: int) -> tuple[str, int, int, Entry]:
    """Returns the name of an entry, the offsets of its header and of the next one, and the entry without its offset."""
    end = at + _CENTRAL.size
    if directory[at : at + 4] != b"PK\1\2" or end > len(directory):
        raise ValueError("the zip directory is damaged")
    _, flags, method, _, _, crc, packed, size, name_size, extra_size, comment_size, header = _CENTRAL.unpack_from(
        directory, at
    )
    after = end + name_size + extra_size + comment_size
    if after > len(directory):
        raise ValueError("the zip directory is cut short")
    try:
        name = directory[end : end + name_size].decode()
    except UnicodeDecodeError:
        raise ValueError("the zip directory is damaged: a name is not UTF-8") from None
    extra = directory[end + name_size : end + name_size + extra_size]
    size, packed, header = _large_fields(extra, [size, packed, header])
    is_stored = not flags & _ENCRYPTED and method == 0 and packed == size
    return name, header, after, Entry(0, packed, crc, is_stored)


def _large_fields(extra: bytes, fields: list[int]) -> list[int]:
    """Replaces fields that do not fit into 32 bits by those of the extra field for large files."""
    if _LARGE_32 not in fields:
        return fields
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            values = [value for (value,) in struct.iter_unpack("<Q", extra[at + 4 : at + 4 + size // 8 * 8])]
            wanted = fields.count(_LARGE_32)
            if size > len(extra) - at - 4 or len(values) < wanted:
                break
            large = iter(values)
            return [next(large) if field == _LARGE_32 else field for field in fields]
        at += 4 + size
    raise ValueError("the zip directory is damaged: a 64-bit size is missing")
