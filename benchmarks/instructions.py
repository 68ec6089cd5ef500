"""Counts instructions per call with callgrind, for differences that timing cannot show on a busy machine.

    python benchmarks/instructions.py                  all cases
    python benchmarks/instructions.py add add_compiled
    python benchmarks/instructions.py --check          fails if a call needs more than instructions.json says
    python benchmarks/instructions.py --write          writes instructions.json, after a change that is worth its cost

Each case runs in two processes, with few and with more calls; the difference is the cost of the calls. Python's hash
seed is fixed and there is one thread, so counts repeat within a few parts in a thousand.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

FEW, MORE = 200, 1200
KNOWN = pathlib.Path(__file__).with_suffix(".json")
# By how much a call may grow unnoticed.
TOLERANCE = 0.03


def add() -> Callable[[], Any]:
    import lucid

    x = lucid.ones(4)
    return lambda: x + 1


def add_compiled() -> Callable[[], Any]:
    import lucid

    x = lucid.ones(4)
    f = lucid.compile(lambda x: x + 1, wait=True)
    return lambda: f(x)


def lenet_forward() -> Callable[[], Any]:
    import lucid

    net = lucid.models.lenet_5().eval()
    forward = lucid.compile(net, wait=True)
    x = lucid.zeros(1, 1, 32, 32)

    def call() -> Any:
        with lucid.no_grad():
            return forward(x)

    return call


def mlp_step() -> Callable[[], Any]:
    import lucid
    from lucid import nn

    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = lucid.optim.Adam(net.parameters())
    x, y = lucid.ones(2, 8), lucid.zeros(2, dtype=lucid.int64)

    @lucid.compile(wait=True)
    def step(x: Any, y: Any) -> Any:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return lambda: step(x, y)


def guards() -> Callable[[], Any]:
    import capture

    return capture.Step().check


CASES: dict[str, tuple[str, Callable[[], Callable[[], Any]]]] = {
    "add": ("x + 1, eager", add),
    "add_compiled": ("x + 1, compiled", add_compiled),
    "lenet_forward": ("LeNet-5 forward, batch 1, compiled", lenet_forward),
    "guards": ("guards of a step over 59 modules", guards),
    "mlp_step": ("MLP training step with Adam, compiled", mlp_step),
}


def run(case: str, calls: int) -> None:
    import lucid

    call = CASES[case][1]()
    for _ in range(3):
        call()
    lucid.compiler.wait()
    for _ in range(calls):
        call()


def count(case: str, calls: int, environment: dict[str, str]) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, __file__]
    process = subprocess.run(
        [*command, "--run", case, str(calls)], env=environment, capture_output=True, text=True, check=False
    )
    found = re.search(r"Collected : (\d+)", process.stderr)
    if process.returncode != 0 or found is None:
        sys.exit(f"{case} failed:\n{process.stderr[-2000:]}")
    return int(found.group(1))


def count_calls(case: str, environment: dict[str, str]) -> int:
    # Fill the cache first, so that neither run compiles.
    subprocess.run([sys.executable, __file__, "--run", case, "1"], env=environment, check=True)
    return round((count(case, MORE, environment) - count(case, FEW, environment)) / (MORE - FEW))


def count_all(cases: Iterable[str]) -> Iterator[tuple[str, int]]:
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        # Valgrind does not support AVX-512.
        settings = {"LUCID_NUM_THREADS": "1", "LUCID_TARGET": "avx2", "LUCID_CACHE_DIR": cache, "PYTHONHASHSEED": "0"}
        environment = {**os.environ, **settings}
        yield from zip(cases, pool.map(lambda case: count_calls(case, environment), cases))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--check", action="store_true", help=f"fail if a call grew by more than {TOLERANCE:.0%}")
    parser.add_argument("--write", action="store_true", help=f"write {KNOWN.name}")
    parser.add_argument("--run", nargs=2, metavar=("CASE", "CALLS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run(arguments.run[0], int(arguments.run[1]))
        return
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"unknown case {', '.join(sorted(unknown))}; expected one of {', '.join(CASES)}")
    known = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    grown = []
    for case, counted in count_all(arguments.cases or CASES):
        change = counted / known[case] - 1 if case in known else 0.0
        print(f"{CASES[case][0]:40} {counted:10,} instructions ({change:+.1%})", flush=True)
        if case not in known or change > TOLERANCE:
            grown.append(case)
        if arguments.write:
            known[case] = counted
    if arguments.write:
        KNOWN.write_text(json.dumps(known, indent=2) + "\n")
    elif arguments.check and grown:
        sys.exit(f"more than {TOLERANCE:.0%} above {KNOWN.name}, or not in it: {', '.join(grown)}")


if __name__ == "__main__":
    main()
