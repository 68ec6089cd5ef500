"""Measures the cost of calling a module, against PyTorch, in one process that has both libraries.

Rounds alternate between the libraries and the best round counts.

    python benchmarks/modules.py
"""

import timeit

import lucid
import torch


def workloads(library):
    nn = library.nn

    class Nothing(nn.Module):
        def forward(self, x):
            return x

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 2)

        def forward(self, x):
            return self.fc(x)

    nothing, linear, net, x = Nothing(), nn.Linear(4, 2), Net(), library.ones(1, 4)
    sequence = nn.Sequential(*[nn.Identity() for _ in range(10)])
    return {
        "a forward in Python that does nothing": lambda: nothing(x),
        "Linear(4, 2)": lambda: linear(x),
        "a network that calls self.fc": lambda: net(x),
        "Sequential of 10 Identity": lambda: sequence(x),
        "reading self.fc": lambda: net.fc,
        "reading fc.weight": lambda: linear.weight,
        "setting an int": lambda: setattr(net, "n", 1),
        "train()": net.train,
        "state_dict()": net.state_dict,
    }


def nanoseconds(function):
    timer = timeit.Timer(function)
    count, _ = timer.autorange()
    return timer.timeit(max(1, count // 4)) / max(1, count // 4) * 1e9


def main():
    ours, theirs = workloads(lucid), workloads(torch)
    best = {name: [float("inf"), float("inf")] for name in ours}
    with lucid.no_grad(), torch.no_grad():
        for _ in range(7):
            for name, times in best.items():
                times[0] = min(times[0], nanoseconds(ours[name]))
                times[1] = min(times[1], nanoseconds(theirs[name]))
    print(f"{'nanoseconds per call':<40}{'lucid':>8}{'torch':>8}{'ratio':>7}")
    for name, (mine, other) in best.items():
        print(f"{name:<40}{mine:>8.0f}{other:>8.0f}{mine / other:>7.2f}")


if __name__ == "__main__":
    main()
