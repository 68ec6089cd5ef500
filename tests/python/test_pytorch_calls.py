"""Calls and mistakes of programs that came from PyTorch or NumPy: they work as there, or say what is wrong."""

import copy
import inspect
import math
import pickle
import warnings

import lucid
import numpy as np
import pytest
from lucid import nn
from lucid.nn import functional as F
from same import bits, check

X = [[1.0, -5.0], [4.0, 2.0]]
OPTIMIZERS = [
    getattr(lucid.optim, name)
    for name in lucid.optim.__all__
    if inspect.isclass(getattr(lucid.optim, name)) and name != "Optimizer"
]


# Optimizers.


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_swapped_arguments_of_an_optimizer(optimizer):
    parameters = [nn.Parameter(lucid.ones(2, 2))]
    name = optimizer.__name__
    with pytest.raises(TypeError, match=rf"{name}: .* the arguments are swapped: write {name}\(params, lr=0.001\)"):
        optimizer(1e-3, parameters)
    model = nn.Linear(2, 2)
    with pytest.raises(TypeError, match=rf"{name}: .* not a module; use module.parameters\(\)"):
        optimizer(model)
    with pytest.raises(TypeError, match=rf"{name}: .* not a function; call it: parameters\(\)"):
        optimizer(model.parameters)
    with pytest.raises(TypeError, match=f"{name}: the parameters must be an iterable of tensors, not None"):
        optimizer(None)
    with pytest.raises(TypeError, match=f"{name}: the parameters must be an iterable of tensors, not a str"):
        optimizer("weight")
    with pytest.raises(TypeError, match="params: expected tensors, not a str"):
        optimizer(["weight"])


def test_swapped_arguments_of_functions_that_clip():
    x = nn.Parameter(lucid.ones(2))
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        clip = getattr(nn.utils, name)
        with pytest.raises(TypeError, match=rf"{name}: .* are swapped: write {name}\(parameters, 1.0\)"):
            clip(1.0, [x])
        with pytest.raises(TypeError, match=r"use module\.parameters\(\)"):
            clip(nn.Linear(2, 2), 1.0)
        with pytest.raises(TypeError, match=rf"{name}: argument 'parameters' must be a tensor, not a numpy\.ndarray"):
            clip([np.ones(2)], 1.0)


def test_other_arguments_that_are_swapped_or_lists():
    optimizer = lucid.optim.SGD([nn.Parameter(lucid.ones(2))], lr=0.1)
    with pytest.raises(TypeError, match="StepLR: optimizer must be an Optimizer, not an int"):
        lucid.optim.lr_scheduler.StepLR(30, optimizer)
    with pytest.raises(TypeError, match=r"the modules are arguments, not a list; write Sequential\(\*modules\)"):
        nn.Sequential([nn.ReLU()])


