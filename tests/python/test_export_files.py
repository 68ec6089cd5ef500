"""Files of lucid.export: damaged ones are rejected, and their machine code runs only if they are trusted."""

import json
import os
import random
import struct
import subprocess
import sys

import lucid
import pytest
from lucid import nn
from same import bits
from test_export_programs import run_c

DIGEST_BYTES = 16
BOTH = pytest.mark.parametrize("trusted", [False, True])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The bytes of a program, and a folder for others."""
    folder = tmp_path_factory.mktemp("programs")
    lucid.manual_seed(6)
    lucid.export(nn.Linear(2, 2), lucid.ones(1, 2), folder / "tiny", targets=["scalar"])
    return (folder / "tiny").read_bytes(), folder


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


def outcome(path, trusted):
    """The results of a program, or "rejected"."""
    try:
        program = lucid.load_program(path, trusted=trusted)
    except ValueError:
        return "rejected"
    return bits(program(lucid.ones(1, 2)))


def test_flipped_bytes(tiny):
    """Loading only one way, in turn, halves the time; the checks come before there is a difference."""
    data, folder = tiny
    path, draw = folder / "flipped", random.Random(7)
    path.write_bytes(data)
    expected = outcome(path, trusted=False)
    assert expected == outcome(path, trusted=True) != "rejected"
    with path.open("r+b", buffering=0) as file:
        for at, byte in enumerate(data):
            for mask in (0xFF, 1 << draw.randrange(8)):
                file.seek(at)
                file.write(bytes([byte ^ mask]))
                for trusted in (False, True):
                    assert outcome(path, trusted) in ("rejected", expected), (at, mask, trusted)
            file.seek(at)
            file.write(bytes([byte]))


def test_prefixes(tiny):
    data, folder = tiny
    path = folder / "prefix"
    path.write_bytes(data)
    for length in reversed(range(len(data))):
        os.truncate(path, length)
        assert outcome(path, trusted=length % 2 == 0) == "rejected", length


def test_bytes_after_the_end(tiny):
    data, folder = tiny
    (folder / "longer").write_bytes(data + b"\0")
    with pytest.raises(ValueError, match="the last 1 bytes belong to no tensor"):
        lucid.load_program(folder / "longer")


def test_damage_is_named(tiny):
    data, folder = tiny
    middle = len(data) // 2
    (folder / "damaged").write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    with pytest.raises(ValueError, match="the file is damaged: its digest does not match"):
        lucid.load_program(folder / "damaged", trusted=True)


# ---- The digest, so that files can be changed.

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248e"
    "e03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d"
    "8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc"
    "8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
LOW = 2**64 - 1


def words(data, at):
    return struct.unpack_from("<8Q", data, at)


def xxh3(data):
    """The XXH3 digest (128 bits) of more than 240 bytes, as in their canonical form."""
    sums = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]

    def add(at, key_at):
        for i, (word, key) in enumerate(zip(words(data, at), words(SECRET, key_at))):
            mixed = word ^ key
            sums[i ^ 1] = (sums[i ^ 1] + word) & LOW
            sums[i] = (sums[i] + (mixed & 0xFFFFFFFF) * (mixed >> 32)) & LOW

    for stripe in range((len(data) - 1) // 64):
        add(stripe * 64, stripe % 16 * 8)
        if stripe % 16 == 15:
            sums[:] = [
                ((each ^ (each >> 47) ^ key) * P32[0]) & LOW for each, key in zip(sums, words(SECRET, len(SECRET) - 64))
            ]
    add(len(data) - 64, len(SECRET) - 64 - 7)

    def merged(key_at, result):
        mixed = [each ^ key for each, key in zip(sums, words(SECRET, key_at))]
        for i in range(0, 8, 2):
            product = mixed[i] * mixed[i + 1]
            result = (result + ((product & LOW) ^ (product >> 64))) & LOW
        result ^= result >> 37
        result = (result * 0x165667919E3779F9) & LOW
        return result ^ (result >> 32)

    low = merged(11, (len(data) * P64[0]) & LOW)
    high = merged(len(SECRET) - 64 - 11, ~(len(data) * P64[1]) & LOW)
    return struct.pack(">QQ", high, low)


def sealed(data):
    """The bytes of a file with the digest that they should have."""
    return data[:-DIGEST_BYTES] + xxh3(data[:-DIGEST_BYTES])


def sections(data):
    """The first byte and the end of each tensor of a file."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    return {name: [8 + length + at for at in entry["data_offsets"]] for name, entry in header.items()}


def changed(data, section, old, new):
    """A file in which the first `old` of a section is `new`, which has the same length."""
    first, end = sections(data)[section]
    assert len(old) == len(new)
    assert old in data[first:end]
    return sealed(data[:first] + data[first:end].replace(old, new, 1) + data[end:])


