"""Functions that may tell a symbolic size from an int: lucid.export writes what they compute for ints, or refuses."""

import contextlib
import json

import lucid
import numpy as np
import pytest
from exporting import check, check_or_refuse, check_sizes

FACTORS = {int: 2}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


def length_of_text(size):
    try:
        return len(json.dumps(size))
    except TypeError:
        return 100


def added(size):
    try:
        return int.__add__(size, 1)
    except TypeError:
        return 100


def bits_of(size):
    try:
        return int.bit_length(size)
    except TypeError:
        return 100


def suppressed(size):
    length = 100
    with contextlib.suppress(TypeError):
        length = len(json.dumps(size))
    return length


def is_array_of_ints(size):
    return np.array([size]).dtype == np.int64


DIFFERENT = [
    lambda n: 2 if type(n) is int else 3,
    lambda n: FACTORS.get(type(n), 3),
    lambda n: len(type(n).__name__),
    lambda n: 2 if issubclass(type(n), int) else 3,
    lambda n: 2 if is_array_of_ints(n) else 3,
    # At the size of the example, these compute the same with a symbolic size.
    lambda n: 4 if type(n) is int else n,
    lambda n: 4 if is_array_of_ints(n) else n,
    lambda n: 2 if type(n) is int and n > 40 else 3,
    lambda n: 2 if is_array_of_ints(n) and n > 40 else 3,
]
RAISING = [length_of_text, added, bits_of, suppressed]


@pytest.mark.parametrize("factor", DIFFERENT)
def test_what_differs_for_symbolic_sizes_is_refused(factor, path):
    line = r"the operands or attributes of mul \(test_export_sizes.py:\d+\) differ; leave the dimension out"
    with pytest.raises(ValueError, match=f"behaves differently with symbolic sizes.*{line}"):
        check_sizes(lambda x: x * factor(x.shape[0]), path)
    assert not path.exists()


@pytest.mark.parametrize("factor", RAISING)
def test_errors_of_symbolic_sizes_that_are_caught(factor, path):
    check_sizes(lambda x: x * factor(x.shape[0]), path, max=12, sizes=(1, 2, 4, 9, 10, 11, 12))


def test_errors_of_symbolic_sizes_in_a_large_range(path):
    with pytest.raises(ValueError, match=r"smaller ranges; TypeError at .*:\d+ is raised for symbolic sizes only"):
        check_sizes(lambda x: x * bits_of(x.shape[0]), path, max=1000)


def test_identity(path):
    reason = "behaves differently with symbolic sizes"
    check_or_refuse(
        reason,
        lambda: lambda x: x * 2 if x.shape[0] is x.shape[0] else x * 3,
        lucid.ones(4, 3),
        path,
        dynamic={"x": {0: "n"}},
    )


def test_another_op(path):
    with pytest.raises(ValueError, match=r"it computes exp \(.*:\d+\) in place of relu \(.*:\d+\)"):
        check_sizes(lambda x: x.relu() if type(x.shape[0]) is int else x.exp(), path)


def test_a_further_op(path):
    with pytest.raises(ValueError, match=r"it computes exp \(.*:\d+\) in place of nothing"):
        check_sizes(lambda x: x.relu() if type(x.shape[0]) is int else x.relu().exp(), path)


def test_constants(path):
    with pytest.raises(ValueError, match="behaves differently"):
        check_sizes(lambda x: x * lucid.tensor([2.0] if type(x.shape[0]) is int else [3.0]), path)


@pytest.mark.parametrize("value", [lambda number: number, lambda number: lucid.tensor([float(number)])])
def test_state(value, path):
    def make():
        total = lucid.zeros(1)

        def function(x):
            total.add_(value(1 if type(x.shape[0]) is int else 2))
            return x + 1

        return function

    with pytest.raises(ValueError, match="behaves differently"):
        check(make, lucid.ones(4, 3), path, dynamic={"x": {0: "n"}})


def test_type_that_makes_no_difference(path):
    program = check_sizes(lambda x: x * 2 if type(x) is lucid.Tensor else x * 3, path)
    assert program.graph().count("graph ") == 2


def test_type_in_a_large_range(path):
    """Not all sizes can be compared."""
    with pytest.raises(ValueError, match=r"uses type\(\) or compares with `is`.* use isinstance\(\) and =="):
        check_sizes(lambda x: x * 2 if type(x) is lucid.Tensor else x * 3, path, max=1000)


def test_isinstance_in_a_large_range(path):
    check_sizes(lambda x: x * 2 if isinstance(x.shape[0], int) else x * 3, path, max=1000)


def test_types_that_do_not_vary(path):
    check(lambda: lambda x: x * 2 if type(x.shape[0]) is int else x * 3, lucid.ones(4, 3), path)


def test_a_call_that_writes_and_cannot_become_a_graph(path):
    state = lucid.zeros(1)

    def f(x):
        state.add_(1)
        return x[x > 0].sum() + state

    with pytest.raises(ValueError, match=r"lucid.export: the call cannot be compiled: .* depends on values"):
        lucid.export(f, lucid.ones(3), path, dynamic={"x": {0: "n"}})
    assert state.item() == 0


def test_empty_examples(path):
    with pytest.raises(ValueError, match="'n' is 0 in an example of x, but sizes that vary must be at least 1 there"):
        lucid.export(lambda x: x + 1, lucid.ones(0, 3), path, dynamic={"x": {0: "n"}})
    check(lambda: lambda x: x.sum(1), lucid.ones(4, 0), path, dynamic={"x": {0: "n"}})
