"""The process exits cleanly, whatever its daemon threads are doing."""

import pytest
from interpreter import run_python

# The thread is inside `wait()` when finalization of the interpreter begins, and acquires the GIL during finalization.
# Python then terminates it, before 3.14 by unwinding its stack.
_THREAD = """
import sys, threading, time, lucid
from lucid import nn

entered = threading.Event()

def wait(*args):
    entered.set()
    time.sleep(0.2)

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.4)

x = lucid.ones(3, 3, requires_grad=True)
"""
_EXIT = """
sys.slow = Slow()
threading.Thread(target=run, daemon=True).start()
assert entered.wait(30)
print("end")
"""

_INSIDE = {
    "forward hook": """
        net = nn.Sequential(nn.Linear(3, 3))
        net[0].register_forward_hook(wait)
        run = lambda: net(x)""",
    "forward below C++": """
        class Waits(nn.Module):
            def forward(self, x):
                wait()
                return x
        net = nn.Sequential(Waits())
        run = lambda: net(x)""",
    "gradient hook": """
        y = x * 2
        y.register_hook(wait)
        run = lambda: y.sum().backward()""",
    "function's backward": """
        class Waits(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, g):
                wait()
                return g
        run = lambda: Waits.apply(x).sum().backward()""",
    "recorded call": """
        run = lambda: lucid.compile(lambda x: (wait(), x * 2)[1])(x)""",
    "module's walk": """
        net = nn.Sequential(nn.Linear(3, 3))
        run = lambda: net.apply(wait)""",
    "attribute": """
        class Waits:
            def __index__(self):
                wait()
                return 3
        run = lambda: lucid.ones(Waits())""",
    "closure": """
        optimizer = lucid.optim.SGD([x], lr=0.1)
        run = lambda: optimizer.step(wait)""",
    "destructor": """
        class Waits:
            def __del__(self):
                wait()
            def __call__(self, gradient):
                pass
        def run():
            y = x * 2
            y.register_hook(Waits())
            del y""",
}


def _dedent(source):
    lines = source.strip("\n").split("\n")
    return "\n".join(line[8:] for line in lines)


@pytest.mark.parametrize("inside", _INSIDE)
def test_a_daemon_thread_inside_lucid_sleeps_when_the_process_exits(inside):
    assert run_python(_THREAD + _dedent(_INSIDE[inside]) + _EXIT) == "end\n"


@pytest.mark.parametrize("work", ["(a @ a).tanh().sum()", "f(a)", "lucid.from_numpy(array).exp()", "step()"])
def test_a_computing_daemon_thread_does_not_abort_the_process(work):
    source = f"""
import threading, time, numpy, lucid
a = lucid.ones(500, 500)
array = numpy.ones(300000)
f = lucid.compile(lambda a: (a @ a).tanh())
w = lucid.ones(300000, requires_grad=True)
def step():
    y = w * 2
    y.register_hook(lambda g: g * 1)
    y.exp().sum().backward()
def run():
    while True:
        {work}
for _ in range(2):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.3)
print("end")
"""
    for _ in range(3):
        assert run_python(source) == "end\n"


def test_handlers_that_run_at_exit_may_compute():
    source = """
import atexit, lucid
f = lucid.compile(lambda x: (x * 3).exp().sum())
def late():
    print(f(lucid.zeros(4)).item(), f(lucid.zeros(5)).item())
atexit.register(late)
class Last:
    def __del__(self, f=f, lucid=lucid):
        print(f(lucid.zeros(6)).item())
last = Last()
f(lucid.ones(3))
"""
    assert run_python(source) == "4.0 5.0\n6.0\n"


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)", "pass"])
def test_the_process_may_end_while_plans_are_compiled(end):
    source = f"""
import os, sys, lucid
f = lucid.compile(lambda x: (x * 3).exp().sum())
for n in range(1, 30):
    f(lucid.ones(n, n + 1))
{end}
"""
    assert run_python(source, LUCID_DISK_CACHE="0") == ""
