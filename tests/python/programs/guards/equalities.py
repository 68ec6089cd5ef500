"""Values that are equal but not identical."""

import array
import decimal
import enum
import fractions

import lucid
import numpy as np

from .._harness import Box, Programs, program, sample


class Level(enum.IntEnum):
    ONE = 1
    TWO = 2


class Text(str):
    """A string with an attribute."""


def cycle(values, use):
    """A program that assigns each of the values to an attribute for three calls, twice."""

    def assign(run):
        box = Box(value=values[0])
        f = run.compile(lambda x: use(x, box.value))
        n = len(values)
        run.repeat(f, sample, n=6 * n, before=lambda i: setattr(box, "value", values[i // 3 % n]))

    return assign


def integers(x):
    return (x * 10).to(lucid.i32)


class Equalities(Programs, compiles=True, guards=True):
    zero_and_minus_zero = cycle([0.0, -0.0], lambda x, v: 1 / (x * 0 + v))
    one_as_int_float_bool = cycle([1, 1.0, True], lambda x, v: integers(x) * v)
    tuples_of_equal_numbers = cycle([(1, 2), (1.0, 2), (True, 2.0)], lambda x, v: integers(x) * v[0] + v[1])
    nested_equal_tuples = cycle([((1,), 0.0), ((1.0,), -0.0)], lambda x, v: 1 / (integers(x) * v[0][0] * 0 + v[1]))
    frozensets_of_equal_numbers = cycle([frozenset({1}), frozenset({1.0})], lambda x, v: integers(x) * next(iter(v)))
    dict_keys_that_are_equal = cycle([{1: 2.0}, {1.0: 2.0}, {True: 2.0}], lambda x, v: integers(x) * next(iter(v)))
    empty_ranges = cycle([range(0), range(2, 2)], lambda x, v: x * v.start)
    ranges = cycle([range(0, 3, 2), range(0, 4, 2), range(0, 6, 2)], lambda x, v: x * v.stop + sum(v))
    slices = cycle([slice(0, 2), slice(0, 2, None), slice(0, 2, 1), slice(1, 3)], lambda x, v: x[v] * 2)
    decimals = program(eager="reads closure box.value, a decimal.Decimal whose state cannot be checked")(
        cycle([decimal.Decimal("1"), decimal.Decimal("1.0")], lambda x, v: x * len(str(v)))
    )
    fractions_ = cycle([fractions.Fraction(1, 2), fractions.Fraction(1, 3)], lambda x, v: x * v.denominator)
    complex_zeros = cycle([complex(1, 0.0), complex(1, -0.0)], lambda x, v: 1 / (x * 0 + v.imag))
    int_enum_and_int = cycle([1, Level.ONE, Level.TWO], lambda x, v: x * len(repr(v)))
    texts = cycle(["a", Text("a"), "ab"[:1]], lambda x, v: x * (2 if type(v) is str else 3))
    bytes_and_bytearray = cycle([b"ab", bytearray(b"ab")], lambda x, v: x * len(type(v).__name__) * v[0])
    numpy_scalars = cycle([np.float64(2), np.float32(2), np.int64(2)], lambda x, v: x.to(lucid.f16) * v.itemsize)
    nan_number = cycle([float("nan"), 1.0], lambda x, v: x * (2 if v == v else 3))
    lists_of_equal_numbers = cycle([[1, 2], [1.0, 2], [True, 2]], lambda x, v: integers(x) * v[0])
    large_integers = cycle([2**80, 2**80 + 1], lambda x, v: x * (v % 7))
    dtypes = cycle([lucid.f32, lucid.f64, lucid.i32], lambda x, v: x.to(v) * 2)
    arrays_of_machine_numbers = program(eager="reads closure box.value, a array.array whose state cannot be checked")(
        cycle([array.array("i", [1]), array.array("d", [1])], lambda x, v: integers(x) * v[0])
    )

    def set_with_another_order(run):
        # Both have the same slot in the hash table, so the first key stays first.
        one, other = set(), set()
        one.update([0, 8])
        other.update([8, 0])
        box = Box(value=one)
        f = run.compile(lambda x: x * next(iter(box.value)) + len(box.value))
        run.repeat(f, sample, n=8, before=lambda i: setattr(box, "value", one if i % 4 < 2 else other))

    def dict_with_another_order(run):
        table = {"a": 1.0, "b": 2.0}

        def f(x):
            for value in table.values():
                x = (x + value) * value
            return x

        run.repeat(run.compile(f), sample, n=8, at={4: lambda: table.__setitem__("a", table.pop("a"))})

    def numpy_array_reshaped_in_place(run):
        a = np.arange(12.0, dtype="f4").reshape(3, 4)
        f = run.compile(lambda x: x[: a.shape[0], :1] * a.ndim)
        run.repeat(f, sample, n=8, before=lambda i: setattr(a, "shape", [(3, 4), (2, 6), (1, 12)][i // 3]))

    def numpy_array_of_another_dtype(run):
        arrays = [np.zeros(4, "i4"), np.zeros(4, "f4")]
        box = Box(a=arrays[0])
        f = run.compile(lambda x: x * (2 if box.a.dtype.kind == "i" else 3))
        run.repeat(f, sample, n=8, before=lambda i: setattr(box, "a", arrays[i // 2 % 2]))

    def numpy_scalar_array_in_place(run):
        a = np.array(2.0)
        run.repeat(run.compile(lambda x: x * float(a)), sample, n=8, before=lambda i: a.__setitem__(..., 2.0 + i // 3))
