"""Guards of arguments, and calls that cannot be replayed."""

import collections
import contextlib
import datetime
import decimal
import functools
import io
import os
import sys
import time
import types

import lucid
import numpy as np
import pytest
from capture_record import Box, Config, X, double, expect_change, guards_of, reason_of, record
from lucid import nn
from lucid.compiler._capture import Capture

# Arguments.


def test_an_object_argument_is_compared_by_its_attributes():
    def function(x, config):
        return x * config.rate + config.inner.scale

    config = Config(2.0, inner=Box(scale=1.0, unrelated=[1]))
    guards = guards_of(function, X, config)
    assert guards.check((X, config))
    assert guards.check((X, Config(2.0, "another name", Box(scale=1.0, unrelated=3))))
    for other in (
        Config(3.0, inner=Box(scale=1.0)),
        Config(2.0, inner=Box(scale=2.0)),
        Config(2.0, inner=Box()),
        Config(2.0, inner=1.0),
        Box(rate=2.0, inner=Box(scale=1.0)),
        2.0,
    ):
        assert not guards.check((X, other))
    assert not guards.check((X,))
    words = guards.failed((X, Config(2.0, inner=Box(scale=2.0))))
    assert words.startswith("config.inner.scale: was 1.0, is 2.0")


def test_objects_in_containers_and_keywords():
    def function(x, items, *, table):
        return x * items[0].scale * table["a"].scale

    box = Box(scale=2.0)
    guards = guards_of(function, X, [box, 1], table={"a": Box(scale=3.0)})
    assert guards.check((X, [Box(scale=2.0), 1]), {"table": {"a": Box(scale=3.0)}})
    assert not guards.check((X, [Box(scale=2.5), 1]), {"table": {"a": Box(scale=3.0)}})
    assert not guards.check((X, [Box(scale=2.0)]), {"table": {"a": Box(scale=3.0)}})
    assert not guards.check((X, [Box(scale=2.0), 1]), {"table": {"b": Box(scale=3.0)}})
    assert not guards.check((X, [Box(scale=2.0), 1]), {})


def test_guards_check_which_arguments_are_identical():
    known = Box(scale=2.0)

    def function(x, one, two):
        return x * one.scale * two.scale * (3.0 if one is two else 1.0) * (5.0 if one is known else 1.0)

    one, two = Box(scale=2.0), Box(scale=2.0)
    guards = guards_of(function, X, one, two)
    assert guards.check((X, one, two))
    assert guards.check((X, Box(scale=2.0), Box(scale=2.0)))
    assert not guards.check((X, one, one))
    assert not guards.check((X, known, two))
    guards = guards_of(function, X, one, one)
    assert guards.check((X, two, two))
    assert not guards.check((X, one, two))
    guards = guards_of(function, X, known, one)
    assert guards.check((X, known, two))
    assert not guards.check((X, one, two))


def test_slots_of_an_argument():
    class Slotted:
        __slots__ = ("other", "scale")

        def __init__(self, scale):
            self.scale = scale

    def function(x, box):
        return x * box.scale

    guards = guards_of(function, X, Slotted(2.0))
    assert guards.check((X, Slotted(2.0)))
    assert not guards.check((X, Slotted(3.0)))


def test_modules_and_functions_as_arguments():
    def function(net, x, activation):
        return activation(net(x))

    net = nn.Linear(3, 3)
    guards = guards_of(function, net, X, double)
    assert guards.check((net, X, double))
    assert not guards.check((nn.Linear(3, 3), X, double))
    assert not guards.check((net, X, lucid.relu))
    net.eval()
    assert not guards.check((net, X, double))


def test_arguments_that_cannot_be_guarded():
    itself = []
    itself.append(itself)
    assert reason_of(lambda x, c: x * len(c), X, itself).endswith("takes an argument that contains itself")
    for container in ({X}, collections.deque([1]), bytearray(2), np.ones(2)):
        assert ": takes c, a " in reason_of(lambda x, c: x * len(c), X, container)
    assert reason_of(lambda c: c.inner * 2, types.SimpleNamespace(inner=nn.Buffer(X))).endswith(
        "reads c.inner, a lucid.nn.parameter.Buffer in an attribute of an argument: pass it by itself"
    )
    assert reason_of(lambda x, c: x * len(c), X, collections.OrderedDict({X: 1})).endswith(
        "takes c, whose keys are not all numbers and texts"
    )


# Calls that run eagerly.

