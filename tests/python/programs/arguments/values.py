"""Arguments that are numbers, strings, containers and dataclasses."""

import dataclasses
import enum

import lucid
import numpy as np

from .._harness import Programs, each, vary, x0


class ValueArguments(Programs):
    complex_arg = each(lambda x, k: x * k.real + k.imag, (1 + 2j,), (1 + 3j,), (1 - 0j,), n=2)
    surrogate_str_arg = each(lambda x, k: x * len(k), ("\ud800",), ("a",), n=2)
    bigint_over_digits = each(lambda x, k: x * 2, (10**5000,), n=2)

    def num_types(run):
        f = run.compile(lambda x, k: (x * k, lucid.tensor(k), k))
        run.each(
            f,
            (1,),
            (True,),
            (1.0,),
            (0.0,),
            (-0.0,),
            (False,),
            (0,),
            (float("nan"),),
            (float("inf"),),
            (2**40,),
            (-1,),
            n=2,
        )

    def nan_payload(run):
        import struct

        n1 = struct.unpack("d", struct.pack("Q", 0x7FF8000000000001))[0]
        n2 = struct.unpack("d", struct.pack("Q", 0xFFF8000000000002))[0]
        run.each(run.compile(lambda x, k: x * k), (n1,), (n2,), (float("nan"),), n=2)

    def bigint_arg(run):
        f = run.compile(lambda x, k: x * float(k % 1000))
        run.each(f, (10**30 + 1,), (10**30 + 2,), (2**63,), (2**63 - 1,), (-(2**63) - 1,), n=2)

    def str_arg(run):
        f = run.compile(lambda x, k: x * len(k) if k != "a" else x)
        run.each(f, ("a",), ("ab",), ("\x00a",), ("é",), (b"a",), ("",), n=2)

    def intsub_arg(run):
        class I(int):
            pass

        run.each(run.compile(lambda x, k: x * k), (I(2),), (I(3),), (2,), n=2)

    def intsub_attr_arg(run):
        class I(int):
            pass

        a = I(2)
        a.s = 1
        f = run.compile(lambda x, k: x * k * k.s)
        run.each(f, (a,), n=2)
        a.s = 5
        run.each(f, (a,), n=2)

    def npscalar_arg(run):
        f = run.compile(lambda x, k: x * float(k))
        run.each(f, (np.float32(2),), (np.float64(2),), (np.int64(2),), (np.float64(3),), (np.bool_(True),), n=2)

    def enum_arg(run):
        class E(enum.Enum):
            A = 1
            B = 2

        run.each(run.compile(lambda x, k: x * k.value if k is E.A else x - 1), (E.A,), (E.B,), (E.A,), n=2)

    def intenum_arg(run):
        class E(enum.IntEnum):
            A = 1
            B = 2

        run.each(run.compile(lambda x, k: x * k), (E.A,), (E.B,), (E.A,), (1,), n=2)

    def slice_range_arg(run):
        f = run.compile(lambda x, s: x[s] if isinstance(s, slice) else x * sum(s))
        run.each(f, (slice(0, 2),), (slice(0, 2),), (slice(1, 3),), (range(3),), (range(4),), n=2)

    def kwargs_order(run):
        def g(x, **k):
            s = 0
            for _n, v in k.items():
                s = s * 10 + v
            return x * s

        f = run.compile(g)
        for k in (dict(a=1, b=2), dict(b=2, a=1), dict(a=1, b=2), dict(a=2, b=1)):
            for _ in range(2):
                run.call(f, x0(), **k)

    def pos_vs_kw(run):
        f = run.compile(lambda x, y=2, *, z=3: x * y * z)
        for _ in range(2):
            run.call(f, x0())
            run.call(f, x0(), 5)
            run.call(f, x0(), y=5)
            run.call(f, x0(), z=5)
            run.call(f, x=x0(), z=1)
            run.call(f, x0(), 5, 6)
            run.call(f)
            run.call(f, x0(), w=1)
            run.call(f, x0(), x=x0())

    def varargs(run):
        f = run.compile(lambda *a, **k: sum(a) + sum(k.values()))
        for _ in range(2):
            run.call(f, x0())
            run.call(f, x0(), x0())
            run.call(f, x0(), b=x0())
            run.call(f, a=x0(), b=x0() * 2)
            run.call(f, b=x0() * 2, a=x0())
            run.call(f)

    def kwarg_tensors_swapped(run):
        f = run.compile(lambda **k: k["a"] - k["b"] * 2)
        run.repeat(f, b=vary(lambda _: x0() * 3), a=x0, n=2, before=lambda _: run.call(f, a=x0(), b=x0() * 3))

    def dict_arg_order(run):
        def g(x, d):
            s = x * 0
            for _k, v in d.items():
                s = s * 2 + v
            return s

        f = run.compile(g)
        for d in (
            {"a": 1, "b": 2},
            {"b": 2, "a": 1},
            {"a": 1.0, "b": 2},
            {"a": x0(), "b": 1},
            {1: 1, 2: 2},
            {True: 1, 2: 2},
            {1.0: 1, 2: 2},
            {(1, 2): 3},
        ):
            run.repeat(f, x0, vary(lambda _: dict(d)), n=2)

    def dict_obj_keys(run):
        class K:
            def __init__(self, v):
                self.v = v

            def __hash__(self):
                return 1

            def __eq__(self, o):
                return self.v == o.v

        f = run.compile(lambda x, d: x * sum(k.v for k in d) + sum(d.values()))
        run.repeat(f, x0, vary(lambda _: {K(1): 2}))
        run.call(f, x0(), {K(4): 2})
        run.call(f, x0(), {K(1): 2})

    def nested_arg(run):
        f = run.compile(lambda t: t[0]["a"][0] * t[1][1] + t[0]["b"])
        for k in (1, 1, 2, 2.0):
            run.call(f, ({"a": [x0()], "b": k}, (0, x0())))

    def list_vs_tuple(run):
        f = run.compile(lambda x, l: x * 2 if isinstance(l, list) else x * 3)
        run.each(f, ([1],), ((1,),), ([1],), ([],), ((),), n=2)

    def listsub_arg(run):
        class L(list):
            pass

        f = run.compile(lambda x, l: x * sum(l))
        l = L([1, 2])
        run.each(f, (l,), n=2)
        l.append(3)
        run.each(f, (l,), n=2)

    def dc_arg_mut(run):
        @dataclasses.dataclass
        class D:
            t: object
            k: float = 1.0

        f = run.compile(lambda d: d.t * d.k)
        d = D(x0())
        run.repeat(f, d, n=5, at={3: lambda: setattr(d, "k", 2.0), 4: lambda: setattr(d, "t", x0() * 3)})
        run.call(f, D(x0(), 2.0))
        d.extra = 4
        run.call(f, d)

    def dc_property_side_effect(run):
        log = []

        @dataclasses.dataclass
        class D:
            k: float = 1.0

        class P(D):
            @property
            def k(self):
                log.append(1)
                return self.__dict__.get("_k", 1.0)

            @k.setter
            def k(self, v):
                self.__dict__["_k"] = v

        f = run.compile(lambda x, d: x * 2)
        d = P(3.0)
        n0 = len(log)
        run.repeat(f, x0, d, see=lambda: (len(log) - n0,))

    def dc_property_counter(run):
        """a field of a dataclass that is a property: taking arguments apart calls it"""

        @dataclasses.dataclass
        class D:
            k: int = 0

        n = [0]

        def get(self):
            n[0] += 1
            return n[0]

        D.k = property(get, lambda s, v: None)
        f = run.compile(lambda x, d: x * d.k)
        d = D()
        run.repeat(f, x0, d, n=4, see=lambda: (n[0],))

    def class_getattr_dataclass_fields(run):
        """asking a class for __dataclass_fields__ runs a metaclass's __getattr__"""
        log = []

        class M(type):
            def __getattr__(cls, name):
                log.append(name)
                raise AttributeError(name)

        class A(metaclass=M):
            pass

        f = run.compile(lambda x, a: x * 2)
        a = A()
        run.repeat(f, x0, a, see=lambda: (list(log),))

    def dc_with_getattribute(run):
        log = []

        @dataclasses.dataclass
        class D:
            k: int = 2

            def __getattribute__(self, n):
                log.append(n) if n == "k" else None
                return object.__getattribute__(self, n)

        f = run.compile(lambda x, d: x * 2)
        d = D()
        run.repeat(f, x0, d, see=lambda: (list(log),))
