"""Gradient graphs that outlive the call, and gradients that the call replaces."""

import gc

import lucid
from lucid import nn

from .._harness import Programs, vary, x0, xg

grad = lucid.autograd.grad


class Graphs(Programs):
    def grad_fn_chain(run):
        f = run.compile(lambda x: ((x * 2).exp() + x).sum())

        def chain(fn, d=0):
            if fn is None or d > 6:
                return None
            nm = fn.name() if callable(fn.name) else fn.name
            return (nm, [chain(n[0] if isinstance(n, tuple) else n, d + 1) for n in fn.next_functions])

        for _ in range(4):
            x = xg()
            y = f(x)
            run.see(repr(chain(y.grad_fn)))

    def grad_fn_metadata(run):
        f = run.compile(lambda x: ((x * 2).exp() + x).sum())
        for _ in range(3):
            y = f(xg())
            run.see([a for a in dir(y.grad_fn) if not a.startswith("__")])

    def allow_unused(run):
        f = run.compile(lambda x, z: x.sum())
        for _ in range(3):
            x, z = xg(), xg()
            y = f(x, z)
            with run.errors():
                run.see(grad(y, [x, z], retain_graph=True))
            run.see(grad(y, [x, z], allow_unused=True))

    def grad_outputs(run):
        f = run.compile(lambda x: x.exp())
        for i in range(4):
            x = xg()
            y = f(x)
            run.see(grad(y, x, x0() * i))

    def backward_inputs(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        for _ in range(4):
            x = xg()
            f(x).sum().backward(inputs=[m.weight])
            run.see(m.weight.grad, m.bias.grad, x.grad)

    def two_calls_one_backward(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        for _ in range(4):
            x = xg()
            (f(x) * f(x * 2)).sum().backward()
            run.see(m.weight.grad, x.grad)
            m.zero_grad()

    def chain_compiled(run):
        ms = [nn.Linear(3, 3) for _ in range(4)]
        fs = [run.compile(m) for m in ms]
        for _ in range(4):
            x = xg()
            h = x
            for q in fs:
                h = q(h).tanh() + h
            h.sum().backward()
            run.see(x.grad, *[m.weight.grad for m in ms])

    def rnn_through_compiled(run):
        m = nn.Linear(3, 3)
        f = run.compile(lambda h, x: (m(h) + x).tanh())
        for _ in range(3):
            h = x0()
            for t in range(5):
                h = f(h, x0() * t)
            h.sum().backward()
            run.see(m.weight.grad)
            m.zero_grad()

    def backward_in_thread(run):
        import threading

        m = nn.Linear(3, 3)
        f = run.compile(m)
        for _ in range(3):
            y = f(x0()).sum()
            t = threading.Thread(target=y.backward)
            t.start()
            t.join()
            run.see(m.weight.grad)

    def free_before_backward(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        for _ in range(3):
            x = xg()
            y = f(x).sum()
            del x
            gc.collect()
            y.backward()
            run.see(m.weight.grad)

    def backward_after_eviction(run):
        f = (
            run.compile(
                lambda x: (x.exp() * x).sum(),
            )
            if not run.compiled
            else run.compile(lambda x: (x.exp() * x).sum(), max_cache_entries=1)
        )
        ys = []
        for n in (3, 3, 4, 4, 3, 3):
            x = lucid.ones(n).requires_grad_()
            ys.append((x, f(x)))
        for x, y in ys:
            y.backward()
            run.see(x.grad)

    def backward_after_invalidate(run):
        f = run.compile(lambda x: (x.exp() * x).sum())
        ys = []
        for _n in range(4):
            x = xg()
            ys.append((x, f(x)))
        if run.compiled:
            f.invalidate_cache()
        del f
        run.functions.clear()
        gc.collect()
        for x, y in ys:
            y.backward()
            run.see(x.grad)

    def param_step_before_backward(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        opt = lucid.optim.SGD(m.parameters(), lr=0.1)
        for _ in range(4):
            x = xg()
            y = f(x).sum()
            z = f(x).sum()
            y.backward(retain_graph=True)
            opt.step()
            opt.zero_grad()
            with run.errors():
                z.backward()
                run.see(x.grad, m.weight.grad)

    def requires_grad_inside_on_arg(run):
        def g(x):
            x.requires_grad_(True)
            return (x**2).sum()

        f = run.compile(g)
        for _ in range(3):
            x = x0()
            y = run.call(f, x)
            y.backward()
            run.see(x, x.grad)

    def metadata_inplace(run):
        for fn in (
            lambda x: x.t_(),
            lambda x: x.unsqueeze_(0),
            lambda x: x.squeeze_(),
            lambda x: x.transpose_(0, 1),
            lambda x: x.detach_(),
        ):

            def g(x):
                fn(x)
                return x * 2

            f = run.compile(g)
            for _ in range(3):
                x = lucid.arange(6).float().reshape(2, 3)
                run.call(f, x)
                run.see(x)

    def set_data_inside(run):
        def g(x, y):
            x.data = y
            return x * 2

        f = run.compile(g)
        for _ in range(3):
            x, y = x0(), x0() * 5
            run.call(f, x, y)
            y.add_(1)
            run.see(x)

    def grad_none_inside(run):
        w = nn.Parameter(x0())

        def g(x):
            w.grad = None
            (w * x).sum().backward()
            return w.grad

        f = run.compile(g)
        for _ in range(4):
            r = run.call(f, x0())
            run.see(r is w.grad)

    def grad_set_inside(run):
        w = nn.Parameter(x0())

        def g(x):
            w.grad = x * 2
            return None

        run.repeat(run.compile(g), vary(lambda i: x0() * i), n=4, see=lambda: (w.grad,))

    def grad_set_to_arg(run):
        w = nn.Parameter(x0())

        def g(x):
            w.grad = x
            return None

        f = run.compile(g)
        for i in range(4):
            x = x0() * i
            run.call(f, x)
            run.see(w.grad is x)
            x.add_(1)
            run.see(w.grad)

    def grad_inplace_kept(run):
        w = nn.Parameter(x0())
        w.grad = x0()
        k = w.grad

        def g(x):
            (w * x).sum().backward()

        run.repeat(run.compile(g), x0, n=4, see=lambda: (k, w.grad is k))

    def anomaly_nan(run):
        f = run.compile(lambda x: (x / 0).log().sum())
        for _ in range(3):
            x = xg()
            f(x).backward()
            run.see(x.grad)

    def gradcheck_compiled(run):
        f = run.compile(lambda x: (x.exp() * x.sin()).sum())
        x = lucid.tensor([1.0, 2.0], dtype=lucid.float64).requires_grad_()
        run.see(lucid.autograd.gradcheck(f, (x,)) if callable(lucid.autograd.gradcheck) else None)
