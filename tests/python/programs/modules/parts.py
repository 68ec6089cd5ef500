"""Modules whose parts change between calls."""

import lucid
from lucid import nn

from .._harness import Programs, x0


class ModuleParts(Programs):
    def child_swap(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        f = run.compile(m)
        x = x0()
        run.repeat(f, x, n=6, at={2: lambda: m.__setitem__(1, nn.Tanh()), 4: lambda: m.__setitem__(0, nn.Linear(3, 2))})

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
        run.repeat(f, x, n=4, at={2: lambda: m.l.append(nn.Linear(3, 3))})
        del m.l[0]
        run.repeat(f, x, n=6, at={2: lambda: m.l.insert(0, nn.ReLU()), 4: lambda: m.l.__setitem__(0, nn.Tanh())})

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
        run.repeat(f, x, n=4, at={2: lambda: m.l.__setitem__("c", nn.ReLU())})
        del m.l["a"]
        run.repeat(f, x, n=6, at={2: lambda: m.l.__setitem__("a", nn.Linear(3, 3)), 4: lambda: m.l.pop("b")})

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
        run.repeat(f, x, n=4, at={2: lambda: m.p.append(nn.Parameter(x0() * 2))})
        m.d["b"] = nn.Parameter(x0() * 3)
        run.repeat(f, x, n=4, at={2: lambda: m.p.__setitem__(0, nn.Parameter(x0() * 5))})

    def param_replaced(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        x = x0()
        run.repeat(f, x, n=2)
        m.weight = nn.Parameter(lucid.ones(3, 3))
        run.repeat(f, x, n=4, at={2: lambda: setattr(m, "bias", None)})
        m.weight.data = lucid.zeros(3, 3)
        run.repeat(f, x, n=4, at={2: lambda: m.weight.data.add_(1)})

    def param_inplace_nograd(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        x = x0()
        run.repeat(f, x, n=2)
        with lucid.no_grad():
            m.weight.mul_(2)
        run.repeat(f, x, n=2)
        with lucid.no_grad():
            m.weight.copy_(lucid.ones(3, 3))
            m.bias.zero_()
        run.repeat(f, x, n=2)

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

    def buffer_reassign(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("b", x0())

            def forward(self, x):
                return x * self.b

        m = M()
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.b = x0() * 4
        run.repeat(f, x0(), n=2)
        m.b.add_(1)
        run.repeat(f, x0(), n=2)
        m.register_buffer("b", x0() * 9)
        run.repeat(f, x0(), n=2)
        m.b = None
        run.repeat(f, x0(), n=2)
        m.b = lucid.ones(1)
        run.repeat(f, x0(), n=2)

    def train_toggle(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))
        f = run.compile(m)
        x = lucid.randn(4, 3)
        for t in (1, 0, 1, 0, 1):
            m.train(bool(t))
            run.repeat(f, x, n=2)
        m[1].eval()
        run.repeat(f, x, n=4, at={2: lambda: f.train()})
        run.see(m.training, m[1].training)

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

    def to_dtype(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.double()
        run.repeat(f, x0().double(), n=2)
        run.repeat(f, x0(), n=2)
        m.half()
        run.repeat(f, x0().half(), n=2)
        m.float()
        run.repeat(f, x0(), n=2)

    def load_sd(run):
        m = nn.Linear(3, 3)
        n = nn.Linear(3, 3)
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.load_state_dict(n.state_dict())
        run.repeat(f, x0(), n=2)
        with run.errors(TypeError):
            m.load_state_dict({k: v * 2 for k, v in n.state_dict().items()}, assign=True)
        run.repeat(f, x0(), n=2)
