"""Random functions over objects, containers and closures that are reached in several ways, also by arguments.

    python tests/fuzz/aliased_state.py --seed 1 --steps 100000

Few objects, with many names for each: what a call reaches by one name it reads, appends to or stores by another, while
the sizes of its arguments vary and the program changes the objects between calls. heap_fuzzer.py runs the programs,
compiled and eagerly, compares them bit for bit, and shrinks those that differ.
"""

import pathlib
import re
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))

import heap_fuzzer

HEAD = """
import collections, dataclasses, functools, types
from typing import Any, NamedTuple
import lucid

class Box:
    pass

class Slots:
    __slots__ = ("box", "flag", "items", "k", "last", "log", "n", "records", "t")

@dataclasses.dataclass
class Point:
    a: Any

class Pair(NamedTuple):
    a: Any

class Layer(lucid.nn.Module):
    def forward(self, x):
        return x * self.k + len(self.log)

def made(cls, **values):
    new = cls()
    for name, value in values.items():
        setattr(new, name, value)
    return new

def same(value):
    return value

def count(entries):
    return len(entries["h"]) + len(entries["g"])

KEPT = None
log = []
"""

_NUMBERS = ("0.5", "1.0", "2.0", "2.5", "-1.5", "0.25", "-2.0", "3", "0")
_CLASSES = ("Box", "Box", "Box", "types.SimpleNamespace", "Slots", "Layer")

# What the function computes with. Letters stand for ways to reach things: O and P for objects, D and E for dicts that
# hold lists, tensors and numbers, L and J for lists, T for tensors of the state, B and C for tensors that are passed, N
# and M for numbers. K is a new number.
_READS = {
    "O": (
        "O.k",
        "O.t",
        "O.n",
        "len(O.log)",
        "len(O.box['h'])",
        "O.box['k']",
        "count(O.box)",
        "len(O.items)",
        "len(O.records['h'])",
        "(O.last or 0.0)",
        "(2 if O.flag else 1)",
        "(3 if O.n % 3 == 0 else 1)",
        "(3 if O.n < 4 else 1)",
        "(2 if O is P else 1)",
        "(2 if O.t is P.t else 1)",
        "O.k * P.k",
    ),
    "D": (
        "D['k']",
        "D['t']",
        "len(D['h'])",
        "count(D)",
        "sum(len(v) for v in D.values() if type(v) is list)",
        "(2 if D is E else 1)",
    ),
    "L": ("len(L)", "len(L)", "(2 if L else 1)", "(L[0] if L else 2.0)", "(2 if L is J else 1)"),
    "T": ("T", "T.sum()", "T.shape[0]", "(2 if T.sum() > 2 else 1)"),
    "N": ("N", "N * 2", "(N + K)", "(N - M)", "(2 if N > 1 else 3)", "abs(N)", "max(N, 1)", "O.k * N", "D['k'] ** 2"),
    "B": ("B.sum()", "B.mean(0)", "B.shape[0]", "B.size(0)", "len(B)", "B.numel()", "C.shape[0] * B.sum()"),
}
_WRITES = {
    "O": (
        "O.n += 1",
        "O.n -= 2",
        "O.log.append(1.0)",
        "O.log.append(y.sum().item())",
        "O.log.append(y.sum())",
        "O.box['h'].append(1.0)",
        "O.last = y.sum().item()",
        "O.last = None",
        "O.flag = not O.flag",
        "O.flag = True",
        "O.t = O.t * 0.5 + y.sum(0)",
        "O.t = y.sum(0)",
        "O.t, P.t = P.t, O.t",
        "O.t.add_(1)",
    ),
    "D": (
        "D['h'].append(1.0)",
        "D['h'].append(y.sum().item())",
        "D['g'].append(2.0)",
        "D['t'] = D['t'] + 1",
        "D['k'] = K",
    ),
    "L": ("L.append(1.0)", "L.append(y.sum().item())", "L.append(y)", "L.extend([1.0, 2.0])"),
    "T": ("T.mul_(0.5)",),
    "N": ("g1.k = K",),
    "B": ("B.add_(1)",),
}
_BRANCHES = (
    "if y.sum() > K:\n    S\nelse:\n    S",
    "if O.n % 4 == 1:\n    S",
    "if O.flag:\n    S\nelse:\n    S",
    "for _ in range(2):\n    S",
)
_RESULTS = ("y", "y", "y", "(y, O.n)", "y.sum().item()", "(y, O.t)", "{'y': y, 'v': y.sum().item()}", "[y, B]")
_CHANGES = {
    "O": (
        "O.k = K",
        "O.n = 3",
        "O.t = lucid.full((3,), K)",
        "O.t = P.t",
        "O.t = P.t[:]",
        "O.t.mul_(0.5)",
        "O.log = []",
        "O.log.append(5.0)",
        "O.log = L",
        "O.log = D['h']",
        "O.last = 1.5",
        "O.flag = not O.flag",
        "O.box = D",
        "O.items = L",
        "O.records = D",
    ),
    "D": ("D['k'] = K", "D['h'].append(9.0)", "D['t'] = O.t", "D['h'] = L", "D['g'] = D['h']"),
    "L": ("L.append(K)", "L.clear()"),
    "T": ("T.mul_(0.5)",),
    "N": ("O.k = K", "D['k'] = K", "set_n1(K)"),
}

