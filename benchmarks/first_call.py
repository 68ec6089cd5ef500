"""Measures the first call of a compiled function against an eager call, for docs/benchmarks.md.

    python benchmarks/first_call.py [--check]

The first call records. Its plan is compiled on another thread, and the second call waits for it. Both are measured in a
new process, after the function has been called eagerly until it is warm. An earlier process has written the kernels of
the plan to a disk cache of this program. The minimum time of all processes counts. --check compares it with aims.toml.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import aims
import lucid
import lucid.nn.functional as F
from lucid import nn
from lucid.models import lenet_5


def normalize(x):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / (x.std(-1, keepdim=True) + 1e-5)


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def training_step():
    net = mlp()
    optimizer = lucid.optim.Adam(net.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


WORK = {
    "x + 1 on 8 floats": lambda: (lambda x: x + 1, [lucid.randn(8)]),
    "normalize, 32 x 128": lambda: (normalize, [lucid.randn(32, 128)]),
    "MLP, batch 64": lambda: (mlp(), [lucid.randn(64, 784)]),
    "LeNet-5, batch 1": lambda: (lenet_5(), [lucid.randn(1, 1, 32, 32)]),
    "step of the MLP with Adam": lambda: (training_step(), [lucid.randn(64, 784), lucid.randint(0, 10, (64,))]),
}


def seconds(function, arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def measure(name):
    """Microseconds of an eager call, the first call and the second call, in this process."""
    function, arguments = WORK[name]()
    # Exclude the one-time initialization of the compiler.
    warm = lucid.compile(lambda x: x - 1, wait=True)
    warm(lucid.ones(3))
    warm(lucid.ones(3))
    eager = min(seconds(function, arguments) for _ in range(30))
    compiled = lucid.compile(function, wait=True)
    first, second = seconds(compiled, arguments), seconds(compiled, arguments)
    return eager * 1e6, first * 1e6, second * 1e6


def best_of(name, processes, folder):
    results = []
    environment = {**os.environ, "LUCID_CACHE_DIR": folder}
    # The first process only fills the disk cache.
    for _ in range(processes + 1):
        command = [sys.executable, __file__, "--measure", name]
        output = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        results.append([float(number) for number in output.split()])
    return [min(numbers) for numbers in zip(*results[1:])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=7)
    parser.add_argument("--check", action="store_true", help="fail if an aim of aims.toml is missed")
    parser.add_argument("--measure", choices=list(WORK), help="measure one workload in this process")
    arguments = parser.parse_args()
    if arguments.measure:
        print(*measure(arguments.measure))
        return 0
    print("| work | eager, us | first call, us | second call, us |\n|---|--:|--:|--:|")
    bounds, results = aims.AIMS["first_call"], []
    with tempfile.TemporaryDirectory() as folder:
        for name in WORK:
            eager, first, second = best_of(name, arguments.processes, folder)
            print(f"| {name} | {eager:.4g} | {first:.4g} | {second:.4g} |", flush=True)
            limit = bounds["eager_calls"] * eager + bounds["microseconds"]
            results.append(aims.Result(f"first call, us, {name}", first, limit))
    return aims.verdict(results) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
