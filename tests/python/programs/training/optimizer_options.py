"""Every optimizer, with each of its options changed."""

import copy

import lucid
from lucid import nn

from .._harness import Programs, patched, program, x0

F = nn.functional
O = lucid.optim


def mkstep(run, mkopt, inside=True):
    lucid.manual_seed(0)
    m = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    opt = mkopt(m)

    def step(x, y):
        opt.zero_grad()
        l = F.mse_loss(m(x), y)
        l.backward()
        opt.step()
        return l.detach()

    f = run.compile(step)
    x = lucid.randn(5, 3)
    y = lucid.randn(5, 2)

    def go(n=2):
        for _ in range(n):
            run.call(f, x, y)
            run.see(*m.parameters())

    return m, opt, go


OPTS = dict(
    SGD=lambda m: O.SGD(m.parameters(), lr=0.1),
    SGDm=lambda m: O.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    Adam=lambda m: O.Adam(m.parameters(), lr=0.01),
    AdamA=lambda m: O.Adam(m.parameters(), lr=0.01, amsgrad=True),
    AdamW=lambda m: O.AdamW(m.parameters(), lr=0.01),
    RMS=lambda m: O.RMSprop(m.parameters(), lr=0.01),
    RMSc=lambda m: O.RMSprop(m.parameters(), lr=0.01, centered=True, momentum=0.5),
    Adagrad=lambda m: O.Adagrad(m.parameters(), lr=0.01),
    Adadelta=lambda m: O.Adadelta(m.parameters()),
    Adamax=lambda m: O.Adamax(m.parameters()),
    NAdam=lambda m: O.NAdam(m.parameters()),
    RAdam=lambda m: O.RAdam(m.parameters()),
    Rprop=lambda m: O.Rprop(m.parameters()),
    ASGD=lambda m: O.ASGD(m.parameters()),
    Lion=lambda m: O.Lion(m.parameters()),
)


class OptimizerOptions(Programs):
    def opt_params_edit(run):
        m, opt, go = mkstep(run, OPTS["Adam"])
        go(3)
        with run.errors():
            opt.param_groups[0]["params"].pop()
        go(3)
        with run.errors():
            opt.param_groups[0]["params"] = list(m.parameters())[:2]
        go(3)

    def opt_state_edit(run):
        m, opt, go = mkstep(run, OPTS["Adam"])
        go(3)
        p = next(m.parameters())
        for k in list(opt.state[p].keys()):
            run.see(k, opt.state[p][k])
        for k in list(opt.state[p].keys()):
            v = opt.state[p][k]
            if isinstance(v, lucid.Tensor):
                v.zero_()
                go(1)
                opt.state[p][k] = v + 1
                go(2)
            else:
                opt.state[p][k] = v + 3
                go(2)

    def opt_hooks(run):
        m, opt, go = mkstep(run, OPTS["SGD"])
        go(2)
        log = []
        with run.errors(AttributeError):
            h = opt.register_step_post_hook(lambda *a: log.append(1))
            go(3)
            run.see(len(log))
            h.remove()
            go(2)
            run.see(len(log))
            h = opt.register_step_pre_hook(lambda *a: log.append(1))
            go(3)
            run.see(len(log))
            h.remove()
            go(2)

    def opt_defaults_edit(run):
        m, opt, go = mkstep(run, OPTS["SGD"])
        go(2)
        opt.defaults["lr"] = 5.0
        go(2)

    def opt_step_patched(run):
        m, opt, go = mkstep(run, OPTS["SGD"])
        go(2)
        old = opt.step
        opt.step = lambda: None
        go(2)
        try:
            del opt.step
        except AttributeError:
            opt.step = old
        go(2)

    def opt_class_step_patched(run):
        m, opt, go = mkstep(run, OPTS["SGD"])
        go(2)
        with patched(O.SGD, "step", lambda s, *a: None):
            go(2)
        go(1)

    def scheds(run):
        for mk in (
            lambda o: O.lr_scheduler.StepLR(o, 1, 0.5),
            lambda o: O.lr_scheduler.CosineAnnealingLR(o, 5),
            lambda o: O.lr_scheduler.OneCycleLR(o, 0.5, total_steps=20),
            lambda o: O.lr_scheduler.LambdaLR(o, lambda e: 0.9**e),
        ):
            m, opt, go = mkstep(run, OPTS["SGDm"])
            s = mk(opt)
            for _ in range(4):
                go(1)
                s.step()
                run.see(opt.param_groups[0]["lr"])

    def sched_inside(run):
        m = nn.Linear(3, 3)
        opt = O.SGD(m.parameters(), lr=0.1)
        s = O.lr_scheduler.StepLR(opt, 1, 0.5)

        def step(x):
            opt.zero_grad()
            l = m(x).sum()
            l.backward()
            opt.step()
            s.step()
            return l.detach()

        run.repeat(run.compile(step), x0, n=4, see=lambda: (m.weight, s.last_epoch, opt.param_groups[0]["lr"]))

    @program("opt_sweep_{}", each=OPTS)
    def p(run, _o):
        m, opt, go = mkstep(run, _o)
        go(3)
        g = opt.param_groups[0]
        for k in list(g.keys()):
            if k == "params":
                continue
            v = g[k]
            if isinstance(v, bool):
                new = not v
            elif isinstance(v, float):
                new = v * 0.5 + 0.01
            elif isinstance(v, tuple):
                new = tuple(q * 0.9 for q in v)
            elif isinstance(v, int):
                new = v + 1
            elif v is None:
                continue
            else:
                continue
            run.see(k)
            try:
                g[k] = new
            except Exception as e:
                run.see(e)
                continue
            go(2)
            g[k] = v
            go(1)
        for k in ("weight_decay", "momentum", "lr"):
            if k in g.keys():
                g[k] = 0
                go(2)
                g[k] = 0.0
                go(1)
                g[k] = 0.3
                go(2)
        g["lr"] = lucid.tensor(0.05) if True else 0
        with run.errors():
            go(2)
        g["lr"] = 0.02
        go(1)
        opt.state.clear() if hasattr(opt.state, "clear") else None
        go(3)
        sd = copy.deepcopy(opt.state_dict())
        go(1)
        opt.load_state_dict(sd)
        go(2)
        q = nn.Parameter(lucid.ones(2))
        q.grad = lucid.ones(2)
        opt.add_param_group({"params": [q], "lr": 0.5})
        go(2)
        run.see(q)
        opt.param_groups[1]["lr"] = 0.1
        go(1)
