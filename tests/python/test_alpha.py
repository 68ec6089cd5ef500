"""`alpha` of add and sub, which multiplies the second operand first."""

import lucid
import pytest
from same import check

X, Y = [1.0, -2.0, 3.0], [4.0, 0.5, -1.0]
FORMS = {
    "function": lambda name, x, y, alpha: getattr(lucid, name)(x, y, alpha=alpha),
    "method": lambda name, x, y, alpha: getattr(x, name)(y, alpha=alpha),
    "in place": lambda name, x, y, alpha: getattr(x.clone(), f"{name}_")(y, alpha=alpha),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "sign"), [("add", 1), ("sub", -1)])
@pytest.mark.parametrize("alpha", [2, -0.5, 1, lucid.tensor(2.0)], ids=str)
def test_alpha_multiplies_the_second_operand(form, name, sign, alpha):
    x, y = lucid.tensor(X), lucid.tensor(Y)
    expected = [a + sign * float(alpha) * b for a, b in zip(X, Y)]
    assert FORMS[form](name, x, y, alpha).tolist() == expected
    assert FORMS[form](name, x, 3, alpha).tolist() == [a + sign * float(alpha) * 3 for a in X]


def test_the_product_has_the_dtype_of_the_result():
    ints, floats = lucid.tensor([1, 2]), lucid.tensor([0.5, 0.5])
    assert lucid.add(ints, ints, alpha=3).dtype is lucid.int64
    assert lucid.add(floats, ints, alpha=0.5).tolist() == [1.0, 1.5]
    assert lucid.add(ints, 1.5, alpha=0.5).tolist() == [1.75, 2.75]
    third = lucid.tensor(1, dtype=lucid.float64) / 3
    assert lucid.add(lucid.zeros(1, dtype=lucid.float64), ints[:1], alpha=1 / 3).tolist() == [third.item()]
    assert lucid.add(lucid.tensor([255], dtype=lucid.uint8), lucid.tensor([1], dtype=lucid.uint8), alpha=2).item() == 1
    bools = lucid.tensor([False, True])
    assert lucid.add(bools, bools, alpha=2).tolist() == [False, True]
    assert lucid.add(bools, bools, alpha=False).tolist() == [False, True]
    assert lucid.add(bools, lucid.tensor([True, True]), alpha=lucid.tensor(0)).tolist() == [False, True]


@pytest.mark.parametrize(
    ("arguments", "alpha", "message"),
    [
        (([1], [2]), 2.5, "add: alpha is a float, but the tensors hold i64"),
        (([1.0], [2.0]), True, "add: alpha is a bool, but the tensors hold f32"),
        (([1.0], [2.0]), "2", "add: argument 'alpha' must be a number, not a str"),
        (([1.0], [2.0]), None, "add: argument 'alpha' must be a number, not None"),
        (([1.0], [2.0]), lucid.ones(2), "add: argument 'alpha' must be a number, not a Tensor"),
    ],
    ids=str,
)
def test_other_values_of_alpha_raise(arguments, alpha, message):
    with pytest.raises(TypeError, match=message):
        lucid.add(*map(lucid.tensor, arguments), alpha=alpha)


def test_only_add_and_sub_take_alpha():
    with pytest.raises(TypeError, match="mul: got an unexpected keyword argument 'alpha'"):
        lucid.mul(lucid.ones(1), lucid.ones(1), alpha=2)
    with pytest.raises(TypeError, match="sub: "):
        lucid.sub(lucid.tensor([True]), lucid.tensor([True]), alpha=2)


def test_gradients():
    x, y = lucid.tensor(X, requires_grad=True), lucid.tensor(Y, requires_grad=True)
    (lucid.sub(x, y, alpha=3) * x).sum().backward()
    assert x.grad.tolist() == [2 * a - 3 * b for a, b in zip(X, Y)]
    assert y.grad.tolist() == [-3 * a for a in X]


def test_compiled():
    """In a training step by hand, whose rate varies."""

    def world():
        w = lucid.tensor(X, requires_grad=True)

        def f(x, rate):
            loss = lucid.add(x, w, alpha=2).sub(w, alpha=rate).square().sum()
            loss.backward()
            with lucid.no_grad():
                w.add_(w.grad, alpha=-rate)
                w.grad = None
            return loss.detach()

        return f, [[lucid.tensor(data), rate] for data in (X, Y) for rate in (0.1, 0.1, 0.05, 0.01)], [w]

    check(world)
