"""Holes that were found in the table of guarded types and pure functions: state that an entry did not compare, and C
functions that were called unseen."""

import abc
import codecs
import collections
import collections.abc
import datetime
import enum
import functools
import locale
import os
import random
import struct
import sys
import tempfile
import threading
import time
import types

import lucid
import numpy as np
from lucid import nn

from ._harness import prog, x0


def _repeat(run, f, *args, times=3):
    for _ in range(times):
        run.call(f, x0(), *args)


class _Plain:
    pass


random_module = types.ModuleType("random_module")


random_module.__file__ = os.__file__


random_module._time = time


@prog
def locale_in_a_date(run):
    day = datetime.date(2000, 1, 1)
    f = run.compile(lambda x: x * len(day.strftime("%x")))
    _repeat(run, f)


@prog
def codec_error_handler(run):
    codecs.register_error("table_entries", lambda error: ("?", error.end))
    f = run.compile(lambda x: x * len("aé".encode("ascii", "table_entries")))
    _repeat(run, f)
    codecs.register_error("table_entries", lambda error: ("???", error.end))
    _repeat(run, f)


@prog
def codec_error_handler_by_type(run):
    codecs.register_error("table_entries", lambda error: ("?", error.end))
    f = run.compile(lambda x: x * len(bytes("aé", "ascii", "table_entries")))
    _repeat(run, f)
    codecs.register_error("table_entries", lambda error: ("???", error.end))
    _repeat(run, f)


@prog
def memory_of_a_tensor(run):
    w = lucid.ones(3)

    def g(x):
        return x * len(bytes(memoryview(w)).replace(b"\0", b""))

    f = run.compile(g)
    _repeat(run, f)
    w.add_(0.3)
    _repeat(run, f)


@prog
def memory_of_a_tensor_as_an_array(run):
    w = lucid.ones(3)
    f = run.compile(lambda x: x * float(np.asarray(w)[0]))
    _repeat(run, f)
    w.add_(1)
    _repeat(run, f)


@prog
def packed_into_an_array(run):
    data = bytearray(8)
    f = run.compile(lambda x: struct.pack_into("f", data, 0, 2.0) or x * 2)
    _repeat(run, f)
    data[0] = 9
    _repeat(run, f)
    run.see(bytes(data))


@prog
def local_number_format(run):
    f = run.compile(lambda x: x * len(f"{1234567:n}"))
    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        _repeat(run, f)
        for name in ("de_DE.UTF-8", "en_US.UTF-8"):
            try:
                locale.setlocale(locale.LC_NUMERIC, name)
            except locale.Error:
                continue
        _repeat(run, f)
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


@prog
def function_of_ours_got_by_name(run):
    name = "".join(["manual", "_seed"])

    def g(x):
        getattr(lucid, name)(7)
        return x * 2

    f = run.compile(g)
    for _ in range(3):
        lucid.manual_seed(3)
        run.call(f, x0())
        run.see(lucid.rand(2))


@prog
def ufunc_of_a_c_function(run):
    random.seed(3)
    draw = np.frompyfunc(random.random.__self__.random, 0, 1)
    f = run.compile(lambda x: x * float(draw()))
    _repeat(run, f, times=4)


@prog
def helper_of_numpy_replaced(run):
    a = np.array([1.0, 2.0])
    module = np.mean.__globals__["_methods"] if hasattr(np.mean, "__globals__") else np._core._methods
    f = run.compile(lambda x: x * float(np.mean(a)))
    before = module._mean
    try:
        _repeat(run, f)
        module._mean = lambda *args, **kwargs: 7.0
        _repeat(run, f)
    finally:
        module._mean = before


@prog
def numpy_clock_as_an_array(run):
    f = run.compile(lambda x: str(np.array("now", dtype="M8[ns]")))
    f(x0())
    b = f(x0())
    time.sleep(1.1)
    run.see(f(x0()) == b)


@prog
def maximum_length_of_a_deque(run):
    d = collections.deque([1.0], 3)
    f = run.compile(lambda x: x * d.maxlen)
    _repeat(run, f)
    d.__init__([1.0], 5)
    _repeat(run, f)


@prog
def documentation_of_a_property(run):
    class C:
        p = property(lambda self: 2.0, doc="a")

    f = run.compile(lambda x: x * len(C.p.__doc__))
    _repeat(run, f)
    C.p.__doc__ = "abc"
    _repeat(run, f)


@prog
def getter_of_an_enum_member(run):
    class Color(enum.Enum):
        RED = 1

    f = run.compile(lambda x: x * len(Color["RED"].name) * Color(1).value)
    _repeat(run, f)
    Color.RED._value_ = 5
    _repeat(run, f)


@prog
def registered_with_an_abstract_class(run):
    class C:
        pass

    c = C()
    f = run.compile(lambda x: x * 2 if isinstance(c, collections.abc.Sized) else x * 3)
    _repeat(run, f)
    collections.abc.Sized.register(C)
    _repeat(run, f)


