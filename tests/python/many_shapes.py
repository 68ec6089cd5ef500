"""Runs ops on tensors of many different shapes and measures memory and mappings.

    tests/python/many_shapes.py --count 100000 --mode eager
    tests/python/many_shapes.py --count 100000 --mode compiled --cache-dir /tmp/x

In the mode `kernels` nearly every shape needs a separate kernel; in the other modes most shapes share kernels.

Prints the resident memory and the number of mappings every `--every` shapes. Fails if either grows by more than
`--slack` percent (and 64 mappings) after the first `--settled` shapes (by default 5 % of them).
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def mappings() -> int:
    with open("/proc/self/maps") as file:
        return sum(1 for _ in file)


def shape_of(number: int) -> tuple[int, int]:
    """A different small shape for each number."""
    return 2 + number % 500, 3 + number // 500


def runner(mode: str) -> Callable[[int], None]:
    import lucid

    def scaled(x: lucid.Tensor) -> lucid.Tensor:
        return (x * 2).sum(dim=0)

    if mode == "eager":
        return lambda number: float(scaled(lucid.ones(*shape_of(number)))[0]) and None
    if mode == "kernels":
        linear = lucid.nn.Linear(16, 16)
        compiled = lucid.compile(lambda x: linear(x).relu().sum(0), wait=True)
    else:
        compiled = lucid.compile(scaled, wait=True)

    def call(number: int) -> None:
        x = lucid.ones(number + 1, 16) if mode == "kernels" else lucid.ones(*shape_of(number))
        compiled(x)
        compiled(x)  # runs the plan

    return call


def measure(mode: str, count: int, every: int) -> list[tuple[int, int, int]]:
    """(shapes, resident bytes, mappings) after every `every` shapes."""
    import lucid

    run = runner(mode)
    trim = ctypes.CDLL(None).malloc_trim
    measured = []
    start = time.monotonic()
    for number in range(1, count + 1):
        run(number - 1)
        if number % every == 0:
            gc.collect()
            lucid.empty_cache()  # later shapes are larger, and so are their cached blocks
            trim(0)
            measured.append((number, resident_bytes(), mappings()))
            seconds = time.monotonic() - start
            print(
                f"{mode} {number}: {measured[-1][1] / 2**20:.1f} MiB, {measured[-1][2]} mappings, {seconds:.0f} s",
                flush=True,
            )
    return measured


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--every", type=int)
    parser.add_argument("--settled", type=int)
    parser.add_argument("--slack", type=float, default=5.0)
    parser.add_argument("--mode", choices=["eager", "compiled", "kernels"], default="compiled")
    parser.add_argument("--cache-dir")
    parser.add_argument("--kernels", type=int, help="maximum number of cached kernels and eager plans")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LUCID_CACHE_DIR"] = options.cache_dir or folder
        if options.kernels:
            import lucid

            lucid._core.set_cache_limits(eager_plans=options.kernels, kernels=options.kernels)
        every = options.every or max(options.count // 20, 1)
        settled = options.settled or max(options.count // 20, every)
        measured = [row for row in measure(options.mode, options.count, every) if row[0] >= settled]
    _, first_bytes, first_mappings = measured[0]
    _, last_bytes, last_mappings = measured[-1]
    grown = (last_bytes / first_bytes - 1) * 100
    more = last_mappings - first_mappings
    print(f"from {measured[0][0]} to {measured[-1][0]} shapes: {grown:+.1f} % memory, {more:+} mappings")
    return 1 if grown > options.slack or more > 64 else 0


if __name__ == "__main__":
    sys.exit(main())
