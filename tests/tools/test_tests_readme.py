"""tests/README.md names every folder of tests and programs, and its example is a program."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
README = (TESTS / "README.md").read_text()


def folders(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.is_dir() and any(path.rglob("*.*")) and path.name[0] != "_"}


def test_every_folder_is_named() -> None:
    programs = README.partition("## Programs")[2]
    assert {name for name in folders(TESTS) if f"`{name}`" not in README} == set()
    assert {name for name in folders(TESTS / "python" / "programs") if f"| `{name}` |" not in programs} == set()


def test_names_in_the_text_exist() -> None:
    for name in re.findall(r"`([\w/]+\.py)`", README):
        assert list(TESTS.rglob(name)), name
