"""Calls compiled functions with many signatures and measures memory, for docs/benchmarks.md.

    python benchmarks/signatures.py --count 100000

Each signature has its own key, so each call is recorded and compiled, and evicts the oldest plan. The memory of the
process is measured after a tenth of the calls and at the end. The shapes are in a mixed order, so that the largest
tensors are not all at the end.
"""

import argparse
import gc
import time

import lucid


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def shape_of(index):
    mixed = index * 7919 % 47**3  # 7919 is prime: every shape up to 47 x 47 x 47 occurs once
    return 1 + mixed % 47, 1 + mixed // 47 % 47, 1 + mixed // 47**2


def measured():
    stats = lucid.memory_stats()
    return resident_bytes(), stats["bytes_in_use"], stats["cached_bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    count = parser.parse_args().count
    f = lucid.compile(lambda x, number: (x * float(number)).exp() + number, wait=True)
    g = lucid.compile(lambda x: x * 2 + 1, wait=True)
    h = lucid.compile(lambda x, number: x * x.sum().item() * number, wait=True)
    x = lucid.ones(2)
    start = time.perf_counter()
    early = None
    for number in range(count):
        # A new number, a new shape, or a call that runs eagerly.
        if number % 3 == 0:
            f(x, number)
        elif number % 3 == 1:
            g(lucid.ones(shape_of(number)))
        else:
            h(x, number)
        if number == count // 10:
            gc.collect()
            early = measured()
    gc.collect()
    late = measured()
    print(f"signatures            {count}")
    print(f"seconds               {time.perf_counter() - start:.0f}")
    for name, before, after in zip(("resident", "tensors", "free"), early, late):
        print(f"{name:9} memory, MiB  {before / 2**20:.1f} after a tenth, {after / 2**20:.1f} at the end")
    print(f"plans                 {[compiled.cache_info().entries for compiled in (f, g, h)]}")


if __name__ == "__main__":
    main()
