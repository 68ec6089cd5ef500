"""Data classes, enums, arguments and results."""

import collections
import dataclasses
import enum

from .._harness import Box, Net, Programs, repeat, sample, vary

GCFG = None


@dataclasses.dataclass
class DC:
    a: float = 1.0
    t: object = None


class Mode(enum.Enum):
    A = 1
    B = 2


NT = collections.namedtuple("NT", "a b")


class Structures(Programs, compiles=True, guards=True):
    dataclass_arg = repeat(lambda d: d.t * d.a, vary(lambda i: DC(2.0, sample(i))), n=8)

    def dataclass_result(run):
        f = run.compile(lambda x: DC(2.0, x * 2))
        for i in range(8):
            r = f(sample(i))
            run.see(r.a, r.t, type(r).__name__)

    def dataclass_global(run):
        global GCFG
        GCFG = DC(1.0)
        run.repeat(run.compile(lambda x: x * GCFG.a), sample, n=8, before=lambda i: setattr(GCFG, "a", 1.0 + i // 3))

    def enum_arg(run):
        f = run.compile(lambda x, m: x * 2 if m is Mode.A else x + 1)
        run.repeat(f, sample, vary(lambda i: Mode.A if i % 2 else Mode.B), n=8)

    def enum_closure(run):
        m = Mode.A

        def f(x):
            return x * 2 if m == Mode.A else x + 1

        f = run.compile(f)
        for i in range(8):
            m = Mode.A if i < 4 else Mode.B
            run.call(f, sample(i))

    def namedtuple_io(run):
        f = run.compile(lambda n: NT(n.a + n.b, n.a))
        for i in range(8):
            r = f(NT(sample(i), sample(i + 1)))
            run.see(r.a, r.b, type(r).__name__)

    def nested_structures(run):
        f = run.compile(lambda d: {"o": [d["x"] * 2, (d["y"][0], None)], "same": d["x"]})
        for i in range(8):
            x = sample(i)
            r = f({"x": x, "y": [sample(i + 1)]})
            run.see(r, r["same"] is x)

    def input_returned(run):
        f = run.compile(lambda x: x)
        for i in range(8):
            x = sample(i)
            run.see(f(x) is x)

    def same_tensor_twice(run):
        def g(x):
            y = x * 2
            return (y, y)

        f = run.compile(g)
        for i in range(8):
            a, b = f(sample(i))
            run.see(a, a is b)

    def param_returned(run):
        class M(Net):
            def forward(self, x):
                return self.w

        m = M()
        f = run.compile(m)
        for i in range(8):
            run.see(f(sample(i)) is m.w)

    def arg_types_1_10_true(run):
        f = run.compile(lambda x, n: x * 2 if n is True else x * n)
        for i in range(3):
            for n in (1, 1.0, True):
                run.call(f, sample(i), n)

    def str_none_args(run):
        f = run.compile(lambda x, m=None, *a, **k: x if m is None else x * len(m) + len(a) + len(k))
        for i in range(4):
            run.call(f, sample(i))
            run.see(f(sample(i), "ab"), f(sample(i), m="abc"), f(sample(i), "a", 1, z=2))

    def user_object_arg(run):
        o = Box(k=1.0)
        run.repeat(run.compile(lambda x, o: x * o.k), sample, o, n=8, before=lambda i: setattr(o, "k", 1.0 + i // 4))


class NeverTwiceStructures(Programs, compiles=True, guards=True, never_twice=True):
    dataclass_arg_number_varies = repeat(lambda d: d.t * d.a, vary(lambda i: DC(float(i), sample(i))), n=8)
    user_object_arg_fresh = repeat(lambda x, o: x * o.k, sample, vary(lambda i: Box(k=1.0 + i)), n=20)