# How something is held: an expression for it, and how the function gets what is held.
_CONTAINERS = (
    ("[$]", "$[0]"),
    ("(1.0, $)", "$[1]"),
    ("{'a': $}", "$['a']"),
    ("[{'a': ($,)}]", "$[0]['a'][0]"),
)
_WAYS = (
    *_CONTAINERS,
    *[("$", "$")] * 3,
    ("Point($)", "$.a"),
    ("Pair($)", "$.a"),
    ("made(Box, a=$)", "$.a"),
    ("types.SimpleNamespace(a=$)", "$.a"),
    ("collections.OrderedDict(a=$)", "$['a']"),
    ("(lambda kept: lambda: kept)($)", "$()"),
    ("functools.partial(same, $)", "$()"),
)


class Theme(NamedTuple):
    """What a program is about. Each text has a letter for each kind of thing."""

    passed: str
    lines: str
    changed: str
    # How often a line reads, and how often something changes between calls.
    reads: float
    changes: float


_THEMES = {
    # Sizes of tensors that are passed.
    "sizes": Theme("B", "BBBBBBO", "OOODLT", 0.95, 0.1),
    # Lists that are appended to by a name that nothing else uses.
    "lists": Theme("ODLL", "LLDDO", "OOODLT", 0.9, 0.25),
    "numbers": Theme("NNNNOD", "NNNB", "N", 0.97, 0.6),
    "all": Theme("OODLTBBN", "OOODLTB", "OOODLTN", 0.5, 0.25),
}
# Names of lists, and of dicts that hold lists.
_LISTS = ("g4", "g0.log", "g1.log", "g1.items", "g2.items")
_DICTS = ("g3", "g0.box", "g1.box", "g1.records", "g2.records")


