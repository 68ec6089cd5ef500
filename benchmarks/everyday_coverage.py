"""Measures the programs of tests/python/everyday: which calls run plans, and the time compiled over eager.

    python benchmarks/everyday_coverage.py [--programs NAME...] [--json FILE] [--seconds 2] [--calls 1000]

Each program runs in a process of its own, eager and compiled, one call of each in turn, with the same random numbers.
After the first half of the calls it waits for the plans that are being compiled; the figures are those of the second
half. Times are CPU seconds of the calling thread, with one thread for kernels. The exit code says whether all results
were equal.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

from report import table

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"
# A program is covered if this share of its later calls run plans.
COVERED = 0.9
FEWEST_CALLS = 40
# The lines of explain() that say why a call runs no plan, most important first.
REASONS = ("runs eagerly", "records only", "recorded again")


def work(name, seconds, most):
    """The figures of one program."""
    sys.path.insert(0, str(TESTS))
    import everyday
    import lucid

    eager, compiled = everyday.Run(name), everyday.Run(name, lucid.compile)
    times, unequal, errors = {eager: [], compiled: []}, [], []

    def calls(count, end):
        made = 0
        while made < count and (made < FEWEST_CALLS or time.perf_counter() < end):
            results = {}
            for run in (eager, compiled) if made % 2 else (compiled, eager):
                spent, results[run] = run.call(time.thread_time)
                times[run].append(spent)
            if results[eager] != results[compiled]:
                unequal.append(eager.count - 1)
            if results[eager][1]:
                errors.append(results[eager][1])
            made += 1
        return made

    first = calls(most // 2, time.perf_counter() + seconds)
    lucid.compiler.wait()
    before = compiled.function.cache_info()
    later = calls(first, math.inf)
    info = compiled.function.cache_info()
    late = {run: spent[first:] for run, spent in times.items()}
    return {
        "calls": first + later,
        "equal": not unequal and eager.final() == compiled.final(),
        "unequal_calls": unequal[:20],
        "errors": errors[:3],
        "share": (info.hits - before.hits + info.pieces - before.pieces) / later,
        "whole": (info.hits - before.hits) / later,
        "eager_us": 1e6 * statistics.median(late[eager]),
        "compiled_us": 1e6 * statistics.median(late[compiled]),
        "median": statistics.median(late[compiled]) / statistics.median(late[eager]),
        "mean": sum(late[compiled]) / sum(late[eager]),
        "from_first_call": sum(times[compiled]) / sum(times[eager]),
        "compiles": info.compiles,
        "explain": compiled.function.explain(),
    }


def reason(figures):
    """What explain() says about calls that ran no plan."""
    lines = [line.strip() for line in figures["explain"].splitlines()]
    return next((line for start in REASONS for line in lines if line.startswith(start)), "")


def row(name, figures):
    if "failed" in figures:
        return [name, "failed", *[""] * 8, figures["failed"]]
    return [
        name,
        "yes" if figures["equal"] else "NO",
        f"{figures['share']:.0%}",
        f"{figures['whole']:.0%}",
        *(f"{figures[key]:.2f}" for key in ("median", "mean", "from_first_call")),
        *(f"{figures[key]:.0f}" for key in ("eager_us", "calls", "compiles")),
        "" if figures["share"] >= COVERED else reason(figures),
    ]


def summary(found):
    """Counts and geometric means over all programs."""
    ran = [figures for figures in found.values() if "failed" not in figures]
    text = [
        f"{len(ran)} of {len(found)} programs ran, {sum(figures['equal'] for figures in ran)} equal",
        f"{sum(figures['share'] >= COVERED for figures in ran)} run plans for {COVERED:.0%} of their later calls, "
        f"{sum(figures['share'] == 0 for figures in ran)} never",
    ]
    for key in ("median", "mean", "from_first_call"):
        ratios = [figures[key] for figures in ran]
        text.append(f"{key}: geometric mean {statistics.geometric_mean(ratios):.2f}, worst {max(ratios):.2f}")
    return "; ".join(text)


def measure(name, arguments):
    command = [sys.executable, __file__, "--work", name]
    command += ["--seconds", str(arguments.seconds), "--calls", str(arguments.calls)]
    environment = {**os.environ, "LUCID_NUM_THREADS": "1", "LUCID_COMPILE_WAIT": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds for the first half of a program's calls")
    parser.add_argument("--calls", type=int, default=1000, help="calls of a program, at most")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures and explanations")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        print(json.dumps(work(arguments.work, arguments.seconds, arguments.calls)))
        return 0
    sys.path.insert(0, str(TESTS))
    import everyday

    head = [
        "program",
        "equal",
        "plans",
        "whole",
        "median",
        "mean",
        "all calls",
        "eager, us",
        "calls",
        "compiles",
        "reason",
    ]
    found = {}
    for name in arguments.programs or everyday.PROGRAMS:
        found[name] = measure(name, arguments)
        print(name, *row(name, found[name])[1:], sep="  ", file=sys.stderr, flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    print(table(head, [row(name, figures) for name, figures in found.items()]))
    print(f"\n{summary(found)}.")
    return 0 if all(figures.get("equal") for figures in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
