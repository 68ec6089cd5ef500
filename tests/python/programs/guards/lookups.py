"""Attributes that are not looked up by name: dunders, slots, descriptors, classes."""

from .._harness import Box, Net, Programs, program, sample


class Lookups(Programs, compiles=True, guards=True):
    def getattr_dynamic(run):
        class M(Net):
            def forward(self, x):
                return x * getattr(self, "sc" + "ale")

        m = M()
        run.repeat(run.compile(m), sample, n=8, before=lambda i: setattr(m, "scale", 1.0 + i // 3))

    def setattr_dynamic(run):
        class M(Net):
            def forward(self, x):
                setattr(self, "out" + "1", 3)
                return x * 2

        m = M()
        run.repeat(run.compile(m), sample, n=8, at={5: lambda: delattr(m, "out1")}, see=lambda: (m.out1,))

    def vars_dict(run):
        o = Box(a=1.0)
        f = run.compile(lambda x: x * vars(o)["a"])
        run.repeat(f, sample, n=8, before=lambda i: setattr(o, "a", float(i // 3)))

    def dunder_dict(run):
        o = Box(a=1.0)
        f = run.compile(lambda x: x * o.__dict__["a"])
        run.repeat(f, sample, n=8, before=lambda i: setattr(o, "a", float(i // 3)))

    def dunder_getattr(run):
        class Thing:
            def __init__(self):
                self.store = {"a": 1.0}

            def __getattr__(self, n):
                return self.store[n]

        o = Thing()
        f = run.compile(lambda x: x * o.a)
        run.repeat(f, sample, n=8, before=lambda i: o.store.__setitem__("a", float(i // 3)))

    def dunder_getitem(run):
        class Thing:
            def __init__(self):
                self.k = 1.0

            def __getitem__(self, n):
                return self.k + n

        o = Thing()
        run.repeat(run.compile(lambda x: x * o[1]), sample, n=8, before=lambda i: setattr(o, "k", float(i // 3)))

    def dunder_call_nested(run):
        class Thing:
            def __init__(self):
                self.k = 1.0

            def __call__(self, x):
                return x * self.k

        o = Thing()
        run.repeat(run.compile(lambda x: o(x)), sample, n=8, before=lambda i: setattr(o, "k", float(i // 3)))

    def callable_object_root(run):
        class Thing:
            def __init__(self):
                self.k = 1.0

            def __call__(self, x):
                return x * self.k

        o = Thing()
        run.repeat(run.compile(o), sample, n=8, before=lambda i: setattr(o, "k", float(i // 3)))

    def dunder_call_replaced(run):
        class Thing:
            def __call__(self, x):
                return x * 2

        o = Thing()
        f = run.compile(lambda x: o(x))
        run.repeat(f, sample, n=8, at={4: lambda: setattr(Thing, "__call__", lambda s, x: x * 5)})

    def operator_overload(run):
        class W:
            def __init__(self):
                self.k = 3.0

            def __matmul__(self, x):
                return x * self.k

        w = W()
        run.repeat(run.compile(lambda x: w @ x), sample, n=8, before=lambda i: setattr(w, "k", float(i // 3)))

    def slots_class(run):
        class Thing:
            __slots__ = ("k",)

        o = Thing()
        o.k = 1.0
        run.repeat(run.compile(lambda x: x * o.k), sample, n=8, before=lambda i: setattr(o, "k", float(i // 3)))

    @program(eager="the call writes closure o.k")
    def slots_counter(run):
        class Thing:
            __slots__ = ("k",)

        o = Thing()
        o.k = 0

        def f(x):
            o.k += 1
            return x * o.k

        run.repeat(run.compile(f), sample, n=8, see=lambda: (o.k,))

    def class_of_object_changed(run):
        class A:
            def go(self, x):
                return x + 1

        class B:
            def go(self, x):
                return x - 1

        o = A()
        run.repeat(run.compile(lambda x: o.go(x)), sample, n=8, at={4: lambda: setattr(o, "__class__", B)})

    def staticmethod_classmethod(run):
        class A:
            k = 2.0

            @staticmethod
            def s(x):
                return x + 1

            @classmethod
            def c(cls, x):
                return x * cls.k

        run.repeat(run.compile(lambda x: A.c(A.s(x))), sample, n=8, before=lambda i: setattr(A, "k", 1.0 + i // 4))

    def descriptor(run):
        class D:
            def __init__(self):
                self.v = 1.0

            def __get__(self, o, t):
                return self.v

        d = D()

        class A:
            k = d

        a = A()
        run.repeat(run.compile(lambda x: x * a.k), sample, n=8, before=lambda i: setattr(d, "v", float(i // 3)))

    def metaclass_attr(run):
        class Mt(type):
            k = 2.0

        class A(metaclass=Mt):
            pass

        run.repeat(run.compile(lambda x: x * A.k), sample, n=8, before=lambda i: setattr(Mt, "k", 1.0 + i // 4))
