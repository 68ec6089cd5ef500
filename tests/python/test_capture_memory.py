"""Guards keep no arguments alive, and the garbage collector sees the objects that they hold."""

import gc
import pathlib
import weakref

import lucid
import pytest
from capture_record import Box, X, guards_of, record
from lucid import _core, nn


def memory():
    """The resident memory of this process in bytes."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def closure():
    table = {"scale": 2.0, "items": [1.0]}
    weight = lucid.ones(100)

    def function(x):
        return x * table["scale"] * table["items"][0] + weight.sum()

    return function


def module():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)
            self.scale = 2.0

        def forward(self, x):
            return self.fc(x) * self.scale

    return Net()


@pytest.mark.parametrize(("make", "count"), [(closure, 8000), (module, 2000)])
def test_dropped_captures_free_their_memory(make, count):
    def run(times):
        for _ in range(times):
            assert guards_of(make(), X).check((X,))
        gc.collect()

    run(count // 5)
    objects, before = len(gc.get_objects()), memory()
    run(count)
    assert len(gc.get_objects()) - objects < 50
    assert memory() - before < 4 << 20


def test_a_cycle_through_guards_is_collected():
    def make():
        net = module()
        net.guards = guards_of(net, X)
        box = Box(scale=2.0)
        box.guards = guards_of(lambda x: x * box.scale, X)
        return [weakref.ref(thing) for thing in (net, box, net.guards, box.guards)]

    gone = make()
    gc.collect()
    assert [reference() for reference in gone] == [None] * 4


def test_arguments_are_not_kept_alive():
    def function(net, x, box):
        return net(x) * box.scale

    net, box, x = nn.Linear(3, 3), Box(scale=2.0), lucid.ones(3)
    outcome = record(function, net, x, box)
    gone = [weakref.ref(net), weakref.ref(box), weakref.ref(x)]
    guards = outcome.guards
    assert guards.check((net, x, box))
    del net, box, x, outcome
    gc.collect()
    assert [reference() for reference in gone] == [None] * 3
    assert not guards.check((nn.Linear(3, 3), X, Box(scale=2.0)))
    assert "gone" in guards.failed((nn.Linear(3, 3), X, Box(scale=2.0)))


def test_an_empty_guard_set_holds():
    guards = _core.GuardSet()
    assert guards.check()
    assert len(guards) == 0
