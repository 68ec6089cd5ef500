"""Programs that the fuzzers of state have found, made small."""

import collections
import functools

import lucid
from lucid import nn

from .._harness import Programs, vary, x0


class FoundByFuzzers(Programs):
    def found_partial_of_a_partial(run):
        # partial() merges another partial only if nothing has asked for its __dict__.
        p = functools.partial(lambda a, x: x * a, 2.0)
        f = run.compile(lambda x: p(x))
        run.repeat(f, x0)
        run.see(functools.partial(p).func is p)
        p.note = 1
        run.call(f, x0())
        run.see(functools.partial(p).func is p)

    def found_attributes_of_a_partial(run):
        p = functools.partial(lambda a, x: x * a, 2.0)

        def read(x):
            try:
                return p(x) * p.scale
            except AttributeError:
                return p(x)

        f = run.compile(read)
        run.repeat(f, x0)
        p.scale = 3.0
        run.repeat(f, x0, n=5, at={3: lambda: setattr(p, "scale", 4.0), 4: lambda: delattr(p, "scale")})

    def found_class_without_a_hash(run):
        class Meta(type):
            def __eq__(cls, other):
                return True

        class Made(metaclass=Meta):
            a = 2.0

        made = Made()
        f = run.compile(lambda x, value=None: x * made.a)
        run.repeat(f, x0, vary(lambda _: Made()), before=lambda _: run.call(f, x0()))

    def found_record_whose_class_has_no_hash(run):
        class Meta(type):
            __hash__ = None

        class Made(collections.namedtuple("Fields", "a"), metaclass=Meta):
            pass

        made = Made(2.0)
        f = run.compile(lambda x, value=None: x * made.a)
        run.repeat(f, x0, vary(lambda _: Made(3.0)), before=lambda _: run.call(f, x0()))

    def found_order_of_hooks_on_leaves(run):
        # Backward runs the accumulators of leaves in the order in which they were created.
        a, b = nn.Parameter(x0()), nn.Parameter(x0() * 2)
        f = run.compile(lambda x: x * a + b)
        with lucid.no_grad():
            run.repeat(f, x0)
        log = []
        a.register_hook(lambda g: log.append("a"))
        b.register_hook(lambda g: log.append("b"))
        (b * a).sum().backward()
        run.see(log)

    def found_one_gradient_of_two_leaves(run):
        first, second = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)
        f = run.compile(lambda x: second(lucid.relu(first(x))))
        with lucid.no_grad():
            run.call(f, lucid.randn(4, 8))
        first.weight.grad = second.weight.grad = lucid.ones(8, 8)
        f(lucid.randn(4, 8)).square().mean().backward()
        run.see(first.weight.grad)
