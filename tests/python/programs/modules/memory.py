"""Copies of modules, and gradients and weights that share memory."""

import copy
import pickle

import lucid
from lucid import nn

from .._harness import Programs, x0


def keep(run, part):
    """Keeps a part of each gradient, which no later call may change."""
    m = nn.Linear(3, 3)
    kept = []

    def step(x):
        m.zero_grad()
        y = m(x).sum()
        y.backward()
        return y

    f = run.compile(step)
    for i in range(5):
        run.call(f, x0() * (i + 1))
        kept.append(part(m))
        run.see(*kept)


class ModuleMemory(Programs):
    def deepcopy_ema(run):
        m = nn.Linear(3, 3)
        run.repeat(run.compile(m), x0(), n=2)
        e = copy.deepcopy(m)
        g = run.compile(e)
        run.repeat(g, x0(), n=2)
        for _ in range(3):
            with lucid.no_grad():
                for a, b in zip(e.parameters(), m.parameters()):
                    a.mul_(0.9).add_(b * 0.1)
            run.repeat(g, x0(), n=2)

    def compiled_ema_update(run):
        m = nn.Linear(3, 3)
        e = copy.deepcopy(m)

        def up():
            with lucid.no_grad():
                for a, b in zip(e.parameters(), m.parameters()):
                    a.mul_(0.9).add_(b * 0.1)

        f = run.compile(up)
        for _ in range(4):
            with lucid.no_grad():
                m.weight.add_(1)
            run.call(f)
            run.see(*e.parameters())

    def recursive_modules(run):
        class Tree(nn.Module):
            def __init__(self, d):
                super().__init__()
                self.l = nn.Linear(3, 3)
                self.kids = nn.ModuleList([Tree(d - 1) for _ in range(2)] if d else [])

            def forward(self, x):
                y = self.l(x)
                for k in self.kids:
                    y = y + k(x)
                return y

        m = Tree(3)
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.kids[0].kids[1].l = nn.ReLU()
        run.repeat(f, x0(), n=2)
        m.kids[1].kids.append(nn.Tanh())
        run.repeat(f, x0(), n=2)

    def requires_grad_module(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.requires_grad_(False)
        run.repeat(f, x0(), n=2)
        m.requires_grad_(True)
        run.repeat(f, x0(), n=2)

    def zero_grad_variants(run):
        m = nn.Linear(3, 3)

        def step(x):
            y = m(x).sum()
            y.backward()
            return y

        f = run.compile(step)
        for mode in (0, 0, 0, 1, 1, 2, 2, 0, 3, 3):
            run.call(f, x0())
            run.see(m.weight.grad, m.bias.grad)
            if mode == 0:
                m.zero_grad()
            if mode == 1:
                m.weight.grad.zero_()
            if mode == 2:
                m.weight.grad = None
            if mode == 3:
                m.weight.grad = lucid.ones(3, 3)

    def grad_kept_alias(run):
        keep(run, lambda m: m.weight.grad)

    def grad_numpy_alias(run):
        keep(run, lambda m: m.weight.grad.numpy())

    def grad_view_alias(run):
        keep(run, lambda m: m.weight.grad[0])

    def weight_numpy_alias(run):
        m = nn.Linear(3, 3)
        opt = lucid.optim.SGD(m.parameters(), lr=0.1)
        a = m.weight.detach().numpy()

        def step(x):
            opt.zero_grad()
            y = m(x).sum()
            y.backward()
            opt.step()
            return y.detach()

        run.repeat(run.compile(step), x0, n=5, see=lambda: (a.copy(), m.weight))

    def weight_detached_alias(run):
        m = nn.Linear(3, 3)
        opt = lucid.optim.SGD(m.parameters(), lr=0.1)
        a = m.weight.detach()
        b = m.weight.data[0]

        def step(x):
            opt.zero_grad()
            y = m(x).sum()
            y.backward()
            opt.step()
            return y.detach()

        run.repeat(run.compile(step), x0, n=5, see=lambda: (a, b, m.weight))

    def jit_of_jit_module(run):
        m = nn.Linear(3, 3)
        run.repeat(run.compile(run.compile(m)), x0(), n=2)

        class W(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = run.compile(nn.Linear(3, 3))

            def forward(self, x):
                return self.inner(x) * 2

        w = W()
        g = run.compile(w)
        run.repeat(g, x0(), n=2)
        run.see(len(list(w.parameters())), sorted(w.state_dict()))
        w.inner.weight.data.zero_()
        run.repeat(g, x0(), n=2)

    def lazy_linear(run):
        m = nn.Sequential(nn.LazyLinear(4), nn.ReLU())
        run.repeat(run.compile(m), x0())

    def sequential_slice(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
        f = run.compile(lambda x: m[:2](x))
        run.repeat(f, x0())
        m[1] = nn.Tanh()
        run.repeat(f, x0(), n=2)

    def apply_init(run):
        m = nn.Sequential(nn.Linear(3, 3))
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.apply(lambda q: nn.init.ones_(q.weight) if isinstance(q, nn.Linear) else None)
        run.repeat(f, x0(), n=2)

    def named_params_loop(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        f = run.compile(lambda: sum((p**2).sum() for n, p in m.named_parameters() if "weight" in n))
        run.repeat(f, n=5, at={3: lambda: m.append(nn.Linear(3, 3))})

    def wrapped_attr(run):
        f = run.compile(nn.Linear(3, 3))
        run.see(
            f.in_features,
            len(list(f.parameters())),
            f.training,
            sorted(f.state_dict()),
            repr(f),
            isinstance(f, nn.Module),
        )
        run.see(isinstance(f, nn.Linear))
        run.see(type(f).__name__ == "Linear")

    def wrapped_isinstance_in_apply(run):
        m = nn.Sequential(nn.Linear(3, 3))
        f = run.compile(m)
        names = []
        f.apply(lambda q: names.append(type(q).__name__))
        run.see(names)
        run.see([type(q).__name__ for q in f.modules()], [type(q).__name__ for q in f.children()])

    def pickle_module(run):
        f = run.compile(nn.Linear(3, 3))
        run.repeat(f, x0(), n=2)
        g = pickle.loads(pickle.dumps(f))
        run.repeat(g, x0(), n=2)
