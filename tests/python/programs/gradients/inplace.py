"""Writes to arguments, results and views that take part in gradients; grad modes."""

import lucid

from .._harness import Programs, x0, xg

grad = lucid.autograd.grad


class InPlace(Programs):
    def inplace_after_fwd(run):
        f = run.compile(lambda x, w: (x * w).sum())
        for _ in range(4):
            x = xg()
            w = x0()
            y = f(x, w)
            w.mul_(10)
            with run.errors():
                y.backward()
                run.see(x.grad)

    def inplace_on_result(run):
        f = run.compile(lambda x: x.exp())
        for _ in range(4):
            x = xg()
            y = f(x)
            y.mul_(2)
            with run.errors():
                y.sum().backward()
                run.see(x.grad, y)

    def inplace_on_view_result(run):
        f = run.compile(lambda x: (x * 2).view(3, 1))
        for _ in range(4):
            x = xg()
            y = f(x)
            y[0].mul_(5)
            y.sum().backward()
            run.see(x.grad, y)

    def inplace_arg_nonleaf(run):
        def g(x):
            x.mul_(2)
            return (x**2).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            h = x * 1
            y = f(h)
            y.backward()
            run.see(x.grad, h)

    def inplace_leaf_err(run):
        def g(x):
            x.mul_(2)
            return x

        f = run.compile(g)
        for _ in range(2):
            run.call(f, xg())
            run.call(f, xg() * 1)
            run.call(f, x0())

    def view_grad_arg(run):
        f = run.compile(lambda v: (v**2).sum())
        for _ in range(4):
            x = lucid.arange(6).float().requires_grad_()
            f(x[1:4]).backward()
            run.see(x.grad)

    def leaf_view_inplace(run):
        def g(w, x):
            with lucid.no_grad():
                w[0] = x[0]
            return (w * x).sum()

        f = run.compile(g)
        for _ in range(4):
            w = xg()
            y = f(w, x0() * 9)
            y.backward()
            run.see(w, w.grad)

    def setitem_grad(run):
        def g(x, v):
            y = x * 1
            y[1] = v
            y[0] += v
            return (y**2).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            v = lucid.tensor(5.0).requires_grad_()
            f(x, v).backward()
            run.see(x.grad, v.grad)

    def nograd_inside(run):
        def g(x):
            with lucid.no_grad():
                s = x.exp()
            return (x * s).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            f(x).backward()
            run.see(x.grad)

    def enable_grad_inside_nograd(run):
        def g(x):
            with lucid.enable_grad():
                return (x**2).sum()

        f = run.compile(g)
        for _ in range(3):
            x = xg()
            with lucid.no_grad():
                y = f(x)
            run.see(y)
            y.backward()
            run.see(x.grad)

    def nograd_decorator(run):
        @lucid.no_grad()
        def h(x):
            return x.exp()

        f = run.compile(lambda x: (h(x) * x).sum())
        for _ in range(3):
            x = xg()
            f(x).backward()
            run.see(x.grad)

    def compile_of_nograd_decorated(run):
        @lucid.no_grad()
        def h(x):
            return x.exp()

        run.repeat(run.compile(h), xg, see=lambda: (lucid.is_grad_enabled(),))

    def detach_part(run):
        f = run.compile(lambda x: (x * x.detach()).sum() + x.sum().detach())
        for _ in range(3):
            x = xg()
            f(x).backward()
            run.see(x.grad)