def test_clipping_reads_no_values():
    """Not even for a message that is not needed."""

    def world():
        w = lucid.tensor([1.0, 2.0], requires_grad=True)
        optimizer = lucid.optim.SGD([w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = (w * x).square().sum()
            loss.backward()
            nn.utils.clip_grad_norm_([w], 1.0)
            optimizer.step()
            return loss.detach()

        return step, [[lucid.tensor([float(i), 1.0])] for i in range(5)], [w]

    check(world)


@pytest.mark.parametrize(
    ("layer", "name"), [(nn.Linear(2, 2), "Linear"), (nn.ReLU(), "ReLU"), (nn.Sequential(nn.Linear(2, 2)), "Linear")]
)
def test_modules_say_what_they_got(layer, name):
    """An array has __index__, so that it looks like a number to code that asks."""
    for given, what in ((np.ones((2, 2)), "a numpy.ndarray"), ([1.0], "a list"), (None, "None"), ("x", "a str")):
        with pytest.raises(TypeError, match=rf"{name}\.forward: argument 'input' must be a tensor, not {what}"):
            layer(given)
    with pytest.raises(TypeError, match=r"input must be a tensor, not a numpy\.ndarray"):
        nn.LSTM(2, 2)(np.ones((2, 2)))
    with pytest.raises(TypeError, match=r"relu_: the first argument must be the tensor to write, not a numpy\.ndarray"):
        F.relu(np.ones(2), True)
    with pytest.raises(TypeError, match=r"save: obj\['x'\] is a numpy.ndarray; .* convert it with lucid.as_tensor"):
        lucid.save({"x": np.ones(2)}, "unused")
    with pytest.raises(TypeError, match=r"save: obj is a .*; pass its state_dict\(\)"):
        lucid.save(layer, "unused")


# Functions.


@pytest.mark.parametrize("name", lucid._core.inplace_functions)
def test_activations_take_inplace_after_their_parameters(name):
    function = getattr(F, name)
    *others, last = list(inspect.signature(function).parameters.values())[1:]
    assert (last.name, last.default) == ("inplace", False)
    given = [0.5 if other.default is inspect.Parameter.empty else other.default for other in others]
    x = lucid.tensor(X)
    expected = function(x, *given)
    assert bits(x) == bits(lucid.tensor(X))
    assert function(x, *given, False) is not x
    assert function(x, *given, True) is x
    assert bits(x) == bits(expected)
    x = lucid.tensor(X)
    assert function(x, *given, inplace=True) is x
    assert bits(x) == bits(expected)
    with pytest.raises(TypeError):
        function(x, *given, True, True)


def test_dropout_takes_inplace_by_position():
    x = lucid.ones(4)
    assert F.dropout(x, 0.5, True, True) is x
    assert F.rrelu(x, 0.1, 0.3, False, True) is x


def test_tensordot_takes_a_pair_of_dimensions():
    x, y = lucid.tensor(X), lucid.tensor(X) + 1
    expected = np.tensordot(x.numpy(), y.numpy(), ([0], [1]))
    for dims in (([0], [1]), [[0], [1]], ((0,), (1,)), (0, 1), lucid.tensor([[0], [1]])):
        assert lucid.tensordot(x, y, dims).tolist() == expected.tolist()
        assert lucid.tensordot(x, y, dims=dims).tolist() == expected.tolist()
        assert x.tensordot(y, axes=dims).tolist() == expected.tolist()
    assert lucid.tensordot(x, y, [0], [1]).tolist() == expected.tolist()
    assert lucid.tensordot(x, y, dims=([0, 1], [1, 0])).item() == np.tensordot(x.numpy(), y.numpy(), ([0, 1], [1, 0]))
    assert lucid.tensordot(x, y, 1).tolist() == (x @ y).tolist()
    with pytest.raises((ValueError, IndexError)):
        lucid.tensordot(x, y, dims=([0], [5]))


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_larger_of_a_tensor_and_a_number_in_a_tensor(name):
    x, zero = lucid.tensor(X), lucid.tensor(0.0)
    expected = getattr(lucid, f"{name}imum")(x, zero)
    assert bits(getattr(lucid, name)(x, zero)) == bits(expected)
    assert bits(getattr(x, name)(zero)) == bits(expected)
    assert bits(getattr(lucid, name)(x, lucid.tensor(0))) == bits(expected)
    # Python's own functions compare, so they need one element.
    builtin = {"max": max, "min": min}[name]
    first, second = lucid.tensor(1.0), lucid.tensor(2)
    assert builtin(first, second) is {"max": second, "min": first}[name]
    assert builtin(lucid.tensor([3.0, 1.0])).item() == {"max": 3.0, "min": 1.0}[name]
    with pytest.raises(RuntimeError):
        builtin(x, zero)


# NumPy's functions call the method of the same name.

NUMPY = ["max", "min", "mean", "sum", "prod", "std", "var", "any", "all", "argmax", "argmin"]


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": -1}], ids=str)
def test_reductions_of_numpy(name, options):
    x = lucid.tensor(X)
    function = getattr(np, name)
    expected = function(x.numpy(), **options)
    found = function(x, **options)
    assert type(found) is lucid.Tensor
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_options_of_reductions_of_numpy():
    x = lucid.tensor(X)
    for options in ({"ddof": 1}, {"dtype": np.float64}, {"ddof": 1, "axis": 0, "dtype": "float64"}):
        found, expected = np.var(x, **options), np.var(x.numpy(), **options)
        assert str(found.dtype).endswith(str(expected.dtype))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    assert np.mean(x, dtype=np.float64).dtype is lucid.float64
    assert np.max(x, axis=(0, 1)).item() == 4.0
    for name in ("max", "std"):
        with pytest.raises(TypeError, match=f"{name}: 'out' is not supported; assign the result"):
            getattr(np, name)(x, out=np.zeros(()))
    # PyTorch's form returns the indices too.
    assert x.max(axis=0).indices.tolist() == [1, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.round(x),
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: np.cumsum(x),
        lambda x: np.cumsum(x, axis=1),
        lambda x: np.sort(x),
        lambda x: np.argsort(x, axis=0),
        lambda x: np.transpose(x),
        lambda x: np.reshape(x, (4, 1)),
        lambda x: np.squeeze(x),
        lambda x: np.ptp(x),
        lambda x: np.median(x),
        lambda x: np.percentile(x, 50),
        lambda x: np.concatenate([x, x]),
        lambda x: np.stack([x, x]),
        lambda x: np.dot(x, x),
        lambda x: np.where(x > 0, x, 0),
        lambda x: np.exp(x),
        lambda x: np.abs(x),
        lambda x: np.linalg.norm(x),
        lambda x: np.count_nonzero(x),
        lambda x: np.unique(x),
        lambda x: np.take(x, [0]),
        lambda x: np.repeat(x, 2),
        lambda x: np.diagonal(x),
        lambda x: np.trace(x),
        lambda x: np.isnan(x),
        lambda x: np.allclose(x, x),
        lambda x: np.tensordot(x, x, ([0], [1])),
    ],
)
def test_other_functions_of_numpy(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = call(lucid.tensor(X))
    np.testing.assert_allclose(np.asarray(found), call(np.array(X, np.float32)), rtol=1e-5)


def test_copy_and_fill_take_keywords():
    x, y = lucid.zeros(2, 2), lucid.tensor(X)
    assert x.copy_(y, non_blocking=True) is x
    assert lucid.equal(x.copy_(y, True), y)
    assert lucid.equal(lucid.zeros(2, 2).copy_(source=y), y)
    assert x.fill_(value=3).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    for call in (
        lambda: x.copy_(),
        lambda: x.copy_(y, source=y),
        lambda: x.copy_(y, other=1),
        lambda: x.fill_(1, 2, 3),
    ):
        with pytest.raises(TypeError, match=r"(copy|fill)_: "):
            call()


# Making tensors.


@pytest.mark.parametrize("arguments", [(5,), (2, 3), (5.0,), (True,), (np.int64(5),), (2, 3, 4, 5)], ids=str)
def test_tensor_of_a_size_is_not_a_tensor_of_a_number(arguments):
    with pytest.raises(TypeError, match=r"Tensor: .* use lucid\.tensor for a number, lucid\.empty .* for a shape"):
        lucid.Tensor(*arguments)
    assert lucid.Tensor().shape == (0,)
    assert lucid.Tensor([5]).tolist() == [5]
    assert lucid.Tensor(lucid.tensor(5)).item() == 5


# Formatting.


def test_a_tensor_without_dimensions_formats_as_its_number():
    loss = lucid.tensor(1.23456, requires_grad=True) * 1
    assert f"{loss}" == str(loss.item())
    assert f"{loss:.4f} {loss:>8.2f} {loss:e} {loss:g}" == "1.2346     1.23 1.234560e+00 1.23456"
    assert f"{lucid.tensor(3)} {lucid.tensor(3):03d} {lucid.tensor(3):.1f} {lucid.tensor(True)}" == "3 003 3.0 True"
    assert "%.2f %d %s" % (loss, lucid.tensor(3), lucid.tensor(3)) == "1.23 3 tensor(3)"  # noqa: UP031
    assert f"{loss!r}" == repr(loss) == str(loss)
    assert f"{lucid.tensor([3.0])}" == "tensor([3.])"
    assert math.isclose(math.sqrt(loss), loss.item() ** 0.5)
    # A subclass shows what it is.
    assert f"{nn.Parameter(lucid.tensor(1.0))}" == repr(nn.Parameter(lucid.tensor(1.0)))
    with pytest.raises(TypeError, match=r"format: '.2f' applies to numbers, but the tensor has shape \(1,\)"):
        f"{lucid.tensor([3.0]):.2f}"
    with pytest.raises(ValueError, match="Unknown format code 'd' for object of type 'float'"):
        f"{loss:d}"


@pytest.mark.parametrize("spec", ["", ".4f"])
def test_formats_of_a_compiled_function(spec):
    def returns():
        def f(x):
            total = x.sum()
            return format(total, spec), total * 2

        return f, [[lucid.tensor([1.0, i / 3])] for i in range(5)], []

    def prints():
        def f(x):
            loss = x.square().mean()
            print(f"loss {loss:{spec}}")
            return loss

        return f, [[lucid.tensor([1.0, i / 3])] for i in range(5)], []

    for world in (returns, prints):
        found, compiled = [], []
        for wrap, seen in ((lambda f: f, found), (lucid.compile, compiled)):
            f, calls, _ = world()
            f = wrap(f)
            seen += [bits(f(*call)) for call in calls]
        assert found == compiled


# Copies and pickles.


def test_the_result_of_an_operation_is_pickled_as_a_leaf():
    """As in PyTorch: the values, and that they require grad."""
    result = lucid.tensor([1.0, 2.0], requires_grad=True) * 2
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        loaded = pickle.loads(pickle.dumps({"loss": result}, protocol))["loss"]
        assert loaded.tolist() == [2.0, 4.0]
        assert loaded.requires_grad
        assert loaded.is_leaf
    with pytest.raises(RuntimeError, match=r"deepcopy: only leaves .* detach\(\) or clone\(\)"):
        copy.deepcopy(result)
    assert copy.copy(result).grad_fn is not None
