"""State that a call reads in ways that its code does not spell out: closures, globals, attributes of functions."""

import builtins
import contextvars
import math
import operator
import types

import lucid
import numpy as np
from lucid import nn, optim

from .._harness import Programs, patched, x0

SCALE = 2.0


class Adder:
    def __init__(self, by):
        self.by = by

    def __add__(self, x):
        return x + self.by


class Scaler:
    """A callable object that is no descriptor."""

    def __init__(self, scale=2.0):
        self.scale = scale

    def __call__(self, *args):
        return self.scale


class Closures(Programs):
    def context_variable_default(run):
        variable = contextvars.ContextVar("settings", default=types.SimpleNamespace(scale=2.0))
        f = run.compile(lambda x: x * variable.get().scale)
        run.steps(f, lambda: setattr(variable.get(), "scale", variable.get().scale + 1))

    def context_variable_default_list(run):
        variable = contextvars.ContextVar("settings", default=[2.0])
        run.steps(run.compile(lambda x: x * variable.get()[0]), lambda: variable.get().append(variable.get().pop() + 1))

    def context_variable_set_and_reset(run):
        variable = contextvars.ContextVar("scale", default=2.0)
        f = run.compile(lambda x: x * variable.get())
        run.repeat(f, x0)
        token = variable.set(3.0)
        run.repeat(f, x0, n=2, at={1: lambda: variable.reset(token)})
        run.call(contextvars.copy_context().run, f, x0())

    def context_variable_in_another_context(run):
        variable = contextvars.ContextVar("scale", default=2.0)
        f = run.compile(lambda x: x * variable.get())
        run.repeat(f, x0)
        other = contextvars.copy_context()
        other.run(variable.set, 5.0)
        run.call(other.run, f, x0())
        run.call(f, x0())

    def attributes_of_a_function_that_does_not_run(run):
        def settings():
            return None

        settings.scale = 2.0
        adder = Adder(1.0)
        f = run.compile(lambda x: (adder + x) * settings.scale)
        run.steps(f, lambda: setattr(settings, "scale", settings.scale + 1))

    def closure_of_a_function_that_does_not_run(run):
        def make():
            scale = 2.0

            def get():
                return scale

            def change():
                nonlocal scale
                scale += 1

            return get, change

        get, change = make()
        adder = Adder(1.0)
        run.steps(run.compile(lambda x: (adder + x) * get.__closure__[0].cell_contents), change)

    def defaults_of_a_function_that_does_not_run(run):
        def helper(a, scales=[2.0], *, others=[1.0]):  # noqa: B006
            return a

        adder = Adder(1.0)
        f = run.compile(lambda x: (adder + x) * helper.__defaults__[0][0] + helper.__kwdefaults__["others"][0])

        def change():
            helper.__defaults__[0][0] += 1
            helper.__kwdefaults__["others"][0] += 1

        run.steps(f, change)

    def globals_of_a_function(run):
        space = {"scale": 2.0, "__builtins__": builtins}
        exec("def helper(): return scale", space)  # noqa: S102
        helper = space["helper"]
        adder = Adder(1.0)
        f = run.compile(lambda x: (adder + x) * helper.__globals__["scale"])
        run.steps(f, lambda: space.update(scale=space["scale"] + 1))

    def globals_of_a_subclass_of_dict(run):
        class Space(dict):
            scale = 2.0

            def __missing__(self, name):
                if name == "scale":
                    return self.scale
                raise KeyError(name)

        code = compile("def helper(x): return x * scale", "space", "exec").co_consts[0]
        f = run.compile(types.FunctionType(code, Space(__builtins__=builtins)))
        run.steps(f, lambda: setattr(Space, "scale", Space.scale + 1))

    def globals_dict_subclass_attribute(run):
        class Space(dict):
            def __missing__(self, name):
                return self.scale

        code = compile("def helper(x): return x * scale", "space", "exec").co_consts[0]
        space = Space(__builtins__=builtins)
        space.scale = 2.0
        run.steps(run.compile(types.FunctionType(code, space)), lambda: setattr(space, "scale", space.scale + 1))

    def code_replaced_by_a_function_with_a_closure(run):
        def make(by):
            def inner(x):
                return x * by

            return inner

        target, other = make(2.0), make(3.0)

        def swap():
            target.__closure__[0].cell_contents += other.__closure__[0].cell_contents

        run.steps(run.compile(lambda x: target(x)), swap)

    def builtin_shadowed_by_a_global(run):
        space = {"__builtins__": builtins}
        exec("def helper(x, v): return x * abs(v)", space)  # noqa: S102
        f = run.compile(space["helper"])
        run.repeat(f, x0, -2.0, n=4, at={3: lambda: space.__setitem__("abs", lambda v: v * 10)})
        del space["abs"]
        run.call(f, x0(), -2.0)

    def builtin_replaced(run):
        f = run.compile(lambda x, v: x * abs(v))
        run.repeat(f, x0, -2.0)
        with patched(builtins, "abs", lambda v: v * 10):
            run.call(f, x0(), -2.0)
        run.call(f, x0(), -2.0)

    def function_of_math_replaced(run):
        f = run.compile(lambda x: x * math.sqrt(4.0))
        run.repeat(f, x0)
        with patched(math, "sqrt", lambda v: 7.0):
            run.call(f, x0())
        run.call(f, x0())

    def function_of_numpy_replaced(run):
        values = np.array([1.0, 2.0])
        f = run.compile(lambda x: x * float(np.mean(values)))
        run.repeat(f, x0)
        with patched(np, "mean", lambda v: 7.0):
            run.call(f, x0())
        run.call(f, x0())

    def lucid_class_patched_with_an_object(run):
        scaler = Scaler()
        model = nn.Sequential(nn.ReLU())
        with patched(nn.ReLU, "forward", lambda self, x, scale=scaler: x * scale()):
            run.steps(run.compile(lambda x: model(x)), lambda: setattr(scaler, "scale", scaler.scale + 1))

    def lucid_class_patched_with_a_descriptor(run):
        class Forward:
            scale = 2.0

            def __get__(self, instance, owner):
                return self

            def __init__(self):
                self.by = 2.0

            def __call__(self, x):
                return x * self.by

        forward = Forward()
        with patched(nn.ReLU, "forward", forward):
            model = nn.Sequential(nn.ReLU())
            run.steps(run.compile(lambda x: model(x)), lambda: setattr(forward, "by", forward.by + 1))

    def functional_patched_with_an_object(run):
        class Relu:
            def __init__(self):
                self.by = 2.0

            def __call__(self, x, *args, **kwargs):
                return x * self.by

        relu = Relu()
        with patched(nn.functional, "relu", relu):
            run.steps(run.compile(lambda x: nn.functional.relu(x)), lambda: setattr(relu, "by", relu.by + 1))

    def tensor_operator_patched_with_an_object(run):
        class Add:
            def __init__(self):
                self.by = 2.0

            def __call__(self, other):
                return lucid.ones(3) * self.by

        add = Add()
        with patched(lucid.Tensor, "__add__", add):
            run.steps(run.compile(lambda x: x + x), lambda: setattr(add, "by", add.by + 1))

    def scheduler_read(run):
        w = nn.Parameter(lucid.ones(3))
        optimizer = optim.SGD([w], lr=0.5)
        scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1)
        run.steps(run.compile(lambda x: x * scheduler.last_epoch + scheduler.get_last_lr()[0]), scheduler.step)

    def scheduler_attribute(run):
        optimizer = optim.SGD([nn.Parameter(lucid.ones(3))], lr=0.5)
        scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1)
        scheduler.scale = 2.0
        f = run.compile(lambda x: x * scheduler.scale + scheduler.base_lrs[0])

        def change():
            scheduler.scale += 1
            scheduler.base_lrs[0] += 1

        run.steps(f, change)

    def learning_rate_read(run):
        optimizer = optim.SGD([nn.Parameter(lucid.ones(3))], lr=0.5)
        f = run.compile(lambda x: x * optimizer.param_groups[0]["lr"])
        run.steps(f, lambda: optimizer.param_groups[0].update(lr=optimizer.param_groups[0]["lr"] * 2))

    def defaults_of_an_optimizer(run):
        optimizer = optim.SGD([nn.Parameter(lucid.ones(3))], lr=0.5)
        f = run.compile(lambda x: x * optimizer.defaults["lr"])
        run.steps(f, lambda: optimizer.defaults.update(lr=optimizer.defaults["lr"] * 2))

    def identity_of_equal_globals(run):
        space = {"a": int("1000"), "x0": x0}
        space["b"] = space["a"]
        exec("def helper(x): return x * 2 if a is b else x * 3", space)  # noqa: S102
        run.steps(run.compile(space["helper"]), lambda: space.update(b=int("1000")))

    def identity_of_equal_attributes(run):
        a = types.SimpleNamespace(mode="".join(["fa", "st"]))
        b = types.SimpleNamespace(mode=a.mode)
        f = run.compile(lambda x: x * 2 if a.mode is b.mode else x * 3)
        run.steps(f, lambda: setattr(b, "mode", "".join(["fa", "st"])))

    def identity_by_the_operator_module(run):
        f = run.compile(lambda x, a, b: x * 2 if operator.is_(a, b) else x * 3)
        a, b = int("1000"), int("1000")
        run.each(f, (a, a), (a, a), (a, a), (a, b), (a, b), (a, a))

    def identity_of_equal_tuples(run):
        marker = tuple([1, 2])
        state = [marker]
        f = run.compile(lambda x: x * 2 if state[0] is marker else x * 3)
        run.steps(f, lambda: state.__setitem__(0, tuple([1, 2])))

    def nan_in_a_list(run):
        nan = float("nan")
        known = [nan]
        f = run.compile(lambda x, v: x * 2 if v in known else x * 3)
        run.over(f, nan, nan, nan, float("nan"), float("nan"), nan)

    def nan_in_a_tuple_argument(run):
        nan = float("nan")
        f = run.compile(lambda x, a, b: x * 2 if a == b else x * 3)
        run.each(f, ((nan,), (nan,)), ((nan,), (nan,)), ((nan,), (nan,)), ((nan,), (float("nan"),)), ([nan], [nan]))

    def nan_replaced_in_state(run):
        nan = float("nan")
        state, known = [nan], [nan]
        run.steps(run.compile(lambda x: x * 2 if state == known else x * 3), lambda: state.__setitem__(0, float("nan")))
