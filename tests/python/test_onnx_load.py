"""`lucid.onnx.load`: models of the library there and back, modules that can be trained, and damaged files."""

import contextlib
import copy
import os
import pickle

import lucid
import lucid.onnx
import numpy as np
import onnx
import pytest
from lucid import models, nn
from onnx import TensorProto, helper
from onnx_runs import bits, check, error, results_of, run_elsewhere

FULL = os.environ.get("LUCID_FULL_MODELS") == "1"


def tokens(*shape):
    return lucid.randint(0, 10, shape)


MODELS = {
    "mlp": (models.mlp, lambda: [lucid.randn(3, 784)]),
    "lenet_5": (models.lenet_5, lambda: [lucid.randn(2, 1, 32, 32)]),
    "resnet_18": (models.resnet_18, lambda: [lucid.randn(1, 3, 64, 64)]),
    "resnet_34": (models.resnet_34, lambda: [lucid.randn(1, 3, 64, 64)]),
    "resnet_50": (models.resnet_50, lambda: [lucid.randn(1, 3, 64, 64)]),
    "mobilenet_v2": (models.mobilenet_v2, lambda: [lucid.randn(1, 3, 64, 64)]),
    "vit": (
        lambda: models.vit(**({} if FULL else {"image_size": 32, "dim": 48, "heads": 3, "layers": 2, "hidden": 96})),
        lambda: [lucid.randn(1, 3, *((224, 224) if FULL else (32, 32)))],
    ),
    "gpt": (models.gpt, lambda: [tokens(2, 16)]),
    "gpt2_small": (
        lambda: models.gpt2_small() if FULL else models.GPT(vocab_size=50, context=32, dim=48, heads=12, layers=12),
        lambda: [tokens(1, 24)],
    ),
    "bert": (models.bert, lambda: [tokens(2, 12)]),
    "ResidualBlock": (lambda: models.ResidualBlock(4, 8, stride=2), lambda: [lucid.randn(2, 4, 6, 6)]),
    "InvertedResidual": (lambda: models.InvertedResidual(4, 4), lambda: [lucid.randn(2, 4, 6, 6)]),
    "GPTBlock": (lambda: models.GPTBlock(8, 2), lambda: [lucid.randn(2, 5, 8)]),
}


@pytest.mark.parametrize("name", MODELS)
def test_model_there_and_back(name):
    lucid.manual_seed(1)
    make, arguments = MODELS[name]
    model = make().eval()
    with lucid.no_grad():
        # Zeros would hide errors.
        for parameter in model.parameters():
            if not parameter.any():
                parameter.add_(lucid.randn(*parameter.shape) * 0.02)
    proto = check(model, arguments(), whole=True)
    assert not proto.functions or name in ("mobilenet_v2", "InvertedResidual")
    loaded = lucid.onnx.load(proto)
    own = {name: tuple(tensor.shape) for name, tensor in model.named_parameters()}
    assert {name: tuple(tensor.shape) for name, tensor in loaded.named_parameters()} == own


