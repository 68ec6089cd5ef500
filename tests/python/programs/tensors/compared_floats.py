"""Floats that are compared or logged, and numbers that are denormal."""

import collections
import threading
import types

import lucid
import numpy as np

from .._harness import Programs, vary, x0


class ComparedFloats(Programs):
    def float_cmp_threadlocal(run):
        tl = threading.local()
        tl.t = 0.5
        f = run.compile(lambda x: x * 2 if x.sum().item() > tl.t else x)
        run.repeat(f, x0, n=10, before=lambda i: setattr(tl, "t", float(i % 3 * 4)))

    def float_cmp_bigint(run):
        f = run.compile(lambda x: x * 2 if x.sum().item() < 2**60 else x)
        run.repeat(f, vary(lambda i: x0() * 10.0 ** (i * 6)), n=6)

    def float_cmp_numpy(run):
        th = np.float32(3.3)
        run.repeat(run.compile(lambda x: x * 2 if x.sum().item() > th else x), vary(lambda i: x0() * i), n=6)

    def float_cmp_fraction(run):
        from fractions import Fraction

        th = Fraction(1, 3)
        run.repeat(run.compile(lambda x: x * 2 if x.sum().item() > th else x), vary(lambda i: x0() * i), n=6)

    def float_cmp_bool(run):
        f = run.compile(lambda x, th: x * 2 if x.sum().item() > th else x)
        run.repeat(f, vary(lambda i: x0() * (i - 4) / 6), True, n=8)

    def float_cmp_obj(run):
        class T:
            n = 0

            def __lt__(self, o):
                T.n += 1
                return o > 1

            def __gt__(self, o):
                T.n += 1
                return o < 1

        t = T()
        run.repeat(run.compile(lambda x: x * 2 if x.sum().item() > t else x), vary(lambda i: x0() * (i - 4)), n=8)
        run.see(T.n)

    def float_cmp_local_changes(run):
        def g(x):
            th = 0.0
            for _ in range(3):
                if x.sum().item() > th:
                    x = x - 1
                th += 2.0
            return x

        run.repeat(run.compile(g), vary(lambda i: x0() * (i - 4) / 2), n=12)

    def float_cmp_param_loop(run):
        def g(x, tol):
            v = x.sum().item()
            while v > tol:
                x = x * 0.5
                v = x.sum().item()
            return x, v

        run.repeat(run.compile(g), vary(lambda i: x0() * (i + 1)), 1.0, n=12)

    def float_cmp_dict(run):
        cfg = {"th": 1.0}
        f = run.compile(lambda x: x * 2 if x.sum().item() > cfg["th"] else x)
        run.repeat(f, vary(lambda _: x0() * 2), n=10, before=lambda i: cfg.__setitem__("th", float(i * 3)))

    def float_cmp_module_attr(run):
        m = types.ModuleType("m")
        m.th = 1.0
        f = run.compile(lambda x: x * 2 if x.sum().item() > m.th else x)
        run.repeat(f, vary(lambda _: x0() * 2), n=10, before=lambda i: setattr(m, "th", float(i * 3)))

    def float_cmp_slots_prop(run):
        class S:
            @property
            def th(self):
                return K[0]

        K = [1.0]
        s = S()
        f = run.compile(lambda x: x * 2 if x.sum().item() > s.th else x)
        run.repeat(f, vary(lambda _: x0() * 2), n=10, before=lambda i: K.__setitem__(0, float(i * 3)))

    def log_filled_other_alias(run):
        a = []
        h = {"a": a}

        def g(x):
            h["a"].append(x.sum().item())
            return x * len(a)

        run.repeat(run.compile(g), vary(lambda i: x0() * i), n=8)
        run.see(a)

    def log_defaultdict(run):
        h = collections.defaultdict(list)

        def g(x):
            h["a"].append(x.sum().item())
            return x * 2

        run.repeat(run.compile(g), vary(lambda i: x0() * i), n=8)
        run.see(dict(h))

    def log_replaced(run):
        h = {"a": []}

        def g(x):
            h["a"].append(x.sum().item())
            return x * 2

        f = run.compile(g)
        for i in range(9):
            if i % 3 == 2:
                h["a"] = []
            if i % 4 == 3:
                h["b"] = 1
            run.call(f, x0() * i)
            run.see(h)

    def log_key_changes(run):
        h = {0: [], 1: []}

        def g(x, i):
            h[i].append(x.sum().item())
            return x * 2

        run.repeat(run.compile(g), vary(lambda i: x0() * i), vary(lambda i: i % 2), n=12)
        run.see(h)

    def log_class(run):
        class L(list):
            def append(self, v):
                list.append(self, v * 2)

        h = {"a": L()}

        def g(x):
            h["a"].append(x.sum().item())
            return x * 2

        run.repeat(run.compile(g), vary(lambda i: x0() * i), n=8)
        run.see(list(h["a"]))

    def subnormal(run):
        f = run.compile(
            lambda x: (x * 1e-38, x + 1e-40, x * 1e-310 if False else x * 3e-39, lucid.full_like(x, 1e-40) * x)
        )
        run.repeat(f, vary(lambda i: x0() * i), n=5)

    def subnormal_half(run):
        f = run.compile(lambda x: (x.half() * 1e-7, x.half() + 6e-8, x.bfloat16() * 1e-39))
        run.repeat(f, vary(lambda i: x0() * i), n=5)
