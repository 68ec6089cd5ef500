"""Backward passes that run by plans: what their tests share."""

import lucid
from lucid.compiler import counters
from same import bits, check_story


def check_planned(story, runs, **options):
    """What `story(wrap)` returns is the same compiled; backward passes run that many plans, in place of nodes."""
    before = counters().backward_runs
    made = check_story(story, **options)
    reports = "\n".join(compiled.explain() for compiled in made)
    assert counters().backward_runs - before == runs, reports
    return made


def gradients(tensors):
    return [None if tensor.grad is None else bits(tensor.grad) for tensor in tensors]


def leaves(*shapes, dtype=None):
    return [lucid.randn(*shape).to(dtype or lucid.float32).requires_grad_() for shape in shapes]


def gated(x, w):
    """Something whose gradient takes several ops, with a sum of two gradients at x."""
    return lucid.tanh(x @ w) * lucid.sigmoid(x)
