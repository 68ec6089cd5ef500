"""Random heaps in two worlds, one eager and one compiled, which must stay the same.

    python tests/python/heap_fuzzer.py --seed 1 --steps 200000

A program is text: statements that build a heap, the lines of a function that reads random places of it in random ways,
and steps. A step changes random places of the heap and calls the function. After each step the result or the exception,
the heap and the random generator must be equal in both worlds. A program that differs is shrunk and printed.
"""

import argparse
import decimal
import functools
import gc
import random
import sys
import time
import traceback
import warnings
from dataclasses import dataclass, field, replace

import lucid
from heap_changes import change_of
from heap_observer import Contents, Observer, text_of
from heap_reads import read_of, write_of
from heap_world import HEAD
from heap_writer import CLASSES, Place, Writer

# Most calls have the same shape. Another size of the same rank is recorded without another walk.
_SHAPES = ("[1.0, 2.0, 3.0]",) * 10 + ("[2.0]", "[0.5]", "[[1.0, 2.0, 3.0], [0.5, 4.0, 1.0]]", "[[2.0, 1.0, 0.5]]")

_ROOTS = ("g0", "g1", "g2", "g3", "g4")
# Variables of the closure, and defaults; while the function is written they are globals.
_CELLS = ("n0", "n1")
_DEFAULTS = ("d0", "k0")

_TARGETS = (
    "target = function",
    "target = function",
    "target = function",
    "class Runner:\n    def run(self, *args, **named):\n        return function(*args, **named)\ntarget = Runner().run",
    "class Runner:\n    def __call__(self, *args):\n        return function(*args)\ntarget = Runner()",
    "class Runner(nn.Module):\n    def forward(self, *args):\n        return function(*args)\ntarget = Runner()",
    "target = functools.partial(function, k0=g0)",
    "Box.run = lambda self, *args, **kwargs: function(*args, **kwargs)\ntarget = Box(a=1.0).run",
)


@dataclass
class Program:
    """A program of the fuzzer."""

    globals: list[str]
    cells: list[str]
    defaults: list[str]
    body: list[str]
    result: str
    target: str
    # What most calls pass besides a tensor: each time a new object.
    argument: str = ""
    # The places that the lines read.
    read: set[str] = field(default_factory=set)
    # Each is the changes before a call, and the call.
    steps: list[tuple[list[str], str]] = field(default_factory=list)
    # Runs first in each world. The classes and functions in it that are compared now and then.
    head: str = HEAD
    shared: tuple[str, ...] = ("shared", "function", "add", *CLASSES)
    # Whether the function checks the results of plans.
    verify: bool = False
    length: int = 40

    def heap(self):
        """The statements that build the heap, all variables being globals."""
        return "\n".join([*self.globals, *self.cells, *self.defaults])

    def source(self):
        """The statements that build the heap and the function."""
        names = [text.partition(" ")[0] for text in self.cells]
        lines = [*self.globals, "def build():"]
        lines += [f"    {text}" for text in self.cells]
        default = [text.replace(" = ", "=", 1) for text in self.defaults]
        lines.append(f"    def function(x, {default[0]}, *, {default[1]}):")
        lines.append("        kept, notes = None, []")
        lines += ["        " + line.replace("\n", "\n        ") for line in self.body]
        lines.append(f"        return {self.result}")
        for name in names:
            lines.append(f"    def get_{name}():\n        return {name}")
            lines.append(f"    def set_{name}(value):\n        nonlocal {name}\n        {name} = value")
        made = ", ".join(["function", *(f"{verb}_{name}" for name in names for verb in ("get", "set"))])
        return "\n".join([*lines, f"    return {made}", f"{made} = build()", self.target, ""])

    def text(self):
        """The whole program, to be read."""
        lines = [self.source(), f"call = lucid.compile(target, wait=True, verify={int(self.verify)})"]
        for changes, call in self.steps:
            lines += [*changes, call, "print(result)"]
        return "\n".join(lines)


@functools.lru_cache(maxsize=256)
def _code(text):
    return compile(text, "<step>", "exec")


