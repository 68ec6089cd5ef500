"""Compiled objects and modules used inside of other compiled functions, and hooks that capture arguments."""

import copy
import functools

import lucid
from lucid import nn

from .._harness import Programs, program, vary, x0, xg
from ..calls.wrappers import Adder, Both

Function = lucid.autograd.Function


def _kept(kind):
    class Kept(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = {"dict": {"n": 0}, "nested": [[0]], "set": {0}, "tuple": ([0],), "bytes": bytearray(b"a")}[kind]
            return x * 2

        @staticmethod
        def backward(ctx, g):
            kept = ctx.kept
            if kind == "dict":
                kept["n"] += 1
                return g * kept["n"]
            inner = kept[0] if kind in ("nested", "tuple") else kept
            (inner.add if kind == "set" else inner.append)(len(inner))
            return g * len(inner)

    return Kept


class Uses(Programs):
    def operators_of_compiled_objects_inside(run):
        for make in (Adder, Both):
            g = run.compile(make())
            f = run.compile(lambda x, g=g: x * len(g) + g[2] + (5 in g) + sum(g) + g(x))
            run.repeat(f, x0, n=6, at={3: lambda: setattr(g, "k", 4.0)})
            Adder.__len__, before = (lambda self: 9), Adder.__len__
            try:
                run.repeat(f, x0, n=2)
            finally:
                Adder.__len__ = before

    def compiled_things_on_a_class(run):
        class Model:
            scale = 2.0
            object = run.compile(Adder(3.0))
            partial = run.compile(functools.partial(lambda k, x: x * k, 5.0))
            bound = run.compile(Adder(4.0).method)
            op = run.compile(lucid.exp)
            static = staticmethod(run.compile(lambda x: x * 7))

            @run.compile
            def method(self, x):
                return x * self.scale

        m = Model()
        for i in range(4):
            if i == 2:
                m.scale = 6.0
            for name in ("object", "partial", "bound", "op", "static", "method"):
                run.call(getattr(m, name), x0())
                run.see(getattr(Model, name) is not None)

    def shallow_copies_of_compiled_modules(run):
        f = run.compile(nn.Linear(3, 3))
        g = copy.copy(f)
        for i in range(6):
            if i == 2:
                g.weight = nn.Parameter(lucid.ones(3, 3))
            if i == 4:
                f.bias.data.fill_(5)
            run.call(f, x0())
            run.call(g, x0())

    def shallow_copies_of_compiled_objects(run):
        f = run.compile(Adder(2.0))
        g = copy.copy(f)
        for i in range(6):
            if i == 2:
                g.k = 5.0
            if i == 4:
                f.calls.append(1)
            run.call(f, x0())
            run.call(g, x0())
            run.see(f.k, g.k, g.calls)

    def hooks_of_state_dicts(run):
        m = nn.Linear(2, 2)
        k = [2.0]
        m.register_state_dict_post_hook(lambda module, state, prefix, *rest: state.update(extra=lucid.ones(1) * k[0]))

        run.changes(lambda x: x * m.state_dict()["extra"], lambda: k.__setitem__(0, 3.0), args=(x0,))

    def hooks_that_capture_a_number(run):
        def step(x, scale):
            h = x * 2
            h.register_hook(lambda g: g * scale)
            return h.exp()

        f = run.compile(step)
        for scale in (2.0, 2.0, 3.0, 3.0, 2.0):
            x = xg()
            run.call(f, x, scale).sum().backward()
            run.see(x.grad)

    def hooks_that_capture_an_object(run):
        class Config:
            k = 2.0

        def step(x, c):
            h = x * 2
            h.register_hook(lambda g: g * c.k)
            return h.exp()

        f = run.compile(step)
        for i in range(5):
            x, c = xg(), Config()
            y = run.call(f, x, c)
            c.k = 2.0 + i
            y.sum().backward()
            run.see(x.grad)

    def hooks_that_capture_a_list(run):
        def step(x, log):
            h = x * 2
            h.register_hook(lambda g: log.append(1))
            return h.exp()

        f = run.compile(step)
        for _ in range(5):
            x, log = xg(), []
            run.call(f, x, log).sum().backward()
            run.see(log)

    def hooks_that_capture_a_variable_set_later(run):
        def step(x):
            scale = 2.0
            h = x * 2
            h.register_hook(lambda g: g * scale)
            scale = 5.0
            return h.exp()

        f = run.compile(step)
        for _ in range(4):
            x = xg()
            run.call(f, x).sum().backward()
            run.see(x.grad)

    def hooks_that_count_in_the_call(run):
        def step(x):
            count = 0

            def hook(g):
                nonlocal count
                count += 1
                return g * count

            h = x * 2
            h.register_hook(hook)
            return h.exp()

        f = run.compile(step)
        for _ in range(4):
            x = xg()
            y = run.call(f, x).sum()
            y.backward(retain_graph=True)
            y.backward()
            run.see(x.grad)

    def handles_returned(run):
        def step(x):
            h = x * 2
            return h.exp(), h.register_hook(lambda g: g * 3)

        f = run.compile(step)
        for i in range(4):
            x = xg()
            y, handle = f(x)
            if i % 2:
                handle.remove()
            y.sum().backward()
            run.see(x.grad)

    def handles_removed_inside(run):
        w = xg()
        handles = [w.register_hook(lambda g: g * 3)]

        def step(x):
            handles[0].remove()
            (w * x).sum().backward()
            return w.grad * 1

        def again():
            handles[0] = w.register_hook(lambda g: g * 5)

        run.changes(step, again, again, args=(x0,))

    def parts_registered_inside(run):
        m = nn.Module()

        def step(x):
            m.register_parameter("w", nn.Parameter(x * 2))
            m.register_buffer("b", x + 1)
            m.add_module("child", nn.Identity())
            return m.w * m.b

        run.repeat(run.compile(step), vary(lambda i: x0() * i), n=4, see=lambda: (m.w, m.b))

    def state_dicts_of_optimizers_inside(run):
        w = xg()
        opt = lucid.optim.SGD([w], lr=0.1, momentum=0.9)
        saved = []

        def step(x):
            opt.zero_grad()
            (w * x).sum().backward()
            opt.step()
            return opt.state_dict()["param_groups"][0]["lr"], len(opt.state_dict()["state"])

        def rate():
            opt.param_groups[0]["lr"] = 0.5
            saved.append(copy.deepcopy(opt.state_dict()))

        run.changes(step, rate, lambda: opt.load_state_dict(saved[0]), args=(x0,), see=lambda: (w,))

    def optimizers_as_arguments(run):
        w, v = xg(), xg()
        a, b = lucid.optim.SGD([w], lr=0.1), lucid.optim.Adam([v], lr=0.1)

        def step(opt, x):
            opt.zero_grad()
            for group in opt.param_groups:
                for p in group["params"]:
                    (p * x).sum().backward()
            opt.step()

        f = run.compile(step)
        for i, opt in enumerate((a, a, a, b, b, b, a, b)):
            if i == 5:
                b.param_groups[0]["lr"] = 0.5
            run.call(f, opt, x0())
            run.see(w, v)

    @program("a_{}_kept_on_ctx", each=("dict", "nested", "set", "tuple", "bytes"))
    def containers_on_ctx(run, kind):
        kept = _kept(kind)
        f = run.compile(lambda x: kept.apply(x).sum())
        for _ in range(4):
            x = xg()
            y = run.call(f, x)
            y.backward(retain_graph=True)
            y.backward()
            run.see(x.grad)
