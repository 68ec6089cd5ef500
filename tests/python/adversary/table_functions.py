"""Holes that were found in the table of guarded types and pure functions: state that an entry did not compare, and C
functions that were called unseen."""

import abc
import collections
import collections.abc
import enum
import gc
import os
import time
import typing
import warnings

import numpy as np

from ._harness import prog, x0


def _repeat(run, f, *args, times=3):
    for _ in range(times):
        run.call(f, x0(), *args)


def _set_zone(name):
    os.environ["TZ"] = name
    time.tzset()


class _Plain:
    pass


class _Root:
    pass


@prog
def repr_of_an_argument(run):
    a, b = _Plain(), _Plain()
    table = {repr(a): 2.0, repr(b): 3.0}
    f = run.compile(lambda x, o: x * table[repr(o)])
    for o in (a, a, a, b, b):
        run.call(f, x0(), o)


@prog
def text_of_an_argument(run):
    a, b = _Plain(), _Plain()
    table = {repr(a): 2.0, repr(b): 3.0}
    f = run.compile(lambda x, o: x * table[f"{o}"])
    for o in (a, a, a, b, b):
        run.call(f, x0(), o)


@prog
def str_of_an_argument(run):
    a, b = _Plain(), _Plain()
    table = {repr(a): 2.0, repr(b): 3.0}
    f = run.compile(lambda x, o: x * table[str(o)])
    for o in (a, a, a, b, b):
        run.call(f, x0(), o)


@prog
def percent_of_an_argument(run):
    a, b = _Plain(), _Plain()
    table = {repr(a): 2.0, repr(b): 3.0}
    f = run.compile(lambda x, o: x * table["%s" % o])  # noqa: UP031
    for o in (a, a, a, b, b):
        run.call(f, x0(), o)


@prog
def globals_of_a_function(run):
    space = {"K": 2.0}
    exec("def h(): pass", space)
    h = space["h"]
    f = run.compile(lambda x: x * h.__globals__["K"])
    _repeat(run, f)
    space["K"] = 3.0
    _repeat(run, f)


@prog
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
    _repeat(run, f)
    factor_of_the_caller = 3.0  # noqa: F841
    _repeat(run, f)


@prog
def size_of_a_list(run):
    values = [1.0]
    f = run.compile(lambda x: x * values.__sizeof__())
    _repeat(run, f)
    values.extend(range(100))
    del values[1:]
    _repeat(run, f)


@prog
def annotations_by_a_library(run):
    def h(a: int):
        return a

    f = run.compile(lambda x: x * len(typing.get_type_hints(h)))
    _repeat(run, f)
    h.__annotations__["b"] = int
    _repeat(run, f)


@prog
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
        _repeat(run, f)
        collections.abc.Mapping.get = lambda self, key: 3.0
        _repeat(run, f)
    finally:
        collections.abc.Mapping.get = before


@prog
def patched_enum_class(run):
    class Color(enum.Enum):
        RED = 1

    red = Color.RED
    f = run.compile(lambda x: x * len(repr(red)))
    before = enum.Enum.__repr__
    try:
        _repeat(run, f)
        enum.Enum.__repr__ = lambda self: "ab"
        _repeat(run, f)
    finally:
        enum.Enum.__repr__ = before


@prog
def attribute_put_on_an_abstract_class(run):
    class C(abc.ABC):
        pass

    c = C()
    abc.ABC.factors = [2.0]
    try:
        f = run.compile(lambda x: x * c.factors[0])
        _repeat(run, f)
        abc.ABC.factors[0] = 3.0
        _repeat(run, f)
    finally:
        del abc.ABC.factors


@prog
def class_that_claims_to_be_in_enum(run):
    class C:
        __module__ = "enum"
        factors = [2.0]  # noqa: RUF012

    c = C()
    f = run.compile(lambda x: x * c.factors[0])
    _repeat(run, f)
    C.factors[0] = 3.0
    _repeat(run, f)
    C.factors = [4.0]
    _repeat(run, f)


