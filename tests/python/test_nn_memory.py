"""Creating and destroying modules leaks nothing."""

import gc
import resource

import lucid
from lucid import nn


def peak_kilobytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.register_buffer("count", lucid.zeros(1))
        # A cycle through a hook, which only the garbage collector can free.
        self.layers.register_forward_hook(lambda module, args, output, owner=self: None)


def make(count):
    for _ in range(count):
        Net()
    gc.collect()


def test_ten_thousand_modules_do_not_grow_memory():
    make(2000)
    before = peak_kilobytes()
    make(10_000)
    assert peak_kilobytes() - before < 8_000
    assert sum(type(found) is Net for found in gc.get_objects()) == 0


def test_calls_do_not_grow_memory():
    net = Net()
    x = lucid.ones(2, 4)

    def calls(count):
        for _ in range(count):
            net.layers(x).sum().backward()
            net.zero_grad()

    calls(500)
    gc.collect()
    objects = len(gc.get_objects())
    before = peak_kilobytes()
    calls(3000)
    gc.collect()
    assert peak_kilobytes() - before < 4_000
    assert len(gc.get_objects()) - objects < 50
