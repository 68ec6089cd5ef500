"""Measures ordinary programs from their first call on, all compiling included, compiled against eager.

    python benchmarks/adaptive.py [--programs NAME...] [--libraries lucid torch jax] [--calls 1000]

Shapes, numbers, branches and state vary from call to call in most of the programs. A program runs in two new processes
of each library, one eager and one compiled, after two earlier ones have filled a disk cache. They take turns: one is
stopped while the other runs, so a compiler in the background gets no time but that of the compiled program.

The ratio of their total times is taken twice. The first time is after 20 calls if an eager call takes 5 ms or more,
otherwise after 1 s of eager time. The second time is after --calls, or after --seconds of eager time.
"""

import argparse
import ast
import itertools
import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from adaptive_work import FILES
from report import FOLDER, number, table

# Aims: the first ratio of each program, and the geometric mean of the second ratios.
FIRST, MEAN = 1.05, 0.6
# The first ratio is taken after FIRST_CALLS if an eager call takes at least SLOW seconds, otherwise after
# FIRST_SECONDS of eager time.
FIRST_CALLS, SLOW, FIRST_SECONDS = 20, 0.005, 1.0
# Eager seconds of a turn.
TURN = 0.02
# A program has failed if one turn takes this many times the limit.
PATIENCE = 4
CACHES = {
    "lucid": {"LUCID_CACHE_DIR": ""},
    "torch": {"TORCHINDUCTOR_CACHE_DIR": ""},
    "jax": {
        "JAX_COMPILATION_CACHE_DIR": "",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    },
}


class Failure(Exception):
    """A program raised, or its process ended or took too long."""


class Process:
    """A program in a process of its own, which is stopped between its turns."""

    def __init__(self, python, library, name, compiled, folder):
        command = [python, str(FOLDER / "adaptive_work.py"), library, name, *["--compiled"] * compiled]
        environment = {**os.environ, **{variable: value or folder for variable, value in CACHES[library].items()}}
        pipe = subprocess.PIPE
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 -- closed by end()
        self.child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.errors, text=True, env=environment)
        self.times, self.digests = [], []

    def call(self, count, limit):
        """Makes `count` calls."""
        self.child.send_signal(signal.SIGCONT)
        self.child.stdin.write(f"{count}\n")
        self.child.stdin.flush()
        for seconds, digest in self.answer(limit):
            self.times.append(seconds)
            self.digests.append(digest)
        self.child.send_signal(signal.SIGSTOP)

    def answer(self, limit):
        if not select.select([self.child.stdout], [], [], limit)[0]:
            raise Failure(f"a call took more than {limit:.0f} s")
        line = self.child.stdout.readline()
        if not line:
            code = self.child.wait()
            self.errors.seek(0)
            raise Failure(f"the process ended with code {code}: {self.errors.read().strip().splitlines()[-1:]}")
        value = json.loads(line)
        if isinstance(value, dict) and "error" in value:
            raise Failure(value["error"])
        return value

    def counters(self, limit):
        self.child.send_signal(signal.SIGCONT)
        self.child.stdin.close()
        return self.answer(limit)

    def end(self):
        self.child.kill()
        self.child.wait()
        self.errors.close()


def run(library, name, arguments, folder):
    """The figures of a program."""
    python, end = getattr(arguments, library), time.perf_counter() + arguments.limit
    eager, fast = processes = [Process(python, library, name, compiled, folder) for compiled in (False, True)]
    figures, count = {}, 1
    try:
        for process in processes:
            process.call(0, PATIENCE * arguments.limit)
        while time.perf_counter() < end:
            calls, total = len(eager.times), sum(eager.times)
            if calls >= arguments.calls and total >= FIRST_SECONDS:
                break
            if calls >= FIRST_CALLS and total >= arguments.seconds:
                break
            for process in processes:
                process.call(count, PATIENCE * arguments.limit)
            usual = statistics.median(eager.times[-20:])
            count = max(1, min(int(TURN / usual), 2 * count))
        figures = fast.counters(PATIENCE * arguments.limit)
    except Failure as failure:
        figures["error"] = str(failure)
    finally:
        for process in processes:
            process.end()
    calls = min(len(eager.times), len(fast.times))
    if calls:
        first, last = first_calls(eager.times[:calls]), min(calls, arguments.calls)
        figures["all_calls"], figures["calls"], figures["first_calls"] = calls, last, first
        figures["eager"] = sum(eager.times[:calls]) / calls * 1e3
        figures["first"], figures["ratio"] = (sum(fast.times[:n]) / sum(eager.times[:n]) for n in (first, last))
        figures["equal"] = eager.digests[:calls] == fast.digests[:calls]
    return figures


