"""Nested arguments, and tensors that alias each other."""

import lucid

from ._harness import prog, x0


def seq(run, f, *argsets, x=x0):
    for a in argsets:
        for _ in range(2):
            run.call(f, x(), *a)


@prog
def arg_self_containing(run):
    l = [1]
    l.append(l)
    f = run.compile(lambda x, l: x * l[0])
    seq(run, f, (l,))


@prog
def arg_deep_nested(run):
    l = []
    for _ in range(900):
        l = [l]
    f = run.compile(lambda x, l: x * 2)
    seq(run, f, (l,))


@prog
def arg_very_deep_nested(run):
    l = []
    for _ in range(100000):
        l = [l]
    f = run.compile(lambda x, l: x * 2)
    seq(run, f, (l,))


@prog
def arg_linked_list(run):
    class N:
        pass

    n = None
    for i in range(3000):
        m = N()
        m.next = n
        m.v = i
        n = m

    def g(x, n):
        s = 0
        while n is not None:
            s += n.v
            n = n.next
        return x * s

    f = run.compile(g)
    seq(run, f, (n,))
    n.next.next.v = 7
    seq(run, f, (n,))


@prog
def same_tensor_twice(run):
    f = run.compile(lambda a, b: a * 2 if a is b else a * 3 + b)
    a = x0()
    b = x0()
    for p in ((a, b), (a, a), (a, b), (b, b)):
        run.call(f, *p)
        run.call(f, *p)


@prog
def same_tensor_twice_grad(run):
    f = run.compile(lambda a, b: (a * b).sum())
    for k in range(4):
        a = x0().requires_grad_()
        b = x0().requires_grad_() if k % 2 else a
        f(a, b).backward()
        run.see(a.grad, b.grad)


@prog
def view_and_base(run):
    def g(a, b):
        a.add_(1)
        return b * 2

    f = run.compile(g)
    for k in range(4):
        a = x0()
        b = a[1:] if k % 2 else lucid.tensor([2.0, 3.0])
        run.call(f, a, b)
        run.see(a, b)
    for k in range(4):
        a = x0()
        b = a[:2] if k % 2 else a[1:]
        run.call(f, a, b)
        run.see(a, b)


@prog
def overlapping_inplace(run):
    def g(a):
        a[1:].copy_(a[:-1])
        return a

    f = run.compile(g)
    for _k in range(3):
        run.call(f, lucid.arange(6).float())


@prog
def inplace_expand(run):
    def g(a):
        a.add_(1)
        return a

    f = run.compile(g)
    for _k in range(3):
        run.call(f, lucid.ones(1).expand(3))


@prog
def arg_requires_grad_toggle(run):
    f = run.compile(lambda x: (x * 2).sum())
    for r in (0, 1, 0, 1):
        x = x0().requires_grad_(bool(r))
        y = run.call(f, x)
        if r:
            y.backward()
            run.see(x.grad)


@prog
def arg_dtype_change(run):
    f = run.compile(lambda x: x * 2 + 1)
    for d in (lucid.float32, lucid.float64, lucid.int64, lucid.float16, lucid.bfloat16, lucid.bool, lucid.uint8):
        for _ in range(2):
            run.call(f, x0().to(d))


@prog
def arg_dtype_object(run):
    f = run.compile(lambda x, d: x.to(d))
    for d in (lucid.float64, lucid.int32, lucid.float64):
        for _ in range(2):
            run.call(f, x0(), d)
