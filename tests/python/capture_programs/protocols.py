"""Objects whose methods are called implicitly."""

import abc
import collections
import contextlib
import copy
import dataclasses
import functools

import lucid

from ._common import CALLS, Box, attempt, program, sample


class Gauge:
    """Implements every protocol with a stored number."""

    def __init__(self, number):
        self.number = number

    def __bool__(self):
        return self.number > 1

    def __len__(self):
        return int(self.number)

    def __index__(self):
        return int(self.number)

    def __float__(self):
        return float(self.number)

    def __contains__(self, item):
        return item < self.number

    def __iter__(self):
        return iter(range(int(self.number)))

    def __eq__(self, other):
        return self.number == other

    __hash__ = None

    def __lt__(self, other):
        return self.number < other

    def __repr__(self):
        return "x" * int(self.number)

    def __rmul__(self, other):
        return other + self.number

    def __enter__(self):
        return self.number

    def __exit__(self, *error):
        return None


def gauged(name, use):
    def run(compile):
        gauge = Gauge(1)
        f = compile(lambda x: use(x, gauge))
        for i in range(9):
            gauge.number = 1 + i // 3
            yield attempt(f, sample(i))

    run.__name__ = name
    return program(run)


def within(x, gauge):
    with gauge as number:
        return x * number


gauged("protocol_bool", lambda x, g: x * (2 if g else 3))
gauged("protocol_len", lambda x, g: x * len(g))
gauged("protocol_index", lambda x, g: x[g:] * 2)
gauged("protocol_float", lambda x, g: x * float(g))
gauged("protocol_contains", lambda x, g: x * (2 if 2 in g else 3))
gauged("protocol_iter", lambda x, g: x * sum(g))
gauged("protocol_eq", lambda x, g: x * (2 if g == 2 else 3))
gauged("protocol_lt", lambda x, g: x * (2 if g < 2 else 3))
gauged("protocol_repr", lambda x, g: x * len(repr(g)))
gauged("protocol_format", lambda x, g: x * len(f"{g!r}"))
gauged("protocol_unpacking", lambda x, g: x * len([*g, 1]))
gauged("protocol_with", within)
gauged("protocol_sorted", lambda x, g: x * (2 if sorted([g, Gauge(2)], key=float)[0] is g else 3))
gauged("copy_of_an_object", lambda x, g: x * copy.copy(g).number)


@program
def method_replaced_on_the_class(compile):
    class Thing(Gauge):
        pass

    thing = Thing(2)
    f = compile(lambda x: x * len(thing))
    for i in range(CALLS):
        if i == 4:
            Thing.__len__ = lambda self: 7
        yield f(sample(i))


@program
def bases_changed(compile):
    class A:
        k = 2.0

    class B:
        k = 3.0

    class C(A):
        pass

    c = C()
    f = compile(lambda x: x * c.k)
    for i in range(CALLS):
        if i == 4:
            C.__bases__ = (B,)
        yield f(sample(i))


@program
def abstract_registered_later(compile):
    class Shape(abc.ABC):  # noqa: B024
        pass

    class Round:
        pass

    thing = Round()
    f = compile(lambda x: x * (2 if isinstance(thing, Shape) else 3))
    for i in range(CALLS):
        if i == 4:
            Shape.register(Round)
        yield f(sample(i))


@program
def instance_check_of_a_metaclass(compile):
    class Meta(type):
        wanted = 1

        def __instancecheck__(cls, other):
            return other.number == cls.wanted

    class Kind(metaclass=Meta):
        pass

    gauge = Gauge(1)
    f = compile(lambda x: x * (2 if isinstance(gauge, Kind) else 3))
    for i in range(CALLS):
        Meta.wanted = 1 + i // 3
        yield f(sample(i))


@program
def missing_of_a_dict(compile):
    class Table(dict):
        default = 2.0

        def __missing__(self, key):
            return self.default

    table = Table()
    f = compile(lambda x: x * table["a"])
    for i in range(CALLS):
        if i == 3:
            Table.default = 5.0
        if i == 6:
            table["a"] = 7.0
        yield f(sample(i))


@program
def chain_map(compile):
    first, second = {}, {"a": 2.0}
    chain = collections.ChainMap(first, second)
    f = compile(lambda x: x * chain["a"])
    for i in range(CALLS):
        if i == 4:
            first["a"] = 3.0
        yield f(sample(i))


@program
def ordered_dict_turned(compile):
    table = collections.OrderedDict(a=1.0, b=2.0)
    f = compile(lambda x: x * next(iter(table.values())))
    for i in range(CALLS):
        if i == 4:
            table.move_to_end("a")
        yield f(sample(i))


@program
def user_mapping(compile):
    class Mapping(collections.abc.Mapping):
        def __init__(self):
            self.content = {"a": 1.0, "b": 2.0}

        def __getitem__(self, key):
            return self.content[key]

        def __iter__(self):
            return iter(self.content)

        def __len__(self):
            return len(self.content)

    mapping = Mapping()
    f = compile(lambda x: x * sum(mapping.values()) + ("c" in mapping))
    for i in range(CALLS):
        if i == 4:
            mapping.content["c"] = 5.0
        yield f(sample(i))


@program
def generator_context(compile):
    box = Box(k=2.0)

    @contextlib.contextmanager
    def scaled():
        yield box.k

    def f(x):
        with scaled() as k:
            return x * k

    f = compile(f)
    for i in range(CALLS):
        box.k = 2.0 + i // 3
        yield f(sample(i))


@program
def exit_stack(compile):
    box = Box(grad=True)

    def f(x):
        with contextlib.ExitStack() as stack:
            if not box.grad:
                stack.enter_context(lucid.no_grad())
            return x * 2

    f = compile(f)
    for i in range(CALLS):
        box.grad = i % 4 < 2
        y = f(sample(i).requires_grad_())
        yield y, y.requires_grad


@program
def dataclass_replaced_inside(compile):
    @dataclasses.dataclass(frozen=True)
    class Config:
        rate: float
        steps: int = 2

    configs = [Config(1.0 + k) for k in range(3)]
    box = Box(config=configs[0])
    f = compile(lambda x: x * dataclasses.replace(box.config, steps=3).rate)
    for i in range(12):
        box.config = configs[i // 4]
        yield f(sample(i))


@program
def partial_method(compile):
    class Thing:
        k = 2.0

        def scale(self, x, by):
            return x * by * self.k

        twice = functools.partialmethod(scale, by=2)

    thing = Thing()
    f = compile(lambda x: thing.twice(x))
    for i in range(CALLS):
        thing.k = 1.0 + i // 3
        yield f(sample(i))


@program
def total_ordering_(compile):
    @functools.total_ordering
    class Version:
        def __init__(self, number):
            self.number = number

        def __eq__(self, other):
            return self.number == other.number

        def __lt__(self, other):
            return self.number < other.number

        __hash__ = None

    now, wanted = Version(1), Version(2)
    f = compile(lambda x: x * (2 if now >= wanted else 3))
    for i in range(CALLS):
        now.number = i // 2
        yield f(sample(i))
