"""Ordinary programs: training loops, counters, caches, loggers."""

import functools
import logging
import sys
import time

import lucid
from lucid import nn

from ._harness import prog, x0


def rep(run, f, *a, n=5, **k):
    for _ in range(n):
        run.call(f, *a, **k)


def trainer(run, extra=None, ret=None):
    m = nn.Linear(3, 3)
    opt = lucid.optim.SGD(m.parameters(), lr=0.1)
    return m, opt


@prog(want="hit")
def ret_item(run):
    m, opt = trainer(run)

    def step(x):
        opt.zero_grad()
        l = m(x).sum()
        l.backward()
        opt.step()
        return l.item()

    rep(run, run.compile(step), x0())


@prog(want="hit")
def ret_float(run):
    rep(run, run.compile(lambda x: float(x.sum())), x0())


@prog(want="hit")
def append_loss(run):
    m, opt = trainer(run)
    losses = []

    def step(x):
        opt.zero_grad()
        l = m(x).sum()
        l.backward()
        opt.step()
        losses.append(l.detach())

    rep(run, run.compile(step), x0())
    run.see(losses)


@prog(want="hit")
def self_counter(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)
            self.n = 0

        def forward(self, x):
            self.n += 1
            return self.l(x)

    m = M()
    rep(run, run.compile(m), x0())
    run.see(m.n)


@prog(want="hit")
def self_last(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(3, 3)
            self.last = None

        def forward(self, x):
            self.last = self.l(x)
            return self.last * 2

    m = M()
    rep(run, run.compile(m), x0())
    run.see(m.last)


@prog(want="hit")
def stateful_rnn(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.c = nn.GRUCell(3, 3)
            self.h = lucid.zeros(1, 3)

        def forward(self, x):
            self.h = self.c(x, self.h).detach()
            return self.h

    m = M()
    rep(run, run.compile(m), lucid.ones(1, 3))
    run.see(m.h)


@prog(want="hit")
def ema_reassign(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("avg", lucid.zeros(3))

        def forward(self, x):
            self.avg = 0.9 * self.avg + 0.1 * x
            return x - self.avg

    m = M()
    rep(run, run.compile(m), x0())
    run.see(m.avg)


@prog(want="hit")
def ema_inplace(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("avg", lucid.zeros(3))

        def forward(self, x):
            self.avg.mul_(0.9).add_(0.1 * x)
            return x - self.avg

    m = M()
    rep(run, run.compile(m), x0())
    run.see(m.avg)


@prog(want="hit")
def object_method_tensor(run):
    class Model:
        def __init__(self):
            self.w = lucid.ones(3)

        def step(self, x):
            return x * self.w

    Model.step = run.compile(Model.step)
    m = Model()
    rep(run, m.step, x0())


@prog(want="hit")
def object_method_bound(run):
    class Model:
        def __init__(self):
            self.w = lucid.ones(3)

        def step(self, x):
            return x * self.w

    m = Model()
    rep(run, run.compile(m.step), x0())


@prog(want="hit")
def module_method_decorated(run):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(lucid.ones(3))

        def forward(self, x):
            return x * self.w

    Model.forward = run.compile(Model.forward)
    m = Model()
    rep(run, m, x0())


@prog(want="hit")
def trainer_class(run):
    class Trainer:
        def __init__(self):
            self.model = nn.Linear(3, 3)
            self.opt = lucid.optim.SGD(self.model.parameters(), lr=0.1)
            self.step = 0
            self.log = []

        def train_step(self, x):
            self.opt.zero_grad()
            l = self.model(x).sum()
            l.backward()
            self.opt.step()
            return l.detach()

    t = Trainer()
    f = run.compile(t.train_step)
    for _ in range(12):
        t.log.append(run.call(f, x0()))
        t.step += 1


@prog(want="hit")
def trainer_class_epoch(run):
    class Trainer:
        def __init__(self):
            self.model = nn.Linear(3, 3)
            self.opt = lucid.optim.SGD(self.model.parameters(), lr=0.1)
            self.global_step = 0
            self.log = []

        def train_step(self, x):
            self.opt.zero_grad()
            l = self.model(x).sum()
            l.backward()
            self.opt.step()
            return l.detach()

    t = Trainer()
    f = run.compile(t.train_step)
    for _ in range(12):
        t.log.append(run.call(f, x0()))
        t.global_step += 1


@prog(want="hit")
def getattr_layers(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            for i in range(3):
                setattr(self, f"l{i}", nn.Linear(3, 3))

        def forward(self, x):
            for i in range(3):
                x = getattr(self, f"l{i}")(x)
            return x

    rep(run, run.compile(M()), x0())


@prog(want="hit")
def getattr_trainer_logger(run):
    """getattr by computed name in an object that also has a logger and a writer"""

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.log = logging.getLogger("m")
            self.started = time.time()
            self.out = sys.stderr
            for i in range(3):
                setattr(self, f"l{i}", nn.Linear(3, 3))

        def forward(self, x):
            for i in range(3):
                x = getattr(self, f"l{i}")(x)
            return x

    rep(run, run.compile(M()), x0())


@prog(want="hit")
def hasattr_check(run):
    m = nn.Linear(3, 3)
    out = sys.stderr
    f = run.compile(lambda x: m(x) if hasattr(m, "weight") else x)
    rep(run, f, x0())


@prog(want="hit")
def lru_mask(run):
    @functools.lru_cache
    def mask(n):
        return lucid.tril(lucid.ones(n, n))

    rep(run, run.compile(lambda x: x * mask(3)), lucid.ones(3, 3))


@prog(want="hit")
def dict_cache_mask(run):
    cache = {}

    def mask(n):
        if n not in cache:
            cache[n] = lucid.tril(lucid.ones(n, n))
        return cache[n]

    rep(run, run.compile(lambda x: x * mask(x.shape[0])), lucid.ones(3, 3))


@prog(want="hit")
def lazy_attr_cache(run):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.cache = None

        def forward(self, x):
            if self.cache is None or self.cache.shape[0] < x.shape[0]:
                self.cache = lucid.arange(x.shape[0]).float()
            return x * self.cache[: x.shape[0]]

    rep(run, run.compile(M()), x0())


@prog(want="hit")
def logger_debug(run):
    log = logging.getLogger("zz2")

    def g(x):
        log.debug("x %s", x.shape)
        return x * 2

    rep(run, run.compile(g), x0())


@prog(want="hit")
def logger_isenabled(run):
    log = logging.getLogger("zz3")

    def g(x):
        if log.isEnabledFor(logging.DEBUG):
            log.debug("x")
        return x * 2

    rep(run, run.compile(g), x0())


@prog(want="hit")
def version_check(run):
    def g(x):
        if sys.version_info >= (3, 8):
            return x * 2
        return x

    rep(run, run.compile(g), x0())
