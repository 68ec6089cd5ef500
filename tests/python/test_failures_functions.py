"""Compiled matches eager bit for bit: custom functions, hooks and views. Numbers refer to docs/failures.md."""

import lucid
import lucid.nn as nn
import pytest
from same import check, check_scenario
from worlds import calls, module_world, numbered, parts_of, pure


class Cube(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x


FUNCTIONS = {
    "35 a function": lambda x: Cube.apply(x),
    "35 a function among ops": lambda x: Cube.apply(x.exp()).sum() + x,
    "35 a function twice": lambda x: Cube.apply(Cube.apply(x)),
    "36 two views": lambda x: (x * 2).split(2),
    "36 views of views": lambda x: [part.T for part in (x * 2).chunk(2)],
    "36 a view and its base": lambda x: (lambda y: (y, y[1:]))(x.exp()),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(FUNCTIONS)
def test_functions(case, grad):
    check(pure(case, (4, 3), grad=grad), min_hits=2)


def add_one(x):
    x += 1
    return x.sum()


def write_a_row(x):
    row = x[0]
    row.mul_(2)
    return x.exp()


HISTORIES = {"16 added in place": add_one, "17 a row": write_a_row, "16 returned": lambda x: x.mul_(3)}


@numbered(HISTORIES)
def test_writes_to_arguments_with_a_gradient_graph(case):
    def world():
        return case, lambda: ((x * 1,) for (x,) in calls((3, 4), grad=True)()), []

    check(world, min_hits=2)


@pytest.mark.parametrize("train", [True, False])
def test_24_cumulative_averages_of_statistics(train):
    make = lambda: nn.BatchNorm1d(3, momentum=None)  # noqa: E731
    check(module_world(make, (4, 3), prepare=lambda module: module.train(train), count=6), min_hits=3)


def test_27_hooks_on_gradients_inside():
    def world():
        layer = nn.Linear(3, 2)
        layer.weight.register_hook(lambda gradient: gradient * 2)

        def step(x):
            layer.zero_grad()
            y = layer(x)
            y.register_hook(lambda gradient: gradient + 1)
            y.square().sum().backward()

        return step, calls((4, 3), count=6), parts_of(layer)

    check(world, backward=False, min_hits=3)


@pytest.mark.parametrize("kind", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_27_backward_hooks_of_modules(kind):
    def scenario(wrap):
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        if kind == "register_full_backward_hook":
            net[0].register_full_backward_hook(lambda module, inputs, outputs: None)
        else:
            net[2].register_full_backward_pre_hook(lambda module, outputs: tuple(part * 2 for part in outputs))
        f = wrap(net)
        for number in range(5):
            f(lucid.full((2, 3), number / 3)).square().sum().backward()
        return [parameter.grad for parameter in net.parameters()]

    check_scenario(scenario, min_hits=3)
