"""Objects that C code compares and shows with all that they hold, without naming it: what is in them is compared, even
if no code that names it reads it."""

import functools
import types

import lucid
import pytest
from same import bits

Space = types.SimpleNamespace


class Named(types.SimpleNamespace):
    """Inherits the functions that compare and show it."""


def counter(cls):
    space = cls(n=0)

    def count(value):
        space.n += 1

    return space, count


def counter_from_two(cls):
    space = cls(n=2, tail=None)

    def count(value):
        space.n -= 1

    return space, count


def log(cls):
    space = cls(log=[])

    def append(value):
        space.log.append(1.0)

    return space, append


def nested_log(cls):
    space = cls(logs={"a": ([],)}, last=None)
    entries = space.logs["a"]

    def append(value):
        entries[0].append(1.0)

    return space, append


def filled_log(cls):
    space = cls(logs={"a": []})

    def append(value):
        space.logs["a"].append(1.0)

    return space, append


def inner(cls):
    space = cls(inner=cls(n=0), items=[])

    def count(value):
        space.inner.n += 1

    return space, count


def last_value(cls):
    space = cls(last=0.0)

    def keep(value):
        space.last = value.sum().item()

    return space, keep


CHANGES = [counter, counter_from_two, log, nested_log, filled_log, inner, last_value]
# How code reads an object without naming what it holds.
READS = {
    "==": lambda space, like: 2.0 if space == like else 3.0,
    "!=": lambda space, like: 2.0 if [space] != [like] else 3.0,
    "in": lambda space, like: 2.0 if space in (like, None) else 3.0,
    "index": lambda space, like: 2.0 if [space].count(like) else 3.0,
    "repr": lambda space, like: float(len(repr(space))),
    "str": lambda space, like: float(len(f"{space}")),
    "below": lambda space, like: float(len(repr([{"a": space}]))),
    "partial": lambda space, like: float(len(repr(functools.partial(print, space)))),
}


@pytest.mark.parametrize("cls", [Space, Named])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("read", READS)
def test_what_c_code_reads_is_compared(read, change, cls):
    def run(compile):
        space, step = change(cls)
        like, advance = change(cls)
        for _ in range(4):
            advance(lucid.ones(2))

        def f(x):
            y = x * READS[read](space, like)
            step(x)
            return y

        compiled = compile(f)
        return [bits(compiled(lucid.ones(2))) for _ in range(12)], repr(space)

    assert run(lucid.compile) == run(lambda f: f)


def test_prints_show_what_is_counted(capsys):
    space = Space(step=0, loss=None)

    def f(x):
        space.step += 1
        print(f"{space}")
        return x * 2

    compiled = lucid.compile(f)
    for number in range(8):
        compiled(lucid.ones(2))
        assert capsys.readouterr().out == f"namespace(step={number + 1}, loss=None)\n"


def test_a_tensor_in_a_namespace_may_be_replaced():
    space = Space(hidden=lucid.zeros(2))

    def f(x):
        space.hidden = (space.hidden + x).tanh()
        return space.hidden * 2

    compiled = lucid.compile(f)
    for _ in range(6):
        compiled(lucid.ones(2))
    assert compiled.cache_info().hits == 5, compiled.explain()
