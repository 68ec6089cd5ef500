"""PyTorch's tensors, state dicts and optimizer states, given to Lucid; formats, pickles and `alpha` as in PyTorch."""

import copy
import pickle

import lucid
import numpy as np
import pytest
import torch
from lucid.utils.data import DataLoader, TensorDataset, default_collate

LIBRARIES = lucid, torch


def make(library):
    return library.nn.Sequential(library.nn.Linear(3, 4), library.nn.BatchNorm1d(4), library.nn.Linear(4, 2))


@pytest.mark.parametrize("assign", [False, True])
def test_load_state_dict_of_a_model(assign):
    ours, theirs = make(lucid), make(torch)
    ours.load_state_dict(theirs.state_dict(), assign=assign)
    for name, tensor in theirs.state_dict().items():
        assert ours.state_dict()[name].tolist() == tensor.tolist()
    with torch.no_grad():
        theirs[0].weight.mul_(2)
    ours.load_state_dict({**dict(theirs.named_parameters()), **dict(theirs.named_buffers())})
    assert ours[0].weight.tolist() == theirs[0].weight.tolist()
    lucid.models.load_weights(ours, theirs.state_dict())


@pytest.mark.parametrize("name", ["Adam", "SGD"])
def test_load_state_dict_of_an_optimizer(name):
    options = {"lr": 0.1} | ({"momentum": 0.9} if name == "SGD" else {})
    ours, theirs = (library.nn.Sequential(library.nn.Linear(3, 4), library.nn.Linear(4, 2)) for library in LIBRARIES)
    theirs_optimizer = getattr(torch.optim, name)(theirs.parameters(), **options)
    optimizer = getattr(lucid.optim, name)(ours.parameters(), **options)
    data = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    theirs(torch.tensor(data)).square().sum().backward()
    theirs_optimizer.step()
    ours.load_state_dict(theirs.state_dict())
    optimizer.load_state_dict(theirs_optimizer.state_dict())
    for model, step, library in ((ours, optimizer, lucid), (theirs, theirs_optimizer, torch)):
        step.zero_grad()
        model(library.tensor(data)).square().sum().backward()
        step.step()
    for a, b in zip(ours.parameters(), theirs.parameters()):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_tensors(dtype):
    theirs = torch.tensor([[0, 1], [2, 3]]).to(getattr(torch, dtype))
    for convert in (lucid.tensor, lucid.as_tensor, lucid.from_dlpack):
        ours = convert(theirs)
        assert str(ours.dtype) == dtype
        assert ours.tolist() == theirs.tolist()
    assert lucid.tensor([theirs, theirs]).shape == (2, 2, 2)
    assert lucid.tensor(theirs[0, 1]).shape == ()
    with pytest.raises(BufferError, match="require"):
        lucid.tensor(torch.ones(2, requires_grad=True))


def test_loaders():
    x, y = torch.arange(6.0).reshape(3, 2), torch.arange(3)
    ((a, b),) = DataLoader(TensorDataset(x, y), batch_size=3)
    assert (type(a), a.tolist(), b.tolist()) == (lucid.Tensor, x.tolist(), y.tolist())
    a, b = default_collate([(x[i], {"y": y[i]}) for i in range(3)])
    assert (a.tolist(), b["y"].tolist()) == (x.tolist(), y.tolist())
    a, b = next(iter(DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=3)))
    assert (type(a), a.tolist(), b.tolist()) == (lucid.Tensor, x.tolist(), y.tolist())


def test_messages_name_the_library():
    for call in (
        lambda: lucid.add(lucid.ones(2), torch.ones(2)),
        lambda: lucid.nn.Linear(2, 2)(torch.ones(2)),
        lambda: lucid.optim.SGD([torch.ones(2)]),
        lambda: lucid.stack([lucid.ones(2), torch.ones(2)]),
        lambda: lucid.ones(2).copy_(torch.ones(2)),
        lambda: lucid.ones(2).view_as(torch.ones(2)),
        lambda: lucid.save({"x": torch.ones(2)}, "/nonexistent/file"),
    ):
        with pytest.raises(TypeError, match=r"torch\.Tensor"):
            call()


@pytest.mark.parametrize("spec", ["", ".4f", "10.3f", ">12", "e", "g", "%", "d", "s", "+.2f"])
@pytest.mark.parametrize("value", [1.23456, 3, True, -2.5], ids=str)
def test_formats(spec, value):
    def text(library):
        try:
            return format(library.tensor(value), spec)
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    assert text(lucid) == text(torch)


def test_pickles_and_copies():
    for library in (lucid, torch):
        result = library.tensor([1.0, 2.0], requires_grad=True) * 2
        loaded = pickle.loads(pickle.dumps(result))
        assert (loaded.tolist(), loaded.requires_grad, loaded.is_leaf) == ([2.0, 4.0], True, True)
        with pytest.raises(RuntimeError):
            copy.deepcopy(result)


VALUES = {"f32": [1.5, -2.0], "i64": [1, -2], "bool": [True, False], "number": 3, "float": 0.5}


@pytest.mark.parametrize("name", ["add", "sub"])
@pytest.mark.parametrize("y", VALUES)
@pytest.mark.parametrize("x", ["f32", "i64", "bool"])
@pytest.mark.parametrize("alpha", [1, 2, -1, 0.5, True, 2.0], ids=str)
def test_alpha(name, x, y, alpha):
    def run(library):
        first = library.tensor(VALUES[x])
        other = VALUES[y] if y in ("number", "float") else library.tensor(VALUES[y])
        try:
            result = getattr(library, name)(first, other, alpha=alpha)
        except (TypeError, RuntimeError):
            return "raises"
        return str(result.dtype).rpartition(".")[2], result.tolist()

    if name == "sub" and (x == "bool") != (y == "bool"):
        return  # PyTorch subtracts no bools; Lucid converts them
    assert run(lucid) == run(torch)
