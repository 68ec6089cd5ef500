"""`lucid.onnx.export`: every op of the table that it covers, and what a file holds."""

import pathlib
import re

import lucid
import lucid.onnx
import numpy as np
import onnx
import pytest
from interpreter import run_python
from lucid import nn
from lucid.onnx._node import Node
from lucid.onnx._not_exported import not_exported
from lucid.onnx._pairs import PAIRS
from lucid.onnx._tables import DIRECT, FUNCTIONS
from module_cases import CASES
from onnx_runs import bits, called, check, error, results_of, run_elsewhere
from op_samples import make_call
from same import tensors_in

DOCUMENT = (pathlib.Path(__file__).parents[2] / "docs/onnx.md").read_text()
EXPORTED = set(DIRECT) | set(FUNCTIONS)
TABLE = [entry for entry in lucid._core.op_table() if entry["name"] in EXPORTED]
# The runtime has no kernels for the others, or not for all ops.
COMPARED = (lucid.float32, lucid.int64, lucid.bool)
# Samples that are not exported, with a part of the reason.
REFUSED = {
    **{f"conv{n}d": "convolution of integers" for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": "convolution of integers" for n in (1, 2, 3)},
    "convolution": "convolution of",
    "scatter_reduce": "reduction of bools",
}


def exported(function, tensors, **options):
    """The model, or None and the reason why there is none."""
    try:
        return lucid.onnx.export(function, tuple(tensors), **options), ""
    except NotImplementedError as error:
        return None, str(error)


def lacks_channels(entry, tensors):
    """Whether it is a convolution without channels, of which onnxruntime leaves the result uninitialized."""
    return entry["name"].startswith("conv") and any(tensor.numel() == 0 for tensor in tensors)


@pytest.mark.filterwarnings("ignore:.* are broadcast:UserWarning")
@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry["name"])
def test_op(entry):
    """Every sample of an op: onnxruntime accepts it and agrees, and the loaded model gives the same bits."""
    checked = 0
    for dtype in entry["dtypes"]:
        for position in range(len(entry["samples"])):
            if dtype not in COMPARED and position > 0:
                continue
            function, tensors = called(make_call(entry, position, dtype))
            expected = function(*tensors)
            proto, refusal = exported(function, tensors)
            if proto is None:
                assert REFUSED[entry["name"]] in refusal
                continue
            assert bits(lucid.onnx.load(proto)(*tensors)) == bits(expected), (position, dtype)
            checked += 1
            if dtype in COMPARED and not lacks_channels(entry, tensors):
                for found, tensor in zip(run_elsewhere(proto, tensors), results_of(expected), strict=True):
                    assert error(found, tensor) <= 1e-5, (position, dtype)
    assert checked > 0


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.op)
def test_a_pair_is_both_ways(pair):
    """Samples of the op become the node, which runs as the op."""
    [entry] = [entry for entry in TABLE if entry["name"] == pair.op]
    found = 0
    for position in range(len(entry["samples"])):
        for dtype in entry["dtypes"]:
            proto, _ = exported(*called(make_call(entry, position, dtype)))
            nodes = [node for node in proto.graph.node if node.op_type == pair.node]
            assert len(nodes) <= 1
            for node in nodes:
                attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
                assert set(attributes) == {*pair.attributes, *pair.constants}
                assert Node(pair.node, 1, attributes, {}, 1, "").pair is pair
                found += 1
    assert found > 0


@pytest.mark.parametrize("opset", [13, 15, 16, 17, 18, 19, 20, 21, 22])
def test_other_opsets(opset):
    """The first sample of each op."""
    refused = set()
    for entry in TABLE:
        if lucid.float32 not in entry["dtypes"]:
            continue
        function, tensors = called(make_call(entry, 0, lucid.float32))
        proto, refusal = exported(function, tensors, opset=opset)
        if proto is None:
            assert "from opset" in refusal
            refused.add(entry["name"])
        else:
            check(function, tensors, opset=opset)
    late = {"scatter_amax", "scatter_amin"} if opset < 18 else set()
    if opset < 16:
        late |= {"scatter_add", "scatter_mul", "index_add", "index_put_add", "fold", "grid_sample"}
        late |= {"scatter_reduce"}
    assert refused == late


