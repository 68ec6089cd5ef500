#!/usr/bin/env python3
"""Calls that are almost right: a valid sample of the op table with one argument spoiled.

    python tests/python/bad_calls.py --count 1000000 --seed 0

Each must return or raise one of Python's own exceptions, soon and without taking much memory. The calls run in a child
process, which says before each batch where it is, so that a crash or a hang is reported with its seed.
"""

from __future__ import annotations

import argparse
import faulthandler
import math
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import Any

import lucid
import numpy as np
import op_samples

ALLOWED = (TypeError, ValueError, IndexError, RuntimeError, MemoryError, OverflowError, NotImplementedError)
SECONDS = 2
MEGABYTES = 256  # how far memory may grow at its peak in one process; arguments are a few kilobytes
HUGE = [2**31, 2**40, 2**62, 2**63 - 1, 2**63, 2**100, -(2**31), -(2**63), -(2**64)]
DTYPES = [*op_samples.NUMPY_DTYPES, lucid.bfloat16]
# What they make is as large as asked for, and may be: sizes that fit in memory are no mistake.
SIZED = {"size", "repeats", "num_classes", "steps", "n", "m", "row", "col", "bins", "minlength", "pad", "dims", "end"}


class Spoiler:
    """Draws one bad call from a seed."""

    def __init__(self, seed: int, table: list[dict[str, Any]]) -> None:
        self.random = random.Random(seed)
        op = self.random.choice(table)
        dtype = self.random.choice([dtype for dtype in op["dtypes"] if dtype in op_samples.NUMPY_DTYPES])
        self.call = op_samples.make_call(op, self.random.randrange(len(op["samples"])), dtype)
        self.positional: list[Any] = []
        self.keywords = {name: op_samples.as_lucid(value) for name, value in self.call.arguments.items()}
        self.spoil()

    def spoil(self) -> None:
        random = self.random
        parameters = self.call.op["parameters"]
        way = random.random()
        if way < 0.08 and self.keywords:
            del self.keywords[random.choice(list(self.keywords))]
        elif way < 0.14:
            self.keywords[random.choice(["dimension", "x_", "out", "axis", "keepdims", ""])] = self.junk()
        elif way < 0.2:
            self.positional = list(self.keywords.values())
            self.keywords = {}
            self.positional.insert(random.randrange(len(self.positional) + 1), self.junk())
        elif parameters:
            parameter = random.choice(parameters)
            name = parameter["name"]
            self.keywords[name] = self.spoiled(name, parameter["kind"], self.keywords.get(name))

    def spoiled(self, name: str, kind: str, value: Any) -> Any:
        random = self.random
        if random.random() < 0.25:
            return self.junk()
        if kind == "tensor":
            return self.spoiled_tensor(value)
        if kind == "tensors":
            parts = list(value or [])
            change = random.random()
            if change < 0.3 or not parts:
                return parts[1:] if change < 0.15 else [*parts, self.junk()]
            at = random.randrange(len(parts))
            parts[at] = self.spoiled_tensor(parts[at])
            return parts
        if kind == "int":
            return self.integer(name)
        if kind == "ints":
            numbers = list(value) if isinstance(value, tuple | list) else [0]
            change = random.random()
            if change < 0.2:
                return tuple(numbers[:-1])
            if change < 0.4:
                return (*numbers, self.integer(name))
            if change < 0.5:
                return (numbers,)
            if numbers:
                numbers[random.randrange(len(numbers))] = self.integer(name)
            return tuple(numbers)
        if kind == "float":
            return random.choice([math.nan, math.inf, -math.inf, -1.0, 0.0, 1e300, 10**400, "0.5", None])
        if kind == "str":
            return random.choice(["", "none ", "SUM", "ij,jk->ik", "->", "...", "i" * 300, "\0", None, 3])
        if kind == "dtype":
            return random.choice([*DTYPES, "f33", "float", int, 3, None, np.float32])
        return random.choice([None, 2, "True", [True], math.nan])

    def integer(self, name: str) -> Any:
        numbers = [-1, -2, -3, -100, 0, 1, 2, 100, 1.5, True, None, "1", *HUGE]
        return self.random.choice([number for number in numbers if name not in SIZED or number != 2**31])

    def spoiled_tensor(self, value: Any) -> Any:
        random = self.random
        shape = tuple(value.shape) if isinstance(value, lucid.Tensor) else ()
        change = random.random()
        if change < 0.35 or not isinstance(value, lucid.Tensor):
            wanted = list(shape)
            for _ in range(random.randint(1, 2)):
                if wanted and random.random() < 0.6:
                    wanted[random.randrange(len(wanted))] = random.choice([0, 1, 2, 3, 7])
                elif wanted and random.random() < 0.5:
                    wanted.pop(random.randrange(len(wanted)))
                else:
                    wanted.insert(random.randint(0, len(wanted)), random.choice([0, 1, 2, 5]))
            return lucid.ones(tuple(wanted), dtype=value.dtype if isinstance(value, lucid.Tensor) else lucid.float32)
        if change < 0.6:
            return value.to(random.choice(DTYPES))
        if change < 0.7:
            return value.expand((*(2,) * random.randint(1, 4), *shape))
        if change < 0.8 and value.dtype is lucid.int64:
            return value + random.choice([1, 100, -100, 2**40, -(2**63)])
        if change < 0.9 and value.dtype.is_floating_point:
            return value * random.choice([math.nan, math.inf, 0.0, -1.0])
        return value.tolist()

    def junk(self) -> Any:
        return self.random.choice(
            [
                *(
                    None,
                    "x",
                    b"x",
                    3,
                    -1,
                    2.5,
                    math.nan,
                    1j,
                    True,
                    object(),
                    int,
                    (),
                    ...,
                    slice(None),
                    range(3),
                    2**62,
                ),
                *([], [[]], [[1, 2], [3]], [1, [2, [3]]], [None], {}, {"a": 1}, set(), "f32", lambda: 0, lucid),
                *(np.array(["a"]), np.array([1j]), np.array([object()]), np.zeros((0,))),
                *(lucid.float32, lucid.zeros(()), [lucid.zeros(2)] * 2),
            ]
        )

    def run(self) -> str:
        """The name of the exception, or "returned". Anything that is not allowed is raised."""
        try:
            lucid._core.ops[self.call.name](*self.positional, **self.keywords)
        except lucid.InternalError:
            raise
        except ALLOWED as error:
            if not str(error) and not isinstance(error, MemoryError):
                raise AssertionError("an exception without a message") from error
            return type(error).__name__
        return "returned"

    def __str__(self) -> str:
        arguments = [*map(text_of, self.positional), *(f"{name}={text_of(x)}" for name, x in self.keywords.items())]
        return f"{self.call.name}({', '.join(arguments)})"


