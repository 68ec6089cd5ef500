"""Ordinary programs: caches of keys, annealing, metrics, loops."""

import dataclasses

import lucid
from lucid import nn

from ._harness import prog, x0


def rep(run, f, *a, n=5, **k):
    for _ in range(n):
        run.call(f, *a, **k)


@prog(want="hit")
def kv_cache_cat(run):
    class Att(nn.Module):
        def __init__(self):
            super().__init__()
            self.k = None

        def forward(self, x):
            self.k = x if self.k is None else lucid.cat([self.k, x])
            return self.k.sum()

    m = Att()
    rep(run, run.compile(m), lucid.ones(1, 3))


@prog(want="hit")
def kv_cache_prealloc(run):
    buf = lucid.zeros(16, 3)

    def g(x, pos):
        buf[pos] = x
        return buf.sum()

    f = run.compile(g)
    for i in range(16):
        run.call(f, x0(), i)


@prog(want="hit")
def kv_cache_prealloc_tensorpos(run):
    buf = lucid.zeros(16, 3)

    def g(x, pos):
        buf[pos] = x
        return buf.sum()

    f = run.compile(g)
    for i in range(16):
        run.call(f, x0(), lucid.tensor(i))


@prog(want="hit")
def anneal_float(run):
    f = run.compile(lambda x, t: (x * t).softmax(-1))
    for i in range(30):
        run.call(f, x0(), 1.0 - i * 0.01)


@prog(want="hit")
def step_int(run):
    f = run.compile(lambda x, i: x * (0.9**i))
    for i in range(30):
        run.call(f, x0(), i)


@prog(want="hit")
def closure_anneal(run):
    t = [1.0]
    f = run.compile(lambda x: (x * t[0]).softmax(-1))
    for _ in range(30):
        t[0] -= 0.01
        run.call(f, x0())


@prog(want="hit")
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


@prog(want="hit")
def raises_always(run):
    def g(x):
        raise ValueError("a")

    f = run.compile(g)
    rep(run, f, x0())


@prog(want="hit")
def dataclass_config_global(run):
    @dataclasses.dataclass
    class Cfg:
        k: int = 2
        names: list = dataclasses.field(default_factory=list)

    c = Cfg()
    rep(run, run.compile(lambda x: x * c.k), x0())


@prog(want="hit")
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

    rep(run, run.compile(M()), x0())


@prog(want="hit")
def device_of_param(run):
    m = nn.Linear(3, 3)
    rep(run, run.compile(lambda x: m(x.to(next(m.parameters()).device))), x0())


@prog(want="hit")
def state_dict_inside(run):
    m = nn.Linear(3, 3)
    rep(run, run.compile(lambda x: sum(v.sum() for v in m.state_dict().values()) * x), x0())


@prog(want="hit")
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


@prog(want="hit")
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

    rep(run, run.compile(step), x0())


@prog(want="hit")
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
    rep(run, run.compile(a), lucid.ones(2, 3), lucid.tensor([0, 1]))
    run.see(a.c, a.t)


@prog(want="hit")
def buffer_iadd(run):
    class Cn(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", lucid.tensor(0))

        def forward(self, x):
            self.n += 1
            return x * self.n

    a = Cn()
    rep(run, run.compile(a), x0())
    run.see(a.n)


@prog(want="hit")
def attr_tensor_iadd(run):
    class Cn:
        def __init__(self):
            self.n = lucid.zeros(3)

        def __call__(self, x):
            self.n += x
            return self.n * 2

    a = Cn()
    rep(run, run.compile(a), x0())
    run.see(a.n)


@prog(want="hit")
def list_tensor_inplace(run):
    st = [lucid.zeros(3)]

    def g(x):
        st[0] += x
        return st[0] * 2

    rep(run, run.compile(g), x0())
    run.see(st)


@prog(want="hit")
def list_reassign(run):
    st = [lucid.zeros(3)]

    def g(x):
        st[0] = st[0] + x
        return st[0] * 2

    rep(run, run.compile(g), x0())
    run.see(st)


@prog(want="hit")
def global_tensor_reassign(run):
    global _acc
    _acc = lucid.zeros(3)

    def g(x):
        global _acc
        _acc = _acc + x
        return _acc * 2

    rep(run, run.compile(g), x0())


@prog(want="hit")
def set_rng_inside(run):
    def g(x):
        lucid.manual_seed(0)
        return x + lucid.rand(3)

    rep(run, run.compile(g), x0())


@prog(want="hit")
def generator_new_inside(run):
    def g(x):
        q = lucid.Generator()
        q.manual_seed(3)
        return x + lucid.rand(3, generator=q)

    rep(run, run.compile(g), x0())


@prog(want="hit")
def optim_created_inside(run):
    def g(x):
        p = nn.Parameter(x.clone())
        o = lucid.optim.SGD([p], lr=0.1)
        for _ in range(3):
            o.zero_grad()
            (p**2).sum().backward()
            o.step()
        return p.detach()

    rep(run, run.compile(g), x0())


@prog(want="hit")
def module_created_inside(run):
    def g(x):
        return nn.LayerNorm(3)(x)

    rep(run, run.compile(g), x0())


@prog(want="hit")
def loss_module_inside(run):
    def g(x, y):
        return nn.CrossEntropyLoss()(x, y)

    rep(run, run.compile(g), lucid.ones(2, 3), lucid.tensor([0, 1]))


@prog(want="hit")
def packed_rnn(run):
    l = nn.LSTM(3, 4, batch_first=True)
    rep(run, run.compile(lambda x: l(x)[0]), lucid.ones(2, 5, 3))


@prog(want="hit")
def beam_topk_loop(run):
    w = lucid.randn(5, 5)

    def g(s):
        for _ in range(3):
            v, i = (s @ w).topk(2)
            s = lucid.zeros(5).scatter(0, i, v)
        return s

    rep(run, run.compile(g), lucid.ones(5))


@prog(want="hit")
def diffusion_loop(run):
    m = nn.Linear(3, 3)
    betas = lucid.linspace(1e-4, 0.02, 10)

    def sample(x):
        for t in reversed(range(10)):
            x = x - betas[t] * m(x) + lucid.randn_like(x) * (0.0 if t == 0 else 0.1)
        return x

    rep(run, run.compile(sample), lucid.ones(2, 3), n=3)


@prog(want="hit")
def diffusion_step_t(run):
    m = nn.Linear(3, 3)
    betas = lucid.linspace(1e-4, 0.02, 10)
    f = run.compile(lambda x, t: x - betas[t] * m(x))
    for _ in range(3):
        for t in range(10):
            run.call(f, x0(), t)
