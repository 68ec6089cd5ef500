"""Schedulers, parameter groups and optimizer state that a call reads."""

import lucid
from lucid import nn

from ._harness import prog, x0


@prog
def scheduler_attr(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.SGD([p], lr=0.1)
    s = lucid.optim.lr_scheduler.StepLR(opt, 1)
    f = run.compile(lambda x: x * (1 + s.last_epoch))
    for _ in range(3):
        run.call(f, x0())
    opt.step()
    s.step()
    run.call(f, x0())


@prog
def scheduler_arg_attr(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.SGD([p], lr=0.1)
    s = lucid.optim.lr_scheduler.StepLR(opt, 1)
    f = run.compile(lambda x, s: x * (1 + s.last_epoch))
    for _ in range(3):
        run.call(f, x0(), s)
    opt.step()
    s.step()
    run.call(f, x0(), s)


@prog
def scheduler_last_lr(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.SGD([p], lr=0.1)
    s = lucid.optim.lr_scheduler.StepLR(opt, 1)
    f = run.compile(lambda x: x * s.get_last_lr()[0])
    for _ in range(3):
        run.call(f, x0())
    opt.step()
    s.step()
    run.call(f, x0())


@prog
def param_group_object(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.SGD([p], lr=0.1)
    g = opt.param_groups[0]
    f = run.compile(lambda x: x * g["lr"])
    for _ in range(3):
        run.call(f, x0())
    g["lr"] = 0.5
    run.call(f, x0())
    run.call(f, x0())


@prog
def param_group_inline(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.SGD([p], lr=0.1)
    f = run.compile(lambda x: x * opt.param_groups[0]["lr"])
    for _ in range(3):
        run.call(f, x0())
    opt.param_groups[0]["lr"] = 0.5
    run.call(f, x0())
    run.call(f, x0())


@prog
def param_groups_len(run):
    p = nn.Parameter(x0())
    q = nn.Parameter(x0())
    opt = lucid.optim.SGD([p], lr=0.1)
    gs = opt.param_groups
    f = run.compile(lambda x: x * len(gs))
    for _ in range(3):
        run.call(f, x0())
    opt.add_param_group({"params": [q]})
    run.call(f, x0())
    run.call(f, x0())


@prog
def param_group_momentum_obj(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.SGD([p], lr=0.1, nesterov=False)
    g = opt.param_groups[0]
    f = run.compile(lambda x: x * (2 if g["nesterov"] else 3))
    for _ in range(3):
        run.call(f, x0())
    g["nesterov"] = True
    run.call(f, x0())
    run.call(f, x0())


@prog
def param_group_custom_key(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.SGD([{"params": [p], "scale": 2.0}], lr=0.1)
    g = opt.param_groups[0]
    f = run.compile(lambda x: x * g["scale"])
    for _ in range(3):
        run.call(f, x0())
    g["scale"] = 5.0
    run.call(f, x0())
    run.call(f, x0())


@prog
def opt_state_object(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.Adam([p], lr=0.1)
    st = opt.state
    f = run.compile(lambda x: x * (2 if p in st else 3))
    for _ in range(3):
        run.call(f, x0())
    p.grad = x0()
    opt.step()
    run.call(f, x0())
    run.call(f, x0())


@prog
def opt_state_len(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.Adam([p], lr=0.1)
    f = run.compile(lambda x: x * (1 + len(opt.state)))
    for _ in range(3):
        run.call(f, x0())
    p.grad = x0()
    opt.step()
    run.call(f, x0())
    run.call(f, x0())


@prog
def param_state_object(run):
    p = nn.Parameter(x0())
    opt = lucid.optim.Adam([p], lr=0.1)
    p.grad = x0()
    opt.step()
    st = opt.state[p]
    st["k"] = 1
    f = run.compile(lambda x: x * st["k"])
    for _ in range(3):
        run.call(f, x0())
    st["k"] = 4
    run.call(f, x0())
    run.call(f, x0())
