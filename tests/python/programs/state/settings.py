"""Settings of the process, and containers and functions of the standard library."""

import collections
import copy
import datetime
import decimal
import fractions
import functools
import itertools
import json
import logging
import math
import os
import pathlib
import re
import string
import sys
import types

from .._harness import Programs, set_zone, time_zone, x0


class Settings(Programs):
    def log_level(run):
        logger = logging.getLogger("lucid.tests.more_libraries")
        logger.propagate = False
        seen = []

        class Handler(logging.Handler):
            def emit(self, record):
                seen.append(record.getMessage())

        handler = Handler()
        logger.addHandler(handler)

        def f(x):
            logger.info("called")
            return x * (2 if logger.isEnabledFor(logging.INFO) else 3)

        f = run.compile(f)
        logger.setLevel(logging.WARNING)
        for level in (logging.WARNING, logging.INFO, logging.WARNING, logging.DEBUG):
            logger.setLevel(level)
            run.repeat(f, x0)
            run.see(len(seen))
        logging.disable(logging.CRITICAL)
        run.repeat(f, x0, n=2, at={1: lambda: logging.disable(logging.NOTSET)})
        run.see(len(seen))
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)

    def level_of_a_parent_logger(run):
        parent = logging.getLogger("lucid.tests.parent")
        logger = logging.getLogger("lucid.tests.parent.child")
        f = run.compile(lambda x: x * logger.getEffectiveLevel())
        parent.setLevel(10)
        run.steps(f, lambda: parent.setLevel(parent.level + 5))
        parent.setLevel(0)

    def environment_variable(run):
        f = run.compile(lambda x: x * float(os.environ.get("LUCID_TEST_SCALE", "2")))
        run.steps(
            f, lambda: os.environ.update(LUCID_TEST_SCALE=str(float(os.environ.get("LUCID_TEST_SCALE", "2")) + 1))
        )
        del os.environ["LUCID_TEST_SCALE"]

    def environment_variable_by_getenv(run):
        f = run.compile(lambda x: x * float(os.getenv("LUCID_TEST_SCALE", "2")))
        run.steps(
            f, lambda: os.environ.update(LUCID_TEST_SCALE=str(float(os.environ.get("LUCID_TEST_SCALE", "2")) + 1))
        )
        del os.environ["LUCID_TEST_SCALE"]

    def chain_map(run):
        first, second = {}, {"scale": 2.0}
        maps = collections.ChainMap(first, second)
        run.steps(run.compile(lambda x: x * maps["scale"]), lambda: first.update(scale=first.get("scale", 2.0) + 1))

    def counter(run):
        counts = collections.Counter("aab")
        f = run.compile(lambda x: x * counts["a"] + counts["missing"] + counts.most_common(1)[0][1])
        run.steps(f, lambda: counts.update("abbb"))

    def user_dict(run):
        values = collections.UserDict(scale=2.0)
        run.steps(run.compile(lambda x: x * values["scale"]), lambda: values.update(scale=values["scale"] + 1))

    def ordered_dict_moved(run):
        values = collections.OrderedDict(a=2.0, b=3.0)
        f = run.compile(lambda x: x * next(iter(values.values())))
        run.steps(f, lambda: values.move_to_end(next(iter(values))))

    def ordered_dict_subclass_moved(run):
        class Table(collections.OrderedDict):
            pass

        values = Table(a=2.0, b=3.0)
        f = run.compile(lambda x: x * next(iter(values.values())))
        run.steps(f, lambda: values.move_to_end(next(iter(values))))

    def cache_of_a_function(run):
        scale = [2.0]

        @functools.lru_cache
        def get(by):
            return scale[0] * by

        f = run.compile(lambda x: x * get(1))
        run.repeat(f, x0, n=6, at={3: lambda: scale.__setitem__(0, 3.0), 4: lambda: get.cache_clear()})
        run.see(get.cache_info())

    def cached_property_deleted(run):
        class Box:
            def __init__(self):
                self.by = 2.0

            @functools.cached_property
            def scale(self):
                return self.by * 2

        box = Box()
        f = run.compile(lambda x: x * box.scale)
        run.repeat(f, x0, n=8, at={4: lambda: setattr(box, "by", 3.0), 5: lambda: delattr(box, "scale")})

    def single_dispatch_registered(run):
        @functools.singledispatch
        def scale(value):
            return 2.0

        f = run.compile(lambda x, v: x * scale(v))
        run.repeat(f, x0, 1, n=4, at={3: lambda: scale.register(int)(lambda value: 3.0)})
        run.call(f, x0(), "a")
        run.call(f, x0(), 1)

    def iterators_kept(run):
        for make in (
            itertools.count,
            lambda: itertools.cycle([1, 2, 3]),
            lambda: iter(range(9)),
            lambda: zip(range(9), range(9)),
        ):
            values = make()
            run.repeat(run.compile(lambda x, values=values: x * len(str(next(values))) + len(repr(values))), x0, n=4)

    def weighted_iterator_kept(run):
        values = (i * 2.0 for i in range(9))
        run.repeat(run.compile(lambda x: x * next(values)), x0, n=4)

    def module_replaced_in_the_table_of_modules(run):
        sys.modules["lucid_test_scale"] = types.ModuleType("lucid_test_scale")
        sys.modules["lucid_test_scale"].scale = 2.0

        def f(x):
            import lucid_test_scale

            return x * lucid_test_scale.scale

        f = run.compile(f)

        def change():
            module = types.ModuleType("lucid_test_scale")
            module.scale = sys.modules["lucid_test_scale"].scale + 1
            sys.modules["lucid_test_scale"] = module

        try:
            run.steps(f, change)
            sys.modules["lucid_test_scale"] = None
            run.call(f, x0())
        finally:
            del sys.modules["lucid_test_scale"]

    def module_with_a_part_replaced(run):
        package = types.ModuleType("lucid_test_package")
        package.__path__ = []
        part = types.ModuleType("lucid_test_package.part")
        part.scale = 2.0
        sys.modules["lucid_test_package"], sys.modules["lucid_test_package.part"] = package, part

        def f(x):
            from lucid_test_package import part

            return x * part.scale

        f = run.compile(f)

        def change():
            other = types.ModuleType("lucid_test_package.part")
            other.scale = sys.modules["lucid_test_package.part"].scale + 1
            sys.modules["lucid_test_package.part"] = other

        try:
            run.steps(f, change)
        finally:
            del sys.modules["lucid_test_package"], sys.modules["lucid_test_package.part"]

    def function_made_by_exec(run):
        space = {"scale": 2.0}
        exec("def f(x):\n    return x * scale", space)  # noqa: S102
        f = run.compile(space["f"])
        run.steps(f, lambda: space.update(scale=space["scale"] + 1))
        exec("def g(x):\n    return x * scale * 100", space)  # noqa: S102
        space["f"].__code__ = space["g"].__code__
        run.call(f, x0())

    def wrapped_function_changed(run):
        def decorate(function):
            @functools.wraps(function)
            def wrapper(x):
                return wrapper.__wrapped__(x) * 2

            return wrapper

        @decorate
        def f(x):
            return x + 1

        wrapper = f
        f = run.compile(f)
        run.steps(f, lambda: setattr(wrapper, "__wrapped__", lambda x: x + 5))

    def decorator_with_a_counter(run):
        def counted(function):
            @functools.wraps(function)
            def wrapper(*args):
                wrapper.calls += 1
                return function(*args)

            wrapper.calls = 0
            return wrapper

        helper = counted(lambda x: x * 2)
        run.repeat(run.compile(lambda x: helper(x)), x0, n=4, see=lambda: (helper.calls,))

    def path_and_pattern(run):
        path, pattern = pathlib.PurePath("/a/b.txt"), re.compile("a+")
        f = run.compile(lambda x, p, r, t: x * len(p.parts) + len(p.suffix) + len(r.findall(t)))
        for args in (
            (path, pattern, "aab"),
            (pathlib.PurePath("/a/b/c"), re.compile("b"), "aab"),
            (path, pattern, "b"),
        ):
            run.repeat(f, x0, *args)

    def string_template_and_formatter(run):
        template = string.Template("$scale")
        values = {"scale": 2.0}
        f = run.compile(lambda x: x * float(template.substitute(values)))
        run.steps(f, lambda: values.update(scale=values["scale"] + 1))
        template.template = "3${scale}"
        run.call(f, x0())

    def json_of_state(run):
        values = {"a": [1, 2], "b": {"c": None}}
        f = run.compile(lambda x: x * len(json.dumps(values)) + json.loads("[2]")[0])
        run.steps(f, lambda: values["a"].append(3))

    def copy_of_state(run):
        class Box:
            def __init__(self):
                self.values = [2.0]
                self.other = 1.0

        box = Box()

        def f(x):
            other = copy.copy(box)
            return x * other.values[0] + other.__dict__["other"]

        f = run.compile(f)

        def change():
            box.values[0] += 1
            box.other += 1

        run.steps(f, change)

    def fractions_and_statistics(run):
        part = fractions.Fraction(1, 3)
        values = [1.0, 2.0, 4.0]
        f = run.compile(lambda x: x * float(part + fractions.Fraction(1, 2)) + math.fsum(values))
        run.steps(f, lambda: values.append(part.denominator))

    def time_zone_changed(run):
        moment = datetime.datetime(2024, 1, 1)
        f = run.compile(lambda x: x * (moment.timestamp() - 1.7e9))

        def change():
            set_zone("EST5" if os.environ.get("TZ") != "EST5" else "UTC")

        with time_zone():
            run.steps(f, change)

    def decimal_context_changed(run):
        f = run.compile(lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3)))
        with decimal.localcontext():
            run.steps(f, lambda: setattr(decimal.getcontext(), "prec", decimal.getcontext().prec // 5 + 1))

    def recursion_limit_read(run):
        f = run.compile(lambda x: x * sys.getrecursionlimit())
        before = sys.getrecursionlimit()
        try:
            run.steps(f, lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 7))
        finally:
            sys.setrecursionlimit(before)

    def search_path_and_arguments_read(run):
        f = run.compile(lambda x: x * len(sys.path) + len(sys.argv))
        sys.path.append("lucid-test")
        try:
            run.steps(f, lambda: sys.path.append("lucid-test"))
        finally:
            while "lucid-test" in sys.path:
                sys.path.remove("lucid-test")
