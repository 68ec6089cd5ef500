"""Functions, partials and methods as arguments, which are compared by what they hold."""

import functools

import lucid

from .._harness import Programs, vary, x0


class ContentsOfFunctions(Programs):
    def shared_cell(run):
        n = 2.0

        def make():
            def fn(t):
                return t * n

            return fn

        f = run.compile(lambda x, fn: fn(x) * n)
        for i in range(9):
            if i == 4:
                n = 3.0
            run.call(f, x0(), make())

    def nonlocal_shared(run):
        n = 0

        def inc(t):
            nonlocal n
            n += 1
            return t * n

        run.repeat(run.compile(lambda x, fn: fn(x)), x0, vary(lambda _: lambda t: inc(t)), n=8)
        run.see(n)

    def two_lambdas_share(run):
        def make():
            c = [0]

            def a(t):
                c[0] += 1
                return t * c[0]

            def b(t):
                return t + c[0]

            return a, b

        run.repeat(run.compile(lambda x, p: p[0](x) + p[1](x)), x0, vary(lambda _: make()), n=8)

    def lambda_reads_mutable_closure(run):
        cfg = {"k": 1}
        f = run.compile(lambda x, fn: fn(x))
        for i in range(10):
            cfg["k"] = i // 3
            run.call(f, x0(), lambda t: t * cfg["k"])

    def lambda_global_changes(run):
        global GG
        f = run.compile(lambda x, fn: fn(x))
        for i in range(10):
            GG = i // 3
            run.call(f, x0(), lambda t: t * GG)

    def generator_fn_arg(run):
        def make():
            def g(t):
                yield t
                yield t * 2

            return g

        run.repeat(run.compile(lambda x, g: sum(g(x))), x0, vary(lambda _: make()), n=8)

    def partial_mut(run):
        d = {"min": 1.0}
        p = functools.partial(lucid.clamp, **d)
        f = run.compile(lambda x, p: p(x))
        run.repeat(f, x0, p, n=10, before=lambda i: p.keywords.__setitem__("min", float(i // 3)))

    def partial_tensor_kw(run):
        f = run.compile(lambda x, p: p(x))
        run.repeat(f, x0, vary(lambda i: functools.partial(lucid.add, other=x0() * i)), n=8)

    def partial_setstate(run):
        f = run.compile(lambda x, p: p(x))
        for i in range(8):
            p = functools.partial(lucid.clamp, min=1.0)
            if i // 3 % 2:
                p.__setstate__((lucid.mul, (x0(),), {}, None))
            run.call(f, x0(), p)

    def method_of_fresh(run):
        class M:
            def __init__(self, k):
                self.k = k

            def m(self, x):
                return x * self.k

        run.repeat(run.compile(lambda x, fn: fn(x)), x0, vary(lambda i: M(i // 3).m), n=10)

    def method_state_changes(run):
        class M:
            def m(self, x):
                return x * self.k

        m = M()
        f = run.compile(lambda x, fn: fn(x))
        run.repeat(f, x0, vary(lambda _: m.m), n=10, before=lambda i: setattr(m, "k", i // 3))

    def func_code_swap(run):
        def a(t):
            return t * 2

        def b(t):
            return t * 3

        f = run.compile(lambda x, fn: fn(x))
        run.repeat(f, x0, a, n=10, at={5: lambda: setattr(a, "__code__", b.__code__)})

    def func_defaults_swap(run):
        def a(t, k=2):
            return t * k

        f = run.compile(lambda x, fn: fn(x))
        run.repeat(f, x0, a, n=10, before=lambda i: setattr(a, "__defaults__", (i // 3,)))

    def func_default_mutable(run):
        f = run.compile(lambda x, fn: fn(x))
        for i in range(10):

            def a(t, k=[i // 3]):
                return t * k[0]

            run.call(f, x0(), a)

    def func_default_accum(run):
        def a(t, k=[]):
            k.append(1)
            return t * len(k)

        run.repeat(run.compile(lambda x, fn: fn(x)), x0, a, n=8)

    def fn_returns_closure_tensor(run):
        f = run.compile(lambda x, fn: fn())
        for i in range(8):
            t = x0() * i
            r = run.call(f, x0(), lambda: t)
            run.see(r is t)

    def function_kept(run):
        kept = []

        def g(x, fn):
            kept.append(fn)
            return fn(x)

        run.repeat(run.compile(g), x0, vary(lambda i: lambda t, i=i // 3: t * i), n=8)
        run.see([k(1.0) for k in kept])
