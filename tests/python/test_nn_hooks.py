"""Hooks of modules."""

import lucid
import pytest
from lucid import nn


def test_forward_hooks_run_in_order_and_replace():
    layer = nn.Identity()
    log = []
    layer.register_forward_hook(lambda m, a, o: log.append("second"))
    layer.register_forward_hook(lambda m, a, o: log.append("first"), prepend=True)
    layer.register_forward_pre_hook(lambda m, a: log.append("pre"))
    layer.register_forward_pre_hook(lambda m, a: (a[0] + 1,))
    handle = layer.register_forward_hook(lambda m, a, o: o * 10)
    assert layer(lucid.ones(1)).item() == 20
    assert log == ["pre", "first", "second"]
    handle.remove()
    handle.remove()
    assert layer(lucid.ones(1)).item() == 2
    with layer.register_forward_hook(lambda m, a, o: o * 100):
        assert layer(lucid.ones(1)).item() == 200
    assert layer(lucid.ones(1)).item() == 2


def test_hooks_see_the_objects_that_were_passed():
    class Takes(nn.Module):
        def forward(self, x, options, *, flag):
            return {"x": x, "options": options, "flag": flag}

    module = Takes()
    seen = {}
    module.register_forward_pre_hook(lambda m, a, k: seen.update(args=a, kwargs=k), with_kwargs=True)
    module.register_forward_hook(lambda m, a, k, o: seen.update(output=o), with_kwargs=True)
    x, options = lucid.ones(1), {"depth": [1]}
    result = module(x, options, flag="on")
    assert seen["args"][0] is x
    assert seen["args"][1] is options
    assert seen["kwargs"] == {"flag": "on"}
    assert seen["output"] is result
    module.register_forward_pre_hook(lambda m, a, k: (a, {"flag": "off"}), with_kwargs=True)
    assert module(x, options, flag="on")["flag"] == "off"
    module.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="args, kwargs"):
        module(x, options, flag="on")


def test_always_call_runs_when_forward_raises():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("inside")

    module = Fails()
    log = []
    module.register_forward_hook(lambda m, a, o: log.append("no"))
    module.register_forward_hook(lambda m, a, o: log.append(o), always_call=True)
    with pytest.raises(ValueError, match="inside"):
        module(lucid.ones(1))
    assert log == [None]


def test_backward_hooks():
    layer = nn.Linear(2, 1, bias=False)
    with lucid.no_grad():
        layer.weight.copy_(lucid.tensor([[3.0, 5.0]]))
    log = []
    layer.register_full_backward_hook(lambda m, i, o: log.append((i[0].tolist(), o[0].tolist())))
    layer.register_full_backward_hook(lambda m, i, o: (i[0] * 10,))
    pre = layer.register_full_backward_pre_hook(lambda m, o: (o[0] * 2,))
    x = lucid.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert log == [([[6.0, 10.0]], [[2.0]])]
    assert x.grad.tolist() == [[60.0, 100.0]]
    pre.remove()
    layer(x).sum().backward()
    assert log[1] == ([[3.0, 5.0]], [[1.0]])


def test_backward_hook_without_gradients_of_inputs():
    layer = nn.Linear(2, 1)
    seen = []
    layer.register_full_backward_hook(lambda m, i, o: seen.append((i, o[0].tolist())))
    layer(lucid.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0]])]


def test_hooks_of_children_run_inside_cpp_containers():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    log = []
    for module in net.modules():
        module.register_forward_hook(lambda m, a, o: log.append(type(m).__name__))
    net(lucid.ones(1, 2))
    assert log == ["Linear", "ReLU", "Sequential"]


def test_a_hook_may_remove_itself():
    layer = nn.Identity()
    handle = layer.register_forward_hook(lambda m, a, o: handle.remove())
    layer(lucid.ones(1))
    layer(lucid.ones(1))


def test_global_hooks():
    log = []
    with (
        nn.register_module_forward_pre_hook(lambda m, a: log.append("pre " + type(m).__name__)),
        nn.register_module_forward_hook(lambda m, a, o: log.append("post " + type(m).__name__)),
    ):
        nn.Sequential(nn.Identity())(lucid.ones(1))
    assert log == ["pre Sequential", "pre Identity", "post Identity", "post Sequential"]
    nn.Identity()(lucid.ones(1))
    assert len(log) == 4


def test_state_hooks():
    layer = nn.Linear(2, 1)
    log = []
    layer.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(("pre", prefix, keep)))
    layer.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update({prefix + "more": lucid.ones(1)}))
    state = nn.Sequential(layer).state_dict()
    assert log == [("pre", "0.", False)]
    assert list(state) == ["0.weight", "0.bias", "0.more"]
    layer.register_load_state_dict_pre_hook(lambda m, state, prefix, *rest: state.pop(prefix + "more"))
    layer.register_load_state_dict_post_hook(lambda m, keys: log.append(keys))
    nn.Sequential(layer).load_state_dict(state)
    assert log[1] == ([], [])


def test_hooks_must_be_functions():
    with pytest.raises(TypeError, match="function"):
        nn.Identity().register_forward_hook(3)
