"""Ordinary programs: training loops, counters, caches, loggers."""

import functools
import logging
import sys
import time

import lucid
from lucid import nn

from .._harness import Programs, x0


def trainer(run, extra=None, ret=None):
    m = nn.Linear(3, 3)
    opt = lucid.optim.SGD(m.parameters(), lr=0.1)
    return m, opt


class OrdinaryState(Programs, ordinary=True):
    def ret_item(run):
        m, opt = trainer(run)

        def step(x):
            opt.zero_grad()
            l = m(x).sum()
            l.backward()
            opt.step()
            return l.item()

        run.repeat(run.compile(step), x0(), n=5)

    def ret_float(run):
        run.repeat(run.compile(lambda x: float(x.sum())), x0(), n=5)

    def append_loss(run):
        m, opt = trainer(run)
        losses = []

        def step(x):
            opt.zero_grad()
            l = m(x).sum()
            l.backward()
            opt.step()
            losses.append(l.detach())

        run.repeat(run.compile(step), x0(), n=5)
        run.see(losses)

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
        run.repeat(run.compile(m), x0(), n=5)
        run.see(m.n)

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
        run.repeat(run.compile(m), x0(), n=5)
        run.see(m.last)

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
        run.repeat(run.compile(m), lucid.ones(1, 3), n=5)
        run.see(m.h)

    def ema_reassign(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("avg", lucid.zeros(3))

            def forward(self, x):
                self.avg = 0.9 * self.avg + 0.1 * x
                return x - self.avg

        m = M()
        run.repeat(run.compile(m), x0(), n=5)
        run.see(m.avg)

    def ema_inplace(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("avg", lucid.zeros(3))

            def forward(self, x):
                self.avg.mul_(0.9).add_(0.1 * x)
                return x - self.avg

        m = M()
        run.repeat(run.compile(m), x0(), n=5)
        run.see(m.avg)

    def object_method_tensor(run):
        class Model:
            def __init__(self):
                self.w = lucid.ones(3)

            def step(self, x):
                return x * self.w

        Model.step = run.compile(Model.step)
        m = Model()
        run.repeat(m.step, x0(), n=5)

    def object_method_bound(run):
        class Model:
            def __init__(self):
                self.w = lucid.ones(3)

            def step(self, x):
                return x * self.w

        m = Model()
        run.repeat(run.compile(m.step), x0(), n=5)

    def module_method_decorated(run):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(lucid.ones(3))

            def forward(self, x):
                return x * self.w

        Model.forward = run.compile(Model.forward)
        m = Model()
        run.repeat(m, x0(), n=5)

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

        run.repeat(run.compile(M()), x0(), n=5)

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

        run.repeat(run.compile(M()), x0(), n=5)

    def hasattr_check(run):
        m = nn.Linear(3, 3)
        out = sys.stderr
        run.repeat(run.compile(lambda x: m(x) if hasattr(m, "weight") else x), x0(), n=5)

    def lru_mask(run):
        @functools.lru_cache
        def mask(n):
            return lucid.tril(lucid.ones(n, n))

        run.repeat(run.compile(lambda x: x * mask(3)), lucid.ones(3, 3), n=5)

    def dict_cache_mask(run):
        cache = {}

        def mask(n):
            if n not in cache:
                cache[n] = lucid.tril(lucid.ones(n, n))
            return cache[n]

        run.repeat(run.compile(lambda x: x * mask(x.shape[0])), lucid.ones(3, 3), n=5)

    def lazy_attr_cache(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.cache = None

            def forward(self, x):
                if self.cache is None or self.cache.shape[0] < x.shape[0]:
                    self.cache = lucid.arange(x.shape[0]).float()
                return x * self.cache[: x.shape[0]]

        run.repeat(run.compile(M()), x0(), n=5)

    def logger_debug(run):
        log = logging.getLogger("zz2")

        def g(x):
            log.debug("x %s", x.shape)
            return x * 2

        run.repeat(run.compile(g), x0(), n=5)

    def logger_isenabled(run):
        log = logging.getLogger("zz3")

        def g(x):
            if log.isEnabledFor(logging.DEBUG):
                log.debug("x")
            return x * 2

        run.repeat(run.compile(g), x0(), n=5)

    def version_check(run):
        def g(x):
            if sys.version_info >= (3, 8):
                return x * 2
            return x

        run.repeat(run.compile(g), x0(), n=5)
