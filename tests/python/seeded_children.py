"""Runs numbered cases in child processes, so that a crash or a hang fails only one case.

A script that uses it calls itself with --child FILE, --seed and --count. The child writes the current seed to the file
and prints the outcomes of its cases as JSON. After a failure it stops, and the entry "failure" describes it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Add = Callable[[Any], object]


def options_of(description: str | None, count: int, batch: int, cases: str) -> argparse.ArgumentParser:
    """The options that these scripts share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="child processes at a time")
    parser.add_argument("--batch", type=int, default=batch, help=f"{cases} of one child process")
    parser.add_argument("--failures", type=int, default=20, help="number of failures after which a batch is stopped")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


def run_in_child(script: str, first: int, last: int, add: Add, words: Sequence[str] = ()) -> str | None:
    """Passes the outcomes to `add`. Returns None, or a description of the failure with its seed."""
    with tempfile.NamedTemporaryFile() as progress:
        command = [sys.executable, script, "--child", progress.name]
        command += ["--seed", str(first), "--count", str(last - first), *words]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
        if result.returncode == 0:
            part = json.loads(result.stdout)
            failure: str | None = part.pop("failure", None)
            add(part)
            if failure is not None:
                return failure
            # Output at exit, such as a leak that nanobind reports, is also a failure.
            return None if not result.stderr else f"seed {last - 1}: at the end: {result.stderr[-3000:]}"
        seed = int(progress.read() or first)
        return f"seed {seed}: ended with {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-6000:]}"


def run_batches(script: str, options: argparse.Namespace, add: Add, words: Sequence[str] = ()) -> int:
    """Runs all cases, continuing after failures, which are printed. Returns the number of failures."""

    def run_batch(first: int) -> tuple[list[Any], int]:
        last = min(first + options.batch, options.seed + options.count)
        parts: list[Any] = []
        failures = 0
        while first < last and failures < options.failures:
            failure = run_in_child(script, first, last, parts.append, words)
            if failure is None:
                break
            failures += 1
            print(failure, flush=True)
            first = int(failure.split(":")[0].removeprefix("seed ")) + 1
        return parts, failures

    failures = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for parts, failed in pool.map(run_batch, range(options.seed, options.seed + options.count, options.batch)):
            for part in parts:
                add(part)
            failures += failed
    return failures
