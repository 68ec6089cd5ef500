"""The call stack that a compiled function sees: frames of the program, none of Lucid."""

import inspect
import sys
import traceback

import lucid
import pytest


def callers():
    """The names of the calling functions, innermost first."""
    return [frame.function for frame in inspect.stack()[1:]]


def test_a_recorded_call_is_called_by_the_program():
    seen = []

    def function(x):
        seen.append((callers()[1], sys._getframe(1).f_code.co_name))
        return x + 1

    def program(f):
        return f(lucid.ones(2))

    program(lucid.compile(function))
    assert seen == [("program", "program")]


def test_the_traceback_of_a_recorded_call_shows_the_program_only():
    def function(x):
        raise KeyError("no batch")

    with pytest.raises(KeyError) as caught:
        lucid.compile(function)(lucid.ones(2))
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names == ["test_the_traceback_of_a_recorded_call_shows_the_program_only", "function"]
    assert caught.value.__context__ is None
