"""Names and keys that cannot be printed or encoded: no error may come from describing them."""

import types

import lucid
from lucid import nn

from .._harness import Programs, vary, x0
from ..state.closures import Adder

HUGE = 10**5000


class OddNames(Programs):
    def huge_key_of_an_argument(run):
        f = run.compile(lambda x, v: x * len(v))
        run.repeat(f, x0, vary(lambda _: {HUGE: [1.0]}))
        run.call(f, x0(), {HUGE + 1: [1.0], 1: 2})

    def huge_key_in_state(run):
        table = {HUGE: [2.0]}
        run.steps(run.compile(lambda x: x * table[HUGE][0]), lambda: table[HUGE].append(table[HUGE].pop() + 1))

    def huge_key_in_an_attribute(run):
        box = types.SimpleNamespace(table={HUGE: [2.0], (HUGE,): 1.0})
        f = run.compile(lambda x, b: x * b.table[HUGE][0])
        run.steps(f, lambda: box.table[HUGE].append(box.table[HUGE].pop() + 1), box)

    def surrogate_as_a_key(run):
        table = {"\ud800": [2.0]}
        f = run.compile(lambda x: x * table["\ud800"][0])
        run.steps(f, lambda: table["\ud800"].append(table["\ud800"].pop() + 1))

    def surrogate_as_the_name_of_an_attribute(run):
        box = Adder(1.0)
        setattr(box, "\ud800", [2.0])
        f = run.compile(lambda x: x * getattr(box, chr(0xD800))[0])

        def change():
            getattr(box, "\ud800")[0] += 1

        run.steps(f, change)

    def surrogate_as_the_name_of_an_attribute_of_an_argument(run):
        box = Adder(1.0)
        setattr(box, "\ud800", [2.0])
        f = run.compile(lambda x, b: x * getattr(b, chr(0xD800))[0])

        def change():
            getattr(box, "\ud800")[0] += 1

        run.steps(f, change, box)

    def surrogate_as_the_name_of_a_keyword(run):
        def f(x, **kwargs):
            return x * next(iter(kwargs.values())).by

        f = run.compile(f)
        for by in (1.0, 1.0, 1.0, 2.0):
            run.call(f, x0(), **{"\ud800": Adder(by)})

    def surrogate_as_the_name_of_a_function(run):
        def f(x):
            return x * 2

        f.__name__ = f.__qualname__ = "\ud800"
        f = run.compile(f)
        run.repeat(f, x0)

    def surrogate_in_the_name_of_a_file(run):
        log = []
        space = {"log": log}
        source = "def f(x):\n    log.append(1)\n    print(end='')\n    return x * 2\ndef g(x):\n    return x * len(log)"
        exec(compile(source, "odd\udcff.py", "exec"), space)  # noqa: S102
        for name in "fg":
            f = run.compile(space[name])
            run.repeat(f, x0, n=4)
        log.append(1)
        run.call(f, x0())
        if run.compiled:
            assert isinstance(f.explain(), str)

    def surrogate_as_the_name_of_a_global(run):
        space = {"\ud800": 1.0, "scale": 2.0}
        exec("def f(x): return x * scale", space)  # noqa: S102
        run.steps(run.compile(space["f"]), lambda: space.update({"scale": space["scale"] + 1, "\ud801": 3}))

    def names_with_dots_and_brackets(run):
        box = Adder(1.0)
        setattr(box, "a.b[0]", [2.0])
        setattr(box, "", [3.0])
        f = run.compile(lambda x: x * getattr(box, "a.b" + "[0]")[0] + getattr(box, "" * 2)[0])

        def change():
            getattr(box, "a.b[0]")[0] += 1
            getattr(box, "")[0] += 1

        run.steps(f, change)

    def name_that_is_a_subclass_of_text(run):
        class Name(str):
            asked = []

            def __hash__(self):
                self.asked.append(1)
                return str.__hash__(self)

            def __eq__(self, other):
                self.asked.append(1)
                return str.__eq__(self, other)

        box = Adder(1.0)
        box.__dict__[Name("scale")] = 2.0
        table = {Name("a"): 2.0}
        f = run.compile(lambda x: x * table["a"])
        g = run.compile(lambda x: x * box.scale)
        del Name.asked[:]
        run.repeat(f, x0, n=4)
        run.see(len(Name.asked))
        # The interpreter itself compares names at times of its own.
        run.repeat(g, x0, n=4)

    def module_with_odd_names(run):
        model = nn.Sequential()
        model.add_module("\xe9", nn.ReLU())
        model.add_module("a b", nn.ReLU())
        f = run.compile(lambda x: model(x - 2))
        run.repeat(f, x0, n=4, at={3: lambda: model.add_module("\u4e00", nn.Linear(3, 3))})

    def long_text_and_many_arguments(run):
        f = run.compile(lambda x, *args, **kwargs: x * len(args) + len(kwargs) + len(args[0]))
        for size in (10, 10, 10, 300, 300, 70_000, 70_000, 10):
            run.call(f, x0(), "a" * size, *range(size % 500), **{f"k{i}": i for i in range(size % 300)})

    def error_in_the_text_of_an_error(run):
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError("no text")

            __repr__ = __str__

        def f(x, fail):
            if fail:
                raise Odd
            return x * 2

        f = run.compile(f)
        for fail in (False, False, True, True, True, False):
            try:
                run.see(f(x0(), fail))
            except Odd:
                run.see("odd")

    def text_of_values_that_raises(run):
        class Odd:
            def __init__(self):
                self.scale = 2.0

            def __repr__(self):
                raise RuntimeError("no text")

            def __format__(self, spec):
                raise RuntimeError("no text")

        odd = Odd()
        table = {odd: [odd], "a": odd}
        f = run.compile(lambda x: x * table["a"].scale)
        run.steps(f, lambda: setattr(odd, "scale", odd.scale + 1))
        table["a"] = Odd()
        run.call(f, x0())
        run.call(f, lucid.ones(2))