def first_calls(times):
    """The number of calls after which the first ratio is taken."""
    if statistics.median(times) >= SLOW:
        return min(FIRST_CALLS, len(times))
    totals = itertools.accumulate(times)
    return next((count for count, total in enumerate(totals, 1) if total >= FIRST_SECONDS), len(times))


def programs(library):
    """The names of the programs of a library, in order: functions whose argument is `compile`. This process may not
    have the library, so it does not import them.
    """
    found = []
    for name in FILES[library]:
        tree = ast.parse((FOLDER / f"{name}.py").read_text())
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        found += [function.name for function in functions if [each.arg for each in function.args.args] == ["compile"]]
    return found


HEAD = ["program", "eager, ms", "first calls", "time over eager", "calls", "time over eager"]
LUCID_HEAD = ["hits", "compiles", "same bits"]


def last_ratio(figures):
    if "error" in figures:
        return "error"
    return f"{figures['ratio']:.2f}" if figures else "-"


def row(library, name, figures):
    measured = "calls" in figures
    cells = [name, *["-"] * 4, last_ratio(figures)]
    if measured:
        cells[1:4] = [number(figures["eager"]), str(figures["first_calls"]), f"{figures['first']:.2f}"]
        cells[4] = str(figures["calls"])
    if library == "lucid" and measured and "hits" in figures:
        share = f"{figures['hits'] / figures['all_calls']:.0%}"
        cells += [share, str(figures["compiles"]), "yes" if figures["equal"] else "NO"]
    elif library == "lucid":
        cells += ["-"] * 3
    return cells


def summary(results):
    """What the table says about the aims."""
    complete = {name: figures for name, figures in results.items() if "error" not in figures}
    lines = [f"Error in {name}: {figures['error']}" for name, figures in results.items() if "error" in figures]
    if complete:
        mean = math.exp(statistics.fmean(math.log(figures["ratio"]) for figures in complete.values()))
        late = [f"{name} {figures['first']:.2f}" for name, figures in complete.items() if figures["first"] > FIRST]
        lines = [
            f"Geometric mean of the second ratios, {len(complete)} programs: {mean:.2f} (aim: {MEAN}).",
            f"First ratio above {FIRST}: {', '.join(late) or 'none'}.",
            *lines,
        ]
    return "\n".join(lines)


def measure(library, arguments):
    """Runs the programs with one library and prints their table, a row at a time."""
    head = HEAD + LUCID_HEAD * (library == "lucid")
    print(f"\n### {library}\n\n" + table(head, []), flush=True)
    own, results = programs(library), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.programs:
            if name not in own:
                continue
            run(library, name, arguments, folder)
            rounds = [run(library, name, arguments, folder) for _ in range(arguments.rounds)]
            rounds.sort(key=lambda figures: figures.get("ratio", math.inf))
            results[name] = rounds[(len(rounds) - 1) // 2]
            results[name]["equal"] = all(figures.get("equal") for figures in rounds)
            print("| " + " | ".join(row(library, name, results[name])) + " |", flush=True)
    print("\n" + summary(results), flush=True)
    if arguments.explain and library == "lucid":
        print(*(f"\n{name}\n{figures.get('explain', '')}" for name, figures in results.items()), sep="\n")
    return results


def main():
    everything = programs("lucid")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", nargs="+", default=everything, choices=everything, metavar="NAME")
    parser.add_argument("--libraries", nargs="+", default=["lucid"], choices=list(FILES))
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument(
        "--rounds", type=int, default=1, help="measure several times; the median of the last ratios counts"
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="eager time after which no calls are made")
    parser.add_argument("--limit", type=float, default=60.0, help="time of a program after which no calls are made")
    parser.add_argument("--explain", action="store_true", help="print what Lucid says about each compiled function")
    for library in FILES:
        parser.add_argument(f"--{library}", default=sys.executable, help=f"a Python that has {library}")
    arguments = parser.parse_args()
    results = {library: measure(library, arguments) for library in arguments.libraries}
    if len(results) > 1:
        rows = [
            [name, *(last_ratio(figures.get(name, {})) for figures in results.values())] for name in arguments.programs
        ]
        print("\n### Time over eager after all calls\n\n" + table(["program", *results], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
