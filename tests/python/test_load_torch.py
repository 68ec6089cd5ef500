"""lucid.load_torch: files that PyTorch wrote, and objects that it does not build."""

import io
import os
import pathlib
import pickle
import struct
import zipfile

import lucid
import numpy as np
import pytest
from torch_writer import archive, call, group, legacy, name, number, storage, tensor, text, zipped

DATA = pathlib.Path(__file__).parent / "data"
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
CHECKPOINTS = ["checkpoint.pt", "checkpoint_legacy.pt", "checkpoint_protocol_5.pt"]


def load(data):
    return lucid.load_torch(io.BytesIO(data))


def load_object(opcodes, **settings):
    return load(archive(opcodes, **settings))


@pytest.fixture(params=CHECKPOINTS)
def checkpoint(request):
    return lucid.load_torch(DATA / request.param)


def test_a_state_dict(checkpoint):
    state = checkpoint["model"]
    assert type(state) is dict
    assert list(state) == ["weight", "bias"]
    assert state["weight"].tolist() == [[-0.25, 0.75, 1.75], [2.75, 3.75, 4.75]]
    assert not state["weight"].requires_grad
    model = lucid.nn.Linear(3, 2)
    model.load_state_dict(state)
    assert model.bias.tolist() == [0.25, 0.25]


def test_the_state_of_an_optimizer(checkpoint):
    model = lucid.nn.Linear(3, 2)
    optimizer = lucid.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    optimizer.load_state_dict(checkpoint["optimizer"])
    (group,) = optimizer.param_groups
    assert (group["lr"], group["momentum"]) == (0.25, 0.5)
    assert optimizer.state_dict()["state"][1]["momentum_buffer"].tolist() == [1.0, 1.0]


def test_every_dtype(checkpoint):
    assert list(checkpoint["dtypes"]) == DTYPES
    for dtype, x in checkpoint["dtypes"].items():
        assert x.dtype == getattr(lucid, dtype)
        assert x.tolist() == ([False, True, True] if dtype == "bool" else [0, 1, 3])


