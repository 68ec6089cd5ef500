"""A random program on tensors and its Python source; `program_writer.py` writes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import lucid
import op_samples


@dataclass(frozen=True)
class Input:
    """An input tensor. `way` says how it is passed: plain, items, entries, named or closure. If `varying` is not 0, its
    dimensions of this size have other sizes in later calls.
    """

    name: str
    tensor: dict[str, Any]
    dtype: Any
    number: int
    grad: bool
    way: str
    varying: int = 0

    def make(self, call: int) -> Any:
        tensor = self.tensor
        if self.varying and self.varying in tensor["shape"]:
            shape = tuple(size + GROWTH[call] if size == self.varying else size for size in tensor["shape"])
            tensor = {**{key: value for key, value in tensor.items() if key != "strides"}, "shape": shape}
        made = op_samples.as_lucid(op_samples.make_array(tensor, self.dtype, 100 * self.number + call))
        return made.requires_grad_() if self.grad else made

    def source(self, call: str) -> str:
        varying = f", {self.varying}" if self.varying else ""
        return f"given({self.tensor!r}, {self.dtype!r}, {self.number}, {self.grad}, {call}{varying})"


def given(tensor: dict[str, Any], dtype: Any, number: int, grad: bool, call: int, varying: int = 0) -> Any:
    """Creates an input; called by the source of a program."""
    return Input("", tensor, dtype, number, grad, "", varying).make(call)


class Kept:
    """What a program keeps between calls."""

    def __init__(self, **values: Any) -> None:
        self.calls = 0
        self.log: list[Any] = []
        self.__dict__.update(values)

    def tensors(self) -> list[Any]:
        return [*self.log, *(value for name, value in vars(self).items() if name.startswith("h"))]


class Numbers:
    """Numbers outside the arguments, which are other ones at each call."""

    def __init__(self) -> None:
        self.change(0)

    def change(self, call: int) -> None:
        self.k, self.n = (values[call % len(values)] for values in NUMBERS.values())
        self.items = [self.k, self.n]


class Reports:
    """What a program reports in its calls."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    @lucid.compiler.effect
    def add(self, *values: Any) -> None:
        self.rows += values

    def tensors(self) -> list[Any]:
        return [row if isinstance(row, lucid.Tensor) else lucid.tensor(row) for row in self.rows]


# What is added to a size that varies at each call: other sizes of the same magnitude, and of others.
GROWTH = (0, 0, 1, 2, 1, 3, 0, 9, 2, 17)

# Numbers that programs may take as arguments, and their values at each call. Two of them occur often enough for plans
# that serve only one.
NUMBERS = {"k": (0.5, 2.5, 0.5, 2.5, -1.25, 0.5), "n": (2, 3, 2, 3, -1, 2)}


@dataclass(frozen=True)
class Statement:
    text: str
    defines: str | None
    reads: frozenset[str]
    without_grad: bool = False
    entry: str | None = None

    def lines(self) -> list[str]:
        return ["with lucid.no_grad():", f"    {self.text}"] if self.without_grad else [self.text]


@dataclass(frozen=True)
class Program:
    """`setup` defines modules and ops by name; `results` are the returned names, in a `structure`."""

    inputs: tuple[Input, ...]
    setup: dict[str, str]
    statements: tuple[Statement, ...]
    results: tuple[str, ...]
    structure: str

    def names(self) -> frozenset[str]:
        found = set(self.results)
        for statement in self.statements:
            found |= statement.reads
        return frozenset(found)

    def trimmed(self) -> Program:
        """The program without unused inputs, modules and ops."""
        names = self.names()
        return replace(
            self,
            inputs=tuple(i for i in self.inputs if i.name in names),
            setup={name: text for name, text in self.setup.items() if name in names},
        )

    def by_way(self, way: str) -> list[Input]:
        return [i for i in self.inputs if i.way == way]

    def result_source(self) -> str:
        names = list(self.results)
        if self.structure == "one":
            return names[0]
        if self.structure == "dict":
            return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"
        if self.structure == "nested":
            return f"({names[0]}, [{', '.join(names[1:])}], {{'last': {names[-1]}, 'number': 3, 'none': None}})"
        return f"({', '.join(names)},)"

    def source(self) -> str:
        """Python source with a function make(), which returns the function, its calls and its state."""
        plain = [i.name for i in self.by_way("plain")]
        named = [i.name for i in self.by_way("named")]
        numbers = [name for name in NUMBERS if name in self.names()]
        head = [*plain, "items", "entries", *numbers, *(["*", *named] if named else [])]
        lines = ["def make():"]
        lines += [f"    {i.name} = {i.source('0')}" for i in self.by_way("closure")]
        lines += [f"    {name} = {text}" for name, text in self.setup.items()]
        lines += ["", f"    def f({', '.join(head)}):"]
        lines += [f"        {i.name} = items[{n}]" for n, i in enumerate(self.by_way("items"))]
        lines += [f"        {i.name} = entries[{i.name!r}]" for i in self.by_way("entries")]
        lines += [f"        {line}" for statement in self.statements for line in statement.lines()]
        lines += [f"        return {self.result_source()}", "", "    def calls():"]
        # Code that contains the name `grad` is recorded again once a tensor has a gradient.
        count = 5 if any("grad(" in statement.text for statement in self.statements) else 4
        if numbers or "box" in self.setup:
            count = len(NUMBERS["k"])
        # Each branch is recorded, and what is kept changes its type in the first calls.
        if "kept" in self.setup or any(" if " in statement.text for statement in self.statements):
            count = 9
        if any(made.varying for made in self.inputs):
            count = len(GROWTH)
        lines += [f"        for call in range({count}):"]
        lines += ["            box.change(call)"] if "box" in self.setup else []
        args = [i.source("call") for i in self.by_way("plain")]
        args += ["[" + ", ".join(i.source("call") for i in self.by_way("items")) + "]"]
        args += ["{" + ", ".join(f"{i.name!r}: {i.source('call')}" for i in self.by_way("entries")) + "}"]
        args += [f"{NUMBERS[name]}[call % {len(NUMBERS[name])}]" for name in numbers]
        keywords = ", ".join(f"{i.name!r}: {i.source('call')}" for i in self.by_way("named"))
        lines += [f"            yield ({', '.join(args)}), {{{keywords}}}", ""]
        modules = [name for name, text in self.setup.items() if text.startswith("nn.")]
        state = ", ".join(
            [*(i.name for i in self.by_way("closure")), *(f"*{m}.state_dict(keep_vars=True).values()" for m in modules)]
        )
        kept = ["lucid.tensor(kept.calls)", "*kept.tensors()"] if "kept" in self.setup else []
        kept += ["*reports.tensors()"] if "reports" in self.setup else []
        lines += [f"    return f, calls, lambda: [{', '.join([state, *kept]) if state else ', '.join(kept)}]"]
        return "\n".join(lines) + "\n"
