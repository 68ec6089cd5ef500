"""Functions that people put `lucid.compile` on: training steps, evaluations, samplers, policies, solvers.

Each is written as its users would write it, with their logging, counting and stopping, and with no regard to the
compiler. A program builds its state and returns

    the function to compile,
    the arguments of call `i`, as a function of `i`, which may also do what happens between calls,
    the state to compare afterwards, as a function without arguments.

`test_everyday.py` compares each program with itself compiled, bit for bit. `benchmarks/everyday_coverage.py` measures
the share of calls that run plans, and the time over eager.
"""

from . import acting, generative, inference, numerics, representation, schedules, sequences, supervised, text, tracking
from ._programs import PROGRAMS, Run

__all__ = [
    "PROGRAMS",
    "Run",
    "acting",
    "generative",
    "inference",
    "numerics",
    "representation",
    "schedules",
    "sequences",
    "supervised",
    "text",
    "tracking",
]
