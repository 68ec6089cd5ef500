"""Numbers of which code knows only how tests come out: `self.steps % 10 == 0`."""

import lucid
import lucid.nn as nn
import pytest
from same import check


class Box:
    def __init__(self, **values):
        vars(self).update(values)


class Model(nn.Module):
    """Does something now and then."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.n = 0

    def forward(self, x):
        self.n += 1
        y = self.linear(x)
        if self.n % 5 == 0:
            y = y * 0.5
        return y


def test_a_module_that_does_something_now_and_then():
    def world():
        model = Model()
        return model, [(lucid.randn(2, 3),) for _ in range(40)], lambda: [lucid.tensor(model.n)]

    # A plan for calls of each kind: one that ends at a multiple of five, one that begins there, and the others.
    check(world, min_hits=36, compiles=3)


def after(box, x):
    y = x * 2 if box.n % 3 == 1 else x
    box.n += 1
    return y


def down(box, x):
    box.n -= 2
    return x * 2 if box.n < 7 else x


def truth(box, x):
    box.n += 1
    return x * 2 if box.n % 4 else x


def no_truth(box, x):
    box.n += 1
    return x if not box.n % 4 else x * 2


def several(box, x):
    box.n += 1
    if box.n > 3 and box.n <= 9:
        x = x + 1
    if box.n != 6:
        x = x * 2
    return x * 3 if box.n >= 12 else x


def warm_up(box, x):
    return x * 2 if box.n < 6 else x


COUNTING = {"after": after, "down": down, "truth": truth, "no truth": no_truth, "several": several}


@pytest.mark.parametrize("name", COUNTING)
@pytest.mark.parametrize("start", [0, -5, 2**40])
def test_counters_that_are_tested(name, start):
    def world():
        box = Box(n=start)
        function = COUNTING[name]
        return (lambda x: function(box, x)), [(lucid.randn(3),) for _ in range(24)], lambda: [lucid.tensor(box.n)]

    check(world, min_hits=10)


def test_variables_that_are_tested():
    def world():
        n = 0

        def function(x):
            nonlocal n
            n += 1
            return x * 2 if n % 3 == 0 else x

        return function, [(lucid.randn(3),) for _ in range(20)], lambda: [lucid.tensor(n)]

    check(world, min_hits=14)


@pytest.mark.parametrize("name", ["down", "several", "warm up"])
def test_what_the_program_puts_there(name):
    """The program sets the number, also to numbers of other kinds."""
    function = {**COUNTING, "warm up": warm_up}[name]
    values = [0, 1, 7, 3, 3, 8, 5.5, 8, True, 2, 2**70, -(2**70), 10, 4, None, 6, 2**53, 5, "text", 5]

    def world():
        box = Box(n=0)

        def calls():
            for value in values:
                for _ in range(3):
                    yield (lucid.randn(3),)
                box.n = value

        return (lambda x: function(box, x)), calls, lambda: [lucid.tensor(len(repr(box.n)))]

    check(world, fallback="", min_hits=0)


def test_a_number_that_only_the_program_counts():
    def world():
        box = Box(n=0)

        def calls():
            for _ in range(20):
                yield (lucid.randn(3),)
                box.n += 1

        return (lambda x: warm_up(box, x)), calls, []

    check(world, min_hits=18, compiles=2)


def counts_twice(box, x):
    box.n += 1
    y = x * 2 if box.n % 3 == 0 else x
    box.n += 1
    return y


def counts_in_a_loop(box, x):
    for _ in range(3):
        box.n += 1
        if box.n % 4 == 0:
            x = x * 2
    return x


def counts_up_and_down(box, x):
    box.n += 2
    if box.n % 3 == 0:
        x = x * 2
    box.n -= 1
    return x


def reads_it(box, x):
    box.n += 1
    return x * box.n if box.n % 3 == 0 else x


def names_the_remainder(box, x):
    box.n += 1
    rest = box.n % 3
    return x * rest


def reads_the_remainder(box, x):
    box.n += 1
    return x * (box.n % 3 or 5)


def in_a_chain(box, x):
    box.n += 1
    return x * 2 if 3 < box.n < 7 else x


def against_another(box, x):
    box.n += 1
    return x * 2 if box.n % 7 < box.limit else x


def by_name(box, x):
    box.n += 1
    return x * 2 if getattr(box, "n") % 3 == 0 else x  # noqa: B009


def by_zero(box, x):
    box.n += 1
    return x if box.n % 0 == 0 else x * 2


def by_a_negative(box, x):
    box.n += 1
    return x * 2 if box.n % -3 == -1 else x


def shown(box, x):
    box.n += 1
    y = x * 2 if box.n % 3 == 0 else x
    return y, f"{box.n}"


OTHER_USES = [
    counts_twice,
    counts_in_a_loop,
    counts_up_and_down,
    reads_it,
    names_the_remainder,
    reads_the_remainder,
    in_a_chain,
    against_another,
    by_name,
    by_zero,
    by_a_negative,
    shown,
]


@pytest.mark.parametrize("function", OTHER_USES, ids=lambda function: function.__name__)
def test_other_uses(function):
    def world():
        box = Box(n=0, limit=3)
        calls = [(lucid.randn(3),) for _ in range(16)]
        return (lambda x: function(box, x)), calls, lambda: [lucid.tensor(box.n)]

    check(world, fallback="", min_hits=0)


def test_two_objects_with_the_same_name():
    """One is counted, the other is read: the name is used in both ways."""

    def world():
        box, other = Box(n=0), Box(n=5)

        def function(x):
            box.n += 1
            return x * other.n if box.n % 3 == 0 else x

        def calls():
            for step in range(16):
                yield (lucid.randn(3),)
                other.n = step

        return function, calls, lambda: [lucid.tensor(box.n)]

    check(world, fallback="", min_hits=0)
