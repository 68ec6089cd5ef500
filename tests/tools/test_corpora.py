"""tests/fuzz/corpora.py, and the archives that it wrote."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"


def corpora(*arguments: str | Path) -> str:
    command = [sys.executable, str(FUZZ / "corpora.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("archive", sorted((FUZZ / "corpus").iterdir()), ids=lambda path: path.stem)
def test_an_archive_is_what_its_inputs_make(archive: Path, tmp_path: Path) -> None:
    corpora("unpack", archive.stem, tmp_path / "inputs")
    corpora("--corpus", tmp_path, "pack", archive.stem, tmp_path / "inputs")
    assert (tmp_path / archive.name).read_bytes() == archive.read_bytes()


def test_each_archive_belongs_to_a_fuzzer() -> None:
    assert {path.stem for path in (FUZZ / "corpus").iterdir()} == {path.stem for path in FUZZ.glob("*.cpp")}


def test_inputs_are_added_and_replaced(tmp_path: Path) -> None:
    for name, data in (("b", b"1"), ("a", b"2"), ("b", b"3")):
        (tmp_path / name).write_bytes(data)
        corpora("--corpus", tmp_path, "add", "x", tmp_path / name)
    assert corpora("--corpus", tmp_path, "list", "x").split() == ["a", "b"]
    corpora("--corpus", tmp_path, "unpack", "x", tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == {"a": b"2", "b": b"3"}
