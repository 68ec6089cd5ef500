"""Ordinary programs: caches of keys, annealing, metrics, loops."""

import dataclasses

import lucid
from lucid import nn

from .._harness import Programs, repeat, vary, x0


class OrdinaryLoops(Programs, ordinary=True):
    anneal_float = repeat(lambda x, t: (x * t).softmax(-1), x0, vary(lambda i: 1.0 - i * 0.01), n=30)
    step_int = repeat(lambda x, i: x * (0.9**i), x0, vary(lambda i: i), n=30)

    def kv_cache_cat(run):
        class Att(nn.Module):
            def __init__(self):
                super().__init__()
                self.k = None

            def forward(self, x):
                self.k = x if self.k is None else lucid.cat([self.k, x])
                return self.k.sum()

        run.repeat(run.compile(Att()), lucid.ones(1, 3), n=5)

    def kv_cache_prealloc(run):
        buf = lucid.zeros(16, 3)

        def g(x, pos):
            buf[pos] = x
            return buf.sum()

        run.repeat(run.compile(g), x0, vary(lambda i: i), n=16)

    def kv_cache_prealloc_tensorpos(run):
        buf = lucid.zeros(16, 3)

        def g(x, pos):
            buf[pos] = x
            return buf.sum()

        run.repeat(run.compile(g), x0, vary(lambda i: lucid.tensor(i)), n=16)

    def closure_anneal(run):
        t = [1.0]
        f = run.compile(lambda x: (x * t[0]).softmax(-1))
        for _ in range(30):
            t[0] -= 0.01
            run.call(f, x0())

    def lr_python_sgd(run):
        """hand-written SGD with a Python learning rate that decays each epoch of 3 steps"""
        w = nn.Parameter(x0())
        lr = [0.1]

        def step(x):
            l = (w * x).sum()
            (g,) = lucid.autograd.grad(l, w)
            with lucid.no_grad():
                w.sub_(lr[0] * g)
            return l.detach()

        f = run.compile(step)
        for i in range(30):
            run.call(f, x0())
            if i % 3 == 2:
                lr[0] *= 0.9

    def raises_always(run):
        def g(x):
            raise ValueError("a")

        run.repeat(run.compile(g), x0(), n=5)

    def dataclass_config_global(run):
        @dataclasses.dataclass
        class Cfg:
            k: int = 2
            names: list = dataclasses.field(default_factory=list)

        c = Cfg()
        run.repeat(run.compile(lambda x: x * c.k), x0(), n=5)

    def property_on_module(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.l = nn.Linear(3, 3)

            @property
            def dt(self):
                return next(self.parameters()).dtype

            def forward(self, x):
                return self.l(x.to(self.dt))

        run.repeat(run.compile(M()), x0(), n=5)

    def device_of_param(run):
        m = nn.Linear(3, 3)
        run.repeat(run.compile(lambda x: m(x.to(next(m.parameters()).device))), x0(), n=5)

    def state_dict_inside(run):
        m = nn.Linear(3, 3)
        run.repeat(run.compile(lambda x: sum(v.sum() for v in m.state_dict().values()) * x), x0(), n=5)

    def checkpoint_like(run):
        m = nn.Linear(3, 3)

        class Ck(lucid.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                with lucid.no_grad():
                    return m(x).tanh()

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensors
                with lucid.enable_grad():
                    x = x.detach().requires_grad_()
                    y = m(x).tanh()
                y.backward(g)
                return x.grad

        f = run.compile(lambda x: Ck.apply(x).sum())
        for _ in range(5):
            x = x0().requires_grad_()
            f(x).backward()
            run.see(x.grad, m.weight.grad)

    def meter_update(run):
        class Meter:
            def __init__(self):
                self.sum = 0.0
                self.n = 0

            def update(self, v):
                self.sum = self.sum + v
                self.n += 1

        me = Meter()
        m = nn.Linear(3, 3)

        def step(x):
            l = m(x).sum()
            me.update(l.detach())
            return l

        run.repeat(run.compile(step), x0(), n=5)

    def torchmetrics_like(run):
        class Acc(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("c", lucid.tensor(0))
                self.register_buffer("t", lucid.tensor(0))

            def update(self, p, y):
                self.c += (p.argmax(-1) == y).sum()
                self.t += y.numel()

            def forward(self, p, y):
                self.update(p, y)
                return self.c / self.t

        a = Acc()
        run.repeat(run.compile(a), lucid.ones(2, 3), lucid.tensor([0, 1]), n=5)
        run.see(a.c, a.t)

    def buffer_iadd(run):
        class Cn(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("n", lucid.tensor(0))

            def forward(self, x):
                self.n += 1
                return x * self.n

        a = Cn()
        run.repeat(run.compile(a), x0(), n=5)
        run.see(a.n)

    def attr_tensor_iadd(run):
        class Cn:
            def __init__(self):
                self.n = lucid.zeros(3)

            def __call__(self, x):
                self.n += x
                return self.n * 2

        a = Cn()
        run.repeat(run.compile(a), x0(), n=5)
        run.see(a.n)

    def list_tensor_inplace(run):
        st = [lucid.zeros(3)]

        def g(x):
            st[0] += x
            return st[0] * 2

        run.repeat(run.compile(g), x0(), n=5)
        run.see(st)

    def list_reassign(run):
        st = [lucid.zeros(3)]

        def g(x):
            st[0] = st[0] + x
            return st[0] * 2

        run.repeat(run.compile(g), x0(), n=5)
        run.see(st)

    def global_tensor_reassign(run):
        global _acc
        _acc = lucid.zeros(3)

        def g(x):
            global _acc
            _acc = _acc + x
            return _acc * 2

        run.repeat(run.compile(g), x0(), n=5)

    def set_rng_inside(run):
        def g(x):
            lucid.manual_seed(0)
            return x + lucid.rand(3)

        run.repeat(run.compile(g), x0(), n=5)

    def generator_new_inside(run):
        def g(x):
            q = lucid.Generator()
            q.manual_seed(3)
            return x + lucid.rand(3, generator=q)

        run.repeat(run.compile(g), x0(), n=5)

    def optim_created_inside(run):
        def g(x):
            p = nn.Parameter(x.clone())
            o = lucid.optim.SGD([p], lr=0.1)
            for _ in range(3):
                o.zero_grad()
                (p**2).sum().backward()
                o.step()
            return p.detach()

        run.repeat(run.compile(g), x0(), n=5)

    def module_created_inside(run):
        run.repeat(run.compile(lambda x: nn.LayerNorm(3)(x)), x0(), n=5)

    def loss_module_inside(run):
        run.repeat(run.compile(lambda x, y: nn.CrossEntropyLoss()(x, y)), lucid.ones(2, 3), lucid.tensor([0, 1]), n=5)

    def packed_rnn(run):
        l = nn.LSTM(3, 4, batch_first=True)
        run.repeat(run.compile(lambda x: l(x)[0]), lucid.ones(2, 5, 3), n=5)

    def beam_topk_loop(run):
        w = lucid.randn(5, 5)

        def g(s):
            for _ in range(3):
                v, i = (s @ w).topk(2)
                s = lucid.zeros(5).scatter(0, i, v)
            return s

        run.repeat(run.compile(g), lucid.ones(5), n=5)

    def diffusion_loop(run):
        m = nn.Linear(3, 3)
        betas = lucid.linspace(1e-4, 0.02, 10)

        def sample(x):
            for t in reversed(range(10)):
                x = x - betas[t] * m(x) + lucid.randn_like(x) * (0.0 if t == 0 else 0.1)
            return x

        run.repeat(run.compile(sample), lucid.ones(2, 3))

    def diffusion_step_t(run):
        m = nn.Linear(3, 3)
        betas = lucid.linspace(1e-4, 0.02, 10)
        f = run.compile(lambda x, t: x - betas[t] * m(x))
        for _ in range(3):
            run.repeat(f, x0, vary(lambda t: t), n=10)
