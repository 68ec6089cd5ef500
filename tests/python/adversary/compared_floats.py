"""Floats that are compared or logged, and numbers that are denormal."""

import collections
import threading
import types

import lucid
import numpy as np

from ._harness import prog


def sample(count=3):
    return lucid.arange(float(count)) + 1


@prog
def float_cmp_threadlocal(run):
    tl = threading.local()
    tl.t = 0.5
    f = run.compile(lambda x: x * 2 if x.sum().item() > tl.t else x)
    for i in range(10):
        tl.t = float(i % 3 * 4)
        run.call(f, sample())


@prog
def float_cmp_bigint(run):
    f = run.compile(lambda x: x * 2 if x.sum().item() < 2**60 else x)
    for i in range(6):
        run.call(f, sample() * 10.0 ** (i * 6))


@prog
def float_cmp_numpy(run):
    th = np.float32(3.3)
    f = run.compile(lambda x: x * 2 if x.sum().item() > th else x)
    for i in range(6):
        run.call(f, sample() * i)


@prog
def float_cmp_fraction(run):
    from fractions import Fraction

    th = Fraction(1, 3)
    f = run.compile(lambda x: x * 2 if x.sum().item() > th else x)
    for i in range(6):
        run.call(f, sample() * i)


@prog
def float_cmp_bool(run):
    f = run.compile(lambda x, th: x * 2 if x.sum().item() > th else x)
    for i in range(8):
        run.call(f, sample() * (i - 4) / 6, True)


@prog
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
    f = run.compile(lambda x: x * 2 if x.sum().item() > t else x)
    for i in range(8):
        run.call(f, sample() * (i - 4))
    run.see(T.n)


@prog
def float_cmp_local_changes(run):
    def g(x):
        th = 0.0
        for _ in range(3):
            if x.sum().item() > th:
                x = x - 1
            th += 2.0
        return x

    f = run.compile(g)
    for i in range(12):
        run.call(f, sample() * (i - 4) / 2)


@prog
def float_cmp_param_loop(run):
    def g(x, tol):
        v = x.sum().item()
        while v > tol:
            x = x * 0.5
            v = x.sum().item()
        return x, v

    f = run.compile(g)
    for i in range(12):
        run.call(f, sample() * (i + 1), 1.0)


@prog
def float_cmp_dict(run):
    cfg = {"th": 1.0}
    f = run.compile(lambda x: x * 2 if x.sum().item() > cfg["th"] else x)
    for i in range(10):
        cfg["th"] = float(i * 3)
        run.call(f, sample() * 2)


@prog
def float_cmp_module_attr(run):
    m = types.ModuleType("m")
    m.th = 1.0
    f = run.compile(lambda x: x * 2 if x.sum().item() > m.th else x)
    for i in range(10):
        m.th = float(i * 3)
        run.call(f, sample() * 2)


@prog
def float_cmp_slots_prop(run):
    class S:
        @property
        def th(self):
            return K[0]

    K = [1.0]
    s = S()
    f = run.compile(lambda x: x * 2 if x.sum().item() > s.th else x)
    for i in range(10):
        K[0] = float(i * 3)
        run.call(f, sample() * 2)


@prog
def log_filled_other_alias(run):
    a = []
    h = {"a": a}

    def g(x):
        h["a"].append(x.sum().item())
        return x * len(a)

    f = run.compile(g)
    for i in range(8):
        run.call(f, sample() * i)
    run.see(a)


@prog
def log_defaultdict(run):
    h = collections.defaultdict(list)

    def g(x):
        h["a"].append(x.sum().item())
        return x * 2

    f = run.compile(g)
    for i in range(8):
        run.call(f, sample() * i)
    run.see(dict(h))


@prog
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
        run.call(f, sample() * i)
        run.see(h)


@prog
def log_key_changes(run):
    h = {0: [], 1: []}

    def g(x, i):
        h[i].append(x.sum().item())
        return x * 2

    f = run.compile(g)
    for i in range(12):
        run.call(f, sample() * i, i % 2)
    run.see(h)


@prog
def log_class(run):
    class L(list):
        def append(self, v):
            list.append(self, v * 2)

    h = {"a": L()}

    def g(x):
        h["a"].append(x.sum().item())
        return x * 2

    f = run.compile(g)
    for i in range(8):
        run.call(f, sample() * i)
    run.see(list(h["a"]))


@prog
def subnormal(run):
    f = run.compile(lambda x: (x * 1e-38, x + 1e-40, x * 1e-310 if False else x * 3e-39, lucid.full_like(x, 1e-40) * x))
    for i in range(5):
        run.call(f, sample() * i)


@prog
def subnormal_half(run):
    f = run.compile(lambda x: (x.half() * 1e-7, x.half() + 6e-8, x.bfloat16() * 1e-39))
    for i in range(5):
        run.call(f, sample() * i)
