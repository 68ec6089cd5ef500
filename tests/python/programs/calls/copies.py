"""Copies and pickles of compiled functions, and their attributes."""

import copy
import functools
import inspect
import pickle
import weakref

import lucid
from lucid import nn

from .._harness import Programs, x0


def top(x):
    return x * 2


@lucid.compile
def decorated(x):
    return x * 3


def plain_top(x):
    return x * 3


class Copies(Programs):
    def deepcopy_fn(run):
        f = run.compile(top)
        run.repeat(f, x0())
        try:
            g = copy.deepcopy(f)
            run.repeat(g, x0())
        except Exception as e:
            run.see(type(e).__name__, str(e))

    def copy_fn(run):
        f = run.compile(top)
        run.repeat(f, x0())
        try:
            g = copy.copy(f)
            run.repeat(g, x0())
        except Exception as e:
            run.see(type(e).__name__, str(e))

    def pickle_fn(run):
        f = decorated if run.compiled else plain_top
        try:
            g = pickle.loads(pickle.dumps(f))
            run.repeat(g, x0())
        except Exception as e:
            run.see(type(e).__name__, str(e))

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
            run.repeat(n, x0, n=2)
        except Exception as e:
            run.see(type(e).__name__, str(e))

    def deepcopy_obj_with_compiled_method(run):
        class T:
            def __init__(self):
                self.k = 2
                self.step = run.compile(self._step)

            def _step(self, x):
                return x * self.k

        t = T()
        run.repeat(t.step, x0())
        try:
            u = copy.deepcopy(t)
            u.k = 5
            run.repeat(u.step, x0, n=2)
            run.call(t.step, x0())
        except Exception as e:
            run.see(type(e).__name__, str(e))

    def deepcopy_compiled_module_trained(run):
        f = run.compile(nn.Linear(3, 3))
        run.repeat(f, x0())
        g = copy.deepcopy(f)
        g.weight.data.zero_()
        run.repeat(g, x0, n=2)
        run.call(f, x0())
        h = copy.copy(f)
        run.call(h, x0())

    def weak_partial_attrs(run):
        f = run.compile(top)
        run.see(f.__name__, f.__doc__, str(inspect.signature(f)), callable(f), f.__module__, f.__qualname__)
        run.see(inspect.isfunction(f))

    def fn_code_attr(run):
        f = run.compile(top)
        run.call(lambda: f.__code__.co_name)
        run.call(lambda: f.__defaults__)
        run.call(lambda: f.__globals__ is not None)

    def fn_setattr(run):
        f = run.compile(lambda x: x * getattr(f, "k", 1))
        run.repeat(f, x0())
        f.k = 5
        run.repeat(f, x0())

    def fn_hash_eq(run):
        f = run.compile(top)
        run.see(f == f, hash(f) == hash(f), f in {f}, weakref.ref(f)() is f)

    def vmap_like_wraps(run):
        f = run.compile(top)
        g = functools.wraps(f)(lambda x: f(x))
        run.see(g.__name__)
        run.repeat(g, x0())
