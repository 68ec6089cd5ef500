"""Objects of the standard library and of NumPy that hold state."""

import operator
import types

import lucid
import numpy as np
from lucid import nn

from .._harness import Programs, x0


class LibraryObjects(Programs):
    def hook_handle(run):
        m = nn.Linear(3, 3)
        h = m.register_forward_hook(lambda *a: None)
        run.see([n for n in dir(h) if not n.startswith("__")])

    def simplenamespace_eq(run):
        cfg = types.SimpleNamespace(a=1)
        f = run.compile(lambda x: x * 2 if cfg == types.SimpleNamespace(a=1) else x * 3)
        run.repeat(f, x0, n=5, at={3: lambda: setattr(cfg, "a", 2)})

    def simplenamespace_repr(run):
        cfg = types.SimpleNamespace(a=1)
        run.repeat(run.compile(lambda x: x * len(repr(cfg))), x0, n=5, at={3: lambda: setattr(cfg, "a", 2222)})

    def simplenamespace_arg_eq(run):
        ref = types.SimpleNamespace(a=1)
        f = run.compile(lambda x, c: x * 2 if c == ref else x * 3)
        cfg = types.SimpleNamespace(a=1)
        run.repeat(f, x0, cfg, n=5, at={3: lambda: setattr(cfg, "a", 2)})

    def subclasses_registry(run):
        class Base:
            pass

        class A(Base):
            pass

        f = run.compile(lambda x: x * len(Base.__subclasses__()))
        run.repeat(f, x0)

        class B(Base):
            pass

        run.repeat(f, x0, n=2)

    def np_void_state(run):
        rec = np.zeros((), dtype=[("lr", "f4")])[()]
        rec["lr"] = 1
        run.repeat(run.compile(lambda x: x * float(rec["lr"])), x0, n=4, at={3: lambda: rec.__setitem__("lr", 7)})

    def np_poly1d(run):
        P = np.poly1d([1.0, 2.0])
        run.repeat(run.compile(lambda x: x * float(P(2))), x0, n=4, at={3: lambda: P.__setitem__(0, 100.0)})

    def np_polynomial(run):
        from numpy.polynomial import Polynomial

        P = Polynomial([1.0, 2.0])
        f = run.compile(lambda x: x * float(P(2)))
        run.repeat(f, x0)
        P.coef[0] = 100.0
        run.repeat(f, x0, n=2, at={1: lambda: setattr(P, "coef", np.array([5.0, 6.0]))})

    def np_ndindex_state(run):
        it = np.ndindex(3, 3)
        run.repeat(run.compile(lambda x: x + sum(next(it))), x0, n=6)

    def np_ndenumerate_state(run):
        it = np.ndenumerate(np.arange(9.0))
        run.repeat(run.compile(lambda x: x + float(next(it)[1])), x0, n=6)

    def np_vectorize_state(run):
        k = [2.0]
        v = np.vectorize(lambda t: t * k[0])
        f = run.compile(lambda x: x * float(v(3.0)))
        run.repeat(f, x0, n=5, at={3: lambda: k.__setitem__(0, 4.0), 4: lambda: setattr(v, "pyfunc", lambda t: t)})

    def np_frompyfunc(run):
        k = [2.0]
        v = np.frompyfunc(lambda t: t * k[0], 1, 1)
        run.repeat(run.compile(lambda x: x * float(v(3.0))), x0, n=4, at={3: lambda: k.__setitem__(0, 4.0)})

    def np_errstate(run):
        a = np.array([1.0])
        z = np.array([0.0])
        f = run.compile(lambda x: x + float((a / z)[0] > 0))
        run.repeat(f, x0)
        with np.errstate(all="raise"):
            run.call(f, x0())

    def np_small_array_state(run):
        a = np.array([1.0, 2.0, 3.0])
        f = run.compile(lambda x: x * lucid.tensor(a, dtype=lucid.float32))
        run.repeat(f, x0, n=5, at={3: lambda: a.__setitem__(1, 9)})

    def np_from_numpy_alias(run):
        a = np.array([1.0, 2.0, 3.0], dtype="f4")

        f = run.compile(lambda x: lucid.from_numpy(a))
        for _ in range(3):
            r = run.call(f, x0())
            r.add_(1)
            run.see(a.copy())

    def np_from_numpy_inplace(run):
        a = np.array([1.0, 2.0, 3.0], dtype="f4")

        def g(x):
            t = lucid.from_numpy(a)
            t.add_(x)
            return t * 2

        run.repeat(run.compile(g), x0, see=lambda: (a.copy(),))

    def itemgetter_obj(run):
        class I:
            v = 0

            def __index__(self):
                return self.v

        i_ = I()
        get = operator.itemgetter(i_)
        run.repeat(run.compile(lambda x: x * get([1, 2, 3])), x0, n=4, at={3: lambda: setattr(i_, "v", 2)})

    def slice_obj_index(run):
        class I:
            def __init__(self):
                self.v = 1

            def __index__(self):
                return self.v

        i_ = I()
        sl = slice(i_)
        run.repeat(run.compile(lambda x: x[sl]), x0, n=4, at={3: lambda: setattr(i_, "v", 2)})

    def member_descriptor_get(run):
        class S:
            __slots__ = ("lr",)

        s = S()
        s.lr = 2.0
        get = S.__dict__["lr"].__get__
        run.repeat(run.compile(lambda x: x * get(s)), x0, n=4, at={3: lambda: setattr(s, "lr", 5.0)})

    def str_subclass_key(run):
        class S(str):
            __hash__ = str.__hash__

        class O:
            pass

        o = O()
        o.k = 1.0
        f = run.compile(lambda x: x * o.k)
        run.repeat(f, x0)
        del o.k
        setattr(o, S("k"), 5.0)
        run.repeat(f, x0, n=2, at={1: lambda: o.__dict__.__setitem__(S("k"), 6.0)})

    def class_bool_added(run):
        class A:
            pass

        a = A()
        f = run.compile(lambda x: x * 2 if a else x * 3)
        run.repeat(f, x0, n=4, at={3: lambda: setattr(A, "__bool__", lambda s: False)})

    def class_qualname(run):
        class A:
            pass

        f = run.compile(lambda x: x * len(A.__qualname__))
        run.repeat(f, x0, n=4, at={3: lambda: setattr(A, "__qualname__", "q")})

    def class_doc_module(run):
        class A:
            "abc"

        f = run.compile(lambda x: x * len(A.__doc__) * len(A.__module__))
        run.repeat(f, x0, n=4, at={3: lambda: setattr(A, "__module__", "q")})
