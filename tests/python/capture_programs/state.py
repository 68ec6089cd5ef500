"""Exceptions, random numbers, optimizers, and state that grows."""

import lucid
from lucid import nn

from ._common import CALLS, Box, attempt, program, sample


@program
def exception_first(compile):
    st = [0]

    def f(x):
        x += 1
        st[0] += 1
        if st[0] == 1:
            raise ValueError("no")
        return x * 2

    f = compile(f)
    for i in range(CALLS):
        x = sample(i)
        yield (attempt(f, x), x, st[0])


@program
def try_except_inside(compile):
    d = {}

    def f(x):
        try:
            return x * d["k"]
        except KeyError:
            return x

    f = compile(f)
    for i in range(CALLS):
        if i == 4:
            d["k"] = 2.0
        yield f(sample(i))


@program
def index_error_in_replay(compile):
    m = nn.BatchNorm1d(4)

    def f(x, i):
        y = m(x)
        return y.index_select(0, i)

    f = compile(f)
    for i in range(CALLS):
        yield (attempt(f, sample(i), lucid.tensor([0, 1 if i != 5 else 99])), m.running_mean)


@program
def guard_after_state_write(compile):
    m = nn.BatchNorm1d(4)

    def f(x):
        y = m(x)
        z = lucid.rand(3, 4)
        return y * 2 + z if x.sum() > 0 else y - z

    f = compile(f)
    for i in range(20):
        yield (f(sample(i)), m.running_mean, m.running_var, lucid.get_rng_state())


@program
def manual_seed_between(compile):
    f = compile(lambda x: x * lucid.rand(3, 4))
    for i in range(CALLS):
        if i % 3 == 0:
            lucid.manual_seed(i)
        yield (f(sample(i)), lucid.get_rng_state())


@program
def manual_seed_inside(compile):

    def f(x):
        lucid.manual_seed(5)
        return x * lucid.rand(3, 4)

    f = compile(f)
    for i in range(CALLS):
        yield (f(sample(i)), lucid.get_rng_state())


@program
def train_step_sgd(compile):
    m = nn.Linear(4, 2)
    o = lucid.optim.SGD(m.parameters(), 0.1)

    def step(x, y):
        loss = ((m(x) - y) ** 2).mean()
        o.zero_grad()
        loss.backward()
        o.step()
        return loss

    f = compile(step)
    for i in range(CALLS):
        yield (f(sample(i), sample(i + 50, 3, 2)), m.weight, m.bias)


@program
def train_step_adam(compile):
    m = nn.Linear(4, 2)
    o = lucid.optim.Adam(m.parameters(), 0.1)

    def step(x, y):
        loss = ((m(x) - y) ** 2).mean()
        o.zero_grad()
        loss.backward()
        o.step()
        return loss

    f = compile(step)
    for i in range(16):
        yield (f(sample(i), sample(i + 50, 3, 2)), m.weight, m.bias, o.state_dict())


@program
def train_step_adam_sched(compile):
    m = nn.Linear(4, 2)
    o = lucid.optim.Adam(m.parameters(), 0.1)
    sch = lucid.optim.lr_scheduler.ExponentialLR(o, 0.9)

    def step(x, y):
        loss = ((m(x) - y) ** 2).mean()
        o.zero_grad()
        loss.backward()
        o.step()
        return loss

    f = compile(step)
    for i in range(20):
        yield (f(sample(i), sample(i + 50, 3, 2)), m.weight, m.bias, o.state_dict())
        sch.step()


@program
def sched_inside(compile):
    m = nn.Linear(4, 2)
    o = lucid.optim.SGD(m.parameters(), 0.1)
    sch = lucid.optim.lr_scheduler.ExponentialLR(o, 0.9)

    def step(x, y):
        loss = ((m(x) - y) ** 2).mean()
        o.zero_grad()
        loss.backward()
        o.step()
        sch.step()
        return loss

    f = compile(step)
    for i in range(16):
        yield (f(sample(i), sample(i + 50, 3, 2)), m.weight, o.param_groups[0]["lr"])


@program
def grad_accum_counter(compile):
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

    f = compile(step)
    for i in range(40):
        yield (f(sample(i), sample(i + 50, 3, 2)), m.weight, st.n, st.acc)


@program
def compiled_inside_compiled(compile):
    k = [1.0]
    g = compile(lambda x: x * k[0])
    f = compile(lambda x: g(x) + 1)
    for i in range(CALLS):
        k[0] = 1.0 + i // 4
        yield (f(sample(i)), g(sample(i)))


@program
def kv_cache_list_grows(compile):
    cache = []

    def f(x):
        cache.append(x * 2)
        return sum(cache, x)

    f = compile(f)
    for i in range(10):
        yield f(sample(i))


@program
def cat_state_grows(compile):
    o = Box(k=lucid.zeros(0, 4))

    def f(x):
        o.k = lucid.cat([o.k, x])
        return o.k.sum(0)

    f = compile(f)
    for i in range(16):
        yield (f(sample(i)), o.k)
