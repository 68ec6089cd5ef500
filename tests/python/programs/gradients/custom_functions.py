"""`autograd.Function` inside compiled functions."""

import lucid

from .._harness import Programs, x0, xg

grad = lucid.autograd.grad


class Sq(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x * ctx.k, None


class CustomFunctions(Programs):
    def custom_fn(run):
        f = run.compile(lambda x, k: Sq.apply(x, k).sum())
        for k in (2.0, 2.0, 3.0, 3.0, 2.0):
            x = xg()
            y = run.call(f, x, k)
            y.backward()
            run.see(x.grad)

    def custom_fn_double(run):
        f = run.compile(lambda x: Sq.apply(x, 2.0).sum())
        for _ in range(4):
            x = xg()
            y = f(x)
            (g,) = grad(y, x, create_graph=True)
            run.see(g)
            g.sum().backward()
            run.see(x.grad)

    def custom_fn_state(run):
        cnt = [0]

        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                cnt[0] += 1
                return g * cnt[0]

        f = run.compile(lambda x: Cn.apply(x).sum())
        for _ in range(4):
            x = xg()
            f(x).backward()
            run.see(x.grad, cnt[0])

    def custom_fn_backward_state(run):
        k = [1.0]

        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * k[0]

        def step(x):
            x.grad = None
            Cn.apply(x).sum().backward()
            return x.grad

        run.repeat(run.compile(step), xg, n=5, at={3: lambda: k.__setitem__(0, 5.0)})

    def custom_fn_needs(run):
        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                ctx.save_for_backward(a, b)
                return a * b

            @staticmethod
            def backward(ctx, g):
                a, b = ctx.saved_tensors
                return (g * b if ctx.needs_input_grad[0] else None), (g * a if ctx.needs_input_grad[1] else None)

        f = run.compile(lambda a, b: Cn.apply(a, b).sum())
        for i in range(6):
            a = x0().requires_grad_(i % 2 == 0)
            b = x0().requires_grad_(i % 3 == 0)
            y = run.call(f, a, b)
            if y.requires_grad:
                y.backward()
            run.see(a.grad, b.grad)

    def custom_fn_multi_out(run):
        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                ctx.save_for_backward(a)
                return a * 2, a * 3

            @staticmethod
            def backward(ctx, g, h):
                return (g * 2 if g is not None else 0) + (h * 3 if h is not None else 0)

        f = run.compile(lambda a: Cn.apply(a))
        for i in range(6):
            a = xg()
            u, v = f(a)
            (u.sum() if i % 2 else v.sum() * 2).backward()
            run.see(a.grad)

    def custom_fn_dirty(run):
        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                a.mul_(2)
                ctx.mark_dirty(a)
                return a

            @staticmethod
            def backward(ctx, g):
                return g * 2

        f = run.compile(lambda a: Cn.apply(a))
        for _ in range(3):
            a = xg()
            h = a * 1
            with run.errors():
                y = f(h)
                y.sum().backward()
                run.see(a.grad, h, y is h)

    def custom_fn_raises(run):
        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2

            @staticmethod
            def backward(ctx, g):
                raise KeyError("no")

        f = run.compile(lambda a: Cn.apply(a).sum())
        for _ in range(3):
            a = xg()
            with run.errors(BaseException):
                f(a).backward()

    def custom_fn_closure_ctx(run):
        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                ctx.log = []
                return a * 2

            @staticmethod
            def backward(ctx, g):
                ctx.log.append(1)
                return g * len(ctx.log)

        f = run.compile(lambda a: Cn.apply(a).sum())
        for _ in range(4):
            a = xg()
            y = f(a)
            y.backward(retain_graph=True)
            y.backward()
            run.see(a.grad)

    def custom_fn_class_attr(run):
        class Cn(lucid.autograd.Function):
            scale = 2.0

            @staticmethod
            def forward(ctx, a):
                return a * Cn.scale

            @staticmethod
            def backward(ctx, g):
                return g * Cn.scale

        f = run.compile(lambda a: Cn.apply(a).sum())
        for s in (2.0, 2.0, 3.0, 3.0):
            Cn.scale = s
            a = xg()
            y = run.call(f, a)
            y.backward()
            run.see(a.grad)

    def custom_fn_replaced_backward(run):
        class Cn(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        f = run.compile(lambda a: Cn.apply(a).sum())
        for i in range(4):
            a = xg()
            y = run.call(f, a)
            y.backward()
            run.see(a.grad)
            if i == 2:
                Cn.backward = staticmethod(lambda ctx, g: g * 100)

    def custom_fn_no_grad_input(run):
        f = run.compile(lambda x: Sq.apply(x, 2.0))
        run.repeat(f, x0)
        with lucid.no_grad():
            run.repeat(f, xg, n=2)
