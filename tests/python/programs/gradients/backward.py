"""Backward inside and outside of compiled functions, and hooks on tensors."""

import lucid

from .._harness import Programs, xg

grad = lucid.autograd.grad


class Backward(Programs):
    def backward_twice(run):
        f = run.compile(lambda x: (x.exp() * x).sum())
        for _ in range(4):
            x = xg()
            y = f(x)
            y.backward()
            run.see(x.grad)
            with run.errors():
                y.backward()

    def retain(run):
        f = run.compile(lambda x: (x.exp() * x).sum())
        for _ in range(4):
            x = xg()
            y = f(x)
            y.backward(retain_graph=True)
            run.see(x.grad)
            y.backward(retain_graph=True)
            run.see(x.grad)
            y.backward()
            run.see(x.grad)
            with run.errors():
                y.backward()

    def create_graph(run):
        f = run.compile(lambda x: (x.exp() * x.sin()).sum())
        for _ in range(4):
            x = xg()
            y = f(x)
            (g,) = grad(y, x, create_graph=True)
            run.see(g)
            (h,) = grad(g.sum(), x, create_graph=True)
            run.see(h)
            (k,) = grad(h.sum(), x)
            run.see(k)

    def grad_inside(run):
        def g(x):
            y = (x.exp() * x).sum()
            (d,) = grad(y, x, create_graph=True)
            return (d**2).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            y = run.call(f, x)
            y.backward()
            run.see(x.grad)

    def grad_inside_nograph(run):
        def g(x):
            y = (x.exp() * x).sum()
            (d,) = grad(y, x)
            return d

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            run.call(f, x)

    def grad_outside_of_graph_arg(run):
        def g(y, x):
            (d,) = grad(y, x)
            return d * 2

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            run.call(f, (x.exp()).sum(), x)

    def backward_on_arg(run):
        def g(y):
            y.backward()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            run.call(f, (x.exp()).sum())
            run.see(x.grad)

    def backward_partial(run):
        f = run.compile(lambda x: (x * 2, x.exp(), x.sin()))
        for i in range(6):
            x = xg()
            a, b, c = f(x)
            if i % 3 == 0:
                a.sum().backward()
            elif i % 3 == 1:
                (b.sum() + c.sum()).backward()
            else:
                c.sum().backward(retain_graph=True)
                c.sum().backward()
                a.sum().backward()
            run.see(x.grad)

    def grad_wrt_intermediate(run):
        f = run.compile(lambda x: (lambda h: (h, (h**2).sum()))(x.exp()))
        for _ in range(4):
            x = xg()
            h, y = f(x)
            (g,) = grad(y, h, retain_graph=True)
            run.see(g)
            (g,) = grad(y, x)
            run.see(g)

    def retain_grad_result(run):
        f = run.compile(lambda x: x.exp())
        for _ in range(4):
            x = xg()
            h = f(x)
            h.retain_grad()
            (h**2).sum().backward()
            run.see(h.grad, x.grad)

    def retain_grad_inside(run):
        def g(x):
            h = x.exp()
            h.retain_grad()
            return h, (h**2).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            h, y = f(x)
            y.backward()
            run.see(h.grad, x.grad, h.retains_grad)

    def hooks_on_result(run):
        f = run.compile(lambda x: x.exp())
        log = []
        for i in range(5):
            x = xg()
            h = f(x)
            if i > 1:
                hd = h.register_hook(lambda g: (log.append(1), g * 2)[1])
            if i == 4:
                hd.remove()
            (h**2).sum().backward()
            run.see(x.grad, list(log))

    def hook_inside_const(run):
        log = []

        def g(x):
            h = x.exp()
            h.register_hook(lambda g: g * 3)
            return (h**2).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            y = f(x)
            y.backward()
            run.see(x.grad)

    def hook_inside_state(run):
        k = [2.0]
        log = []

        def g(x):
            h = x.exp()
            h.register_hook(lambda g: (log.append(1), g * k[0])[1])
            return (h**2).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            y = f(x)
            k[0] += 1
            y.backward()
            run.see(x.grad, len(log))

    def hook_order(run):
        log = []

        def g(x):
            a = x.exp()
            b = x.sin()
            a.register_hook(lambda g: log.append("a"))
            b.register_hook(lambda g: log.append("b"))
            return (a * b).sum()

        f = run.compile(g)
        for _ in range(4):
            x = xg()
            x.register_hook(lambda g: log.append("x"))
            f(x).backward()
            run.see(list(log))

    def hook_raises(run):
        def bad(g):
            raise ValueError("hook")

        f = run.compile(lambda x: x.exp().sin())
        for _ in range(4):
            x = xg()
            h = f(x)
            h.register_hook(bad)
            with run.errors():
                h.sum().backward()
            run.see(x.grad)
