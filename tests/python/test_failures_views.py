"""Compiled matches eager bit for bit: in-place writes and views. Numbers refer to docs/failures.md."""

import lucid
import lucid.nn as nn
import pytest
from same import bits, check, check_scenario
from worlds import calls, given, numbered, parts_of, pure

# Functions that write to their argument, which the caller reads afterwards.


def add_one(x):
    x += 1
    return x.sum()


def write_an_intermediate(x):
    y = x * 2
    y += 1
    y.mul_(x)
    return y


def write_without_returning(x):
    y = x.clone()
    y.add_(1)
    return x * 2


def read_before_and_after(x):
    before = x * 2
    x.add_(1)
    return before, x * 2


def write_a_row(x):
    y = x[0]
    y.mul_(2)
    return x.sum()


def write_through_a_flat_view(x):
    x.view(-1)[3] = 1
    return x * 2


def write_a_view_of_a_view(x):
    x[1:].transpose(0, 1)[1].add_(5)
    return x.clone()


def write_the_base(x):
    y = x * 1
    row = y[1]
    y.mul_(3)
    return row + 1


def write_and_return(x):
    return x.mul_(2)


def write_many(x):
    x += 1
    y = x[0]
    y.mul_(2)
    x.view(-1)[3] = 7
    return x.sum()


def write_steps(x):
    x[::2, 1::2] = 0
    return x.sum(0)


def write_rows_in_a_loop(x):
    out = lucid.zeros(3, 4)
    for i in range(3):
        out[i] = x[i] * i
    return out


def write_cells_in_a_loop(x):
    out = lucid.empty(3, 4)
    for i in range(3):
        for j in range(4):
            out[i, j] = x[i, 3 - j]
    return out


def write_where_positive(x):
    y = x * 2
    y[y > 0.5] = 0
    return y


def write_argument_where_positive(x):
    x[x > 0] = -1
    return x + 1


def write_columns_by_index(x):
    y = x * 1
    y[:, lucid.tensor([0, 2])] = 9
    return y


def index_add(x):
    return (x * 1).index_add_(0, lucid.tensor([2, 0, 2]), x * 10)


def scatter(x):
    return lucid.zeros(3, 4).scatter_(1, (x > 0).long(), x)


def scatter_add(x):
    return lucid.zeros(3, 4).scatter_add_(1, (x > 0).long() * 3, x)


def index_put(x):
    y = x * 1
    y[lucid.tensor([0, 2]), lucid.tensor([1, 3])] = 5.0
    return y


def masked_fill(x):
    return (x * 1).masked_fill_(x > 0, 3.0)


def copy_parts(x):
    y = lucid.zeros(3, 4)
    y[:2].copy_(x[1:])
    y[2:].copy_(x[:1])
    return y


def swap_rows(x):
    first = x[0].clone()
    x[0] = x[1]
    x[1] = first
    return x.sum(1)


def write_a_diagonal(x):
    x.diagonal().zero_()
    return x @ x.T


def write_through_data(x):
    x.data[1:3].fill_(1)
    return x * 2


def write_under_no_grad(x):
    with lucid.no_grad():
        x.mul_(0.5)
    return x.exp()


def write_nothing(x):
    x[4:, -2].div_(0.5)
    return x[4:, -2] + 1, x * 2


WRITES = {
    "16 add one": add_one,
    "16 an intermediate": write_an_intermediate,
    "16 not returned": write_without_returning,
    "16 read before and after": read_before_and_after,
    "16 written and returned": write_and_return,
    "16 under no_grad": write_under_no_grad,
    "16 swap": swap_rows,
    "17 a row": write_a_row,
    "17 a flat view": write_through_a_flat_view,
    "17 a view of a view": write_a_view_of_a_view,
    "17 the base": write_the_base,
    "17 many": write_many,
    "17 steps": write_steps,
    "17 a diagonal": write_a_diagonal,
    "17 data": write_through_data,
    "17 without elements": write_nothing,
    "20 rows in a loop": write_rows_in_a_loop,
    "20 cells in a loop": write_cells_in_a_loop,
    "20 a mask": write_where_positive,
    "20 a mask on an argument": write_argument_where_positive,
    "20 columns": write_columns_by_index,
    "20 index_add_": index_add,
    "20 scatter_": scatter,
    "20 scatter_add_": scatter_add,
    "20 index_put": index_put,
    "20 masked_fill_": masked_fill,
    "20 parts": copy_parts,
}


@numbered(WRITES)
def test_writes(case):
    check(pure(case, (3, 4)), min_hits=2)


INTERMEDIATE = [
    "16 an intermediate",
    "16 not returned",
    "16 under no_grad",
    "17 the base",
    "20 rows in a loop",
    "20 cells in a loop",
    "20 a mask",
    "20 columns",
    "20 index_add_",
    "20 scatter_",
    "20 scatter_add_",
    "20 index_put",
    "20 masked_fill_",
    "20 parts",
]


@pytest.mark.parametrize("name", INTERMEDIATE)
def test_writes_with_gradients(name):
    check(pure(WRITES[name], (3, 4), grad=True), min_hits=2)


@pytest.mark.parametrize("name", ["16 add one", "17 a row", "20 a mask on an argument"])
def test_16_leaves_that_must_not_be_written(name):
    expected = check(pure(WRITES[name], (3, 4), grad=True), min_hits=0)
    assert expected.cache_info().compiles == 0


