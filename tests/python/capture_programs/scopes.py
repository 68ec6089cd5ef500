"""Names and functions that change in unusual ways."""

import builtins
import functools
import sys
import types

import lucid

from ._common import CALLS, Box, attempt, program, sample


@program
def builtin_shadowed_later(compile):
    f = compile(lambda x: x * len([1, 2]))
    try:
        for i in range(CALLS):
            if i == 4:
                globals()["len"] = lambda items: 7
            yield f(sample(i))
    finally:
        globals().pop("len", None)


@program
def builtin_replaced(compile):
    before = builtins.abs
    f = compile(lambda x: x * abs(-2.0))
    try:
        for i in range(CALLS):
            if i == 4:
                builtins.abs = lambda number: 7.0
            yield f(sample(i))
    finally:
        builtins.abs = before


@program
def global_deleted(compile):
    globals()["GONE"] = 2.0
    f = compile(lambda x: x * GONE)  # noqa: F821
    for i in range(CALLS):
        if i == 4:
            del globals()["GONE"]
        yield attempt(f, sample(i))
    globals().pop("GONE", None)


@program
def closure_deleted(compile):
    k = 2.0

    def f(x):
        return x * k

    def drop():
        nonlocal k
        del k

    f = compile(f)
    for i in range(CALLS):
        if i == 4:
            drop()
        yield attempt(f, sample(i))


@program
def sibling_closure_writes(compile):
    def make():
        k = 1.0

        def scale(x):
            return x * k

        def grow():
            nonlocal k
            k += 1

        return scale, grow

    scale, grow = make()
    f = compile(lambda x: scale(x) + 1)
    for i in range(CALLS):
        if i % 3 == 2:
            grow()
        yield f(sample(i))