def test_every_entry_is_exported_or_has_a_reason():
    names = {entry["name"] for entry in lucid._core.op_table()}
    assert names >= EXPORTED
    reasons = not_exported(EXPORTED)
    assert set(reasons) == names - EXPORTED
    assert "ONNX has no equivalent" not in reasons.values()


def test_the_documentation_lists_what_is_not_exported():
    public = set(lucid._core.public_ops)
    table = {entry["name"] for entry in lucid._core.op_table()}
    counted = f"Of the {len(table)} entries of the op table, {len(EXPORTED)} are exported"
    assert f"{counted}; of the {len(public)} public ones, {len(public & EXPORTED)}." in DOCUMENT
    listed = DOCUMENT.partition("### Ops of Lucid that are not exported")[2].partition("\n\nConvolutions")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == table - EXPORTED


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(4, 3)

    def forward(self, image):
        x = self.drop(self.norm(self.conv(image)).relu())
        return self.out(x.mean(dim=(2, 3)))


def test_names_of_parameters_and_buffers():
    net = Net().eval()
    proto = check(net, [lucid.randn(2, 1, 5, 5)])
    names = [each.name for each in proto.graph.initializer]
    assert names[:6] == ["conv.weight", "conv.bias", "norm.weight", "norm.bias", "out.weight", "out.bias"]
    assert names[6:] == ["norm.running_mean", "norm.running_var"]
    assert [each.name for each in proto.graph.input] == ["image"]
    assert [each.name for each in proto.graph.output] == ["output"]
    onnx.checker.check_model(proto, full_check=True)


def test_names_that_are_given():
    def f(x, y):
        return {"sum": x + y, "parts": [x, y * 2]}

    args = lucid.ones(2), lucid.ones(2)
    proto = lucid.onnx.export(f, args, input_names=["a", "b"], output_names=["c", "d", "e"])
    assert [each.name for each in proto.graph.input] == ["a", "b"]
    assert [each.name for each in proto.graph.output] == ["c", "d", "e"]
    assert bits(lucid.onnx.load(proto)(*args)) == bits((args[0] + args[1], args[0], args[1] * 2))
    with pytest.raises(ValueError, match="input_names must be 2 different names"):
        lucid.onnx.export(f, args, input_names=["a"])
    with pytest.raises(ValueError, match="output_names must be 3 different names"):
        lucid.onnx.export(f, args, output_names=["a", "a", "b"])
    with pytest.raises(ValueError, match="'x' is the name of an input"):
        lucid.onnx.export(f, args, output_names=["x", "u", "v"])


def test_training_mode_is_refused():
    x = lucid.randn(2, 1, 5, 5)
    with pytest.raises(ValueError, match=r"test_onnx_export.py:\d+: random_dropout draws random numbers.*model.eval"):
        lucid.onnx.export(Net(), x)
    with pytest.raises(ValueError, match=r"changes a tensor that exists before it.*model\.eval"):
        lucid.onnx.export(nn.BatchNorm2d(4), lucid.randn(2, 4, 5, 5))
    with pytest.raises(ValueError, match="changes a tensor that exists before it"):
        lucid.onnx.export(lambda x: x.add_(1), x)


def test_an_op_that_onnx_cannot_express_is_named_with_its_line():
    log_probs = lucid.randn(5, 2, 4).log_softmax(-1)
    target, lengths = lucid.tensor([[1, 2], [3, 1]]), (lucid.tensor([5, 5]), lucid.tensor([2, 2]))
    with pytest.raises(NotImplementedError, match=r"test_onnx_export.py:\d+: ctc_loss cannot be exported"):
        lucid.onnx.export(lambda x: nn.functional.ctc_loss(x, target, *lengths), log_probs)
    with pytest.raises(ValueError, match="depends on values"):
        lucid.onnx.export(lambda x: x[x > 0], lucid.randn(4))


