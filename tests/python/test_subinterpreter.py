"""Importing Lucid in a subinterpreter fails without affecting the main interpreter."""

import pytest
from interpreter import run_python

_MAIN = """
import threading, _xxsubinterpreters as interpreters, lucid
sub = interpreters.create()
try:
    interpreters.run_string(sub, "import lucid")
except interpreters.RunFailedError as error:
    print(error)
"""
_USE = """
x = lucid.ones(2, requires_grad=True)
print(repr(x * 2))
lucid.nn.Linear(2, 2)(lucid.ones(1, 2)).sum().backward()
f = lucid.compile(lambda x: x * 2)
f(x), f(x).sum().backward()
# A backward pass and its compiling run without the interpreter's lock.
thread = threading.Thread(target=lambda: (x.exp() * x.sin()).sum().backward())
thread.start(), thread.join()
print(lucid.ones(2).numpy(), x.grad is not None)
"""


@pytest.mark.parametrize("destroyed", [False, True])
def test_the_import_fails_and_the_main_interpreter_continues(destroyed):
    printed = run_python(_MAIN + ("interpreters.destroy(sub)\n" if destroyed else "") + _USE, LUCID_DISK_CACHE="0")
    refusal, *rest = printed.splitlines()
    assert "ImportError" in refusal
    assert "lucid cannot be imported in a subinterpreter" in refusal
    assert rest == ["tensor([2., 2.], grad_fn=<MulBackward>)", "[1. 1.] True"]


def test_the_main_interpreter_may_import_after_a_failed_subinterpreter_import():
    source = _MAIN.replace(", lucid\n", "\n") + "import lucid\n" + _USE
    assert "[1. 1.] True" in run_python(source)
