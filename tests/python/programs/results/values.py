"""Results that are plain values, and results that contain themselves."""

import dataclasses
import enum
import typing

import numpy as np
from lucid import nn

from .._harness import Programs, program, repeat, x0


class Col(enum.Enum):
    A = 1


class Fl(enum.Flag):
    A = 1
    B = 2


@dataclasses.dataclass(frozen=True)
class Fr:
    y: object
    tag: str = "a"


@dataclasses.dataclass
class Outer:
    inner: object
    items: list


class TNT(typing.NamedTuple):
    a: object
    b: int = 3


class TD(typing.TypedDict):
    a: object


@dataclasses.dataclass
class DefF:
    y: object
    meta: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Cyc:
    y: object
    me: object = None


class ResultValues(Programs):
    ret_nothing = repeat(lambda x: None, x0)
    ret_ints_floats_nan = repeat(lambda x: (float("nan"), -0.0, True, 1, 1.0, 10**30, "s", b"b", None, ..., 1j), x0)
    ret_np_scalar = repeat(lambda x: (x * 2, np.float64(2.5)), x0)
    ret_np_float32 = repeat(lambda x: (x * 2, np.float32(2.5)), x0)
    ret_np_array = repeat(lambda x: (x * 2, np.zeros(2)), x0)
    ret_flag = repeat(lambda x: (x * 2, Fl.A | Fl.B), x0)
    ret_parameter = repeat(lambda x: nn.Parameter(x * 2), x0)
    ret_big_tree = repeat(lambda x: {"a": [(x * i, {"b": x + i}) for i in range(20)]}, x0)

    def ret_empty_containers(run):
        f = run.compile(lambda x: ([], (), {}, [[]]))
        rs = []
        for _ in range(3):
            r = f(x0())
            r[0].append(1)
            r[2]["a"] = 1
            r[3][0].append(2)
            run.see(r)

    @program(ordinary=True)
    def ret_topk(run):
        f = run.compile(lambda x: (x.topk(2), x.max(0), x.sort()))
        for _ in range(3):
            r = run.call(f, x0())
            run.see(type(r[0]).__name__, hasattr(r[0], "values"))

    def ret_fn(run):
        def g(x):
            y = x * 2
            return y, (lambda: y)

        f = run.compile(g)
        for i in range(3):
            r = f(x0() * i)
            run.see(r[1]())

    def ret_generator(run):
        def g(x):
            yield x * 2
            yield x * 3

        f = run.compile(g)
        for _ in range(3):
            run.see(list(f(x0())))

    def ret_map_zip(run):
        f = run.compile(lambda x: zip([x], [x * 2]))
        for _ in range(3):
            run.see(list(f(x0())))

    def ret_requires_grad_leaf(run):
        f = run.compile(lambda x: (x * 2).requires_grad_())
        for _ in range(3):
            r = run.call(f, x0())
            (r * 3).sum().backward()
            run.see(r.grad)

    def ret_module(run):
        f = run.compile(lambda x: nn.Linear(3, 3))
        for _ in range(3):
            r = f(x0())
            run.see(r.weight)

    def ret_dc_default_factory(run):
        f = run.compile(lambda x: DefF(x * 2))
        for i in range(3):
            r = f(x0())
            r.meta["i"] = i
            run.see(r)

    def ret_dc_cycle(run):
        def g(x):
            c = Cyc(x * 2)
            c.me = c
            return c

        f = run.compile(g)
        for _ in range(3):
            r = f(x0())
            run.see(r.y, r.me is r)

    def ret_list_cycle(run):
        def g(x):
            l = [x * 2]
            l.append(l)
            return l

        f = run.compile(g)
        for _ in range(3):
            with run.errors(BaseException):
                r = f(x0())
                run.see(r[0], r[1] is r)

    def ret_dict_cycle(run):
        def g(x):
            l = {"y": x * 2}
            l["me"] = l
            return l

        f = run.compile(g)
        for _ in range(3):
            with run.errors(BaseException):
                r = f(x0())
                run.see(r["y"], r["me"] is r)

    def ret_state_tuple(run):
        st = (1, [2])
        f = run.compile(lambda x: (x * 2, st))
        for _ in range(3):
            r = f(x0())
            run.see(r[1] is st, r[1][1] is st[1])

    def ret_state_tuple_pure(run):
        st = (1, 2)
        f = run.compile(lambda x: (x * 2, st))
        for _ in range(3):
            r = f(x0())
            run.see(r[1] is st)

    def ret_arg_tuple(run):
        f = run.compile(lambda x, t: (x * 2, t))
        t = (1, 2)
        for _ in range(3):
            r = f(x0(), t)
            run.see(r[1] is t)
        n = TNT(x0())
        f = run.compile(lambda x, t: (x * 2, t))
        for _ in range(3):
            r = f(x0(), n)
            run.see(r[1] is n)

    def ret_string_identity(run):
        s = "".join(["a", "b" * 50])
        o = 10**20
        f = run.compile(lambda x: (s, o))
        for _ in range(3):
            r = f(x0())
            run.see(r[0] is s, r[1] is o)


class OrdinaryResultValues(Programs, ordinary=True):
    ret_enum = repeat(lambda x: (x * 2, Col.A), x0)
    ret_frozen_dc = repeat(lambda x: Fr(x * 2), x0)
    ret_nested_dc = repeat(lambda x: Outer(Fr(x * 2), [Fr(x + 1), x]), x0)
    ret_typing_nt = repeat(lambda x: TNT(x * 2), x0)
    ret_typeddict = repeat(lambda x: TD(a=x * 2), x0)