def test_other_arguments_that_are_refused():
    with pytest.raises(ValueError, match="opset must be from 13 to 23, got 12"):
        lucid.onnx.export(nn.ReLU(), lucid.ones(2), opset=12)
    with pytest.raises(TypeError, match="expects a module or a function"):
        lucid.onnx.export(3, lucid.ones(2))
    with pytest.raises(ValueError, match="dynamic names 'y'"):
        lucid.onnx.export(nn.ReLU(), lucid.ones(2), dynamic={"y": {0: "n"}})
    with pytest.raises(IndexError, match="dimension 1"):
        lucid.onnx.export(nn.ReLU(), lucid.ones(2), input_names=["x"], dynamic={"x": {1: "n"}})


def test_views_of_one_captured_tensor():
    """The file has the tensor once."""
    w = lucid.randn(3, 3)
    v = w.t()

    def f(x):
        return x[:2] @ v + w[1] * x.sum() + w.diagonal()

    proto = lucid.onnx.export(f, lucid.ones(2, 3))
    assert len(proto.graph.initializer) == 1
    x = lucid.randn(2, 3)
    assert lucid.equal(lucid.onnx.load(proto)(x), f(x))


def test_numbers_constants_and_writes():
    table = lucid.tensor([[1.0, 2.0], [3.0, 4.0]])

    def f(x, k):
        z = x.clone()
        z[0] = 5.0
        z[:, 1] += k
        return z @ table + lucid.tensor([0.5, -0.5]), x[:, [1, 0]], z.t()

    x = lucid.randn(3, 2)
    proto = lucid.onnx.export(f, (x, 2))
    assert [each.name for each in proto.graph.input] == ["x"]
    assert bits(lucid.onnx.load(proto)(x)) == bits(f(x, 2))
    for found, tensor in zip(run_elsewhere(proto, [x]), f(x, 2)):
        assert error(found, tensor) <= 1e-6


def test_compiled_functions_are_exported_as_what_they_compile():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    x = lucid.randn(2, 3)
    fast = net.compile()
    fast(x)
    plain, compiled = (lucid.onnx.export(each, x) for each in (net, fast))
    assert compiled.SerializeToString() == plain.SerializeToString()
    check(lucid.compile(lambda x: (x * 2).sum()), [x])


def test_recurrent_layers_become_their_steps():
    lstm = nn.LSTM(3, 4)

    def f(x):
        return lstm(x)[0]

    check(f, [lucid.randn(5, 2, 3)])


