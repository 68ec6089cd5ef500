"""Machine code for shapes that are no longer used is freed."""

import pathlib
import subprocess
import sys

import lucid
import pytest

SCRIPT = pathlib.Path(__file__).parent / "many_shapes.py"


@pytest.mark.parametrize(("mode", "count"), [("eager", 400), ("compiled", 400), ("kernels", 120)])
def test_new_shapes_leave_no_mappings_behind(mode, count):
    command = [sys.executable, str(SCRIPT), "--mode", mode, "--count", str(count), "--every", str(count // 4)]
    done = subprocess.run([*command, "--kernels", "30", "--slack", "10"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_keys_without_plans_are_evicted():
    @lucid.compile
    def refuses(x):
        raise ValueError(f"not {x.shape}")

    @lucid.compile
    def reads_a_value(x):
        return x + float(x.sum())

    for length in range(1, 300):
        with pytest.raises(ValueError, match="not"):
            refuses(lucid.ones(length))
        reads_a_value(lucid.ones(length))
    assert refuses._compiled.table.known_keys < 100
    assert reads_a_value._compiled.table.known_keys < 100
