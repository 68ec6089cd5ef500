"""Functions, wrappers of functions, and modules."""

import contextlib
import functools
import operator

import capture_helpers
import lucid

from ._common import CALLS, Box, program, sample

G = 2.0
GF = None


@program
def partial_root(compile):

    def g(a, x, b=1.0):
        return x * a + b

    f = compile(functools.partial(g, 2.0, b=3.0))
    for i in range(CALLS):
        yield f(sample(i))


@program
def partial_tensor(compile):
    w = sample(3)
    f = compile(functools.partial(lambda w, x: w * x, w))
    for i in range(CALLS):
        w.add_(1)
        yield f(sample(i))


@program
def partial_list_arg(compile):
    items = [1.0]
    f = compile(functools.partial(lambda values, x: x * values[0], items))
    for i in range(CALLS):
        items[0] = float(i // 3)
        yield f(sample(i))


@program
def partial_global_rebound(compile):
    global GF
    GF = functools.partial(lambda a, x: x * a, 2.0)

    def f(x):
        return GF(x)

    f = compile(f)
    for i in range(CALLS):
        if i == 4:
            GF = functools.partial(lambda a, x: x * a, 5.0)
        yield f(sample(i))


@program
def helper_module_global(compile):
    f = compile(lambda x: capture_helpers.helper(x))
    for i in range(CALLS):
        capture_helpers.SCALE = 2.0 + i // 3
        yield f(sample(i))


@program
def helper_module_table(compile):
    f = compile(lambda x: capture_helpers.helper2(x))
    for i in range(CALLS):
        capture_helpers.TABLE["a"] = 1.0 + i // 3
        yield f(sample(i))


@program
def helper_module_function_patched(compile):
    old = capture_helpers.helper
    f = compile(lambda x: capture_helpers.helper2(x))
    for i in range(CALLS):
        if i == 4:
            capture_helpers.helper = lambda x: x
        yield f(sample(i))
    capture_helpers.helper = old


@program
def helper_module_class(compile):
    f = compile(lambda x: x * capture_helpers.Cfg.gain)
    for i in range(CALLS):
        capture_helpers.Cfg.gain = 1.0 + i // 4
        yield f(sample(i))


@program
def import_inside(compile):

    def f(x):
        import capture_helpers as h

        return x * h.SCALE

    f = compile(f)
    for i in range(CALLS):
        capture_helpers.SCALE = 2.0 + i // 3
        yield f(sample(i))


@program
def from_import_inside(compile):

    def f(x):
        from capture_helpers import SCALE

        return x * SCALE

    f = compile(f)
    for i in range(CALLS):
        capture_helpers.SCALE = 2.0 + i // 3
        yield f(sample(i))


@program
def lambda_in_dict(compile):
    acts = {"a": lambda x: x.relu(), "b": lambda x: x.tanh()}
    sel = ["a"]
    f = compile(lambda x: acts[sel[0]](x))
    for i in range(CALLS):
        sel[0] = "ab"[i % 2]
        if i == 6:
            acts["a"] = lambda x: x * 9
        yield f(sample(i))


@program
def recursion(compile):
    k = [2.0]

    def rec(x, n):
        return x if n == 0 else rec(x * k[0], n - 1)

    f = compile(lambda x, n: rec(x, n))
    for i in range(CALLS):
        k[0] = 2.0 + i // 4
        yield f(sample(i), 3)


@program
def lru_cache_helper(compile):

    @functools.lru_cache
    def sc(n):
        return n * 2.0

    f = compile(lambda x: x * sc(3))
    for i in range(CALLS):
        yield f(sample(i))


@program
def lru_cache_tensor(compile):
    k = [1.0]

    @functools.lru_cache
    def mask(n):
        return lucid.ones(n) * k[0]

    f = compile(lambda x: x * mask(4))
    for i in range(CALLS):
        if i == 4:
            k[0] = 3.0
            mask.cache_clear()
        yield f(sample(i))


@program
def decorated_wraps(compile):
    cfg = {"k": 1.0}

    def deco(fn):

        @functools.wraps(fn)
        def w(*a, **k):
            return fn(*a, **k) * cfg["k"]

        return w

    @deco
    def g(x):
        return x + 1

    f = compile(g)
    for i in range(CALLS):
        cfg["k"] = 1.0 + i // 3
        yield f(sample(i))


@program
def singledispatch_(compile):

    @functools.singledispatch
    def g(a, x):
        return x

    @g.register
    def _(a: int, x):
        return x * a

    f = compile(lambda x: g(3, x))
    for i in range(CALLS):
        yield f(sample(i))


@program
def contextmanager_(compile):
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

    f = compile(f)
    for i in range(CALLS):
        yield (f(sample(i)), st["k"])


@program
def reduce_map_filter(compile):
    ks = [1.0, 2.0, 3.0]

    def f(x):
        return functools.reduce(lambda a, b: a * b, filter(lambda v: v > 1, map(lambda v: v + 0.5, ks)), x)  # noqa: C417

    f = compile(f)
    for i in range(CALLS):
        ks[0] = float(i // 3)
        yield f(sample(i))


@program
def sorted_key_attr(compile):
    objects = [Box(k=3.0), Box(k=1.0)]

    def f(x):
        for j, o in enumerate(sorted(objects, key=lambda o: o.k)):
            x = x * (o.k + j)
        return x

    f = compile(f)
    for i in range(CALLS):
        objects[0].k = 3.0 if i < 4 else 0.5
        yield f(sample(i))


@program
def attrgetter_(compile):
    o = Box(kk=1.0)
    ag = operator.attrgetter("kk")
    f = compile(lambda x: x * ag(o))
    for i in range(CALLS):
        o.kk = 1.0 + i // 3
        yield f(sample(i))


@program
def itemgetter_(compile):
    d = {"q": 1.0}
    ig = operator.itemgetter("q")
    f = compile(lambda x: x * ig(d))
    for i in range(CALLS):
        d["q"] = 1.0 + i // 3
        yield f(sample(i))


@program
def methodcaller_(compile):

    class Thing:
        def __init__(self):
            self.k = 1.0

        def zoom(self, x):
            return x * self.k

    o = Thing()
    mc = operator.methodcaller("zoom", 2)
    f = compile(lambda x: x * mc(o))
    for i in range(CALLS):
        o.k = 1.0 + i // 3
        yield f(sample(i))


@program
def eval_string(compile):
    global G
    f = compile(lambda x: x * eval("G"))
    for i in range(CALLS):
        G = 1.0 + i // 3
        yield f(sample(i))


@program
def globals_call(compile):
    global G
    f = compile(lambda x: x * globals()["G"])
    for i in range(CALLS):
        G = 1.0 + i // 3
        yield f(sample(i))
