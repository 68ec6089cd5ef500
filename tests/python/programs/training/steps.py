"""Training steps: schedules, accumulation, clipping, errors in the middle."""

import lucid
from lucid import nn

from .._harness import Programs, vary, x0

F = nn.functional
O = lucid.optim


class TrainingSteps(Programs):
    def grad_accum(run):
        m = nn.Linear(3, 3)
        opt = O.SGD(m.parameters(), lr=0.1)

        def micro(x):
            l = m(x).sum() / 4
            l.backward()
            return l.detach()

        f = run.compile(micro)
        for i in range(8):
            run.call(f, x0() * (i + 1))
            run.see(m.weight.grad)
            if i % 4 == 3:
                opt.step()
                opt.zero_grad()

    def grad_accum_inside(run):
        m = nn.Linear(3, 3)
        opt = O.SGD(m.parameters(), lr=0.1)

        def step(xs):
            opt.zero_grad()
            for x in xs:
                (m(x).sum() / len(xs)).backward()
            opt.step()

        run.repeat(run.compile(step), vary(lambda _: [x0(), x0() * 2]), n=4, see=lambda: (m.weight, m.weight.grad))

    def scaler_like(run):
        m = nn.Linear(3, 3)
        opt = O.SGD(m.parameters(), lr=0.1)
        scale = lucid.tensor(8.0)

        def step(x):
            opt.zero_grad()
            (m(x).sum() * scale).backward()
            for p in m.parameters():
                p.grad.mul_(1 / scale)
            opt.step()

        f = run.compile(step)
        for _ in range(4):
            run.call(f, x0())
            run.see(m.weight)
            scale.mul_(2)

    def clip(run):
        m = nn.Linear(3, 3)
        opt = O.SGD(m.parameters(), lr=0.1)
        k = [1.0]

        def step(x):
            opt.zero_grad()
            m(x).sum().backward()
            n = nn.utils.clip_grad_norm_(m.parameters(), k[0])
            opt.step()
            return n

        f = run.compile(step)
        run.repeat(f, x0, see=lambda: (m.weight,))
        k[0] = 0.1
        run.call(f, x0())
        run.call(f, x0() * float("nan"))
        run.see(m.weight)

    def clip_error_nonfinite(run):
        m = nn.Linear(3, 3)

        def step(x):
            m.zero_grad()
            m(x).sum().backward()
            return nn.utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)

        f = run.compile(step)
        run.repeat(f, x0)
        run.call(f, x0() * float("inf"))
        run.see(m.weight.grad)
        run.call(f, x0())

    def lbfgs(run):
        p = nn.Parameter(x0())
        opt = O.LBFGS([p], lr=0.5)

        def closure():
            opt.zero_grad()
            l = ((p - 1) ** 2).sum()
            l.backward()
            return l

        run.repeat(run.compile(lambda: opt.step(closure)), n=4, see=lambda: (p,))

    def compiled_closure(run):
        p = nn.Parameter(x0())
        opt = O.LBFGS([p], lr=0.5)

        def closure():
            opt.zero_grad()
            l = ((p - 1) ** 2).sum()
            l.backward()
            return l

        f = run.compile(closure)
        for _ in range(4):
            opt.step(f)
            run.see(p)

    def exc_mid_step(run):
        m = nn.Linear(3, 3)
        opt = O.SGD(m.parameters(), lr=0.1)
        emb = nn.Embedding(4, 3)

        def step(i):
            opt.zero_grad()
            (m(emb.weight[0]).sum()).backward()
            opt.step()
            return emb(i)

        f = run.compile(step)
        for i in (1, 1, 1, 9, 1, 9):
            run.call(f, lucid.tensor([i]))
            run.see(m.weight, m.weight.grad)

    def exc_after_draw(run):
        def g(x, i):
            r = lucid.rand(3)
            return x[i] + r

        f = run.compile(g)
        for i in (0, 0, 0, 7, 0):
            run.call(f, x0(), lucid.tensor([i]))
            run.see(lucid.rand(1))

    def exc_after_inplace(run):
        w = x0()

        def g(x, i):
            w.add_(1)
            return x[i]

        f = run.compile(g)
        for i in (0, 0, 0, 7, 0):
            run.call(f, x0(), lucid.tensor([i]))
            run.see(w)

    def exc_python_mid(run):
        w = x0()
        k = [0]

        def g(x):
            w.add_(1)
            if k[0]:
                raise ValueError("k")
            return x * w

        f = run.compile(g)
        for q in (0, 0, 0, 1, 1, 0):
            k[0] = q
            run.call(f, x0())
            run.see(w)

    def try_except_inside(run):
        def g(x, i):
            try:
                return x[i] * 2
            except IndexError:
                return x * 3

        f = run.compile(g)
        for i in (0, 0, 0, 7, 0, 7):
            run.call(f, x0(), lucid.tensor([i]))

    def try_finally_inside(run):
        w = x0()

        def g(x, i):
            try:
                return x[i] * 2
            finally:
                w.add_(1)

        f = run.compile(g)
        for i in (0, 0, 0, 7, 0, 7):
            run.call(f, x0(), lucid.tensor([i]))
            run.see(w)

    def shape_error(run):
        f = run.compile(lambda a, b: a @ b)
        run.repeat(f, vary(lambda _: lucid.ones(2, 3)), vary(lambda _: lucid.ones(2, 3)))
        run.call(f, lucid.ones(2, 3), lucid.ones(3, 2))

    def bce_range_check(run):
        f = run.compile(lambda p, t: F.binary_cross_entropy(p, t))
        for v in (0.5, 0.5, 0.5, 2.0, 0.5):
            run.call(f, lucid.tensor([v]), lucid.tensor([1.0]))

    def ce_target_check(run):
        f = run.compile(lambda p, t: F.cross_entropy(p, t))
        for v in (0, 1, 2, 5, -1, -100, 0):
            run.call(f, lucid.ones(1, 3), lucid.tensor([v]))

    def onehot_check(run):
        f = run.compile(lambda t: F.one_hot(t, 3))
        for v in (0, 1, 2, 5, -1, 0):
            run.call(f, lucid.tensor([v]))

    def onehot_infer(run):
        f = run.compile(lambda t: F.one_hot(t))
        for v in (0, 1, 2, 5):
            run.call(f, lucid.tensor([v]))

    def int_div_zero(run):
        f = run.compile(lambda a, b: a // b)
        for v in (2, 2, 2, 0, 1):
            run.call(f, lucid.tensor([7]), lucid.tensor([v]))

    def multinomial_check(run):
        f = run.compile(lambda p: lucid.multinomial(p, 1))
        for v in ([0.5, 0.5], [0.1, 0.9], [0.0, 0.0], [-1.0, 2.0], [0.5, 0.5], [float("nan"), 1.0]):
            run.call(f, lucid.tensor(v))

    def scatter_check(run):
        f = run.compile(lambda x, i: x.scatter(0, i, lucid.ones(1)))
        for v in (0, 1, 2, 5, 0):
            run.call(f, x0(), lucid.tensor([v]))

    def repeat_interleave_t(run):
        f = run.compile(lambda x, r: x.repeat_interleave(r))
        for v in ([1, 1, 1], [2, 0, 1], [1, 2, 3]):
            run.call(f, x0(), lucid.tensor(v))

    def bincount_t(run):
        f = run.compile(lambda r: lucid.bincount(r))
        for v in ([1, 1, 1], [2, 0, 1], [1, 2, 30]):
            run.call(f, lucid.tensor(v))
