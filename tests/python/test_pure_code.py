"""Every function of a module that is declared pure is listed in `pure_code.txt`: a person has looked at it."""

import ast
import pathlib
import textwrap
from collections.abc import Iterator

import lucid

PACKAGE = pathlib.Path(lucid.__file__).resolve().parent
LISTED = pathlib.Path(__file__).with_name("pure_code.txt")


def functions_in(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
    """The functions and methods that are declared nowhere else."""
    for each in body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            if any("_effects.effect(" in ast.unparse(decorator) for decorator in each.decorator_list):
                continue
            if isinstance(each, ast.ClassDef):
                yield from functions_in(each.body, f"{prefix}{each.name}.")
            else:
                yield prefix + each.name
        if isinstance(each, ast.If | ast.Try):
            yield from functions_in([*each.body, *each.orelse], prefix)


def pure_functions() -> dict[str, list[str]]:
    """The functions of each file that calls `pure_module()`, without those of its own functions."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        calls = [ast.unparse(each.value) for each in tree.body if isinstance(each, ast.Expr)]
        if any(call.endswith("pure_module()") for call in calls):
            found[path.relative_to(PACKAGE).as_posix()] = sorted(set(functions_in(tree.body)))
    return found


def listed_functions() -> dict[str, list[str]]:
    listed: dict[str, list[str]] = {}
    for line in LISTED.read_text().splitlines():
        if line.startswith(" "):
            listed[next(reversed(listed))] += line.split()
        elif line:
            listed[line] = []
    return listed


def test_functions_of_pure_modules_are_listed():
    found, listed = pure_functions(), listed_functions()
    assert len(found) > 50
    assert list(found) == list(listed), "a file was declared pure, or is no longer: update pure_code.txt"
    for path, names in found.items():
        added, gone = set(names) - set(listed[path]), set(listed[path]) - set(names)
        assert not added, (
            f"{path}: {sorted(added)} count as pure, as the module is declared so. If they read and change tensors "
            "only, add them to pure_code.txt; otherwise mark them with @_effects.effect"
        )
        assert not gone, f"{path}: remove {sorted(gone)} from pure_code.txt"


def test_the_list_is_in_order():
    lines = []
    for path, names in pure_functions().items():
        lines += [path, *textwrap.wrap(" ".join(names), 118, initial_indent="  ", subsequent_indent="  ")]
    assert LISTED.read_text().splitlines() == lines


def test_functions_with_a_declared_effect_are_left_out():
    source = "@_effects.effect('which prints')\ndef a(): pass\nclass B:\n  def c(self): pass\nif 1:\n  def d(): pass\n"
    assert list(functions_in(ast.parse(source).body)) == ["B.c", "d"]
