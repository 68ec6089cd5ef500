"""Nested arguments, and tensors that alias each other."""

import lucid

from .._harness import Programs, vary, x0


class NestedArguments(Programs):
    def arg_self_containing(run):
        l = [1]
        l.append(l)
        run.each(run.compile(lambda x, l: x * l[0]), (l,), n=2)

    def arg_deep_nested(run):
        l = []
        for _ in range(900):
            l = [l]
        run.each(run.compile(lambda x, l: x * 2), (l,), n=2)

    def arg_very_deep_nested(run):
        l = []
        for _ in range(100000):
            l = [l]
        run.each(run.compile(lambda x, l: x * 2), (l,), n=2)

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
        run.each(f, (n,), n=2)
        n.next.next.v = 7
        run.each(f, (n,), n=2)

    def same_tensor_twice(run):
        f = run.compile(lambda a, b: a * 2 if a is b else a * 3 + b)
        a = x0()
        b = x0()
        for p in ((a, b), (a, a), (a, b), (b, b)):
            run.repeat(f, *p, n=2)

    def same_tensor_twice_grad(run):
        f = run.compile(lambda a, b: (a * b).sum())
        for k in range(4):
            a = x0().requires_grad_()
            b = x0().requires_grad_() if k % 2 else a
            f(a, b).backward()
            run.see(a.grad, b.grad)

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

    def overlapping_inplace(run):
        def g(a):
            a[1:].copy_(a[:-1])
            return a

        run.repeat(run.compile(g), vary(lambda _: lucid.arange(6).float()))

    def inplace_expand(run):
        def g(a):
            a.add_(1)
            return a

        run.repeat(run.compile(g), vary(lambda _: lucid.ones(1).expand(3)))

    def arg_requires_grad_toggle(run):
        f = run.compile(lambda x: (x * 2).sum())
        for r in (0, 1, 0, 1):
            x = x0().requires_grad_(bool(r))
            y = run.call(f, x)
            if r:
                y.backward()
                run.see(x.grad)

    def arg_dtype_change(run):
        f = run.compile(lambda x: x * 2 + 1)
        for d in (lucid.float32, lucid.float64, lucid.int64, lucid.float16, lucid.bfloat16, lucid.bool, lucid.uint8):
            run.repeat(f, vary(lambda _: x0().to(d)), n=2)

    def arg_dtype_object(run):
        run.over(run.compile(lambda x, d: x.to(d)), lucid.float64, lucid.int32, lucid.float64, n=2)
