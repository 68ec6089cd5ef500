#!/usr/bin/env python3
"""Fuzz test of the compiler: random programs, each run eagerly and compiled, on the same four sets of values.

    python tests/python/compile_programs.py --count 20000 --seed 0

With `--device gpu`, compiled programs run on a gpu and are compared with eager ones on the CPU.

Results, gradients, arguments, state, random numbers, exceptions, memory sharing and what is printed must be the same,
bit for bit. A program that differs is shrunk and printed. The programs run in child processes, which write the current
seed to a file, so that a crash or a hang is reported with its seed; `--seed N --count 1` repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import functools
import io
import json
import math
import os
import re
import signal
import statistics
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import CodeType
from typing import Any

import lucid
import program_draft
import seeded_children
from program_writer import Writer
from random_program import Kept, Numbers, Program, Reports, given
from same import bits, history, tensors_in

SECONDS = 120  # time limit of a program
REPLAYS = 3  # hits of a plan for a program to count as compiled
INTERNAL_ERROR = "cannot be compiled, internal error"  # part of explain() if compiling failed


class ResultLog:
    """Wraps a function and stores the results of its calls."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.results: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.function(*args, **kwargs)
        self.results.append((args, kwargs, result))
        return result


def observe(code: CodeType, wrap: Callable[[Any], Any], device: str = "cpu") -> tuple[list[Any], Any]:
    """Runs a program on a device. Returns everything observable about it, and its function."""
    lucid.set_default_device(device)
    try:
        return observe_on_default_device(code, wrap)
    finally:
        lucid.set_default_device("cpu")


