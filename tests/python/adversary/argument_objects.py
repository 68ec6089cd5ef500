"""Arguments that are objects: functions, modules, iterators, tensors with attributes."""

import collections
import functools
import gc

import lucid
import numpy as np
from lucid import nn

from ._harness import prog, x0


def seq(run, f, *argsets, x=x0):
    for a in argsets:
        for _ in range(2):
            run.call(f, x(), *a)


@prog
def arg_function(run):
    f = run.compile(lambda x, g: g(x))
    k = [2]

    def h(t):
        return t * k[0]

    seq(run, f, (h,))
    k[0] = 3
    seq(run, f, (h,))
    seq(run, f, (lambda t: t + 1,))
    seq(run, f, (lambda t: t + 5,))
    seq(run, f, (lucid.relu,))
    seq(run, f, (lucid.neg,))
    seq(run, f, (functools.partial(lucid.clamp, min=2),))


@prog
def arg_bound_method(run):
    class A:
        def __init__(self, k):
            self.k = k

        def m(self, t):
            return t * self.k

    f = run.compile(lambda x, g: g(x))
    a, b = A(2), A(3)
    seq(run, f, (a.m,), (b.m,))
    a.k = 9
    seq(run, f, (a.m,))


@prog
def arg_class(run):
    class A:
        k = 2

    class B:
        k = 3

    f = run.compile(lambda x, c: x * c.k)
    seq(run, f, (A,), (B,))
    A.k = 7
    seq(run, f, (A,))


@prog
def arg_module_obj(run):
    f = run.compile(lambda x, m: m(x))
    ms = [nn.Linear(3, 3) for _ in range(3)]
    for m in ms * 2:
        run.call(f, x0(), m)


@prog
def arg_module_dies(run):
    f = run.compile(lambda x, m: m(x))
    for _ in range(6):
        m = nn.Linear(3, 3)
        run.call(f, x0(), m)
        run.call(f, x0(), m)
        del m
        gc.collect()


@prog
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


@prog
def arg_sets(run):
    f = run.compile(lambda x, s: x * len(s) + sum(s))
    s = {1, 2}
    seq(run, f, (s,))
    s.add(3)
    seq(run, f, (s,))
    seq(run, f, (frozenset({1}),), (frozenset({2}),))


@prog
def arg_ndarray(run):
    a = np.array([1.0, 2.0, 3.0], dtype="f4")
    f = run.compile(lambda x, a: x * lucid.tensor(a))
    seq(run, f, (a,))
    a[0] = 9
    seq(run, f, (a,))


@prog
def arg_iterator(run):
    f = run.compile(lambda x, it: x * next(it))
    it = iter([1, 2, 3, 4, 5, 6])
    for _ in range(4):
        run.call(f, x0(), it)


@prog
def arg_generator_obj(run):
    f = run.compile(lambda x, g: x + lucid.rand(3, generator=g))
    g = lucid.Generator()
    g.manual_seed(3)
    h = lucid.Generator()
    h.manual_seed(5)
    for q in (g, g, h, g, h, None, g):
        run.call(f, x0(), q)


@prog
def default_tensor(run):
    w = x0()

    def g(x, w=w):
        return x * w

    f = run.compile(g)
    run.call(f, x0())
    run.call(f, x0())
    w.add_(1)
    run.call(f, x0())
    run.call(f, x0(), x0() * 5)
    g.__defaults__ = (x0() * 100,)
    run.call(f, x0())


@prog
def default_list_mutation(run):
    def g(x, l=[]):
        return x * (len(l) + 1)

    f = run.compile(g)
    for _ in range(3):
        run.call(f, x0())
    g.__defaults__[0].append(1)
    run.call(f, x0())


@prog
def kwdefaults_mutation(run):
    def g(x, *, k=2):
        return x * k

    f = run.compile(g)
    for _ in range(3):
        run.call(f, x0())
    g.__kwdefaults__["k"] = 5
    run.call(f, x0())
    g.__kwdefaults__ = {"k": 7}
    run.call(f, x0())


@prog
def code_replacement(run):
    def g(x):
        return x * 2

    def h(x):
        return x * 3

    f = run.compile(g)
    for _ in range(3):
        run.call(f, x0())
    g.__code__ = h.__code__
    run.call(f, x0())
    run.call(f, x0())


@prog
def tuple_subclass_not_nt(run):
    class Tp(tuple):
        pass

    f = run.compile(lambda x, t: x * sum(t) * (2 if isinstance(t, Tp) else 1) * getattr(t, "k", 1))
    t = Tp((1, 2))
    seq(run, f, (t,), ((1, 2),))
    t.k = 3
    seq(run, f, (t,))


