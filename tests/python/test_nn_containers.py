"""Modules that hold others, and parameters on their own."""

import copy
import pickle

import lucid
import pytest
from lucid import nn


def test_sequential_is_a_sequence():
    a, b, c = nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)
    net = nn.Sequential(a, b)
    net.append(c)
    assert len(net) == 3
    assert net[-1] is c
    assert list(net) == [a, b, c]
    assert list(net[1:]) == [b, c]
    net[1] = nn.Tanh()
    assert isinstance(net[1], nn.Tanh)
    del net[0]
    assert [name for name, _ in net.named_children()] == ["0", "1"]
    net.insert(0, a)
    assert net.pop(0) is a
    assert len(net + nn.Sequential(a)) == 3
    with pytest.raises(IndexError, match="index 7 is out of range"):
        net[7]
    named = nn.Sequential({"x": a, "y": b})
    assert named.x is a
    assert [name for name, _ in named[:1].named_children()] == ["x"]
    with pytest.raises(TypeError, match="Module"):
        nn.Sequential(3)


def test_sequential_passes_objects_that_are_not_tensors():
    class Pair(nn.Module):
        def forward(self, x):
            return x, x + 1

    class Sum(nn.Module):
        def forward(self, pair):
            return pair[0] + pair[1]

    assert nn.Sequential(Pair(), Sum())(lucid.ones(1)).item() == 3


def test_lists_and_dicts():
    layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    layers += [nn.ReLU()]
    assert len(layers[:2]) == 2
    assert [name for name, _ in layers.named_parameters()] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert "2 x Linear" in repr(layers)
    with pytest.raises(NotImplementedError, match="ModuleList"):
        layers(lucid.ones(1, 2))
    named = nn.ModuleDict([("a", nn.ReLU())])
    named["b"] = nn.Linear(1, 1)
    named.update({"c": nn.Tanh()})
    assert list(named) == ["a", "b", "c"]
    assert named.pop("a") is not None
    assert "a" not in named
    with pytest.raises(KeyError):
        del named["a"]
    named.clear()
    assert len(named) == 0


def test_parameter_containers():
    held = nn.ParameterList([lucid.ones(1), nn.Parameter(lucid.zeros(2))])
    held.append(lucid.ones(3))
    assert [p.shape for p in held] == [(1,), (2,), (3,)]
    assert isinstance(held[0], nn.Parameter)
    held[0] = lucid.ones(5)
    assert held[-3].shape == (5,)
    assert len(held[1:]) == 2
    with pytest.raises(IndexError):
        held[3]
    named = nn.ParameterDict({"a": lucid.ones(1)})
    named["b"] = lucid.ones(2)
    assert list(named.keys()) == ["a", "b"]
    assert named.get("c") is None
    del named["a"]
    assert list(named.state_dict()) == ["b"]


def test_parameters_are_tensors():
    data = lucid.ones(2)
    parameter = nn.Parameter(data)
    assert isinstance(parameter, lucid.Tensor)
    assert parameter.requires_grad
    assert parameter.is_leaf
    with lucid.no_grad():
        parameter.fill_(3)
    assert data.tolist() == [3.0, 3.0]
    assert type(parameter * 2) is lucid.Tensor
    assert type(parameter.detach()) is lucid.Tensor
    assert repr(parameter).startswith("Parameter containing:\ntensor([3., 3.]")
    parameter.note = "kept"
    for made in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert type(made) is nn.Parameter
        assert made.requires_grad
        assert made.note == "kept"
    assert not nn.Parameter(lucid.ones(2, dtype=lucid.int64), requires_grad=False).requires_grad
    buffer = nn.Buffer(data, persistent=False)
    assert not copy.deepcopy(buffer).persistent


def test_lazy_linear_is_initialized_by_the_first_call():
    layer = nn.LazyLinear(3)
    weight = layer.weight
    assert layer(lucid.ones(2, 5)).shape == (2, 3)
    assert layer.weight is weight
    assert weight.shape == (3, 5)
    assert layer.in_features == 5
    assert isinstance(layer, nn.Linear)
    made = copy.deepcopy(layer)
    assert lucid.equal(made(lucid.ones(2, 5)), layer(lucid.ones(2, 5)))


@pytest.mark.parametrize("kind", [nn.ParameterList, nn.ModuleList, nn.Sequential])
def test_adding_a_submodule_does_not_list_the_others(kind):
    class Counted(kind):
        listings = 0

        def _parts(self):
            type(self).listings += 1
            return super()._parts()

    container = Counted()
    for _ in range(20):
        container.append(lucid.ones(1) if kind is nn.ParameterList else nn.ReLU())
    assert len(container) == 20
    assert Counted.listings == 0
