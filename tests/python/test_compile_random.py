"""2,000 random programs: compiled matches eager. `compile_programs.py` runs more."""

import statistics

import compile_programs
import lucid
import pytest
from random_program import Input, Program, Statement
from same import bits, check, history


@pytest.mark.parametrize(("first", "last", "off"), [(0, 800, ""), (800, 2000, "FuseSteps")])
def test_random_programs_are_the_same_compiled(monkeypatch, first, last, off):
    # Compiling fused steps takes most of the time, because no other program shares their kernels.
    monkeypatch.setenv("LUCID_DISABLE_PASSES", off)
    failures, total = compile_programs.run_programs(first, last)
    assert failures == 0
    assert total.programs == last - first
    assert total.replayed > 0.95 * total.fixed, total.report()
    assert total.backward > 0.4 * total.fixed, total.report()
    assert total.varying > 0.15 * total.programs, total.report()
    assert total.sizes > 0.3 * total.varying, total.report()
    assert statistics.median(total.nodes.elements()) >= 12, total.report()
    assert total.rarest()[len(compile_programs.program_draft.SIZED_BY_VALUES)][0] > 0, total.report()


def test_verified_calls_of_random_programs_differ_in_nothing(monkeypatch):
    monkeypatch.setenv("LUCID_VERIFY", "1")
    monkeypatch.setenv("LUCID_DISABLE_PASSES", "FuseSteps")
    failures, total = compile_programs.run_programs(2000, 2200)
    assert failures == 0
    assert total.replayed > 0.95 * total.fixed, total.report()


def test_differing_programs_are_shrunk():
    shape = {"shape": (3,), "fill": "normal", "bound": 0}
    statements = [Statement(f"v{i} = a0 + {i}", f"v{i}", frozenset({"a0"})) for i in range(3)]
    given = Input("a0", shape, lucid.float32, 1, False, "plain")
    program = Program((given,), {}, tuple(statements), ("v0", "v1", "v2"), "tuple")
    smaller = [compile_programs.without(program, i) for i in range(3)]
    assert [p.results for p in smaller] == [("v1", "v2"), ("v0", "v2"), ("v0", "v1")]
    assert compile_programs.differs(program)[0] is None


# Bugs that random programs found.


def test_writing_by_a_0d_mask_does_not_read_its_value():
    def world():
        def f(x, y):
            total = x.sum() + 0
            total[total > 0.5] = 1.5
            y = y * 2
            y[total > 1] = 0
            return total, y

        return f, [(lucid.full((2,), value), lucid.ones(3)) for value in (1.0, -1.0, 2.0)], []

    check(world)


def test_arguments_of_random_fills_do_not_cause_a_second_recording():
    def world():
        return (lambda x: x.clone().uniform_(1.0, 2.0).bernoulli_(0.25)), [(lucid.ones(3),)] * 3, []

    assert check(world).cache_info().misses == 1


def test_access_order_of_rebased_views_does_not_change_gradients():
    def world():
        def f(x):
            whole = x.tanh()
            first, second = whole.view(-1), whole[1:]
            whole.view(-1).mul_(0.5)
            return whole, second, first

        lucid.manual_seed(5)
        return f, [(lucid.randn(50, requires_grad=True),) for _ in range(4)], []

    assert (
        history(world, lucid.compile, backward=True)[0] == history(world, lambda function: function, backward=True)[0]
    )

    def gradient(ask):
        (x,) = world()[1][0]
        whole, second, first = world()[0](x)
        ask(first, second)
        ((whole * whole).sum() + (first * first * 0.3).sum() + (second * second * 0.1).sum()).backward()
        return bits(x.grad)

    expected = gradient(lambda first, second: None)
    assert gradient(lambda first, second: (first.grad_fn, second.grad_fn)) == expected
    assert gradient(lambda first, second: (second.grad_fn, first.grad_fn)) == expected


def test_backward_reaches_leaves_in_the_same_order():
    def f(x, y):
        return x.exp(), y.flatten()

    def order(function):
        seen = []
        for _ in range(3):
            x, y = lucid.ones(3, requires_grad=True), lucid.ones(2, 2, requires_grad=True)
            x.register_hook(lambda gradient: seen.append("x"))
            y.register_hook(lambda gradient: seen.append("y"))
            exponential, flat = function(x, y)
            (exponential.sum() + flat.sum()).backward()
        return seen

    compiled = lucid.compile(f)
    assert order(compiled) == order(f)
    assert compiled.cache_info().hits == 2


@pytest.mark.parametrize("dtype", [lucid.bool, lucid.uint8, lucid.int64])
def test_lerp_between_integers_has_a_gradient_for_its_weight(dtype):
    weight = lucid.tensor([0.25, 0.75], requires_grad=True)
    lucid.lerp(lucid.tensor([1, 0]).to(dtype), lucid.tensor([0, 1]).to(dtype), weight).sum().backward()
    assert weight.grad.tolist() == [-1, 1]


@pytest.mark.parametrize("dtype", [lucid.float16, lucid.bfloat16], ids=["f16", "bf16"])
def test_gradients_of_scalars_match_vectors_for_rules_with_constants(dtype):
    def world():
        def f(x):
            return x.erf() + lucid.log10(x.abs() + 1) + lucid.nn.functional.hardsigmoid(x)

        generator = lucid.Generator().manual_seed(4)
        return f, [(lucid.randn((), generator=generator).to(dtype).requires_grad_(),) for _ in range(20)], []

    check(world)
