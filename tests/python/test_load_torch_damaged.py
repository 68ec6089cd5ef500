"""lucid.load_torch on damaged and hostile files: ValueError, and nothing else happens."""

import io
import os
import pathlib
import random
import struct
import subprocess
import sys
import zipfile

import lucid
import pytest
from torch_writer import FLOATS, archive, call, group, legacy, name, number, storage, tensor, text, zipped

HERE = pathlib.Path(__file__).parent


def view(size, stride, offset=0):
    return archive(tensor(size, stride, offset))


def changed(data, start, offset, form, value):
    """The file with a field changed, at an offset from the last place where `start` occurs."""
    at = data.rindex(start) + offset
    return data[:at] + struct.pack(form, value) + data[at + struct.calcsize(form) :]


def twice(data):
    """The zip file with the first entry of its directory listed twice."""
    directory, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    second = data.index(b"PK\1\2", directory + 1)
    entry = data[directory:second]
    count, size = struct.unpack_from("<HI", data, end + 10)
    tail = data[end : end + 8] + struct.pack("<2HI", count + 1, count + 1, size + len(entry)) + data[end + 16 :]
    return data[:directory] + entry + data[directory:end] + tail


PLAIN = archive(tensor())
SHARED = legacy(tensor(), ["0"], struct.pack("<q", 6) + FLOATS)
# A list and a tuple that hold a list or tuple twice, 60 levels deep. Their text or hash would take 2**60 steps.
LISTS = b"]q\x000" + b"".join(b"](h%ch%ceq%c0" % (i, i, i + 1) for i in range(60)) + b"h\x3c"
TUPLES = b"K\x01" + b"".join(b"q%ch%c\x86" % (i, i) for i in range(60))

