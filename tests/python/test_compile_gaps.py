"""Calls that a compiler could easily leave to eager mode, but that are compiled."""

import dataclasses
from typing import Any, NamedTuple

import lucid
import pytest
from same import bits, check
from worlds import calls_of, leaf

# Host ops.

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
def test_host_ops_are_steps_of_plans(name):
    check(calls_of(HOST_CALLS[name], lambda: leaf(4, 5)), min_hits=2)


@pytest.mark.parametrize("dtype", [lucid.f64, lucid.f16, lucid.bf16, lucid.i32, lucid.bool])
def test_sorting_inside_a_plan_for_every_dtype(dtype):
    check(calls_of(lambda x: lucid.sort(x, dim=0), lambda: lucid.randn(7, 3).mul(3).to(dtype)), min_hits=2)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (2, 1, 4)])
def test_sorting_inside_a_plan_for_any_shape(shape):
    check(calls_of(lambda x: lucid.sort(x + 1)[0] * 2, lambda: lucid.randn(*shape)), min_hits=2)


def test_nan_and_negative_zero_sort_as_in_eager_mode():
    values = [float("nan"), -0.0, 0.0, float("inf"), 1e-40, -1e-40]

    def world():
        return (lambda x: lucid.sort(x * 1)), [[lucid.tensor(values[i:] + values[:i])] for i in range(4)], ()

    check(world)


def test_an_error_in_a_host_op_has_no_side_effects():
    """The weights of the third call are invalid: state stays as eager mode leaves it, and later calls work."""

    def world():
        count = lucid.zeros(())

        def sample(weights):
            count.add_(1)
            return lucid.multinomial(weights * 2, 2)

        return sample, [[lucid.ones(3)], [lucid.ones(3)], [-lucid.ones(3)], [lucid.ones(3)]], lambda: [count]

    check(world, min_hits=2)


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
        (lambda x: x[x > 0], "masked_select"),
        (lambda x: x.reshape(2, 4)[:, lucid.arange(4) > 1], "nonzero"),
        (lambda x: lucid.unique(x), "unique_all"),
    ],
)
def test_results_whose_size_depends_on_values_stay_eager(function, name):
    check(
        calls_of(function, lambda: lucid.randn(8)),
        fallback=f"the output size of {name} depends on values",
    )


# Results.


def back_and_forth(x):
    y = x.detach().requires_grad_()
    (y * y).sum().backward()
    return y.grad


def in_place_on_a_view(x):
    y = x * 2
    y[1:].mul_(3)
    return y, y[0]


def without_gradients(x):
    y = x * 2
    with lucid.no_grad():
        return y[1:]


