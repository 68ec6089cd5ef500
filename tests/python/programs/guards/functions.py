"""Functions, wrappers of functions, and modules."""

import contextlib
import functools
import operator

import capture_helpers
import lucid

from .._harness import Box, Programs, program, sample

G = 2.0
GF = None


class Functions(Programs, compiles=True, guards=True):
    def partial_root(run):
        def g(a, x, b=1.0):
            return x * a + b

        run.repeat(run.compile(functools.partial(g, 2.0, b=3.0)), sample, n=8)

    def partial_tensor(run):
        w = sample(3)
        run.repeat(run.compile(functools.partial(lambda w, x: w * x, w)), sample, n=8, before=lambda i: w.add_(1))

    def partial_list_arg(run):
        items = [1.0]
        f = run.compile(functools.partial(lambda values, x: x * values[0], items))
        run.repeat(f, sample, n=8, before=lambda i: items.__setitem__(0, float(i // 3)))

    def partial_global_rebound(run):
        global GF
        GF = functools.partial(lambda a, x: x * a, 2.0)

        def f(x):
            return GF(x)

        f = run.compile(f)
        for i in range(8):
            if i == 4:
                GF = functools.partial(lambda a, x: x * a, 5.0)
            run.call(f, sample(i))

    def helper_module_global(run):
        f = run.compile(lambda x: capture_helpers.helper(x))
        run.repeat(f, sample, n=8, before=lambda i: setattr(capture_helpers, "SCALE", 2.0 + i // 3))

    def helper_module_table(run):
        f = run.compile(lambda x: capture_helpers.helper2(x))
        run.repeat(f, sample, n=8, before=lambda i: capture_helpers.TABLE.__setitem__("a", 1.0 + i // 3))

    def helper_module_function_patched(run):
        old = capture_helpers.helper
        f = run.compile(lambda x: capture_helpers.helper2(x))
        run.repeat(f, sample, n=8, at={4: lambda: setattr(capture_helpers, "helper", lambda x: x)})
        capture_helpers.helper = old

    def helper_module_class(run):
        f = run.compile(lambda x: x * capture_helpers.Cfg.gain)
        run.repeat(f, sample, n=8, before=lambda i: setattr(capture_helpers.Cfg, "gain", 1.0 + i // 4))

    def import_inside(run):
        def f(x):
            import capture_helpers as h

            return x * h.SCALE

        run.repeat(run.compile(f), sample, n=8, before=lambda i: setattr(capture_helpers, "SCALE", 2.0 + i // 3))

    def from_import_inside(run):
        def f(x):
            from capture_helpers import SCALE

            return x * SCALE

        run.repeat(run.compile(f), sample, n=8, before=lambda i: setattr(capture_helpers, "SCALE", 2.0 + i // 3))

    def lambda_in_dict(run):
        acts = {"a": lambda x: x.relu(), "b": lambda x: x.tanh()}
        sel = ["a"]
        f = run.compile(lambda x: acts[sel[0]](x))
        for i in range(8):
            sel[0] = "ab"[i % 2]
            if i == 6:
                acts["a"] = lambda x: x * 9
            run.call(f, sample(i))

    def recursion(run):
        k = [2.0]

        def rec(x, n):
            return x if n == 0 else rec(x * k[0], n - 1)

        run.repeat(run.compile(lambda x, n: rec(x, n)), sample, 3, n=8, before=lambda i: k.__setitem__(0, 2.0 + i // 4))

    @program(eager="may call closure sc, which keeps results in a cache that cannot be checked")
    def lru_cache_helper(run):
        @functools.lru_cache
        def sc(n):
            return n * 2.0

        run.repeat(run.compile(lambda x: x * sc(3)), sample, n=8)

    @program(eager="may call closure mask, which keeps results in a cache that cannot be checked")
    def lru_cache_tensor(run):
        k = [1.0]

        @functools.lru_cache
        def mask(n):
            return lucid.ones(n) * k[0]

        f = run.compile(lambda x: x * mask(4))
        for i in range(8):
            if i == 4:
                k[0] = 3.0
                mask.cache_clear()
            run.call(f, sample(i))

    def decorated_wraps(run):
        cfg = {"k": 1.0}

        def deco(fn):

            @functools.wraps(fn)
            def w(*a, **k):
                return fn(*a, **k) * cfg["k"]

            return w

        @deco
        def g(x):
            return x + 1

        run.repeat(run.compile(g), sample, n=8, before=lambda i: cfg.__setitem__("k", 1.0 + i // 3))

    @program(eager="reads a key of closure dispatch_cache.data, a weakref.ReferenceType whose state cannot be checked")
    def singledispatch_(run):
        @functools.singledispatch
        def g(a, x):
            return x

        @g.register
        def _(a: int, x):
            return x * a

        run.repeat(run.compile(lambda x: g(3, x)), sample, n=8)

    def contextmanager_(run):
        st = {"k": 1.0}

        @contextlib.contextmanager
        def scale(v):
            old = st["k"]
            st["k"] = v
            try:
                yield
            finally:
                st["k"] = old

        def f(x):
            with scale(3.0):
                return x * st["k"]

        run.repeat(run.compile(f), sample, n=8, see=lambda: (st["k"],))

    def reduce_map_filter(run):
        ks = [1.0, 2.0, 3.0]

        def f(x):
            return functools.reduce(lambda a, b: a * b, filter(lambda v: v > 1, map(lambda v: v + 0.5, ks)), x)  # noqa: C417

        run.repeat(run.compile(f), sample, n=8, before=lambda i: ks.__setitem__(0, float(i // 3)))

    def sorted_key_attr(run):
        objects = [Box(k=3.0), Box(k=1.0)]

        def f(x):
            for j, o in enumerate(sorted(objects, key=lambda o: o.k)):
                x = x * (o.k + j)
            return x

        run.repeat(run.compile(f), sample, n=8, before=lambda i: setattr(objects[0], "k", 3.0 if i < 4 else 0.5))

    def attrgetter_(run):
        o = Box(kk=1.0)
        ag = operator.attrgetter("kk")
        run.repeat(run.compile(lambda x: x * ag(o)), sample, n=8, before=lambda i: setattr(o, "kk", 1.0 + i // 3))

    def itemgetter_(run):
        d = {"q": 1.0}
        ig = operator.itemgetter("q")
        run.repeat(run.compile(lambda x: x * ig(d)), sample, n=8, before=lambda i: d.__setitem__("q", 1.0 + i // 3))

    def methodcaller_(run):
        class Thing:
            def __init__(self):
                self.k = 1.0

            def zoom(self, x):
                return x * self.k

        o = Thing()
        mc = operator.methodcaller("zoom", 2)
        run.repeat(run.compile(lambda x: x * mc(o)), sample, n=8, before=lambda i: setattr(o, "k", 1.0 + i // 3))

    @program(eager="calls eval")
    def eval_string(run):
        global G
        f = run.compile(lambda x: x * eval("G"))
        for i in range(8):
            G = 1.0 + i // 3
            run.call(f, sample(i))

    @program(eager="calls globals")
    def globals_call(run):
        global G
        f = run.compile(lambda x: x * globals()["G"])
        for i in range(8):
            G = 1.0 + i // 3
            run.call(f, sample(i))
