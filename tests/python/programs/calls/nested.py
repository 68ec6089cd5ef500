"""Compiled functions and modules that call, hold, copy or decorate others, and threads."""

import copy
import functools
import threading

import lucid
from lucid import nn

from .._harness import Programs, program, x0, xg


def inner_and_outer(run, use):
    """A compiled function with state, and a compiled function that uses it in some way."""
    k = [2.0]
    inner = run.compile(lambda x: x * k[0])
    outer = run.compile(use(inner))
    return k, inner, outer


USES = dict(
    call=lambda inner: lambda x: inner(x) + 1,
    twice=lambda inner: lambda x: inner(inner(x)),
    wrapped=lambda inner: functools.wraps(inner)(lambda x: inner(x) + 2),
    partial=lambda inner: functools.partial(lambda g, x: g(x) + 3, inner),
    default=lambda inner: lambda x, g=inner: g(x) + 4,
    in_list=lambda inner: lambda x, gs=(inner, inner): sum(g(x) for g in gs),
    attribute=lambda inner: Holder(inner),
    method=lambda inner: Holder(inner).run,
    mapped=lambda inner: lambda x: list(map(inner, [x, x * 2])),
    unwrapped=lambda inner: lambda x: getattr(inner, "__wrapped__", inner)(x),
    sorted_key=lambda inner: lambda x: sorted([x, x * -1], key=lambda v: inner(v).sum().item()),
    named=lambda inner: lambda x: (inner(x), inner.__name__),
    copied=lambda inner: (lambda g: lambda x: g(x))(copy.deepcopy(inner)),
)


class Holder:
    def __init__(self, function):
        self.function = function

    def __call__(self, x):
        return self.function(x) * 3

    def run(self, x):
        return self.function(x) * 4


def in_threads(run, work, count=4):
    """Runs work(number) on threads, one at a time or together, and logs what they return in order."""
    for together in (False, True):
        out = [None] * count

        def call(i):
            try:
                out[i] = work(i)
            except Exception as error:
                out[i] = error

        threads = [threading.Thread(target=call, args=(i,)) for i in range(count)]
        for t in threads:
            t.start()
            if not together:
                t.join()
        for t in threads:
            t.join()
        run.see(*out)


