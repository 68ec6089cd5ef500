"""Gradients: accumulation, aliases, graphs kept, custom functions with state, grad modes, and random numbers."""

import lucid
from lucid import nn

from .._harness import Programs, program, x0, xg

grad = lucid.autograd.grad
Function = lucid.autograd.Function


def _made(kind, calls):
    class Made(Function):
        scale = 2.0
        count = 0
        kept = None

        @staticmethod
        def forward(ctx, x, *rest):
            ctx.save_for_backward(x)
            if kind == "scale_on_ctx":
                ctx.scale = Made.scale
            if kind == "count_on_class":
                Made.count += 1
            if kind == "list_on_ctx":
                ctx.calls = calls
            if kind == "new_list_on_ctx":
                ctx.calls = []
            if kind == "tensor_on_ctx":
                ctx.y = x * 2
            if kind == "kept_on_class":
                Made.kept = x.detach() * 2
            if kind == "object_on_ctx":
                ctx.holder = type("Holder", (), {"scale": Made.scale})()
            if kind == "needs":
                ctx.needs = ctx.needs_input_grad
            if kind == "draws":
                ctx.mask = (lucid.rand(3) > 0.5).float()
            return x * Made.scale

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if kind == "scale_on_ctx":
                return g * ctx.scale
            if kind == "list_on_ctx":
                ctx.calls.append(len(ctx.calls))
            if kind == "new_list_on_ctx":
                ctx.calls.append(1)
                return g * len(ctx.calls)
            if kind == "tensor_on_ctx":
                return g * ctx.y
            if kind == "kept_on_class":
                return g * Made.kept
            if kind == "object_on_ctx":
                ctx.holder.scale += 1
                return g * ctx.holder.scale
            if kind == "needs":
                return g * (2 if ctx.needs[0] else 3)
            if kind == "draws":
                return g * ctx.mask + lucid.rand(3)
            if kind == "reads_mode":
                return g * (2 if lucid.is_grad_enabled() else 3)
            return g * x * Made.scale

    return Made


