"""Hooks on tensors and parameters in compiled training steps, and what optimizers read."""

import functools

import lucid
from lucid import nn

from .._harness import Programs, program, x0, xg

F = nn.functional


def training(run, make=None, hook=None, pre=None, post=None):
    """A network, its optimizer, and a function that takes steps."""
    m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    opt = (make or (lambda p: lucid.optim.SGD(p, lr=0.1, momentum=0.9)))(m.parameters())

    def step(x, y):
        opt.zero_grad()
        loss = F.mse_loss(m(x), y)
        if pre:
            pre(m, opt, loss)
        loss.backward()
        if post:
            post(m, opt, loss)
        opt.step()
        return loss.detach()

    f = run.compile(step)
    x, y = lucid.randn(5, 3), lucid.randn(5, 2)

    def go(n=3):
        for _ in range(n):
            run.call(f, x, y)
            run.see(*m.parameters())

    return m, opt, go


class Scale:
    """A hook with state."""

    def __init__(self, factor):
        self.factor = factor
        self.calls = 0

    def __call__(self, grad):
        return grad * self.factor

    def count(self, grad):
        self.calls += 1

    def double(self, grad):
        return grad * self.factor * 2


class SlotScale:
    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, grad):
        return grad * self.factor


HOOKS = dict(
    bound=lambda s: s.double,
    object=lambda s: s,
    partial=lambda s: functools.partial(lambda s, g: g * s.factor, s),
    partial_keyword=lambda s: functools.partial(lambda g, s: g * s.factor, s=s),
    closure=lambda s: lambda g: g * s.factor,
    default=lambda s: lambda g, s=s: g * s.factor,
    keyword_default=lambda s: lambda g, *, s=s: g * s.factor,
    counting=lambda s: s.count,
    slots=lambda s: SlotScale(s.factor),
    wrapped=lambda s: functools.wraps(s.double)(lambda g: s.double(g)),
    no_grad=lambda s: lucid.no_grad()(lambda g: g * s.factor),
)


