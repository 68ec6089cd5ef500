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

from ._common import CALLS, Box, program, sample


@program
def weakref_deref(compile):
    o = Box(k=1.0)
    r = weakref.ref(o)
    f = compile(lambda x: x * r().k)
    for i in range(CALLS):
        o.k = 1.0 + i // 3
        yield f(sample(i))


@program
def thread_local(compile):
    tl = threading.local()
    tl.k = 1.0
    f = compile(lambda x: x * tl.k)
    for i in range(CALLS):
        tl.k = 1.0 + i // 3
        yield f(sample(i))


@program
def contextvar_(compile):
    cv = contextvars.ContextVar("k")
    cv.set(1.0)
    f = compile(lambda x: x * cv.get())
    for i in range(CALLS):
        cv.set(1.0 + i // 3)
        yield f(sample(i))


@program
def environ_(compile):
    f = compile(lambda x: x * float(os.environ.get("PROTO_K", "1")))
    for i in range(CALLS):
        os.environ["PROTO_K"] = str(1.0 + i // 3)
        yield f(sample(i))


@program
def closure_in_generator_held(compile):

    def gen():
        k = 1.0
        while True:
            yield k
            k += 1

    g = gen()
    f = compile(lambda x: x * next(g))
    for i in range(CALLS):
        yield f(sample(i))


@program
def itertools_count_held(compile):
    c = itertools.count(1)
    f = compile(lambda x: x * next(c))
    for i in range(CALLS):
        yield f(sample(i))


@program
def itertools_cycle_held(compile):
    c = itertools.cycle([1.0, 2.0])
    f = compile(lambda x: x * next(c))
    for i in range(CALLS):
        yield f(sample(i))


@program
def deque_held(compile):
    q = collections.deque([1.0, 2.0], maxlen=3)

    def f(x):
        q.append(3.0)
        return x * q[0]

    f = compile(f)
    for i in range(CALLS):
        yield (f(sample(i)), list(q))


@program
def deque_read(compile):
    q = collections.deque([1.0, 2.0])
    f = compile(lambda x: x * q[0])
    for i in range(CALLS):
        if i % 3 == 2:
            q.rotate()
        yield f(sample(i))


@program
def set_membership(compile):
    s = {"relu"}
    f = compile(lambda x: x.relu() if "relu" in s else x)
    for i in range(CALLS):
        (s.add if i % 2 else s.discard)("relu")
        yield f(sample(i))


@program
def numpy_array_closure(compile):
    a = np.ones(4, "f4")
    f = compile(lambda x: x * lucid.tensor(a))
    for i in range(CALLS):
        a[0] = 1 + i // 3
        yield f(sample(i))


@program
def numpy_array_big(compile):
    a = np.ones((20_000, 4), "f4")
    f = compile(lambda x: x * lucid.tensor(a[:3]))
    for i in range(CALLS):
        a[0] = 1 + i // 3
        yield f(sample(i))


@program
def bytearray_(compile):
    a = bytearray(b"\x01\x02")
    f = compile(lambda x: x * a[0])
    for i in range(CALLS):
        a[0] = 1 + i // 3
        yield f(sample(i))


@program
def dict_subclass(compile):

    class D(dict):
        def __missing__(self, k):
            return 5.0

    d = D()
    f = compile(lambda x: x * d["k"])
    for i in range(CALLS):
        if i == 4:
            d["k"] = 2.0
        yield f(sample(i))


@program
def list_subclass(compile):

    class L(list):
        pass

    items = L([1.0])
    f = compile(lambda x: x * items[0])
    for i in range(CALLS):
        items[0] = 1.0 + i // 4
        yield f(sample(i))


@program
def defaultdict_grows(compile):
    d = collections.defaultdict(int)

    def f(x):
        d["n"] += 1
        return x + d["n"]

    f = compile(f)
    for i in range(CALLS + 2):
        yield (f(sample(i)), dict(d))


@program
def simplenamespace(compile):
    o = types.SimpleNamespace(k=1.0)
    f = compile(lambda x: x * o.k)
    for i in range(CALLS):
        o.k = 1.0 + i // 3
        yield f(sample(i))


@program
def mappingproxy(compile):
    d = {"k": 1.0}
    mp = types.MappingProxyType(d)
    f = compile(lambda x: x * mp["k"])
    for i in range(CALLS):
        d["k"] = 1.0 + i // 3
        yield f(sample(i))


@program
def dict_view_held(compile):
    d = {"k": 1.0}
    v = d.values()
    f = compile(lambda x: x * sum(v))
    for i in range(CALLS):
        d["k"] = 1.0 + i // 3
        yield f(sample(i))


@program
def bound_builtin_method_held(compile):
    d = {"k": 1.0}
    get = d.get
    f = compile(lambda x: x * get("k"))
    for i in range(CALLS):
        d["k"] = 1.0 + i // 3
        yield f(sample(i))


@program
def memoryview_held(compile):
    a = bytearray(b"\x01")
    m = memoryview(a)
    f = compile(lambda x: x * m[0])
    for i in range(CALLS):
        a[0] = 1 + i // 3
        yield f(sample(i))
