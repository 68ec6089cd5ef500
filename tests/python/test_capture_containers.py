"""Guards of containers, functions and modules."""

import collections
import functools
import sys
import types

import capture_helpers
import numpy as np
import pytest
from capture_record import Box, X, double, expect_change, guards_of, reason_of
from lucid import nn

# Containers.


@pytest.mark.parametrize(
    ("make", "change", "undo"),
    [
        (lambda: [1.0, 2.0], lambda c: c.append(3.0), lambda c: c.pop()),
        (lambda: [1.0, 2.0], lambda c: c.reverse(), lambda c: c.reverse()),
        (lambda: [1.0, 2.0], lambda c: c.__setitem__(0, 5.0), lambda c: c.__setitem__(0, 1.0)),
        (lambda: [1.0, 2.0], lambda c: c.__setitem__(0, 1), lambda c: c.__setitem__(0, 1.0)),
        (lambda: {"a": 1.0}, lambda c: c.update(b=2.0), lambda c: c.pop("b")),
        (lambda: {"a": 1.0}, lambda c: c.update(a=2.0), lambda c: c.update(a=1.0)),
        (lambda: {"a": 1.0, "b": 2.0}, lambda c: c.update(a=c.pop("a")), lambda c: c.update(b=c.pop("b"))),
        (lambda: {1.0, 2.0}, lambda c: c.add(3.0), lambda c: c.discard(3.0)),
        (lambda: collections.deque([1.0, 2.0]), lambda c: c.rotate(), lambda c: c.rotate()),
        (lambda: collections.deque([1.0, 2.0]), lambda c: c.append(3.0), lambda c: c.pop()),
        (
            lambda: collections.OrderedDict(a=1.0, b=2.0),
            lambda c: c.move_to_end("a"),
            lambda c: c.move_to_end("b"),
        ),
        (lambda: collections.defaultdict(int, a=1), lambda c: c.update(b=2), lambda c: c.pop("b")),
        (lambda: collections.Counter("aab"), lambda c: c.update("a"), lambda c: c.subtract("a")),
        (lambda: bytearray(b"ab"), lambda c: c.__setitem__(0, 1), lambda c: c.__setitem__(0, 97)),
        (lambda: np.ones(3), lambda c: c.__setitem__(0, 5.0), lambda c: c.__setitem__(0, 1.0)),
        (lambda: np.ones((4, 4))[::2, 1:3], lambda c: c.__setitem__((1, 1), 5.0), lambda c: c.fill(1.0)),
        (lambda: types.SimpleNamespace(a=1.0), lambda c: setattr(c, "a", 2.0), lambda c: setattr(c, "a", 1.0)),
    ],
)
def test_a_container(make, change, undo):
    container = make()

    def function(x):
        return x * float(len(container) if hasattr(container, "__len__") else container.a)

    guards = guards_of(function, X)
    expect_change(guards, lambda: change(container), lambda: undo(container))


def test_views_of_containers():
    table, items = {"a": 1.0}, bytearray(b"ab")
    proxy, values, memory = types.MappingProxyType(table), table.values(), memoryview(items)
    guards = guards_of(lambda x: x * proxy["a"] * sum(values) * memory[0], X)
    expect_change(guards, lambda: table.update(a=2.0), lambda: table.update(a=1.0))
    expect_change(guards, lambda: items.__setitem__(0, 1), lambda: items.__setitem__(0, 97))


def test_nested_containers():
    nested = {"a": [1.0, {"b": (2.0, [3.0])}]}
    guards = guards_of(lambda x: x * nested["a"][1]["b"][1][0], X)
    innermost = nested["a"][1]["b"][1]
    words = expect_change(guards, lambda: innermost.append(4.0), lambda: innermost.pop())
    assert words.startswith("closure nested['a'][1]['b'][1]: was 1 item, is 2 items (test_capture_containers.py:")


def test_subclasses_of_containers():
    class Table(dict):
        scale = 1.0

        def __missing__(self, key):
            return 5.0

        def __iter__(self):
            raise AssertionError("guards must not run this")

    table = Table(a=1.0)
    guards = guards_of(lambda x: x * table["b"], X)
    expect_change(guards, lambda: table.update(b=1.0), lambda: table.pop("b"))
    expect_change(guards, lambda: setattr(Table, "__missing__", lambda self, key: 6.0))


def test_guards_run_no_user_code():
    class Loud:
        def __eq__(self, other):
            raise AssertionError("__eq__ ran")

        def __hash__(self):
            return 1

        def __repr__(self):
            raise AssertionError("__repr__ ran")

        def __getattribute__(self, name):
            raise AssertionError(f"__getattribute__ ran for {name}")

        def __bool__(self):
            raise AssertionError("__bool__ ran")

    box = Box(loud=Loud(), items=[Loud()], table={"a": Loud()})
    guards = guards_of(lambda x: x + 1 if box.loud is None or box.items is None or box.table is None else x, X)
    assert guards.check((X,))
    box.loud = Loud()
    assert not guards.check((X,))
    assert guards.failed((X,)).startswith("closure box.loud: was a Loud, is another")


# Functions and modules.


def test_a_partial():
    items = [1.0]
    function = functools.partial(lambda values, x, *, scale: x * values[0] * scale, items, scale=2.0)
    guards = guards_of(function, X)
    expect_change(guards, lambda: items.append(1), lambda: items.pop())
    keywords = function.keywords
    expect_change(guards, lambda: keywords.update(scale=3.0), lambda: keywords.update(scale=2.0))


def test_a_method_as_the_function():
    class Thing:
        scale = 2.0

        def run(self, x):
            return x * self.scale

    thing = Thing()
    guards = guards_of(thing.run, X)
    words = expect_change(guards, lambda: setattr(thing, "scale", 3.0), lambda: delattr(thing, "scale"))
    assert words.startswith("self.scale: was missing, is 3.0")


def test_an_lru_cache_runs_eagerly():
    @functools.lru_cache
    def cached(n):
        return n * 2.0

    assert reason_of(lambda x: x * cached(3), X).endswith(
        "closure cached, which keeps results in a cache that cannot be checked"
    )


def test_a_module_attribute(monkeypatch):
    guards = guards_of(lambda x: capture_helpers.helper2(x), X)
    monkeypatch.setattr(capture_helpers, "unrelated", 1, raising=False)
    assert guards.check((X,))
    for name, value in (("SCALE", 7.0), ("TABLE", {"a": 1.0}), ("helper", double)):
        with monkeypatch.context() as patch:
            expect_change(guards, lambda p=patch, n=name, v=value: p.setattr(capture_helpers, n, v), patch.undo)


def test_an_import_inside(monkeypatch):
    def function(x):
        import capture_helpers as helpers
        from capture_helpers import Cfg

        return x * helpers.SCALE * Cfg.gain

    guards = guards_of(function, X)
    expect_change(guards, lambda: monkeypatch.setattr(capture_helpers, "SCALE", 7.0), monkeypatch.undo)
    other = types.ModuleType("capture_helpers")
    expect_change(guards, lambda: monkeypatch.setitem(sys.modules, "capture_helpers", other), monkeypatch.undo)


def test_a_lucid_function_is_replaced(monkeypatch):
    guards = guards_of(lambda x: nn.functional.relu(x), X)
    expect_change(guards, lambda: monkeypatch.setattr(nn.functional, "relu", double), monkeypatch.undo)