class Accumulation(Programs):
    def gradients_accumulate_over_calls(run):
        w = xg()
        f = run.compile(lambda x: (w * x).sum().backward())
        for i in range(8):
            if i == 4:
                w.grad = None
            if i == 6:
                w.grad.zero_()
            run.call(f, x0() * i)
            run.see(w.grad)

    def an_alias_of_the_gradient(run):
        w = xg()
        f = run.compile(lambda x: (w * x).sum().backward())
        run.call(f, x0())
        kept, part = w.grad, w.grad[1:]
        for i in range(5):
            run.call(f, x0())
            run.see(kept, part, kept is w.grad)
            part.mul_(2)

    def a_gradient_that_is_a_view(run):
        flat = lucid.zeros(6)
        a, b = xg(), xg()
        a.grad, b.grad = flat[:3], flat[3:]
        f = run.compile(lambda x: (a * x + b * x * x).sum().backward())
        run.repeat(f, x0, n=6, at={4: lambda: flat.zero_()}, see=lambda: (flat, a.grad, b.grad))

    def gradients_that_overlap(run):
        flat = lucid.zeros(4)
        a, b = xg(), xg()
        a.grad, b.grad = flat[:3], flat[1:]
        run.repeat(run.compile(lambda x: (a * x + b * x * x).sum().backward()), x0, n=5, see=lambda: (flat,))

    def one_gradient_of_two_tensors(run):
        shared = lucid.zeros(3)
        a, b = xg(), xg()
        a.grad = b.grad = shared
        f = run.compile(lambda x: (a * x + b * x * x).sum().backward())
        for i in range(6):
            if i == 3:
                b.grad = lucid.zeros(3)
            run.call(f, x0())
            run.see(shared, a.grad, b.grad, a.grad is b.grad)

    def a_gradient_that_is_the_tensor_itself(run):
        w = xg()
        f = run.compile(lambda x: (w * x).sum().backward())
        run.repeat(f, x0, n=5, at={2: lambda: setattr(w, "grad", w.detach())}, see=lambda: (w, w.grad))

    def a_gradient_that_is_an_argument(run):
        w = xg()

        def step(x, g):
            w.grad = g
            (w * x).sum().backward()
            return w.grad is g

        f = run.compile(step)
        for _ in range(4):
            g = lucid.zeros(3)
            run.call(f, x0(), g)
            run.see(g, w.grad, w.grad is g)

    def a_gradient_exchanged(run):
        a, b = xg(), xg()

        def swap(x):
            (a * x + b * 2).sum().backward()
            a.grad, b.grad = b.grad, a.grad

        run.repeat(run.compile(swap), x0, n=5, see=lambda: (a.grad, b.grad))

    def a_gradient_that_needs_a_gradient(run):
        w = xg()

        def step(x):
            w.grad = None
            (w**3 * x).sum().backward(create_graph=True)
            return w.grad

        f = run.compile(step)
        for _ in range(4):
            g = run.call(f, x0())
            w.grad = None
            g.sum().backward()
            run.see(w.grad)

    def a_penalty_on_gradients(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
        weight = [1.0]

        def step(x):
            m.zero_grad()
            x = x.detach().requires_grad_()
            (g,) = grad(m(x).sum(), x, create_graph=True)
            loss = (g.norm() - 1) ** 2 * weight[0]
            loss.backward()
            return loss

        f = run.compile(step)
        for i in range(6):
            weight[0] = 1.0 if i < 4 else 2.0
            run.call(f, x0())
            run.see(*(p.grad for p in m.parameters()))

    def a_graph_kept_between_calls(run):
        w = xg()
        kept = []
        f = run.compile(lambda x: (w * x).exp())
        for i in range(5):
            kept.append(run.call(f, x0() * 0.1))
        for y in reversed(kept):
            y.sum().backward(retain_graph=True)
            y.sum().backward()
            run.see(w.grad)

    def results_fed_back(run):
        f = run.compile(lambda h, x: (h * x).tanh())
        for n in (1, 3, 5):
            h = start = xg()
            for _ in range(n):
                h = f(h, x0())
            h.sum().backward()
            run.see(h, start.grad)

    def a_graph_from_outside(run):
        w = xg()
        f = run.compile(lambda y: (y * 2).sum().backward())
        for i in range(6):
            y = w.exp() if i % 2 else w * 3
            run.call(f, y)
            run.see(w.grad)
            run.call(f, y)

    def backward_of_part_of_a_graph(run):
        def step(x):
            h = x.exp()
            h.sum().backward(retain_graph=True)
            (h * h).sum().backward()
            return h.detach(), x.grad.clone()

        run.repeat(run.compile(step), xg, n=4)

    def detached_inside(run):
        w = xg()

        def step(x):
            y = w * x
            target = y.detach()
            target += 1
            loss = ((y - target) ** 2).sum()
            loss.backward()
            return y, target

        f = run.compile(step)
        for _ in range(4):
            y, target = run.call(f, x0())
            run.see(w.grad, y.requires_grad)
            target.zero_()
            run.see(y)

    def modes_around_the_call(run):
        w = xg()
        f = run.compile(lambda x: w * x)
        for mode in (lucid.enable_grad, lucid.no_grad, lucid.inference_mode) * 3:
            with mode():
                y = run.call(f, x0())
                run.see(y.requires_grad, lucid.is_grad_enabled())

    def modes_mixed_inside(run):
        w = xg()

        def step(x):
            with lucid.no_grad():
                a = w * x
                with lucid.enable_grad():
                    b = w * a
                c = b * 2
            d = c + b
            with lucid.set_grad_enabled(flags[0]):
                e = d * w
            return a, b, c, d, e

        flags = [True]
        f = run.compile(step)
        for i in range(7):
            flags[0] = i < 3 or i == 6
            ys = run.call(f, x0())
            if ys[-1].requires_grad:
                ys[-1].sum().backward()
            run.see(w.grad)

    def inference_inside(run):
        w = xg()

        def step(x):
            with lucid.inference_mode():
                a = w * x
            return a, (w * a.clone() if keep[0] else a)

        keep = [True]
        run.repeat(run.compile(step), x0, n=6, before=lambda i: keep.__setitem__(0, i < 4))

    def a_mode_object_kept(run):
        mode = lucid.no_grad()
        w = xg()

        def step(x):
            with mode:
                return w * x

        run.repeat(run.compile(step), x0, n=4, see=lambda: (lucid.is_grad_enabled(),))

    def in_place_on_views_of_arguments(run):
        def step(x):
            x[1:].mul_(2)
            x.view(3)[0] += 1
            x[::2] = x[::2] * 3
            return x[:2]

        f = run.compile(step)
        for _ in range(4):
            x = x0()
            y = run.call(f, x)
            y.zero_()
            run.see(x)

    def in_place_with_gradients(run):
        def step(x):
            h = x * 2
            v = h[1:]
            v.mul_(3)
            h[0] = h[2] * x[1]
            return h

        f = run.compile(step)
        for _ in range(4):
            x = xg()
            h = run.call(f, x)
            h.sum().backward()
            run.see(x.grad)

    def in_place_on_state_and_its_view(run):
        base = lucid.zeros(6)
        view = base.view(2, 3)
        f = run.compile(lambda x: (view.add_(x), base.mul_(2))[0].sum())
        run.repeat(f, x0, n=6, at={3: lambda: base.__setitem__(0, 100.0)}, see=lambda: (base, view))

    def requires_grad_switched_inside(run):
        w = x0()

        def step(x):
            w.requires_grad_(on[0])
            return w * x

        on = [True]
        f = run.compile(step)
        for i in range(6):
            on[0] = i != 3
            y = run.call(f, x0())
            run.see(w.requires_grad, y.requires_grad)

    @program(
        "function_{}_backward_outside",
        each=(
            "plain",
            "scale_on_ctx",
            "count_on_class",
            "list_on_ctx",
            "new_list_on_ctx",
            "tensor_on_ctx",
            "kept_on_class",
            "object_on_ctx",
            "needs",
            "draws",
            "reads_mode",
        ),
    )
    def backward_outside(run, kind):
        calls = []
        made = _made(kind, calls)
        f = run.compile(lambda x: made.apply(x).sum())
        for i in range(7):
            if i == 3:
                made.scale = 5.0
            x = xg()
            y = run.call(f, x)
            if i == 5:
                made.scale = 7.0
            y.backward(retain_graph=True)
            run.see(x.grad, calls, made.count, made.kept)
            y.backward()
            run.see(x.grad, calls)

    @program(
        "function_{}_backward_inside",
        each=(
            "plain",
            "scale_on_ctx",
            "count_on_class",
            "list_on_ctx",
            "new_list_on_ctx",
            "tensor_on_ctx",
            "kept_on_class",
            "object_on_ctx",
            "needs",
            "draws",
            "reads_mode",
        ),
    )
    def backward_inside(run, kind):
        calls = []
        made = _made(kind, calls)

        def step(x):
            made.apply(x).sum().backward()
            return x.grad

        f = run.compile(step)
        run.repeat(f, xg, n=6, at={3: lambda: setattr(made, "scale", 5.0)}, see=lambda: (calls, made.count, made.kept))
