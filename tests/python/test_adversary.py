"""Programs written to break the promise that a compiled function never differs: each must do what it does eagerly."""

import pytest
from adversary import PROGRAMS, run_program

# How many of the ordinary programs run a plan.
ORDINARY_THAT_COMPILE = 88


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_the_same_compiled(name):
    eager = run_program(PROGRAMS[name], compiled=False)
    compiled = run_program(PROGRAMS[name], compiled=True)
    assert compiled.log == eager.log


@pytest.mark.filterwarnings("ignore")
def test_ordinary_programs_compile():
    ordinary = [program for program in PROGRAMS.values() if program.want == "hit"]
    eager = [program.name for program in ordinary if run_program(program, compiled=True).hits == 0]
    assert len(ordinary) - len(eager) >= ORDINARY_THAT_COMPILE, f"these run eagerly: {eager}"
