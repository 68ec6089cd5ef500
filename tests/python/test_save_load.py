"""lucid.save and lucid.load: round trips, the file format, and damaged files."""

import io
import json
import math
import os
import struct
import subprocess
import sys

import lucid
import numpy as np
import pytest

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


def round_trip(obj):
    file = io.BytesIO()
    lucid.save(obj, file)
    return lucid.load(io.BytesIO(file.getvalue()))


def header_of(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def build(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_tensors_round_trip_bit_by_bit(dtype, shape):
    x = lucid.randn(shape).to(getattr(lucid, dtype))
    found = round_trip({"x": x})["x"]
    assert found.dtype == x.dtype
    assert found.shape == x.shape
    assert lucid.equal(found, x)


def test_trees_round_trip():
    tree = {
        "none": None,
        "flags": [True, False],
        "numbers": (1, -(2**63), 2**63 - 1, 0.1, -0.0, 1e-320),
        "text": "Grüße\n\"'\\\u2028",
        "nested": {"a": [{"b": ()}, []], "": {}},
        3: "integer key",
        "3": "text key",
        "tensor": lucid.arange(3),
    }
    found = round_trip(tree)
    assert found.pop("tensor").tolist() == tree.pop("tensor").tolist()
    assert found == tree
    assert list(found) == list(tree)
    assert [type(item) for item in found["numbers"]] == [int, int, int, float, float, float]
    assert math.copysign(1, found["numbers"][4]) == -1


def test_numbers_that_json_does_not_have():
    found = round_trip([math.inf, -math.inf, math.nan])
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])


@pytest.mark.parametrize("obj", [None, 3, "text", [], {}, (), lucid.ones(2)])
def test_any_value_may_be_the_root(obj):
    found = round_trip(obj)
    if isinstance(obj, lucid.Tensor):
        assert lucid.equal(found, obj)
    else:
        assert found == obj
        assert type(found) is type(obj)


def test_a_state_dict_is_a_plain_file(tmp_path):
    path = tmp_path / "model.safetensors"
    lucid.save({"b": lucid.ones(2), "a": lucid.zeros(3, dtype=lucid.int64)}, path)
    header, data = header_of(path)
    assert header == {
        "__metadata__": {"format": "pt"},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]},
        "a": {"dtype": "I64", "shape": [3], "data_offsets": [0, 24]},
    }
    assert data == bytes(24) + np.ones(2, np.float32).tobytes()
    assert list(lucid.load(path)) == ["b", "a"]


def test_views_and_strides_are_saved_by_value():
    x = lucid.arange(12).reshape(3, 4)
    found = round_trip({"t": x.T, "part": x[1:, ::2], "wide": lucid.ones(1).expand(3)})
    assert found["t"].tolist() == x.T.tolist()
    assert found["part"].tolist() == [[4, 6], [8, 10]]
    assert found["wide"].tolist() == [1, 1, 1]


def test_tied_tensors_stay_tied():
    x = lucid.ones(1000)
    plain = round_trip({"a": x, "b": x, "c": x.clone()})
    assert plain["a"] is plain["b"]
    assert plain["c"] is not plain["a"]
    nested = round_trip({"model": {"a": x}, "list": [x]})
    assert nested["list"][0] is nested["model"]["a"]
    file = io.BytesIO()
    lucid.save([x, x, x], file)
    assert len(file.getvalue()) < 2 * 4 * 1000


def test_training_state_round_trips(tmp_path):
    w = lucid.ones(3, requires_grad=True)
    optimizer = lucid.optim.Adam([w], lr=0.1)
    scheduler = lucid.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        (w * w).sum().backward()
        optimizer.step()
        scheduler.step()
    generator = lucid.Generator().manual_seed(3)
    saved = {
        "w": w,
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": generator.get_state(),
    }
    lucid.save(saved, tmp_path / "all")
    found = lucid.load(tmp_path / "all")
    assert lucid.equal(found["rng"], generator.get_state())
    other = lucid.optim.Adam([w.detach().clone().requires_grad_()])
    other.load_state_dict(found["optimizer"])
    assert other.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]
    assert found["scheduler"] == scheduler.state_dict()
    assert not found["w"].requires_grad


