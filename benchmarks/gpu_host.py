"""Host time of a compiled call on a gpu: what the calling thread spends on a plan of 50 launches, besides waiting.

    python benchmarks/gpu_host.py

Four calls follow one another without waiting, then the gpu is idle again. The first of them wakes the driver up; with
Mesa's software driver, it also finds caches that the threads of the driver have filled with other data.
"""

from __future__ import annotations

import statistics
import time

import lucid

STEPS = 25  # a product and a tanh each
ROUNDS = 300
CALLS = 4


def chain(x: lucid.Tensor, weight: lucid.Tensor) -> lucid.Tensor:
    for _ in range(STEPS):
        x = lucid.tanh(x @ weight)
    return x


def main() -> None:
    x, weight = lucid.randn(4, 16, device="gpu"), lucid.randn(16, 16, device="gpu") * 0.2
    compiled = lucid.compile(chain, wait=True)
    for _ in range(2 * CALLS):
        compiled(x, weight)
    lucid.gpu.synchronize()
    times: list[list[float]] = [[] for _ in range(CALLS)]
    for _ in range(ROUNDS):
        for call in times:
            start = time.thread_time_ns()
            compiled(x, weight)
            call.append((time.thread_time_ns() - start) / 1000)
        lucid.gpu.synchronize()
    print(f"{lucid.gpu.get_device_name()}: {str(lucid.compiler.plan(compiled, x, weight)).splitlines()[1]}")
    for number, call in enumerate(times, 1):
        print(f"call {number}: {min(call):6.1f} us at least, {statistics.median(call):6.1f} us median")


if __name__ == "__main__":
    main()
