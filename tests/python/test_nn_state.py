"""Saving and loading the state of modules."""

import lucid
import pytest
from lucid import nn


def test_state_dict_shares_memory_and_is_detached():
    layer = nn.Linear(2, 2)
    state = layer.state_dict()
    assert not state["weight"].requires_grad
    with lucid.no_grad():
        layer.weight.fill_(7)
    assert state["weight"].tolist() == [[7.0, 7.0], [7.0, 7.0]]
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight
    assert list(layer.state_dict(prefix="a.")) == ["a.weight", "a.bias"]


def test_errors_name_every_key_and_shape():
    net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    state = net.state_dict()
    state["0.weight"] = lucid.ones(9, 9)
    state["extra"] = lucid.ones(1)
    state["0.bias"] = "text"
    del state["1.bias"]
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    for part in ("Sequential", '"extra"', '"1.bias"', "0.weight", "[9,9]", "[3,2]", "0.bias"):
        assert part in str(caught.value), part
    with pytest.raises(TypeError, match="dict"):
        net.load_state_dict([1])


def test_not_strict():
    net = nn.Linear(2, 1)
    result = net.load_state_dict({"weight": lucid.ones(1, 2), "other": lucid.ones(1)}, strict=False)
    assert result.missing_keys == ["bias"]
    assert result.unexpected_keys == ["other"]
    assert net.weight.tolist() == [[1.0, 1.0]]
    with pytest.raises(RuntimeError, match="size mismatch"):
        net.load_state_dict({"weight": lucid.ones(5)}, strict=False)


def test_loading_copies_and_converts_or_assigns():
    net = nn.Linear(2, 1)
    weight = net.weight
    state = {"weight": lucid.ones(1, 2, dtype=lucid.float64), "bias": lucid.zeros(1, dtype=lucid.float64)}
    net.load_state_dict(state)
    assert net.weight is weight
    assert weight.dtype is lucid.float32
    net.load_state_dict(state, assign=True)
    assert net.weight is weight
    assert weight.dtype is lucid.float64
    assert weight.requires_grad


def test_extra_state_and_custom_saving():
    class Extra(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = 0

        def get_extra_state(self):
            return {"steps": self.steps}

        def set_extra_state(self, state):
            self.steps = state["steps"]

    a, b = nn.Sequential(Extra()), nn.Sequential(Extra())
    a[0].steps = 5
    assert a.state_dict() == {"0._extra_state": {"steps": 5}}
    b.load_state_dict(a.state_dict())
    assert b[0].steps == 5
    with pytest.raises(RuntimeError, match="_extra_state"):
        b.load_state_dict({})

    class Own(nn.Linear):
        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "weight"] = destination[prefix + "weight"] * 2

        def _load_from_state_dict(self, state_dict, prefix, *rest):
            state_dict[prefix + "weight"] = state_dict[prefix + "weight"] / 2
            super()._load_from_state_dict(state_dict, prefix, *rest)

    net = nn.Sequential(Own(2, 2))
    state = net.state_dict()
    assert lucid.equal(state["0.weight"], net[0].weight * 2)
    other = nn.Sequential(Own(2, 2))
    other.load_state_dict(state)
    assert lucid.equal(other[0].weight, net[0].weight)


def test_tied_parameters_are_saved_under_both_names():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert list(net.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert len(list(net.parameters())) == 3