RESULTS = {
    "views_of_one": lambda x: (lambda h: (h[0], h[:, 1:], h.T))(x * 2),
    "a_view_and_its_root": lambda x: (lambda h: (h[0], h))(x.exp()),
    "a_part_with_gaps": lambda x: (x * 2)[:, ::2],
    "expanded": lambda x: (x.sum(1, keepdim=True)).expand(4, 5),
    "detached_argument": lambda x: x.detach(),
    "detached_view": lambda x: x[1:].detach()[0],
    "data": lambda x: x.data,
    "a_view_made_without_gradients": without_gradients,
    "argument_through_views": lambda x: (x.T[1:].T, x.reshape(-1), x),
    "a_new_leaf": lambda x: (x.detach() * 2).requires_grad_(),
    "a_leaf_on_the_arguments_memory": lambda x: x.detach().requires_grad_(),
    "a_view_of_a_new_leaf": lambda x: (x * 2).detach().requires_grad_()[1:],
    "a_leaf_and_what_is_made_of_it": lambda x: (lambda y: (y, (y * x).sum()))((x.detach() * 2).requires_grad_()),
    "a_leaf_that_is_not_returned": lambda x: (x.detach() * 2).requires_grad_() * x,
    "backward_to_a_new_leaf": back_and_forth,
    "a_fresh_leaf": lambda x: (lambda w: (w * x).sum())(lucid.ones(4, 5, requires_grad=True)),
    "a_written_view": in_place_on_a_view,
    "split": lambda x: x.sigmoid().split(2, dim=1),
    "unbind": lambda x: lucid.unbind(x * 2),
    "transposed": lambda x: (x @ x.T).T,
    "chunks_of_the_argument": lambda x: x.chunk(2, 1),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("grad", [True, False])
def test_36_results_of_every_kind(name, grad):
    check(calls_of(RESULTS[name], lambda: leaf(4, 5) if grad else lucid.randn(4, 5)), min_hits=2)


@pytest.mark.parametrize("name", RESULTS)
def test_36_writes_to_results_match_eager(name):
    """Views of one tensor share its memory and its gradient."""

    def after(results):
        seen = []
        for result in results:
            for factor in (2, w):
                try:
                    result.mul_(factor)
                except RuntimeError as error:
                    seen.append(str(error))
        for result in results:
            if result.requires_grad:
                try:
                    result.sum().backward(retain_graph=True)
                except RuntimeError as error:
                    seen.append(str(error))
        return seen

    w = lucid.tensor(3.0, requires_grad=True)
    found = []
    for wrap in (lambda f: f, lucid.compile):
        lucid.manual_seed(5)
        w.grad = None
        f = wrap(RESULTS[name])
        for _ in range(3):
            x = leaf(4, 5)
            results = f(x * 1)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            seen = after(results)
        found.append((seen, bits(results), bits(x), bits(x.grad), bits(w.grad)))
    assert found[0] == found[1]
    assert f.cache_info().hits == 2, f.explain()


def test_16_a_recorded_write_to_an_argument():
    def f(x, w):
        x += 1
        x.mul_(w)
        return x * 2

    def world():
        w = leaf(3)

        def calls():
            for _ in range(4):
                base = leaf(3)
                yield [base * 2, w]

        return f, calls, lambda: [w]

    check(world, min_hits=3)


def test_16_a_recorded_write_through_a_view_of_an_argument():
    def f(x):
        row = x[0]
        row.mul_(2)
        return x.exp(), row

    check(calls_of(f, lambda: leaf(3, 4) * 1), min_hits=2)


def test_16_the_callers_graph_continues_after_a_write():
    def gradients(wrap):
        lucid.manual_seed(3)

        def f(x, y):
            x.mul_(y)
            x[0] = 5.0
            return y.sum()

        f = wrap(f)
        seen = []
        for _ in range(3):
            base, y = leaf(3), leaf(3)
            x = base.exp()
            view_before = x * 1
            total = f(x, y)
            (x.sum() + total + view_before.sum()).backward()
            seen += [bits(x), bits(base.grad), bits(y.grad)]
        return seen, f

    expected, _ = gradients(lambda f: f)
    found, compiled = gradients(lucid.compile)
    assert found == expected
    assert compiled.cache_info().hits == 2, compiled.explain()


def test_16_a_recorded_write_to_a_leaf_raises_even_with_a_plan():
    def f(x):
        x.mul_(2)
        return x * 3

    def world():
        return f, lambda: ([leaf(3) * 1] if i != 2 else [leaf(3)] for i in range(5)), ()

    check(world)


def test_16_a_write_that_makes_an_argument_require_grad():
    def f(x, w):
        x.copy_(w * 2)
        return x + 1

    def world():
        w = leaf(3)
        return f, lambda: ([lucid.zeros(3), w] for _ in range(3)), lambda: [w]

    check(world, min_hits=2)


def test_24_batch_norm_that_averages_all_batches():
    def world():
        norm = lucid.nn.BatchNorm1d(3, momentum=None)
        return norm, lambda: ([leaf(5, 3)] for _ in range(4)), lambda: [*norm.parameters(), *norm.buffers()]

    check(world, min_hits=3)


@pytest.mark.parametrize("options", [{"scale_grad_by_freq": True}, {"max_norm": 1.0}, {"sparse": False}])
def test_embeddings_with_different_indices_at_each_call(options):
    def world():
        table = lucid.nn.Embedding(7, 3, **options)
        return table, lambda: ([lucid.randint(0, 7, (6,))] for _ in range(4)), lambda: list(table.parameters())

    check(world, min_hits=3)


def test_37_saved_views_keep_their_values_when_the_base_is_written():
    def f(x):
        y = x * 2
        a, b = y[:3] * y[:3], y[1:] * y[1:]
        y.mul_(3)
        return a.sum() + b.sum() + y.sum()

    check(calls_of(f, lambda: leaf(4)), min_hits=2)


def test_37_a_saved_expanded_tensor_keeps_its_values_when_its_base_is_written():
    def f(x, z):
        y = x * 2
        wide = y.expand(3, 4)
        result = wide * z
        y.mul_(3)
        return result.sum() + y.sum()

    check(calls_of(f, lambda: leaf(4), lambda: leaf(3, 4)), min_hits=2)


# Arguments.


@dataclasses.dataclass
class Pair:
    first: Any
    second: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    first: Any


class Named(NamedTuple):
    first: Any
    second: Any


ARGUMENTS = {
    "fields": (lambda p: p.first * 2 + p.second, lambda: Pair(leaf(3), leaf(3))),
    "nested": (lambda p: p.first.first * p.second[0], lambda: Pair(Pair(leaf(3), 3), [leaf(3)])),
    "in_a_list": (lambda items: items[0].first * 2, lambda: [Pair(leaf(3))]),
    "slots": (lambda p: p.first * 2, lambda: Slotted(leaf(3))),
    "with_a_named_tuple": (lambda p: p.first.first * p.second["k"], lambda: Pair(Named(leaf(3), 1), {"k": leaf(3)})),
    "as_a_result": (lambda p: Pair(Pair(p.first * 2), [p.second, Named(p.first, 1)]), lambda: Pair(leaf(3), leaf(3))),
    "written": (lambda p: p.first.add_(1).sum(), lambda: Pair(lucid.randn(3))),
    "numbers": (lambda p: p.first * p.second, lambda: Pair(leaf(3), 2.5)),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_06_tensors_in_fields_of_dataclasses(name):
    function, make = ARGUMENTS[name]
    check(calls_of(function, make, times=4), min_hits=2)


def test_06_each_number_in_a_field_has_its_own_plan():
    def world():
        return (lambda p: p.first * p.second), lambda: ([Pair(leaf(3), float(i % 2))] for i in range(8)), ()

    check(world, min_hits=3)


def test_06_a_field_that_the_call_replaces_runs_eagerly():
    def f(pair):
        pair.first = pair.first * 2
        return pair.first + 1

    check(calls_of(f, lambda: Pair(leaf(3))), fallback="the call writes pair")


def test_06_one_tensor_in_two_fields():
    def world():
        def calls():
            for i in range(6):
                x = lucid.randn(3)
                yield [Pair(x, x) if i % 2 else Pair(x, lucid.randn(3))]

        return (lambda p: p.first.add_(1) * p.second), calls, ()

    check(world, min_hits=2)


def test_a_compiled_module_inside_a_module():
    class Net(lucid.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = lucid.compile(lucid.nn.Linear(3, 4))
            self.head = lucid.nn.Linear(4, 2)

        def forward(self, x):
            return self.head(self.body(x))

    net = Net()
    assert list(net.state_dict()) == ["body.weight", "body.bias", "head.weight", "head.bias"]
    assert [name for name, _ in net.named_parameters()] == list(net.state_dict())
    x = lucid.randn(5, 3)
    for _ in range(3):
        net(x).sum().backward()
    assert net.body.cache_info().hits > 0
    assert net.body.weight.grad is not None
    assert not net.eval().body.training
    net.body = lucid.nn.Linear(3, 4)
    assert type(net.body) is lucid.nn.Linear
    net.body = lucid.compile(net.body)
    del net.body
    assert not hasattr(net, "body")
    assert list(net.state_dict()) == ["head.weight", "head.bias"]


def test_a_compiled_module_inside_a_sequential():
    plain = lucid.nn.Linear(3, 4)
    net = lucid.nn.Sequential(lucid.compile(plain), lucid.nn.ReLU())
    x = lucid.randn(5, 3)
    assert list(net.state_dict()) == ["0.weight", "0.bias"]
    assert lucid.equal(net(x), plain(x).relu())