@prog
def class_that_claims_to_be_ours(run):
    class C:
        __module__ = "lucid.mine"
        factors = [2.0]  # noqa: RUF012

    c = C()
    f = run.compile(lambda x: x * c.factors[0])
    _repeat(run, f)
    C.factors[0] = 3.0
    _repeat(run, f)
    C.factors = [4.0]
    _repeat(run, f)


@prog
def class_made_by_the_call(run):
    def g(x):
        class C(Exception):
            pass

        return C("a")

    f = run.compile(g)
    results = [f(x0()) for _ in range(4)]
    run.see(len({type(result) for result in results}))


@prog
def class_made_by_calling_type(run):
    def g(x):
        cls = type("C", (_Plain,), {})
        result = cls()
        result.x = x * 2
        return result

    f = run.compile(g)
    results = [f(x0()) for _ in range(4)]
    run.see(len({type(result) for result in results}))


@prog
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


@prog
def class_named_like_one_of_numpy(run):
    class _ArrayFunctionDispatcher:
        pass

    c = _ArrayFunctionDispatcher()
    c.k = 2.0
    f = run.compile(lambda x: x * c.k)
    _repeat(run, f)
    c.k = 3.0
    _repeat(run, f)


@prog
def subclass_of_a_numpy_scalar(run):
    class Scalar(np.float64):
        pass

    s = Scalar(1.0)
    s.k = 2.0
    f = run.compile(lambda x: x * s.k)
    _repeat(run, f)
    s.k = 3.0
    _repeat(run, f)


@prog
def names_of_a_numpy_dtype(run):
    dtype = np.dtype([("a", "f4")])
    f = run.compile(lambda x: x * len(dtype.names[0]))
    _repeat(run, f)
    dtype.names = ("abc",)
    _repeat(run, f)


@prog
def flags_of_a_numpy_array(run):
    a = np.array([1.0])
    f = run.compile(lambda x: x * (2 if a.flags.writeable else 3))
    _repeat(run, f)
    a.setflags(write=False)
    _repeat(run, f)


@prog
def write_to_a_numpy_array_that_is_read_only(run):
    a = np.array([1.0])

    def g(x):
        a[0] = 1.0
        return x * 2

    f = run.compile(g)
    _repeat(run, f)
    a.setflags(write=False)
    _repeat(run, f)


@prog
def numpy_print_options(run):
    a = np.array([1.23456789])
    f = run.compile(lambda x: x * len(str(a)))
    before = np.get_printoptions()
    try:
        _repeat(run, f)
        np.set_printoptions(precision=2)
        _repeat(run, f)
        with np.printoptions(precision=3):
            _repeat(run, f)
    finally:
        np.set_printoptions(**before)


@prog
def numpy_clock(run):
    f = run.compile(lambda x: str(np.datetime64("now", "ns")))
    a, b = str(np.datetime64("now", "s")), f(x0())
    f(x0())
    run.see(a[:4] == b[:4])
    time.sleep(1.1)
    run.see(f(x0()) == b)


@prog
def numpy_time_zone(run):
    day = np.datetime64("2000-01-01T00:00")
    f = run.compile(lambda x: x * int(np.datetime_as_string(day, timezone="local")[11:13]))
    try:
        _set_zone("UTC")
        _repeat(run, f)
        _set_zone("EST5")
        _repeat(run, f)
    finally:
        del os.environ["TZ"]
        time.tzset()


@prog
def numpy_warnings_that_become_errors(run):
    a, z = np.array([1.0]), np.array([0.0])
    f = run.compile(lambda x: x + float((a / z)[0] > 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _repeat(run, f)
        warnings.simplefilter("error")
        _repeat(run, f)


@prog
def patched_numpy_internals(run):
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    module = __import__(np.linalg.cond.__module__ and "numpy.linalg._linalg", fromlist=["x"])
    f = run.compile(lambda x: x * float(np.linalg.cond(a, 1)))
    before = module.inv
    try:
        _repeat(run, f)
        module.inv = lambda a: a
        _repeat(run, f)
    finally:
        module.inv = before
