"""Calls compiled functions millions of times from several threads, and measures the memory of the process.

    python benchmarks/soak.py [--calls 10000000] [--threads 2]

Shapes, branches on values, numbers, modes and state change from call to call, and small tables evict plans. Every
result of a thread's first calls, and of one call in a thousand, is compared with the eager one. Memory must not grow
after the first tenth.
"""

import argparse
import os
import random
import sys
import threading
import time

import lucid
from lucid import nn
from signatures import resident_bytes

CHECKED = 1000
GROWTH = 8 << 20  # bytes of growth that are noise of the allocator


def halves(x):
    rows = x.shape[0]
    return x[: rows // 2].sum() / rows


def branches(x):
    if x.sum() > 0:
        return x.tanh() if x[0] > 0 else x + 1
    return x * 0.5 if x[0] > 0 else -x


def scaled(x, k):
    return x * k + (1 if k > 2 else 0)


class Average(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.mean = 0, lucid.zeros(4)

    def forward(self, x):
        self.calls += 1
        self.mean = 0.5 * self.mean + 0.5 * x
        return self.mean.sum()


class Worker:
    """The functions of one thread, each eagerly and compiled, and the arguments to call them with."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.averages = Average(), Average()
        self.rows = [lucid.randn(rows, 4) for rows in (*range(2, 40), *range(100, 140))]
        self.vectors = [lucid.randn(4) for _ in range(64)]
        functions = {"halves": halves, "branches": branches, "scaled": scaled, "model": self.model}
        self.functions = {name: (function, lucid.compile(function)) for name, function in functions.items()}
        self.functions["exact"] = halves, lucid.compile(halves, dynamic=False, max_cache_entries=4)
        self.functions["average"] = self.averages[0], self.averages[1].compile()

    def call(self, number):
        name = self.rng.choice(list(self.functions))
        eager, compiled = self.functions[name]
        if name in ("halves", "model", "exact"):
            args = (self.rng.choice(self.rows),)
        elif name == "scaled":
            args = (self.rng.choice(self.vectors), 0.25 * self.rng.randrange(40))
        else:
            args = (self.rng.choice(self.vectors),)
        if name == "model" and self.rng.random() < 0.01:
            self.model.train(not self.model.training)
        without_grad = self.rng.random() < 0.5
        with lucid.no_grad() if without_grad else lucid.enable_grad():
            result = compiled(*args)
            if name == "average" or number < CHECKED or number % CHECKED == 0:
                expected = eager(*args)
                if result.detach().numpy().tobytes() != expected.detach().numpy().tobytes():
                    raise AssertionError(f"{name}, call {number}: {result} instead of {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    counts, errors = [0] * options.threads, []
    each = options.calls // options.threads

    def work(index):
        try:
            worker = Worker(index)
            for number in range(each):
                worker.call(number)
                counts[index] = number + 1
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(options.threads)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    before, last, tenths = None, -1, 0
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.5)
        done = sum(counts)
        tenth = 10 * done // options.calls
        if tenth > tenths:
            tenths, memory = tenth, resident_bytes()
            before = before or memory
            print(f"{done:,} calls, {time.perf_counter() - start:.0f} s, {memory / 2**20:.1f} MB", flush=True)
        if done == last and not errors:
            time.sleep(60)
            if sum(counts) == done and any(thread.is_alive() for thread in threads):
                print("no call ended in a minute")
                os._exit(1)
        last = done
    grown = resident_bytes() - (before or 0)
    print(f"{sum(counts):,} calls, {len(errors)} errors, {grown / 2**20:+.1f} MB since the first tenth")
    return int(bool(errors) or grown > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