class World:
    """One run of a program."""

    def __init__(self, program, compiled):
        # Calls wait for their plans, so that plans run.
        jit = functools.partial(lucid.compile, wait=True, verify=int(program.verify))
        self.shared = program.shared
        self.entries = {"__name__": "world", "jit": jit if compiled else lambda function: function}
        exec(_code(program.head), self.entries)
        lucid.manual_seed(1)
        exec(compile(program.source(), "<program>", "exec"), self.entries)
        target = self.entries["target"]
        self.entries["call"] = jit(target) if compiled else target
        self.compiled = self.entries["call"] if compiled else None

    @property
    def hits(self):
        return self.compiled.cache_info().hits if self.compiled is not None else 0

    def execute(self, text):
        """Runs a statement; returns an exception as text."""
        try:
            exec(_code(text), self.entries)
        except Exception as error:
            return text_of(error)
        return None

    def step(self, changes, call, number):
        """Runs a step and returns what can be seen of it."""
        lucid.manual_seed(number)
        seen = [self.execute(change) for change in changes]
        lucid.manual_seed(number)
        self.entries["result"] = self.entries["x"] = None
        seen.append(self.execute(call))
        observer = Observer()
        # Classes and functions are compared now and then: their differences stay.
        shared = self.shared if number % 4 == 3 else ()
        for name in (*_ROOTS, "result", "x", "log", "KEPT", *shared):
            seen.append((name, observer.observe(self.entries.get(name, "missing"))))
        seen.append((lucid.is_grad_enabled(), str(lucid.get_default_dtype()), Contents(lucid.get_rng_state())))
        lucid.set_grad_enabled(True)
        lucid.set_default_dtype(lucid.float32)
        decimal.getcontext().prec = 28
        if "tag" in vars(lucid.Tensor):
            del lucid.Tensor.tag
        return seen

    def roots(self):
        """The places from which changes begin."""
        entries = self.entries
        found = [Place(name, name, entries[name], f"{name} = $", f"del {name}") for name in _ROOTS if name in entries]
        for name in _CELLS:
            if f"get_{name}" in entries:
                found.append(Place(f"get_{name}()", name, entries[f"get_{name}"](), f"set_{name}($)"))
        function = entries["function"]
        if function.__defaults__:
            found.append(
                Place("function.__defaults__[0]", "d0", function.__defaults__[0], "function.__defaults__ = ($,)")
            )
        if function.__kwdefaults__ and "k0" in function.__kwdefaults__:
            outer = "function.__kwdefaults__['k0']"
            found.append(Place(outer, "k0", function.__kwdefaults__["k0"], f"{outer} = $"))
        return found + _shared_places(entries)


def _shared_places(entries):
    """Classes, functions and modules."""
    names = (*CLASSES, "shared", "add")
    return [Place(name, name, entries[name], None) for name in names if name in entries]


def new_program(choose, writer):
    """A program without steps."""
    program = Program([], [], [], ["pass"], "x, notes", "target = function")
    heap_size = choose.randint(2, len(_ROOTS))
    for kind, names in (("globals", _ROOTS), ("cells", _CELLS), ("defaults", _DEFAULTS)):
        for number, name in enumerate(names):
            earlier = _ROOTS[:number] if kind == "globals" else _ROOTS
            depth = choose.choice((1, 2, 2, 3)) if number < heap_size else 0
            getattr(program, kind).append(f"{name} = {writer.value(depth, earlier)}")
    entries = {"__name__": "world", "jit": lambda function: function}
    exec(_code(HEAD), entries)
    exec(program.heap(), entries)
    names = (*_ROOTS, *_CELLS, *_DEFAULTS)
    # Classes are read less often than variables.
    roots = [Place(name, name, entries[name], None) for name in names] + _shared_places(entries)
    places = writer.places(roots[: len(names)]) + choose.sample(roots[len(names) :], 3)
    program.body = []
    writes = choose.random() < 0.3
    for _ in range(choose.randint(1, 7)):
        place, other = choose.choice(places), choose.choice(places)
        program.read.add(place.inner)
        line = (write_of if writes and choose.random() < 0.3 else read_of)(writer, place, other)
        if choose.random() < 0.92:
            indented = line.replace("\n", "\n    ")
            line = f"try:\n    {indented}\nexcept Exception as error:\n    notes.append(type(error).__name__)"
        program.body.append(line)
    program.result = choose.choice(
        ("x, notes", "x, notes", "x, notes, kept", "(x * 2.0).sum(), notes", "[x, x, kept], notes")
    )
    program.target = choose.choice(_TARGETS)
    if choose.random() < 0.3:
        program.argument = f", {writer.value(choose.choice((1, 1, 2)), ())}"
    return program


def _new_call(choose, writer, program, paths):
    shape = choose.choice(_SHAPES)
    gradient = choose.random() < 0.2
    tensor = f"lucid.tensor({shape}, requires_grad=True)" if gradient else f"lucid.tensor({shape})"
    argument = ""
    if program.argument and choose.random() < 0.85:
        argument = program.argument
    elif choose.random() < 0.1:
        argument = f", {writer.value(2, paths)}"
    elif choose.random() < 0.05:
        argument = f", k0={writer.value(1, paths)}"
    call = f"result = call(x{argument})"
    if choose.random() < 0.05:
        return f"x = {tensor}\nwith lucid.no_grad():\n    {call}"
    backward = "\nbackward(result)" if gradient else ""
    return f"x = {tensor}\n{call}{backward}"


