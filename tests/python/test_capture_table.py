"""The tables of docs/capture.md: each entry has a program that changes what the entry guards, or calls the function."""

import subprocess
import sys
from pathlib import Path

from lucid.compiler import _functions, _type_tables, _values
from programs import PROGRAMS
from programs.tables.pure_functions import BUILTINS, CONSTRUCTORS, FUNCTIONS, METHODS, VALUES

ROOT = Path(__file__).resolve().parents[2]


def test_every_type_of_the_table_has_a_program():
    covered = {entry for program in PROGRAMS.values() for entry in program.covers}
    families = {entry for entry in covered if isinstance(entry, str)}
    assert covered - families == set(_values.RULES)
    assert families == {rule.name for _, rule in _values.FAMILIES} | {_values.UNKNOWN.name}
    assert set(VALUES) == {*_type_tables.ATOMS, *_type_tables.IMMUTABLE}
    assert all(type(values[0]) is cls for cls, values in VALUES.items())


def test_every_function_of_the_table_has_a_program():
    entries = _functions.PURE_FUNCTIONS
    assert set(BUILTINS) == set(entries["builtins"].names)
    # NumPy's C functions have different modules in different versions.
    modules = {"numpy" if name.startswith("numpy") else name for name in entries if name != "builtins"}
    assert {"numpy" if name.startswith("numpy") else name for name in FUNCTIONS} == modules
    assert set(METHODS) == set(_functions.PURE_METHODS)
    assert set(CONSTRUCTORS) == set(_type_tables.PURE_TYPES)


def test_every_entry_has_a_reason():
    assert all(rule.guarded and rule.reason for _, rule in _values.RULES.items())
    assert all(rule.guarded and rule.reason for _, rule in _values.FAMILIES)
    assert all(entry.reason for entry in (*_functions.PURE_FUNCTIONS.values(), *_functions.PURE_METHODS.values()))
    assert all(
        (
            *(reason for _, reason in _type_tables.IMMUTABLE.items()),
            *_type_tables.PURE_TYPES.values(),
            *_functions.HIDDEN_METHODS.values(),
        )
    )


def test_the_page_is_up_to_date():
    """After an intended change, tools/capture_table writes the page."""
    command = [sys.executable, str(ROOT / "tools/capture_table"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
