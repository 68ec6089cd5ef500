"""No op loops over the dimensions of a tensor without elements, forward or backward, eager or compiled."""

import os
import subprocess
import sys

import lucid
import pytest
from interpreter import FOLDER

SIZE = 2**40


@pytest.mark.parametrize("mode", ["eager", "backward", "compiled"])
def test_every_op_returns(mode):
    run = subprocess.run(
        [sys.executable, str(FOLDER / "empty_shapes.py"), mode],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert (run.stdout, run.returncode) == ("end\n", 0), run.stderr


def test_what_empty_results_are_computed_from_is_not_computed():
    x = lucid.zeros(SIZE, 0)
    assert lucid.nn.functional.normalize(x).shape == (SIZE, 0)
    assert (x - x.sum(0)).shape == (SIZE, 0)
    compiled = lucid.compile(lambda x: (x * x.mean(1, keepdim=True)).relu())
    for _ in range(3):
        with pytest.raises(MemoryError):
            x.mean(1, keepdim=True)
        y = lucid.zeros(5, 0)
        assert compiled(y).shape == (5, 0)
        lucid.compiler.wait()


def test_sorting_nothing():
    for dim, shape in ((0, (0, SIZE)), (1, (0, SIZE)), (0, (SIZE, 0)), (1, (SIZE, 0))):
        x = lucid.zeros(shape)
        values, indices = x.sort(dim)
        assert values.shape == indices.shape == x.argsort(dim).shape == x.msort().shape == shape
