"""NumPy and Lucid in one process, imported in either order. `tests/peers` adds PyTorch and Numba."""

import itertools
import subprocess
import sys

import pytest

USES = {
    "lucid": "assert (lucid.ones(300, 300) @ lucid.ones(300, 300)).sum().item() == 300**3",
    "numpy": "assert (numpy.ones((300, 300)) @ numpy.ones((300, 300))).sum() == 300**3",
    "threading": "threads = [threading.Thread(target=lambda: None) for _ in range(4)]; [t.start() for t in threads]",
}


@pytest.mark.parametrize("order", list(itertools.permutations(USES)), ids="-".join)
def test_libraries_share_a_process(order):
    program = "\n".join([*(f"import {name}" for name in order), *(USES[name] for name in order)])
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr


def test_imports_after_a_library_that_uses_thread_local_storage_of_libstdcxx():
    # The loader then allocates this thread-local storage dynamically, so no library can require static TLS for it.
    program = "import ctypes; ctypes.CDLL('libstdc++.so.6').__cxa_get_globals(); import lucid"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
