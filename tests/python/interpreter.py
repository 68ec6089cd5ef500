"""Runs code in a separate interpreter."""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent


def run_python(source, warning="", **environment):
    """Returns the output of a new interpreter. Its standard error must be empty or start with `warning`."""
    result = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *sys.path]), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith(warning) if warning else result.stderr == ""
    return result.stdout