@prog
def patched_metaclass_of_abstract_classes(run):
    class Base(abc.ABC):
        pass

    c = _Plain()
    f = run.compile(lambda x: x * 2 if isinstance(c, Base) else x * 3)
    before = abc.ABCMeta.__instancecheck__
    try:
        _repeat(run, f)
        abc.ABCMeta.__instancecheck__ = lambda cls, value: True
        _repeat(run, f)
    finally:
        abc.ABCMeta.__instancecheck__ = before


@prog
def patched_cached_property(run):
    class C:
        @functools.cached_property
        def p(self):
            return 2.0

    f = run.compile(lambda x: x * C().p)
    before = functools.cached_property.__get__
    try:
        _repeat(run, f)
        functools.cached_property.__get__ = lambda self, instance, owner=None: 3.0
        _repeat(run, f)
    finally:
        functools.cached_property.__get__ = before


@prog
def named_tuple_class_made_by_the_call(run):
    def g(x):
        return collections.namedtuple("Pair", "a b")(x * 2, x * 3)

    f = run.compile(g)
    results = [f(x0()) for _ in range(4)]
    run.see(len({type(result) for result in results}))


@prog
def converted_by_a_c_function(run):
    random.seed(3)
    draw = random.random
    f = run.compile(lambda x: x * functools.reduce(lambda a, b: a + next(iter(draw, None)), [0.0, 1.0]))
    _repeat(run, f, times=4)


@prog
def sort_key_in_c(run):
    random.seed(3)
    f = run.compile(lambda x: x * sorted([[1.0], [2.0], [3.0]], key=lambda v: 0)[0][0])
    _repeat(run, f, times=2)
    values = [[1.0], [2.0], [3.0]]
    f = run.compile(lambda x: x * values.pop()[0] if values else x)
    _repeat(run, f, times=4)


@prog
def iterator_made_before(run):
    it = iter([1.0, 2.0, 3.0, 4.0, 5.0])
    f = run.compile(lambda x: x * next(it))
    _repeat(run, f, times=4)


@prog
def iterator_in_a_partial(run):
    draw = functools.partial(next, iter([1.0, 2.0, 3.0, 4.0, 5.0]))
    f = run.compile(lambda x: x * draw())
    _repeat(run, f, times=4)


@prog
def limits_of_a_dtype_changed(run):
    limits = lucid.finfo(lucid.float32)
    f = run.compile(lambda x: x * limits.bits)
    _repeat(run, f)
    limits.bits = 7
    _repeat(run, f)


@prog
def date_formatted_by_locale(run):
    day = datetime.date(2000, 1, 1)
    f = run.compile(lambda x: x * len(f"{day:%x}"))
    _repeat(run, f)


@prog
def function_of_a_nested_module_got_by_name(run):
    names = ["_time", "perf_counter"]
    f = run.compile(lambda x: next(iter(getattr(getattr(random_module, names[0]), names[1]), None)))
    seen = {f(x0()) for _ in range(20)}
    run.see(len(seen) > 1)


@prog
def function_of_functional_got_by_name(run):
    act = "relu"
    f = run.compile(lambda x: getattr(nn.functional, act)(x - 2))
    _repeat(run, f)
    act = "gelu"
    _repeat(run, f)


@prog
def clock_among_the_arguments(run):
    f = run.compile(lambda x, clock: next(iter(clock, None)))
    seen = {f(x0(), time.perf_counter) for _ in range(20)}
    run.see(len(seen) > 1)


@prog
def clock_in_a_local_variable(run):
    def g(x, clocks):
        clock = clocks[0]
        return next(iter(clock, None))

    f = run.compile(g)
    seen = {f(x0(), [time.perf_counter]) for _ in range(20)}
    run.see(len(seen) > 1)


@prog
def vectorized_c_function(run):
    folder = tempfile.mkdtemp()
    exists = np.vectorize(os.access)
    f = run.compile(lambda x: x * 2 if exists(folder, 0) else x * 3)
    _repeat(run, f)
    os.rmdir(folder)
    _repeat(run, f)


@prog
def version_of_python(run):
    f = run.compile(lambda x: x * sys.version_info[0] if sys.version_info >= (3, 8) else x)
    _repeat(run, f)


@prog
def lock_of_a_semaphore(run):
    semaphore = threading.Semaphore(2)

    def g(x):
        with semaphore:
            return x * 2

    f = run.compile(g)
    _repeat(run, f)
    semaphore.acquire()
    _repeat(run, f)
    run.see(semaphore.acquire(blocking=False))


@prog
def lock_of_the_user(run):
    lock = threading.Lock()

    def g(x):
        with lock:
            return x * 2

    def held(x):
        return x * 2 if lock.acquire(blocking=False) else x * 3

    f = run.compile(g)
    _repeat(run, f)
    h = run.compile(held)
    _repeat(run, h)
