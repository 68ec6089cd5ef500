"""A random program while it is written, for `program_writer.py`."""

from __future__ import annotations

import contextlib
import functools
import io
import math
import random
from dataclasses import dataclass, field, replace
from typing import Any

import lucid
from random_program import NUMBERS, Input, Statement

GRADIENT_DTYPES = (lucid.float32, lucid.float64, lucid.float16, lucid.bfloat16)

# Ops whose result size depends on values: a program with one of them runs eagerly.
SIZED_BY_VALUES = {op["name"] for op in lucid._core.op_table() if op["sized_by_values"]}


@functools.cache
def table() -> tuple[dict[str, Any], ...]:
    # Programs run on one device.
    return tuple(op for op in lucid._core.op_table() if op["public"] and op["name"] != "to_device")


@functools.cache
def replayable() -> tuple[dict[str, Any], ...]:
    return tuple(op for op in table() if op["name"] not in SIZED_BY_VALUES)


@dataclass
class Draft:
    """A random program while it is written: its inputs, values and statements."""

    seed: int
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng = random.Random(self.seed)
        self.inputs: list[Input] = []
        self.setup: dict[str, str] = {}
        self.statements: list[Statement] = []
        self.space: dict[str, Any] = {"lucid": lucid, "nn": lucid.nn, "F": lucid.nn.functional, "math": math}
        self.space.update({name: values[0] for name, values in NUMBERS.items()})
        self.values: dict[str, Any] = {}  # tensors by name
        self.count = 0
        self.wants_grad = rng.random() < 0.7
        self.dtype = rng.choices(GRADIENT_DTYPES, (70, 15, 8, 7))[0]
        # Most programs are small, which is fast; large ones have full vectors, tiles and work for several threads.
        self.is_large = rng.random() < 0.12
        self.entries = table() if rng.random() < 0.12 else replayable()
        # If a size varies, the program has few effects: with them, each size is recorded.
        variation = random.Random(~self.seed)
        self.varies = variation.random() < 0.3
        self.wants_grad = self.wants_grad and not (self.varies and variation.random() < 0.8)

    def vary_a_size(self) -> None:
        """Makes a size of the arguments vary. No shape has it twice: the programs would become slow."""
        arguments = [made for made in self.inputs if made.way != "closure"]
        shapes = [tuple(made.tensor["shape"]) for made in arguments]
        sizes = sorted({n for shape in shapes for n in shape if n >= 2 and all(s.count(n) < 2 for s in shapes)})
        if sizes:
            varying = self.rng.choice(sizes)
            self.inputs = [replace(made, varying=varying) if made in arguments else made for made in self.inputs]

    def add_input(self, tensor: dict[str, Any], dtype: Any) -> str:
        dtype = tensor.get("dtype", dtype)
        name = f"a{len(self.inputs)}"
        ways = (90, 2, 2, 2, 4) if self.varies else (50, 12, 12, 8, 18)
        way = self.rng.choices(("plain", "items", "entries", "named", "closure"), ways)[0]
        grad = self.wants_grad and dtype in GRADIENT_DTYPES and self.rng.random() < 0.6
        made = Input(name, tensor, dtype, len(self.inputs) + 7 * self.seed % 99991, grad, way)
        self.inputs.append(made)
        self.values[name] = self.space[name] = made.make(0)
        return name

    def add(
        self, expression: str, reads: set[str], *, entry: str | None = None, assigns: bool = True, shows: bool = False
    ) -> bool:
        """Executes a statement and adds it to the program unless it raises. Returns whether it was added."""
        without_grad = self.rng.random() < 0.06 and not shows
        name = f"v{self.count}" if assigns else None
        text = f"{name} = {expression}" if assigns else expression
        statement = Statement(text, name, frozenset(reads), without_grad, entry)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec("\n".join(statement.lines()), self.space)
        except lucid.InternalError:
            raise
        except Exception:
            return False
        if name is not None:
            result = self.space[name]
            if isinstance(result, tuple):
                parts = [i for i, part in enumerate(result) if isinstance(part, lucid.Tensor)]
                if not parts:
                    return False
                self.statements.append(statement)
                self.count += 1
                part = self.rng.choice(parts)
                return self.add(f"{name}[{part}]", {name})
            if not isinstance(result, lucid.Tensor) or result.numel() > (40000 if self.is_large else 2400):
                return False
            self.values[name] = result
            self.count += 1
        self.statements.append(statement)
        return True

    def tensor(self, accepts: Any = lambda value: True) -> str | None:
        """The name of a random value; later ones are more likely."""
        names = [name for name, value in self.values.items() if accepts(value)]
        if not names:
            return None
        return names[-1 - min(int(self.rng.expovariate(0.4)), len(names) - 1)]

    def part(self, name: str) -> str:
        """The value or a view of it."""
        way = self.rng.randrange(5)
        if way < 2:
            return name
        if way == 2:
            return f"{name}.view(-1)"
        if way == 3:
            return f"{name}.detach()"
        return f"{name}[{self.subscript(self.values[name])}]"

    def subscript(self, value: Any) -> str:
        rng = self.rng
        parts = []
        for size in value.shape[: rng.randint(1, max(value.ndim, 1))]:
            kind = rng.randrange(6)
            if kind == 0:
                parts.append(str(rng.randrange(-size, size)) if size else ":")
            elif kind == 1:
                parts.append(f"{rng.randint(0, size)}:")
            elif kind == 2:
                parts.append(f":{rng.randint(0, size)}")
            elif kind == 3:
                parts.append(f"::{rng.randint(1, 3)}")
            else:
                parts.append(":")
        if rng.random() < 0.1:
            parts.insert(rng.randint(0, len(parts)), "None")
        if rng.random() < 0.1:
            parts.append("...")
        return ", ".join(parts) or "..."
