"""Modules whose parts change between calls."""

import lucid
from lucid import nn

from ._harness import prog, x0


def rep(run, f, *a, n=2):
    for _ in range(n):
        run.call(f, *a)


@prog
def child_swap(run):
    m = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    f = run.compile(m)
    x = x0()
    rep(run, f, x)
    m[1] = nn.Tanh()
    rep(run, f, x)
    m[0] = nn.Linear(3, 2)
    rep(run, f, x)


@prog
def modulelist_mut(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.ModuleList([nn.Linear(3, 3)])

        def forward(self, x):
            for l in self.l:
                x = l(x)
            return x

    m = M()
    f = run.compile(m)
    x = x0()
    rep(run, f, x)
    m.l.append(nn.Linear(3, 3))
    rep(run, f, x)
    del m.l[0]
    rep(run, f, x)
    m.l.insert(0, nn.ReLU())
    rep(run, f, x)
    m.l[0] = nn.Tanh()
    rep(run, f, x)


@prog
def moduledict_mut(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Tanh()})

        def forward(self, x):
            for _k, l in self.l.items():
                x = l(x)
            return x

    m = M()
    f = run.compile(m)
    x = x0()
    rep(run, f, x)
    m.l["c"] = nn.ReLU()
    rep(run, f, x)
    del m.l["a"]
    rep(run, f, x)
    m.l["a"] = nn.Linear(3, 3)
    rep(run, f, x)
    m.l.pop("b")
    rep(run, f, x)


@prog
def paramlist_mut(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.p = nn.ParameterList([nn.Parameter(x0())])
            self.d = nn.ParameterDict({"a": nn.Parameter(x0())})

        def forward(self, x):
            for p in self.p:
                x = x * p
            for k in self.d:
                x = x + self.d[k]
            return x

    m = M()
    f = run.compile(m)
    x = x0()
    rep(run, f, x)
    m.p.append(nn.Parameter(x0() * 2))
    rep(run, f, x)
    m.d["b"] = nn.Parameter(x0() * 3)
    rep(run, f, x)
    m.p[0] = nn.Parameter(x0() * 5)
    rep(run, f, x)


@prog
def param_replaced(run):
    m = nn.Linear(3, 3)
    f = run.compile(m)
    x = x0()
    rep(run, f, x)
    m.weight = nn.Parameter(lucid.ones(3, 3))
    rep(run, f, x)
    m.bias = None
    rep(run, f, x)
    m.weight.data = lucid.zeros(3, 3)
    rep(run, f, x)
    m.weight.data.add_(1)
    rep(run, f, x)


@prog
def param_inplace_nograd(run):
    m = nn.Linear(3, 3)
    f = run.compile(m)
    x = x0()
    rep(run, f, x)
    with lucid.no_grad():
        m.weight.mul_(2)
    rep(run, f, x)
    with lucid.no_grad():
        m.weight.copy_(lucid.ones(3, 3))
        m.bias.zero_()
    rep(run, f, x)


@prog
def tied(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3, bias=False)
            self.b = nn.Linear(3, 3, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    m = M()
    f = run.compile(m)
    x = x0()
    for _ in range(3):
        run.call(f, x).sum().backward()
        run.see(m.a.weight.grad)
    m.b.weight = nn.Parameter(lucid.ones(3, 3))
    for _ in range(3):
        run.call(f, x).sum().backward()
        run.see(m.a.weight.grad, m.b.weight.grad)


@prog
def buffer_reassign(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", x0())

        def forward(self, x):
            return x * self.b

    m = M()
    f = run.compile(m)
    rep(run, f, x0())
    m.b = x0() * 4
    rep(run, f, x0())
    m.b.add_(1)
    rep(run, f, x0())
    m.register_buffer("b", x0() * 9)
    rep(run, f, x0())
    m.b = None
    rep(run, f, x0())
    m.b = lucid.ones(1)
    rep(run, f, x0())


@prog
def train_toggle(run):
    m = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))
    f = run.compile(m)
    x = lucid.randn(4, 3)
    for t in (1, 0, 1, 0, 1):
        m.train(bool(t))
        rep(run, f, x)
    m[1].eval()
    rep(run, f, x)
    f.train()
    rep(run, f, x)
    run.see(m.training, m[1].training)


@prog
def freeze(run):
    m = nn.Linear(3, 3)
    f = run.compile(m)
    x = x0()
    for r in (True, False, True):
        m.weight.requires_grad_(r)
        for _ in range(2):
            y = run.call(f, x)
            y.sum().backward()
            run.see(m.weight.grad, m.bias.grad)
            m.zero_grad()


@prog
def to_dtype(run):
    m = nn.Linear(3, 3)
    f = run.compile(m)
    rep(run, f, x0())
    m.double()
    rep(run, f, x0().double())
    rep(run, f, x0())
    m.half()
    rep(run, f, x0().half())
    m.float()
    rep(run, f, x0())


@prog
def load_sd(run):
    m = nn.Linear(3, 3)
    n = nn.Linear(3, 3)
    f = run.compile(m)
    rep(run, f, x0())
    m.load_state_dict(n.state_dict())
    rep(run, f, x0())
    try:
        m.load_state_dict({k: v * 2 for k, v in n.state_dict().items()}, assign=True)
    except TypeError as e:
        run.see(e)
    rep(run, f, x0())
