"""Tensors and arrays of other libraries, where a program that came from PyTorch passes them."""

import foreign
import lucid
import numpy as np
import pytest
from lucid import nn
from lucid.utils.data import DataLoader, TensorDataset, default_collate, default_convert

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_tensor_takes_a_data_frame():
    frame = foreign.DataFrame({"a": [1.0, 3.0, 5.0], "b": [2.0, 4.0, 6.0]})
    for make in (lucid.tensor, lucid.as_tensor, lucid.Tensor):
        assert make(frame).tolist() == ROWS
    assert lucid.tensor(frame, dtype=lucid.float32).dtype is lucid.float32
    assert lucid.tensor([frame, frame]).shape == (2, 3, 2)
    with pytest.raises(TypeError, match=r"is an array of dtype .*, which Lucid does not support; convert it with"):
        lucid.tensor(foreign.DataFrame({"a": ["x", 1]}))


def test_tensor_takes_tensors_of_other_libraries():
    theirs = foreign.Tensor(ROWS)
    made = lucid.tensor(theirs)
    theirs.array[0, 0] = 9.0
    assert made.tolist() == ROWS
    assert lucid.tensor([foreign.Tensor([1.0]), foreign.Tensor([2.0])]).tolist() == [[1.0], [2.0]]
    shared = lucid.as_tensor(theirs)
    theirs.array[0, 0] = 1.0
    assert shared.tolist() == ROWS
    with pytest.raises(BufferError, match="require gradient"):
        lucid.tensor(foreign.Tensor(ROWS, requires_grad=True))


def test_messages_name_the_library():
    with pytest.raises(TypeError, match=r"expand_as: argument 'other' must be a tensor, not a numpy\.ndarray"):
        lucid.ones(2).expand_as(np.ones(2))
    with pytest.raises(TypeError, match=r"add: argument 'y' must be a tensor or a number, not a numpy\.random"):
        lucid.add(lucid.ones(2), np.random.default_rng())


@pytest.mark.parametrize("convert", [foreign.Tensor, np.array], ids=["PyTorch", "NumPy"])
@pytest.mark.parametrize("assign", [False, True])
def test_load_state_dict(convert, assign):
    model = nn.Linear(2, 3)
    model.load_state_dict({"weight": convert(ROWS), "bias": convert([1.0, 2.0, 3.0])}, assign=assign)
    assert model.weight.tolist() == ROWS
    assert model.weight.requires_grad
    assert model.bias.tolist() == [1.0, 2.0, 3.0]
    lucid.models.load_weights(model, {"weight": convert(ROWS), "bias": convert([0.0, 0.0, 0.0])})
    assert model.bias.tolist() == [0.0, 0.0, 0.0]


def test_load_state_dict_takes_parameters_and_says_what_else_it_got():
    model = nn.Linear(2, 3)
    model.load_state_dict({"weight": foreign.Tensor(ROWS, requires_grad=True), "bias": lucid.zeros(3)})
    assert model.weight.tolist() == ROWS
    with pytest.raises(RuntimeError, match='"bias": expected a tensor, not a list'):
        model.load_state_dict({"weight": lucid.zeros(3, 2), "bias": [1.0, 2.0, 3.0]})
    with pytest.raises(TypeError, match=r"load_state_dict: expected a dict, not a.*Linear; pass its state_dict\(\)"):
        model.load_state_dict(nn.Linear(2, 3))


def test_extra_state_is_not_converted():
    class WithState(nn.Linear):
        def get_extra_state(self):
            return self.extra

        def set_extra_state(self, state):
            self.extra = state

    model = WithState(1, 1)
    model.extra = np.ones(2)
    other = WithState(1, 1)
    other.load_state_dict(model.state_dict())
    assert other.extra is model.extra


@pytest.mark.parametrize("convert", [foreign.Tensor, np.array], ids=["PyTorch", "NumPy"])
def test_an_optimizer_loads_state(convert):
    ours = [nn.Parameter(lucid.ones(2)) for _ in range(2)]
    first, second = (lucid.optim.Adam([parameter], lr=0.1) for parameter in ours)
    ours[0].grad = lucid.tensor([1.0, -2.0])
    first.step()
    state = first.state_dict()
    state["state"][0] = {name: convert(value.tolist()) for name, value in state["state"][0].items()}
    second.load_state_dict(state)
    ours[0].grad = ours[1].grad = lucid.tensor([0.5, 0.5])
    with lucid.no_grad():
        ours[1].copy_(ours[0])
    first.step()
    second.step()
    assert ours[0].tolist() == ours[1].tolist()


@pytest.mark.parametrize("convert", [foreign.Tensor, np.float32, np.array], ids=["PyTorch", "scalars", "NumPy"])
def test_collating(convert):
    x, y = default_collate([(convert(row[0]), i) for i, row in enumerate(ROWS)])
    assert type(x) is lucid.Tensor
    assert (x.tolist(), y.tolist()) == ([1.0, 3.0, 5.0], [0, 1, 2])


def test_loaders_of_other_tensors():
    data = TensorDataset(foreign.Tensor(ROWS), np.arange(3))
    assert data[1][0].tolist() == [3.0, 4.0]
    ((x, y),) = DataLoader(data, batch_size=3)
    assert (type(x), type(y), x.tolist(), y.tolist()) == (lucid.Tensor, lucid.Tensor, ROWS, [0, 1, 2])
    assert type(default_convert({"x": foreign.Tensor(ROWS)})["x"]) is lucid.Tensor
    (batch,) = DataLoader([{"x": foreign.Tensor(row)} for row in ROWS], batch_size=3)
    assert batch["x"].tolist() == ROWS


def test_samples_that_are_no_tensors():
    with pytest.raises(TypeError, match="TensorDataset: expected tensors or arrays, not a list"):
        TensorDataset(ROWS)
    with pytest.raises(TypeError, match=r"default_collate: samples must be .* not a set"):
        default_collate([{1}, {2}])
    with pytest.raises(TypeError, match="not None; pass a collate_fn"):
        default_collate([None, None])
