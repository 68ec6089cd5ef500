"""Helpers of the tests of effects that plans repeat."""

import contextlib
import io
import logging

import lucid
from same import bits


def outputs(function, calls):
    """What a function prints and returns in some calls."""
    seen = []
    for args in calls:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            result = function(*args)
        seen.append((stream.getvalue(), bits(result)))
    return seen


def numbers(count=6):
    return [(lucid.tensor([float(number), 2.5, -1.0]),) for number in range(count)]


def agrees(function, calls, hits):
    """Whether the compiled function prints and returns the same, with at least so many hits."""
    compiled = lucid.compile(function)
    assert outputs(compiled, calls) == outputs(function, calls)
    assert compiled.cache_info().hits >= hits, compiled.explain()
    return compiled


def runs_eagerly(function, calls, reason):
    compiled = lucid.compile(function)
    assert outputs(compiled, calls) == outputs(function, calls)
    assert compiled.cache_info().hits == 0
    assert reason in compiled.explain()


# Logging


def make_logger():
    logger = logging.getLogger("repeated")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(filename)s:%(lineno)d %(funcName)s: %(message)s"))
    # Without those of pytest.
    logger.handlers[:] = [handler]
    return logger, stream


def logs(function, stream):
    for args in numbers():
        function(*args)
    text = stream.getvalue()
    stream.truncate(0)
    stream.seek(0)
    return text
