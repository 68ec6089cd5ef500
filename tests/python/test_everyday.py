"""The programs of `everyday` do the same compiled, bit for bit: results, what they print, state and random numbers."""

import everyday
import lucid
import pytest

CALLS = 24


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", everyday.PROGRAMS)
def test_a_program_does_the_same_compiled(name):
    eager, compiled = everyday.Run(name), everyday.Run(name, lucid.compile)
    for number in range(CALLS):
        _, expected = eager.call()
        _, found = compiled.call()
        error = expected[1]
        assert error is None
        assert found == expected, f"call {number}: {compiled.function.explain()}"
    assert compiled.final() == eager.final(), compiled.function.explain()