class NestedCalls(Programs):
    def nested_replaced(run):
        holder = Holder(run.compile(lambda x: x * 2))
        f = run.compile(lambda x: holder.function(x))
        for i in range(7):
            if i == 3:
                holder.function = run.compile(lambda x: x * 5)
            if i == 5:
                holder.function = lambda x: x * 7
            run.call(f, x0())

    def nested_attribute_set(run):
        inner = run.compile(lambda x: x * 2)
        inner.scale = 3.0
        run.repeat(run.compile(lambda x: inner(x) * inner.scale), x0, n=6, at={3: lambda: setattr(inner, "scale", 4.0)})

    def nested_module(run):
        m = run.compile(nn.Linear(3, 3))
        f = run.compile(lambda x: m(x).sum())
        for i in range(8):
            if i == 3:
                m.weight = nn.Parameter(lucid.ones(3, 3))
            if i == 5:
                m.bias.data.zero_()
            if i == 6:
                m.register_forward_hook(lambda m, i, o: o * 2)
            run.call(f, x0()).backward()
            run.see(m.weight.grad)

    def nested_child_module(run):
        net = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
        child = run.compile(net[0])
        net[0] = child
        f = run.compile(net)
        run.repeat(
            f,
            x0,
            n=8,
            at={
                3: lambda: child.weight.data.mul_(2),
                4: lambda: net.eval(),
                5: lambda: setattr(child, "bias", None),
                6: lambda: net.__setitem__(0, nn.Identity()),
            },
        )
        run.see(net.state_dict())

    def nested_both_ways(run):
        depth = [0]

        def odd(x):
            depth[0] += 1
            return even_compiled(x + 1)

        even_compiled, odd_compiled = (
            run.compile(lambda x: x if depth[0] > 3 else odd_compiled(x * 2)),
            run.compile(odd),
        )
        run.repeat(even_compiled, x0, n=4, before=lambda _: depth.__setitem__(0, 0))

    def nested_recursion_by_argument(run):
        f = run.compile(lambda x, n: x if n == 0 else f(x * 2, n - 1))
        run.over(f, 3, 3, 1, 3, 2, 2, 0)

    def nested_with_backward_inside(run):
        m = nn.Linear(3, 3)
        opt = lucid.optim.SGD(m.parameters(), lr=0.1)
        loss = run.compile(lambda x: m(x).pow(2).sum())

        def step(x):
            opt.zero_grad()
            l = loss(x)
            l.backward()
            opt.step()
            return l

        f = run.compile(step)
        for i in range(8):
            run.call(f if i % 3 else step, x0())
            run.see(m.weight)

    def nested_gradients_across(run):
        a = run.compile(lambda x: x.exp())
        b = run.compile(lambda x: x.sin())
        for i in range(6):
            x = xg()
            y = b(a(x)) if i % 2 else a(b(x))
            y.sum().backward()
            run.see(y, x.grad)

    def compiled_method_on_instances(run):
        class Model:
            def __init__(self, k):
                self.k = k

        Model.forward = run.compile(lambda self, x: x * self.k)
        a, b = Model(2.0), Model(3.0)
        run.repeat(b.forward, x0, n=8, at={4: lambda: setattr(a, "k", 5.0)}, before=lambda i: run.call(a.forward, x0()))

    def compiled_static_and_class_methods(run):
        class Model:
            k = 2.0

        Model.stat = staticmethod(run.compile(lambda x: x * Model.k))
        Model.cls = classmethod(run.compile(lambda cls, x: x * cls.k))
        Model.prop = property(run.compile(lambda self: x0() * self.k))

        class Derived(Model):
            k = 3.0

        for i in range(6):
            if i == 3:
                Model.k = 7.0
            run.call(Model.stat, x0())
            run.call(Model.cls, x0())
            run.call(Derived.cls, x0())
            run.see(Model().prop, Derived().prop)

    def compiled_twice(run):
        k = [1.0]
        f = run.compile(run.compile(lambda x: x * k[0]))
        run.repeat(f, x0, n=6, before=lambda i: k.__setitem__(0, 1.0 if i < 3 else 2.0))

    def compiled_partial_edited(run):
        p = functools.partial(lambda x, k, l: x * k[0] + l, k=[2.0], l=1.0)
        f = run.compile(p)
        run.repeat(
            f, x0, n=8, at={3: lambda: p.keywords["k"].__setitem__(0, 5.0), 5: lambda: p.keywords.__setitem__("l", 7.0)}
        )

    def compiled_object_edited(run):
        class Model:
            def __init__(self):
                self.k = 2.0

            def __call__(self, x):
                return x * self.k

        m = Model()
        f = run.compile(m)
        for i in range(7):
            if i == 3:
                m.k = 3.0
            if i == 5:
                Model.__call__ = lambda self, x: x * 100
            run.call(f, x0())

    def compiled_decorated_by_another(run):
        log = []

        def logged(f):
            @functools.wraps(f)
            def call(*a):
                log.append(len(a))
                return f(*a)

            return call

        f = logged(run.compile(lambda x: x * 2))
        g = run.compile(logged(lambda x: x * 2))
        run.repeat(g, x0, n=4, before=lambda _: run.call(f, x0()), see=lambda: (log,))

    def compiled_generator_function(run):
        def gen(x):
            for i in range(3):
                yield x * i

        f = run.compile(gen)
        for _ in range(3):
            run.see(list(f(x0())))

    def compiled_as_a_hook(run):
        m = nn.Linear(3, 3)
        k = [2.0]
        m.weight.register_hook(run.compile(lambda g: g * k[0]))
        m.register_forward_hook(run.compile(lambda m, i, o: o * k[0]))
        f = run.compile(m)
        for i in range(6):
            k[0] = 2.0 if i < 3 else 3.0
            run.call(f, x0()).sum().backward()
            run.see(m.weight.grad)

    def compiled_returned_and_called(run):
        inner = run.compile(lambda x: x * 2)
        f = run.compile(lambda x: (inner, inner(x)))
        for _ in range(4):
            g, y = f(x0())
            run.see(y, g is inner, g(x0()))

    def threads_call_one_function(run):
        f = run.compile(lambda x: (x * 2).exp())
        run.call(f, x0())
        in_threads(run, lambda i: [f(x0() * i) for _ in range(5)])

    def threads_with_their_own_state(run):
        local = threading.local()
        f = run.compile(lambda x: x * local.k)

        def work(i):
            local.k = float(i)
            return [f(x0()) for _ in range(4)]

        in_threads(run, work)

    def threads_with_their_own_modes(run):
        w = xg()
        f = run.compile(lambda x: w * x)

        def work(i):
            with lucid.set_grad_enabled(i % 2 == 0):
                return [f(x0()).requires_grad for _ in range(4)]

        in_threads(run, work)

    def threads_read_their_name(run):
        f = run.compile(lambda x: x * len(threading.current_thread().name))

        def work(i):
            threading.current_thread().name = "n" * (i + 1)
            return [f(x0()) for _ in range(3)]

        in_threads(run, work)

    def threads_call_backward(run):
        f = run.compile(lambda x: (x.exp() * x).sum())

        def work(i):
            x = xg()
            for _ in range(4):
                f(x).backward()
            return x.grad

        in_threads(run, work)

    def threads_started_inside(run):
        def work(x):
            out = []
            t = threading.Thread(target=lambda: out.append(x * 2))
            t.start()
            t.join()
            return out[0] + 1

        run.repeat(run.compile(work), x0, n=4)

    @program("nested_{}", each=USES)
    def nested(run, use):
        k, inner, outer = inner_and_outer(run, use)
        run.repeat(
            outer,
            x0,
            n=9,
            at={
                3: lambda: run.call(inner, x0()),
                4: lambda: k.__setitem__(0, 5.0),
                6: lambda: run.call(inner, x0()),
                7: lambda: k.__setitem__(0, 2.0),
            },
        )