def text_of(value: Any) -> str:
    if isinstance(value, lucid.Tensor):
        return f"{value.dtype}{tuple(value.shape)}"
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    return repr(value)[:80]


def callable_ops() -> list[dict[str, Any]]:
    return [op for op in lucid._core.op_table() if op["public"] and not op["random"]]


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_range(first: int, last: int, progress: str) -> Counter[str]:
    """Runs the calls of these seeds, leaving the seed under way in a file."""
    faulthandler.enable()
    table = callable_ops()
    outcomes: Counter[str] = Counter()
    before = peak_megabytes()
    with open(progress, "r+b", buffering=0) as place:
        for seed in range(first, last):
            place.seek(0)
            place.write(b"%20d" % seed)
            signal.alarm(10 * SECONDS)  # ends the process if the call neither returns nor lets Python run
            spoiler = Spoiler(seed, table)
            start = time.monotonic()
            try:
                outcomes[spoiler.run()] += 1
            except BaseException as error:
                raise SystemExit(f"seed {seed}: {spoiler}: {type(error).__name__}: {error}") from error
            if time.monotonic() - start > SECONDS:
                raise SystemExit(f"seed {seed}: {spoiler}: took {time.monotonic() - start:.1f} s")
            if peak_megabytes() - before > MEGABYTES:
                raise SystemExit(f"seed {seed}: {spoiler}: memory grew to {peak_megabytes():.0f} MB")
    signal.alarm(0)
    return outcomes


def run_in_child(first: int, last: int) -> str | None:
    """None if all went well; otherwise what went wrong, with its seed."""
    with tempfile.NamedTemporaryFile() as progress:
        command = [sys.executable, __file__, "--child", progress.name]
        command += ["--seed", str(first), "--count", str(last - first)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
        if result.returncode == 0:
            print(result.stdout, end="", flush=True)
            return None
        seed = int(progress.read())
        spoiler = Spoiler(seed, callable_ops())
        return f"seed {seed}: {spoiler} ended with {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-3000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=20000, help="calls of one child process")
    parser.add_argument("--failures", type=int, default=20, help="how many to find before giving up")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    last = options.seed + options.count
    if options.child:
        print(dict(run_range(options.seed, last, options.child)))
        return 0
    failures = 0
    first = options.seed
    while first < last and failures < options.failures:
        failure = run_in_child(first, min(first + options.batch, last))
        if failure is None:
            first += options.batch
        else:
            failures += 1
            print(failure, flush=True)
            first = int(failure.split(":")[0].removeprefix("seed ")) + 1
    print(f"{options.count} bad calls, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
