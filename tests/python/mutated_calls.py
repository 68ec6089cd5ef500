"""Mutates one argument of a valid call and defines the expected outcome.

Each mutation lists the exceptions that it may raise; `RETURNS` means that the call may also be valid.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import lucid
import numpy as np
import op_samples
from valid_calls import POSITIONAL, Parameter, from_python, from_table

RETURNS = None
Expected = tuple[type[Exception] | None, ...]
DTYPES = [*op_samples.NUMPY_DTYPES, lucid.bfloat16]
TOO_LONG = [2**63, 2**100, -(2**63) - 1, -(2**64)]
OTHER_NAMES = {"dim": ("axis",), "dims": ("axes",), "keepdim": ("keepdims",), "dim0": ("axis0",), "dim1": ("axis1",)}
# Parameters that name dimensions. `dims` of `tile` is not a list of dimensions; `tensordot` has two meanings of it.
# Kinds of parameters that are integers or lists of them.
NUMBERS = ("int", "axis", "ints", "axes")
# Ops that also check the number of dimensions, before or after their range.
ALSO_COUNTED = {"roll", "movedim", "permute", "take_along_dim"}
# Parameters that are sizes of results: negative numbers, and sizes that exceed all memory, are errors.
SIZES = {
    *(("full", "size"), ("zeros", "size"), ("ones", "size"), ("empty", "size"), ("eye", "n"), ("eye", "m")),
    *(("linspace", "steps"), ("logspace", "steps"), ("one_hot", "num_classes"), ("bincount", "minlength")),
    *(("histc", "bins"), ("tril_indices", "row"), ("triu_indices", "col"), ("rand", "size"), ("randn", "size")),
    *(("randint", "size"), ("randperm", "n"), ("normal", "size"), ("Tensor.new_zeros", "size")),
    *(("Tensor.new_ones", "size"), ("Tensor.new_full", "size"), ("multinomial", "num_samples")),
}
# Ops that check values depending on the dtype: integer divisors, powers, class probabilities.
MEANT_BY_DTYPE = {"pow", "bincount", "remainder", "fmod", "floor_divide", "cross_entropy"}
# Values for parameters that accept a few strings.
WORDS = ["", "none ", "SUM", "i" * 300, "\0", "é"]


@dataclass
class BadCall:
    name: str
    kind: str
    function: Callable[..., Any]
    expected: Expected
    positional: list[Any] = field(default_factory=list)
    keywords: dict[str, Any] = field(default_factory=dict)

    def run(self) -> Any:
        return self.function(*self.positional, **self.keywords)

    def tensors(self) -> list[Any]:
        return tensors_in([self.positional, list(self.keywords.values())])

    def __str__(self) -> str:
        arguments = [*map(text_of, self.positional), *(f"{name}={text_of(x)}" for name, x in self.keywords.items())]
        return f"{self.kind}: {self.name}({', '.join(arguments)})"


def tensors_in(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [tensor for part in value for tensor in tensors_in(part)]
    return [value] if isinstance(value, lucid.Tensor) else []


def text_of(value: Any) -> str:
    if isinstance(value, lucid.Tensor):
        return f"{value.dtype}{tuple(value.shape)}"
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value[:5]))}{', ...' if len(value) > 5 else ''}]"
    return repr(value)[:80]


def no_number(rng: random.Random) -> Any:
    """An object that cannot be converted to a tensor, a number, a dtype, a string or a list of them."""
    return rng.choice(
        [b"x", object(), ..., slice(None), {}, {"a": 1}, set(), lambda: 0, lucid, 1j, NotImplemented, rng, iter(())]
    )


class CallMutator:
    """Generates a mutated call from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.call = from_table(self.random) if self.random.random() < 0.75 else from_python(self.random)
        self.arguments = dict(self.call.arguments)
        self.extra: list[Any] = []

    def make(self) -> BadCall:
        kind, expected = self.mutate()
        call = self.call
        positional: list[Any] = []
        keywords = dict(self.arguments)
        if call.name in POSITIONAL:
            positional, keywords = list(keywords.values()), {}
        elif call.bound and keywords:
            first = call.parameters[0].name
            if first in keywords:
                positional = [keywords.pop(first)]
        taken = {parameter.name for parameter in call.parameters}
        for name, others in OTHER_NAMES.items():
            for other in others:
                if name in keywords and other not in taken and call.op and self.random.random() < 0.5:
                    keywords[other] = keywords.pop(name)
        return BadCall(call.name, kind, call.function, expected, positional + self.extra, keywords)

    def mutate(self) -> tuple[str, Expected]:
        way = self.random.random()
        named = self.call.name not in POSITIONAL
        if way < 0.05 and self.arguments:
            return self.leave_out()
        if way < 0.09 and named:
            name = self.random.choice(["dimension", "x_", "keep_dims", "", "0", "self", "ünknown"])
            self.arguments[name] = self.random.choice([None, 1, lucid.zeros(2)])
            return "unknown keyword", (TypeError,)
        if way < 0.12:
            self.arguments = dict(list(self.arguments.items())[:1])
            self.extra = [object()] * 12
            return "too many arguments", (TypeError,)
        if way < 0.15:
            return "unchanged", (RETURNS,)
        parameters = [p for p in self.call.parameters if named or p.name in self.arguments]
        if self.call.bound and not self.call.op:
            parameters = parameters[1:]  # Python itself refuses to call a method on another type
        if not parameters:
            self.extra = [object()]
            return "too many arguments", (TypeError,)
        parameter = self.random.choice(parameters)
        if self.random.random() < 0.2:
            return self.wrong_type(parameter)
        return getattr(self, f"mutate_{parameter.kind}")(parameter, self.arguments.get(parameter.name))

    def leave_out(self) -> tuple[str, Expected]:
        name = self.random.choice(list(self.arguments))
        del self.arguments[name]
        if self.call.parameter(name).has_default:
            # With the default, the sample may be a different call, for example with another number of dimensions.
            return "left at its default", (RETURNS, ValueError, TypeError, IndexError)
        return "missing argument", (TypeError,)

    def wrong_type(self, parameter: Parameter) -> tuple[str, Expected]:
        rng, kind = self.random, parameter.kind
        junk = [no_number(rng)]
        if not parameter.optional and not (parameter.has_default and kind == "tensor"):
            junk.append(None)
        if kind in (*NUMBERS, "float", "bool", "flag", "generator", "strict", "tensor", "tensors"):
            junk.append("x")
        if kind in (*NUMBERS, "bool", "str", "generator"):
            junk += [1.5, math.nan, np.float64(2)]
        if kind in (*NUMBERS, "bool", "float", "dtype", "str", "generator"):
            junk += [[None], [[1, 2], [3]], np.array(["a", "b"]), [1j]]
        if kind in ("str", "dtype", "generator", "strict"):
            junk += [3, True]
        if kind in ("tensor", "strict", "tensors", "data"):
            junk += [np.array(["a"]), np.array([1j]), np.array([object()]), [None], ["a"], [1, object()]]
        self.arguments[parameter.name] = rng.choice(junk)
        return f"wrong type for {kind}", (TypeError,)

    # Attributes.

    def mutate_int(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        name, rng = parameter.name, self.random
        if rng.random() < 0.1:
            self.arguments[name] = rng.choice(TOO_LONG)
            return "integer beyond 64 bits", (OverflowError,)
        key = (self.call.name.removeprefix("Tensor.").removesuffix("_") if self.call.op else self.call.name, name)
        if parameter.kind == "axis" and (rank := self.rank()) is not None:
            self.arguments[name] = self.beyond(rank)
            return "dimension out of range", (IndexError, ValueError) if key[0] in ALSO_COUNTED else (IndexError,)
        if key in SIZES:
            number, kind, expected = self.size()
            self.arguments[name] = number
            if key[0] == "bincount":
                return kind, (*expected, RETURNS) if number == 0 else expected
            # An identity or a triangle without columns is empty for any number of rows.
            return kind, (*expected, RETURNS) if key[0] in ("eye", "tril_indices", "triu_indices") else expected
        self.arguments[name] = rng.choice([-1, -2, -3, -100, 0, 1, 2, 100, 2**40, 2**62, 2**63 - 1, -(2**63)])
        return "other integer", (ValueError, IndexError, MemoryError, RETURNS)

    mutate_axis = mutate_int

    def mutate_ints(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        name, rng = parameter.name, self.random
        numbers = list(value) if isinstance(value, tuple | list) else [value] if isinstance(value, int) else []
        at = rng.randrange(len(numbers)) if numbers else 0
        key = (self.call.name.removeprefix("Tensor.") if self.call.op else self.call.name, name)

        def put(number: Any) -> None:
            self.arguments[name] = (*numbers[:at], number, *numbers[at + 1 :])

        change = rng.random()
        if change < 0.1:
            put(rng.choice(TOO_LONG))
            return "integer beyond 64 bits", (OverflowError,)
        if change < 0.2:
            put(rng.choice(["1", 1.0, None, [1], object(), 1j, lucid.ones(2)]))
            return "wrong type among integers", (TypeError,)
        if parameter.kind == "axes" and (rank := self.rank()) is not None:
            if change < 0.7 or not numbers:
                put(self.beyond(rank))
                # Lists that belong together must also have the same length.
                return "dimension out of range", (IndexError, ValueError) if key[0] in ALSO_COUNTED else (IndexError,)
            self.arguments[name] = (*numbers, numbers[0])
            return "repeated dimension", (ValueError, RETURNS) if key[0] == "roll" else (ValueError,)
        if key in SIZES and change < 0.8:
            number, kind, expected = self.size()
            put(number)
            # If another size is 0, a huge size is valid: the tensor is empty.
            return kind, (*expected, RETURNS) if 0 in numbers else expected
        if change < 0.5:
            self.arguments[name] = rng.choice([tuple(numbers[:-1]), (*numbers, 1), (*numbers, 2), (*numbers, 0), ()])
        else:
            put(rng.choice([-1, -2, -100, 0, 1, 2, 7, 100, 2**40, 2**62, -(2**62), -(2**63)]))
        return "other integers", (ValueError, IndexError, MemoryError, RETURNS)

    mutate_axes = mutate_ints

    def rank(self) -> int | None:
        """The rank that dimensions refer to; None if it is not the rank of the first argument."""
        first = next(iter(self.arguments.values()), None)
        if isinstance(first, list):
            return max((part.ndim for part in first if isinstance(part, lucid.Tensor)), default=None)
        if isinstance(first, lucid.Tensor):
            return first.ndim
        return 0 if isinstance(first, int | float) and not isinstance(first, bool) else None

    def beyond(self, rank: int) -> int:
        # `unsqueeze` and `stack` allow one more dimension.
        return self.random.choice([rank + 1, -rank - 2, 100, -100, 2**31, 2**62, 2**63 - 1, -(2**63)])

    def size(self) -> tuple[int, str, Expected]:
        if self.random.random() < 0.5:
            return self.random.choice([-1, -2, -100, -(2**31), -(2**63)]), "negative size", (ValueError,)
        # 2**47 elements exceed the memory of any machine; more than 2**63 bytes is not a valid size.
        return self.random.choice([2**47, 2**50, 2**62, 2**63 - 1]), "huge size", (MemoryError, ValueError)

    def mutate_float(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        rng = self.random
        if rng.random() < 0.15:
            self.arguments[parameter.name] = rng.choice([10**400, -(10**400)])
            return "float too large", (OverflowError,)
        numbers = [math.nan, math.inf, -math.inf, -1.0, 0.0, 1e300, -1e300, 5e-324, 3, True, 2**62, lucid.tensor(2.0)]
        self.arguments[parameter.name] = rng.choice(numbers)
        # Integer tensors accept integers only, and raise TypeError for other numbers.
        return "other float", (ValueError, TypeError, RETURNS)

    def mutate_bool(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        self.arguments[parameter.name] = self.random.choice([2, 0, 1, "True", [True], math.nan, lucid.tensor(True)])
        return "no bool", (TypeError,)

    def mutate_flag(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        return self.wrong_type(parameter)

    def mutate_str(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        words = WORDS
        if parameter.name == "equation":
            words = [
                "ij,jk->iz",
                "->",
                "...,...",
                "i" * 300,
                "\0",
                "ij->ii",
                "i,j,k,l,m->",
                "ij jk",
                "1,2",
                "é",
                "a..b->ab",
            ]
            self.arguments[parameter.name] = self.random.choice(words)
            return "other equation", (ValueError, RETURNS)
        self.arguments[parameter.name] = self.random.choice(words)
        return "unknown word", (ValueError,)

    def mutate_dtype(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        rng = self.random
        if rng.random() < 0.3:
            self.arguments[parameter.name] = rng.choice(["f33", "", "float 32", "\0", "é", "int128"])
            return "no dtype of this name", (ValueError,)
        self.arguments[parameter.name] = rng.choice([*DTYPES, "float", int, float, bool, np.float32, np.dtype("int8")])
        # Random integers must fit in the dtype; requires_grad needs floats.
        return "other dtype wanted", (TypeError, ValueError, RuntimeError, RETURNS)

    def mutate_generator(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        self.arguments[parameter.name] = self.random.choice([0, 42, "cpu", lucid.Generator, np.random.default_rng(0)])
        return "no generator", (TypeError,)

    # Tensors.

    def mutate_tensor(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        rng = self.random
        if not isinstance(value, lucid.Tensor) and rng.random() < 0.3:
            self.arguments[parameter.name] = rng.choice([2**64, -(2**70)])
            return "number beyond 64 bits", (OverflowError,)
        if rng.random() < 0.05:
            self.arguments[parameter.name] = rng.choice([[[1, 2], [3]], [1, [2, [3]]], [lucid.ones(2), lucid.ones(3)]])
            strict = parameter.kind == "strict" or (self.is_self(parameter) and self.call.in_place)
            return "ragged list", (TypeError,) if strict else (ValueError,)
        changed, kind, expected = self.changed(parameter, value)
        self.arguments[parameter.name] = changed
        return kind, expected

    def mutate_strict(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        if self.random.random() < 0.3:
            self.arguments[parameter.name] = self.random.choice([2.5, 1, True, [1.0, 2.0]])
            return "no tensor", (TypeError,)
        return self.mutate_tensor(parameter, value)

    def mutate_data(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        if self.random.random() < 0.5:
            self.arguments[parameter.name] = self.random.choice([[[1, 2], [3]], [1, [2, [3]]], [[1], 2]])
            return "ragged list", (ValueError,)
        self.arguments[parameter.name] = self.random.choice([2**64, [1, -(2**70)]])
        return "number beyond 64 bits", (OverflowError,)

    def mutate_tensors(self, parameter: Parameter, value: Any) -> tuple[str, Expected]:
        rng = self.random
        parts = list(value or [])
        change = rng.random()
        if change < 0.2 or not parts:
            self.arguments[parameter.name] = [*parts, rng.choice([None, "x", object(), [object()], 1j])]
            return "wrong type among tensors", (TypeError,)
        if change < 0.3:
            self.arguments[parameter.name] = parts[1:]
            return "one tensor less", (ValueError, IndexError, TypeError, RETURNS)
        at = rng.randrange(len(parts))
        parts[at], kind, expected = self.changed(parameter, parts[at])
        self.arguments[parameter.name] = parts
        return kind, expected

    def is_self(self, parameter: Parameter) -> bool:
        return self.call.bound and parameter is self.call.parameters[0]

    def changed(self, parameter: Parameter, value: Any) -> tuple[Any, str, Expected]:
        """A replacement for a valid tensor."""
        rng = self.random
        is_tensor = isinstance(value, lucid.Tensor)
        dtype = value.dtype if is_tensor else lucid.float32
        shape = tuple(value.shape) if is_tensor else ()
        written: Expected = (RuntimeError,) if self.call.in_place else ()
        # With fewer dimensions, or ones as indices, dimensions and indices are out of range.
        shape_errors: Expected = (ValueError, IndexError, *written, RETURNS)
        change = rng.random()
        if parameter.role == "index" and is_tensor and value.numel() > 0 and change < 0.5:
            beyond = rng.choice([1000, -1000, 2**40, -(2**62)])
            mutated = value.clone()
            mutated.reshape(-1)[rng.randrange(value.numel())] = beyond
            # Offsets are compared with positions of indices, so any number is valid.
            returns: Expected = (RETURNS,) if parameter.name == "offsets" else ()
            return mutated, "index out of range", (IndexError, *returns)
        if change < 0.6 or not is_tensor:
            wanted = self.other_shape(shape)
            mutated = lucid.ones(wanted, dtype=dtype)
            if not self.call.pointwise or self.call.in_place or parameter.kind != "tensor":
                return mutated, "other shape", (*shape_errors, TypeError) if not is_tensor else shape_errors
            others = [
                tuple(t.shape) for name, t in self.arguments.items() if name != parameter.name and hasattr(t, "shape")
            ]
            try:
                np.broadcast_shapes(wanted, *others)
            except ValueError:
                return mutated, "shapes that do not broadcast", (ValueError,) if is_tensor else (ValueError, TypeError)
            return mutated, "shapes that broadcast", (RETURNS,) if is_tensor else (RETURNS, TypeError, ValueError)
        if change < 0.85:
            # Indices may overflow when converted.
            dtype_errors: Expected = (TypeError, *written, RETURNS)
            if parameter.role == "index":
                dtype_errors = (*dtype_errors, IndexError)
            if not self.call.op or self.call.op["name"] in MEANT_BY_DTYPE:
                dtype_errors = (*dtype_errors, ValueError, RuntimeError)
            return value.to(rng.choice(DTYPES)), "other dtype", dtype_errors
        if change < 0.92:
            return value.expand((*(2,) * rng.randint(1, 4), *shape)), "stretched", shape_errors
        if value.dtype.is_floating_point:
            numbers = value * rng.choice([math.nan, math.inf, 0.0, -1.0])
            return numbers, "other values", (ValueError, RETURNS)
        return value.tolist(), "a list", (*shape_errors, TypeError)

    def other_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        rng = self.random
        wanted = list(shape)
        for _ in range(rng.randint(1, 2)):
            if wanted and rng.random() < 0.6:
                wanted[rng.randrange(len(wanted))] = rng.choice([0, 1, 2, 3, 7])
            elif wanted and rng.random() < 0.5:
                wanted.pop(rng.randrange(len(wanted)))
            else:
                wanted.insert(rng.randint(0, len(wanted)), rng.choice([0, 1, 2, 5]))
        return tuple(wanted)
