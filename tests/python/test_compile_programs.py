"""Programs that change Python's state between calls give the same compiled as eagerly."""

import lucid
import pytest
from capture_programs import PROGRAMS
from lucid.compiler import JITFunction
from same import bits


def run(program, compile):
    lucid.manual_seed(2)
    return [bits(result) for result in program(compile)], bits(lucid.get_rng_state())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_same_compiled(name):
    made = []

    def compile(function):
        made.append(lucid.compile(function))
        return made[-1]

    expected = run(PROGRAMS[name], lambda function: function)
    found = run(PROGRAMS[name], compile)
    assert found == expected, "\n".join(compiled.explain() for compiled in made if isinstance(compiled, JITFunction))