class TrainingHooks(Programs):
    def builtin_hooks_on_parameters(run):
        m, opt, go = training(run)
        log = []
        go()
        handle = m[0].bias.register_hook(log.append)
        go()
        run.see(log)
        handle.remove()
        go(2)
        run.see(len(log))

    def builtin_hooks_on_intermediates(run):
        log = []

        def step(x):
            h = x * 2
            h.register_hook(log.append)
            h.sin().sum().backward()
            return x.grad * 1

        run.repeat(run.compile(step), xg, n=4, see=lambda: (log,))

    def a_post_accumulate_hook_that_steps(run):
        """The optimizer in the backward pass: each parameter is updated as soon as its gradient is there."""
        m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        opts = {p: lucid.optim.SGD([p], lr=0.1, momentum=0.5) for p in m.parameters()}

        def update(p):
            opts[p].step()
            opts[p].zero_grad()

        for p in m.parameters():
            p.register_post_accumulate_grad_hook(update)
        f = run.compile(lambda x: m(x).pow(2).mean().backward())
        x = lucid.randn(5, 3)
        for i in range(6):
            if i == 4:
                for opt in opts.values():
                    opt.param_groups[0]["lr"] = 0.01
            run.call(f, x)
            run.see(*m.parameters(), *(p.grad for p in m.parameters()))

    def a_post_accumulate_method(run):
        class Norms:
            def __init__(self):
                self.seen = []
                self.scale = 1.0

            def note(self, p):
                self.seen.append(p.grad.norm())
                p.grad *= self.scale

        norms = Norms()
        m, opt, go = training(run)
        m[2].weight.register_post_accumulate_grad_hook(norms.note)
        go()
        run.see(norms.seen)
        norms.scale = 0.1
        go()
        run.see(norms.seen)

    def many_closures_of_one_code(run):
        m, opt, go = training(run)
        scales = [[1.0 + i] for i in range(6)]
        params = list(m.parameters())
        for p, s in zip(params * 2, scales):
            p.register_hook(lambda g, s=s: g * s[0])
        go()
        scales[5][0] = 0.5
        go(2)
        scales[4][0] = 0.25
        go(2)

    def many_closures_on_intermediates(run):
        scales = [1.0, 2.0, 3.0, 4.0, 5.0]

        def step(x):
            h = x * 1
            for i in range(5):
                h.register_hook(lambda g, i=i: g * scales[i])
            h.sum().backward()
            return x.grad

        f = run.compile(step)
        for i in range(7):
            if i >= 3:
                scales[i - 3 if i < 5 else 4] += 1
            run.call(f, xg())

    def a_hook_removed_and_added(run):
        m, opt, go = training(run)

        def scale(g):
            return g * 2

        handle = m[0].weight.register_hook(scale)
        go()
        for _ in range(3):
            handle.remove()
            go(1)
            handle = m[0].weight.register_hook(scale)
            go(1)

    def a_hook_that_removes_itself(run):
        m, opt, go = training(run)
        handles = []

        def once(g):
            handles.pop().remove()
            return g * 100

        go()
        handles.append(m[0].weight.register_hook(once))
        go()

    def a_hook_that_adds_a_hook(run):
        m, opt, go = training(run)
        weight = m[0].weight

        def grow(g):
            weight.register_hook(lambda g: g * 1.5)
            return g

        handle = weight.register_hook(grow)
        go(4)
        handle.remove()
        go(3)

    def hooks_added_inside_the_step(run):
        m, opt, go = training(run, pre=lambda m, opt, loss: loss.register_hook(lambda g: g * 3))
        go(5)

    def hooks_added_and_removed_inside_the_step(run):
        handles = []

        def add(m, opt, loss):
            handles.append(m[0].weight.register_hook(lambda g: g * 3))

        def remove(m, opt, loss):
            handles.pop().remove()

        m, opt, go = training(run, pre=add, post=remove)
        go(5)

    def hooks_piling_up_on_a_parameter(run):
        m, opt, go = training(run, pre=lambda m, opt, loss: m[0].weight.register_hook(lambda g: g * 1.5))
        go(5)

    def a_hook_that_reads_another_parameter(run):
        m, opt, go = training(run)
        m[0].weight.register_hook(lambda g: g + m[2].bias.sum())
        go(5)
        m[2].bias = nn.Parameter(lucid.ones(2) * 5)
        go(3)

    def a_hook_that_stores_the_gradient(run):
        kept = {}
        m, opt, go = training(run)
        m[0].weight.register_hook(functools.partial(kept.__setitem__, "w"))
        for _ in range(4):
            go(1)
            run.see(kept)

    def a_hook_that_draws(run):
        m, opt, go = training(run)
        m[0].weight.register_hook(lambda g: g + lucid.randn_like(g) * 0.01)
        go(5)

    def a_hook_that_raises_later(run):
        m, opt, go = training(run)
        limit = [1e9]

        def check(g):
            if float(g.abs().max()) > limit[0]:
                raise ValueError("too large")

        m[0].weight.register_hook(check)
        go(3)
        limit[0] = 0.0
        go(2)
        limit[0] = 1e9
        go(2)

    def zero_grad_to_zero_and_to_none(run):
        m = nn.Linear(3, 1)
        opt = lucid.optim.SGD(m.parameters(), lr=0.1)
        none = [True]

        def step(x):
            opt.zero_grad(set_to_none=none[0])
            if m.weight.grad is not None:
                x = x * 2
            m(x).sum().backward()
            opt.step()

        f = run.compile(step)
        for i in range(8):
            none[0] = i % 4 < 2
            kept = m.weight.grad
            run.call(f, x0())
            run.see(m.weight, m.weight.grad, kept, kept is m.weight.grad)

    def a_parameter_frozen_midway(run):
        m, opt, go = training(run, lambda p: lucid.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1))
        go()
        m[0].weight.requires_grad_(False)
        go(2)
        m[0].weight.grad = lucid.ones(4, 3)
        go(2)
        m[0].weight.requires_grad_(True)
        go(2)

    def gradients_scaled_between_backward_and_step(run):
        scale = [8.0]

        def unscale(m, opt, loss):
            for p in m.parameters():
                p.grad.div_(scale[0])
            nn.utils.clip_grad_norm_(m.parameters(), 0.1)

        m, opt, go = training(run, post=unscale)
        for s in (8.0, 8.0, 8.0, 4.0, 2.0, 2.0):
            scale[0] = s
            go(1)

    def an_argument_is_stepped(run):
        def step(p):
            opt = lucid.optim.SGD([p], lr=0.1)
            (p * p).sum().backward()
            opt.step()
            return p

        f = run.compile(step)
        for _ in range(4):
            p = xg()
            run.see(run.call(f, p) is p, p)

    @program("hook_on_parameter_{}", each=HOOKS)
    def on_parameter(run, make):
        s = Scale(2.0)
        m, opt, go = training(run)
        go()
        handle = m[0].weight.register_hook(make(s))
        go()
        s.factor = 0.5
        go()
        run.see(s.calls)
        handle.remove()
        go(2)
        m[0].weight.register_hook(make(s))
        go(2)
        run.see(s.calls)

    @program("hook_on_intermediate_{}", each=HOOKS)
    def on_intermediate(run, make):
        s = Scale(2.0)

        def step(x):
            h = x * 3
            h.register_hook(make(s))
            h.exp().sum().backward()
            return x.grad

        f = run.compile(step)
        for factor in (2.0, 2.0, 2.0, 2.0, 3.0, 3.0):
            s.factor = factor
            run.call(f, xg())
            run.see(s.calls)

    @program("hook_on_argument_{}", each=HOOKS)
    def on_argument(run, make):
        s = Scale(2.0)

        def step(x):
            (x * x).sum().backward()
            return x.grad * 1

        f = run.compile(step)
        for factor in (2.0, 2.0, 2.0, 3.0, 3.0):
            s.factor = factor
            x = xg()
            x.register_hook(make(s))
            run.call(f, x)
            run.see(x.grad, s.calls)
        run.call(f, xg())

    @program("hook_after_the_call_{}", each=HOOKS)
    def after_the_call(run, make):
        s = Scale(2.0)

        def forward(x):
            h = x * 3
            h.register_hook(make(s))
            return h.exp().sum()

        f = run.compile(forward)
        for factor in (2.0, 2.0, 2.0, 3.0, 3.0):
            x = xg()
            y = run.call(f, x)
            s.factor = factor
            y.backward()
            run.see(x.grad, s.calls)
