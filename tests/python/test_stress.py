"""Threads that run all kinds of work at once: no hangs, no crashes, no reads of freed memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 600 if os.environ.get("LUCID_LONG_TESTS") else 30


@pytest.mark.parametrize("threads", ["1", "2"])
def test_twelve_threads_doing_everything_at_once(threads, tmp_path):
    script = Path(__file__).with_name("stress.py")
    environment = dict(os.environ, LUCID_NUM_THREADS=threads, LUCID_CACHE_DIR=str(tmp_path))
    command = [sys.executable, str(script), "--seconds", str(SECONDS)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS + 240)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
