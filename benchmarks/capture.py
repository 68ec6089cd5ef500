"""Measures the cost of finding and checking Python state: a training step with Adam of a network of 59 modules.

Prints the time of a walk, of a recorded call and an eager one, and of one check of the guards. --check compares the
last with aims.toml.
"""

import argparse
import sys
import time

import aims
import lucid
from lucid import nn
from lucid.compiler._capture import Capture

BLOCKS = 14


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, width)
        self.scale = 0.5

    def forward(self, x):
        return x + self.scale * self.outer(lucid.relu(self.inner(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.blocks = [Block(width) for _ in range(BLOCKS)]
        for index, block in enumerate(self.blocks):
            self.add_module(f"block{index}", block)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def best(function, repeats=20, calls=1):
    """The minimum time of a call in microseconds."""
    minimum = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        minimum = min(minimum, time.perf_counter() - start)
    return minimum / calls * 1e6


class Step:
    """A training step, and the guards of its recording."""

    def __init__(self):
        net = Net()
        optimizer = lucid.optim.Adam(net.parameters(), 1e-3)

        # Not a method, so that this object is not guarded.
        def run(x, y):
            loss = ((net(x) - y) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        self.net = net
        self.run = run
        self.args = (lucid.randn(3, 4), lucid.randn(3, 2))
        self.capture = Capture(run)
        while (outcome := self.record()).record_again:
            pass
        self.guards = outcome.guards
        assert self.guards is not None, outcome.reason

    def record(self):
        recording = self.capture.begin(self.args)
        with recording:
            result = self.run(*self.args)
        return recording.finish(result)

    def check(self):
        return self.guards.check(self.args)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if the aim of aims.toml is missed")
    arguments = parser.parse_args()
    step = Step()
    print(f"modules             {len(list(step.net.modules()))}")
    print(f"guarded values      {len(step.guards)}")
    print(f"eager call          {best(lambda: step.run(*step.args)):9.1f} us")
    print(f"recorded call       {best(step.record):9.1f} us")
    print(f"walk                {best(lambda: step.capture.begin(step.args)):9.1f} us")
    check = best(step.check, calls=1000)
    print(f"check               {check:9.3f} us")

    def touch():
        step.net.train(True)
        step.check()

    print(f"check after train() {best(touch, calls=100):9.3f} us")
    return aims.verdict(aims.compare("us", {"check": check}, aims.AIMS["capture"])) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
