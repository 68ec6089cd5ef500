"""Compiled matches eager bit for bit: wrappers of modules, and hooks. Numbers refer to docs/failures.md."""

import copy
import pickle

import lucid
import lucid.nn as nn
import pytest
from same import bits, check, check_scenario
from worlds import IMAGES, Net, calls, module_world, numbered, parts_of

# The wrapper.


def test_26_a_compiled_module_is_the_module():
    net = Net()
    compiled = net.compile()
    assert isinstance(compiled, nn.Module)
    assert list(compiled.state_dict()) == list(net.state_dict())
    assert [name for name, _ in compiled.named_modules()] == [name for name, _ in net.named_modules()]
    assert lucid.compile(compiled) is compiled
    assert compiled.compile() is compiled
    compiled.scale = 2.0
    assert net.scale == 2.0
    assert compiled.conv is net.conv
    del compiled.scale
    assert not hasattr(net, "scale")


@pytest.mark.parametrize("name", ["train", "eval", "half", "double", "float", "bfloat16", "cpu", "requires_grad_"])
def test_26_methods_that_return_the_module_return_the_wrapper(name):
    compiled = Net().compile()
    assert getattr(compiled, name)() is compiled


@pytest.mark.parametrize("target", [lucid.f64, "cpu"])
def test_26_to_returns_the_wrapper(target):
    compiled = Net().compile()
    assert compiled.to(target) is compiled


@pytest.mark.parametrize("name", ["half", "double", "bfloat16"])
def test_26_another_dtype_after_compiling(name):
    def scenario(wrap):
        net = wrap(nn.Linear(3, 2))
        seen = [net(lucid.ones(1, 3)) for _ in range(2)]
        getattr(net, name)()
        x = getattr(lucid.ones(1, 3), name)()
        return [*seen, *[net(x) for _ in range(3)], net.weight]

    check_scenario(scenario, min_hits=3)


def test_26_state_that_is_loaded_after_compiling():
    def scenario(wrap):
        net, other = wrap(Net().eval()), Net().eval()
        seen = [net(lucid.ones(*IMAGES)) for _ in range(3)]
        net.load_state_dict(other.state_dict())
        seen += [net(lucid.ones(*IMAGES)) for _ in range(3)]
        assert bits(seen[-1]) == bits(other(lucid.ones(*IMAGES)))
        return seen

    assert check_scenario(scenario, min_hits=5)[0].cache_info().compiles == 1


@pytest.mark.parametrize("when", ["before calls", "after calls"])
def test_26_deep_copies(when):
    def scenario(wrap):
        net = wrap(Net().eval())
        if when == "after calls":
            net(lucid.ones(*IMAGES))
            net(lucid.ones(*IMAGES))
        again = copy.deepcopy(net)
        with lucid.no_grad():
            again.head.weight.zero_()
        assert again.conv is not net.conv
        return [f(lucid.ones(*IMAGES)) for f in (net, again, net, again, net, again)]

    check_scenario(scenario, min_hits=2)


def test_26_pickling():
    net = Net().eval().compile()
    net(lucid.ones(*IMAGES))
    again = pickle.loads(pickle.dumps(net))
    assert isinstance(again, lucid.JITModule)
    for _ in range(3):
        assert bits(again(lucid.ones(*IMAGES))) == bits(net(lucid.ones(*IMAGES)))
    assert again.cache_info()[:4] == (2, 1, 1, 0)


def test_26_methods_that_call_the_module_run_compiled():
    class Scored(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x):
            return self.layer(x)

        def score(self, x):
            return self(x).sum()

    compiled = Scored().compile()
    results = [bits(compiled.score(lucid.ones(1, 3))) for _ in range(3)]
    assert results[0] == results[1] == results[2]
    assert compiled.cache_info()[:4] == (2, 1, 1, 0)


# Hooks.


def doubling(module, args):
    return (args[0] * 2,)


def adding(module, args, output):
    return output + 1


HOOKS = {
    "27 pre-hook on the root": lambda net: net.register_forward_pre_hook(doubling),
    "27 hook on the root": lambda net: net.register_forward_hook(adding),
    "27 pre-hook on a part": lambda net: net[0].register_forward_pre_hook(doubling),
    "27 hook on a part": lambda net: net[1].register_forward_hook(adding),
    "27 hook that does nothing": lambda net: net[1].register_forward_hook(lambda module, args, output: None),
    "27 hook with keywords": lambda net: net.register_forward_hook(
        lambda module, args, kwargs, output: output * 3, with_kwargs=True
    ),
}


def small_net():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


@numbered(HOOKS)
def test_hooks(case):
    check(module_world(small_net, (5, 3), prepare=case), min_hits=2)


@numbered(HOOKS)
def test_hooks_added_and_removed(case):
    def world():
        net = small_net()
        handles = []

        def change(number):
            if number == 3:
                handles.append(case(net))
            if number == 6:
                handles.pop().remove()

        return net, calls((5, 3), count=9, before=change), parts_of(net)

    check(world, min_hits=5)


def test_27_hooks_of_all_modules():
    def world():
        net = small_net()
        handles = []

        def change(number):
            if number == 3:
                handles.append(nn.register_module_forward_hook(adding))
            if number == 6:
                handles.pop().remove()

        return net, calls((5, 3), count=9, before=change), parts_of(net)

    check(world, min_hits=4)


def test_27_hooks_on_results_outside():
    def scenario(wrap):
        layer = nn.Linear(3, 2)
        f = wrap(layer)
        seen = []
        for _ in range(4):
            y = f(lucid.ones(1, 3))
            y.register_hook(lambda gradient: seen.append(bits(gradient)) or gradient * 2)
            y.sum().backward()
        return seen, layer.weight.grad

    check_scenario(scenario, min_hits=3)


def test_27_hooks_on_parameters_outside():
    def scenario(wrap):
        layer = nn.Linear(3, 2)
        seen = []
        layer.weight.register_hook(lambda gradient: seen.append(bits(gradient)) or gradient * 2)
        layer.bias.register_post_accumulate_grad_hook(lambda parameter: seen.append(bits(parameter.grad)))
        f = wrap(layer)
        for _ in range(4):
            f(lucid.ones(1, 3)).sum().backward()
        return seen, layer.weight.grad, layer.bias.grad

    check_scenario(scenario, min_hits=3)


def test_26_compiled_functions_support_vectorcall():
    has_vectorcall = 1 << 11
    assert lucid.JITFunction.__flags__ & has_vectorcall

    class Doubled(lucid.JITFunction):
        def __call__(self, x):
            return super().__call__(x) * 2

    assert not Doubled.__flags__ & has_vectorcall
    f = Doubled(lambda x: x + 1)
    for n in range(3):
        assert f(lucid.tensor([float(n)])).item() == 2 * (n + 1)
    assert f.cache_info().hits == 2
