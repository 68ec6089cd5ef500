"""Helpers for the tests of backward plans."""

import lucid
from lucid.compiler import counters
from same import bits, check_scenario


def check_planned(scenario, runs, **options):
    """Checks that `scenario(wrap)` returns the same compiled, and that its backward passes run `runs` plans."""
    before = counters().backward_runs
    made = check_scenario(scenario, **options)
    reports = "\n".join(compiled.explain() for compiled in made)
    assert counters().backward_runs - before == runs, reports
    return made


def gradients(tensors):
    return [None if tensor.grad is None else bits(tensor.grad) for tensor in tensors]


def leaves(*shapes, dtype=None):
    return [lucid.randn(*shape).to(dtype or lucid.float32).requires_grad_() for shape in shapes]


def gated(x, w):
    """A function whose gradient takes several ops and sums two gradients at x."""
    return lucid.tanh(x @ w) * lucid.sigmoid(x)