DYNAMIC = {
    "mlp": ("input", {0: "batch"}, lambda n: [lucid.randn(n, 784)]),
    "lenet_5": ("input", {0: "batch"}, lambda n: [lucid.randn(n, 1, 32, 32)]),
    "resnet_18": ("input", {0: "batch"}, lambda n: [lucid.randn(n, 3, 32, 32)]),
    "mobilenet_v2": ("input", {0: "batch"}, lambda n: [lucid.randn(n, 3, 32, 32)]),
    "gpt": ("input", {0: "batch", 1: "time"}, lambda n: [tokens(n, n + 3)]),
    "bert": ("input_ids", {0: "batch", 1: "time"}, lambda n: [tokens(n, n + 3)]),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_model_with_sizes_that_vary(name):
    lucid.manual_seed(1)
    model = MODELS[name][0]().eval()
    argument, sizes, arguments = DYNAMIC[name]
    proto = lucid.onnx.export(model, tuple(arguments(2)), dynamic={argument: sizes})
    loaded = lucid.onnx.load(proto)
    fast = lucid.compile(loaded)
    for n in (2, 3, 5):
        args = arguments(n)
        expected = model(*args)
        assert bits(loaded(*args)) == bits(expected)
        assert bits(fast(*args)) == bits(fast(*args)) == bits(expected)
        for found, tensor in zip(run_elsewhere(proto, args), results_of(expected), strict=True):
            assert error(found, tensor, whole=True) <= 1e-5
    assert fast.cache_info().fallbacks == 0
    assert fast.cache_info().hits >= 3


def test_every_model_of_the_library_is_tested():
    # Classes of which functions make the models, and what is no model.
    others = {"GPT", "Bert", "MobileNetV2", "ResNet", "VisionTransformer", "GPTDecoder", "load_weights"}
    assert set(models.__all__) - others == set(MODELS)


def small():
    lucid.manual_seed(0)
    return nn.Sequential(nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Flatten(), nn.Linear(9, 4)).eval()


def loaded_small():
    return lucid.onnx.load(lucid.onnx.export(small(), lucid.randn(2, 2, 5)))


def test_parameters_and_buffers_have_their_names():
    model, loaded = small(), loaded_small()
    assert list(dict(loaded.named_parameters())) == list(dict(model.named_parameters()))
    assert list(dict(loaded.named_buffers())) == ["1.running_mean", "1.running_var"]
    loaded.load_state_dict(
        {**loaded.state_dict(), **{k: v for k, v in model.state_dict().items() if "tracked" not in k}}
    )
    assert repr(loaded).startswith("ONNXModule(\n  inputs=['input'], outputs=['output'], nodes=5")


def test_a_loaded_model_can_be_compiled_and_gives_the_same_bits():
    model, loaded = small(), loaded_small()
    fast = lucid.compile(loaded)
    for _ in range(3):
        x = lucid.randn(2, 2, 5)
        assert bits(fast(x)) == bits(model(x))
    assert fast.cache_info().hits == 2
    assert fast.cache_info().fallbacks == 0


def test_models_on_a_gpu():
    model = models.GPT(vocab_size=10, context=8, dim=16, heads=2, layers=1).eval()
    x = tokens(1, 5)
    expected = bits(model(x))
    loaded = lucid.onnx.load(lucid.onnx.export(model, x)).to("gpu")
    assert bits(loaded(x.to("gpu")).cpu()) == expected
    proto = lucid.onnx.export(model.to("gpu"), x.to("gpu"))
    assert bits(lucid.onnx.load(proto)(x)) == expected


def test_a_loaded_model_can_be_trained_like_the_original():
    x, y = lucid.randn(2, 2, 5), lucid.tensor([1, 3])

    def trained(model):
        optimizer = lucid.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        return {name: bits(tensor) for name, tensor in model.named_parameters()}

    assert trained(loaded_small()) == trained(small())


def test_a_loaded_model_can_be_saved_copied_and_exported_again(tmp_path):
    loaded = loaded_small()
    x = lucid.randn(2, 2, 5)
    lucid.save(loaded.state_dict(), tmp_path / "state")
    other = loaded_small()
    with lucid.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    other.load_state_dict(lucid.load(tmp_path / "state"))
    for again in (other, copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        assert bits(again(x)) == bits(loaded(x))
    check(loaded, [x])


def test_calls_that_are_refused():
    loaded = loaded_small()
    with pytest.raises(TypeError, match=r"the model has 1 inputs \(input\), got 2"):
        loaded(lucid.ones(2, 2, 5), lucid.ones(1))
    with pytest.raises(TypeError, match="input 'input' must have dtype"):
        loaded(lucid.ones(2, 2, 5, dtype=lucid.float64))
    with pytest.raises(ValueError, match="input 'input' must have the shape"):
        loaded(lucid.ones(2, 2, 6))
    with pytest.raises(TypeError, match="input 'input' must be a tensor"):
        loaded(3)


def model_of(nodes, initializers=(), inputs=(("x", [2, 3]),), outputs=("y",), opset=20, functions=()):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        list(initializers),
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1), helper.make_opsetid("lucid", 1)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions))


