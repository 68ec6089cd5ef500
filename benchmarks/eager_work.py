"""Times the eager workloads for one library and prints the microseconds of each as one line of JSON.

python benchmarks/eager_work.py lucid --threads 2
"""

import argparse
import importlib
import json
import time

MILLION = 1 << 20


class Work:
    """The workloads, written once for libraries that share PyTorch's idiom."""

    def __init__(self, library):
        self.lib = library

    def random(self, *shape):
        return self.lib.randn(*shape)

    def small(self):
        x = self.lib.ones(8)
        yield "add1_8", lambda: x + 1
        w = self.lib.ones(8, requires_grad=True)
        yield "add1_8_grad", lambda: w + 1

    def pointwise(self, elements, label):
        rows = elements // 1024
        x = self.random(rows, 1024)
        y = self.random(rows, 1024)
        gelu = getattr(self.lib, "gelu", None) or self.lib.nn.functional.gelu
        yield f"add_{label}", lambda: x + y
        yield f"exp_{label}", lambda: self.lib.exp(x)
        yield f"gelu_{label}", lambda: gelu(x)
        yield f"sum_{label}", lambda: x.sum()
        yield f"softmax_{label}", lambda: self.lib.softmax(x, -1)

        def layer_norm():
            centred = x - x.mean(-1, keepdim=True)
            variance = (centred * centred).mean(-1, keepdim=True)
            return centred * self.lib.rsqrt(variance + 1e-5)

        yield f"layernorm_chain_{label}", layer_norm

    def products(self):
        for m, k, n in [
            (64, 64, 64),
            (256, 256, 256),
            (512, 512, 512),
            (1024, 1024, 1024),
            (64, 784, 256),
            (1, 784, 256),
        ]:
            a, b = self.random(m, k), self.random(k, n)
            yield f"matmul_{m}x{k}x{n}", lambda a=a, b=b: a @ b

    def all(self):
        yield from self.small()
        yield from self.pointwise(MILLION, "1m")
        yield from self.pointwise(16 * MILLION, "16m")
        yield from self.products()


def numpy_work(numpy):
    x = numpy.ones(8, numpy.float32)
    yield "add1_8", lambda: x + 1


def time_one(function, budget, wait=None):
    """Microseconds per call, the best of several batches that are long enough to measure.

    `wait` waits for the result of a call that may still be running.
    """
    wait = wait or (lambda result: None)
    for _ in range(3):
        wait(function())
    start = time.perf_counter()
    wait(function())
    once = max(time.perf_counter() - start, 1e-7)
    batch = max(1, int(0.002 / once))
    best = float("inf")
    deadline = time.perf_counter() + budget
    while True:
        start = time.perf_counter()
        for _ in range(batch - 1):
            function()
        wait(function())
        now = time.perf_counter()
        best = min(best, (now - start) / batch)
        if now > deadline:
            return best * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", choices=["lucid", "torch", "numpy"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.2, help="per workload")
    arguments = parser.parse_args()
    library = importlib.import_module(arguments.library)
    if arguments.library != "numpy":
        library.set_num_threads(arguments.threads)
        library.manual_seed(0)
    work = numpy_work(library) if arguments.library == "numpy" else Work(library).all()
    print(json.dumps({name: time_one(function, arguments.seconds) for name, function in work}))


if __name__ == "__main__":
    main()
