#!/usr/bin/env python3
"""Fuzz test of invalid calls: a valid call with one argument mutated.

    python tests/python/bad_calls.py --count 1000000 --seed 0

Covers functions, methods and in-place methods of the op table, random ops, factories, operators and subscripts.
`mutated_calls.py` and `mutated_subscripts.py` define the expected outcome of each call: the exceptions that it may
raise, and whether it may return. Anything else is a failure, as are crashes, hangs, internal errors, exceptions without
a message and memory use out of proportion to the arguments. The calls run in child processes, which write the current
seed to a file, so that a crash or a hang is reported with its seed; `--seed N --count 1` repeats it.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from typing import Any

import lucid
import seeded_children
from mutated_calls import RETURNS, BadCall, CallMutator, tensors_in
from mutated_subscripts import SubscriptMutator, arithmetic, assignment

SECONDS = 10  # of CPU time for one call; compiling a kernel with a sanitizer takes one or two
MEGABYTES = 512  # maximum memory growth of a process; compiled kernels stay in memory
# Blocks are rounded up, composites have intermediate results, and kernels pack their operands.
SLACK_BYTES = 1 << 20
TIMES_ARGUMENTS = 16


def make(seed: int) -> BadCall:
    way = seed % 20
    if way < 3:
        return SubscriptMutator(seed).make()
    if way == 3:
        return assignment(seed)
    return arithmetic(seed) if way == 4 else CallMutator(seed).make()


def run(call: BadCall) -> str:
    """Returns the kind of mutation and the outcome. Raises AssertionError for an unexpected outcome."""
    before = lucid.memory_stats()
    sizes = sum(tensor.nbytes for tensor in call.tensors())
    result: Any = None
    try:
        result = call.run()
        outcome = "returned"
    except lucid.InternalError:
        raise
    except Exception as error:
        if not any(type(error) is kind for kind in call.expected if kind):
            raise AssertionError(f"expected {names(call)}, got {type(error).__name__}: {error}") from error
        if not str(error) and not isinstance(error, MemoryError):
            raise AssertionError("an exception without a message") from error
        outcome = type(error).__name__
    if outcome == "returned" and RETURNS not in call.expected:
        raise AssertionError(f"expected {names(call)}, but it returned")
    sizes += sum(tensor.nbytes for tensor in tensors_in(result))
    after = lucid.memory_stats()
    # The peak never decreases, so only a call that raises it is checked.
    grown = after["peak_bytes"] - before["bytes_in_use"]
    if after["peak_bytes"] > before["peak_bytes"] and grown > SLACK_BYTES + TIMES_ARGUMENTS * sizes:
        raise AssertionError(f"took {grown} bytes for tensors of {sizes}")
    return f"{call.kind}: {outcome}"


def names(call: BadCall) -> str:
    return " or ".join(kind.__name__ if kind else "a result" for kind in call.expected)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_range(first: int, last: int, progress: str) -> Counter[str]:
    """Runs the calls of these seeds and writes the current seed to the file `progress`."""
    faulthandler.enable()
    warnings.simplefilter("ignore")  # NumPy warns about ragged lists
    outcomes: Counter[str] = Counter()
    before = peak_megabytes()
    with open(progress, "r+b", buffering=0) as place:
        for seed in range(first, last):
            place.seek(0)
            place.write(b"%20d" % seed)
            signal.alarm(30 * SECONDS)  # kills the process if the call hangs without releasing the GIL
            call = make(seed)
            start = time.process_time()
            try:
                outcomes[run(call)] += 1
            except BaseException as error:
                raise SystemExit(f"seed {seed}: {call}: {type(error).__name__}: {error}") from error
            if time.process_time() - start > SECONDS:
                raise SystemExit(f"seed {seed}: {call}: took {time.process_time() - start:.1f} s")
            if peak_megabytes() - before > MEGABYTES:
                raise SystemExit(f"seed {seed}: {call}: memory grew to {peak_megabytes():.0f} MB")
    signal.alarm(0)
    return outcomes


def run_in_child(first: int, last: int, total: Counter[str]) -> str | None:
    """Adds the outcomes to `total`. Returns None, or a description of the failure with its seed."""
    return seeded_children.run_in_child(__file__, first, last, total.update)


def main() -> int:
    options = seeded_children.options_of(__doc__, count=5000, batch=6250, cases="calls").parse_args()
    if options.child:
        print(json.dumps(run_range(options.seed, options.seed + options.count, options.child)))
        return 0
    total: Counter[str] = Counter()
    failures = seeded_children.run_batches(__file__, options, total.update)
    for outcome, count in sorted(total.items()):
        print(f"{count:9} {outcome}")
    print(f"{options.count} bad calls, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