@program
def defaults_replaced(compile):
    def helper(x, k=2.0):
        return x * k

    f = compile(lambda x: helper(x))
    for i in range(CALLS):
        helper.__defaults__ = (2.0 + i // 3,)
        yield f(sample(i))


@program
def function_renamed(compile):
    def helper(x):
        return x

    f = compile(lambda x: helper(x) * len(helper.__name__))
    for i in range(CALLS):
        helper.__name__ = "h" * (1 + i // 3)
        yield f(sample(i))


@program
def function_with_another_qualified_name(compile):
    def helper(x):
        return x

    f = compile(lambda x: helper(x) * len(helper.__qualname__))
    for i in range(CALLS):
        helper.__qualname__ = "h" * (1 + i // 3)
        yield f(sample(i))


@program
def function_of_another_module(compile):
    def helper(x):
        return x

    f = compile(lambda x: helper(x) * len(helper.__module__))
    for i in range(CALLS):
        helper.__module__ = "m" * (1 + i // 3)
        yield f(sample(i))


@program
def function_with_another_document(compile):
    def helper(x):
        return x

    f = compile(lambda x: helper(x) * len(helper.__doc__ or ""))
    for i in range(CALLS):
        helper.__doc__ = "h" * (1 + i // 3)
        yield f(sample(i))


@program
def annotations_read(compile):
    def helper(x):
        return x * helper.__annotations__.get("k", 1.0)

    f = compile(helper)
    for i in range(CALLS):
        helper.__annotations__["k"] = 1.0 + i // 3
        yield f(sample(i))


@program
def class_renamed(compile):
    class Thing:
        pass

    thing = Thing()
    f = compile(lambda x: x * len(type(thing).__name__))
    for i in range(CALLS):
        Thing.__name__ = "T" * (1 + i // 3)
        yield f(sample(i))


@program
def has_attribute(compile):
    box = Box(a=1.0)
    f = compile(lambda x: x * (2 if hasattr(box, "b") else 3))
    for i in range(CALLS):
        if i == 3:
            box.b = None
        if i == 6:
            del box.b
        yield f(sample(i))


@program
def get_with_a_default(compile):
    table = {}
    f = compile(lambda x: x * table.get("k", 2.0))
    for i in range(CALLS):
        if i == 4:
            table["k"] = 5.0
        yield f(sample(i))


@program
def set_default_inside(compile):
    table = {}
    f = compile(lambda x: x * table.setdefault("k", 2.0))
    for i in range(CALLS):
        if i == 4:
            table.clear()
        yield f(sample(i)), dict(table)


@program
def function_with_another_code(compile):
    def one(x):
        return x * 2

    def two(x):
        return x * 3

    class Thing:
        method = one

    thing = Thing()
    f = compile(lambda x: Thing.method(x) + thing.__class__.method(x))
    for i in range(CALLS):
        if i == 4:
            one.__code__ = two.__code__
        yield f(sample(i))


@program
def method_of_another_instance(compile):
    class Thing:
        def __init__(self, k):
            self.k = k

        def scale(self, x):
            return x * self.k

    one, two = Thing(2.0), Thing(3.0)
    box = Box(method=one.scale)
    f = compile(lambda x: box.method(x))
    for i in range(CALLS):
        if i == 3:
            box.method = two.scale
        if i == 6:
            two.k = 9.0
        yield f(sample(i))


@program
def wrapped_attribute(compile):
    def helper(x):
        return x * 2

    @functools.wraps(helper)
    def wrapper(x):
        return wrapper.__wrapped__(x) + 1

    f = compile(wrapper)
    for i in range(CALLS):
        if i == 4:
            wrapper.__wrapped__ = lambda x: x * 5
        yield f(sample(i))


@program
def module_made_by_hand(compile):
    module = types.ModuleType("made_by_hand")
    module.k = 2.0
    f = compile(lambda x: x * module.k)
    for i in range(CALLS):
        module.k = 2.0 + i // 3
        yield f(sample(i))


@program
def module_with_getattr(compile):
    module = types.ModuleType("with_getattr")
    numbers = {"k": 2.0}
    module.__getattr__ = lambda name: numbers[name]
    f = compile(lambda x: x * module.k)
    for i in range(CALLS):
        numbers["k"] = 2.0 + i // 3
        yield f(sample(i))


@program
def module_replaced_in_the_table(compile):
    def make(k):
        module = types.ModuleType("lucid_test_replaced")
        module.k = k
        return module

    def f(x):
        import lucid_test_replaced

        return x * lucid_test_replaced.k

    f = compile(f)
    try:
        for i in range(CALLS):
            if i % 3 == 0:
                sys.modules["lucid_test_replaced"] = make(2.0 + i)
            yield f(sample(i))
    finally:
        sys.modules.pop("lucid_test_replaced", None)


@program
def class_made_inside(compile):
    box = Box(k=2.0)

    def f(x):
        class Local:
            k = box.k

        return x * Local().k

    f = compile(f)
    for i in range(CALLS):
        box.k = 2.0 + i // 3
        yield f(sample(i))


@program
def match_on_an_object(compile):
    box = Box(kind="a", k=2.0)

    def f(x):
        match box:
            case Box(kind="a", k=k):
                return x * k
            case Box(kind="b"):
                return x - 1
        return x

    f = compile(f)
    for i in range(9):
        box.kind = "aabbccaab"[i]
        yield f(sample(i))


@program
def exception_as_a_branch(compile):
    table = {}

    def f(x):
        try:
            return x * table["k"]
        except KeyError:
            return x - 1

    f = compile(f)
    for i in range(CALLS):
        if i == 4:
            table["k"] = 3.0
        yield f(sample(i))


@program
def default_dtype_changed(compile):
    f = compile(lambda x: x.to(lucid.f64) * lucid.ones(4))
    try:
        for i in range(CALLS):
            lucid.set_default_dtype(lucid.f64 if i % 4 < 2 else lucid.f32)
            yield f(sample(i).to(lucid.f32)), f(sample(i).to(lucid.f64)).dtype
    finally:
        lucid.set_default_dtype(lucid.f32)


@program
def arguments_from_a_global(compile):
    options = {"k": 2.0}

    def helper(x, k=1.0, b=0.0):
        return x * k + b

    f = compile(lambda x: helper(x, **options))
    for i in range(CALLS):
        if i == 3:
            options["b"] = 1.0
        if i == 6:
            del options["k"]
        yield f(sample(i))