def test_shapes_and_strides(checkpoint):
    found = checkpoint["tensors"]
    assert found["scalar"].item() == 2.5
    assert found["scalar"].shape == ()
    assert found["empty"].shape == (2, 0)
    assert found["transposed"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert found["transposed"].stride() == (1, 3)
    assert found["expanded"].tolist() == [7.0] * 4
    assert found["expanded"].stride() == (0,)
    assert found["channels last"].flatten().tolist() == list(range(8))
    assert found["channels last"].stride() == (8, 1, 4, 2)


def test_gradients_and_parameters(checkpoint):
    found = checkpoint["tensors"]
    assert type(found["parameter"]) is lucid.nn.Parameter
    assert found["parameter"].tolist() == [4.0, 4.0]
    assert type(found["frozen"]) is lucid.nn.Parameter
    assert {key for key, x in found.items() if x.requires_grad} == {"grad", "parameter"}
    assert found["grad"].is_leaf
    (found["grad"] * 2).sum().backward()
    assert found["grad"].grad.tolist() == [2.0, 2.0]
    assert found["buffer"].tolist() == found["attributed"].tolist() == [1.0]
    assert not hasattr(found["attributed"], "note")


def test_shared_memory_stays_shared(checkpoint):
    base, part, rest, again = checkpoint["shared"]
    assert again is base
    assert part.tolist() == [2, 4, 6]
    base[4] = 40
    rest[0] = 50
    assert part.tolist() == [2, 40, 6]
    assert base.tolist() == [0, 1, 2, 3, 40, 50, 6, 7, 8, 9]
    assert rest.data_ptr() == base.data_ptr() + 5 * 8


def test_plain_data(checkpoint):
    found = checkpoint["plain"]
    assert found["numbers"] == (1, -1, 255, 65535, -(2**31), 2**62, -(2**70), 0.1, True, False, None, 1 + 2j)
    assert [type(x) for x in found["numbers"][6:10]] == [int, float, bool, bool]
    assert found["text"] == "Grüße"
    assert found["binary"] == [b"", b"\x00\xff", bytearray(b"ab")]
    assert [type(x) for x in found["binary"]] == [bytes, bytes, bytearray]
    assert found["sets"] == [set(), {1, 2}, frozenset({"a"})]
    assert [type(x) for x in found["sets"]] == [set, set, frozenset]
    assert list(found["ordered"].items()) == [("b", 1), ("a", 2)]
    assert found["counter"] == {"a": 2, "b": 1}
    assert found["default"] == {3: [4]}
    assert {type(found[key]) for key in ("ordered", "counter", "default")} == {dict}
    assert found[1, "key"] == []
    assert found["torch"] == [(2, 3), lucid.float16, "cpu", "cuda:1"]


def test_results_can_be_saved(checkpoint, tmp_path):
    del checkpoint["plain"]
    lucid.save(checkpoint, tmp_path / "file")
    found = lucid.load(tmp_path / "file")
    assert found["shared"][1].tolist() == [2, 4, 6]
    assert lucid.equal(found["model"]["weight"], checkpoint["model"]["weight"])


def test_paths_files_and_pipes(tmp_path):
    data = (DATA / "small.pt").read_bytes()
    expected = load(data)["w"].tolist()
    assert expected == [[0, 1, 2], [3, 4, 5]]
    with open(DATA / "small.pt", "rb") as file:
        assert lucid.load_torch(file)["w"].tolist() == expected
    assert lucid.load_torch(str(DATA / "small.pt"))["w"].tolist() == expected
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(data)
    assert lucid.load_torch(f"/dev/fd/{reading}")["w"].tolist() == expected
    os.close(reading)
    with pytest.raises(FileNotFoundError):
        lucid.load_torch(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        lucid.load_torch(tmp_path)
    with pytest.raises(TypeError, match="the file is open for text"):
        lucid.load_torch(io.StringIO("text"))
    with pytest.raises(TypeError):
        lucid.load_torch(None)


def test_tensors_are_loaded_to_the_cpu():
    type = "torch.cuda.FloatStorage"
    saved = group(text("storage"), name(type), text("0"), text("cuda:1"), number(6)) + b"Q"
    assert load_object(tensor(memory=saved)).device == lucid.device("cpu")


def test_the_other_byte_order():
    numbers = [1.5, -2.0, 3.25]
    for type, form in (("Float", ">3f"), ("Double", ">3d"), ("Half", ">3e")):
        data = struct.pack(form, *numbers)
        memory = storage(f"torch.{type}Storage", numel=3)
        x = load_object(tensor((3,), (1,), memory=memory), storages={"0": data}, byteorder=b"big")
        assert x.tolist() == numbers
    halves = np.array(numbers, ">f4").view(">u2")[::2].tobytes()
    memory = storage("torch.BFloat16Storage", numel=3)
    x = load_object(tensor((3,), (1,), memory=memory), storages={"0": halves}, byteorder=b"big")
    assert x.dtype == lucid.bfloat16
    assert x.tolist() == numbers


def test_every_bit_of_bfloat16_is_kept():
    data = struct.pack("<65536H", *range(65536))
    memory = storage("torch.BFloat16Storage", numel=65536)
    file = io.BytesIO()
    lucid.save({"x": load_object(tensor((65536,), (1,), memory=memory), storages={"0": data})}, file)
    assert file.getvalue().endswith(data)


def test_bools_are_normalized():
    memory = storage("torch.BoolStorage", numel=3)
    x = load_object(tensor((3,), (1,), memory=memory), storages={"0": b"\x00\x01\xff"})
    assert x.to(lucid.int64).tolist() == [0, 1, 1]


def test_files_without_a_byte_order_or_checksums():
    plain = archive(tensor(), byteorder=None)
    assert load(plain).tolist() == [[0, 1, 2], [3, 4, 5]]
    # PyTorch writes 0 for checksums that it did not compute.
    cleared = bytearray(plain)
    for start, offset in ((b"PK\3\4", 14), (b"PK\1\2", 16)):
        at = cleared.find(start)
        while at >= 0:
            cleared[at + offset : at + offset + 4] = bytes(4)
            at = cleared.find(start, at + 1)
    assert load(bytes(cleared)).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_texts_of_python_2():
    assert load_object(b"}U\x01aT\x01\x00\x00\x00bs") == {"a": "b"}
    pairs = b"](](" + text("a") + number(1) + b"ee"
    assert load_object(call("collections.OrderedDict", pairs)) == {"a": 1}


def test_data_that_contains_itself():
    found = load_object(b"]q\x00h\x00a")
    assert found[0] is found


def test_nesting_is_not_limited():
    found = load_object(b"]" * 100_000 + b"a" * 99_999)
    for _ in range(99_999):
        (found,) = found
    assert found == []
    for opener in (b"}", b"]"):
        with pytest.raises(ValueError, match="damaged"):
            load_object(opener * 100_000)
    found = load_object(b"K\x01" + b"\x85" * 100_000)
    assert type(found) is tuple


@pytest.mark.parametrize("write", [archive, legacy])
@pytest.mark.parametrize(
    "path",
    [
        "os.system",
        "builtins.eval",
        "__builtin__.getattr",
        "argparse.Namespace",
        "numpy.core.multiarray._reconstruct",
        "torch.nn.modules.linear.Linear",
        "torch.storage._load_from_bytes",
        "torch._utils.os.system",
        "lucid._torch.load.os",
        "collections.OrderedDict.__init__",
        "nothing.that.exists",
    ],
)
def test_other_classes_are_named_and_not_built(path, write):
    data = write(b"}" + text("model") + b"}" + text("part") + call(path, text("echo")) + b"ss")
    with pytest.raises(
        ValueError, match=rf"obj\['model'\]\['part'\]: the file wants to build {path}, which is not built"
    ):
        load(data)


def test_the_place_of_a_class_in_large_dicts():
    inner = b"}(" + text("a") + number(1) + text("b") + tensor() + text("c") + call("os.getpid") + b"u"
    with pytest.raises(ValueError, match=r"obj\['x'\]\['c'\]: the file wants to build os.getpid"):
        load_object(b"}(" + text("w") + number(1) + text("x") + inner + b"u")


TENSORS = {
    "complex": (tensor(memory=storage("torch.ComplexFloatStorage")), "torch.ComplexFloatStorage, of a dtype that"),
    "quantized": (call("torch._utils._rebuild_qtensor", storage("torch.QUInt8Storage")), "quantized; save x.deq"),
    "sparse": (
        call("torch._utils._rebuild_sparse_tensor", call("torch.serialization._get_layout", text("torch.sparse_coo"))),
        r"sparse; save x.to_dense\(\)",
    ),
    "float8": (
        call("torch._utils._rebuild_tensor_v3", storage("torch.storage.UntypedStorage"), name("torch.float8_e4m3fn")),
        "dtype torch.float8_e4m3fn, which Lucid does not have",
    ),
    "meta": (call("torch._utils._rebuild_meta_tensor_no_storage", name("torch.float32")), "'meta'"),
    "conjugated": (tensor(rest=(b"}" + text("conj") + b"\x88s",)), "resolve_conj"),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_tensors_that_lucid_does_not_have(kind):
    opcodes, message = TENSORS[kind]
    with pytest.raises(ValueError, match=rf"load_torch: obj\['key'\]: the tensor .*{message}"):
        load_object(b"}(" + text("key") + opcodes + b"u")


OTHER_FILES = {
    "a program": (
        zipped({"a/data.pkl": b"}.", "a/constants.pkl": b").", "a/code/x.py": bytes(99)}, zipfile.ZIP_DEFLATED),
        "a TorchScript program, which is code",
    ),
    "a zip file": (zipped({"a/b": b""}), "no data.pkl"),
    "two objects": (zipped({"a/data.pkl": b"}.", "b/data.pkl": b"}."}), "no data.pkl"),
    "a pickle": (pickle.dumps({"a": 1}), "a pickle, but not a file of torch.save"),
    "a pickled function": (pickle.dumps(os.getpid), "the file wants to build posix.getpid"),
    "a tar file": (b"storages" + bytes(1000), r"not a file of torch.save; lucid.load reads safetensors"),
    "nothing": (b"", "not a file of torch.save"),
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_other_files(kind):
    data, message = OTHER_FILES[kind]
    with pytest.raises(ValueError, match=f"load_torch: .*{message}"):
        load(data)


def test_compiled_functions_that_load_run_eagerly():
    compiled = lucid.compile(lambda x: x + lucid.load_torch(DATA / "small.pt")["w"])
    x = lucid.ones(2, 3)
    for _ in range(3):
        assert compiled(x).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert "runs eagerly" in compiled.explain()
