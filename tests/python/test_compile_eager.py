"""Functions that cannot be compiled run eagerly and report why. More cases are in test_failures_state.py."""

import lucid
import pytest
from same import bits, check, check_scenario
from worlds import numbered, pure


def fill_overlapping(x):
    y = x * 2
    lucid.strided_part(y, (2, 2), (1, 1)).copy_(2)
    return y


def restored(x):
    state = lucid.get_rng_state()
    first = lucid.rand(4)
    lucid.set_rng_state(state)
    return x * (first - lucid.rand(4))


REASONS = {
    "parts that overlap themselves": (fill_overlapping, "share memory"),
    "a state of the generator": (restored, "runs eagerly"),
    "a shape that depends on values": (lambda x: x[x > 0].sum(), "depends on values"),
}


@numbered(REASONS)
def test_functions(case):
    function, reason = case
    check(pure(function, (4,)), fallback=reason)


def test_a_gradient_hook_that_records_gradients():
    def scenario(wrap):
        weight = lucid.ones(3, requires_grad=True)
        seen = []

        def step(x):
            (weight * x).sum().backward()

        f = wrap(step)
        for number in range(9):
            if number == 4:
                weight.register_hook(lambda gradient: seen.append(bits(gradient)))
            f(lucid.full((3,), float(number)))
        return seen, weight.grad

    check_scenario(scenario, fallback="runs eagerly")


def test_inspecting_a_compiled_function():
    @lucid.compile
    def f(x):
        return (x * 2).exp()

    x = lucid.ones(3)
    with pytest.raises(ValueError, match="call it with these arguments first"):
        f.graph(x)
    f(x)
    text = str(f.graph(x))
    assert "mul(%0, 2)" in text
    assert "test_compile_eager.py:" in text
    report = f.explain()
    assert "1 of at most 8 plans" in report
    assert "kernels" in report
    assert f.__name__ == "f"
