"""Modes of the process, and random number generators."""

import lucid
from lucid import nn

from .._harness import Programs, repeat, vary, x0

F = nn.functional
O = lucid.optim


class Modes(Programs):
    randperm_randint = repeat(
        lambda x: (
            x[lucid.randperm(3)],
            lucid.randint(0, 10, (4,)),
            lucid.randn_like(x),
            lucid.normal(0.0, 1.0, (3,)),
            x.clone().uniform_(),
            x.clone().exponential_(),
            lucid.bernoulli(x * 0 + 0.5),
        ),
        x0,
        n=4,
    )

    def mode_leak(run):
        def g(x):
            lucid.set_grad_enabled(False)
            return x * 2

        f = run.compile(g)
        for _ in range(3):
            run.call(f, x0())
            run.see(lucid.is_grad_enabled())
            lucid.set_grad_enabled(True)

    def mode_leak_cm(run):
        ctx = lucid.no_grad()

        def g(x):
            ctx.__enter__()
            return x * 2

        f = run.compile(g)
        for _ in range(3):
            run.call(f, x0())
            run.see(lucid.is_grad_enabled())
            ctx.__exit__(None, None, None)
            run.see(lucid.is_grad_enabled())

    def mode_read(run):
        f = run.compile(lambda x: x * 2 if lucid.is_grad_enabled() else x * 3)
        for m in (0, 1, 0, 1):
            with lucid.set_grad_enabled(bool(m)):
                run.repeat(f, x0, n=2)

    def mode_inference(run):
        f = run.compile(lambda x: x * 2 if lucid.autograd.is_inference_mode_enabled() else x * 3)
        for m in (0, 1, 0, 1):
            with lucid.inference_mode(bool(m)):
                run.repeat(f, x0, n=2)

    def default_dtype(run):
        f = run.compile(lambda x: (x * lucid.ones(3), lucid.tensor([1.0]), lucid.get_default_dtype()))
        for d in (lucid.float32, lucid.float64, lucid.float32, lucid.float64):
            lucid.set_default_dtype(d)
            run.repeat(f, x0, n=2)

    def flush_denormal(run):
        f = run.compile(lambda x: x * 0.5)
        for d in (False, True, False, True):
            run.see(lucid.set_flush_denormal(d))
            for _ in range(2):
                run.call(f, lucid.full((3,), 1e-38))
                run.call(f, lucid.full((3000,), 1e-38))
        lucid.set_flush_denormal(False)

    def num_threads(run):
        f = run.compile(lambda x: (x.sum(), (x @ x.t()).sum(), x.softmax(-1).std()))
        n = lucid.get_num_threads()
        x = lucid.randn(200, 300)
        for t in (1, 2, 1, 2):
            lucid.set_num_threads(t)
            run.call(f, x)
        lucid.set_num_threads(n)

    def read_num_threads(run):
        f = run.compile(lambda x: x * lucid.get_num_threads())
        n = lucid.get_num_threads()
        for t in (1, 2, 1):
            lucid.set_num_threads(t)
            run.call(f, x0())
        lucid.set_num_threads(n)

    def seed_inside(run):
        def g(x):
            lucid.manual_seed(7)
            return x + lucid.rand(3)

        f = run.compile(g)
        run.repeat(f, x0, see=lambda: (lucid.initial_seed(), lucid.rand(2)))
        lucid.manual_seed(3)
        run.repeat(f, x0, n=2, see=lambda: (lucid.initial_seed(),))

    def seed_inside_state(run):
        s = [1]

        def g(x):
            lucid.manual_seed(s[0])
            return x + lucid.rand(3)

        f = run.compile(g)
        for q in (1, 1, 2, 2, 1):
            s[0] = q
            run.call(f, x0())
            run.see(lucid.rand(1), lucid.initial_seed())

    def gen_seed_inside(run):
        g_ = lucid.Generator()

        def g(x):
            g_.manual_seed(7)
            return x + lucid.rand(3, generator=g_)

        f = run.compile(g)
        run.repeat(f, x0, see=lambda: (g_.initial_seed(), g_.get_state()))
        g_.manual_seed(5)
        run.call(f, x0())
        run.see(g_.initial_seed())

    def gen_state_read(run):
        g_ = lucid.Generator()
        g_.manual_seed(3)
        run.repeat(run.compile(lambda x: x * (g_.initial_seed() % 100)), x0, n=4, at={3: lambda: g_.manual_seed(5)})

    def rng_interleave(run):
        f = run.compile(lambda x: F.dropout(x, 0.5))
        for i in range(5):
            run.call(f, lucid.ones(20))
            run.see(lucid.rand(2))
            if i == 2:
                st = lucid.get_rng_state()
            if i == 3:
                lucid.set_rng_state(st)

    def rng_state_inside(run):
        def g(x):
            s = lucid.get_rng_state()
            a = lucid.rand(3)
            lucid.set_rng_state(s)
            return a + x

        run.repeat(run.compile(g), x0, n=4, see=lambda: (lucid.rand(1),))

    def gen_default(run):
        f = run.compile(lambda x: x + lucid.rand(3, generator=lucid.default_generator))
        run.repeat(f, x0, n=4, see=lambda: (lucid.rand(1),))

    def gen_module_attr(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.g = lucid.Generator()
                self.g.manual_seed(1)

            def forward(self, x):
                return x + lucid.rand(3, generator=self.g)

        m = M()
        f = run.compile(m)
        run.repeat(f, x0)
        m.g = lucid.Generator()
        m.g.manual_seed(1)
        run.repeat(f, x0, n=2)

    def dropout_train(run):
        m = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))
        opt = O.Adam(m.parameters())

        def step(x):
            opt.zero_grad()
            l = (m(x) ** 2).mean()
            l.backward()
            opt.step()
            return l.detach()

        run.repeat(run.compile(step), vary(lambda _: lucid.ones(4, 8)), n=5, see=lambda: (lucid.rand(1),))
