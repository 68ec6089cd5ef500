"""Measures a compiled call whose loss and backward() are outside of it, against eager calls, for docs/benchmarks.md.

    python benchmarks/backward.py [--threads 1]

Times include forward and backward. Gradients are set to None before each step. Eager and compiled rounds alternate, and
the best round counts. Memory is the peak during backward() minus the memory in use before the step.
"""

import argparse
import gc
import time

import lucid
import lucid.nn.functional as F
from lucid import _core, models, nn


class Add(nn.Module):
    def forward(self, x):
        return x + 1


def classified(network, x, classes):
    target = lucid.randint(0, classes, (x.shape[0],))
    return network, lambda call: F.cross_entropy(call(x), target)


def written():
    network = models.gpt(vocab_size=65, context=128, dim=128, heads=4, layers=4, dropout=0.0)
    tokens, target = lucid.randint(0, 65, (8, 128)), lucid.randint(0, 65, (8 * 128,))
    return network, lambda call: F.cross_entropy(call(tokens).reshape(8 * 128, 65), target)


def one_add():
    x = lucid.ones(8, requires_grad=True)
    return Add(), lambda call: call(x).sum()


WORK = {
    "x + 1 on 8 floats": one_add,
    "MLP, batch 64": lambda: classified(models.mlp((784, 256, 128, 10)), lucid.randn(64, 784), 10),
    "LeNet-5, batch 64": lambda: classified(models.lenet_5(10), lucid.randn(64, 1, 32, 32), 10),
    "GPT mini, batch 8": written,
}


def clear(network):
    for parameter in network.parameters():
        parameter.grad = None


def seconds(network, call, loss, count):
    start = time.perf_counter()
    for _ in range(count):
        clear(network)
        loss(call).backward()
    return (time.perf_counter() - start) / count


def peak_bytes(network, call, loss):
    clear(network)
    gc.collect()
    before = _core.memory_stats()["bytes_in_use"]
    value = loss(call)
    _core.reset_peak_memory()
    value.backward()
    return _core.memory_stats()["peak_bytes"] - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0, help="per workload")
    options = parser.parse_args()
    lucid.set_num_threads(options.threads)
    print("| work | eager, us | compiled, us | ratio | memory, MB | compiled, MB |\n|---|---|---|---|---|---|")
    for name, make in WORK.items():
        lucid.manual_seed(0)
        network, loss = make()
        calls = [network, lucid.compile(network, wait=True)]
        for call in calls:
            seconds(network, call, loss, 4)
        count = max(1, int(0.02 / seconds(network, network, loss, 2)))
        best = [float("inf")] * 2
        end = time.perf_counter() + options.seconds
        while time.perf_counter() < end:
            best = [min(before, seconds(network, call, loss, count)) for before, call in zip(best, calls)]
        memory = [peak_bytes(network, call, loss) / 1e6 for call in calls]
        times = f"{best[0] * 1e6:.4g} | {best[1] * 1e6:.4g} | {best[1] / best[0]:.2f}"
        print(f"| {name} | {times} | {memory[0]:.3g} | {memory[1]:.3g} |", flush=True)


if __name__ == "__main__":
    main()