DAMAGED = {
    # Views that are not inside their storage.
    "outside": (view((2, 4), (3, 1)), "outside its storage of 6"),
    "outside by offset": (view((6,), (1,), 1), "outside its storage of 6"),
    "outside by stride": (view((2,), (2**62,)), "outside its storage of 6"),
    "scalar outside": (view((), (), 6), "outside its storage of 6"),
    "negative size": (view((-1,), (1,)), "not a number from 0 on"),
    "negative stride": (view((3,), (-1,), 2), "not a number from 0 on"),
    "negative offset": (view((1,), (1,), -1), "not a number from 0 on"),
    "overflow": (view((2**40, 2**40), (0, 0)), "too large"),
    "overflow of bytes": (view((2**62,), (0,)), "too large"),
    "overflow with a zero": (view((0, 2**62, 2**62), (0, 0, 0)), "too large"),
    "numbers of 2000 bits": (view((2**2000,), (1,)), "too large"),
    "ranks differ": (view((2, 3), (1,)), "2 sizes and 1 strides"),
    "too many dimensions": (view((1,) * 65, (1,) * 65), "65 sizes"),
    "size is a text": (
        archive(
            call(
                "torch._utils._rebuild_tensor_v2",
                storage(),
                number(0),
                group(text("a")),
                group(text("a")),
                b"\x89",
                b"N",
            )
        ),
        "not a number from 0 on",
    ),
    "integers with gradients": (
        archive(tensor((3,), (1,), memory=storage("torch.LongStorage", numel=3), grad=b"\x88")),
        "requires gradients",
    ),
    # Storages.
    "storage too short": (archive(tensor(memory=storage(numel=7))), "has 24 bytes, but the storage needs 28"),
    "storage too long": (
        archive(tensor((5,), (1,), memory=storage(numel=5))),
        "has 24 bytes, but the storage needs 20",
    ),
    "storage is huge": (archive(tensor(memory=storage(numel=2**61))), "too large"),
    "storage is negative": (archive(tensor(memory=storage(numel=-1))), "too large"),
    "storage of another dtype": (archive(tensor(memory=storage("torch.DoubleStorage"))), "needs 48"),
    "storage in two ways": (
        archive(group(tensor(), tensor(memory=storage("torch.IntStorage")))),
        "describes storage '0' in two ways",
    ),
    "no storage": (archive(tensor(memory=storage(key="1"))), "does not contain 'archive/data/1'"),
    "storage elsewhere": (archive(tensor(memory=storage(key="../byteorder"))), "does not contain"),
    "storage as data": (archive(storage()), "a storage without a tensor is neither a tensor nor plain data"),
    "storage in a list": (archive(b"]" + storage() + b"a"), "a storage without a tensor is neither"),
    "storage in a tuple": (archive(b"}" + text("a") + group(group(storage())) + b"s"), "holds a class or a storage"),
    "bad persistent id": (archive(text("a") + b"Q"), "description of a storage is wrong"),
    "module": (archive(group(text("module"), name("torch.Tensor"), b"NN") + b"Q"), "contains a module, which is code"),
    # Pickles.
    "empty pickle": (archive(b""), "does not end with one value"),
    "two values": (archive(b"NN"), "does not end with one value"),
    "open mark": (archive(b"N("), "does not end with one value"),
    "bytes after the end": (archive(b"N.N"), "bytes after its end"),
    "no values": (archive(b"\x87"), "uses a value that it did not create"),
    "no mark": (archive(b"t"), "uses a value that it did not create"),
    "no memo": (archive(b"h\x07"), "uses a value that it did not create"),
    "long text": (archive(b"X\xff\xff\xff\xff"), "the pickle is cut short"),
    "very long text": (archive(b"\x8d" + b"\xff" * 8), "the pickle is cut short"),
    "text is no UTF-8": (archive(b"X\x01\x00\x00\x00\xff"), "not UTF-8"),
    "long name": (archive(b"c" + b"a" * 5000), "a name is too long"),
    "unknown opcode": (archive(b"\xff"), "which plain data does not need"),
    "protocol 9": (archive(b"\x80\x09N"), "protocol 9"),
    "instance": (archive(b"(ios\nsystem\n"), "opcode b'i'"),
    "object": (archive(b"(" + name("collections.OrderedDict") + b"o"), "opcode b'o'"),
    "extension": (archive(b"\x82\x01"), "opcode"),
    "buffer": (archive(b"\x97"), "opcode"),
    "call of data": (archive(b"})R"), "wants to call a dict"),
    "call of a dtype": (archive(name("torch.float32") + b")R"), "wants to call a dtype"),
    "call of a class": (archive(call("torch.Tensor")), "wants to call torch.Tensor"),
    "call of a storage type": (archive(call("torch.FloatStorage")), "wants to call torch.FloatStorage"),
    "call without a tuple": (archive(name("collections.OrderedDict") + b"]R"), "wants to call"),
    "class as data": (archive(b"}" + text("a") + name("collections.OrderedDict") + b"s"), "OrderedDict at key 'a' is"),
    "state of a class": (archive(name("collections.OrderedDict") + b"}b"), "set the state of collections.OrderedDict"),
    "state of a tensor": (archive(tensor() + b"}b"), "set the state of a Tensor"),
    "state of a dict": (archive(b"}N}\x86b"), "set the state of a dict"),
    "items of a tensor": (archive(tensor() + number(0) + number(0) + b"s"), "sets items of a Tensor"),
    "items of a class": (archive(name("torch.Tensor") + text("a") + b"Ns"), "sets items of torch.Tensor"),
    "appending to a tuple": (archive(b")Na"), "appends to a tuple"),
    "appending to a class": (archive(name("torch.Size") + b"Na"), "appends to torch.Size"),
    "adding to a dict": (archive(b"}(N\x90"), "adds items to a dict"),
    "half an item": (archive(b"}(Nu"), "a key without a value"),
    "list as a key": (archive(b"}]Ns"), "a key is a list"),
    "tensor as a key": (archive(b"}" + tensor() + b"Ns"), "a key is a Tensor"),
    "large key in a tuple": (archive(b"}" + group(number(2**64)) + b"Ns"), "does not fit into 64 bits"),
    "nested lists as a key": (archive(b"}" + LISTS + name("torch.Tensor") + b"s"), "a key is a list"),
    "deep list as a key": (
        archive(b"}" + b"]" * 50_000 + b"a" * 49_999 + name("torch.Tensor") + b"s"),
        "a key is a list",
    ),
    "tensor as an encoding": (archive(call("_codecs.encode", text("a"), tensor())), "wrong arguments"),
    "large key": (archive(b"}" + number(2**64) + b"Ns"), "does not fit into 64 bits"),
    "nested tuples as a key": (archive(b"}" + TUPLES + b"Ns"), "a key is a tuple"),
    "nested tuples in a set": (archive(b"\x8f(" + TUPLES + b"\x90"), "a key is a tuple"),
    # Constructors with wrong arguments.
    **{
        f"{path} of {kind}": (archive(call(path, *arguments)), "wrong arguments|a key is|which is not built")
        for path in (
            *("torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter"),
            *("torch._utils._rebuild_parameter_with_state", "torch._tensor._rebuild_from_type_v2", "torch.Size"),
            *("torch.device", "collections.OrderedDict", "collections.Counter", "collections.defaultdict"),
            *("_codecs.encode", "builtins.set", "builtins.bytes", "__builtin__.bytearray", "builtins.complex"),
        )
        for kind, arguments in {
            "a class": (name("torch.Size"), name("torch.Tensor"), b")", b"N"),
            "lists": (b"]](]ea", b"]"),
            "a number": (number(10**12), b"N", b"N", b"N", b"N", b"N", b"N", b"N", b"N"),
        }.items()
    },
    "a subclass": (
        archive(call("torch._tensor._rebuild_from_type_v2", name("torch.Size"), name("torch.complex64"), b")N")),
        "an instance of torch.complex64, which is not built",
    ),
    "codecs that are not latin1": (archive(call("_codecs.encode", text("a"), text("zlib"))), "wrong arguments"),
    "text that is not latin1": (archive(call("_codecs.encode", text("€"), text("latin1"))), "wrong arguments"),
    # Zip files.
    "compressed": (archive(tensor(), compression=zipfile.ZIP_DEFLATED), "compressed or encrypted"),
    "encrypted": (changed(PLAIN, b"PK\1\2", 8, "<H", 1), "compressed or encrypted"),
    "sizes differ": (changed(PLAIN, b"PK\1\2", 24, "<I", 2**31), "compressed or encrypted"),
    "no directory": (PLAIN[:-30], "it has no directory"),
    "directory too large": (changed(PLAIN, b"PK\5\6", 12, "<I", 2**31), "reaches over its end"),
    "directory elsewhere": (changed(PLAIN, b"PK\5\6", 16, "<I", 0), "the zip directory is damaged"),
    "fewer entries": (
        changed(changed(PLAIN, b"PK\5\6", 8, "<H", 2), b"PK\5\6", 10, "<H", 2),
        "more bytes than entries",
    ),
    "more entries": (changed(changed(PLAIN, b"PK\5\6", 8, "<H", 9), b"PK\5\6", 10, "<H", 9), "directory is damaged"),
    "several parts": (changed(PLAIN, b"PK\5\6", 4, "<H", 1), "several parts"),
    "no 64-bit directory": (changed(PLAIN, b"PK\5\6", 16, "<I", 2**32 - 1), "the end of the zip file is damaged"),
    "no 64-bit size": (changed(PLAIN, b"PK\1\2", 42, "<I", 2**32 - 1), "a 64-bit size is missing"),
    "header elsewhere": (changed(PLAIN, b"PK\1\2", 42, "<I", 5), "header of 'archive/data/0' is damaged"),
    "header of another entry": (changed(PLAIN, b"PK\1\2", 42, "<I", 0), "its header another entry"),
    "name twice": (twice(PLAIN), "contains 'archive/data.pkl' twice"),
    "name is no UTF-8": (PLAIN.replace(b"byteorder", b"byteorde\xff"), "not UTF-8"),
    "wrong checksum": (PLAIN.replace(FLOATS, bytes(24)), "checksum of 'archive/data/0' is wrong"),
    "unknown byte order": (archive(tensor(), byteorder=b"middle"), "unknown byte order"),
    "overlap": (
        changed(changed(PLAIN, b"PK\1\2", 20, "<I", 90), b"PK\1\2", 24, "<I", 90),
        "overlap",
    ),
    # Files as PyTorch wrote them before version 1.6.
    "legacy cut short": (SHARED[:-1], "cut short"),
    "legacy without sizes": (SHARED[:-30], "cut short"),
    "legacy without storages": (legacy(tensor()), "does not contain storage '0'"),
    "legacy size": (legacy(tensor(), ["0"], struct.pack("<q", 5) + FLOATS), "another size than its description"),
    "legacy negative size": (
        legacy(tensor(memory=storage(numel=-1)), ["0"], struct.pack("<q", -1) + FLOATS),
        "too large",
    ),
    "legacy huge size": (
        legacy(tensor(memory=storage(numel=2**60)), ["0"], struct.pack("<q", 2**60) + FLOATS),
        "a storage is not complete",
    ),
    "legacy other key": (legacy(tensor(), ["1"], struct.pack("<q", 6) + FLOATS), "another size than its description"),
    "legacy key twice": (legacy(tensor(), ["0", "0"]), "list of storages is wrong"),
    "legacy version": (legacy(tensor()).replace(number(1001), number(1002)), "unknown version"),
    "legacy class in the header": (legacy(tensor()).replace(b"}.", name("os.system") + b"."), "build os.system"),
    "legacy huge view": (legacy(tensor((2**40,), (0,)), ["0"], b""), "cut short"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_files_are_rejected_with_a_reason(kind, tmp_path):
    data, message = DAMAGED[kind]
    with pytest.raises(ValueError, match=f"^load_torch: (.|\n)*({message})"):
        lucid.load_torch(io.BytesIO(data))
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        lucid.load_torch(path)


def test_the_undamaged_files_load():
    for data in (PLAIN, SHARED):
        assert lucid.load_torch(io.BytesIO(data)).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_large_view_of_a_small_storage_takes_no_memory():
    """PyTorch saves expanded tensors so."""
    for data in (view((2**40,), (0,)), legacy(tensor((2**40,), (0,)), ["0"], SHARED[-32:])):
        assert lucid.load_torch(io.BytesIO(data)).shape == (2**40,)


COPIES = {
    "sets": ("builtins.set", b"](" + b"".join(map(number, range(1000))) + b"e"),
    "dicts": ("collections.OrderedDict", b"](" + b"".join(group(number(i), b"N") for i in range(1000)) + b"e"),
    "bytes": ("builtins.bytearray", b"B" + struct.pack("<I", 10_000) + bytes(10_000)),
    "sizes": ("torch.Size", group(*map(number, range(1000)))),
    "layouts": ("torch.serialization._get_layout", group(*map(number, range(1000)))),
}


@pytest.mark.parametrize("kind", COPIES)
def test_short_pickles_do_not_copy_their_data_often(kind):
    """A list that is remembered once and copied by two opcodes would take memory and time out of proportion."""
    path, argument = COPIES[kind]
    opcodes = b"](" + name(path) + b"q\x00" + argument + b"\x85q\x01" + b"R" + b"h\x00h\x01R" * 50_000 + b"e"
    with pytest.raises(ValueError, match="copies its data too often"):
        lucid.load_torch(io.BytesIO(archive(opcodes)))


def test_deep_arguments_are_released_without_recursion():
    with pytest.raises(ValueError, match="holds a class or a storage"):
        lucid.load_torch(io.BytesIO(archive(storage() + b"\x85" * 300_000)))


def test_entries_of_zip64_files():
    data = PLAIN
    at = data.rindex(b"PK\1\2")
    end = data.rindex(b"PK\5\6")
    size, packed, header = *struct.unpack_from("<2I", data, at + 20), *struct.unpack_from("<I", data, at + 42)
    entry = bytearray(data[at:end])
    struct.pack_into("<2I", entry, 20, 2**32 - 1, 2**32 - 1)
    extra = struct.pack("<2H", 9, 1) + b"x" + struct.pack("<2H3Q", 1, 24, size, packed, header)
    struct.pack_into("<H", entry, 30, len(extra))
    struct.pack_into("<I", entry, 42, 2**32 - 1)
    made = data[:at] + entry + extra
    count, length, start = struct.unpack_from("<H2I", data, end + 10)
    place = len(made)
    made += struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, length + len(extra), start)
    made += struct.pack("<4sIQI", b"PK\6\7", 0, place, 1)
    made += struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 0)
    assert lucid.load_torch(io.BytesIO(made)).tolist() == [[0, 1, 2], [3, 4, 5]]
    for wrong in (
        made.replace(b"PK\6\6", b"PK\6\5"),
        changed(made, b"PK\6\7", 8, "<Q", 2**63),
        made[: at + 100] + made[end:],
    ):
        with pytest.raises(ValueError, match="load_torch: "):
            lucid.load_torch(io.BytesIO(wrong))


def test_a_zip_file_with_a_comment():
    data = changed(PLAIN, b"PK\5\6", 20, "<H", 5) + b"hello"
    assert lucid.load_torch(io.BytesIO(data)).shape == (2, 3)


def test_many_entries_take_linear_time():
    names = {f"a/data/{i}": b"" for i in range(20_000)}
    assert lucid.load_torch(io.BytesIO(zipped({"a/data.pkl": b"}.", **names}))) == {}


@pytest.mark.parametrize("file", ["small.pt", "small_legacy.pt"])
def test_every_truncated_file_is_rejected(file):
    data = (HERE / "data" / file).read_bytes()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="load_torch: "):
            lucid.load_torch(io.BytesIO(data[:length]))


def test_random_changes_of_files():
    """Runs torch_fuzzer.py with a limit of memory and an audit hook, so that imports and other effects end it."""
    seed = random.randrange(2**32)
    command = [sys.executable, HERE / "torch_fuzzer.py", "--count", "4000", "--seed", str(seed)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert done.returncode == 0, (seed, done.stdout, done.stderr)
