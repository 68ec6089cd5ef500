#!/usr/bin/env python3
"""Random programs of views, writes and gradients, run by Lucid and by PyTorch step by step.

    python tests/peers/programs.py --count 20000 --seed 0

After each step everything observable is compared: whether it raised, values, shapes, strides, flags, gradients and the
arguments of hooks; at the end also which tensors share memory. A program that differs is shrunk before it is shown.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
import warnings

import torch
from program_generator import Generator, Mismatch, run, shrink

SHAPES = [(), (1,), (3,), (4,), (2, 3), (3, 3), (3, 1), (1, 3), (2, 2, 3), (3, 2)]
NUMBERS = [-2.0, -1.5, -1.0, -0.75, -0.5, 0.25, 0.5, 1.0, 1.5, 2.0]


def report(generator: Generator, mismatch: Mismatch) -> str:
    smallest = shrink(generator.program, mismatch.kind)
    return "\n".join([f"seed {generator.seed}", *map(str, smallest), str(run(smallest))])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=22)
    parser.add_argument("--show", type=int, default=3, help="number of mismatches of each kind to print")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    found: collections.Counter[str] = collections.Counter()
    steps: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    for seed in range(options.seed, options.seed + options.count):
        generator = Generator(seed, options.length)
        mismatch = generator.make()
        steps += generator.comparison.counts
        if mismatch is not None:
            found[mismatch.kind] += 1
            if found[mismatch.kind] <= options.show:
                print(report(generator, mismatch), flush=True)
    seconds = time.monotonic() - start
    print(f"{options.count} programs, {steps['ran']} steps ran and {steps['raised']} raised in both, {seconds:.0f} s")
    print(f"mismatches: {dict(found) or 'none'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
