"""Compiled matches eager bit for bit: modules and modes. Numbers refer to docs/failures.md."""

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import pytest
from same import check, check_scenario
from worlds import IMAGES, Net, calls, module_world, numbered, parts_of, pure

# BatchNorm and modes.

NORMS = {
    "24 BatchNorm1d": (lambda: nn.BatchNorm1d(3), (4, 3)),
    "24 BatchNorm2d": (lambda: nn.BatchNorm2d(2), (3, 2, 4, 4)),
    "24 without affine": (lambda: nn.BatchNorm1d(3, affine=False), (4, 3)),
    "24 without statistics": (lambda: nn.BatchNorm1d(3, track_running_stats=False), (4, 3)),
    "24 slow": (lambda: nn.BatchNorm1d(3, momentum=0.01), (4, 3)),
    "24 InstanceNorm": (lambda: nn.InstanceNorm2d(2, track_running_stats=True), (3, 2, 4, 4)),
    "24 twice": (lambda: Twice(nn.BatchNorm1d(3)), (4, 3)),
    "24 in a network": (Net, IMAGES),
}


class Twice(nn.Module):
    """Calls a module twice."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(self.module(x))


@pytest.mark.parametrize("mode", ["train", "eval", "no_grad", "frozen"])
@numbered(NORMS)
def test_norms(case, mode):
    make, shape = case

    def prepare(module):
        module.train(mode != "eval")
        if mode == "frozen":
            module.requires_grad_(False)
            for part in module.modules():
                if isinstance(part, nn.BatchNorm1d):
                    part.eval()

    def world():
        function, make_calls, state = module_world(make, shape, prepare=prepare, count=5)()
        if mode != "no_grad":
            return function, make_calls, state

        @lucid.no_grad()
        def call(x):
            return function(x)

        return call, make_calls, state

    check(world, min_hits=3)


def test_24_statistics_are_updated_once_by_every_call():
    layer = nn.BatchNorm1d(3, momentum=0.5)
    compiled = layer.compile()
    for number in range(1, 6):
        compiled(lucid.full((4, 3), 8.0))
        assert layer.num_batches_tracked.item() == number
        assert layer.running_mean[0].item() == 8.0 * (1 - 0.5**number)
    assert compiled.cache_info()[:4] == (4, 1, 1, 0)


MODES = {
    "25 eval with gradients": lambda net: net.eval(),
    "25 train": lambda net: net.train(),
    "25 eval of a part": lambda net: net.train().norm.eval(),
    "25 train of a part": lambda net: net.eval().drop.train(),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(MODES)
def test_modes(case, grad):
    check(module_world(Net, IMAGES, prepare=case, grad=grad), min_hits=2)


@pytest.mark.parametrize("mode", [lucid.no_grad, lucid.inference_mode, lucid.enable_grad])
def test_25_modes_around_calls(mode):
    def scenario(wrap):
        net = wrap(Net().train())
        seen = []
        for number in range(6):
            if number % 2:
                seen.append(net(lucid.ones(*IMAGES)))
            else:
                with mode():
                    seen.append(net(lucid.ones(*IMAGES)))
        return [seen, net.norm.running_mean, [result.requires_grad for result in seen]]

    check_scenario(scenario, min_hits=4)


def test_33_toggling_compiles_twice():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.2))
    compiled = net.compile()
    x = lucid.randn(2, 3)
    for _ in range(1000):
        compiled.train()
        compiled(x)
        compiled.eval()
        compiled(x)
    assert compiled.cache_info()[:4] == (1998, 2, 2, 0), compiled.explain()


def test_33_toggling_matches_eager():
    def toggle(net, number):
        net.train(number % 3 != 0)

    check(module_world(Net, IMAGES, before=toggle, count=12), compiles=2, min_hits=10)


# Modes inside.


def no_grad_inside(x):
    with lucid.no_grad():
        y = x * 2
    return y * x


def enable_inside(x):
    with lucid.no_grad():
        y = x * 2
        with lucid.enable_grad():
            z = y * x
        return z, y


def inference_inside(x):
    with lucid.inference_mode():
        y = x * 2
    return x * 3, y.shape


def set_inside(x):
    lucid.set_grad_enabled(False)
    y = x * 2
    lucid.set_grad_enabled(True)
    return y * x


@lucid.no_grad()
def decorated(x):
    return x * 2


def detached_branch(x):
    with lucid.no_grad():
        scale = x.abs().amax()
    return x / scale


MODES_INSIDE = {
    "28 no_grad": no_grad_inside,
    "28 enable_grad": enable_inside,
    "28 inference_mode": inference_inside,
    "28 set_grad_enabled": set_inside,
    "28 a decorator": lambda x: decorated(x) * x,
    "28 a scale without a gradient": detached_branch,
    "28 modes that code reads": lambda x: x * (2 if lucid.is_grad_enabled() else 3),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(MODES_INSIDE)
def test_modes_inside(case, grad):
    check(pure(case, (3, 4), grad=grad), min_hits=2)


@numbered(MODES_INSIDE)
def test_modes_inside_under_no_grad(case):
    check(pure(lucid.no_grad()(case), (3, 4), grad=True), min_hits=2)


# Parameters.


@pytest.mark.parametrize("name", ["weight", "bias"])
def test_29_freezing_a_parameter(name):
    def freeze(net, number):
        getattr(net, name).requires_grad_(not 3 <= number < 6)
        net.zero_grad()

    check(module_world(lambda: nn.Linear(3, 2), (4, 3), before=freeze, count=9), compiles=2, min_hits=7)


def test_29_freezing_all_but_one():
    def freeze(net, number):
        net.requires_grad_(number < 3)
        net.head.requires_grad_(True)

    check(module_world(Net, IMAGES, before=freeze, count=7), compiles=2, min_hits=5)


@pytest.mark.parametrize("where", ["closure", "default", "list", "object"])
def test_30_parameters_of_a_plain_function(where):
    def world():
        layer = nn.Linear(3, 2)
        pair = [layer.weight, layer.bias]

        def with_default(x, layer=layer):
            return layer(x).tanh()

        functions = {
            "closure": lambda x: layer(x).tanh(),
            "default": with_default,
            "list": lambda x: F.linear(x, pair[0], pair[1]),
            "object": lambda x: x @ layer.weight.T + layer.bias,
        }
        return functions[where], calls((4, 3)), parts_of(layer)

    check(world, min_hits=2)


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)
        self.use_a = True

    def forward(self, x):
        return self.a(x) if self.use_a else self.b(x)


def test_31_unused_parameters_have_no_gradient():
    def switch(net, number):
        net.use_a = number < 3

    compiled = check(module_world(Branching, (4, 3), count=3, before=switch), min_hits=2)
    assert compiled.a.weight.grad is not None
    assert compiled.b.weight.grad is None
    check(module_world(Branching, (4, 3), count=7, before=switch), compiles=2, min_hits=5)


def test_31_a_network_with_an_unused_submodule():
    assert check(module_world(Net, IMAGES), min_hits=2).unused.weight.grad is None


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(self.a(x)))


def test_32_tied_weights():
    check(module_world(Tied, (3, 4)), min_hits=2)


def test_32_weights_that_are_tied_and_untied():
    others = {}

    def retie(net, number):
        if number == 0:
            others[id(net)] = nn.Parameter(lucid.ones(4, 4))
        if number in (3, 6):
            net.b.weight, others[id(net)] = others[id(net)], net.b.weight

    check(module_world(Tied, (3, 4), count=9, before=retie), min_hits=5)


def test_32_a_parameter_used_twice():
    def world():
        weight = nn.Parameter(lucid.randn(3, 3))
        return lambda x: (x @ weight) * weight.sum() + weight[0], calls((2, 3), grad=True), [weight]

    check(world, min_hits=2)


def test_32_a_module_called_twice():
    check(module_world(lambda: Twice(nn.Linear(3, 3)), (2, 3)), min_hits=2)
    check(module_world(lambda: nn.Sequential(*[nn.Linear(3, 3)] * 3), (2, 3)), min_hits=2)
