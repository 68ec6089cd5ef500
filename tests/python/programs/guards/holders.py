"""Objects that hold others: iterators, views, queues, arrays."""

import collections
import contextvars
import itertools
import os
import threading
import types
import weakref

import lucid
import numpy as np

from .._harness import Box, Programs, program, sample


class Holders(Programs, compiles=True, guards=True):
    @program(eager="reads closure r, a weakref.ReferenceType whose state cannot be checked")
    def weakref_deref(run):
        o = Box(k=1.0)
        r = weakref.ref(o)
        run.repeat(run.compile(lambda x: x * r().k), sample, n=8, before=lambda i: setattr(o, "k", 1.0 + i // 3))

    @program(eager="reads closure tl, a _thread._local whose state cannot be checked")
    def thread_local(run):
        tl = threading.local()
        tl.k = 1.0
        run.repeat(run.compile(lambda x: x * tl.k), sample, n=8, before=lambda i: setattr(tl, "k", 1.0 + i // 3))

    def contextvar_(run):
        cv = contextvars.ContextVar("k")
        cv.set(1.0)
        run.repeat(run.compile(lambda x: x * cv.get()), sample, n=8, before=lambda i: cv.set(1.0 + i // 3))

    def environ_(run):
        f = run.compile(lambda x: x * float(os.environ.get("PROTO_K", "1")))
        run.repeat(f, sample, n=8, before=lambda i: os.environ.__setitem__("PROTO_K", str(1.0 + i // 3)))

    @program(eager="reads closure g, a generator whose state cannot be checked")
    def closure_in_generator_held(run):
        def gen():
            k = 1.0
            while True:
                yield k
                k += 1

        g = gen()
        run.repeat(run.compile(lambda x: x * next(g)), sample, n=8)

    @program(eager="reads closure c, a itertools.count whose state cannot be checked")
    def itertools_count_held(run):
        c = itertools.count(1)
        run.repeat(run.compile(lambda x: x * next(c)), sample, n=8)

    @program(eager="reads closure c, a itertools.cycle whose state cannot be checked")
    def itertools_cycle_held(run):
        c = itertools.cycle([1.0, 2.0])
        run.repeat(run.compile(lambda x: x * next(c)), sample, n=8)

    @program(eager="the call writes closure q[0]")
    def deque_held(run):
        q = collections.deque([1.0, 2.0], maxlen=3)

        def f(x):
            q.append(3.0)
            return x * q[0]

        run.repeat(run.compile(f), sample, n=8, see=lambda: (list(q),))

    def deque_read(run):
        q = collections.deque([1.0, 2.0])
        run.repeat(run.compile(lambda x: x * q[0]), sample, n=8, before=lambda i: i % 3 == 2 and q.rotate())

    def set_membership(run):
        s = {"relu"}
        f = run.compile(lambda x: x.relu() if "relu" in s else x)
        run.repeat(f, sample, n=8, before=lambda i: (s.add if i % 2 else s.discard)("relu"))

    def numpy_array_closure(run):
        a = np.ones(4, "f4")
        f = run.compile(lambda x: x * lucid.tensor(a))
        run.repeat(f, sample, n=8, before=lambda i: a.__setitem__(0, 1 + i // 3))

    @program(eager="reads closure a, a numpy.ndarray that is too large to be compared at each call")
    def numpy_array_big(run):
        a = np.ones((20_000, 4), "f4")
        f = run.compile(lambda x: x * lucid.tensor(a[:3]))
        run.repeat(f, sample, n=8, before=lambda i: a.__setitem__(0, 1 + i // 3))

    def bytearray_(run):
        a = bytearray(b"\x01\x02")
        run.repeat(run.compile(lambda x: x * a[0]), sample, n=8, before=lambda i: a.__setitem__(0, 1 + i // 3))

    def dict_subclass(run):
        class D(dict):
            def __missing__(self, k):
                return 5.0

        d = D()
        run.repeat(run.compile(lambda x: x * d["k"]), sample, n=8, at={4: lambda: d.__setitem__("k", 2.0)})

    def list_subclass(run):
        class L(list):
            pass

        items = L([1.0])
        f = run.compile(lambda x: x * items[0])
        run.repeat(f, sample, n=8, before=lambda i: items.__setitem__(0, 1.0 + i // 4))

    @program(eager="the call writes closure d['n']")
    def defaultdict_grows(run):
        d = collections.defaultdict(int)

        def f(x):
            d["n"] += 1
            return x + d["n"]

        run.repeat(run.compile(f), sample, n=10, see=lambda: (dict(d),))

    def simplenamespace(run):
        o = types.SimpleNamespace(k=1.0)
        run.repeat(run.compile(lambda x: x * o.k), sample, n=8, before=lambda i: setattr(o, "k", 1.0 + i // 3))

    def mappingproxy(run):
        d = {"k": 1.0}
        mp = types.MappingProxyType(d)
        run.repeat(run.compile(lambda x: x * mp["k"]), sample, n=8, before=lambda i: d.__setitem__("k", 1.0 + i // 3))

    def dict_view_held(run):
        d = {"k": 1.0}
        v = d.values()
        run.repeat(run.compile(lambda x: x * sum(v)), sample, n=8, before=lambda i: d.__setitem__("k", 1.0 + i // 3))

    def bound_builtin_method_held(run):
        d = {"k": 1.0}
        get = d.get
        run.repeat(run.compile(lambda x: x * get("k")), sample, n=8, before=lambda i: d.__setitem__("k", 1.0 + i // 3))

    def memoryview_held(run):
        a = bytearray(b"\x01")
        m = memoryview(a)
        run.repeat(run.compile(lambda x: x * m[0]), sample, n=8, before=lambda i: a.__setitem__(0, 1 + i // 3))
