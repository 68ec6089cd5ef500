"""Objects whose methods are called implicitly."""

import abc
import collections
import contextlib
import copy
import dataclasses
import functools

import lucid

from .._harness import Box, Programs, program, sample


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


def gauged(use):
    """A program that uses a gauge, whose number grows."""

    def grow(run):
        gauge = Gauge(1)
        f = run.compile(lambda x: use(x, gauge))
        run.repeat(f, sample, n=9, before=lambda i: setattr(gauge, "number", 1 + i // 3))

    return grow


def within(x, gauge):
    with gauge as number:
        return x * number


class Protocols(Programs, compiles=True, guards=True):
    protocol_bool = gauged(lambda x, g: x * (2 if g else 3))
    protocol_len = gauged(lambda x, g: x * len(g))
    protocol_index = gauged(lambda x, g: x[g:] * 2)
    protocol_float = gauged(lambda x, g: x * float(g))
    protocol_contains = gauged(lambda x, g: x * (2 if 2 in g else 3))
    protocol_iter = gauged(lambda x, g: x * sum(g))
    protocol_eq = gauged(lambda x, g: x * (2 if g == 2 else 3))
    protocol_lt = gauged(lambda x, g: x * (2 if g < 2 else 3))
    protocol_repr = gauged(lambda x, g: x * len(repr(g)))
    protocol_format = gauged(lambda x, g: x * len(f"{g!r}"))
    protocol_unpacking = gauged(lambda x, g: x * len([*g, 1]))
    protocol_with = gauged(within)
    protocol_sorted = gauged(lambda x, g: x * (2 if sorted([g, Gauge(2)], key=float)[0] is g else 3))
    copy_of_an_object = gauged(lambda x, g: x * copy.copy(g).number)

    def method_replaced_on_the_class(run):
        class Thing(Gauge):
            pass

        thing = Thing(2)
        f = run.compile(lambda x: x * len(thing))
        run.repeat(f, sample, n=8, at={4: lambda: setattr(Thing, "__len__", lambda self: 7)})

    def bases_changed(run):
        class A:
            k = 2.0

        class B:
            k = 3.0

        class C(A):
            pass

        c = C()
        run.repeat(run.compile(lambda x: x * c.k), sample, n=8, at={4: lambda: setattr(C, "__bases__", (B,))})

    def abstract_registered_later(run):
        class Shape(abc.ABC):  # noqa: B024
            pass

        class Round:
            pass

        thing = Round()
        f = run.compile(lambda x: x * (2 if isinstance(thing, Shape) else 3))
        run.repeat(f, sample, n=8, at={4: lambda: Shape.register(Round)})

    def instance_check_of_a_metaclass(run):
        class Meta(type):
            wanted = 1

            def __instancecheck__(cls, other):
                return other.number == cls.wanted

        class Kind(metaclass=Meta):
            pass

        gauge = Gauge(1)
        f = run.compile(lambda x: x * (2 if isinstance(gauge, Kind) else 3))
        run.repeat(f, sample, n=8, before=lambda i: setattr(Meta, "wanted", 1 + i // 3))

    def missing_of_a_dict(run):
        class Table(dict):
            default = 2.0

            def __missing__(self, key):
                return self.default

        table = Table()
        f = run.compile(lambda x: x * table["a"])
        run.repeat(
            f, sample, n=8, at={3: lambda: setattr(Table, "default", 5.0), 6: lambda: table.__setitem__("a", 7.0)}
        )

    def chain_map(run):
        first, second = {}, {"a": 2.0}
        chain = collections.ChainMap(first, second)
        run.repeat(run.compile(lambda x: x * chain["a"]), sample, n=8, at={4: lambda: first.__setitem__("a", 3.0)})

    def ordered_dict_turned(run):
        table = collections.OrderedDict(a=1.0, b=2.0)
        f = run.compile(lambda x: x * next(iter(table.values())))
        run.repeat(f, sample, n=8, at={4: lambda: table.move_to_end("a")})

    def user_mapping(run):
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
        f = run.compile(lambda x: x * sum(mapping.values()) + ("c" in mapping))
        run.repeat(f, sample, n=8, at={4: lambda: mapping.content.__setitem__("c", 5.0)})

    def generator_context(run):
        box = Box(k=2.0)

        @contextlib.contextmanager
        def scaled():
            yield box.k

        def f(x):
            with scaled() as k:
                return x * k

        run.repeat(run.compile(f), sample, n=8, before=lambda i: setattr(box, "k", 2.0 + i // 3))

    @program(eager="calls sys.exc_info")
    def exit_stack(run):
        box = Box(grad=True)

        def f(x):
            with contextlib.ExitStack() as stack:
                if not box.grad:
                    stack.enter_context(lucid.no_grad())
                return x * 2

        f = run.compile(f)
        for i in range(8):
            box.grad = i % 4 < 2
            y = f(sample(i).requires_grad_())
            run.see(y, y.requires_grad)

    def dataclass_replaced_inside(run):
        @dataclasses.dataclass(frozen=True)
        class Config:
            rate: float
            steps: int = 2

        configs = [Config(1.0 + k) for k in range(3)]
        box = Box(config=configs[0])
        f = run.compile(lambda x: x * dataclasses.replace(box.config, steps=3).rate)
        run.repeat(f, sample, n=12, before=lambda i: setattr(box, "config", configs[i // 4]))

    def partial_method(run):
        class Thing:
            k = 2.0

            def scale(self, x, by):
                return x * by * self.k

            twice = functools.partialmethod(scale, by=2)

        thing = Thing()
        f = run.compile(lambda x: thing.twice(x))
        run.repeat(f, sample, n=8, before=lambda i: setattr(thing, "k", 1.0 + i // 3))

    def total_ordering_(run):
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
        f = run.compile(lambda x: x * (2 if now >= wanted else 3))
        run.repeat(f, sample, n=8, before=lambda i: setattr(now, "number", i // 2))