STATE_WRITES = {
    "16 a counter": lambda x, w: w.add_(1) * x,
    "17 data of a parameter": lambda x, w: (w.data[1:3].fill_(1), w * x)[1],
    "17 a row of a buffer": lambda x, w: (w[1:2].mul_(2), w * x)[1],
    "17 a view returned": lambda x, w: (w.add_(x), w[1:])[1],
    "16 a moving average": lambda x, w: w.mul_(0.9).add_(x.mean() * 0.1) + x,
    "16 written twice": lambda x, w: (w.add_(1), w.mul_(2), w + x)[2],
    "16 copied over": lambda x, w: (w.copy_(x), w * 2)[1],
    "18 an argument copied": lambda x, w: (w.copy_(x), x.add_(1), w - x)[2],
}


@numbered(STATE_WRITES)
def test_writes_to_state(case):
    def world():
        w = lucid.arange(4.0)

        def f(x):
            return case(x, w)

        return f, calls((4,), count=5), [w]

    check(world, min_hits=3)


def test_17_a_running_maximum_of_a_module():
    class Peak(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("peak", lucid.zeros(3))

        def forward(self, x):
            self.peak.copy_(lucid.maximum(self.peak, x.max(0).values))
            return x / (self.peak + 1)

    def world():
        net = Peak()
        return net, calls((4, 3), count=5), parts_of(net)

    check(world, min_hits=3)


# Arguments that share memory.

SHARED = {
    "18 one tensor": lambda x, y: (x, x),
    "18 two tensors": lambda x, y: (x[:2], y[:2]),
    "18 overlapping parts": lambda x, y: (x[:2], x[1:3]),
    "18 the same part": lambda x, y: (x[1:3], x[1:3]),
    "18 adjacent parts": lambda x, y: (x[:2], x[2:]),
    "18 a base and its view": lambda x, y: (x, x[1:2]),
    "18 a view and its base": lambda x, y: (x[1:2], x),
}


@pytest.mark.parametrize("write", ["first", "second", "both", "none"])
@numbered(SHARED)
def test_arguments_that_share_memory(case, write):
    def f(a, b):
        if write in ("first", "both"):
            a.add_(1)
        if write in ("second", "both"):
            b.mul_(2)
        return a * b, a.sum() - b.sum()

    check(given(f, *[lambda: case(lucid.arange(4.0), lucid.arange(4.0) + 3)] * 4), min_hits=2)


def test_18_aliasing_that_changes_between_calls():
    def f(a, b):
        a.add_(1)
        return a * b

    def world():
        def make():
            for _ in range(2):
                x, y = lucid.arange(4.0), lucid.arange(4.0)
                for name in SHARED:
                    a, b = SHARED[name](x, y)
                    if a.shape == b.shape:
                        yield a, b

        return f, make, []

    check(world, min_hits=3)


def test_18_arguments_that_were_the_same_tensor_need_not_be():
    def world():
        def make():
            a, b = lucid.randn(4), lucid.randn(4)
            for x, y, z in [(a, a, a[1:]), (a, b, a[1:]), (b, a, a[1:]), (b, b, b[1:]), (a, a, b[:3]), (a, a, a[1:])]:
                yield [x, y, z]

        return lambda x, y, z: x[1:] + y[1:] * z, make, []

    assert check(world).cache_info().compiles > 1


def test_18_code_that_checks_whether_two_arguments_are_identical():
    def world():
        def make():
            x, y = lucid.full((2,), 5.0), lucid.full((2,), 7.0)
            for _ in range(3):
                yield x, y
                yield x, x
                yield y, y

        return lambda a, b: a * 2 if a is b else a * b, make, []

    check(world, compiles=2, min_hits=7)


def test_18_code_that_checks_whether_an_argument_is_state():
    def world():
        weight = lucid.full((2,), 5.0)

        def make():
            for _ in range(3):
                yield [lucid.full((2,), 7.0)]
                yield [weight]

        return lambda x: x * 2 if x is weight else x * 3, make, [weight]

    check(world, compiles=2, min_hits=4)


def test_18_an_argument_that_is_state():
    def world():
        weight = lucid.arange(4.0)

        def f(x):
            weight.add_(1)
            return x * weight

        def make():
            for number in range(8):
                yield [lucid.ones(4) if number % 2 else weight]

        return f, make, [weight]

    check(world, min_hits=4)


# Results that the caller stores.


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("kind", ["new", "view of a new tensor", "state"])
def test_19_stored_results_never_change(kind, grad):
    def scenario(wrap):
        weight = lucid.zeros(4, requires_grad=grad)
        functions = {
            "new": lambda x: x * 2 + weight,
            "view of a new tensor": lambda x: (x * 2 + weight)[1:],
            "state": lambda x: (weight * 1, x + weight),
        }
        f = wrap(functions[kind])
        kept = []
        snapshots = []
        for number in range(6):
            with lucid.no_grad():
                weight.add_(1)
            kept.append(f(lucid.full((4,), float(number))))
            snapshots.append(bits(kept[-1]))
        assert [bits(result) for result in kept] == snapshots
        return kept

    check_scenario(scenario, min_hits=4)


def test_19_results_that_the_caller_writes_to():
    def scenario(wrap):
        f = wrap(lambda x: (x * 2, x + lucid.ones(3)))
        seen = []
        for _ in range(4):
            doubled, moved = f(lucid.ones(3))
            seen.append((doubled.clone(), moved.clone()))
            doubled.zero_()
            moved.mul_(100)
        return seen

    check_scenario(scenario, min_hits=3)


# Bugs that random programs found.


def test_36_views_of_arguments_that_other_results_use():
    def f(x):
        y = x.flatten()
        return y, lucid.vdot(y, y)

    check(pure(f, (2, 4, 6), grad=True))