def test_digest(tiny):
    assert sealed(tiny[0]) == tiny[0]


# ---- Trust.


def test_machine_code_runs_only_if_it_is_trusted(tiny):
    data, folder = tiny
    first, end = sections(data)["lucid.code.scalar"]
    (folder / "no_code").write_bytes(sealed(data[:first] + bytes(end - first) + data[end:]))
    (folder / "tiny").write_bytes(data)
    x = lucid.randn(1, 2)
    assert bits(lucid.load_program(folder / "no_code")(x)) == bits(lucid.load_program(folder / "tiny")(x))
    with pytest.raises(ValueError, match=r"\w"):
        lucid.load_program(folder / "no_code", trusted=True)(x)


def test_plans_are_read_only_if_the_file_is_trusted(tiny):
    data, folder = tiny
    for section in ("lucid.index.scalar", "lucid.plans.scalar"):
        first, end = sections(data)[section]
        (folder / "no_plans").write_bytes(sealed(data[:first] + b" " * (end - first) + data[end:]))
        assert lucid.load_program(folder / "no_plans")(lucid.ones(1, 2)).shape == (1, 2)
        with pytest.raises(ValueError, match=r"\w"):
            lucid.load_program(folder / "no_plans", trusted=True)(lucid.ones(1, 2))


def test_c_refuses_files_that_are_not_trusted(tiny):
    data, folder = tiny
    (folder / "tiny").write_bytes(data)
    ended = run_c(folder / "tiny", folder, flags=0)
    assert ended.returncode == 1
    assert "may run only if the caller trusts the file" in ended.stderr


def test_c_refuses_files_without_machine_code(path):
    lucid.export(nn.Linear(2, 2), lucid.ones(1, 2), path, targets=[])
    for trusted in (False, True):
        assert outcome(path, trusted) != "rejected"
    ended = run_c(path, path.parent)
    assert ended.returncode == 1
    assert "has machine code for no CPU" in ended.stderr
    assert 'export it with targets=["' in ended.stderr


OTHER = {
    "empty": b"",
    "short": b"x",
    "zeros": b"\0" * 100,
    "ones": b"\xff" * 100,
    "zip": b"PK\x03\x04" * 9,
    "pickle": b"\x80\x04",
    "braces": b"{}" * 50,
}
other_files = pytest.mark.parametrize("content", OTHER.values(), ids=OTHER)


@other_files
def test_c_refuses_other_files(content, path):
    path.write_bytes(content)
    ended = run_c(path, path.parent)
    assert ended.returncode == 1
    assert "not a valid safetensors file" in ended.stderr
    ended = run_c(path.parent / "missing", path.parent)
    assert ended.returncode == 1
    assert "missing: No such file or directory" in ended.stderr


# ---- Files with a correct digest that say something wrong.


@pytest.mark.parametrize(
    ("section", "old", "new"),
    [
        ("lucid.program", b'"version":1', b'"version":9'),
        ("lucid.program", b'"name"', b'"nama"'),
        ("lucid.program", b'"f32"', b'"f99"'),
        ("lucid.program", b'"weight"', b'"wieght"'),
        ("lucid.program", b'"first_byte":0', b'"first_byte":9'),
        ("lucid.program", b'"index":0', b'"index":7'),
        ("lucid.program", b'"output":0', b'"output":9'),
        ("lucid.program", b'"calls":[', b'"calls":3'),
        ("lucid.program", b"{", b"["),
        ("lucid.graph.0", b"linear(", b"lineal("),
        ("lucid.graph.0", b"linear(%0, %1", b"linear(%1, %0"),
        ("lucid.graph.0", b"f32[2,2]", b"f32[2,9]"),
        ("lucid.graph.0", b"f32[1,2]", b"f64[1,2]"),
        ("lucid.graph.0", b"graph", b"graqh"),
    ],
)
def test_wrong_contents(tiny, section, old, new):
    data, folder = tiny
    (folder / "wrong").write_bytes(changed(data, section, old, new))
    with pytest.raises(ValueError, match=r"\w"):
        lucid.load_program(folder / "wrong")(lucid.ones(1, 2))


def test_only_state_is_written(path):
    """An update of an input would overwrite the memory of the caller, and more of it than the input has."""
    total = lucid.zeros(1000)

    def function(x, y):
        total.add_(y * x.sum())
        return total.sum()

    lucid.export(function, (lucid.ones(12), lucid.ones(1000)), path, targets=[])
    memory = lucid.full((1000,), 7.0)
    for operand in (b"0", b"1"):
        wrong = changed(path.read_bytes(), "lucid.program", b'"operand":2', b'"operand":' + operand)
        (path.parent / "wrong").write_bytes(wrong)
        with pytest.raises(ValueError, match="the file is damaged"):
            lucid.load_program(path.parent / "wrong")(memory[:12], lucid.ones(1000))
        assert memory.tolist() == [7.0] * 1000


