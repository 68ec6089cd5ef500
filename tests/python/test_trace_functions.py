"""While a trace function is set, calls run eagerly: debuggers stop, and coverage counts, in code that runs."""

import bdb
import sys
import threading

import lucid
import pytest


def function(x):
    y = x + 1
    return y * 2


FIRST = function.__code__.co_firstlineno


class traced:
    """Sets a trace function that notes the lines of `function`."""

    def __init__(self):
        self.lines = []

    def trace(self, frame, event, argument):
        if frame.f_code is not function.__code__:
            return None
        if event == "line":
            self.lines.append(frame.f_lineno - FIRST)
        return self.trace

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self.lines

    def __exit__(self, *exception):
        sys.settrace(self.before)


@pytest.fixture(params=["function", "module"])
def compiled(request):
    if request.param == "function":
        fast = lucid.compile(function)
        info = fast.cache_info
    else:

        class Net(lucid.nn.Module):
            def forward(self, x):
                return function(x)

        fast = Net().compile()
        info = fast.cache_info
    x = lucid.ones(3)
    for _ in range(3):
        fast(x)
    assert info().hits == 2
    return fast


def test_lines_are_traced_although_there_is_a_plan(compiled):
    x = lucid.ones(3)
    with traced() as lines:
        assert compiled(x).tolist() == [4.0] * 3
        assert compiled(x).tolist() == [4.0] * 3
    assert lines == [1, 2, 1, 2]
    assert compiled.cache_info().hits == 2
    assert compiled.cache_info().fallbacks == 2
    assert "runs eagerly: a trace function is set" in compiled.explain()
    compiled(x)
    assert compiled.cache_info().hits == 3


def test_nothing_is_recorded_while_a_trace_function_is_set():
    fast = lucid.compile(function)
    with traced() as lines:
        for _ in range(3):
            fast(lucid.ones(3))
    assert lines == [1, 2] * 3
    assert fast.cache_info()[:3] == (0, 0, 0)


def test_a_breakpoint_is_hit(compiled):
    stops = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame):
            if frame.f_code is function.__code__ and self.break_here(frame):
                stops.append((frame.f_lineno - FIRST, frame.f_locals["x"].tolist()))
            self.set_continue()

    debugger, before = Debugger(), sys.gettrace()
    debugger.set_break(__file__, FIRST + 2)
    try:
        debugger.runcall(compiled, lucid.full((2,), 5.0))
    finally:
        debugger.clear_all_breaks()
        sys.settrace(before)
    assert stops == [(2, [5.0, 5.0])]


def test_the_trace_function_of_new_threads(compiled):
    tracer = traced()
    before = threading.gettrace()
    threading.settrace(tracer.trace)
    try:
        thread = threading.Thread(target=compiled, args=(lucid.ones(3),))
        thread.start()
        thread.join()
    finally:
        threading.settrace(before)
    assert tracer.lines == [1, 2]
    # Other threads are not traced.
    hits = compiled.cache_info().hits
    compiled(lucid.ones(3))
    assert compiled.cache_info().hits == hits + 1


def test_a_profile_function_sees_plans_run(compiled):
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: None)
    try:
        compiled(lucid.ones(3))
    finally:
        sys.setprofile(before)
    assert compiled.cache_info().hits == 3
