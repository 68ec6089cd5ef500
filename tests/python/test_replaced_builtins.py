"""Builtin functions that a program has replaced: the recorder does not use them."""

import builtins

import lucid
import pytest

ENTRIES = vars(builtins)
NAMES = sorted(name for name, value in ENTRIES.items() if callable(value) and not name.startswith("_"))
X = lucid.ones(3)


def fails(*args, **kwargs):
    raise RuntimeError("replaced")


def call_with(name, value, function):
    """Calls a function while a builtin is replaced. Nothing else runs meanwhile, which might use it."""
    builtin = ENTRIES[name]
    ENTRIES[name] = value
    try:
        return function(X)
    finally:
        ENTRIES[name] = builtin


@pytest.mark.parametrize("value", [fails, lambda *args, **kwargs: 3], ids=["raises", "differs"])
@pytest.mark.parametrize("name", NAMES)
def test_a_builtin_that_the_function_does_not_use_is_replaced(name, value):
    def f(x):
        return (x * 2).sum() + 1

    compiled = lucid.compile(f)
    for _ in range(2):
        assert call_with(name, value, compiled).tolist() == 7.0
    for _ in range(3):
        assert compiled(X).tolist() == 7.0
    assert compiled.cache_info().hits >= 2, compiled.explain()


def test_the_reason():
    compiled = lucid.compile(lambda x: x * 2)
    call_with("len", fails, compiled)
    assert "runs eagerly: builtins.len is not Python's" in compiled.explain()


def test_a_builtin_that_the_function_uses_is_replaced():
    compiled = lucid.compile(lambda x: x * len(x))
    for _ in range(3):
        assert compiled(X).tolist() == [3.0] * 3
    assert call_with("len", lambda value: 5, compiled).tolist() == [5.0] * 3
    assert compiled(X).tolist() == [3.0] * 3


def test_what_makes_classes_is_replaced():
    def f(x):
        class Scale:
            value = 2.0

        return x * Scale.value

    build = builtins.__build_class__

    def changed(function, name, *bases, **options):
        made = build(function, name, *bases, **options)
        made.value += 1
        return made

    compiled = lucid.compile(f)
    for _ in range(3):
        assert compiled(X).tolist() == [2.0] * 3
    assert call_with("__build_class__", changed, compiled).tolist() == [3.0] * 3
    assert compiled(X).tolist() == [2.0] * 3