def test_version_is_named(tiny):
    data, folder = tiny
    (folder / "newer").write_bytes(changed(data, "lucid.program", b'"version":1', b'"version":2'))
    with pytest.raises(ValueError, match="the file has version 2, this library reads 1; export the program again"):
        lucid.load_program(folder / "newer")


def test_flipped_bytes_with_a_correct_digest(tiny):
    """The graph and the signature do not have to be trusted. In a process of its own, which must not crash."""
    data, folder = tiny
    program = """
import pathlib, random, sys
import lucid
from test_export_files import sealed, sections
folder = pathlib.Path(sys.argv[1])
data, path, draw = (folder / "tiny").read_bytes(), folder / "resealed", random.Random(8)
regions = [range(8), range(8, min(first for first, _ in sections(data).values()))]
regions += [range(*ends) for name, ends in sections(data).items() if name in ("lucid.program", "lucid.graph.0")]
for at in draw.sample([at for region in regions for at in region], 400):
    other = bytearray(data)
    other[at] ^= 1 << draw.randrange(8)
    path.write_bytes(sealed(bytes(other)))
    try:
        lucid.load_program(path)(lucid.ones(1, 2))
    except (ValueError, TypeError, MemoryError):
        pass  # it takes other inputs now, or more memory than there is
print("ok")
"""
    (folder / "tiny").write_bytes(data)
    ended = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout.strip() == "ok", ended.stderr[-2000:]


# ---- Other files.


def test_weights_are_readable(path):
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).eval()
    lucid.export(model, lucid.ones(4, 3), path)
    found = lucid.load(path)
    for name in ("0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var"):
        assert bits(found[name]) == bits(model.state_dict()[name].detach()), name
    assert [name for name in found if not name.startswith("lucid.")] == list(lucid.load_program(path).state_dict())


@BOTH
def test_other_safetensors_files(path, trusted):
    lucid.save({"x": lucid.ones(3)}, path)
    with pytest.raises(
        ValueError, match=r"this is not a program; lucid\.export\(\) writes programs, lucid\.load\(\) reads"
    ):
        lucid.load_program(path, trusted=trusted)


@other_files
def test_files_of_other_kinds(content, path):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"load_program: this is a |not a valid safetensors file"):
        lucid.load_program(path)


def test_errors_name_the_function(path):
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"^load_program: "):
        lucid.load_program(path)


def test_missing_file(path):
    with pytest.raises(FileNotFoundError, match=r"program\.lucid"):
        lucid.load_program(path)


def test_places_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for place in (tmp_path, tmp_path / "fifo", "/dev/null", "/dev/zero"):
        with pytest.raises((OSError, ValueError), match=r"directory|seek|load_program"):
            lucid.load_program(place)


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    for place, error in (
        (tmp_path, OSError),
        (tmp_path / "no/file", FileNotFoundError),
        (tmp_path / "file/x", OSError),
    ):
        with pytest.raises(error):
            lucid.export(lambda x: x + 1, lucid.ones(3), place)
    assert (tmp_path / "file").read_text() == "x"


def test_a_failed_export_leaves_the_old_file(path):
    path.write_text("old")
    with pytest.raises(ValueError, match="shares the memory of input x"):
        lucid.export(lambda x: x, lucid.ones(3), path)
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("path", [3, None, "a\0b", b"a\0b"])
def test_wrong_paths(path):
    with pytest.raises((TypeError, ValueError), match=r"PathLike|null byte"):
        lucid.load_program(path)
    with pytest.raises((TypeError, ValueError), match=r"PathLike|null byte"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path)


def test_paths_of_several_types(tmp_path):
    text = str(tmp_path / "Größe ü\n")
    for path in (text, text.encode(), tmp_path / "Größe ü\n"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path)
        assert lucid.load_program(path)(lucid.ones(3)).tolist() == [2, 2, 2]
        os.unlink(path)


def test_a_file_may_be_replaced_while_its_program_is_used(path):
    lucid.export(lambda x: x + 1, lucid.ones(3), path)
    program = lucid.load_program(path, trusted=True)
    path.write_bytes(b"")
    assert program(lucid.ones(3)).tolist() == [2, 2, 2]
    os.unlink(path)
    assert program.copy()(lucid.ones(3)).tolist() == [2, 2, 2]


def test_exports_are_reproducible(tmp_path):
    model = nn.Linear(3, 2)
    for name in ("a", "b"):
        lucid.export(model, lucid.ones(4, 3), tmp_path / name, dynamic={"input": {0: "n"}})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
