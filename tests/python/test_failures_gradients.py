"""Compiled matches eager bit for bit: gradients and training. Numbers refer to docs/failures.md."""

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import pytest
from same import check, check_scenario
from worlds import calls, numbered, parts_of, pure

# Backward outside.

FUNCTIONS = {
    "34 elementwise": lambda x: (x.sin() * x.exp()).sum(),
    "34 product": lambda x: (x @ x.T).tanh().sum(),
    "34 softmax": lambda x: F.log_softmax(x, -1)[:, 0].sum(),
    "34 norm": lambda x: F.layer_norm(x, (4,)).square().sum(),
}


@pytest.mark.parametrize("create_graph", [False, True])
@numbered(FUNCTIONS)
def test_backward_twice(case, create_graph):
    def scenario(wrap):
        f = wrap(case)
        seen = []
        for i in range(4):
            x = lucid.arange(12.0).reshape(3, 4).div(10).add(i).requires_grad_()
            y = f(x)
            y.backward(retain_graph=True)
            y.backward(retain_graph=True, create_graph=create_graph)
            seen.append(x.grad.detach().clone())
            if create_graph:
                (second,) = lucid.autograd.grad(x.grad.sum(), [x])
                seen.append(second)
        return seen

    check_scenario(scenario, min_hits=3)


@numbered(FUNCTIONS)
def test_backward_twice_without_keeping_the_graph(case):
    def scenario(wrap):
        f = wrap(case)
        seen = []
        for _ in range(4):
            x = lucid.ones(3, 4, requires_grad=True)
            y = f(x)
            y.backward()
            try:
                y.backward()
            except RuntimeError as error:
                seen.append(str(error))
            seen.append(x.grad)
        return seen

    check_scenario(scenario, min_hits=3)


@pytest.mark.parametrize("to_none", [True, False])
def test_34_gradients_over_several_batches(to_none):
    def scenario(wrap):
        net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        f = wrap(net)
        seen = []
        for number in range(8):
            f(lucid.full((2, 3), number / 3)).sum().backward()
            seen.append([parameter.grad.clone() for parameter in net.parameters()])
            if number % 3 == 2:
                net.zero_grad(set_to_none=to_none)
                seen.append([None if p.grad is None else p.grad.clone() for p in net.parameters()])
        return seen

    check_scenario(scenario, min_hits=6)


def test_34_gradients_accumulate_inside():
    def world():
        weight = lucid.ones(3, requires_grad=True)

        def accumulate(x):
            (weight * weight * x).sum().backward()

        def forget(number):
            if number % 3 == 0:
                weight.grad = None

        return accumulate, calls((3,), count=9, before=forget), [weight]

    check(world, min_hits=6, compiles=2)


@pytest.mark.parametrize("to_none", [True, False])
def test_34_zero_grad_inside(to_none):
    def world():
        net = nn.Linear(3, 2)

        def step(x):
            net.zero_grad(set_to_none=to_none)
            net(x).square().sum().backward()
            return net.weight.grad.sum()

        return step, calls((4, 3), count=6), parts_of(net)

    check(world, backward=False, min_hits=4)


def test_34_gradients_are_added_in_eager_order():
    def scenario(wrap):
        weight = lucid.tensor([0.1, 0.7, 1e8, -1e-8]).requires_grad_()
        f = wrap(lambda x: (x * weight).exp() * weight + weight * 1e-3)
        seen = []
        for _ in range(4):
            x = lucid.tensor([0.3, 1e-7, 1e-8, 3.0]).requires_grad_()
            y = f(x) + weight * 3 + f(x * weight)
            (y * weight + x).sum().backward()
            seen.append((x.grad, weight.grad.clone()))
        return seen

    check_scenario(scenario, min_hits=6)


@pytest.mark.parametrize("order", ["compiled first", "compiled last", "between"])
def test_34_gradients_across_the_boundary_of_the_compiled_part(order):
    def scenario(wrap):
        f = wrap(lambda x: x * x + x)
        seen = []
        for number in range(4):
            x = lucid.tensor([1e8, 1e-8, 0.1, 3.0]).add(number).requires_grad_()
            parts = {
                "compiled first": lambda x=x: f(x) + x,
                "compiled last": lambda x=x: x + f(x),
                "between": lambda x=x: x * 3 + f(x) + x * 1e-9,
            }
            parts[order]().sum().backward()
            seen.append(x.grad)
        return seen

    check_scenario(scenario, min_hits=3)


# Gradients inside.


def penalty(x):
    y = (x * x * x).sum()
    (g,) = lucid.autograd.grad(y, [x], create_graph=True)
    return y + (g * g).sum()


