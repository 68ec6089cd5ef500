"""Names and functions that change in unusual ways."""

import builtins
import functools
import sys
import types

import lucid

from .._harness import Box, Programs, program, sample


class Scopes(Programs, compiles=True, guards=True):
    def builtin_shadowed_later(run):
        f = run.compile(lambda x: x * len([1, 2]))
        try:
            run.repeat(f, sample, n=8, at={4: lambda: globals().__setitem__("len", lambda items: 7)})
        finally:
            globals().pop("len", None)

    @program(partly="runs eagerly: builtins.abs is not Python's")
    def builtin_replaced(run):
        before = builtins.abs
        f = run.compile(lambda x: x * abs(-2.0))
        try:
            run.repeat(f, sample, n=8, at={4: lambda: setattr(builtins, "abs", lambda number: 7.0)})
        finally:
            builtins.abs = before

    def global_deleted(run):
        globals()["GONE"] = 2.0
        f = run.compile(lambda x: x * GONE)  # noqa: F821
        for i in range(8):
            if i == 4:
                del globals()["GONE"]
            run.call(f, sample(i))
        globals().pop("GONE", None)

    def closure_deleted(run):
        k = 2.0

        def drop():
            nonlocal k
            del k

        run.repeat(run.compile(lambda x: x * k), sample, n=8, at={4: lambda: drop()})

    def sibling_closure_writes(run):
        def make():
            k = 1.0

            def scale(x):
                return x * k

            def grow():
                nonlocal k
                k += 1

            return scale, grow

        scale, grow = make()
        run.repeat(run.compile(lambda x: scale(x) + 1), sample, n=8, before=lambda i: i % 3 == 2 and grow())

    def defaults_replaced(run):
        def helper(x, k=2.0):
            return x * k

        f = run.compile(lambda x: helper(x))
        run.repeat(f, sample, n=8, before=lambda i: setattr(helper, "__defaults__", (2.0 + i // 3,)))

    def function_renamed(run):
        def helper(x):
            return x

        f = run.compile(lambda x: helper(x) * len(helper.__name__))
        run.repeat(f, sample, n=8, before=lambda i: setattr(helper, "__name__", "h" * (1 + i // 3)))

    def function_with_another_qualified_name(run):
        def helper(x):
            return x

        f = run.compile(lambda x: helper(x) * len(helper.__qualname__))
        run.repeat(f, sample, n=8, before=lambda i: setattr(helper, "__qualname__", "h" * (1 + i // 3)))

    def function_of_another_module(run):
        def helper(x):
            return x

        f = run.compile(lambda x: helper(x) * len(helper.__module__))
        run.repeat(f, sample, n=8, before=lambda i: setattr(helper, "__module__", "m" * (1 + i // 3)))

    def function_with_another_document(run):
        def helper(x):
            return x

        f = run.compile(lambda x: helper(x) * len(helper.__doc__ or ""))
        run.repeat(f, sample, n=8, before=lambda i: setattr(helper, "__doc__", "h" * (1 + i // 3)))

    @program(eager="reads __annotations__, which may change unseen")
    def annotations_read(run):
        def helper(x):
            return x * helper.__annotations__.get("k", 1.0)

        f = run.compile(helper)
        run.repeat(f, sample, n=8, before=lambda i: helper.__annotations__.__setitem__("k", 1.0 + i // 3))

    def class_renamed(run):
        class Thing:
            pass

        thing = Thing()
        f = run.compile(lambda x: x * len(type(thing).__name__))
        run.repeat(f, sample, n=8, before=lambda i: setattr(Thing, "__name__", "T" * (1 + i // 3)))

    def has_attribute(run):
        box = Box(a=1.0)
        f = run.compile(lambda x: x * (2 if hasattr(box, "b") else 3))
        run.repeat(f, sample, n=8, at={3: lambda: setattr(box, "b", None), 6: lambda: delattr(box, "b")})

    def get_with_a_default(run):
        table = {}
        f = run.compile(lambda x: x * table.get("k", 2.0))
        run.repeat(f, sample, n=8, at={4: lambda: table.__setitem__("k", 5.0)})

    def set_default_inside(run):
        table = {}
        f = run.compile(lambda x: x * table.setdefault("k", 2.0))
        run.repeat(f, sample, n=8, at={4: lambda: table.clear()}, see=lambda: (dict(table),))

    def function_with_another_code(run):
        def one(x):
            return x * 2

        def two(x):
            return x * 3

        class Thing:
            method = one

        thing = Thing()
        f = run.compile(lambda x: Thing.method(x) + thing.__class__.method(x))
        run.repeat(f, sample, n=8, at={4: lambda: setattr(one, "__code__", two.__code__)})

    def method_of_another_instance(run):
        class Thing:
            def __init__(self, k):
                self.k = k

            def scale(self, x):
                return x * self.k

        one, two = Thing(2.0), Thing(3.0)
        box = Box(method=one.scale)
        f = run.compile(lambda x: box.method(x))
        run.repeat(f, sample, n=8, at={3: lambda: setattr(box, "method", two.scale), 6: lambda: setattr(two, "k", 9.0)})

    def wrapped_attribute(run):
        def helper(x):
            return x * 2

        @functools.wraps(helper)
        def wrapper(x):
            return wrapper.__wrapped__(x) + 1

        run.repeat(run.compile(wrapper), sample, n=8, at={4: lambda: setattr(wrapper, "__wrapped__", lambda x: x * 5)})

    def module_made_by_hand(run):
        module = types.ModuleType("made_by_hand")
        module.k = 2.0
        f = run.compile(lambda x: x * module.k)
        run.repeat(f, sample, n=8, before=lambda i: setattr(module, "k", 2.0 + i // 3))

    def module_with_getattr(run):
        module = types.ModuleType("with_getattr")
        numbers = {"k": 2.0}
        module.__getattr__ = lambda name: numbers[name]
        f = run.compile(lambda x: x * module.k)
        run.repeat(f, sample, n=8, before=lambda i: numbers.__setitem__("k", 2.0 + i // 3))

    def module_replaced_in_the_table(run):
        def make(k):
            module = types.ModuleType("lucid_test_replaced")
            module.k = k
            return module

        def f(x):
            import lucid_test_replaced

            return x * lucid_test_replaced.k

        f = run.compile(f)
        try:
            for i in range(8):
                if i % 3 == 0:
                    sys.modules["lucid_test_replaced"] = make(2.0 + i)
                run.call(f, sample(i))
        finally:
            sys.modules.pop("lucid_test_replaced", None)

    def class_made_inside(run):
        box = Box(k=2.0)

        def f(x):
            class Local:
                k = box.k

            return x * Local().k

        run.repeat(run.compile(f), sample, n=8, before=lambda i: setattr(box, "k", 2.0 + i // 3))

    def match_on_an_object(run):
        box = Box(kind="a", k=2.0)

        def f(x):
            match box:
                case Box(kind="a", k=k):
                    return x * k
                case Box(kind="b"):
                    return x - 1
            return x

        run.repeat(run.compile(f), sample, n=9, before=lambda i: setattr(box, "kind", "aabbccaab"[i]))

    def exception_as_a_branch(run):
        table = {}

        def f(x):
            try:
                return x * table["k"]
            except KeyError:
                return x - 1

        run.repeat(run.compile(f), sample, n=8, at={4: lambda: table.__setitem__("k", 3.0)})

    def default_dtype_changed(run):
        f = run.compile(lambda x: x.to(lucid.f64) * lucid.ones(4))
        try:
            for i in range(8):
                lucid.set_default_dtype(lucid.f64 if i % 4 < 2 else lucid.f32)
                run.call(f, sample(i).to(lucid.f32))
                run.see(f(sample(i).to(lucid.f64)).dtype)
        finally:
            lucid.set_default_dtype(lucid.f32)

    def arguments_from_a_global(run):
        options = {"k": 2.0}

        def helper(x, k=1.0, b=0.0):
            return x * k + b

        f = run.compile(lambda x: helper(x, **options))
        for i in range(8):
            if i == 3:
                options["b"] = 1.0
            if i == 6:
                del options["k"]
            run.call(f, sample(i))
