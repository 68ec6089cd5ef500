"""Pickles and zip files in the layout of torch.save, written without PyTorch, so that they can be wrong."""

import io
import struct
import zipfile

FLOATS = struct.pack("<6f", *range(6))


def text(value):
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def number(value):
    size = value.bit_length() // 8 + 1
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)


def group(*items):
    return b"(" + b"".join(items) + b"t"


def name(path):
    module, _, last = path.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def call(path, *arguments):
    return name(path) + group(*arguments) + b"R"


def storage(type="torch.FloatStorage", key="0", numel=6):
    return group(text("storage"), name(type), text(key), text("cpu"), number(numel)) + b"Q"


def tensor(size=(2, 3), stride=(3, 1), offset=0, memory=None, grad=b"\x89", rest=()):
    shape = [group(*map(number, sizes)) for sizes in (size, stride)]
    hooks = call("collections.OrderedDict")
    memory = storage() if memory is None else memory
    return call("torch._utils._rebuild_tensor_v2", memory, number(offset), *shape, grad, hooks, *rest)


def archive(pickle, storages=None, byteorder=b"little", root="archive", compression=zipfile.ZIP_STORED):
    """A file of torch.save whose object is `pickle`, which lacks its first and last opcode."""
    entries = {"data.pkl": b"\x80\x02" + pickle + b"."}
    if byteorder:
        entries["byteorder"] = byteorder
    entries |= {f"data/{key}": data for key, data in ({"0": FLOATS} if storages is None else storages).items()}
    return zipped({f"{root}/{key}": data for key, data in entries.items()}, compression)


def zipped(entries, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as made:
        for key, data in entries.items():
            made.writestr(key, data)
    return file.getvalue()


def legacy(pickle, keys=(), storages=b""):
    """A file as torch.save wrote before version 1.6."""
    listed = b"](" + b"".join(map(text, keys)) + b"e"
    parts = [number(0x1950A86A20F9469CFC6C), number(1001), b"}", pickle, listed]
    return b"".join(b"\x80\x02" + part + b"." for part in parts) + storages