def gradient_of_a_part(x):
    y = x[1:] * x[:-1]
    (g,) = lucid.autograd.grad(y.sum(), [x], create_graph=True)
    return g


def gradient_only(x):
    (g,) = lucid.autograd.grad(x.exp().sum(), [x])
    return g


def gradient_with_weights(x):
    y = x * x
    (g,) = lucid.autograd.grad(y, [x], grad_outputs=[lucid.arange(4.0)], create_graph=True)
    return g.sum() * y


def second_derivative(x):
    (g,) = lucid.autograd.grad((x**4).sum(), [x], create_graph=True)
    (h,) = lucid.autograd.grad(g.sum(), [x], create_graph=True)
    return h


INSIDE = {
    "35 penalty": penalty,
    "35 gradient of a part": gradient_of_a_part,
    "35 gradient only": gradient_only,
    "35 gradient with weights": gradient_with_weights,
    "35 second derivative": second_derivative,
}


@numbered(INSIDE)
def test_gradients_inside(case):
    check(pure(case, (4,), grad=True), min_hits=2)


def test_35_a_penalty_on_a_network():
    def world():
        net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))

        def loss(x):
            y = net(x).sum()
            (g,) = lucid.autograd.grad(y, [x], create_graph=True)
            return (g.norm(dim=1) - 1).square().mean() + y

        return loss, calls((4, 3), grad=True), parts_of(net)

    check(world, min_hits=2)


def test_35_higher_order_derivatives_outside():
    def scenario(wrap):
        f = wrap(lambda x: (x**5).sum())
        seen = []
        for number in range(3):
            x = lucid.arange(3.0).add(number).requires_grad_()
            g = f(x)
            for _ in range(4):
                (g,) = lucid.autograd.grad(g.sum(), [x], create_graph=True)
                seen.append(g.detach())
        return seen

    check_scenario(scenario, min_hits=2)


# Results.

RESULTS = {
    "36 an integer and a float": lambda x: (x * 2, (x > 0).sum(), x.argmax()),
    "36 a bool and a float": lambda x: (x * 2, x > 0),
    "36 a view of a new tensor": lambda x: (x * 2)[1:],
    "36 a view of an argument": lambda x: x[1:],
    "36 a transposed result": lambda x: (x * 2).T,
    "36 a detached result": lambda x: (x * 2, (x * 3).detach()),
    "36 parts that depend on each other": lambda x: (x.exp(), x.exp().log(), x.exp().exp()),
    "36 maxima with indices": lambda x: x.max(dim=0),
    "36 a sum of nothing": lambda x: (x.sum(), x[:0].sum()),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(RESULTS)
def test_results(case, grad):
    check(pure(case, (3, 4), grad=grad), min_hits=2)


@pytest.mark.parametrize("used", [0, 1, 2])
def test_36_only_one_result_is_used(used):
    def scenario(wrap):
        weight = lucid.ones(3, requires_grad=True)
        f = wrap(lambda x: (x * weight, (x + weight).exp(), x.sin()))
        seen = []
        for number in range(4):
            x = lucid.full((3,), number / 3, requires_grad=True)
            f(x)[used].sum().backward()
            seen.append((x.grad, weight.grad))
        return seen

    check_scenario(scenario, min_hits=3)


# Parameters that change before backward.


@pytest.mark.parametrize("change", ["scaled", "in place through data", "copied over", "stepped"])
def test_37_parameters_changed_before_backward(change):
    def scenario(wrap):
        layer = nn.Linear(3, 3)
        optimizer = lucid.optim.SGD(layer.parameters(), lr=0.1)
        f = wrap(lambda x: layer(layer(x).tanh()))
        seen = []
        for _ in range(4):
            y = f(lucid.ones(2, 3))
            with lucid.no_grad():
                if change == "scaled":
                    layer.weight.mul_(2)
                elif change == "in place through data":
                    layer.weight.data[0] = 0
                elif change == "copied over":
                    layer.weight.copy_(lucid.eye(3))
                elif layer.weight.grad is not None:
                    optimizer.step()
            try:
                y.sum().backward()
            except RuntimeError as error:
                seen.append(str(error))
            seen.append(None if layer.weight.grad is None else layer.weight.grad.clone())
        return seen

    check_scenario(scenario, min_hits=3)


def test_37_arguments_changed_before_backward():
    def scenario(wrap):
        f = wrap(lambda x: x * x)
        seen = []
        for _ in range(4):
            x = lucid.ones(3, requires_grad=True)
            y = f(x * 1)
            with lucid.no_grad():
                x.mul_(3)
            y.sum().backward()
            seen.append(x.grad)
        return seen

    check_scenario(scenario, min_hits=3)