@pytest.mark.parametrize(
    ("obj", "error", "message"),
    [
        ({"a": {"b": object()}}, TypeError, r"save: obj\['a'\]\['b'\] is an object"),
        ({"a": [1, {2}]}, TypeError, r"save: obj\['a'\]\[1\] is a set"),
        ({(1, 2): 3}, TypeError, "a tuple as a key"),
        ({1.5: 3}, TypeError, "a float as a key"),
        ([2**64], OverflowError, "64"),
        (lambda: 0, TypeError, "function"),
    ],
)
def test_unsupported_objects_are_named(obj, error, message, tmp_path):
    with pytest.raises(error, match=message):
        lucid.save(obj, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_cyclic_data_is_rejected():
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contain itself"):
        lucid.save(loop, io.BytesIO())


def test_files_are_replaced_atomically(tmp_path):
    path = tmp_path / "file"
    lucid.save({"x": 1}, path)
    with pytest.raises(TypeError):
        lucid.save({"x": object()}, path)
    assert lucid.load(path) == {"x": 1}
    os.chmod(path, 0o640)
    lucid.save({"x": 2}, path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_keeps_the_old_file(tmp_path):
    code = (
        "import resource, lucid, sys, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "lucid.save({'x': 1}, sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))\n"
        "try:\n"
        "    lucid.save({'x': lucid.ones(100000)}, sys.argv[1])\n"
        "except OSError as error:\n"
        "    print(error.errno, lucid.load(sys.argv[1]))\n"
    )
    result = subprocess.run([sys.executable, "-c", code, tmp_path / "f"], capture_output=True, text=True, check=False)
    assert result.stdout == "27 {'x': 1}\n", result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_system_errors_become_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        lucid.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        lucid.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        lucid.save({}, tmp_path / "no" / "folder")


F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
EMPTY = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}

