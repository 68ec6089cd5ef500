"""Exceptions, random numbers, optimizers, and state that grows."""

import lucid
from lucid import nn

from .._harness import Box, Programs, program, sample, vary


def train(run, m, o, after=lambda: None, **options):
    """Steps of an optimizer, each with another batch."""

    def step(x, y):
        loss = ((m(x) - y) ** 2).mean()
        o.zero_grad()
        loss.backward()
        o.step()
        after()
        return loss

    run.repeat(run.compile(step), sample, vary(lambda i: sample(i + 50, 3, 2)), **options)


class GrowingState(Programs, compiles=True, guards=True):
    @program(eager="the call writes closure st[0]")
    def exception_first(run):
        st = [0]

        def f(x):
            x += 1
            st[0] += 1
            if st[0] == 1:
                raise ValueError("no")
            return x * 2

        f = run.compile(f)
        for i in range(8):
            x = sample(i)
            run.call(f, x)
            run.see(x, st[0])

    def try_except_inside(run):
        d = {}

        def f(x):
            try:
                return x * d["k"]
            except KeyError:
                return x

        run.repeat(run.compile(f), sample, n=8, at={4: lambda: d.__setitem__("k", 2.0)})

    def index_error_in_replay(run):
        m = nn.BatchNorm1d(4)

        def f(x, i):
            y = m(x)
            return y.index_select(0, i)

        f = run.compile(f)
        for i in range(8):
            run.call(f, sample(i), lucid.tensor([0, 1 if i != 5 else 99]))
            run.see(m.running_mean)

    @program(branches=True)
    def guard_after_state_write(run):
        m = nn.BatchNorm1d(4)

        def f(x):
            y = m(x)
            z = lucid.rand(3, 4)
            return y * 2 + z if x.sum() > 0 else y - z

        run.repeat(run.compile(f), sample, n=20, see=lambda: (m.running_mean, m.running_var, lucid.get_rng_state()))

    def manual_seed_between(run):
        f = run.compile(lambda x: x * lucid.rand(3, 4))
        run.repeat(
            f, sample, n=8, before=lambda i: i % 3 == 0 and lucid.manual_seed(i), see=lambda: (lucid.get_rng_state(),)
        )

    def manual_seed_inside(run):
        def f(x):
            lucid.manual_seed(5)
            return x * lucid.rand(3, 4)

        run.repeat(run.compile(f), sample, n=8, see=lambda: (lucid.get_rng_state(),))

    def train_step_sgd(run):
        m = nn.Linear(4, 2)
        train(run, m, lucid.optim.SGD(m.parameters(), 0.1), n=8, see=lambda: (m.weight, m.bias))

    def train_step_adam(run):
        m = nn.Linear(4, 2)
        o = lucid.optim.Adam(m.parameters(), 0.1)
        train(run, m, o, n=16, see=lambda: (m.weight, m.bias, o.state_dict()))

    def train_step_adam_sched(run):
        m = nn.Linear(4, 2)
        o = lucid.optim.Adam(m.parameters(), 0.1)
        sch = lucid.optim.lr_scheduler.ExponentialLR(o, 0.9)
        train(run, m, o, n=20, see=lambda: (m.weight, m.bias, o.state_dict()), before=lambda i: i and sch.step())

    # Plans repeat the step, which writes another rate each time: under `Shadow` that would count as stale.
    @program(guards=False)
    def sched_inside(run):
        m = nn.Linear(4, 2)
        o = lucid.optim.SGD(m.parameters(), 0.1)
        sch = lucid.optim.lr_scheduler.ExponentialLR(o, 0.9)

        train(run, m, o, sch.step, n=16, see=lambda: (m.weight, o.param_groups[0]["lr"]))

    @program(one_call=True)
    def grad_accum_counter(run):
        m = nn.Linear(4, 2)
        st = Box(n=0, acc=None)

        def step(x, y):
            e = m(x) - y
            g = e.T @ x
            st.acc = g if st.acc is None else st.acc + g
            st.n += 1
            if st.n % 4 == 0:
                m.weight.data.sub_(st.acc * 0.1)
                st.acc = None
            return (e * e).mean()

        f = run.compile(step)
        run.repeat(f, sample, vary(lambda i: sample(i + 50, 3, 2)), n=40, see=lambda: (m.weight, st.n, st.acc))

    def compiled_inside_compiled(run):
        k = [1.0]
        g = run.compile(lambda x: x * k[0])
        f = run.compile(lambda x: g(x) + 1)
        for i in range(8):
            k[0] = 1.0 + i // 4
            run.call(f, sample(i))
            run.see(g(sample(i)))

    @program(eager="the call writes closure cache")
    def kv_cache_list_grows(run):
        cache = []

        def f(x):
            cache.append(x * 2)
            return sum(cache, x)

        run.repeat(run.compile(f), sample, n=10)

    @program(never_twice=True)
    def cat_state_grows(run):
        o = Box(k=lucid.zeros(0, 4))

        def f(x):
            o.k = lucid.cat([o.k, x])
            return o.k.sum(0)

        run.repeat(run.compile(f), sample, n=16, see=lambda: (o.k,))
