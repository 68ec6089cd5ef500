"""Calls whose target is not a plain function, and control flow inside calls."""

import asyncio
import contextlib
import functools
import gc
import operator
import sys
import types
import weakref

import lucid
from lucid import nn

from .._harness import Programs, patched, vary, x0

CLIP = sys.modules["lucid.nn.utils.clip_grad"]


def clipping(run):
    """A compiled function that clips a gradient with Python code of Lucid."""
    w = nn.Parameter(x0())

    def f(x):
        w.grad = None
        (x * w).sum().backward()
        nn.utils.clip_grad_norm_([w], 1.0)
        return w.grad * 1

    return run.compile(f)


class Targets(Programs):
    def class_as_the_target(run):
        class Box:
            scale = 2.0

            def __init__(self, x):
                self.value = x * self.scale

        f = run.compile(Box)
        for _ in range(3):
            run.see(type(f(x0())).__name__, f(x0()).value)
        Box.scale = 3.0
        run.see(f(x0()).value)
        run.see(f(x0()).value)

    def partial_as_the_target(run):
        scales = [2.0]
        partial = functools.partial(lambda x, v: x * v[0], v=scales)
        f = run.compile(partial)
        run.steps(f, lambda: scales.__setitem__(0, scales[0] + 1))
        partial.keywords["v"] = [9.0]
        run.call(f, x0())

    def bound_method_as_the_target(run):
        class Model:
            def __init__(self):
                self.scale = 2.0

            def forward(self, x):
                return x * self.scale

        model = Model()
        f = run.compile(model.forward)
        run.steps(f, lambda: setattr(model, "scale", model.scale + 1))
        Model.forward = lambda self, x: x * 11
        run.call(f, x0())

    def callable_object_as_the_target(run):
        class Model:
            def __init__(self):
                self.scale = 2.0

            def __call__(self, x):
                return x * self.scale

        model = Model()
        f = run.compile(model)
        run.steps(f, lambda: setattr(model, "scale", model.scale + 1))
        Model.__call__ = lambda self, x: x * 11
        run.call(f, x0())

    def builtin_as_the_target(run):
        for target in (operator.neg, lucid.neg, lucid.Tensor.neg, abs, functools.partial(operator.mul, 3.0)):
            f = run.compile(target)
            run.repeat(f, vary(lambda _: x0() * 2), before=lambda _: run.call(f, x0()))

    def method_compiled_in_the_class(run):
        holder = types.SimpleNamespace()

        class Model:
            def __init__(self, scale):
                self.scale = scale

            def forward(self, x):
                return x * self.scale

        Model.forward = run.compile(Model.forward)
        a, b = Model(2.0), Model(3.0)
        holder.models = [a, b]
        for model in (a, a, a, b, b, a):
            run.call(model.forward, x0())
        a.scale = 7.0
        run.call(a.forward, x0())
        run.call(b.forward, x0())

    def compiled_function_reads_its_own_attribute(run):
        g = run.compile(lambda x: x * g.scale)
        g.scale = 2.0
        run.steps(g, lambda: setattr(g, "scale", g.scale + 1))

    def recursion(run):
        depth = [3]

        def grow(x, n):
            return x if n == 0 else grow(x * 2, n - 1)

        run.steps(run.compile(lambda x: grow(x, depth[0])), lambda: depth.__setitem__(0, depth[0] + 1))

    def coroutine_run_inside(run):
        state = [2.0]

        async def inner(x):
            return x * state[0]

        def f(x):
            coroutine = inner(x)
            try:
                coroutine.send(None)
            except StopIteration as stop:
                return stop.value

        run.steps(run.compile(f), lambda: state.__setitem__(0, state[0] + 1))

    def coroutine_as_the_target(run):
        state = [2.0]

        async def f(x):
            await asyncio.sleep(0)
            return x * state[0]

        f = run.compile(f)
        for _ in range(3):
            run.see(asyncio.run(f(x0())))
        state[0] = 3.0
        run.see(asyncio.run(f(x0())))

    def generator_as_the_target(run):
        state = [2.0]

        def f(x):
            yield x * state[0]
            yield x * state[0] * 2

        f = run.compile(f)
        for _ in range(3):
            run.see(list(f(x0())))
        state[0] = 3.0
        run.see(list(f(x0())))

    def generator_with_state_inside(run):
        state = [2.0]

        def numbers():
            for value in state:
                yield value

        run.steps(run.compile(lambda x: x * sum(numbers())), lambda: state.append(1.0))

    def context_manager_with_state(run):
        log = []
        state = [2.0]

        @contextlib.contextmanager
        def scaled():
            yield state[0]

        def f(x):
            with scaled() as scale, contextlib.suppress(KeyError):
                x = x * scale
                raise KeyError
            return x

        run.steps(run.compile(f), lambda: state.__setitem__(0, state[0] + 1))
        run.see(log)

    def exit_stack_with_callbacks(run):
        log = []

        def f(x):
            with contextlib.ExitStack() as stack:
                stack.callback(log.append, 1)
                x = x * 2
            return x

        run.repeat(run.compile(f), x0, n=4)
        run.see(len(log))

    def weak_reference_dies(run):
        class Box:
            scale = 2.0

        box = Box()
        reference = weakref.ref(box)
        f = run.compile(lambda x: x * (reference().scale if reference() is not None else 5.0))
        run.repeat(f, x0)
        del box
        gc.collect()
        run.repeat(f, x0, n=2)

    def weak_dict(run):
        class Box:
            scale = 2.0

        box = Box()
        table = weakref.WeakValueDictionary(a=box)
        f = run.compile(lambda x: x * (table["a"].scale if "a" in table else 5.0))
        run.repeat(f, x0)
        del box
        gc.collect()
        run.call(f, x0())

    def finalizer_runs(run):
        log = []

        class Guarded:
            def __del__(self):
                log.append(1)

        def f(x):
            guarded = Guarded()
            return x * (2 if guarded else 3)

        run.repeat(run.compile(f), x0, n=4)
        run.see(len(log))

    def exception_with_state(run):
        log = []

        class Stop(Exception):
            def __init__(self, value):
                log.append(value)
                self.value = value

        def f(x):
            try:
                raise Stop(2.0)
            except Stop as stop:
                return x * stop.value

        run.repeat(run.compile(f), x0, n=4)
        run.see(len(log))

    def helper_of_lucid_patched(run):
        f = clipping(run)
        run.repeat(f, x0)
        with patched(CLIP, "get_total_norm", lambda *args, **kwargs: lucid.tensor(10.0)):
            run.repeat(f, x0, n=2)
        run.call(f, x0())

    def helper_of_lucid_patched_with_an_object(run):
        class Norm:
            def __init__(self):
                self.norm = 10.0

            def __call__(self, *args, **kwargs):
                return lucid.tensor(self.norm)

        f = clipping(run)
        norm = Norm()
        with patched(CLIP, "get_total_norm", norm):
            run.steps(f, lambda: setattr(norm, "norm", norm.norm * 2))
        run.call(f, x0())

    def defaults_of_a_function_of_lucid(run):
        f = run.compile(lambda x: nn.functional.dropout(x))
        run.repeat(f, x0)
        with patched(nn.functional.dropout, "__defaults__", (1.0, *nn.functional.dropout.__defaults__[1:])):
            run.repeat(f, x0, n=2)
        run.call(f, x0())

    def defaults_of_a_function_that_lucid_calls(run):
        f = clipping(run)
        run.repeat(f, x0)

        def other(parameters, max_norm, total_norm):
            for parameter in parameters:
                parameter.grad.mul_(0.0)

        with patched(CLIP.clip_grads_with_norm_, "__code__", other.__code__):
            run.repeat(f, x0, n=2)
        run.call(f, x0())

    def class_that_lucid_uses_patched(run):
        seen = []
        f = clipping(run)
        run.repeat(f, x0)
        before = lucid.no_grad.__enter__
        with patched(lucid.no_grad, "__enter__", lambda self: seen.append(1) or before(self)):
            run.repeat(f, x0, n=2)
        run.call(f, x0())
        run.see(len(seen) > 0)