@prog
def nt_arg(run):
    N = collections.namedtuple("N", "a b")
    f = run.compile(lambda n: n.a * n.b)
    for b in (1, 1, 2, 2, x0()):
        run.call(f, N(x0(), b))


@prog
def nt_attr_arg(run):
    class N(collections.namedtuple("N", "a b")):
        pass

    n = N(x0(), 2)
    n.k = 3
    f = run.compile(lambda n: n.a * n.b * n.k)
    for _ in range(3):
        run.call(f, n)
    n.k = 4
    run.call(f, n)
    m = N(x0(), 2)
    m.k = 5
    run.call(f, m)


@prog
def nt_class_attr(run):
    class N(collections.namedtuple("N", "a b")):
        scale = 2

    f = run.compile(lambda n: n.a * n.b * n.scale)
    for _ in range(3):
        run.call(f, N(x0(), 2))
    N.scale = 4
    run.call(f, N(x0(), 2))


@prog
def param_attr_arg_module(run):
    """torch-like: parameters tagged with attributes, passed as an argument"""
    f = run.compile(lambda p: p * p.lr_scale)
    p = nn.Parameter(x0())
    p.lr_scale = 2.0
    for _ in range(3):
        run.call(f, p)
    p.lr_scale = 3.0
    run.call(f, p)


@prog
def param_attr_state(run):
    p = nn.Parameter(x0())
    p.lr_scale = 2.0
    f = run.compile(lambda x: x * p.lr_scale)
    for _ in range(3):
        run.call(f, x0())
    p.lr_scale = 3.0
    run.call(f, x0())


@prog
def param_attr_added_later(run):
    p = nn.Parameter(x0())
    f = run.compile(lambda x: x * getattr(p, "lr_scale", 1.0))
    for _ in range(3):
        run.call(f, x0())
    p.lr_scale = 3.0
    run.call(f, x0())


@prog
def param_list_attr_args(run):
    f = run.compile(lambda ps: [p * 2 if hasattr(p, "special") else p * 3 for p in ps])
    ps = [nn.Parameter(x0()), nn.Parameter(x0())]
    for _ in range(3):
        run.call(f, ps)
    ps[1].special = True
    run.call(f, ps)


@prog
def isinstance_parameter(run):
    f = run.compile(lambda p: p * 2 if isinstance(p, nn.Parameter) else p * 3)
    for _ in range(2):
        run.call(f, nn.Parameter(x0()))
        run.call(f, x0().requires_grad_())
        run.call(f, x0())


@prog
def isinstance_buffer(run):
    f = run.compile(lambda p: p * 2 if type(p) is lucid.Tensor else p * 3)
    for _ in range(2):
        run.call(f, nn.Buffer(x0()))
        run.call(f, x0())


@prog
def tensor_subclass_arg(run):
    try:

        class TT(lucid.Tensor):
            k = 2

        a = TT([1.0, 2.0, 3.0])
    except Exception as e:
        run.see(type(e).__name__)
        return
    f = run.compile(lambda x: x * getattr(type(x), "k", 1))
    for _ in range(3):
        run.call(f, a)
        run.call(f, x0())


@prog
def inference_tensor_arg(run):
    with lucid.inference_mode():
        t = x0() * 1
    f = run.compile(lambda x: x * 2 + 1)
    for _ in range(3):
        run.call(f, t)
        run.call(f, x0())
    w = x0().requires_grad_()
    f = run.compile(lambda x: x * w)
    for _ in range(3):
        run.call(f, x0())
        run.call(f, t)


@prog
def many_kwargs_300(run):
    f = run.compile(lambda **k: k["a1"] * len(k))
    for n in (255, 256, 257, 300):
        kw = {f"a{i}": 1 for i in range(n)}
        kw["a1"] = x0()
        run.call(f, **kw)
        run.call(f, **kw)


@prog
def kwargs_256_wrap(run):
    """the number of keyword arguments is one byte of the key"""

    def g(*a, **k):
        return a[0] * len(a) + len(k)

    f = run.compile(g)
    run.call(f, x0(), "b", 2)
    run.call(f, x0(), "b", 2)
    run.call(f, x0(), b=2)
    run.call(f, x0(), b=2)
    names = [f"n{i}" for i in range(256)]
    run.call(f, x0(), **{n: 1 for n in names})
    run.call(f, x0(), **{n: 1 for n in names})
    flat = []
    for n in names:
        flat += [n, 1]
    run.call(f, x0(), *flat)
    run.call(f, x0(), *flat)


@prog
def rank_big(run):
    f = run.compile(lambda x: x * 2)
    for r in (1, 8, 20, 64):
        run.call(f, lucid.ones(*([1] * r)))
        run.call(f, lucid.ones(*([1] * r)))
