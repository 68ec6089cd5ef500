"""inspect.signature of everything public: editors, help() and code that adapts to a function's parameters read it."""

import ast
import importlib
import inspect
import pathlib
import types

import lucid
import numpy as np
import pytest
from lucid import nn
from module_cases import CASES

MODULES = [
    "lucid",
    "lucid.array_api",
    "lucid.autograd",
    "lucid.backend",
    "lucid.compiler",
    "lucid.gpu",
    "lucid.models",
    "lucid.nn",
    "lucid.nn.functional",
    "lucid.nn.init",
    "lucid.nn.utils",
    "lucid.nn.utils.rnn",
    "lucid.onnx",
    "lucid.optim",
    "lucid.optim.lr_scheduler",
    "lucid.utils.data",
]
# Functions that take any number of arguments; the other parameters of modules and functions have names.
ANY_NUMBER = {
    "Function.apply",
    "Function.forward",
    "Identity",
    "JITFunction.graph",
    "JITModule.compile",
    "JITModule.graph",
    "Module.forward",
    "ONNXModule.forward",
    "PackedSequence.to",
    "Sequential",
    "StackDataset",
    "Tensor.view",
    "TensorDataset",
    "broadcast_arrays",
    "broadcast_shapes",
    "result_type",
}
ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def public():
    """Everything public that can be called, by its path below lucid."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for path in dir(module):
            value = getattr(module, path)
            if path.startswith("_") or not callable(value) or isinstance(value, types.ModuleType):
                continue
            if not str(getattr(value, "__module__", "")).startswith("lucid"):
                continue  # imported from elsewhere
            prefix = f"{name.removeprefix('lucid').lstrip('.')}."
            found[(prefix + path).lstrip(".")] = value
            if inspect.isclass(value) and not issubclass(value, BaseException):
                for key in dir(value):
                    method = getattr(value, key)
                    if not key.startswith("_") and callable(method):
                        found[f"{prefix}{path}.{key}".lstrip(".")] = method
    return found


def needs_no_signature(value):
    """Exceptions, which take what Exception takes, and bound classes that only Lucid makes: the nodes of a graph."""
    if not inspect.isclass(value):
        return False
    if issubclass(value, BaseException):
        return True
    try:
        value()
    except TypeError as error:
        return "no constructor defined" in str(error)
    return False


def is_named(signature):
    others = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    return not others or any(parameter.kind not in ANY for parameter in others)


def test_everything_public_has_a_signature_with_names():
    everything = public()
    assert len(everything) > 1000
    without, vague = [], set()
    for path, value in everything.items():
        try:
            signature = inspect.signature(value)
        except ValueError:
            if not needs_no_signature(value):
                without.append(path)
            continue
        if not is_named(signature):
            vague.add(value.__qualname__)
    assert without == []
    assert vague == ANY_NUMBER


SOURCES = pathlib.Path(lucid.__file__).parent


def declarations(body):
    """The names of parameters of each function in a stub, of all its overloads."""
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and not any("property" in ast.unparse(d) for d in node.decorator_list):
            a = node.args
            given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, [a.vararg, a.kwarg])]
            found.setdefault(node.name, set()).update(argument.arg for argument in given)
    return found


def stub(name):
    return ast.parse((SOURCES / name).read_text()).body


CORE = stub("_core.pyi")
METHODS = {node.name: declarations(node.body) for node in CORE if isinstance(node, ast.ClassDef)}
OWNERS = {
    "functions of the op table": (lucid, declarations(stub("__init__.pyi"))),
    "other functions": (
        lucid,
        {
            name: names
            for name, names in declarations(CORE).items()
            if getattr(lucid, name, None) is getattr(lucid._core, name)
        },
    ),
    "Tensor": (lucid.Tensor, METHODS["Tensor"]),
    "Generator": (lucid.Generator, METHODS["Generator"]),
}


@pytest.mark.parametrize("kind", OWNERS)
def test_signatures_have_the_names_of_the_stubs(kind):
    """Names that only the stubs have are other spellings, such as axis for dim."""
    owner, declared = OWNERS[kind]
    assert declared
    for name, known in declared.items():
        if name.startswith("__"):
            continue
        found = list(inspect.signature(getattr(owner, name)).parameters)
        # The first parameter of a method is the tensor, whatever its name.
        found = found[1:] if inspect.isclass(owner) else found
        assert set(found) - {"args", "kwargs"} <= known, name


# Layers, whose forward() is written in C++.


def made(case):
    def own(value):
        return lucid.tensor(value) if isinstance(value, np.ndarray) else value

    return getattr(nn, case.name)(*map(own, case.args), **{name: own(value) for name, value in case.kwargs.items()})


LAYERS = {case.name: made(case) for case in CASES}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_signatures_of_forward_are_what_the_layers_take(layer):
    signature = inspect.signature(layer.forward)
    parameters = list(signature.parameters.values())
    assert parameters
    assert all(parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)
    assert inspect.signature(type(layer).forward).parameters.keys() == {"self", *signature.parameters}
    required = [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]
    for count, name in enumerate(required):
        with pytest.raises(TypeError, match=f"'{name}'.* missing|missing .*'{name}'"):
            layer.forward(*[object()] * count)
    if isinstance(layer, nn.Identity):
        return  # it takes and ignores any further arguments
    for name in signature.parameters:
        others = {other: object() for other in required if other != name}
        with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
            layer.forward(**{name: object()}, **others)
        assert "unexpected keyword" not in str(caught.value)
        assert "missing" not in str(caught.value)
    with pytest.raises(TypeError, match="takes"):
        layer.forward(*[object()] * (len(parameters) + 1))
    with pytest.raises(TypeError, match="unexpected keyword argument 'other_name'"):
        layer.forward(*[object()] * len(required), other_name=object())


def test_a_layer_is_called_through_its_own_forward_only_if_python_overrides_it():
    class Twice(nn.Linear):
        def forward(self, input):
            return 2 * super().forward(input)

    class Mixin:
        def forward(self, input):
            return input

    class Mixed(Mixin, nn.Linear):
        pass

    x = lucid.ones(1, 2)
    layer = Twice(2, 2)
    assert lucid.equal(layer(x), 2 * nn.functional.linear(x, layer.weight, layer.bias))
    assert Mixed(2, 2)(x) is x
    assert str(inspect.signature(layer.forward)) == "(input)"
    plain = nn.Linear(2, 2)
    plain.forward = lambda input: input
    assert plain(x) is x
    with pytest.raises(TypeError, match="descriptor 'forward' for 'Linear' objects"):
        nn.Linear.forward(nn.ReLU(), x)


def test_compiled_functions_and_modules_show_the_signature_of_what_they_run():
    def f(x, y=2, *, z=None):
        return x + y

    assert inspect.signature(lucid.compile(f)) == inspect.signature(f)
    assert inspect.signature(nn.Linear(2, 2).compile().forward).parameters


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lucid.tensor, "(data, dtype=None, device=None, requires_grad=False)"),
        (lucid.zeros, "(size, *, dtype=None, device=None, requires_grad=False)"),
        (lucid.add, "(x, y, *, alpha=1)"),
        (lucid.ones(2).view, "(*shape)"),
        (lucid.Tensor, "(data=(), dtype=None, device=None, requires_grad=False)"),
        (lucid.Generator().manual_seed, "(seed)"),
        (nn.functional.leaky_relu, "(input, negative_slope=0.01, inplace=False)"),
        (nn.CrossEntropyLoss().forward, "(input, target)"),
        (nn.EmbeddingBag(2, 2).forward, "(input, offsets=None, per_sample_weights=None)"),
    ],
)
def test_some_signatures(function, text):
    assert str(inspect.signature(function)) == text


def test_signatures_are_true():
    """A call with all arguments by name works."""
    assert lucid.tensor(data=[1], dtype="int32", device="cpu", requires_grad=False).tolist() == [1]
    assert lucid.zeros(size=(1,), dtype=lucid.float64, device="cpu", requires_grad=True).requires_grad
    assert lucid.rand(size=(2,), dtype=lucid.float64, generator=None, device=None, requires_grad=True).shape == (2,)
    sizes = {"image_size": 8, "patch_size": 4, "dim": 16, "heads": 2, "layers": 1, "hidden": 32, "num_classes": 5}
    assert lucid.models.vit(**sizes, dropout=0.0)(lucid.zeros(1, 3, 8, 8)).shape == (1, 5)
    with pytest.raises(TypeError, match="got several values for argument 'size'"):
        lucid.rand(2, size=(2,))
