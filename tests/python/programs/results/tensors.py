"""Results that alias arguments, state or each other."""

import lucid
from lucid import nn

from .._harness import Programs, repeat, vary, x0


class ResultTensors(Programs):
    ret_transposed = repeat(lambda x: (x * 2).t(), vary(lambda _: lucid.arange(6).float().reshape(2, 3)))
    ret_noncontig_ops = repeat(
        lambda x: (
            x + 1,
            x.exp(),
            x * x,
            x.sum(0),
            x.relu(),
            x.clone(),
            x.contiguous(),
            lucid.zeros_like(x),
            x.softmax(0),
            x @ x.t(),
            lucid.where(x > 0, x, 0 * x),
            x.cumsum(0),
            x.to(lucid.float64),
        ),
        vary(lambda _: lucid.arange(6).float().reshape(2, 3).t()),
    )
    ret_0d = repeat(lambda x: (x * 2, x + 1, x.reshape(1), x.expand(3)), vary(lambda _: lucid.tensor(3.0)))

    def ret_views_alias_each_other(run):
        def g(x):
            y = x * 2
            return y[:2], y[1:], y

        f = run.compile(g)
        for _ in range(3):
            a, b, c = f(x0())
            a.add_(10)
            run.see(a, b, c, a.storage_offset(), b.storage_offset())

    def ret_view_of_arg(run):
        f = run.compile(lambda x: (x[1:], x.reshape(3, 1), x.t() if x.dim() == 2 else x.unsqueeze(0)))
        for _ in range(3):
            x = x0()
            r = f(x)
            r[0].mul_(7)
            run.see(x, *r)

    def ret_view_of_state(run):
        w = x0()
        f = run.compile(lambda x: (w[1:], w))
        for _ in range(3):
            r = f(x0())
            r[0].add_(1)
            run.see(w, r[1] is w)

    def ret_detach(run):
        f = run.compile(lambda x: (x.detach(), x.data, (x * 2).detach()))
        for _ in range(3):
            x = x0().requires_grad_()
            r = f(x)
            run.see(*r)
            r[0].add_(1)
            run.see(x)

    def ret_expand(run):
        f = run.compile(
            lambda x: (x.expand(4, 3), (x * 2).expand(4, 3), x.t() if False else x.unsqueeze(1).expand(3, 5))
        )
        run.repeat(f, x0)

    def ret_4d_channels_last(run):
        c = nn.Conv2d(3, 4, 3)
        b = nn.BatchNorm2d(4)
        f = run.compile(lambda x: (c(x), b(c(x)), nn.functional.max_pool2d(x, 2), x + 1, x.mean((2, 3))))
        run.repeat(f, vary(lambda _: lucid.randn(2, 8, 8, 3).permute(0, 3, 1, 2)))

    def ret_zero_size(run):
        f = run.compile(lambda x: (x * 2, x.sum(), x.reshape(0, 5), lucid.cat([x, x])))
        run.repeat(f, vary(lambda _: lucid.zeros(0, 3)))
