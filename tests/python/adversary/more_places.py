"""Places that are hard to see: parts of optimizers, datasets, schedules and arguments."""

import lucid
from lucid import nn

from ._harness import prog, x0, xg
from .more_memory import changes

O = lucid.optim


SAME = ("contiguous()", "float()", "cpu()", "detach()", "view(3)", "reshape(3)", "expand(3)", "to(lucid.float32)")


SAME += (
    "requires_grad_(False)",
    "squeeze()",
    "flatten()",
    "view_as(x)",
    "type_as(x)",
    "data",
    "clone()",
    "T",
    "ravel()",
)


@prog
def a_hook_found_through_the_optimizer_only(run):
    k = [2.0]
    w = xg()
    w.register_hook(lambda g: g * k[0])
    opt = O.SGD([w], lr=0.1)
    del w

    def step(x):
        for p in opt.param_groups[0]["params"]:
            p.grad = None
            (p * x).sum().backward()
        opt.step()

    def change():
        k[0] = 5.0

    def add():
        opt.param_groups[0]["params"][0].register_hook(lambda g: g + k[0])

    changes(run, step, change, add, change, args=(x0,), see=lambda: opt.param_groups[0]["params"])


@prog
def hooks_on_ancestors_of_the_argument(run):
    k = [2.0]
    calls = []

    def hook(g):
        calls.append(1)
        return g * k[0]

    f = run.compile(lambda y: y.sum().backward())
    for i in range(6):
        if i == 4:
            k[0] = 3.0
        x = xg()
        h = x * 2
        h.register_hook(hook)
        run.call(f, h.exp())
        run.see(x.grad, calls)


@prog
def objects_in_groups(run):
    w = xg()
    opt = O.SGD([w], lr=0.1)
    opt.param_groups[0]["cfg"] = {"k": 2.0}

    def step(x):
        return x * opt.param_groups[0]["cfg"]["k"]

    def inside():
        opt.param_groups[0]["cfg"]["k"] = 3.0

    def replace():
        opt.param_groups[0]["cfg"] = {"k": 4.0}

    changes(run, step, inside, replace, args=(x0,))


@prog
def objects_in_state(run):
    class Holder:
        k = 2.0

    w = xg()
    opt = O.SGD([w], lr=0.1)
    opt.state[w]["holder"] = Holder()
    opt.state[w]["list"] = [2.0]

    def step(x):
        s = opt.state[w]
        return x * s["holder"].k * s["list"][0]

    def attribute():
        opt.state[w]["holder"].k = 3.0

    def item():
        opt.state[w]["list"][0] = 5.0

    changes(run, step, attribute, item, args=(x0,))


@prog
def defaults_of_the_optimizer(run):
    w = xg()
    opt = O.SGD([w], lr=0.1)

    def step(x):
        return x * opt.defaults["lr"]

    def change():
        opt.defaults["lr"] = 0.5

    changes(run, step, change, args=(x0,))


@prog
def a_branch_on_the_rate(run):
    w = xg()
    opt = O.SGD([w], lr=0.1)

    def step(x):
        opt.zero_grad()
        (w * x).sum().backward()
        if opt.param_groups[0]["lr"] > 0.3:
            w.grad.mul_(10)
        opt.step()

    def change():
        opt.param_groups[0]["lr"] = 0.5

    def back():
        opt.param_groups[0]["lr"] = 0.2

    changes(run, step, change, back, change, args=(x0,), see=lambda: (w,))


@prog
def the_rate_set_inside_to_what_it_is(run):
    w = xg()
    opt = O.SGD([w], lr=0.5)

    def step(x):
        opt.param_groups[0]["lr"] = 0.5
        opt.zero_grad()
        (w * x).sum().backward()
        opt.step()

    def change():
        opt.param_groups[0]["lr"] = 0.1

    changes(run, step, change, change, args=(x0,), see=lambda: (w, opt.param_groups[0]["lr"]))


@prog
def the_rate_computed_inside(run):
    w = xg()
    opt = O.SGD([w], lr=0.5)
    scale = [1.0]

    def step(x):
        for group in opt.param_groups:
            group["lr"] = 0.5 * scale[0]
        opt.zero_grad()
        (w * x).sum().backward()
        opt.step()

    def change():
        scale[0] = 0.1

    def outside():
        opt.param_groups[0]["lr"] = 7.0

    changes(run, step, change, outside, args=(x0,), see=lambda: (w, opt.param_groups[0]["lr"]))


@prog
def a_flag_set_inside_to_what_it_is(run):
    w = xg()
    opt = O.SGD([w], lr=0.5)
    m = nn.Dropout(0.5)

    def step(x):
        opt.param_groups[0]["maximize"] = False
        m.p = 0.5
        m.training = True
        opt.zero_grad()
        (w * m(x)).sum().backward()
        opt.step()

    def change():
        opt.param_groups[0]["maximize"] = True

    def probability():
        m.p = 0.1

    def mode():
        m.eval()

    changes(run, step, change, probability, mode, args=(x0,), see=lambda: (w, m.p, m.training))


@prog
def a_gradient_set_inside_to_what_it_is(run):
    w = xg()
    kept = lucid.zeros(3)
    w.grad = kept

    def step(x):
        w.grad = kept
        (w * x).sum().backward()

    def none():
        w.grad = None

    def other():
        w.grad = lucid.ones(3)

    changes(run, step, none, other, args=(x0,), see=lambda: (w.grad, kept, w.grad is kept))


@prog
def a_gradient_cleared_that_is_none(run):
    w = xg()

    def step(x):
        w.grad = None
        return x * w.detach()

    def give():
        w.grad = x0()

    changes(run, step, give, give, args=(x0,), see=lambda: (w.grad,))


@prog
def a_flag_of_a_tensor_set_inside(run):
    w = xg()

    def step(x):
        w.requires_grad = True
        return w * x

    def off():
        w.requires_grad = False

    changes(run, step, off, off, args=(x0,), see=lambda: (w.requires_grad,))


@prog
def attributes_set_on_a_parameter_argument(run):
    def step(p):
        p.seen = True
        return p * 2

    f = run.compile(step)
    for _ in range(4):
        p = nn.Parameter(x0())
        run.call(f, p)
        run.see(getattr(p, "seen", None))


@prog
def attributes_set_on_a_parameter_of_state(run):
    w = nn.Parameter(x0())

    def step(x):
        w.seen = x.sum().item()
        return w * x

    def remove():
        del w.seen

    changes(run, step, remove, args=(x0,), see=lambda: (getattr(w, "seen", None),))
