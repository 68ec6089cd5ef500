"""Holes found in the tables: texts of arguments, classes that are patched or made by the call, NumPy."""

import abc
import collections
import collections.abc
import enum
import gc
import time
import typing
import warnings

import numpy as np

from .._harness import Programs, patched, set_zone, time_zone, x0


class _Plain:
    pass


class _Root:
    pass


class ClassesAndNumPy(Programs):
    def repr_of_an_argument(run):
        a, b = _Plain(), _Plain()
        table = {repr(a): 2.0, repr(b): 3.0}
        run.over(run.compile(lambda x, o: x * table[repr(o)]), a, a, a, b, b)

    def text_of_an_argument(run):
        a, b = _Plain(), _Plain()
        table = {repr(a): 2.0, repr(b): 3.0}
        run.over(run.compile(lambda x, o: x * table[f"{o}"]), a, a, a, b, b)

    def str_of_an_argument(run):
        a, b = _Plain(), _Plain()
        table = {repr(a): 2.0, repr(b): 3.0}
        run.over(run.compile(lambda x, o: x * table[str(o)]), a, a, a, b, b)

    def percent_of_an_argument(run):
        a, b = _Plain(), _Plain()
        table = {repr(a): 2.0, repr(b): 3.0}
        run.over(run.compile(lambda x, o: x * table["%s" % o]), a, a, a, b, b)  # noqa: UP031

    def globals_of_a_function(run):
        space = {"K": 2.0}
        exec("def h(): pass", space)
        h = space["h"]
        run.repeat(run.compile(lambda x: x * h.__globals__["K"]), x0, n=6, at={3: lambda: space.__setitem__("K", 3.0)})

    def frame_of_the_caller(run):
        def g(x):
            try:
                raise ValueError
            except ValueError as error:
                frame = error.__traceback__.tb_frame
            while "factor_of_the_caller" not in frame.f_locals:
                frame = frame.f_back
            return x * frame.f_locals["factor_of_the_caller"]

        f = run.compile(g)
        factor_of_the_caller = 2.0
        run.repeat(f, x0)
        factor_of_the_caller = 3.0  # noqa: F841
        run.repeat(f, x0)

    def size_of_a_list(run):
        values = [1.0]
        f = run.compile(lambda x: x * values.__sizeof__())
        run.repeat(f, x0)
        values.extend(range(100))
        del values[1:]
        run.repeat(f, x0)

    def annotations_by_a_library(run):
        def h(a: int):
            return a

        f = run.compile(lambda x: x * len(typing.get_type_hints(h)))
        run.repeat(f, x0, n=6, at={3: lambda: h.__annotations__.__setitem__("b", int)})

    def patched_abstract_class(run):
        class Table(collections.abc.Mapping):
            def __getitem__(self, key):
                return 2.0

            def __iter__(self):
                return iter(())

            def __len__(self):
                return 0

        table = Table()
        f = run.compile(lambda x: x * table.get("a"))
        before = collections.abc.Mapping.get
        try:
            run.repeat(f, x0)
            collections.abc.Mapping.get = lambda self, key: 3.0
            run.repeat(f, x0)
        finally:
            collections.abc.Mapping.get = before

    def patched_enum_class(run):
        class Color(enum.Enum):
            RED = 1

        red = Color.RED
        f = run.compile(lambda x: x * len(repr(red)))
        before = enum.Enum.__repr__
        try:
            run.repeat(f, x0, n=6, at={3: lambda: setattr(enum.Enum, "__repr__", lambda self: "ab")})
        finally:
            enum.Enum.__repr__ = before

    def attribute_put_on_an_abstract_class(run):
        class C(abc.ABC):
            pass

        c = C()
        with patched(abc.ABC, "factors", [2.0]):
            f = run.compile(lambda x: x * c.factors[0])
            run.repeat(f, x0, n=6, at={3: lambda: abc.ABC.factors.__setitem__(0, 3.0)})

    def class_that_claims_to_be_in_enum(run):
        class C:
            __module__ = "enum"
            factors = [2.0]  # noqa: RUF012

        c = C()
        f = run.compile(lambda x: x * c.factors[0])
        run.repeat(f, x0, n=9, at={3: lambda: C.factors.__setitem__(0, 3.0), 6: lambda: setattr(C, "factors", [4.0])})

    def class_that_claims_to_be_ours(run):
        class C:
            __module__ = "lucid.mine"
            factors = [2.0]  # noqa: RUF012

        c = C()
        f = run.compile(lambda x: x * c.factors[0])
        run.repeat(f, x0, n=9, at={3: lambda: C.factors.__setitem__(0, 3.0), 6: lambda: setattr(C, "factors", [4.0])})

    def class_made_by_the_call(run):
        def g(x):
            class C(Exception):
                pass

            return C("a")

        f = run.compile(g)
        results = [f(x0()) for _ in range(4)]
        run.see(len({type(result) for result in results}))

    def class_made_by_calling_type(run):
        def g(x):
            cls = type("C", (_Plain,), {})
            result = cls()
            result.x = x * 2
            return result

        f = run.compile(g)
        results = [f(x0()) for _ in range(4)]
        run.see(len({type(result) for result in results}))

    def subclass_made_by_the_call(run):
        def g(x):
            class C(_Root):
                pass

            return x * 2

        gc.disable()
        f = run.compile(g)
        counts = []
        for _ in range(4):
            f(x0())
            counts.append(len(_Root.__subclasses__()))
        gc.enable()
        run.see(counts[-1] - counts[0])

    def class_named_like_one_of_numpy(run):
        class _ArrayFunctionDispatcher:
            pass

        c = _ArrayFunctionDispatcher()
        c.k = 2.0
        run.repeat(run.compile(lambda x: x * c.k), x0, n=6, at={3: lambda: setattr(c, "k", 3.0)})

    def subclass_of_a_numpy_scalar(run):
        class Scalar(np.float64):
            pass

        s = Scalar(1.0)
        s.k = 2.0
        run.repeat(run.compile(lambda x: x * s.k), x0, n=6, at={3: lambda: setattr(s, "k", 3.0)})

    def names_of_a_numpy_dtype(run):
        dtype = np.dtype([("a", "f4")])
        f = run.compile(lambda x: x * len(dtype.names[0]))
        run.repeat(f, x0, n=6, at={3: lambda: setattr(dtype, "names", ("abc",))})

    def flags_of_a_numpy_array(run):
        a = np.array([1.0])
        f = run.compile(lambda x: x * (2 if a.flags.writeable else 3))
        run.repeat(f, x0, n=6, at={3: lambda: a.setflags(write=False)})

    def write_to_a_numpy_array_that_is_read_only(run):
        a = np.array([1.0])

        def g(x):
            a[0] = 1.0
            return x * 2

        run.repeat(run.compile(g), x0, n=6, at={3: lambda: a.setflags(write=False)})

    def numpy_print_options(run):
        a = np.array([1.23456789])
        f = run.compile(lambda x: x * len(str(a)))
        before = np.get_printoptions()
        try:
            run.repeat(f, x0, n=6, at={3: lambda: np.set_printoptions(precision=2)})
            with np.printoptions(precision=3):
                run.repeat(f, x0)
        finally:
            np.set_printoptions(**before)

    def numpy_clock(run):
        f = run.compile(lambda x: str(np.datetime64("now", "ns")))
        a, b = str(np.datetime64("now", "s")), f(x0())
        f(x0())
        run.see(a[:4] == b[:4])
        time.sleep(1.1)
        run.see(f(x0()) == b)

    def numpy_time_zone(run):
        day = np.datetime64("2000-01-01T00:00")
        f = run.compile(lambda x: x * int(np.datetime_as_string(day, timezone="local")[11:13]))
        with time_zone("UTC"):
            run.repeat(f, x0, n=6, at={3: lambda: set_zone("EST5")})

    def numpy_warnings_that_become_errors(run):
        a, z = np.array([1.0]), np.array([0.0])
        f = run.compile(lambda x: x + float((a / z)[0] > 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.repeat(f, x0, n=6, at={3: lambda: warnings.simplefilter("error")})

    def patched_numpy_internals(run):
        a = np.array([[1.0, 2.0], [3.0, 4.0]])
        module = __import__(np.linalg.cond.__module__ and "numpy.linalg._linalg", fromlist=["x"])
        f = run.compile(lambda x: x * float(np.linalg.cond(a, 1)))
        before = module.inv
        try:
            run.repeat(f, x0, n=6, at={3: lambda: setattr(module, "inv", lambda a: a)})
        finally:
            module.inv = before
