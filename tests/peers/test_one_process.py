"""PyTorch, Numba and Lucid in one process, imported in every order: each brings its own LLVM or OpenMP."""

import importlib.util
import itertools
import subprocess
import sys

import pytest

USES = {
    "lucid": "assert (lucid.ones(300, 300) @ lucid.ones(300, 300)).sum().item() == 300**3",
    "torch": "assert (torch.ones(300, 300) @ torch.ones(300, 300)).sum().item() == 300**3",
    "numba": "assert numba.njit(lambda x: x + 1)(2) == 3",
}
INSTALLED = [name for name in USES if importlib.util.find_spec(name)]


@pytest.mark.parametrize("order", list(itertools.permutations(INSTALLED)), ids="-".join)
def test_libraries_share_a_process(order):
    imports = [f"import {name}" for name in order]
    program = "\n".join([*imports, *(USES[name] for name in order), *(USES[name] for name in reversed(order))])
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr


def test_pytorch_is_installed():
    assert "torch" in INSTALLED
