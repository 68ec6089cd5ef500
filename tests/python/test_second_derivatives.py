"""Higher derivatives of products with zeros and of functions with kinks, and second backward passes."""

import itertools
import math

import lucid
import pytest


def hessian(function, values):
    x = lucid.tensor(values, dtype=lucid.float64, requires_grad=True)
    (gradient,) = lucid.autograd.grad(function(x), x, create_graph=True)
    return [lucid.autograd.grad(part, x, retain_graph=True)[0].tolist() for part in gradient]


def product_without(values, *places):
    return math.prod(value for i, value in enumerate(values) if i not in places)


@pytest.mark.parametrize("zeros", [set(places) for n in range(4) for places in itertools.combinations(range(4), n)])
def test_products_with_zeros(zeros):
    values = [0.0 if i in zeros else i + 2.0 for i in range(4)]
    pairs = range(4)
    wanted = [[0.0 if i == j else product_without(values, i, j) for j in pairs] for i in pairs]
    assert hessian(lambda x: x.prod(), values) == wanted
    assert hessian(lambda x: x.reshape(2, 2).prod((0, 1)), values) == wanted
    running = [
        [sum(0.0 if i == j else product_without(values[: k + 1], i, j) for k in range(max(i, j), 4)) for j in pairs]
        for i in pairs
    ]
    assert hessian(lambda x: x.cumprod(0).sum(), values) == running


def test_third_derivative_of_a_product_with_zeros():
    x = lucid.zeros(3, dtype=lucid.float64, requires_grad=True)
    (first,) = lucid.autograd.grad(x.prod(), x, create_graph=True)
    (second,) = lucid.autograd.grad(first[0], x, create_graph=True)
    (third,) = lucid.autograd.grad(second[1], x)
    assert third.tolist() == [0.0, 0.0, 1.0]


def test_products_over_some_dimensions():
    x = lucid.tensor([[[1.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [2.0, 5.0]]], dtype=lucid.float64, requires_grad=True)
    x.prod((0, 2)).sum().backward()
    assert x.grad.tolist() == [[[0.0, 0.0], [40.0, 30.0]], [[0.0, 0.0], [60.0, 24.0]]]


@pytest.mark.parametrize("name", ["relu", "relu6", "hardtanh", "leaky_relu", "hardshrink", "softshrink", "abs"])
def test_piecewise_constant_gradients_can_be_differentiated(name):
    x = lucid.tensor([-1.0, 0.75, 2.0], requires_grad=True)
    (gradient,) = lucid.autograd.grad(getattr(lucid, name)(x).sum(), x, create_graph=True)
    assert gradient.requires_grad
    gradient.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["floor", "ceil", "round", "trunc", "sign"])
def test_step_functions_have_a_zero_gradient(name):
    x = lucid.tensor([-1.5, 0.75], requires_grad=True)
    getattr(lucid, name)(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_a_constant_source_is_not_saved():
    x = lucid.ones(3, requires_grad=True)
    y = (x + 1).index_add(0, lucid.tensor([0, 2]), lucid.ones(2))
    y.sum().backward()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_the_node_of_a_write_to_a_view_is_freed_by_the_first_backward():
    w = lucid.ones(1, requires_grad=True)
    x = lucid.zeros(3)
    x[:1] = w
    x.sum().backward()
    with pytest.raises(RuntimeError, match="second time, at a write"):
        x.sum().backward()


def test_views_made_under_no_grad_drop_gradients_at_every_order():
    x = lucid.tensor([2.0, 3.0], requires_grad=True)
    w = lucid.ones(2, requires_grad=True)
    with lucid.no_grad():
        hidden = x.view(2)
    (gradient,) = lucid.autograd.grad((hidden * w).sum(), w, create_graph=True)
    assert gradient.requires_grad
    gradient.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("dtype", [lucid.float16, lucid.bfloat16])
def test_scatter_sums_round_once(dtype):
    source = lucid.full((1000,), 0.1, dtype=dtype)
    index = lucid.zeros(1000, dtype=lucid.int64)
    wanted = (source.double().sum() + 1).to(dtype)
    start = lucid.ones(1, dtype=dtype)
    assert start.index_add(0, index, source).item() == wanted.item()
    assert start.scatter_add(0, index, source).item() == wanted.item()
    assert start.index_put([index], source, accumulate=True).item() == wanted.item()
    assert start.clone().index_add_(0, index, source).item() == wanted.item()
