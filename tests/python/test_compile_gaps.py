"""Calls that are easy to leave to eager mode, and are compiled."""

import lucid
import pytest
from same import check


def leaf(*shape, dtype=lucid.f32):
    return lucid.randn(*shape, dtype=dtype, requires_grad=True)


def calls_of(function, *make_arguments, times=3, state=()):
    """A world that calls the function with new arguments each time."""

    def world():
        return function, lambda: ([make() for make in make_arguments] for _ in range(times)), state

    return world


# Ops that the host computes.

HOST_CALLS = {
    "sort": lambda x: lucid.sort(x, dim=0, descending=True),
    "sort_of_a_view": lambda x: lucid.sort(x.T[1:] * 2),
    "argsort": lambda x: x.gather(1, lucid.argsort(x, dim=1)),
    "topk": lambda x: lucid.topk(x * x, 3, dim=1)[0].sum(),
    "kthvalue": lambda x: lucid.kthvalue(x, 2, dim=1),
    "median": lambda x: (lucid.median(x), lucid.median_dim(x.exp(), 1).values),
    "searchsorted": lambda x: lucid.searchsorted(lucid.sort(x[0])[0], x[1]),
    "bucketize": lambda x: x * lucid.bucketize(x, lucid.tensor([-1.0, 0.0, 1.0])),
    "histc": lambda x: lucid.histc(x.detach(), 7, -2.0, 2.0),
    "triangle": lambda x: x[lucid.tril_indices(4, 5)[0]].sum(),
    "multinomial": lambda x: lucid.multinomial(x.softmax(1), 2),
    "permutation": lambda x: x[:, lucid.randperm(5)],
    "only_one_result": lambda x: lucid.sort(x)[1] + 1,
    "unused": lambda x: (lucid.sort(x), x + 1)[1],
    "in_place": lambda x: lucid.zeros(4, 5).copy_(lucid.sort(x)[0]) * x,
}


@pytest.mark.parametrize("name", HOST_CALLS)
def test_ops_of_the_host_are_steps_of_plans(name):
    check(calls_of(HOST_CALLS[name], lambda: leaf(4, 5)), least_hits=2)


@pytest.mark.parametrize("dtype", [lucid.f64, lucid.f16, lucid.bf16, lucid.i32, lucid.bool])
def test_sorting_inside_a_plan_for_every_kind_of_number(dtype):
    check(calls_of(lambda x: lucid.sort(x, dim=0), lambda: lucid.randn(7, 3).mul(3).to(dtype)), least_hits=2)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (2, 1, 4)])
def test_sorting_inside_a_plan_for_any_shape(shape):
    check(calls_of(lambda x: lucid.sort(x + 1)[0] * 2, lambda: lucid.randn(*shape)), least_hits=2)


def test_nan_and_negative_zero_are_sorted_as_in_eager_mode():
    values = [float("nan"), -0.0, 0.0, float("inf"), 1e-40, -1e-40]

    def world():
        return (lambda x: lucid.sort(x * 1)), [[lucid.tensor(values[i:] + values[:i])] for i in range(4)], ()

    check(world)


def test_an_error_of_the_host_leaves_nothing_behind():
    """The weights of the second call are no weights: state stays as eager mode leaves it, and later calls go on."""

    def world():
        count = lucid.zeros(())

        def draw(weights):
            count.add_(1)
            return lucid.multinomial(weights * 2, 2)

        return draw, [[lucid.ones(3)], [lucid.ones(3)], [-lucid.ones(3)], [lucid.ones(3)]], lambda: [count]

    check(world, least_hits=2)


def test_a_training_step_that_sorts():
    def world():
        w = leaf(6)
        optimizer = lucid.optim.SGD([w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = (lucid.sort(x * w)[0] * lucid.arange(6)).sum() + lucid.topk(w, 2).values.sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step, [[lucid.randn(6)] for _ in range(4)], lambda: [w]

    check(world, backward=False)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: lucid.nonzero(x), "nonzero"),
        (lambda x: lucid.masked_select(x, x > 0), "masked_select"),
        (lambda x: x[x > 0], "nonzero"),
        (lambda x: lucid.unique(x), "unique_all"),
    ],
)
def test_results_whose_size_depends_on_values_stay_eager(function, name):
    check(
        calls_of(function, lambda: lucid.randn(8)),
        fallback=f"the size of what {name} gives depends on values",
    )
