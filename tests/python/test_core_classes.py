"""The classes of lucid._core survive objects that were never initialised, and arguments of any number and type."""

import pytest
from interpreter import run_python
from lucid import nn

# Each class in a child of its own: some methods change the state of the process.
_EVERY_METHOD = """
import inspect, itertools, os, signal, sys
import lucid
from lucid import _core

os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
values = [None, 0, -1, 2**70, "a", b"a", (), [], {}, lucid.ones(2), lucid.nn.Linear(2, 2), len, int]
# These wait, or end the process on purpose.
skipped = {"__reduce_ex__", "__init_subclass__", "__subclasshook__", "__class__"}


def attack(made):
    objects = []
    for make in (lambda: made.__new__(made), lambda: object.__new__(made), lambda: made()):
        try:
            objects.append(make())
        except Exception:
            pass
    for name in sorted(set(dir(made)) - skipped):
        for target in [*objects, made]:
            try:
                member = getattr(target, name)
            except Exception:
                continue
            if not callable(member):
                continue
            for count, value in itertools.product((0, 1, 2, 3, 5, 9), values):
                try:
                    member(*[value] * count)
                except BaseException:
                    pass
            try:
                member(a=1)
            except BaseException:
                pass
    for target in objects:
        subscript, compare, call = (lambda x: x[0]), (lambda x: x == x), (lambda x: x())
        for use in (repr, hash, len, iter, bool, list, subscript, compare, call):
            try:
                use(target)
            except BaseException:
                pass


found = sorted((name, value) for name, value in vars(_core).items() if inspect.isclass(value))
bases = {value.__base__ for _, value in found if value.__base__.__module__ == "lucid._core"} - {v for _, v in found}
for name, made in [*found, *((base.__name__, base) for base in bases)]:
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        attack(made)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        print(name, "ends with", status, flush=True)
print(len(found), "classes")
"""


def test_no_method_of_a_class_of_the_core_crashes():
    lines = run_python(_EVERY_METHOD).splitlines()
    assert len(lines) == 1, lines
    assert int(lines[0].split()[0]) > 20


def test_private_methods_of_modules_count_their_arguments():
    module = nn.Linear(2, 3)
    with pytest.raises(TypeError, match="expected 2 positional arguments, got 0"):
        module._add_module()
    for name in ("_build", "_set_setting", "_register_parameter", "_register_buffer", "_named_modules"):
        with pytest.raises(TypeError, match=r"expected \d positional arguments?, got 0"):
            getattr(module, name)()
    for name in ("_save_state", "_save_own", "_load_state", "_load_own", "_add_hook"):
        with pytest.raises(TypeError, match=r"expected \d positional arguments, got 9"):
            getattr(module, name)(*range(9))
