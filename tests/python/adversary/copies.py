"""Copies and pickles of compiled functions, and their attributes."""

import copy
import functools
import inspect
import pickle
import weakref

import lucid
from lucid import nn

from ._harness import prog, x0


def rep(run, f, *a, n=3):
    for _ in range(n):
        run.call(f, *a)


def top(x):
    return x * 2


@lucid.compile
def decorated(x):
    return x * 3


def plain_top(x):
    return x * 3


@prog
def deepcopy_fn(run):
    f = run.compile(top)
    rep(run, f, x0())
    try:
        g = copy.deepcopy(f)
        rep(run, g, x0())
    except Exception as e:
        run.see(type(e).__name__, str(e))


@prog
def copy_fn(run):
    f = run.compile(top)
    rep(run, f, x0())
    try:
        g = copy.copy(f)
        rep(run, g, x0())
    except Exception as e:
        run.see(type(e).__name__, str(e))


@prog
def pickle_fn(run):
    f = decorated if run.compiled else plain_top
    try:
        g = pickle.loads(pickle.dumps(f))
        rep(run, g, x0())
    except Exception as e:
        run.see(type(e).__name__, str(e))


@prog
def deepcopy_module_with_compiled_attr(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)
            self.act = run.compile(top)

        def forward(self, x):
            return self.act(self.l(x))

    m = M()
    try:
        n = copy.deepcopy(m)
        run.call(n, x0())
        run.call(n, x0())
    except Exception as e:
        run.see(type(e).__name__, str(e))


@prog
def deepcopy_obj_with_compiled_method(run):
    class T:
        def __init__(self):
            self.k = 2
            self.step = run.compile(self._step)

        def _step(self, x):
            return x * self.k

    t = T()
    rep(run, t.step, x0())
    try:
        u = copy.deepcopy(t)
        u.k = 5
        run.call(u.step, x0())
        run.call(u.step, x0())
        run.call(t.step, x0())
    except Exception as e:
        run.see(type(e).__name__, str(e))


@prog
def deepcopy_compiled_module_trained(run):
    m = nn.Linear(3, 3)
    f = run.compile(m)
    rep(run, f, x0())
    g = copy.deepcopy(f)
    g.weight.data.zero_()
    run.call(g, x0())
    run.call(g, x0())
    run.call(f, x0())
    h = copy.copy(f)
    run.call(h, x0())


@prog
def weak_partial_attrs(run):
    f = run.compile(top)
    run.see(f.__name__, f.__doc__, str(inspect.signature(f)), callable(f), f.__module__, f.__qualname__)
    run.see(inspect.isfunction(f))


@prog
def fn_code_attr(run):
    f = run.compile(top)
    run.call(lambda: f.__code__.co_name)
    run.call(lambda: f.__defaults__)
    run.call(lambda: f.__globals__ is not None)


@prog
def fn_setattr(run):
    def h(x):
        return x * getattr(f, "k", 1)

    f = run.compile(h)
    rep(run, f, x0())
    f.k = 5
    rep(run, f, x0())


@prog
def fn_hash_eq(run):
    f = run.compile(top)
    run.see(f == f, hash(f) == hash(f), f in {f}, weakref.ref(f)() is f)


@prog
def vmap_like_wraps(run):
    f = run.compile(top)
    g = functools.wraps(f)(lambda x: f(x))
    run.see(g.__name__)
    rep(run, g, x0())
