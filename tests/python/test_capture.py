"""Guards of Python state: each kind of place is seen to change, and nothing else is."""

import lucid
from lucid.compiler._capture import Capture

X = lucid.ones(3)
SCALE = 2.0


def record(function, *args, **kwargs):
    """The outcome of the first recording that teaches nothing new."""
    capture = Capture(function)
    for _ in range(6):
        recording = capture.begin(args, kwargs)
        with recording:
            result = function(*args, **kwargs)
        outcome = recording.finish(result)
        if not outcome.learned:
            return outcome
    raise AssertionError("every recording taught something")


def test_a_global_is_guarded(monkeypatch):
    def scaled(x):
        return x * SCALE

    guards = record(scaled, X).guards
    assert guards.check((X,))
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert not guards.check((X,))
    assert guards.failed((X,)).startswith("global SCALE: was 2.0, is 3.0 (test_capture.py:")
    monkeypatch.undo()
    assert guards.check((X,))


def test_a_call_that_prints_runs_eagerly():
    def loud(x):
        print("")
        return x

    outcome = record(loud, X)
    assert outcome.guards is None
    assert outcome.reason.endswith(": calls print")
