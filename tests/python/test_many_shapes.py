"""Machine code of shapes that are no longer used is freed."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "many_shapes.py"


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_new_shapes_leave_no_mappings_behind(mode):
    command = [sys.executable, str(SCRIPT), "--mode", mode, "--count", "400", "--every", "100", "--kernels", "60"]
    done = subprocess.run([*command, "--slack", "10"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
