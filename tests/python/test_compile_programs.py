"""Programs that change Python state between calls return the same compiled as eagerly."""

import contextlib
import io

import lucid
import pytest
from capture_expected import COMPILED, EAGER, NEVER_TWICE, PARTLY, READS_VALUES
from capture_programs import PROGRAMS
from lucid.compiler import JITFunction
from same import bits

# These also write state, but what the recording found is reported first.
REPORTED_FIRST = {
    "item_ema_on_self": "reads a value of a tensor",
    "item_logged_and_read": "reads a value of a tensor",
    "sched_inside": "reads a learning rate schedule",
}


def run(program, compile):
    lucid.manual_seed(2)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        results = [bits(result) for result in program(compile)]
    return results, printed.getvalue(), bits(lucid.get_rng_state())


def reason_of(name):
    """Part of the reason why a program runs eagerly."""
    return REPORTED_FIRST.get(name) or READS_VALUES.get(name) or EAGER[name]


def test_every_program_has_an_expected_outcome():
    assert len(COMPILED) >= 160
    assert len(PROGRAMS) >= 260
    names = sorted([*COMPILED, *PARTLY, *EAGER, *NEVER_TWICE, *READS_VALUES])
    assert names == sorted(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_returns_the_same_compiled(name):
    made = []

    def compile(function):
        made.append(lucid.compile(function))
        return made[-1]

    expected = run(PROGRAMS[name], lambda function: function)
    found = run(PROGRAMS[name], compile)
    report = "\n".join(compiled.explain() for compiled in made if isinstance(compiled, JITFunction))
    assert found == expected, report
    info = made[-1].cache_info()
    if name in COMPILED:
        assert info.hits > 0, report
        assert info.fallbacks == 0, report
    elif name in PARTLY:
        assert info.hits > 0, report
        assert PARTLY[name] in report, report
    elif name in NEVER_TWICE:
        assert info.hits == 0, report
    else:
        assert info.hits == 0, report
        assert reason_of(name) in made[-1].explain(), report
