"""tools/count_tests on a small tree."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PYTHON = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_a(n):
    assert n
    with pytest.raises(ValueError, match="a"):
        raise ValueError("a")

def helper():
    assert True
"""

CPP = """
TEST(Shape, Strides) {
  EXPECT_EQ(1, 1);
  ASSERT_TRUE(true) << "EXPECT nothing";
}
"""


def test_sources_are_counted(tmp_path: Path) -> None:
    files = {
        "python/test_a.py": PYTHON,
        "base/shape_test.cpp": CPP,
        "ir/a.test": "graph\n--- fuse\nstep\n",
        "python/data/a.pt": "not\nread\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [sys.executable, str(ROOT / "tools" / "count_tests"), "--static", "--root", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    counts = dict(line.rsplit(None, 1) for line in done.stdout.splitlines())
    assert counts == {
        "files": "4",
        "lines": str(sum(text.count("\n") for name, text in files.items() if "data" not in name)),
        "C++ tests": "1",
        "C++ assertions": "2",
        "golden graphs": "1",
        "Python test functions": "1",
        "Python assertions": "3",
        "fuzz inputs": "0",
    }
