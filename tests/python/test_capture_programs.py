"""No plan is ever stale: programs that change Python's state between calls.

The compiler itself is not needed: `capture_harness.Shadow` runs every call. When the guards of a plan hold, it compares
the ops of the call with the ops of the plan.
"""

import capture_random
import pytest
from capture_expected import BRANCHES, EAGER, NEVER_TWICE, READS_VALUES, STORES, VARYING_NUMBERS, VARYING_SIZES
from capture_harness import Shadow
from capture_programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_guards_are_never_stale(name):
    shadows = []

    def compile(function):
        shadows.append(Shadow(function, reads_values=name in READS_VALUES or name in BRANCHES))
        return shadows[-1]

    for _ in PROGRAMS[name](compile):
        pass
    shadow = shadows[-1]
    if name in EAGER:
        assert shadow.hits == 0
        where, _, reason = shadow.reason.partition(": ")
        assert where.partition(":")[0].endswith(".py")
        assert reason == EAGER[name]
    else:
        assert shadow.reason is None
        assert (shadow.hits == 0) == (name in NEVER_TWICE | VARYING_NUMBERS | VARYING_SIZES | STORES)


def test_programs_run_the_same_without_a_compiler():
    assert len(PROGRAMS) >= 260
    for program in PROGRAMS.values():
        for _ in program(lambda function: function):
            pass


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_guards_of_random_programs_are_never_stale(first):
    shadows = [capture_random.run(seed, Shadow) for seed in range(first, first + 20)]
    assert [shadow.reason for shadow in shadows] == [None] * 20
    assert sum(shadow.hits for shadow in shadows) > 50
