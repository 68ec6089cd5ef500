"""No file written by hand is longer than CONTRIBUTING allows."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 450
GENERATED = {"include/lucid/ops.h", "include/lucid/tensor_methods.h"}


def test_no_file_is_too_long() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "*.h", "*.cpp", "*.c", "*.inc", "*.py", "*.sh", "*.test"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [name for name in listed.split("\0") if name and name not in GENERATED and (ROOT / name).exists()]
    assert len(names) > 800
    lengths = {name: (ROOT / name).read_text(encoding="utf-8").count("\n") for name in names}
    assert {name: length for name, length in lengths.items() if length > MOST} == {}