def observe_on_default_device(code: CodeType, wrap: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    space: dict[str, Any] = {"lucid": lucid, "nn": lucid.nn, "F": lucid.nn.functional, "math": math, "given": given}
    space |= {"Kept": Kept, "Numbers": Numbers, "Reports": Reports}
    exec(code, space)
    states: list[Any] = []

    def world() -> Any:
        function, calls, state = space["make"]()
        states.append(state)
        return function, calls, state

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        seen, kept = history(world, lambda function: ResultLog(wrap(function)), backward=True)
    seen.append(printed.getvalue())
    # Writing a different number to each tensor reveals which ones share memory.
    everything = [*tensors_in([state() for state in states]), *tensors_in([list(call) for call in kept.results])]
    seen.append([(tensor.is_leaf, tensor.grad_fn is None) for tensor in everything])
    with lucid.no_grad():
        for number, tensor in enumerate(everything[-6:], 2):
            try:
                if tensor.dtype == lucid.bool:
                    tensor.logical_not_()
                else:
                    tensor.fill_(number)
            except Exception as error:
                seen.append((type(error), str(error)))
    seen.append([bits(tensor) for tensor in everything])
    return seen, kept.function


def without_device(seen: Any) -> Any:
    """An observation in which the types in messages do not name a gpu."""
    if isinstance(seen, str):
        return re.sub(r"@gpu:\d+|, device='gpu:\d+'", "", seen)
    return tuple(map(without_device, seen)) if type(seen) is tuple else seen


def differs(program: Program, device: str = "cpu") -> tuple[str | None, Any]:
    """The first difference between eager, on the CPU, and compiled, or None, and the compiled function."""
    code = compile(program.source(), "<program>", "exec")
    expected, _ = observe(code, lambda function: function)
    found, compiled = observe(code, functools.partial(lucid.compile, wait=True), device)
    if device != "cpu":
        found = [without_device(seen) for seen in found]
    if len(found) != len(expected):
        return f"{len(found)} observations instead of {len(expected)}", compiled
    for step, (a, b) in enumerate(zip(found, expected)):
        if a != b:
            return f"step {step} of {len(found)}: compiled\n  {str(a)[:600]}\neagerly\n  {str(b)[:600]}", compiled
    if INTERNAL_ERROR in compiled.explain():
        return compiled.explain(), compiled
    return None, compiled


def fails(program: Program, device: str) -> bool:
    try:
        return differs(program, device)[0] is not None
    except lucid.InternalError:
        return True


def shrink(program: Program, device: str) -> Program:
    """Shrinks a program as long as it still differs."""
    changed = True
    while changed:
        changed = False
        for smaller in simpler(program):
            if fails(smaller, device):
                program, changed = smaller, True
                break
    return program


def without(program: Program, index: int) -> Program | None:
    """The program without a statement and those that depend on it."""
    gone = {program.statements[index].defines} - {None}
    statements = []
    for i, statement in enumerate(program.statements):
        if i == index or statement.reads & gone:
            if statement.defines:
                gone.add(statement.defines)
        else:
            statements.append(statement)
    results = tuple(name for name in program.results if name not in gone)
    if not results:
        left = [s.defines for s in statements if s.defines] or [i.name for i in program.inputs]
        results = tuple(left[-1:])
    return replace(program, statements=tuple(statements), results=results).trimmed() if results else None


def simpler(program: Program) -> Any:
    for index in reversed(range(len(program.statements))):
        smaller = without(program, index)
        if smaller is not None:
            yield smaller
    for name in program.results:
        if len(program.results) > 1:
            left = tuple(other for other in program.results if other != name)
            yield replace(program, results=left, structure="tuple").trimmed()
    if program.structure != "one" and len(program.results) == 1:
        yield replace(program, structure="one")
    for number, made in enumerate(program.inputs):
        for change in (
            {"way": "plain"},
            {"grad": False},
            {"tensor": {k: v for k, v in made.tensor.items() if k != "strides"}},
        ):
            changed = replace(made, **change)
            if changed != made:
                yield replace(program, inputs=(*program.inputs[:number], changed, *program.inputs[number + 1 :]))
    for number, statement in enumerate(program.statements):
        if statement.without_grad:
            changed_statement = replace(statement, without_grad=False)
            rest = program.statements[number + 1 :]
            yield replace(program, statements=(*program.statements[:number], changed_statement, *rest))


def run_range(
    first: int, last: int, progress: str, give_up_shrinking: bool = False, device: str = "cpu"
) -> dict[str, Any]:
    """Runs the programs of these seeds and writes the current seed to the file `progress`."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    total = Totals()
    with open(progress, "r+b", buffering=0) as place:
        for seed in range(first, last):
            place.seek(0)
            place.write(b"%20d" % seed)
            signal.alarm(SECONDS)
            program = Writer(seed).write()
            try:
                difference, compiled = differs(program, device)
            except lucid.InternalError as error:
                difference, compiled = f"internal error: {error}", None
            if difference is not None:
                if not give_up_shrinking:
                    signal.alarm(5 * SECONDS)
                    program = shrink(program, device)
                    try:
                        difference = differs(program, device)[0]
                    except lucid.InternalError as error:
                        difference = f"internal error: {error}"
                return {**total.figures(), "failure": f"seed {seed}:\n{program.source()}\n{difference}"}
            total.count(program, compiled)
    signal.alarm(0)
    return total.figures()


def reason_of(compiled: Any) -> str | None:
    """Why a program runs eagerly. None if it raises at every call, or in all but the first."""
    notes = [note for note in compiled.explain().splitlines() if "eagerly:" in note]
    if not notes:
        return None
    return notes[0].partition("eagerly: ")[2].partition(": ")[2] or notes[0]


class Totals:
    """Statistics of programs: use of the entries of the op table, sizes of graphs, reasons for running eagerly."""

    def __init__(self) -> None:
        self.replayed = 0
        self.raising = 0
        self.backward = 0  # replayed programs whose backward ran plans
        # Programs with a size that varies, which may raise for other sizes, and those of them that ran plans for sizes
        # that were not recorded. The other figures leave them out.
        self.varying = 0
        self.sizes = 0
        self.nodes: Counter[int] = Counter()
        self.reasons: Counter[str] = Counter()
        self.entries: Counter[str] = Counter()

    def count(self, program: Program, compiled: Any) -> None:
        self.entries.update({s.entry for s in program.statements if s.entry})
        if any(made.varying for made in program.inputs):
            self.varying += 1
            self.sizes += any(int(count) > 1 for count in re.findall(r"used for (\d+) sizes", compiled.explain()))
            return
        info = compiled.cache_info()
        if info.hits < REPLAYS:
            reason = reason_of(compiled)
            self.raising += reason is None
            if reason is not None:
                self.reasons[reason] += 1
            return
        self.replayed += 1
        self.backward += bool(re.search(r"backward: .* [1-9]\d* runs", compiled.explain()))
        self.nodes[max(map(int, re.findall(r"(\d+) nodes, ", compiled.explain())))] += 1

    def figures(self) -> dict[str, Any]:
        nodes = {str(size): count for size, count in self.nodes.items()}
        return {
            "replayed": self.replayed,
            "raising": self.raising,
            "backward": self.backward,
            "varying": self.varying,
            "sizes": self.sizes,
            "nodes": nodes,
            "reasons": self.reasons,
            "entries": self.entries,
        }

    def add(self, part: dict[str, Any]) -> None:
        self.replayed += part["replayed"]
        self.raising += part["raising"]
        self.backward += part["backward"]
        self.varying += part["varying"]
        self.sizes += part["sizes"]
        self.nodes.update({int(size): count for size, count in part["nodes"].items()})
        self.reasons.update(part["reasons"])
        self.entries.update(part["entries"])

    @property
    def programs(self) -> int:
        return self.fixed + self.varying + self.raising

    @property
    def fixed(self) -> int:
        """The programs that return, and in which no size varies."""
        return self.replayed + self.reasons.total()

    def rarest(self) -> list[tuple[int, str]]:
        """The number of programs with each entry of the op table, rarest first."""
        return sorted((self.entries[op["name"]], op["name"]) for op in program_draft.table())

    def report(self) -> str:
        lines = [f"{self.programs} programs match eager"]
        lines += [
            f"a size varies in {self.varying}, of which {self.sizes} ran plans for sizes that were not recorded",
            f"{self.raising} raise at every call, or in all but the first",
            f"{self.replayed / max(self.fixed, 1):.1%} of the others were replayed {REPLAYS} times on new values",
            "the rest:",
        ]
        lines += [f"{count:9} {reason}" for reason, count in self.reasons.most_common(30)]
        lines += [f"{self.backward} ran backward plans"]
        if self.nodes:
            median = statistics.median_low(self.nodes.elements())
            lines += [f"{median} nodes in the median graph, {max(self.nodes)} in the largest"]
        lines += ["programs with each entry of the op table, rarest first:"]
        return "\n".join(lines) + "\n" + textwrap.fill(", ".join(f"{name} {n}" for n, name in self.rarest()), 120)


def run_programs(first: int, last: int) -> tuple[int, Totals]:
    """Runs the programs of these seeds in child processes on all cores. Returns the number of failures, and figures."""
    jobs, count = os.cpu_count() or 1, last - first
    batch = min(200, -(-count // jobs))
    options = argparse.Namespace(seed=first, count=count, batch=batch, jobs=jobs, failures=3)
    total = Totals()
    return seeded_children.run_batches(__file__, options, total.add), total


def main() -> int:
    parser = seeded_children.options_of(__doc__, count=500, batch=1000, cases="programs")
    parser.add_argument("--no-shrink", action="store_true", help="print differing programs without shrinking")
    parser.add_argument("--device", default="cpu", help="where compiled programs run")
    parser.add_argument("--into", metavar="FILE", help="add the figures to this file, for a run in several parts")
    parser.add_argument(
        "--min-programs", type=int, default=0, help="fail if an entry of the op table is in fewer programs"
    )
    parser.add_argument("--print", action="store_true", help="print the programs instead of running them")
    options = parser.parse_args()
    last = options.seed + options.count
    if options.print:
        for seed in range(options.seed, last):
            print(f"# {seed}\n{Writer(seed).write().source()}")
        return 0
    if options.child:
        print(json.dumps(run_range(options.seed, last, options.child, options.no_shrink, options.device)))
        return 0
    total = Totals()
    if options.into and os.path.exists(options.into):
        with open(options.into) as file:
            total.add(json.load(file))
    extra = [f"--device={options.device}", *(["--no-shrink"] if options.no_shrink else [])]
    failures = seeded_children.run_batches(__file__, options, total.add, extra)
    print(f"{total.report()}\n{failures} failures")
    if options.into:
        with open(options.into, "w") as file:
            json.dump(total.figures(), file)
    rare = [name for count, name in total.rarest() if count < options.min_programs]
    if rare:
        print(f"in fewer than {options.min_programs} programs: {' '.join(rare)}")
    return 1 if failures or rare else 0


if __name__ == "__main__":
    sys.exit(main())
