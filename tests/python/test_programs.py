"""Programs do the same compiled as eagerly, and run plans, or not, as they say (`programs/_harness.py`)."""

import capture_random
import lucid
import pytest
from programs import PROGRAMS, run_program, run_shadow
from programs._shadow import Shadow

# How many of the ordinary programs run a plan.
ORDINARY_THAT_COMPILE = 88


def marked(name):
    """Only programs that must compile may not warn."""
    return pytest.param(name, marks=() if PROGRAMS[name].compiles else pytest.mark.filterwarnings("ignore"))


@pytest.mark.parametrize("name", [marked(name) for name in PROGRAMS])
def test_a_program_does_the_same_compiled(name):
    program = PROGRAMS[name]
    eager, compiled = run_program(program), run_program(program, lucid.compile)
    assert compiled.log == eager.log, compiled.report()
    if program.compiles:
        check_plans(program, compiled)


def check_plans(program, run):
    last = run.functions[-1]
    hits, explained = run.outcome or (last.cache_info().hits, last.explain())
    if program.runs_no_plan:
        assert hits == 0, run.report()
        assert (program.reported or program.reads or program.eager or "") in explained, run.report()
        return
    assert hits > 0, run.report()
    if program.partly:
        assert program.partly in run.report()
    elif run.outcome is None:
        assert last.cache_info().fallbacks == 0, run.report()


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.guards])
def test_guards_are_never_stale(name):
    """Without the compiler: `Shadow` runs every call, and compares its ops with those of a plan whose guards hold."""
    program = PROGRAMS[name]
    shadow = run_shadow(program)
    if program.eager:
        assert shadow.hits == 0
        where, _, reason = shadow.reason.partition(": ")
        assert where.partition(":")[0].endswith(".py")
        assert reason == program.eager
    else:
        assert shadow.reason is None
        assert (shadow.hits == 0) == (program.never_twice or program.one_call)


@pytest.mark.filterwarnings("ignore")
def test_ordinary_programs_compile():
    ordinary = [program for program in PROGRAMS.values() if program.ordinary]
    eager = [program.name for program in ordinary if run_program(program, lucid.compile).hits == 0]
    assert len(ordinary) - len(eager) >= ORDINARY_THAT_COMPILE, f"these run eagerly: {eager}"


def test_no_program_is_lost():
    assert len(PROGRAMS) >= 2300
    assert sum(program.guards for program in PROGRAMS.values()) >= 310


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_guards_of_random_programs_are_never_stale(first):
    shadows = [capture_random.run(seed, Shadow) for seed in range(first, first + 20)]
    assert [shadow.reason for shadow in shadows] == [None] * 20
    assert sum(shadow.hits for shadow in shadows) > 50
