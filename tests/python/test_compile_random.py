"""Random programs, 300 of them: compiled they do what they do eagerly. `compile_programs.py` runs more."""

import compile_programs
from program_writer import Input, Program, Statement


def test_random_programs_are_the_same_compiled():
    total = compile_programs.Totals()
    assert compile_programs.run_in_child(0, 300, total) is None
    assert total.replayed > 150, total.reasons


def test_programs_that_differ_are_made_smaller():
    shape = {"shape": (3,), "fill": "normal", "bound": 0}
    statements = [Statement(f"v{i} = a0 + {i}", f"v{i}", frozenset({"a0"})) for i in range(3)]
    given = Input("a0", shape, compile_programs.lucid.float32, 1, False, "plain")
    program = Program((given,), {}, tuple(statements), ("v0", "v1", "v2"), "tuple")
    smaller = [compile_programs.without(program, i) for i in range(3)]
    assert [p.results for p in smaller] == [("v1", "v2"), ("v0", "v2"), ("v0", "v1")]
    assert compile_programs.differs(program)[0] is None
