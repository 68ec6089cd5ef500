"""Data classes, enums, arguments and results."""

import collections
import dataclasses
import enum

from ._common import CALLS, Box, Net, program, sample

GCFG = None


@dataclasses.dataclass
class DC:
    a: float = 1.0
    t: object = None


class Mode(enum.Enum):
    A = 1
    B = 2


NT = collections.namedtuple("NT", "a b")


@program
def dataclass_arg(compile):
    f = compile(lambda d: d.t * d.a)
    for i in range(CALLS):
        yield f(DC(2.0, sample(i)))


@program
def dataclass_arg_number_varies(compile):
    f = compile(lambda d: d.t * d.a)
    for i in range(CALLS):
        yield f(DC(float(i), sample(i)))


@program
def dataclass_result(compile):
    f = compile(lambda x: DC(2.0, x * 2))
    for i in range(CALLS):
        r = f(sample(i))
        yield (r.a, r.t, type(r).__name__)


@program
def dataclass_global(compile):
    global GCFG
    GCFG = DC(1.0)
    f = compile(lambda x: x * GCFG.a)
    for i in range(CALLS):
        GCFG.a = 1.0 + i // 3
        yield f(sample(i))


@program
def enum_arg(compile):
    f = compile(lambda x, m: x * 2 if m is Mode.A else x + 1)
    for i in range(CALLS):
        yield f(sample(i), Mode.A if i % 2 else Mode.B)


@program
def enum_closure(compile):
    m = Mode.A

    def f(x):
        return x * 2 if m == Mode.A else x + 1

    f = compile(f)
    for i in range(CALLS):
        m = Mode.A if i < 4 else Mode.B
        yield f(sample(i))


@program
def namedtuple_io(compile):
    f = compile(lambda n: NT(n.a + n.b, n.a))
    for i in range(CALLS):
        r = f(NT(sample(i), sample(i + 1)))
        yield (r.a, r.b, type(r).__name__)


@program
def nested_structures(compile):
    f = compile(lambda d: {"o": [d["x"] * 2, (d["y"][0], None)], "same": d["x"]})
    for i in range(CALLS):
        x = sample(i)
        r = f({"x": x, "y": [sample(i + 1)]})
        yield (r, r["same"] is x)


@program
def input_returned(compile):
    f = compile(lambda x: x)
    for i in range(CALLS):
        x = sample(i)
        yield (f(x) is x)


@program
def same_tensor_twice(compile):

    def g(x):
        y = x * 2
        return (y, y)

    f = compile(g)
    for i in range(CALLS):
        a, b = f(sample(i))
        yield (a, a is b)


@program
def param_returned(compile):

    class M(Net):
        def forward(self, x):
            return self.w

    m = M()
    f = compile(m)
    for i in range(CALLS):
        yield (f(sample(i)) is m.w)


@program
def arg_types_1_10_true(compile):
    f = compile(lambda x, n: x * 2 if n is True else x * n)
    for i in range(3):
        for n in (1, 1.0, True):
            yield f(sample(i), n)


@program
def str_none_args(compile):
    f = compile(lambda x, m=None, *a, **k: x if m is None else x * len(m) + len(a) + len(k))
    for i in range(4):
        yield (f(sample(i)), f(sample(i), "ab"), f(sample(i), m="abc"), f(sample(i), "a", 1, z=2))


@program
def user_object_arg(compile):
    o = Box(k=1.0)
    f = compile(lambda x, o: x * o.k)
    for i in range(CALLS):
        o.k = 1.0 + i // 4
        yield f(sample(i), o)


@program
def user_object_arg_fresh(compile):
    f = compile(lambda x, o: x * o.k)
    for i in range(20):
        yield f(sample(i), Box(k=1.0 + i))
