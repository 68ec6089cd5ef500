"""What finding and checking Python state costs: a training step of a network of 59 modules with Adam.

Prints the time of a walk, of a recorded call beside an eager one, and of one check of the guards.
"""

import time

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
        for number, block in enumerate(self.blocks):
            self.add_module(f"block{number}", block)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def best(function, repeats=20, calls=1):
    """The least time of a call in microseconds."""
    least = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        least = min(least, time.perf_counter() - start)
    return least / calls * 1e6


def main():
    net = Net()
    optimizer = lucid.optim.Adam(net.parameters(), 1e-3)

    def step(x, y):
        loss = ((net(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    args = (lucid.randn(3, 4), lucid.randn(3, 2))
    capture = Capture(step)

    def record():
        recording = capture.begin(args)
        with recording:
            result = step(*args)
        return recording.finish(result)

    while (outcome := record()).learned:
        pass
    guards = outcome.guards
    assert guards is not None, outcome.reason
    print(f"modules             {len(list(net.modules()))}")
    print(f"guarded places      {len(guards)}")
    print(f"eager call          {best(lambda: step(*args)):9.1f} us")
    print(f"recorded call       {best(record):9.1f} us")
    print(f"walk                {best(lambda: capture.begin(args)):9.1f} us")
    print(f"check               {best(lambda: guards.check(args), calls=1000):9.3f} us")

    def touch():
        net.train(True)
        guards.check(args)

    print(f"check after train() {best(touch, calls=100):9.3f} us")


if __name__ == "__main__":
    main()
