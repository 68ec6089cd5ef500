"""Generates random programs of views, writes and gradients for `programs.py`, and compares them step by step."""

from __future__ import annotations

import collections
import math
import random
from dataclasses import dataclass, field
from typing import Any

import differences
import lucid
import torch
from backends import EXPECTED_ERRORS, Backend, Indices, Lucid, Mask, Ref, Step, Torch, Values, references

SHAPES = [(), (1,), (3,), (4,), (2, 3), (3, 3), (3, 1), (1, 3), (2, 2, 3), (3, 2)]
NUMBERS = [-2.0, -1.5, -1.0, -0.75, -0.5, 0.25, 0.5, 1.0, 1.5, 2.0]


@dataclass
class Mismatch:
    step: int
    kind: str
    what: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        return f"{self.kind} of {self.what} after step {self.step}:\n  lucid {self.ours}\n  torch {self.theirs}"


def close(a: Any, b: Any) -> bool:
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    if a is None or b is None or isinstance(b, list):
        return a is b
    return a == b or math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-7) or (a != a and b != b)


class Comparison:
    """Runs both libraries in lockstep. `step` returns the first difference."""

    def __init__(self) -> None:
        self.ours = Lucid()
        self.theirs = Torch()
        self.ended = False
        self.counts: collections.Counter[str] = collections.Counter()

    def step(self, step: Step) -> Mismatch | None:
        if self.ended or not all(references(argument) <= self.theirs.slots.keys() for argument in step.arguments):
            return None
        ours, theirs = (outcome(backend, step) for backend in (self.ours, self.theirs))
        self.counts["raised" if theirs else "ran"] += 1
        if (ours is None) != (theirs is None) or isinstance(ours, lucid.InternalError):
            return Mismatch(step.slot, "error", step.op, repr(ours), repr(theirs))
        self.ended = differences.ends_program(step.op, ours, theirs)
        return None if self.ended else self.look(step.slot)

    def look(self, step: int) -> Mismatch | None:
        for slot, theirs in self.theirs.slots.items():
            if slot not in self.ours.slots:
                return Mismatch(step, "result", f"#{slot}", None, theirs)
            ours, name = self.ours.slots[slot], f"#{slot}"
            pair = self.ours.flags(ours), self.theirs.flags(theirs)
            if not differences.same_flags(*pair):
                return Mismatch(step, "flags", name, *pair)
            for kind in ("strides", "values", "gradient"):
                pair = tuple(getattr(side, kind)(x) for side, x in ((self.ours, ours), (self.theirs, theirs)))
                if not (pair[0] == pair[1] if kind == "strides" else close(*pair)):
                    return Mismatch(step, kind, name, *pair)
        if self.ours.slots.keys() != self.theirs.slots.keys():
            return Mismatch(step, "result", "slots", set(self.ours.slots), set(self.theirs.slots))
        for number in self.ours.hook_calls.keys() | self.theirs.hook_calls.keys():
            pair = self.ours.hook_calls[number], self.theirs.hook_calls[number]
            if not close(*pair):
                return Mismatch(step, "hook", f"hook {number}", *pair)
        return None

    def aliases(self, step: int) -> Mismatch | None:
        """Writes to each tensor and compares which others change."""
        if self.ended:
            return None
        for slot in self.theirs.slots:
            for side in (self.ours, self.theirs):
                side.poke(side.slots[slot], 1000.0 + slot)
            for other in self.theirs.slots:
                pair = tuple(side.values(side.slots[other]) for side in (self.ours, self.theirs))
                if not close(*pair):
                    return Mismatch(step, "alias", f"#{other} when #{slot} is written", *pair)
        return None


def outcome(backend: Backend, step: Step) -> Exception | None:
    try:
        backend.run(step)
    except EXPECTED_ERRORS as error:
        return error
    return None


def run(program: list[Step]) -> Mismatch | None:
    comparison = Comparison()
    for step in program:
        if mismatch := comparison.step(step):
            return mismatch
    return comparison.aliases(len(program))


