"""Objects, dicts and sets as arguments, which are compared by what they hold."""

import collections
import math

import lucid
import numpy as np

from .._harness import Programs, vary, x0


class Box:
    def __init__(self, **values):
        vars(self).update(values)


def square_backward(b):
    total = (b.x * b.x).sum()
    total.backward()
    return total.detach()


class ContentsOfObjects(Programs):
    def property_of_an_object(run):
        class P:
            def __init__(self, t, k):
                self.t = t
                self._k = k

            @property
            def k(self):
                return self._k * 2

        run.repeat(run.compile(lambda b: b.t * b.k), vary(lambda i: P(x0(), i // 4)), n=12)

    def getattr_of_an_object(run):
        class P:
            def __init__(self, d):
                self.d = d

            def __getattr__(self, n):
                try:
                    return self.d[n]
                except KeyError:
                    raise AttributeError(n)

        run.repeat(run.compile(lambda b: b.x * b.k), vary(lambda i: P({"x": x0(), "k": i // 4})), n=12)

    def descriptor(run):
        class D:
            def __get__(self, o, t=None):
                return o.__dict__["_v"] * 2

            def __set__(self, o, v):
                o.__dict__["_v"] = v

        class P:
            v = D()

        f = run.compile(lambda b: b.v + 1)
        for i in range(8):
            p = P()
            p.v = x0() * (i // 3)
            run.call(f, p)

    def getitem_override(run):
        scale = [1.0]

        class D(dict):
            def __getitem__(self, k):
                return dict.__getitem__(self, k) * scale[0]

        f = run.compile(lambda b: b["x"] + 1)
        run.repeat(f, vary(lambda _: D(x=x0())), n=12, before=lambda i: scale.__setitem__(0, float(i // 4)))

    def iter_override(run):
        class O(collections.OrderedDict):
            def __iter__(self):
                return reversed(list(collections.OrderedDict.__iter__(self)))

        run.repeat(run.compile(lambda b: [b[k] * 2 for k in b]), vary(lambda _: O(x=x0(), y=x0() * 3)), n=8)

    def class_attr_changes(run):
        class P:
            k = 1

            def __init__(self, t):
                self.t = t

        f = run.compile(lambda b: b.t * b.k)
        run.repeat(f, vary(lambda _: P(x0())), n=12, before=lambda i: setattr(P, "k", i // 4))

    def instance_shadows_class(run):
        class P:
            k = 1

            def __init__(self, t):
                self.t = t

        f = run.compile(lambda b: b.t * b.k)
        for i in range(12):
            p = P(x0())
            if i // 3 % 2:
                p.k = 5
            run.call(f, p)

    def class_swap(run):
        class P:
            def m(self):
                return self.t * 2

        class Q:
            def m(self):
                return self.t * 3

        f = run.compile(lambda b: b.m())
        for i in range(12):
            p = P()
            p.t = x0()
            if i // 3 % 2:
                p.__class__ = Q
            run.call(f, p)

    def method_override_instance(run):
        class P:
            def m(self):
                return self.t * 2

        f = run.compile(lambda b: b.m())
        for i in range(12):
            p = P()
            p.t = x0()
            if i // 3 % 2:
                p.m = lambda p=p: p.t * 7
            run.call(f, p)

    def same_tensor_arg_attr(run):
        f = run.compile(lambda x, b: (x.add_(1), b.x * 2)[1])
        for i in range(12):
            x = x0()
            run.call(f, x, Box(x=x if i // 3 % 2 else x0()))

    def attr_view_of_arg(run):
        f = run.compile(lambda x, b: (x.mul_(2), b.x + 1)[1])
        for i in range(12):
            x = lucid.arange(4.0) + 1
            run.call(f, x, Box(x=x[1:] if i // 3 % 2 else x0()))

    def attr_is_state(run):
        w = x0()
        f = run.compile(lambda b: (b.x.add_(1), w * 2)[1])
        run.repeat(f, vary(lambda i: Box(x=w if i // 3 % 2 else x0())), n=12, see=lambda: (w,))

    def grad_in_obj(run):
        f = run.compile(lambda b: (b.x * b.y).sum())
        for i in range(8):
            x = x0().requires_grad_()
            y = x0()
            r = run.call(f, Box(x=x, y=y))
            r.backward()
            run.see(x.grad)

    def backward_inside(run):
        f = run.compile(square_backward)
        for i in range(8):
            x = x0().requires_grad_()
            run.call(f, Box(x=x))
            run.see(x.grad)

    def grad_preexisting(run):
        f = run.compile(square_backward)
        x = x0().requires_grad_()
        run.repeat(f, vary(lambda _: Box(x=x)), n=8, at={5: lambda: setattr(x, "grad", None)}, see=lambda: (x.grad,))

    def object_twice(run):
        f = run.compile(lambda a, b: (a.x.add_(1), b.x * 2, a is b)[1:])
        for i in range(12):
            a = Box(x=x0())
            run.call(f, a, a if i // 3 % 2 else Box(x=x0()))

    def object_in_itself(run):
        f = run.compile(lambda b: b.me.me.x * 2)
        for i in range(6):
            b = Box(x=x0())
            b.me = b
            run.call(f, b)

    def frozenset_nan(run):
        f = run.compile(lambda x, s: x * 2 if math.nan in s else x)
        for i in range(8):
            run.call(f, x0(), frozenset({math.nan if i % 2 else float("nan"), 1.0}))

    def set_true_one(run):
        f = run.compile(lambda x, s: [x * 2, [type(v).__name__ for v in s]])
        run.repeat(f, x0, vary(lambda i: [{1}, {True}, {1.0}][i // 2 % 3]), n=12)

    def slice_tensor(run):
        f = run.compile(lambda x, s: x[s])
        run.repeat(f, vary(lambda _: lucid.arange(5.0) + 1), vary(lambda i: slice(lucid.tensor(i // 3), None)), n=8)

    def array_without_dimensions(run):
        f = run.compile(lambda x, k: x * float(k))
        run.repeat(f, x0, vary(lambda i: np.array(float(i // 3))), n=8)

    def date_of_numpy(run):
        f = run.compile(lambda x, k: x * (2 if str(k).startswith("2020") else 3))
        for i in range(8):
            run.call(f, x0(), np.datetime64("2020-01-01") if i // 3 % 2 else np.datetime64("2021-01-01"))

    def long_double(run):
        f = run.compile(lambda x, k: x * float(k))
        run.repeat(f, x0, vary(lambda i: np.longdouble(i // 3)), n=8)

    def class_of_numpy(run):
        class F(np.float64):
            pass

        f = run.compile(lambda x, k: x * float(k) * getattr(k, "z", 1))
        for i in range(8):
            k = F(2.0)
            k.z = i // 3
            run.call(f, x0(), k)

    def object_returned(run):
        f = run.compile(lambda b: (b, b.x * 2))
        for i in range(8):
            b = Box(x=x0())
            r = run.call(f, b)
            run.see(r[0] is b)

    def attr_tensor_returned(run):
        f = run.compile(lambda b: (b.x, b.x * 2))
        for i in range(8):
            b = Box(x=x0())
            r = run.call(f, b)
            run.see(r[0] is b.x)