STREAM = io.StringIO()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: STREAM.write("a") and x, "calls _io.StringIO.write"),
        (lambda x: x * len(str(id(x))), "calls id"),
        (lambda x: x * eval("2"), "calls eval"),
        (lambda x: x * len(globals()), "calls globals"),
        (lambda x: open(__file__).close() or x, "calls open"),
    ],
)
def test_side_effects(function, reason):
    words = reason_of(function, X)
    assert words == f"test_capture_calls.py:{function.__code__.co_firstlineno}: {reason}"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x * next(iter(time.time, 0)), "may call time.time"),
        (lambda x: [x, *map(print, [])][0], "may call print"),
        (functools.partial(lambda x, show: x, show=functools.partial(print, end="")), "may call print"),
        (lambda x, clock=[time.time]: x * clock[0]() * 0, "calls time.time"),
    ],
)
def test_side_effects_of_c_code(function, reason):
    assert reason_of(function, X).endswith(f": {reason}")


def test_side_effects_in_branches_not_taken():
    verbose = False

    def function(x):
        if verbose:
            print(x)
            time.sleep(1)
        return x * 2

    assert record(function, X).guards is not None


def test_writes():
    box = Box(count=0, items=[])
    table = {}

    def attribute(x):
        box.count = box.count + 1
        return x

    def item(x):
        table["a"] = len(table)
        return x

    def append(x):
        box.items.append(len(box.items))
        return x

    def argument(x, items):
        items.append(1)
        return x

    def attribute_of_argument(x, config):
        config.rate = config.rate + 1
        return x

    line = attribute.__code__.co_firstlineno
    assert reason_of(attribute, X) == f"test_capture_calls.py:{line + 1}: the call writes closure box.count"
    assert reason_of(append, X).endswith("the call writes closure box.items")
    assert reason_of(argument, X, []).endswith("the call writes items, which was passed to it")
    assert reason_of(attribute_of_argument, X, Config()).endswith("the call writes config.rate")
    # The first call only adds a key; later calls may be compiled.
    assert record(item, X).guards is not None


def test_code_that_the_walk_misses_is_learned_during_the_call():
    class Thing:
        scale = 2.0

        def __matmul__(self, x):
            return x * self.scale

    thing = Thing()

    def function(x):
        return thing @ x

    capture = Capture(function)
    outcomes = []
    for _ in range(3):
        recording = capture.begin((X,))
        with recording:
            result = function(X)
        outcomes.append(recording.finish(result))
    assert [outcome.record_again for outcome in outcomes] == [True, False, False]
    expect_change(outcomes[-1].guards, lambda: setattr(Thing, "scale", 3.0), lambda: setattr(Thing, "scale", 2.0))


# Profile functions of the user.


def test_a_profile_function_keeps_seeing_all_calls():
    def helper(x):
        return x + 1

    def function(x):
        return helper(x)

    seen = []

    def profile(frame, event, arg):
        if event == "call":
            seen.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        outcome = record(function, X)
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)
    assert outcome.guards is not None
    assert seen.count("helper") == 1


def test_a_profile_function_set_by_the_call_stays():
    def profile(frame, event, arg):
        pass

    def function(x):
        sys.setprofile(profile)
        return x

    try:
        assert reason_of(function, X) == "sets a profile function"
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)


def test_a_call_that_raises_leaves_no_profile_function():
    def function(x):
        raise ValueError("no")

    capture = Capture(function)
    recording = capture.begin((X,))
    with pytest.raises(ValueError, match="no"), recording:
        function(X)
    assert sys.getprofile() is None


_TWO = decimal.Decimal(2)
_THREE = decimal.Decimal(3)


def _decimal_context():
    with decimal.localcontext() as context:
        context.prec = 3
        yield


def _numpy_errors():
    with np.errstate(divide="ignore"):
        yield


def _time_zone():
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


class _Root:
    pass


def _another_class():
    yield type("_Another", (_Root,), {})


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (lambda x: x * float(decimal.Decimal(2) / decimal.Decimal(3)), _decimal_context),
        (lambda x: x * float(_TWO / _THREE), _decimal_context),
        (lambda x: x * (1.0 if np.geterr()["divide"] == "warn" else 2.0), _numpy_errors),
        (lambda x: x * (datetime.datetime.fromtimestamp(0).hour + 1.0), _time_zone),
        (lambda x: x * datetime.datetime(2026, 1, 1).timestamp(), _time_zone),
        (lambda x: x * (len(_Root.__subclasses__()) + 1.0), _another_class),
    ],
    ids=["decimal context", "decimal operators", "numpy errors", "time zone", "time zone of an object", "subclasses"],
)
def test_hidden_state_of_libraries_is_read_at_each_call(function, change):
    fast = lucid.compile(function)
    x = lucid.ones(1, dtype=lucid.float64)
    for _ in range(3):
        assert lucid.equal(fast(x), function(x))
    before = function(x)
    with contextlib.contextmanager(change)():
        assert not lucid.equal(function(x), before)
        assert lucid.equal(fast(x), function(x))