def test_all_ops_that_are_not_supported_are_listed():
    nodes = [
        helper.make_node("Det", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Bernoulli", ["b"], ["c"]),
        helper.make_node("Thing", ["c"], ["d"], domain="own"),
        helper.make_node("Upsample", ["d", "d"], ["y"]),
    ]
    with pytest.raises(NotImplementedError, match=r"Bernoulli, Det, Relu of opset 6, Upsample, own\.Thing; onnx"):
        lucid.onnx.load(model_of(nodes, opset=9))


def test_an_old_definition_is_refused_by_name():
    nodes = [helper.make_node("Softmax", ["x"], ["y"])]
    with pytest.raises(NotImplementedError, match="Softmax of opset 11"):
        lucid.onnx.load(model_of(nodes, opset=11))


def test_functions_of_other_domains_are_expanded():
    inner = helper.make_node("LeakyRelu", ["a"], ["t"])
    inner.attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    body = [inner, helper.make_node("Add", ["t", "a"], ["b"])]
    function = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", 20)], ["slope"])
    nodes = [
        helper.make_node("F", ["x"], ["t"], domain="own", slope=0.5),
        helper.make_node("F", ["t"], ["y"], domain="own", slope=0.25),
    ]
    loaded = lucid.onnx.load(model_of(nodes, functions=[function]))
    x = lucid.randn(2, 3)
    t = nn.functional.leaky_relu(x, 0.5) + x
    assert bits(loaded(x)) == bits(nn.functional.leaky_relu(t, 0.25) + t)


def test_functions_that_call_each_other_without_end_are_refused():
    calls = [helper.make_node("F", ["a"], ["b"], domain="own"), helper.make_node("F", ["b"], ["c"], domain="own")]
    imports = [helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "F", ["a"], ["c"], calls, imports)
    model = model_of([helper.make_node("F", ["x"], ["y"], domain="own")], functions=[function])
    with pytest.raises(ValueError, match="without end"):
        lucid.onnx.load(model)


RELU = helper.make_node("Relu", ["x"], ["y"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (b"", "not an ONNX file"),
        (b"\x08\x07garbage\xff\xff", "not an ONNX file"),
        (model_of([helper.make_node("Relu", ["z"], ["y"])]), "reads 'z', which no earlier node computes"),
        (model_of([RELU, RELU]), "computes 'y', which exists already"),
        (model_of([RELU], outputs=["z"]), "an output is not computed"),
        (model_of([RELU], inputs=[("x", [1]), ("x", [1])]), "two inputs have the same name"),
        (model_of([RELU], [TensorProto(name="w", data_type=1, dims=[4], raw_data=b"123")]), "has 3 bytes"),
        (model_of([RELU], [TensorProto(name="w", data_type=1, dims=[-1], raw_data=b"1234")]), "has the shape"),
        (model_of([RELU], [TensorProto(name="w", data_type=1, dims=[2**40, 2**20])]), "has 0 elements, but its shape"),
        (model_of([RELU], [TensorProto(data_type=1)]), "no name of its own"),
        (model_of([RELU], opset=999), "the opset is 999"),
        (model_of([helper.make_node("Gelu", ["x"], ["y"])], opset=13), "opset 13 has no op Gelu"),
        (model_of([helper.make_node("Constant", [], ["y"])]), "must have one attribute"),
        (model_of([helper.make_node("Constant", [], [], value_int=1)]), "0 operands and 0 results"),
        (model_of([helper.make_node("Add", ["x"], ["y"])]), "1 operands and 1 results"),
        (model_of([helper.make_node("Add", ["", "x"], ["y"])]), "lacks the operand 'A'"),
        (model_of([helper.make_node("Softmax", ["x"], ["y"], axis=1.0)]), "attribute 'axis' that it cannot have"),
        (model_of([helper.make_node("Softmax", ["x"], ["y"], axes=[1])]), "attribute 'axes' that it cannot have"),
        (model_of([helper.make_node("Concat", ["x"], ["y"])]), "lacks the attribute 'axis'"),
        (model_of([helper.make_node("relu6", ["x", "x"], ["y"], domain="lucid")]), "relu6 takes 1 operands"),
        (model_of([helper.make_node("var", ["x"], ["y"], domain="lucid", dim=1)]), "attribute 'dim' is not"),
    ],
)
def test_damaged_files(model, message):
    with pytest.raises(ValueError, match=message):
        lucid.onnx.load(model)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (helper.make_node("Softmax", ["x"], ["y"], axis=7), "axis is 7"),
        (helper.make_node("Transpose", ["x"], ["y"], perm=[0, 0]), "permute"),
        (helper.make_node("Gelu", ["x"], ["y"], approximate="no"), "approximate is 'no'"),
        (helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[0]), "kernel_shape"),
        (helper.make_node("Split", ["x"], ["y", "z"], num_outputs=2, axis=5), "axis is 5"),
        (helper.make_node("LpPool", ["x"], ["y"], kernel_shape=[2**40]), "does not fit"),
        (helper.make_node("Conv", ["x", "x"], ["y"]), "a convolution of 2 dimensions is not supported"),
    ],
)
def test_nodes_that_make_no_sense_raise_when_they_run(node, message):
    loaded = lucid.onnx.load(model_of([node]))
    with pytest.raises((ValueError, NotImplementedError), match=message):
        loaded(lucid.ones(2, 3))


