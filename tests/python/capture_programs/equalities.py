"""Values that are equal but not identical."""

import array
import decimal
import enum
import fractions

import lucid
import numpy as np

from ._common import CALLS, Box, attempt, program, sample


class Level(enum.IntEnum):
    ONE = 1
    TWO = 2


class Text(str):
    """A string with an attribute."""


def cycle(values, use):
    """Registers a program that assigns each of the values to an attribute for three calls, twice."""

    def run(compile):
        box = Box(value=values[0])
        f = compile(lambda x: use(x, box.value))
        for i in range(6 * len(values)):
            box.value = values[i // 3 % len(values)]
            yield attempt(f, sample(i))

    return run


def program_of(name, values, use):
    run = cycle(values, use)
    run.__name__ = name
    return program(run)


def integers(x):
    return (x * 10).to(lucid.i32)


program_of("zero_and_minus_zero", [0.0, -0.0], lambda x, v: 1 / (x * 0 + v))
program_of("one_as_int_float_bool", [1, 1.0, True], lambda x, v: integers(x) * v)
program_of("tuples_of_equal_numbers", [(1, 2), (1.0, 2), (True, 2.0)], lambda x, v: integers(x) * v[0] + v[1])
program_of("nested_equal_tuples", [((1,), 0.0), ((1.0,), -0.0)], lambda x, v: 1 / (integers(x) * v[0][0] * 0 + v[1]))
program_of("frozensets_of_equal_numbers", [frozenset({1}), frozenset({1.0})], lambda x, v: integers(x) * next(iter(v)))
program_of("dict_keys_that_are_equal", [{1: 2.0}, {1.0: 2.0}, {True: 2.0}], lambda x, v: integers(x) * next(iter(v)))
program_of("empty_ranges", [range(0), range(2, 2)], lambda x, v: x * v.start)
program_of("ranges", [range(0, 3, 2), range(0, 4, 2), range(0, 6, 2)], lambda x, v: x * v.stop + sum(v))
program_of("slices", [slice(0, 2), slice(0, 2, None), slice(0, 2, 1), slice(1, 3)], lambda x, v: x[v] * 2)
program_of("decimals", [decimal.Decimal("1"), decimal.Decimal("1.0")], lambda x, v: x * len(str(v)))
program_of("fractions_", [fractions.Fraction(1, 2), fractions.Fraction(1, 3)], lambda x, v: x * v.denominator)
program_of("complex_zeros", [complex(1, 0.0), complex(1, -0.0)], lambda x, v: 1 / (x * 0 + v.imag))
program_of("int_enum_and_int", [1, Level.ONE, Level.TWO], lambda x, v: x * len(repr(v)))
program_of("texts", ["a", Text("a"), "ab"[:1]], lambda x, v: x * (2 if type(v) is str else 3))
program_of("bytes_and_bytearray", [b"ab", bytearray(b"ab")], lambda x, v: x * len(type(v).__name__) * v[0])
program_of("numpy_scalars", [np.float64(2), np.float32(2), np.int64(2)], lambda x, v: x.to(lucid.f16) * v.itemsize)
program_of("nan_number", [float("nan"), 1.0], lambda x, v: x * (2 if v == v else 3))
program_of("lists_of_equal_numbers", [[1, 2], [1.0, 2], [True, 2]], lambda x, v: integers(x) * v[0])
program_of("large_integers", [2**80, 2**80 + 1], lambda x, v: x * (v % 7))
program_of("dtypes", [lucid.f32, lucid.f64, lucid.i32], lambda x, v: x.to(v) * 2)
program_of("arrays_of_machine_numbers", [array.array("i", [1]), array.array("d", [1])], lambda x, v: integers(x) * v[0])


@program
def set_with_another_order(compile):
    # Both have the same slot in the hash table, so the first key stays first.
    one, other = set(), set()
    one.update([0, 8])
    other.update([8, 0])
    box = Box(value=one)
    f = compile(lambda x: x * next(iter(box.value)) + len(box.value))
    for i in range(CALLS):
        box.value = one if i % 4 < 2 else other
        yield f(sample(i))


@program
def dict_with_another_order(compile):
    table = {"a": 1.0, "b": 2.0}

    def f(x):
        for value in table.values():
            x = (x + value) * value
        return x

    f = compile(f)
    for i in range(CALLS):
        if i == 4:
            table["a"] = table.pop("a")
        yield f(sample(i))


@program
def numpy_array_reshaped_in_place(compile):
    a = np.arange(12.0, dtype="f4").reshape(3, 4)
    f = compile(lambda x: x[: a.shape[0], :1] * a.ndim)
    for i in range(CALLS):
        a.shape = [(3, 4), (2, 6), (1, 12)][i // 3]
        yield f(sample(i))


@program
def numpy_array_of_another_dtype(compile):
    arrays = [np.zeros(4, "i4"), np.zeros(4, "f4")]
    box = Box(a=arrays[0])
    f = compile(lambda x: x * (2 if box.a.dtype.kind == "i" else 3))
    for i in range(CALLS):
        box.a = arrays[i // 2 % 2]
        yield f(sample(i))


@program
def numpy_scalar_array_in_place(compile):
    a = np.array(2.0)
    f = compile(lambda x: x * float(a))
    for i in range(CALLS):
        a[...] = 2.0 + i // 3
        yield f(sample(i))