def test_sizes_that_vary():
    def f(x):
        n = x.shape[0]
        y = x.reshape(n * 2, -1).unflatten(0, (n, 2)) / n
        return lucid.cat([y, y], 0)[: n // 2], lucid.arange(n), lucid.zeros_like(x)

    x = lucid.randn(6, 4)
    proto = lucid.onnx.export(f, x, dynamic={"x": {0: "batch"}})
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    loaded = lucid.onnx.load(proto)
    for size in (6, 9, 2):
        x = lucid.randn(size, 4)
        assert bits(loaded(x)) == bits(f(x))
        for found, tensor in zip(run_elsewhere(proto, [x]), f(x)):
            assert error(found, tensor) <= 1e-6


def test_a_size_that_the_call_depends_on_cannot_vary():
    def f(x):
        return x + lucid.tensor(list(range(int(x.shape[0]))))

    with pytest.raises(ValueError, match=r"does something else unless n-4 == 0 \(n is dimension 0 of 'x'\)"):
        lucid.onnx.export(f, lucid.ones(4), dynamic={"x": {0: "n"}})


def test_a_call_that_catches_an_error_has_no_dynamic_sizes():
    def function(x):
        try:
            return x + lucid.ones(3)
        except ValueError:
            return x * 10

    with pytest.raises(ValueError, match="catches an error"):
        lucid.onnx.export(function, lucid.ones(5), dynamic={"x": {0: "n"}})


def test_a_file_and_no_file(tmp_path):
    net = nn.Linear(3, 2)
    x = lucid.randn(4, 3)
    proto = lucid.onnx.export(net, x, tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").read_bytes() == proto.SerializeToString()
    assert bits(lucid.onnx.load(tmp_path / "net.onnx")(x)) == bits(net(x))


def test_the_package_is_imported_on_first_use_and_named_if_it_is_missing():
    code = """
import sys, lucid
assert "onnx" not in sys.modules and "lucid.onnx" not in sys.modules
sys.modules["onnx"] = None
import lucid.onnx
try:
    lucid.onnx.export(lucid.nn.ReLU(), lucid.ones(2))
except ImportError as error:
    assert "pip install lucid-jit[onnx]" in str(error), error
else:
    raise AssertionError
"""
    run_python(code)


def test_names_do_not_clash():
    def f(v1, v2, output):
        return v1 * 2 + v2 * 3 + output

    x, y, z = lucid.randn(2), lucid.randn(2), lucid.randn(2)
    proto = check(f, [x, y, z])
    assert [each.name for each in proto.graph.output] == ["output_"]
    proto = lucid.onnx.export(f, (x, y, z), output_names=["v3"])
    assert bits(lucid.onnx.load(proto)(x, y, z)) == bits(f(x, y, z))


def test_constants_of_an_entry_that_declines_stay_usable():
    """The direct form of a clamp with a tensor writes nothing; a later use of the same numbers must find them."""

    def f(x, low):
        y = x.clamp(low, 0.5) + lucid.interpolate(x.reshape(1, 1, 4), scale_factor=1.7).sum()
        return y * 0.5 + 1.7, lucid.layer_norm(y.double(), [4], eps=1e-7).float() * 0.5

    check(f, [lucid.randn(4), lucid.tensor(-0.5)])


def test_sizes_with_many_symbols_have_their_names():
    args = [lucid.randn(2 + i) for i in range(11)]

    def f(*parts):
        return lucid.cat(list(parts)), parts[10] * 2

    names = [f"p{i}" for i in range(11)]
    dynamic = {name: {0: f"n{i}"} for i, name in enumerate(names)}
    proto = lucid.onnx.export(f, tuple(args), input_names=names, dynamic=dynamic)
    assert proto.graph.output[1].type.tensor_type.shape.dim[0].dim_param == "n10"
    assert bits(lucid.onnx.load(proto)(*args)) == bits(f(*args))


def test_a_tensor_that_is_passed_twice_is_two_inputs():
    x, y = lucid.randn(2), lucid.randn(2)
    proto = lucid.onnx.export(lambda a, b: a - b, (x, x))
    assert bits(lucid.onnx.load(proto)(x, y)) == bits(x - y)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_every_module(case):
    """In f32 and evaluation mode; named arguments keep their values."""

    def converted(value):
        tensor = lucid.tensor(value)
        return tensor.float() if tensor.is_floating_point() else tensor

    def named_value(value):
        return converted(value) if isinstance(value, np.ndarray) else value

    lucid.manual_seed(2)
    kwargs = {name: named_value(value) for name, value in case.kwargs.items()}
    module = getattr(nn, case.name)(*case.args, **kwargs).eval()
    inputs = [converted(make()) for make in case.inputs]
    named = {name: named_value(value) for name, value in case.named.items()}

    def call(*args):
        return list(tensors_in(module(*args, **named)))

    if "max_norm" in kwargs:
        # It scales the weights that the call uses.
        with pytest.raises(ValueError, match="changes a tensor that exists before it"):
            lucid.onnx.export(call, tuple(inputs))
        return
    proto, refusal = exported(call, inputs)
    if proto is None:
        assert case.name == "CTCLoss"
        assert "ctc_loss cannot be exported" in refusal
        return
    with lucid.no_grad():
        check(call, inputs)
