"""Arguments that are objects: functions, modules, iterators, tensors with attributes."""

import collections
import functools
import gc

import lucid
import numpy as np
from lucid import nn

from .._harness import Programs, vary, x0


class ObjectArguments(Programs):
    def arg_function(run):
        f = run.compile(lambda x, g: g(x))
        k = [2]

        def h(t):
            return t * k[0]

        run.each(f, (h,), n=2)
        k[0] = 3
        run.each(f, (h,), n=2)
        run.each(f, (lambda t: t + 1,), n=2)
        run.each(f, (lambda t: t + 5,), n=2)
        run.each(f, (lucid.relu,), n=2)
        run.each(f, (lucid.neg,), n=2)
        run.each(f, (functools.partial(lucid.clamp, min=2),), n=2)

    def arg_bound_method(run):
        class A:
            def __init__(self, k):
                self.k = k

            def m(self, t):
                return t * self.k

        f = run.compile(lambda x, g: g(x))
        a, b = A(2), A(3)
        run.each(f, (a.m,), (b.m,), n=2)
        a.k = 9
        run.each(f, (a.m,), n=2)

    def arg_class(run):
        class A:
            k = 2

        class B:
            k = 3

        f = run.compile(lambda x, c: x * c.k)
        run.each(f, (A,), (B,), n=2)
        A.k = 7
        run.each(f, (A,), n=2)

    def arg_module_obj(run):
        f = run.compile(lambda x, m: m(x))
        ms = [nn.Linear(3, 3) for _ in range(3)]
        for m in ms * 2:
            run.call(f, x0(), m)

    def arg_module_dies(run):
        f = run.compile(lambda x, m: m(x))
        for _ in range(6):
            m = nn.Linear(3, 3)
            run.repeat(f, x0, m, n=2)
            del m
            gc.collect()

    def arg_optimizer(run):
        f = run.compile(lambda o: o.step())
        for i in range(4):
            p = nn.Parameter(x0())
            p.grad = x0()
            o = lucid.optim.SGD([p], lr=0.1 * (i + 1))
            run.call(f, o)
            run.see(p)
            run.call(f, o)
            run.see(p)

    def arg_sets(run):
        f = run.compile(lambda x, s: x * len(s) + sum(s))
        s = {1, 2}
        run.each(f, (s,), n=2)
        s.add(3)
        run.each(f, (s,), n=2)
        run.each(f, (frozenset({1}),), (frozenset({2}),), n=2)

    def arg_ndarray(run):
        a = np.array([1.0, 2.0, 3.0], dtype="f4")
        f = run.compile(lambda x, a: x * lucid.tensor(a))
        run.each(f, (a,), n=2)
        a[0] = 9
        run.each(f, (a,), n=2)

    def arg_iterator(run):
        f = run.compile(lambda x, it: x * next(it))
        it = iter([1, 2, 3, 4, 5, 6])
        run.repeat(f, x0, it, n=4)

    def arg_generator_obj(run):
        f = run.compile(lambda x, g: x + lucid.rand(3, generator=g))
        g = lucid.Generator()
        g.manual_seed(3)
        h = lucid.Generator()
        h.manual_seed(5)
        run.over(f, g, g, h, g, h, None, g)

    def default_tensor(run):
        w = x0()

        def g(x, w=w):
            return x * w

        f = run.compile(g)
        run.repeat(f, x0, at={2: lambda: w.add_(1)})
        run.call(f, x0(), x0() * 5)
        g.__defaults__ = (x0() * 100,)
        run.call(f, x0())

    def default_list_mutation(run):
        def g(x, l=[]):
            return x * (len(l) + 1)

        run.repeat(run.compile(g), x0, n=4, at={3: lambda: g.__defaults__[0].append(1)})

    def kwdefaults_mutation(run):
        def g(x, *, k=2):
            return x * k

        f = run.compile(g)
        run.repeat(f, x0)
        g.__kwdefaults__["k"] = 5
        run.repeat(f, x0, n=2, at={1: lambda: setattr(g, "__kwdefaults__", {"k": 7})})

    def code_replacement(run):
        def g(x):
            return x * 2

        def h(x):
            return x * 3

        run.repeat(run.compile(g), x0, n=5, at={3: lambda: setattr(g, "__code__", h.__code__)})

    def tuple_subclass_not_nt(run):
        class Tp(tuple):
            pass

        f = run.compile(lambda x, t: x * sum(t) * (2 if isinstance(t, Tp) else 1) * getattr(t, "k", 1))
        t = Tp((1, 2))
        run.each(f, (t,), ((1, 2),), n=2)
        t.k = 3
        run.each(f, (t,), n=2)

    def nt_arg(run):
        N = collections.namedtuple("N", "a b")
        f = run.compile(lambda n: n.a * n.b)
        for b in (1, 1, 2, 2, x0()):
            run.call(f, N(x0(), b))

    def nt_attr_arg(run):
        class N(collections.namedtuple("N", "a b")):
            pass

        n = N(x0(), 2)
        n.k = 3
        f = run.compile(lambda n: n.a * n.b * n.k)
        run.repeat(f, n, n=4, at={3: lambda: setattr(n, "k", 4)})
        m = N(x0(), 2)
        m.k = 5
        run.call(f, m)

    def nt_class_attr(run):
        class N(collections.namedtuple("N", "a b")):
            scale = 2

        f = run.compile(lambda n: n.a * n.b * n.scale)
        run.repeat(f, vary(lambda _: N(x0(), 2)))
        N.scale = 4
        run.call(f, N(x0(), 2))

    def param_attr_arg_module(run):
        """torch-like: parameters tagged with attributes, passed as an argument"""
        f = run.compile(lambda p: p * p.lr_scale)
        p = nn.Parameter(x0())
        p.lr_scale = 2.0
        run.repeat(f, p, n=4, at={3: lambda: setattr(p, "lr_scale", 3.0)})

    def param_attr_state(run):
        p = nn.Parameter(x0())
        p.lr_scale = 2.0
        run.repeat(run.compile(lambda x: x * p.lr_scale), x0, n=4, at={3: lambda: setattr(p, "lr_scale", 3.0)})

    def param_attr_added_later(run):
        p = nn.Parameter(x0())
        f = run.compile(lambda x: x * getattr(p, "lr_scale", 1.0))
        run.repeat(f, x0, n=4, at={3: lambda: setattr(p, "lr_scale", 3.0)})

    def param_list_attr_args(run):
        f = run.compile(lambda ps: [p * 2 if hasattr(p, "special") else p * 3 for p in ps])
        ps = [nn.Parameter(x0()), nn.Parameter(x0())]
        run.repeat(f, ps, n=4, at={3: lambda: setattr(ps[1], "special", True)})

    def isinstance_parameter(run):
        f = run.compile(lambda p: p * 2 if isinstance(p, nn.Parameter) else p * 3)
        for _ in range(2):
            run.call(f, nn.Parameter(x0()))
            run.call(f, x0().requires_grad_())
            run.call(f, x0())

    def isinstance_buffer(run):
        f = run.compile(lambda p: p * 2 if type(p) is lucid.Tensor else p * 3)
        run.repeat(f, x0, n=2, before=lambda _: run.call(f, nn.Buffer(x0())))

    def tensor_subclass_arg(run):
        try:

            class TT(lucid.Tensor):
                k = 2

            a = TT([1.0, 2.0, 3.0])
        except Exception as e:
            run.see(type(e).__name__)
            return
        f = run.compile(lambda x: x * getattr(type(x), "k", 1))
        run.repeat(f, x0, before=lambda _: run.call(f, a))

    def inference_tensor_arg(run):
        with lucid.inference_mode():
            t = x0() * 1
        f = run.compile(lambda x: x * 2 + 1)
        run.repeat(f, x0, before=lambda _: run.call(f, t))
        w = x0().requires_grad_()
        f = run.compile(lambda x: x * w)
        run.repeat(f, t, before=lambda _: run.call(f, x0()))

    def many_kwargs_300(run):
        f = run.compile(lambda **k: k["a1"] * len(k))
        for n in (255, 256, 257, 300):
            kw = {f"a{i}": 1 for i in range(n)}
            kw["a1"] = x0()
            run.call(f, **kw)
            run.call(f, **kw)

    def kwargs_256_wrap(run):
        """the number of keyword arguments is one byte of the key"""

        f = run.compile(lambda *a, **k: a[0] * len(a) + len(k))
        run.repeat(f, x0, "b", 2, n=2)
        run.repeat(f, x0, b=2, n=2)
        names = [f"n{i}" for i in range(256)]
        run.call(f, x0(), **{n: 1 for n in names})
        run.call(f, x0(), **{n: 1 for n in names})
        flat = []
        for n in names:
            flat += [n, 1]
        run.repeat(f, x0, *flat, n=2)

    def rank_big(run):
        f = run.compile(lambda x: x * 2)
        for r in (1, 8, 20, 64):
            run.call(f, lucid.ones(*([1] * r)))
            run.call(f, lucid.ones(*([1] * r)))