def shrink(program: list[Step], kind: str) -> list[Step]:
    """The program without the steps that are not needed for the mismatch."""
    position = len(program) - 1
    while position >= 0:
        shorter = program[:position] + program[position + 1 :]
        mismatch = run(shorter)
        if mismatch is not None and mismatch.kind == kind:
            program = shorter
            position = min(position, len(program))
        position -= 1
    kept: list[Step] = []
    made: set[int] = set()
    for step in program:
        if all(references(argument) <= made for argument in step.arguments):
            kept.append(step)
            made.add(step.slot)
    return kept


@dataclass
class Generator:
    """Generates a program, guided by the state of PyTorch's tensors after each step."""

    seed: int
    length: int = 22
    program: list[Step] = field(default_factory=list)
    mismatch: Mismatch | None = None
    comparison: Comparison = field(default_factory=Comparison)
    doubling_hooks: int = 0
    watched: set[int] = field(default_factory=set)  # memory with hooks or retained gradients on a view of it
    changed: set[int] = field(default_factory=set)  # memory with writes that were not recorded

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def make(self) -> Mismatch | None:
        for _ in range(self.random.randint(2, 3)):
            self.new()
        for _ in range(self.length):
            if self.mismatch is None and not self.comparison.ended:
                self.add_random_step()
        return self.mismatch or self.comparison.aliases(len(self.program))

    def emit(self, op: str, *arguments: Any, records: bool = True) -> None:
        if self.mismatch is not None:
            return
        step = Step(len(self.program), op, arguments, records)
        self.program.append(step)
        self.mismatch = self.comparison.step(step)

    @property
    def slots(self) -> dict[int, torch.Tensor]:
        return self.comparison.theirs.slots

    def numbers(self, shape: Any) -> Values:
        count = math.prod(shape)
        return Values(torch.tensor([self.random.choice(NUMBERS) for _ in range(count)]).reshape(shape).tolist())

    def mask(self, shape: Any) -> Mask:
        count = math.prod(shape)
        return Mask(torch.tensor([self.random.random() < 0.5 for _ in range(count)]).reshape(shape).tolist())

    def new(self) -> None:
        self.emit("new", self.numbers(self.random.choice(SHAPES)), self.random.random() < 0.55)

    def pick(self, accepts: Any = lambda tensor: True) -> int | None:
        """A random slot; later ones are more likely."""
        found = [
            slot
            for slot, tensor in self.slots.items()
            if tensor.numel() > 0 and not self.comparison.theirs.is_stale(tensor) and accepts(tensor)
        ]
        if not found:
            return None
        late = self.random.random() < 0.6
        return (
            found[-1 - min(int(self.random.expovariate(0.25)), len(found) - 1)] if late else self.random.choice(found)
        )

    def source_for(self, shape: Any) -> Ref | Values:
        """A tensor that broadcasts to the shape."""

        def fits(tensor: torch.Tensor) -> bool:
            try:
                return torch.broadcast_shapes(tensor.shape, shape) == torch.Size(shape)
            except RuntimeError:
                return False

        if self.random.random() < 0.75:
            slot = self.pick(fits)
            if slot is not None:
                return Ref(slot)
        return self.numbers(self.random.choice([(), shape]))

    def add_random_step(self) -> None:
        kinds = {
            self.new: 4,
            self.compute: 18,
            self.view: 18,
            self.write: 28,
            self.leave_graph: 4,
            self.set_up: 13,
            self.differentiate: 15,
        }
        self.random.choices(list(kinds), list(kinds.values()))[0]()

    def records(self) -> bool:
        return self.random.random() >= 0.12

    def compute(self) -> None:
        random, slot = self.random, self.pick()
        if slot is None:
            return
        x, tensor, shape = Ref(slot), self.slots[slot], tuple(self.slots[slot].shape)
        large, records = bool(tensor.abs().max() > 20), self.records()
        op = random.choice(["binary"] * 10 + ["unary", "unary", "matmul", "reduce", "reduce", "where", "join", "clone"])
        if op == "binary":
            name = random.choice(["add", "sub", "div"] if large else ["add", "sub", "div", "mul"])
            self.emit(op, name, x, self.source_for(shape), records=records)
        elif op == "unary":
            self.emit(op, random.choice(["exp", "relu"]) if tensor.abs().max() < 4 else "relu", x, records=records)
        elif op == "matmul" and len(shape) == 2 and not large:
            other = self.pick(lambda other: other.dim() == 2 and other.shape[0] == shape[1])
            if other is not None:
                self.emit(op, x, Ref(other), records=records)
        elif op == "reduce":
            dim = random.randrange(len(shape)) if shape and random.random() < 0.6 else None
            self.emit(op, random.choice(["sum", "mean"]), x, dim, random.random() < 0.5, records=records)
        elif op == "where":
            self.emit(op, self.mask(shape), x, Ref(self.alike(slot)), records=records)
        elif op == "join" and shape:
            name, dim = random.choice(["cat", "stack"]), random.randrange(len(shape))
            self.emit(op, name, [x, Ref(self.alike(slot))], dim, records=records)
        elif op == "clone":
            if random.random() < 0.5:
                self.emit("clone", x, records=records)
            else:
                self.emit("contiguous", x, records=records)

    def alike(self, slot: int) -> int:
        found = self.pick(lambda other: other.shape == self.slots[slot].shape)
        return slot if found is None else found

    def view(self) -> None:
        random, slot = self.random, self.pick()
        if slot is None:
            return
        shape, dims, records = tuple(self.slots[slot].shape), self.slots[slot].dim(), self.records()
        names = ["unsqueeze", "expand", "view", "reshape", "reshape"]
        if dims > 0:
            names += ["getitem"] * 3 + ["select", "transpose", "permute", "squeeze"]
        if dims > 1:
            names.append("diagonal")
        name = random.choice(names)
        if name == "getitem":
            key = self.key(slot)
            self.emit("getitem", Ref(slot), key, records=records)
            return
        arguments: tuple[Any, ...] = ()
        if name == "select":
            dim = random.randrange(dims)
            arguments = (dim, random.randrange(-shape[dim], shape[dim]))
        elif name == "transpose":
            arguments = (random.randrange(dims), random.randrange(dims))
        elif name == "permute":
            arguments = (tuple(random.sample(range(dims), dims)),)
        elif name == "unsqueeze":
            if dims > 2:
                return
            arguments = (random.randint(0, dims),)
        elif name == "squeeze":
            arguments = (random.randrange(dims),)
        elif name == "expand":
            wanted = tuple(random.choice([2, 3]) if size == 1 else size for size in shape)
            arguments = ((random.choice([1, 2]), *wanted) if random.random() < 0.4 and dims < 3 else wanted,)
        elif name == "diagonal":
            first, second = random.sample(range(dims), 2)
            offset = random.choice([0, 0, 1, -1])
            if min(shape[first] + min(offset, 0), shape[second] - max(offset, 0)) <= 0:
                return
            arguments = (offset, first, second)
        else:
            count = math.prod(shape)
            shapes = [(count,), shape, (1, count)] + [(n, count // n) for n in (2, 3) if count % n == 0]
            arguments = (random.choice(shapes),)
        self.emit("view", name, Ref(slot), *arguments, records=records)

    def key(self, slot: int) -> Any:
        random, tensor = self.random, self.slots[slot]
        shape, kind = tuple(tensor.shape), random.random()
        if kind < 0.3:
            return random.randrange(-shape[0], shape[0])
        if kind < 0.6:
            start = random.randrange(shape[0])
            return slice(start, random.randint(start + 1, shape[0]), random.choice([1, 1, 2]))
        if kind < 0.75 and len(shape) > 1:
            if random.random() < 0.5:
                return (slice(None), random.randrange(shape[1]))
            return (slice(0, shape[0], 1), slice(0, random.randint(1, shape[1])))
        if not differences.may_write_elements(tensor):
            return 0
        if kind < 0.88:
            return self.mask(shape)
        return Indices(random.sample(range(shape[0]), random.randint(1, shape[0])))

    def write(self) -> None:
        random, slot = self.random, self.pick()
        if slot is None:
            return
        x, tensor, shape = Ref(slot), self.slots[slot], tuple(self.slots[slot].shape)
        records, large = self.records(), bool(tensor.abs().max() > 20)
        if tensor.requires_grad and tensor.is_leaf and random.random() < 0.7:
            records = False
        names = ["add_", "mul_", "sub_", "copy_", "copy_", "fill_", "zero_", "clamp_", "relu_", "masked_fill_"]
        if shape:
            names += ["setitem"] * 3 + ["augmented"] * 2 + ["index_add_"]
        name = random.choice(names)
        if name in ("add_", "sub_", "copy_") or (name == "mul_" and not large):
            self.emit_write("inplace", name, x, self.source_for(shape), records=records)
        elif name == "fill_":
            self.emit_write("inplace", name, x, random.choice([0.5, -1.0, 2.0]), records=records)
        elif name in ("zero_", "relu_"):
            self.emit_write("inplace", name, x, records=records)
        elif name == "clamp_":
            self.emit_write("inplace", name, x, -0.6, 1.2, records=records)
        elif name == "masked_fill_" and differences.may_write_elements(tensor):
            self.emit_write("inplace", name, x, self.mask(shape), 0.5, records=records)
        elif name == "index_add_":
            dim, count = random.randrange(len(shape)), random.randint(1, 3)
            indices = Indices([random.randrange(shape[dim]) for _ in range(count)])
            wanted = (*shape[:dim], count, *shape[dim + 1 :])
            found = self.pick(lambda other: tuple(other.shape) == wanted)
            source = self.numbers(wanted) if found is None else Ref(found)
            self.emit_write("inplace", name, x, dim, indices, source, records=records)
        elif name in ("setitem", "augmented"):
            key = self.key(slot)
            source = self.source_for(tensor.detach()[self.comparison.theirs.resolve(key)].shape)
            if name == "setitem":
                self.emit_write(name, x, key, source, records=records)
            else:
                self.emit_write(
                    name, random.choice(["add_"] if large else ["add_", "mul_"]), x, key, source, records=records
                )

    def emit_write(self, op: str, *arguments: Any, records: bool) -> None:
        tensors = [self.slots[argument.slot] for argument in arguments if isinstance(argument, Ref)]
        recorded = records and any(tensor.requires_grad for tensor in tensors)
        target = differences.memory_of(tensors[0])
        if not differences.may_write(tensors[0], recorded):
            return
        if differences.is_change(tensors[0], recorded, self.slots.values()):
            if not differences.may_change(target, self.watched):
                return
            self.changed.add(target)
        self.emit(op, *arguments, records=records)

    def leave_graph(self) -> None:
        slot = self.pick()
        if slot is not None:
            self.emit(self.random.choice(["detach", "data"]), Ref(slot), records=self.records())

    def set_up(self) -> None:
        random, slot = self.random, self.pick()
        if slot is None:
            return
        op = random.choice(
            ["require", "require", "retain", "retain", "retain", "hook", "hook", "hook", "take", "clear"]
        )
        if op == "require":
            if differences.may_require(self.slots[slot], self.slots.values()):
                self.emit(op, Ref(slot), random.random() < 0.7)
        elif op in ("retain", "hook") and not self.watch(slot):
            return
        elif op == "retain":
            self.emit(op, Ref(slot))
        elif op == "hook":
            doubles = random.random() < 0.3
            self.doubling_hooks += doubles
            self.emit(op, Ref(slot), len(self.program), doubles)
        elif op == "take":
            self.emit("take_grad", Ref(slot))
        else:
            self.emit("clear_grad", Ref(slot))

    def watch(self, slot: int) -> bool:
        """Whether the gradient of this tensor may be compared."""
        tensor = self.slots[slot]
        if not differences.may_watch(tensor, self.changed):
            return False
        if differences.is_view(tensor):
            self.watched.add(differences.memory_of(tensor))
        return True

    def differentiate(self) -> None:
        random = self.random
        slot = self.pick(lambda tensor: tensor.requires_grad and not tensor.is_leaf and tensor.abs().max() <= 20)
        if slot is None:
            return
        weights = self.numbers(self.slots[slot].shape)
        if random.random() < 0.6:
            self.emit("backward", Ref(slot), weights, random.random() < 0.85)
            return

        def accepts(tensor: torch.Tensor) -> bool:
            return tensor.requires_grad and differences.may_compute_gradient(tensor, self.doubling_hooks)

        inputs = sorted({found for _ in range(random.randint(1, 2)) if (found := self.pick(accepts)) is not None})
        if inputs and all(differences.may_watch(self.slots[found], self.changed) for found in inputs):
            self.emit("grad", Ref(slot), [Ref(found) for found in inputs], weights, random.random() < 0.7)
