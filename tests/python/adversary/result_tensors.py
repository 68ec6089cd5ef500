"""Results that alias arguments, state or each other."""

import lucid
from lucid import nn

from ._harness import prog, x0


@prog
def ret_views_alias_each_other(run):
    def g(x):
        y = x * 2
        return y[:2], y[1:], y

    f = run.compile(g)
    for _ in range(3):
        a, b, c = f(x0())
        a.add_(10)
        run.see(a, b, c, a.storage_offset(), b.storage_offset())


@prog
def ret_view_of_arg(run):
    def g(x):
        return x[1:], x.reshape(3, 1), x.t() if x.dim() == 2 else x.unsqueeze(0)

    f = run.compile(g)
    for _ in range(3):
        x = x0()
        r = f(x)
        r[0].mul_(7)
        run.see(x, *r)


@prog
def ret_view_of_state(run):
    w = x0()
    f = run.compile(lambda x: (w[1:], w))
    for _ in range(3):
        r = f(x0())
        r[0].add_(1)
        run.see(w, r[1] is w)


@prog
def ret_detach(run):
    f = run.compile(lambda x: (x.detach(), x.data, (x * 2).detach()))
    for _ in range(3):
        x = x0().requires_grad_()
        r = f(x)
        run.see(*r)
        r[0].add_(1)
        run.see(x)


@prog
def ret_expand(run):
    f = run.compile(lambda x: (x.expand(4, 3), (x * 2).expand(4, 3), x.t() if False else x.unsqueeze(1).expand(3, 5)))
    for _ in range(3):
        run.call(f, x0())


@prog
def ret_transposed(run):
    f = run.compile(lambda x: (x * 2).t())
    for _ in range(3):
        run.call(f, lucid.arange(6).float().reshape(2, 3))


@prog
def ret_noncontig_ops(run):
    f = run.compile(
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
        )
    )
    for _ in range(3):
        run.call(f, lucid.arange(6).float().reshape(2, 3).t())


@prog
def ret_4d_channels_last(run):
    c = nn.Conv2d(3, 4, 3)
    b = nn.BatchNorm2d(4)
    f = run.compile(lambda x: (c(x), b(c(x)), nn.functional.max_pool2d(x, 2), x + 1, x.mean((2, 3))))
    for _ in range(3):
        run.call(f, lucid.randn(2, 8, 8, 3).permute(0, 3, 1, 2))


@prog
def ret_zero_size(run):
    f = run.compile(lambda x: (x * 2, x.sum(), x.reshape(0, 5), lucid.cat([x, x])))
    for _ in range(3):
        run.call(f, lucid.zeros(0, 3))


@prog
def ret_0d(run):
    f = run.compile(lambda x: (x * 2, x + 1, x.reshape(1), x.expand(3)))
    for _ in range(3):
        run.call(f, lucid.tensor(3.0))