def new_step(choose, writer, program, world):
    """A random step for the world as it is."""
    changes = []
    if choose.random() < 0.3:
        roots = world.roots()
        variables, shared = roots[: -len(_shared_places(world.entries))], _shared_places(world.entries)
        places = writer.places(variables) + shared
        paths = [place.outer for place in places]
        read = [place for place in places if place.inner in program.read] or places
        for _ in range(choose.choice((1, 1, 1, 2, 3))):
            place = choose.choice(read if choose.random() < 0.7 else places)
            changes.append(change_of(writer, place, choose.choice(places), paths))
    else:
        paths = []
    return changes, _new_call(choose, writer, program, paths)


def differs(program):
    """Whether the worlds of a program differ. Runs it from the start."""
    try:
        eager, compiled = World(program, False), World(program, True)
    except Exception:
        return False
    for number, (changes, call) in enumerate(program.steps):
        if eager.step(changes, call, number) != compiled.step(changes, call, number):
            return True
    return False


def shrunk(program, tries=400):
    """A smaller program that still differs, if that can be found."""

    def attempt(smaller):
        nonlocal program, tries
        tries -= 1
        if tries > 0 and differs(smaller):
            program = smaller
            return True
        return False

    def drop(name):
        size = max(1, len(getattr(program, name)) // 2)
        while size and tries > 0:
            at = 0
            while at < len(getattr(program, name)):
                items = getattr(program, name)
                if not attempt(replace(program, **{name: items[:at] + items[at + size :]})):
                    at += size
            size //= 2

    drop("steps")
    drop("body")
    for at in range(len(program.steps)):
        changes, call = program.steps[at]
        for number in reversed(range(len(changes))):
            fewer = program.steps[at][0][:number] + program.steps[at][0][number + 1 :]
            attempt(replace(program, steps=[*program.steps[:at], (fewer, call), *program.steps[at + 1 :]]))
    attempt(replace(program, target="target = function"))
    attempt(replace(program, result="x, notes"))
    drop("steps")
    drop("globals")
    for kind in ("globals", "cells", "defaults"):
        for at, text in enumerate(getattr(program, kind)):
            items = list(getattr(program, kind))
            items[at] = f"{text.partition(' ')[0]} = 1.0"
            attempt(replace(program, **{kind: items}))
    return program


def first_difference(before, after, path=()):
    """The first part in which two descriptions differ."""
    if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
        for name in before:
            if before[name] != after[name]:
                return first_difference(before[name], after[name], (*path, name))
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)) and len(before) == len(after):
        for number, (a, b) in enumerate(zip(before, after)):
            if a != b:
                return first_difference(a, b, (*path, number))
    return f"{path}: {str(before)[:300]} / {str(after)[:300]}"


@dataclass
class Outcome:
    steps: int = 0
    hits: int = 0
    raised: int = 0
    programs: int = 0
    failures: list[str] = field(default_factory=list)


def heaps(choose):
    """A program about any objects, and what makes its next step for the world as it is."""
    writer = Writer(choose, reflects=choose.random() < 0.3)
    program = new_program(choose, writer)
    return program, lambda world: new_step(choose, writer, program, world)


def run(seed, steps, make=heaps, shrink=True):
    """Runs programs, starting with a seed, until `steps` steps have run."""
    outcome = Outcome()
    while outcome.steps < steps:
        _run_program(seed, outcome, make, shrink)
        seed += 1
    return outcome


def _run_program(seed, outcome, make, shrink):
    program, next_step = make(random.Random(seed))
    eager, compiled = World(program, False), World(program, True)
    outcome.programs += 1
    for number in range(program.length):
        changes, call = next_step(eager)
        program.steps.append((changes, call))
        before = eager.step(changes, call, number)
        after = compiled.step(changes, call, number)
        outcome.steps += 1
        outcome.raised += before[len(changes)] is not None
        if before != after:
            where = first_difference(before, after)
            smaller = shrunk(program) if shrink else program
            outcome.failures.append(f"seed {seed}, step {number}, {where}\n{smaller.text()}")
            break
    outcome.hits += compiled.hits


def main(make=heaps, description=__doc__):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=10_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    outcome = Outcome()
    start = time.monotonic()
    seed = arguments.seed
    while outcome.steps < arguments.steps:
        known = len(outcome.failures)
        try:
            _run_program(seed, outcome, make, shrink=True)
        except Exception:
            print(f"----- error of the fuzzer: seed {seed}\n{traceback.format_exc()}", flush=True)
        seed += 1
        for failure in outcome.failures[known:]:
            print(f"----- different: {failure}", flush=True)
        if outcome.programs % 100 == 0:
            gc.collect()
            print(summary(outcome, start), flush=True)
    print(summary(outcome, start))
    sys.exit(bool(outcome.failures))


def summary(outcome, start):
    """One line about a run."""
    return (
        f"{outcome.programs} programs, {outcome.steps} steps, "
        f"{outcome.hits} hits ({outcome.hits / outcome.steps:.0%}), {outcome.raised} raised, "
        f"{len(outcome.failures)} different, {time.monotonic() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