DAMAGED = {
    "empty": (b"", "it has only 0 bytes"),
    "too short": (b"1234567", "it has only 7 bytes"),
    "header cut short": (build(b"{}", length=1000), "cut short"),
    "huge header": (build(b"{}", length=2**60), "more than"),
    "negative header": (build(b"{}", length=2**64 - 1), "more than"),
    "no header": (build(b""), "brace"),
    "no object": (build(b"[1]"), "brace"),
    "no JSON": (build(b"{abc"), "JSON"),
    "no UTF-8": (build(b'{"\xff\xfe": 1}'), "JSON"),
    "deep": (build(b'{"a":' + b"[" * 100000), "deep"),
    "twice": (build(b'{"a": %b, "a": %b}' % ((json.dumps(EMPTY).encode(),) * 2)), "names 'a' twice"),
    "twice in an entry": (build(b'{"a": {"dtype": "U8", "dtype": "U8"}}'), "names 'dtype' twice"),
    "entry is no object": (build({"x": 3}), "not an object"),
    "no dtype": (build({"x": {"shape": [], "data_offsets": [0, 0]}}), "no dtype"),
    "bad dtype": (build({"x": F32 | {"dtype": "F8_E4M3"}}, bytes(8)), "F8_E4M3"),
    "dtype no text": (build({"x": F32 | {"dtype": 3}}, bytes(8)), "dtype"),
    "no shape": (build({"x": {"dtype": "F32", "data_offsets": [0, 8]}}, bytes(8)), "no shape"),
    "negative size": (build({"x": F32 | {"shape": [-2]}}, bytes(8)), "size"),
    "fraction": (build({"x": F32 | {"shape": [2.5]}}, bytes(8)), "size"),
    "overflow": (build({"x": F32 | {"shape": [2**32, 2**32]}}, bytes(8)), "too large"),
    "overflow with a zero": (
        build({"x": F32 | {"shape": [0, 2**62, 2**62], "data_offsets": [0, 0]}}),
        "too large",
    ),
    "too many dimensions": (build({"x": F32 | {"shape": [1] * 100}}, bytes(8)), "shape"),
    "no offsets": (build({"x": {"dtype": "F32", "shape": [2]}}, bytes(8)), "data_offsets"),
    "one offset": (build({"x": F32 | {"data_offsets": [0]}}, bytes(8)), "two numbers"),
    "backwards": (build({"x": F32 | {"data_offsets": [8, 0]}}, bytes(8)), r"is at \[8, 0\)"),
    "out of range": (build({"x": F32 | {"data_offsets": [8, 16]}}, bytes(8)), "cut short"),
    "huge offset": (build({"x": F32 | {"data_offsets": [2**63, 2**63 + 8]}}, bytes(8)), "cut short"),
    "wrong size": (build({"x": F32 | {"shape": [3]}}, bytes(8)), "needs 12 bytes, but has 8"),
    "overlap": (build({"x": F32, "y": F32 | {"data_offsets": [4, 12]}}, bytes(12)), "overlaps"),
    "same place": (build({"x": F32, "y": F32}, bytes(8)), "overlaps"),
    "gap": (build({"x": F32 | {"data_offsets": [4, 12]}}, bytes(12)), "belong to no tensor"),
    "rest": (build({"x": F32}, bytes(9)), "belong to no tensor"),
    "metadata no object": (build({"__metadata__": 3}), "metadata"),
    "metadata no text": (build({"__metadata__": {"a": 3}}), "metadata"),
    "tree no JSON": (build({"__metadata__": {"lucid.tree": "{"}}), "JSON"),
    "tree deep": (build({"__metadata__": {"lucid.tree": "[" * 100000}}), "deep"),
    "tree names no tensor": (build({"__metadata__": {"lucid.tree": '{"tensor": "x"}'}}), "does not contain"),
    "tree of another kind": (build({"__metadata__": {"lucid.tree": '{"code": "x"}'}}), "unknown type"),
    "tree without tag": (build({"__metadata__": {"lucid.tree": "{}"}}), "exactly one member"),
    "tree with a bad key": (build({"__metadata__": {"lucid.tree": '{"dict": [[1.5, 1]]}'}}), "key"),
    "tree with a key twice": (build({"__metadata__": {"lucid.tree": '{"dict": [[1, 1], [1, 1]]}'}}), "repeated key"),
    "tree with a large number": (build({"__metadata__": {"lucid.tree": "18446744073709551615"}}), "64 bits"),
    "ties to nothing": (build({"__metadata__": {"lucid.ties": '{"a": "b"}'}}), "does not contain"),
    "pickle": (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.", "this is a pickle"),
    "zip": (b"PK\x03\x04" + bytes(100), "this is a zip archive"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_rejected_with_a_reason(name, tmp_path):
    data, message = DAMAGED[name]
    with pytest.raises(ValueError, match=message):
        lucid.load(io.BytesIO(data))
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        lucid.load(path)


def test_every_truncated_file_is_rejected():
    file = io.BytesIO()
    lucid.save({"a": lucid.arange(5), "b": [lucid.ones(2), "text"]}, file)
    data = file.getvalue()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="load:"):
            lucid.load(io.BytesIO(data[:length]))


def test_bools_are_normalized_when_loaded():
    found = lucid.load(
        io.BytesIO(build({"x": {"dtype": "BOOL", "shape": [3], "data_offsets": [0, 3]}}, b"\x00\x01\xff"))
    )
    assert found["x"].tolist() == [False, True, True]
    assert found["x"].to(lucid.int64).tolist() == [0, 1, 1]


def test_tied_tensors_omitted_by_safetensors_are_restored():
    """save_model of safetensors omits tied tensors and stores the name of the saved one in the metadata."""
    data = build({"__metadata__": {"format": "pt", "head": "embedding"}, "embedding": F32}, bytes(8))
    found = lucid.load(io.BytesIO(data))
    assert found["head"] is found["embedding"]
