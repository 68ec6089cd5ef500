"""The table of docs/capture.md: for each entry, a program that changes what the entry guards must see a new answer."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import lucid
import pytest
from lucid.compiler import _functions, _kinds, _values
from table_programs.case import FAMILIES, ROOT, RULES, X, check, replaced
from table_programs.functions import BUILTINS, CONSTRUCTORS, FUNCTIONS, METHODS, NOT_LISTED, NUMPY_METHODS, VALUES


@pytest.mark.parametrize("make", [make for cases in RULES.values() for make in cases])
def test_a_rule_sees_the_change(make):
    check(make())


@pytest.mark.parametrize("make", [make for cases in FAMILIES.values() for make in cases])
def test_a_rule_of_a_family_sees_the_change(make):
    check(make())


@pytest.mark.parametrize("cls", VALUES, ids=_kinds.name_of)
def test_a_constant_is_replaced(cls):
    assert type(VALUES[cls][0]) is cls
    check(replaced(*VALUES[cls]))


def test_every_type_of_the_table_has_a_program():
    assert set(RULES) == set(_values.RULES)
    assert set(FAMILIES) == {rule.name for _, rule in _values.FAMILIES} | {_values.UNKNOWN.name}
    assert set(VALUES) == {*_kinds.ATOMS, *_kinds.IMMUTABLE}


def expect_hits(function: Callable) -> None:
    compiled = lucid.compile(function)
    for _ in range(5):
        assert compiled(X).tolist() == function(X).tolist()
    assert compiled.cache_info().hits > 0, compiled.explain()


@pytest.mark.parametrize("name", BUILTINS)
def test_a_builtin_function_compiles(name):
    expect_hits(BUILTINS[name])


def _flat(table: dict[Any, list[Callable]]) -> list[Any]:
    names = {key: key if isinstance(key, str) else _kinds.name_of(key) for key in table}
    return [
        pytest.param(function, id=f"{names[key]} {number}")
        for key, functions in table.items()
        for number, function in enumerate(functions)
    ]


@pytest.mark.parametrize("function", _flat(FUNCTIONS))
def test_a_function_compiles(function):
    expect_hits(function)


@pytest.mark.parametrize("function", _flat({**METHODS, "numpy": NUMPY_METHODS}))
def test_a_method_compiles(function):
    expect_hits(function)


@pytest.mark.parametrize("function", _flat(CONSTRUCTORS))
def test_a_constructor_compiles(function):
    expect_hits(function)


def test_every_function_of_the_table_has_a_program():
    entries = _functions.PURE_FUNCTIONS
    assert set(BUILTINS) == set(entries["builtins"].names)
    # NumPy's C functions have different modules in different versions.
    modules = {"numpy" if name.startswith("numpy") else name for name in entries if name != "builtins"}
    assert {"numpy" if name.startswith("numpy") else name for name in FUNCTIONS} == modules
    assert set(METHODS) == set(_functions.PURE_METHODS)
    assert set(CONSTRUCTORS) == set(_kinds.PURE_TYPES)


@pytest.mark.parametrize("reason", NOT_LISTED)
def test_a_function_that_is_not_listed_runs_eagerly(reason):
    compiled = lucid.compile(NOT_LISTED[reason])
    for _ in range(4):
        compiled(X)
    assert compiled.cache_info().hits == 0
    assert reason in compiled.explain()


def test_every_entry_has_a_reason():
    assert all(rule.guarded and rule.reason for _, rule in _values.RULES.items())
    assert all(rule.guarded and rule.reason for _, rule in _values.FAMILIES)
    assert all(entry.reason for entry in (*_functions.PURE_FUNCTIONS.values(), *_functions.PURE_METHODS.values()))
    assert all(
        (
            *(reason for _, reason in _kinds.IMMUTABLE.items()),
            *_kinds.PURE_TYPES.values(),
            *_functions.HIDDEN_METHODS.values(),
        )
    )


def test_the_page_is_up_to_date():
    """After an intended change, tools/capture_table writes the page."""
    command = [sys.executable, str(ROOT / "tools/capture_table"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
