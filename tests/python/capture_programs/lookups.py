"""Attributes that are not looked up by name: dunders, slots, descriptors, classes."""

from ._common import CALLS, Box, Net, program, sample


@program
def getattr_dynamic(compile):

    class M(Net):
        def forward(self, x):
            return x * getattr(self, "sc" + "ale")

    m = M()
    f = compile(m)
    for i in range(CALLS):
        m.scale = 1.0 + i // 3
        yield f(sample(i))


@program
def setattr_dynamic(compile):

    class M(Net):
        def forward(self, x):
            setattr(self, "out" + "1", 3)
            return x * 2

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 5:
            del m.out1
        yield (f(sample(i)), m.out1)


@program
def vars_dict(compile):
    o = Box(a=1.0)
    f = compile(lambda x: x * vars(o)["a"])
    for i in range(CALLS):
        o.a = float(i // 3)
        yield f(sample(i))


@program
def dunder_dict(compile):
    o = Box(a=1.0)
    f = compile(lambda x: x * o.__dict__["a"])
    for i in range(CALLS):
        o.a = float(i // 3)
        yield f(sample(i))


@program
def dunder_getattr(compile):

    class Thing:
        def __init__(self):
            self.store = {"a": 1.0}

        def __getattr__(self, n):
            return self.store[n]

    o = Thing()
    f = compile(lambda x: x * o.a)
    for i in range(CALLS):
        o.store["a"] = float(i // 3)
        yield f(sample(i))


@program
def dunder_getitem(compile):

    class Thing:
        def __init__(self):
            self.k = 1.0

        def __getitem__(self, n):
            return self.k + n

    o = Thing()
    f = compile(lambda x: x * o[1])
    for i in range(CALLS):
        o.k = float(i // 3)
        yield f(sample(i))


@program
def dunder_call_nested(compile):

    class Thing:
        def __init__(self):
            self.k = 1.0

        def __call__(self, x):
            return x * self.k

    o = Thing()
    f = compile(lambda x: o(x))
    for i in range(CALLS):
        o.k = float(i // 3)
        yield f(sample(i))


@program
def callable_object_root(compile):

    class Thing:
        def __init__(self):
            self.k = 1.0

        def __call__(self, x):
            return x * self.k

    o = Thing()
    f = compile(o)
    for i in range(CALLS):
        o.k = float(i // 3)
        yield f(sample(i))


@program
def dunder_call_replaced(compile):

    class Thing:
        def __call__(self, x):
            return x * 2

    o = Thing()
    f = compile(lambda x: o(x))
    for i in range(CALLS):
        if i == 4:
            Thing.__call__ = lambda s, x: x * 5
        yield f(sample(i))


@program
def operator_overload(compile):

    class W:
        def __init__(self):
            self.k = 3.0

        def __matmul__(self, x):
            return x * self.k

    w = W()
    f = compile(lambda x: w @ x)
    for i in range(CALLS):
        w.k = float(i // 3)
        yield f(sample(i))


@program
def slots_class(compile):

    class Thing:
        __slots__ = ("k",)

    o = Thing()
    o.k = 1.0
    f = compile(lambda x: x * o.k)
    for i in range(CALLS):
        o.k = float(i // 3)
        yield f(sample(i))


@program
def slots_counter(compile):

    class Thing:
        __slots__ = ("k",)

    o = Thing()
    o.k = 0

    def f(x):
        o.k += 1
        return x * o.k

    f = compile(f)
    for i in range(CALLS):
        yield (f(sample(i)), o.k)


@program
def class_of_object_changed(compile):

    class A:
        def go(self, x):
            return x + 1

    class B:
        def go(self, x):
            return x - 1

    o = A()
    f = compile(lambda x: o.go(x))
    for i in range(CALLS):
        if i == 4:
            o.__class__ = B
        yield f(sample(i))


@program
def staticmethod_classmethod(compile):

    class A:
        k = 2.0

        @staticmethod
        def s(x):
            return x + 1

        @classmethod
        def c(cls, x):
            return x * cls.k

    f = compile(lambda x: A.c(A.s(x)))
    for i in range(CALLS):
        A.k = 1.0 + i // 4
        yield f(sample(i))


@program
def descriptor(compile):

    class D:
        def __init__(self):
            self.v = 1.0

        def __get__(self, o, t):
            return self.v

    d = D()

    class A:
        k = d

    a = A()
    f = compile(lambda x: x * a.k)
    for i in range(CALLS):
        d.v = float(i // 3)
        yield f(sample(i))


@program
def metaclass_attr(compile):

    class Mt(type):
        k = 2.0

    class A(metaclass=Mt):
        pass

    f = compile(lambda x: x * A.k)
    for i in range(CALLS):
        Mt.k = 1.0 + i // 4
        yield f(sample(i))
