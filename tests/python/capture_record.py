"""Helpers for the tests of guards."""

import collections
import dataclasses
import enum

import lucid
from lucid.compiler._capture import Capture

X = lucid.ones(3)


def double(x):
    return x * 2


class Box:
    def __init__(self, **values):
        self.__dict__.update(values)


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


@dataclasses.dataclass
class Config:
    rate: float = 1.0
    name: str = "a"
    inner: object = None


Pair = collections.namedtuple("Pair", "first second")


def record(function, *args, **kwargs):
    """The outcome of the first recording that learns nothing new."""
    capture = Capture(function)
    for _ in range(6):
        recording = capture.begin(args, kwargs)
        with recording:
            result = function(*args, **kwargs)
        outcome = recording.finish(result)
        if not outcome.record_again:
            return outcome
    raise AssertionError(f"every recording asked for another; the last: {outcome.reason}")


def guards_of(function, *args, **kwargs):
    outcome = record(function, *args, **kwargs)
    assert outcome.guards is not None, outcome.reason
    return outcome.guards


def reason_of(function, *args, **kwargs):
    outcome = record(function, *args, **kwargs)
    assert outcome.guards is None
    return outcome.reason


def expect_change(guards, change, undo=None, args=(X,)):
    """Checks that the guards hold, fail after the change, and hold again when it is undone."""
    assert guards.check(args)
    assert guards.failed(args) is None
    change()
    assert not guards.check(args)
    words = guards.failed(args)
    assert ": was " in words
    if undo is not None:
        undo()
        assert guards.check(args), guards.failed(args)
    return words


def expect_no_change(guards, change, args=(X,)):
    assert guards.check(args)
    change()
    assert guards.check(args), guards.failed(args)
