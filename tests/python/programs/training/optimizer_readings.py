"""Hooks, objects and rates that are reached through an optimizer, and flags set to what they are."""

import lucid
from lucid import nn

from .._harness import Programs, x0, xg

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


class OptimizerReadings(Programs):
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

        run.changes(step, change, add, change, args=(x0,), see=lambda: opt.param_groups[0]["params"])

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

    def objects_in_groups(run):
        w = xg()
        opt = O.SGD([w], lr=0.1)
        opt.param_groups[0]["cfg"] = {"k": 2.0}

        def inside():
            opt.param_groups[0]["cfg"]["k"] = 3.0

        def replace():
            opt.param_groups[0]["cfg"] = {"k": 4.0}

        run.changes(lambda x: x * opt.param_groups[0]["cfg"]["k"], inside, replace, args=(x0,))

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

        def item():
            opt.state[w]["list"][0] = 5.0

        run.changes(step, lambda: setattr(opt.state[w]["holder"], "k", 3.0), item, args=(x0,))

    def defaults_of_the_optimizer(run):
        w = xg()
        opt = O.SGD([w], lr=0.1)

        run.changes(lambda x: x * opt.defaults["lr"], lambda: opt.defaults.__setitem__("lr", 0.5), args=(x0,))

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

        run.changes(
            step, change, lambda: opt.param_groups[0].__setitem__("lr", 0.2), change, args=(x0,), see=lambda: (w,)
        )

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

        run.changes(step, change, change, args=(x0,), see=lambda: (w, opt.param_groups[0]["lr"]))

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

        def outside():
            opt.param_groups[0]["lr"] = 7.0

        run.changes(
            step, lambda: scale.__setitem__(0, 0.1), outside, args=(x0,), see=lambda: (w, opt.param_groups[0]["lr"])
        )

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

        run.changes(
            step, change, lambda: setattr(m, "p", 0.1), lambda: m.eval(), args=(x0,), see=lambda: (w, m.p, m.training)
        )

    def a_gradient_set_inside_to_what_it_is(run):
        w = xg()
        kept = lucid.zeros(3)
        w.grad = kept

        def step(x):
            w.grad = kept
            (w * x).sum().backward()

        def other():
            w.grad = lucid.ones(3)

        run.changes(
            step, lambda: setattr(w, "grad", None), other, args=(x0,), see=lambda: (w.grad, kept, w.grad is kept)
        )

    def a_gradient_cleared_that_is_none(run):
        w = xg()

        def step(x):
            w.grad = None
            return x * w.detach()

        def give():
            w.grad = x0()

        run.changes(step, give, give, args=(x0,), see=lambda: (w.grad,))

    def a_flag_of_a_tensor_set_inside(run):
        w = xg()

        def step(x):
            w.requires_grad = True
            return w * x

        def off():
            w.requires_grad = False

        run.changes(step, off, off, args=(x0,), see=lambda: (w.requires_grad,))

    def attributes_set_on_a_parameter_argument(run):
        def step(p):
            p.seen = True
            return p * 2

        f = run.compile(step)
        for _ in range(4):
            p = nn.Parameter(x0())
            run.call(f, p)
            run.see(getattr(p, "seen", None))

    def attributes_set_on_a_parameter_of_state(run):
        w = nn.Parameter(x0())

        def step(x):
            w.seen = x.sum().item()
            return w * x

        run.changes(step, lambda: delattr(w, "seen"), args=(x0,), see=lambda: (getattr(w, "seen", None),))
