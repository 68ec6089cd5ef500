"""Mutated subscripts, read and written, and the expected outcome of each."""

from __future__ import annotations

import math
import operator
import random
from typing import Any

import lucid
import numpy as np
from mutated_calls import RETURNS, BadCall, Expected, no_number


class SubscriptMutator:
    """Generates a subscript from a seed: a valid one with one part mutated."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        rank = self.random.randint(0, 4)
        self.shape = tuple(self.random.choice([1, 2, 3, 5, 7]) for _ in range(rank))
        self.x = lucid.ones(self.shape, dtype=self.random.choice([lucid.float32, lucid.int64, lucid.bool]))
        # Items for some leading dimensions only, so that another item can be appended.
        self.items = [self.item(size) for size in self.shape[: self.random.randint(0, rank)]]

    def item(self, size: int) -> Any:
        rng = self.random
        return rng.choice(
            [
                *(rng.randrange(-size, size), slice(None), slice(0, size, 2), slice(-1, None)),
                *(slice(-(2**70), 2**70), lucid.tensor([rng.randrange(size)]), [0]),
                *(np.array([size - 1]), lucid.arange(size) == 0, lucid.tensor(0)),
            ]
        )

    def make(self) -> BadCall:
        kind, expected = self.mutate()
        key: Any = tuple(self.items) if len(self.items) != 1 or self.random.random() < 0.5 else self.items[0]
        if isinstance(key, list) and kind != "valid":
            key = (key,)
        way = self.random.random()
        if way < 0.5:
            return BadCall("getitem", kind, operator.getitem, expected, [self.x, key])
        if way < 0.95:
            value = self.random.choice([1, 2.5, True, lucid.tensor(1), lucid.ones(1)])
            return BadCall("setitem", kind, operator.setitem, expected, [self.x, key, value])
        return BadCall("delitem", "deletion", operator.delitem, (TypeError,), [self.x, key])

    def insert(self, item: Any) -> None:
        """Replaces the item of a dimension, or appends one."""
        if self.items and self.random.random() < 0.7:
            self.items[self.random.randrange(len(self.items))] = item
        else:
            self.items.append(item)

    def mutate(self) -> tuple[str, Expected]:
        rng = self.random
        ways = [self.out_of_range, self.too_many, self.wrong_type, self.mask, self.steps, self.ellipses]
        ways += [self.apart, self.floats, self.bounds, self.beyond]
        return rng.choice(ways)()

    def dimension(self) -> int:
        """A dimension whose item may be replaced: all dimensions before it have items."""
        at = self.random.randrange(len(self.shape))
        self.items = [slice(None)] * at + [None] + self.items[at + 1 :]
        return at

    def out_of_range(self) -> tuple[str, Expected]:
        if not self.shape:
            return self.too_many()
        at = self.dimension()
        self.items = self.items[: at + 1]
        size = self.shape[at]
        number = self.random.choice([size, -size - 1, 1000, -1000, 2**31, 2**62, 2**63 - 1, -(2**63)])
        self.items[at] = self.random.choice(
            [number, lucid.tensor(number), [number], np.array([0, number]), np.int64(number)]
        )
        return "index out of range", (IndexError,)

    def too_many(self) -> tuple[str, Expected]:
        self.items = [
            self.random.choice([slice(None), 0, [0]]) for _ in range(len(self.shape) + self.random.randint(1, 70))
        ]
        return "too many indices", (IndexError,)

    def wrong_type(self) -> tuple[str, Expected]:
        junk = self.random.choice(["x", 1.5, math.nan, lucid.float32, "f32"])
        junk = junk if self.random.random() < 0.5 else no_number(self.random)
        self.items = [0 if isinstance(junk, slice) or junk is ... else junk]
        if isinstance(junk, slice) or junk is ...:
            return self.too_many()
        return "no index", (TypeError,)

    def mask(self) -> tuple[str, Expected]:
        if not self.shape:
            return self.too_many()
        at = self.dimension()
        self.items = self.items[: at + 1]
        sizes = list(self.shape[at : self.random.randint(at + 1, len(self.shape))])
        sizes[self.random.randrange(len(sizes))] += self.random.choice([1, 2, 100])
        self.items[at] = lucid.ones(sizes, dtype=lucid.bool) if self.random.random() < 0.5 else np.ones(sizes, bool)
        return "mask of another shape", (IndexError,)

    def steps(self) -> tuple[str, Expected]:
        if not self.shape:
            return self.too_many()
        self.items = [slice(None, None, self.random.choice([0, -1, -3, -(2**62), -(2**63), -(2**100)]))]
        return "step of a slice", (ValueError,)

    def ellipses(self) -> tuple[str, Expected]:
        self.items = [..., ..., *([None] * self.random.randint(0, 3))]
        self.random.shuffle(self.items)
        return "two ellipses", (IndexError,)

    def apart(self) -> tuple[str, Expected]:
        if len(self.shape) < 2:
            return self.too_many()
        self.items = [lucid.zeros(2, dtype=lucid.int64), [0] * self.random.randint(3, 9)]
        return "indices that do not broadcast", (IndexError,)

    def floats(self) -> tuple[str, Expected]:
        if not self.shape:
            return self.too_many()
        self.items = [self.random.choice([lucid.zeros(2), [0.0, 1.0], np.zeros(3), lucid.zeros(()), np.float32(1)])]
        return "indices that are floats", (IndexError,)

    def bounds(self) -> tuple[str, Expected]:
        if not self.shape:
            return self.too_many()
        bad = self.random.choice(["1", 1.5, object(), [1], lucid.ones(2), 1j])
        self.items = [self.random.choice([slice(bad), slice(bad, None), slice(0, None, bad)])]
        return "bounds of a slice", (TypeError,)

    def beyond(self) -> tuple[str, Expected]:
        if not self.shape:
            return self.too_many()
        self.items = [self.random.choice([2**63, 2**100, -(2**63) - 1])]
        return "index beyond 64 bits", (IndexError,)


def assignment(seed: int) -> BadCall:
    """A valid subscript with a value that cannot be written there."""
    rng = random.Random(seed)
    mutator = SubscriptMutator(seed)
    key = tuple(mutator.items)
    if rng.random() < 0.4:
        value = rng.choice(["x", None, object(), 1j, [None], np.array(["a"]), {}, ...])
        return BadCall("setitem", "wrong type of value", operator.setitem, (TypeError,), [mutator.x, key, value])
    if rng.random() < 0.2:
        value = rng.choice([[[1, 2], [3]], [1, [2]]])
        return BadCall("setitem", "ragged value", operator.setitem, (ValueError,), [mutator.x, key, value])
    target = tuple(mutator.x[key].shape)
    wanted = tuple(rng.choice([1, 2, 3, 5, 7]) for _ in range(rng.randint(1, 4)))
    # Leading dimensions of size 1 of the value are dropped, as in NumPy.
    stripped = wanted
    while len(stripped) > len(target) and stripped[0] == 1:
        stripped = stripped[1:]
    fits = len(stripped) <= len(target) and all(a in (1, b) for a, b in zip(stripped[::-1], target[::-1]))
    expected: Expected = (RETURNS,) if fits else (ValueError, RuntimeError)
    kind = "value that fits" if fits else "value that does not fit"
    return BadCall("setitem", kind, operator.setitem, expected, [mutator.x, key, lucid.ones(wanted)])


BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift"]


def arithmetic(seed: int) -> BadCall:
    """Operators, including in-place ones, with an invalid operand."""
    rng = random.Random(seed)
    name = rng.choice([*BINARY, *(f"i{name.removesuffix('_')}" for name in BINARY), "lt", "ge"])
    function = getattr(operator, name)
    whole = name.removeprefix("i").removesuffix("_") in ("and", "or", "xor", "lshift", "rshift")
    x = lucid.ones(3, 4, dtype=lucid.int64 if whole else lucid.float32)
    if rng.random() < 0.5:
        other = no_number(rng)
        return BadCall(name, "wrong type of operand", function, (TypeError,), [x, other])
    if rng.random() < 0.2 and "matmul" not in name:
        return BadCall(name, "number beyond 64 bits", function, (OverflowError,), [x, 2**64])
    wanted = rng.choice([(2, 4), (3, 1, 3), (5,), (3, 0), (7, 2, 4)])
    other = lucid.ones(wanted, dtype=x.dtype)
    return BadCall(name, "operands that do not fit", function, (ValueError, RuntimeError), [x, other])
