"""Optimizers whose state, groups, options and hooks change between steps."""

import copy
import functools

import lucid
from lucid import nn

from .._harness import Programs, x0, xg
from ..training.hooks import training

O = lucid.optim
S = lucid.optim.lr_scheduler


def adam(params):
    return O.Adam(params, lr=0.01)


class OptimizerChanges(Programs):
    def state_tensor_replaced(run):
        m, opt, go = training(run, adam)
        go()
        s = opt.state[m[0].weight]
        old = s["exp_avg"]
        s["exp_avg"] = lucid.ones(4, 3)
        go(2)
        run.see(old, s["exp_avg"])
        s["exp_avg"] = old
        go(2)

    def state_tensor_zeroed(run):
        m, opt, go = training(run, adam)
        go()
        for p in m.parameters():
            opt.state[p]["exp_avg"].zero_()
        go(2)
        for p in m.parameters():
            opt.state[p]["exp_avg"] *= 2
        go(2)

    def state_of_one_parameter_deleted(run):
        m, opt, go = training(run, adam)
        go()
        for how in ("clear", "delete"):
            with run.errors():
                if how == "clear":
                    opt.state[m[0].weight].clear()
                else:
                    del opt.state[m[0].weight]
            go(2)

    def state_entry_of_ones_own(run):
        m, opt, go = training(run, adam, post=lambda m, opt, loss: opt.state[m[0].weight].setdefault("seen", 1))
        go(4)
        run.see(sorted(opt.state[m[0].weight].keys()))
        opt.state[m[0].weight]["seen"] = 2
        go(2)
        run.see(opt.state[m[0].weight]["seen"])

    def state_step_count_set(run):
        m, opt, go = training(run, adam)
        go()
        s = opt.state[m[0].weight]
        run.see(s["step"])
        s["step"] = lucid.tensor(100.0) if isinstance(s["step"], lucid.Tensor) else 100
        go(3)

    def state_swapped_between_parameters(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        opt = O.Adam(m.parameters(), lr=0.1)

        def step(x):
            opt.zero_grad()
            m(x).pow(2).sum().backward()
            opt.step()

        f = run.compile(step)
        for i in range(6):
            if i == 3:
                a, b = opt.state[m[0].weight], opt.state[m[1].weight]
                a["exp_avg"], b["exp_avg"] = b["exp_avg"], a["exp_avg"]
            run.call(f, x0())
            run.see(*m.parameters())

    def state_dict_loaded_from_another(run):
        m, opt, go = training(run, adam)
        other_m, other, other_go = training(run, adam)
        go()
        other_go(2)
        opt.load_state_dict(other.state_dict())
        go(2)
        other_go(2)
        opt.load_state_dict(copy.deepcopy(other.state_dict()))
        go(2)

    def kept_group_and_state(run):
        m = nn.Linear(3, 1)
        opt = O.Adam(m.parameters(), lr=0.1)
        group, state = opt.param_groups[0], opt.state

        def step(x):
            opt.zero_grad()
            m(x).sum().backward()
            opt.step()
            return m.weight * group["lr"] + len(state)

        f = run.compile(step)
        for i in range(8):
            if i == 3:
                group["lr"] = 0.5
            if i == 5:
                group["betas"] = (0.5, 0.5)
            if i == 6:
                group["note"] = "new"
            run.call(f, x0())
            run.see(group["lr"], m.weight)

    def kept_list_of_groups(run):
        p, q = nn.Parameter(x0()), nn.Parameter(x0())
        opt = O.SGD([p], lr=0.1)
        groups = opt.param_groups
        f = run.compile(lambda x: x * len(groups) + sum(g["lr"] for g in groups))
        for i in range(6):
            if i == 3:
                opt.add_param_group({"params": [q], "lr": 0.7})
            if i == 5:
                groups[0]["lr"] = 0.2
            run.call(f, x0())

    def a_group_removed(run):
        p, q = nn.Parameter(x0()), nn.Parameter(x0())
        opt = O.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], lr=0.1)

        def step():
            opt.zero_grad()
            (p * q).sum().backward()
            opt.step()

        f = run.compile(step)
        for i in range(6):
            if i == 3:
                with run.errors():
                    opt.param_groups.pop()
            run.call(f)
            run.see(p, q)

    def a_parameter_replaced_in_the_group(run):
        m, opt, go = training(run)
        go()
        new = nn.Parameter(lucid.ones(4, 3))
        with run.errors():
            opt.param_groups[0]["params"][0] = new
            m[0].weight = new
        go(3)
        run.see(new)

    def options_that_turn_zero(run):
        m, opt, go = training(run, lambda p: O.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1))
        go()
        for name in ("weight_decay", "momentum", "lr", "dampening"):
            old = opt.param_groups[0][name]
            opt.param_groups[0][name] = 0.0
            go(2)
            opt.param_groups[0][name] = old
            go(2)
        opt.param_groups[0]["nesterov"] = True
        go(2)
        opt.param_groups[0]["maximize"] = True
        go(2)

    def options_of_other_types(run):
        m, opt, go = training(run)
        go()
        for value in (1, True, 0.5, "fast", None, float("nan"), 2**70):
            with run.errors():
                opt.param_groups[0]["lr"] = value
            go(2)
            opt.param_groups[0]["lr"] = 0.1
            go(1)

    def lr_tensor_changed_in_place(run):
        lr = lucid.tensor(0.1)
        m, opt, go = training(run, lambda p: O.SGD(p, lr=lr))
        go()
        lr.fill_(0.5)
        go(2)
        lr.mul_(0.5)
        go(2)
        opt.param_groups[0]["lr"] = lucid.tensor(0.01)
        go(2)
        lr.fill_(3.0)
        go(1)

    def step_hooks_that_are_methods(run):
        class Log:
            def __init__(self):
                self.names, self.scale = [], 1.0

            def before(self, opt, args, kwargs):
                for group in opt.param_groups:
                    for p in group["params"]:
                        p.grad *= self.scale

            def after(self, opt, args, kwargs):
                self.names.append(len(opt.state))

        log = Log()
        m, opt, go = training(run)
        a = opt.register_step_pre_hook(log.before)
        go()
        log.scale = 0.1
        go()
        b = opt.register_step_post_hook(log.after)
        go()
        run.see(log.names)
        a.remove()
        go(2)
        b.remove()
        go(2)
        run.see(log.names)

    def step_hooks_that_are_partials(run):
        log = []
        m, opt, go = training(run)
        opt.register_step_post_hook(functools.partial(lambda log, *a: log.append(len(log)), log))
        go()
        run.see(log)

    def step_hooks_that_change_the_rate(run):
        m, opt, go = training(run)
        opt.register_step_post_hook(lambda opt, a, k: opt.param_groups[0].update(lr=opt.param_groups[0]["lr"] * 0.5))
        go(5)
        run.see(opt.param_groups[0]["lr"])

    def step_with_a_closure(run):
        m = nn.Linear(3, 1)
        opt = O.SGD(m.parameters(), lr=0.1)
        k, calls = [1.0], []

        def step(x):
            def closure():
                opt.zero_grad()
                loss = (m(x) * k[0]).pow(2).sum()
                loss.backward()
                return loss

            return opt.step(closure)

        f = run.compile(step)
        run.repeat(f, x0, n=6, before=lambda i: k.__setitem__(0, 1.0 if i < 4 else 3.0), see=lambda: (m.weight, calls))

    def step_with_a_closure_that_counts(run):
        m = nn.Linear(3, 1)
        opt = O.SGD(m.parameters(), lr=0.1)
        calls = []

        def closure():
            calls.append(1)
            opt.zero_grad()
            loss = m(lucid.ones(3)).pow(2).sum()
            loss.backward()
            return loss

        run.repeat(run.compile(lambda: opt.step(closure)), n=4, see=lambda: (m.weight, calls))

    def two_optimizers_of_one_parameter(run):
        p = nn.Parameter(x0())
        a, b = O.SGD([p], lr=0.1, momentum=0.9), O.Adam([p], lr=0.01)
        which = [a]

        def step():
            p.grad = None
            (p * p).sum().backward()
            which[0].step()

        f = run.compile(step)
        run.repeat(f, n=9, before=lambda i: which.__setitem__(0, b if i in (3, 4, 7) else a), see=lambda: (p,))

    def two_optimizers_share_a_gradient(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
        first, second = O.SGD(m[0].parameters(), lr=0.1), O.Adam(m[1].parameters(), lr=0.1)

        def step(x):
            m.zero_grad()
            m(x).pow(2).sum().backward()
            second.step()
            first.step()
            second.step()

        f = run.compile(step)
        for i in range(6):
            if i == 4:
                first, second = second, first
            run.call(f, x0())
            run.see(*m.parameters())

    def the_optimizer_replaced(run):
        class Trainer:
            def __init__(self):
                self.m = nn.Linear(3, 1)
                self.opt = O.SGD(self.m.parameters(), lr=0.1)

            def step(self, x):
                self.opt.zero_grad()
                self.m(x).pow(2).sum().backward()
                self.opt.step()

        t = Trainer()
        f = run.compile(t.step)
        for i in range(9):
            if i == 3:
                t.opt = O.SGD(t.m.parameters(), lr=0.5)
            if i == 6:
                t.opt = copy.deepcopy(t.opt)
            run.call(f, x0())
            run.see(t.m.weight)

    def an_optimizer_of_ones_own(run):
        class Mine(O.Optimizer):
            def __init__(self, params, lr=0.1):
                super().__init__(params, {"lr": lr, "power": 2})
                self.sign = 1.0

            @lucid.no_grad()
            def step(self, closure=None):
                for group in self.param_groups:
                    for p in group["params"]:
                        if p.grad is None:
                            continue
                        s = self.state[p]
                        if "m" not in s:
                            s["m"] = lucid.zeros_like(p)
                        s["m"].mul_(0.5).add_(p.grad)
                        p.add_(s["m"] ** group["power"], alpha=-group["lr"] * self.sign)

        m, opt, go = training(run, Mine)
        go(4)
        opt.sign = -1.0
        go(2)
        opt.param_groups[0]["power"] = 3
        go(2)
        opt.param_groups[0]["lr"] = 0.5
        go(2)
        opt.state[m[0].weight]["m"] = lucid.ones(4, 3)
        go(2)
        Mine.step = lambda self, closure=None: None
        go(2)

    def a_state_entry_renamed(run):
        m, opt, go = training(run, adam)
        go()
        s = opt.state[m[0].weight]
        s["squares"] = s.pop("exp_avg_sq")
        go(2)
        run.see(sorted(s.keys()))

    def attributes_of_a_group(run):
        w = xg()
        opt = O.SGD([w], lr=0.1)
        group = opt.param_groups[0]
        with run.errors():
            group.note = 2.0
        f = run.compile(lambda x: x * getattr(opt.param_groups[0], "note", 1.0))
        for i in range(6):
            if i == 3:
                with run.errors():
                    group.note = 5.0
            run.call(f, x0())