def external(tmp_path, **entries):
    data = np.arange(6, dtype=np.float32)
    folder = tmp_path / "model"
    folder.mkdir(exist_ok=True)
    (folder / "weights").write_bytes(data.tobytes())
    (tmp_path / "outside").write_bytes(data.tobytes())
    tensor = TensorProto(name="w", data_type=1, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    path = folder / "net.onnx"
    path.write_bytes(model_of([helper.make_node("Add", ["x", "w"], ["y"])], [tensor]).SerializeToString())
    return path


def test_external_data_inside_the_folder(tmp_path):
    loaded = lucid.onnx.load(external(tmp_path, location="weights", offset="0", length="24"))
    assert loaded(lucid.zeros(2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="load the model by its path"):
        lucid.onnx.load(external(tmp_path, location="weights").read_bytes())


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"location": "../outside"}, "not inside the model's folder"),
        ({"location": "/etc/passwd"}, "not inside the model's folder"),
        ({"location": ""}, "not inside the model's folder"),
        ({"location": "link"}, "not inside the model's folder"),
        ({"location": "absent"}, "does not exist"),
        ({"location": "weights", "offset": "100"}, "which has 24 bytes"),
        ({"location": "weights", "length": "999999999999"}, "which has 24 bytes"),
        ({"location": "weights", "offset": "-4"}, "which has 24 bytes"),
        ({"location": "weights", "offset": "x"}, "not a number"),
        ({"location": "weights", "offset": "4"}, "has 20 bytes"),
    ],
)
def test_external_data_elsewhere_is_refused(tmp_path, entries, message):
    path = external(tmp_path, **entries)
    (path.parent / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(ValueError, match=message):
        lucid.onnx.load(path)


def test_random_damage_never_crashes():
    proto = lucid.onnx.export(small(), lucid.randn(2, 2, 5)).SerializeToString()
    random = np.random.default_rng(0)
    x = lucid.randn(2, 2, 5)
    for _ in range(300):
        data = bytearray(proto)
        for place in random.integers(0, len(data), random.integers(1, 4)):
            data[place] = random.integers(0, 256)
        with contextlib.suppress(ValueError, NotImplementedError, TypeError, IndexError):
            lucid.onnx.load(bytes(data))(x)


def test_names_that_modules_cannot_have():
    names = ["forward", "a", "a.b", "x y/z", "..", "training", "_steps"]
    tensors = [helper.make_tensor(name, TensorProto.FLOAT, [], [float(i)]) for i, name in enumerate(names)]
    model = model_of([helper.make_node("Sum", ["x", *names], ["y"])], tensors)
    loaded = lucid.onnx.load(model)
    assert loaded(lucid.zeros(2, 3)).tolist() == [[21.0] * 3] * 2
    assert len(loaded.state_dict()) == len(names)
    assert loaded.training
