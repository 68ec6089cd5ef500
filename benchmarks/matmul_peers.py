"""Times torch's matrix product on the shapes of matmul.cpp.

    python benchmarks/matmul_peers.py THREADS [SHAPE...]

Prints the minimum time of each shape in microseconds. Alternate runs of it and of the benchmark, pinned to one core for
one thread, and compare minima: on a shared machine only minima are reproducible.
"""

import sys
import time

import torch

SHAPES = [
    (64, 64, 64), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (64, 784, 256), (1, 784, 256),
    (64, 400, 120), (512, 128, 512), (64, 768, 3072), (64, 84, 10), (1024, 1024, 1),
]  # fmt: skip
SECONDS = 0.5


def min_time(m: int, k: int, n: int) -> float:
    """Seconds per call of the fastest batch within SECONDS. A batch takes about 50 us."""
    a, b, c = torch.randn(m, k), torch.randn(k, n), torch.empty(m, n)
    for _ in range(3):
        torch.mm(a, b, out=c)
    start = time.perf_counter()
    torch.mm(a, b, out=c)
    batch = max(1, int(50e-6 / (time.perf_counter() - start)))
    best = float("inf")
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(batch):
            torch.mm(a, b, out=c)
        best = min(best, (time.perf_counter() - start) / batch)
    return best


def main() -> None:
    """Prints one line for each requested shape, by default for all."""
    torch.set_num_threads(int(sys.argv[1]))
    for shape in SHAPES:
        name = "x".join(map(str, shape))
        if len(sys.argv) == 2 or name in sys.argv[2:]:
            print(f"{name:16} {min_time(*shape) * 1e6:10.2f}", flush=True)


if __name__ == "__main__":
    main()