class Maker:
    """Makes one program and its steps."""

    def __init__(self, choose):
        self.choose = choose
        self.name = choose.choice(("sizes", "sizes", "lists", "lists", "numbers", "all"))
        self.theme = _THEMES[self.name]
        # By kind, expressions that reach one: outside the function, and in it.
        self.outer = {"O": ["g0", "g1", "g2"], "D": list(_DICTS), "L": list(_LISTS), "T": ["g0.t"], "N": ["g0.k"]}
        self.inner = {kind: list(paths) for kind, paths in self.outer.items()}
        self.inner["N"].append("n1")
        self.inner["B"] = []
        # How the function appends to a list, and the name that nothing else uses.
        self.path = choose.choice((*_LISTS, *_DICTS))
        self.append = self.path if self.path in _LISTS else f"{self.path}['h']"
        # Other ways by which it reaches this list.
        self.also = []
        self.unread = self.path.rpartition(".")[2] if self.name == "lists" else None

    def pick(self, options):
        return self.choose.choice(tuple(options))

    def chance(self, probability):
        return self.choose.random() < probability

    def program(self):
        heap = [self._object() for _ in range(3)]
        lines = [f"g{number} = {text}" for number, text in enumerate(heap)]
        lines += [f"g3 = {self._box()}", "g4 = []"]
        for kind, chance in (("L", 0.1), ("D", 0.3), ("T", 0.2)):
            paths = [*self.outer[kind], "g1.t", "g2.t"] if kind == "T" else self.outer[kind]
            lines += [f"{path} = {self._alias(kind, path)}" for path in paths if self.chance(chance)]
        cells = [f"n0 = {self._held()}", f"n1 = {self.pick(_NUMBERS)}"]
        self.way = self.pick(_CONTAINERS if self.name == "sizes" and self.chance(0.8) else _WAYS)
        self.batch = "x" if self.way[1] == "$" else self.way[1].replace("$", "x")
        self.inner["B"].append(self.batch)
        self.passed = [self._passed(name) for name in ("d0", "k0")]
        defaults = [f"d0 = {self.passed[0][1]}", f"k0 = {self.passed[1][1]}"]
        program = heap_fuzzer.Program(lines, cells, defaults, self._body(), "", "target = function")
        program.result = "y" if self.name != "all" and self.chance(0.8) else self._line({0: _RESULTS}, [0])
        program.head, program.shared, program.length = HEAD, (), 12
        program.verify = self.chance(0.5)
        return program

    def _object(self):
        numbers = f"n={self.pick((0, 1, 5))}, k={self.pick(_NUMBERS)}, flag={self.chance(0.5)}, last=None"
        parts = (
            f"t=lucid.full((3,), {self.pick((0.5, 1.0))}), log=[], items=[], box={self._box()}, records={self._box()}"
        )
        return f"made({self.pick(_CLASSES)}, {numbers}, {parts})"

    def _box(self):
        return f"{{'h': [], 'g': [1.0], 't': lucid.ones(3), 'k': {self.pick(_NUMBERS)}}}"

    def _alias(self, kind, inner):
        """A path outside the function to something that the function reaches by the path `inner`, too."""
        paths = [*self.outer[kind], *(f"{path}['h']" for path in _DICTS)] if kind == "L" else self.outer[kind]
        if self.path not in paths or self.chance(0.4):
            return self.pick(paths)
        self.also.append(inner if self.path in _LISTS else f"{inner}['h']")
        return self.path

    def _held(self):
        """What a variable of the closure holds."""
        kind = self.pick("OODDLTN")
        hold, held = self.pick(_WAYS)
        inner = held.replace("$", "n0")
        self.inner[kind].append(inner)
        return hold.replace("$", self._alias(kind, inner))

    def _passed(self, name):
        """For an argument: the kind of what it holds, an expression for the default, and how it holds it."""
        kind = self.pick(self.theme.passed)
        hold, held = ("$", "$") if kind == "N" and self.chance(0.5) else self.pick(_WAYS)
        inner = held.replace("$", name)
        if kind == "B":
            # The batch, or what holds it.
            is_whole = self.chance(0.7)
            self.inner["B"].append(self.way[1].replace("$", inner) if is_whole else inner)
            return kind, "None", hold, "x" if is_whole else self.batch
        self.inner[kind].append(inner)
        # The default is another one: the state would hold it.
        default = {"O": self._object(), "D": self._box(), "L": "[1.0]", "T": "lucid.ones(3)", "N": "1.5"}[kind]
        path = "K" if kind == "N" and self.chance(0.7) else self._alias(kind, inner)
        return kind, hold.replace("$", default), hold, path

    def _filled(self, line, all_paths=None):
        """A line about the things that the function reaches, or about others."""

        def fill(match):
            letter = match[0]
            if letter == "K":
                return self.pick(_NUMBERS)
            kind = {"P": "O", "E": "D", "J": "L", "M": "N", "C": "B"}.get(letter, letter)
            paths = (all_paths or self.inner)[kind]
            # Those that are passed, or in the closure, come last.
            return paths[-1] if self.chance(0.3) else self.pick(paths)

        return re.sub(r"\b[OPDELJTBCNMK]\b", fill, line)

    def _line(self, lines, kinds):
        """A line that does not use the name that is not read."""
        while True:
            line = self._filled(self.pick(lines[self.pick(kinds)]))
            if self.unread is None or not re.search(rf"\b{self.unread}\b", line):
                return line

    def _statement(self, depth=0):
        kinds, chance = self.theme.lines, self.choose.random()
        if chance < self.theme.reads:
            return f"y = y {self.pick('*+-')} {self._line(_READS, kinds)}"
        if chance < max(0.95, self.theme.reads) or depth > 0:
            return self._line(_WRITES, kinds)
        line = self._line({0: _BRANCHES}, [0])
        return re.sub(r"\bS\b", lambda _: self._statement(1).replace("\n", "\n    "), line)

    def _body(self):
        lines = [f"y = {self.pick(self.inner['B'][:1])} * 2.0"]
        lines += [self._statement() for _ in range(self.pick((1, 2, 2, 3, 4)))]
        if self.name == "lists":
            item = self.pick(("1.0", "1.0", "y.sum().item()", "y"))
            lines.insert(self.pick((1, len(lines))), f"{self.append}.append({item})")
            others = [path for path in self.also if not re.search(rf"\b{self.unread}\b", path)]
            if others:
                lines.append(f"y = y * len({self.pick(others)})")
        return lines

    def step(self, world):
        """The changes before a call, and the call."""
        changes = []
        while self.chance(self.theme.changes):
            lines = _CHANGES[self.pick(self.theme.changed)]
            line = self.pick(lines if self.chance(0.8) else ("g0, g1 = g1, g0", "g3 = D", "g4 = L", "set_n1(K)"))
            changes.append(self._filled(line, self.outer))
        # Functions with effects have a plan for each size.
        size = 2 if self.name != "sizes" and self.chance(0.9) else self.choose.randint(2, 6)
        tensor = f"lucid.full(({size}, 3), {self.pick(('0.5', '1.0', '-2.0'))})"
        call = f"x = {self.way[0].replace('$', tensor)}\nresult = call(x"
        for name, (kind, _, hold, path) in zip(("", "k0="), self.passed):
            if kind != "B" and self.chance(0.1):
                path = self.pick(self.outer[kind])
            elif self.chance(0.05):
                continue
            elif kind == "B" and self.chance(0.1):
                path = self.way[0].replace("$", tensor) if path == "x" else tensor
            call += f", {name}{hold.replace('$', self._filled(path))}"
        return changes, f"{call})"


def aliased(choose):
    """A program, and what makes its next step."""
    maker = Maker(choose)
    return maker.program(), maker.step


if __name__ == "__main__":
    heap_fuzzer.main(aliased, __doc__)
