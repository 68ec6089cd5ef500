"""An op added by one file (tests/added_op/added_op.cpp) is available everywhere in Python.

Needs the package of the CMake target `core_with_added_op` in <build>/added_op. LUCID_ADDED_OP names the folder if it is
not next to the tested package.
"""

import os
import pathlib
import re
import subprocess
import sys

import lucid
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(os.environ.get("LUCID_ADDED_OP") or pathlib.Path(lucid.__file__).parents[2] / "added_op")

pytestmark = pytest.mark.skipif(
    "LUCID_ADDED_OP" not in os.environ and not any((PACKAGE / "lucid").glob("_core*.so")),
    reason="the target core_with_added_op is not built",
)


def run(*arguments):
    """Runs Python with the package that has the added op."""
    path = os.pathsep.join([str(PACKAGE), str(ROOT / "tests/python")])
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_release_lacks_the_op():
    assert not hasattr(lucid, "opposite")
    assert "opposite" not in lucid._core.ops


def test_function_method_in_place_and_functional():
    run(
        "-c",
        """
import inspect
import lucid
import lucid.nn.functional as F
x = lucid.tensor([1.0, -2.0], requires_grad=True)
for y in (lucid.opposite(x), x.opposite(), F.opposite(x), F.opposite(x.clone(), inplace=True)):
    assert y.tolist() == [-1.0, 2.0]
x.opposite().sum().backward()
assert x.grad.tolist() == [-1.0, -1.0]
z = lucid.ones(2)
assert z.opposite_() is z and z.tolist() == [-1.0, -1.0]
assert str(inspect.signature(lucid.opposite)) == "(x)"
assert {"opposite"} <= {*dir(lucid), *dir(F)}
assert "reported" in lucid._core.ops and not hasattr(lucid, "reported") and not hasattr(x, "reported")
""",
    )


def test_compiled_code_applies_its_identities():
    run(
        "-c",
        """
import lucid
fast = lucid.compile(lambda x: x.opposite().opposite().exp().sum())
x = lucid.randn(5)
for _ in range(3):
    assert lucid.equal(fast(x), x.exp().sum())
assert fast.cache_info().hits == 2
assert [node.op for node in fast.graph(x).nodes] == ["exp", "sum"]
""",
    )


def test_an_op_with_external_effects_is_not_replayed():
    run(
        "-c",
        """
import lucid
sent = lucid._core.ops["sent"]
fast = lucid.compile(lambda x: sent(x) + 1)
for _ in range(3):
    assert lucid.equal(fast(lucid.ones(2)), lucid.full((2,), 2.0))
assert fast.cache_info().compiles == 0
assert "calls sent, which has effects" in lucid.compiler.explain(fast)
""",
    )


def test_its_docstring_examples_run():
    out = run("-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "tests/python/test_doctests.py", "-k", "opposite")
    assert re.search(r"\b[1-9]\d* passed", out)
    assert "failed" not in out


def test_in_bad_calls():
    run(
        "-c",
        """
import bad_calls
import valid_calls
valid_calls.table()[:] = [op for op in valid_calls.table() if op["name"] == "opposite"]
calls = [bad_calls.make(seed) for seed in range(300)]
assert {call.name for call in calls} >= {"opposite", "Tensor.opposite", "Tensor.opposite_"}
for call in calls:
    bad_calls.run(call)
""",
    )


def test_in_random_programs():
    run(
        "-c",
        """
import compile_programs
import program_draft
import program_writer
only = tuple(op for op in program_draft.table() if op["name"] == "opposite")
program_draft.table = program_draft.replayable = lambda: only
used = 0
for seed in range(20):
    program = program_writer.Writer(seed).write()
    used += any(statement.entry == "opposite" for statement in program.statements)
    assert compile_programs.differs(program)[0] is None
assert used > 10
""",
    )
