"""Schedulers, parameter groups and optimizer state that a call reads."""

import lucid
from lucid import nn

from .._harness import Programs, x0


class OptimizerState(Programs):
    def scheduler_attr(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.SGD([p], lr=0.1)
        s = lucid.optim.lr_scheduler.StepLR(opt, 1)
        f = run.compile(lambda x: x * (1 + s.last_epoch))
        run.repeat(f, x0)
        opt.step()
        s.step()
        run.call(f, x0())

    def scheduler_arg_attr(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.SGD([p], lr=0.1)
        s = lucid.optim.lr_scheduler.StepLR(opt, 1)
        f = run.compile(lambda x, s: x * (1 + s.last_epoch))
        run.repeat(f, x0, s)
        opt.step()
        s.step()
        run.call(f, x0(), s)

    def scheduler_last_lr(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.SGD([p], lr=0.1)
        s = lucid.optim.lr_scheduler.StepLR(opt, 1)
        f = run.compile(lambda x: x * s.get_last_lr()[0])
        run.repeat(f, x0)
        opt.step()
        s.step()
        run.call(f, x0())

    def param_group_object(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.SGD([p], lr=0.1)
        g = opt.param_groups[0]
        run.repeat(run.compile(lambda x: x * g["lr"]), x0, n=5, at={3: lambda: g.__setitem__("lr", 0.5)})

    def param_group_inline(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.SGD([p], lr=0.1)
        f = run.compile(lambda x: x * opt.param_groups[0]["lr"])
        run.repeat(f, x0, n=5, at={3: lambda: opt.param_groups[0].__setitem__("lr", 0.5)})

    def param_groups_len(run):
        p = nn.Parameter(x0())
        q = nn.Parameter(x0())
        opt = lucid.optim.SGD([p], lr=0.1)
        gs = opt.param_groups
        run.repeat(run.compile(lambda x: x * len(gs)), x0, n=5, at={3: lambda: opt.add_param_group({"params": [q]})})

    def param_group_momentum_obj(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.SGD([p], lr=0.1, nesterov=False)
        g = opt.param_groups[0]
        f = run.compile(lambda x: x * (2 if g["nesterov"] else 3))
        run.repeat(f, x0, n=5, at={3: lambda: g.__setitem__("nesterov", True)})

    def param_group_custom_key(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.SGD([{"params": [p], "scale": 2.0}], lr=0.1)
        g = opt.param_groups[0]
        run.repeat(run.compile(lambda x: x * g["scale"]), x0, n=5, at={3: lambda: g.__setitem__("scale", 5.0)})

    def opt_state_object(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.Adam([p], lr=0.1)
        st = opt.state
        f = run.compile(lambda x: x * (2 if p in st else 3))
        run.repeat(f, x0)
        p.grad = x0()
        opt.step()
        run.repeat(f, x0, n=2)

    def opt_state_len(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.Adam([p], lr=0.1)
        f = run.compile(lambda x: x * (1 + len(opt.state)))
        run.repeat(f, x0)
        p.grad = x0()
        opt.step()
        run.repeat(f, x0, n=2)

    def param_state_object(run):
        p = nn.Parameter(x0())
        opt = lucid.optim.Adam([p], lr=0.1)
        p.grad = x0()
        opt.step()
        st = opt.state[p]
        st["k"] = 1
        run.repeat(run.compile(lambda x: x * st["k"]), x0, n=5, at={3: lambda: st.__setitem__("k", 4)})
