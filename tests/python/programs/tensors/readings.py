"""Attributes, flags and graphs of tensors that a call reads."""

import copy

import lucid
from lucid import nn

from .._harness import Programs, vary, x0, xg


class TensorReadings(Programs):
    def attributes_of_tensors(run):
        w = nn.Parameter(x0())
        w.lr_scale = 2.0

        def set_scale():
            w.lr_scale = 3.0

        def set_decay():
            w.decay = False

        def remove():
            del w.decay

        run.changes(
            lambda x: x * w.lr_scale * w if getattr(w, "decay", True) else x, set_scale, set_decay, remove, args=(x0,)
        )

    def attributes_of_optimized_parameters(run):
        m = nn.Linear(3, 3)
        opt = lucid.optim.SGD(m.parameters(), lr=0.1)

        def step(x):
            opt.zero_grad()
            m(x).sum().backward()
            for p in m.parameters():
                if getattr(p, "skip", False):
                    p.grad = None
            opt.step()

        def both():
            m.bias.skip = True

        def undo():
            del m.weight.skip

        run.changes(step, lambda: setattr(m.weight, "skip", True), both, undo, args=(x0,), see=lambda: m.parameters())

    def flags_of_tensors(run):
        w = xg()

        def step(x):
            return x * (1 + w.is_leaf + 2 * w.requires_grad + 4 * (w.grad_fn is None) + 8 * w.is_contiguous())

        run.changes(step, lambda: w.requires_grad_(False), lambda: w.requires_grad_(True), args=(x0,))

    def addresses_of_tensors(run):
        w = x0()
        v = w.view(3)
        f = run.compile(lambda x: x * (1 if w.data_ptr() == v.data_ptr() else 2))
        run.repeat(f, x0, n=6, at={3: lambda: setattr(v, "data", x0())})

    def identity_of_state(run):
        a, b = x0(), x0()
        held = [a, a]
        f = run.compile(lambda x: x * (2 if held[0] is held[1] else 3) + (held[0] is a))
        run.repeat(f, x0, n=7, at={3: lambda: held.__setitem__(1, b), 5: lambda: held.__setitem__(0, b)})

    def equality_of_state(run):
        a, b = x0(), x0()
        f = run.compile(lambda x: x * (2 if lucid.equal(a, b) else 3))
        run.repeat(f, x0, n=6, at={3: lambda: b.__setitem__(0, 9.0)})

    def copies_made_inside(run):
        w = nn.Parameter(x0())
        w.note = 3

        def step(x):
            c = copy.deepcopy(w)
            c.data.add_(1)
            return c * x, c.note

        run.changes(step, lambda: setattr(w, "note", 5), args=(x0,), see=lambda: (w,))

    def a_tensor_grown_by_concatenation(run):
        held = {"log": lucid.zeros(0)}

        def step(x):
            held["log"] = lucid.cat([held["log"], x.sum().view(1)])
            return held["log"].mean()

        run.repeat(run.compile(step), vary(lambda i: x0() * i), n=6, see=lambda: (held,))

    def a_ring_of_tensors(run):
        ring, at = [lucid.zeros(3) for _ in range(3)], [0]

        def step(x):
            ring[at[0] % 3].copy_(x)
            at[0] += 1
            return sum(ring)

        run.repeat(run.compile(step), vary(lambda i: x0() * i), n=8, see=lambda: (ring, at))

    def a_leaf_that_becomes_part_of_a_graph(run):
        w = lucid.ones(3)
        v = xg()
        f = run.compile(lambda x: (w * x).sum())
        for i in range(6):
            if i == 3:
                w.mul_(v)
            y = run.call(f, x0())
            if y.requires_grad:
                y.backward(retain_graph=True)
            run.see(v.grad, w.requires_grad)

    def a_state_detached_in_place(run):
        w = xg() * 2
        f = run.compile(lambda x: (w * x).sum())
        for i in range(6):
            if i == 3:
                w.detach_()
            y = run.call(f, x0())
            run.see(y.requires_grad)

    def a_state_with_a_long_graph(run):
        v = xg()
        held = [v * 1]

        def step(x):
            held[0] = (held[0] * x).tanh()
            return held[0].sum()

        f = run.compile(step)
        for i in range(6):
            if i == 4:
                held[0] = held[0].detach()
            y = run.call(f, x0())
        if y.requires_grad:
            y.backward()
        run.see(v.grad)

    def hooks_on_kept_intermediates(run):
        v = xg()
        h = v.exp()
        k = [2.0]
        h.register_hook(lambda g: g * k[0])

        def step(x):
            (h * x).sum().backward(retain_graph=True)
            return v.grad * 1

        def more():
            h.register_hook(lambda g: g + 1)

        run.changes(
            step, lambda: k.__setitem__(0, 5.0), more, lambda: h.retain_grad(), args=(x0,), see=lambda: (v.grad,)
        )

    def a_parameter_with_a_tag(run):
        w = nn.Parameter(x0())
        f = run.compile(lambda x: x * w * type(w).__name__.count("P") + getattr(w, "tag", 0))
        run.repeat(f, x0, n=6, at={3: lambda: setattr(w, "tag", 4.0)})
