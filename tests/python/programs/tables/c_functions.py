"""Holes found in the tables: locales, codecs, C functions that call back, iterators and locks."""

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

from .._harness import Programs, repeat, x0


class _Plain:
    pass


random_module = types.ModuleType("random_module")


random_module.__file__ = os.__file__


random_module._time = time


class CFunctions(Programs):
    version_of_python = repeat(lambda x: x * sys.version_info[0] if sys.version_info >= (3, 8) else x, x0)

    def locale_in_a_date(run):
        day = datetime.date(2000, 1, 1)
        run.repeat(run.compile(lambda x: x * len(day.strftime("%x"))), x0)

    def codec_error_handler(run):
        codecs.register_error("table_entries", lambda error: ("?", error.end))
        f = run.compile(lambda x: x * len("aé".encode("ascii", "table_entries")))
        run.repeat(f, x0)
        codecs.register_error("table_entries", lambda error: ("???", error.end))
        run.repeat(f, x0)

    def codec_error_handler_by_type(run):
        codecs.register_error("table_entries", lambda error: ("?", error.end))
        f = run.compile(lambda x: x * len(bytes("aé", "ascii", "table_entries")))
        run.repeat(f, x0)
        codecs.register_error("table_entries", lambda error: ("???", error.end))
        run.repeat(f, x0)

    def memory_of_a_tensor(run):
        w = lucid.ones(3)

        f = run.compile(lambda x: x * len(bytes(memoryview(w)).replace(b"\0", b"")))
        run.repeat(f, x0, n=6, at={3: lambda: w.add_(0.3)})

    def memory_of_a_tensor_as_an_array(run):
        w = lucid.ones(3)
        run.repeat(run.compile(lambda x: x * float(np.asarray(w)[0])), x0, n=6, at={3: lambda: w.add_(1)})

    def packed_into_an_array(run):
        data = bytearray(8)
        f = run.compile(lambda x: struct.pack_into("f", data, 0, 2.0) or x * 2)
        run.repeat(f, x0, n=6, at={3: lambda: data.__setitem__(0, 9)})
        run.see(bytes(data))

    def local_number_format(run):
        f = run.compile(lambda x: x * len(f"{1234567:n}"))
        before = locale.setlocale(locale.LC_NUMERIC)
        try:
            run.repeat(f, x0)
            for name in ("de_DE.UTF-8", "en_US.UTF-8"):
                try:
                    locale.setlocale(locale.LC_NUMERIC, name)
                except locale.Error:
                    continue
            run.repeat(f, x0)
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)

    def function_of_ours_got_by_name(run):
        name = "".join(["manual", "_seed"])

        def g(x):
            getattr(lucid, name)(7)
            return x * 2

        run.repeat(run.compile(g), x0, before=lambda _: lucid.manual_seed(3), see=lambda: (lucid.rand(2),))

    def ufunc_of_a_c_function(run):
        random.seed(3)
        draw = np.frompyfunc(random.random.__self__.random, 0, 1)
        run.repeat(run.compile(lambda x: x * float(draw())), x0, n=4)

    def helper_of_numpy_replaced(run):
        a = np.array([1.0, 2.0])
        module = np.mean.__globals__["_methods"] if hasattr(np.mean, "__globals__") else np._core._methods
        f = run.compile(lambda x: x * float(np.mean(a)))
        before = module._mean
        try:
            run.repeat(f, x0, n=6, at={3: lambda: setattr(module, "_mean", lambda *args, **kwargs: 7.0)})
        finally:
            module._mean = before

    def numpy_clock_as_an_array(run):
        f = run.compile(lambda x: str(np.array("now", dtype="M8[ns]")))
        f(x0())
        b = f(x0())
        time.sleep(1.1)
        run.see(f(x0()) == b)

    def maximum_length_of_a_deque(run):
        d = collections.deque([1.0], 3)
        run.repeat(run.compile(lambda x: x * d.maxlen), x0, n=6, at={3: lambda: d.__init__([1.0], 5)})

    def documentation_of_a_property(run):
        class C:
            p = property(lambda self: 2.0, doc="a")

        run.repeat(run.compile(lambda x: x * len(C.p.__doc__)), x0, n=6, at={3: lambda: setattr(C.p, "__doc__", "abc")})

    def getter_of_an_enum_member(run):
        class Color(enum.Enum):
            RED = 1

        f = run.compile(lambda x: x * len(Color["RED"].name) * Color(1).value)
        run.repeat(f, x0, n=6, at={3: lambda: setattr(Color.RED, "_value_", 5)})

    def registered_with_an_abstract_class(run):
        class C:
            pass

        c = C()
        f = run.compile(lambda x: x * 2 if isinstance(c, collections.abc.Sized) else x * 3)
        run.repeat(f, x0, n=6, at={3: lambda: collections.abc.Sized.register(C)})

    def patched_metaclass_of_abstract_classes(run):
        class Base(abc.ABC):
            pass

        c = _Plain()
        f = run.compile(lambda x: x * 2 if isinstance(c, Base) else x * 3)
        before = abc.ABCMeta.__instancecheck__
        try:
            run.repeat(f, x0)
            abc.ABCMeta.__instancecheck__ = lambda cls, value: True
            run.repeat(f, x0)
        finally:
            abc.ABCMeta.__instancecheck__ = before

    def patched_cached_property(run):
        class C:
            @functools.cached_property
            def p(self):
                return 2.0

        f = run.compile(lambda x: x * C().p)
        before = functools.cached_property.__get__
        try:
            run.repeat(f, x0)
            functools.cached_property.__get__ = lambda self, instance, owner=None: 3.0
            run.repeat(f, x0)
        finally:
            functools.cached_property.__get__ = before

    def named_tuple_class_made_by_the_call(run):
        f = run.compile(lambda x: collections.namedtuple("Pair", "a b")(x * 2, x * 3))
        results = [f(x0()) for _ in range(4)]
        run.see(len({type(result) for result in results}))

    def converted_by_a_c_function(run):
        random.seed(3)
        draw = random.random
        f = run.compile(lambda x: x * functools.reduce(lambda a, b: a + next(iter(draw, None)), [0.0, 1.0]))
        run.repeat(f, x0, n=4)

    def sort_key_in_c(run):
        random.seed(3)
        f = run.compile(lambda x: x * sorted([[1.0], [2.0], [3.0]], key=lambda v: 0)[0][0])
        run.repeat(f, x0, n=2)
        values = [[1.0], [2.0], [3.0]]
        f = run.compile(lambda x: x * values.pop()[0] if values else x)
        run.repeat(f, x0, n=4)

    def iterator_made_before(run):
        it = iter([1.0, 2.0, 3.0, 4.0, 5.0])
        run.repeat(run.compile(lambda x: x * next(it)), x0, n=4)

    def iterator_in_a_partial(run):
        draw = functools.partial(next, iter([1.0, 2.0, 3.0, 4.0, 5.0]))
        run.repeat(run.compile(lambda x: x * draw()), x0, n=4)

    def limits_of_a_dtype_changed(run):
        limits = lucid.finfo(lucid.float32)
        run.repeat(run.compile(lambda x: x * limits.bits), x0, n=6, at={3: lambda: setattr(limits, "bits", 7)})

    def date_formatted_by_locale(run):
        day = datetime.date(2000, 1, 1)
        run.repeat(run.compile(lambda x: x * len(f"{day:%x}")), x0)

    def function_of_a_nested_module_got_by_name(run):
        names = ["_time", "perf_counter"]
        f = run.compile(lambda x: next(iter(getattr(getattr(random_module, names[0]), names[1]), None)))
        seen = {f(x0()) for _ in range(20)}
        run.see(len(seen) > 1)

    def function_of_functional_got_by_name(run):
        act = "relu"
        f = run.compile(lambda x: getattr(nn.functional, act)(x - 2))
        run.repeat(f, x0)
        act = "gelu"
        run.repeat(f, x0)

    def clock_among_the_arguments(run):
        f = run.compile(lambda x, clock: next(iter(clock, None)))
        seen = {f(x0(), time.perf_counter) for _ in range(20)}
        run.see(len(seen) > 1)

    def clock_in_a_local_variable(run):
        def g(x, clocks):
            clock = clocks[0]
            return next(iter(clock, None))

        f = run.compile(g)
        seen = {f(x0(), [time.perf_counter]) for _ in range(20)}
        run.see(len(seen) > 1)

    def vectorized_c_function(run):
        folder = tempfile.mkdtemp()
        exists = np.vectorize(os.access)
        f = run.compile(lambda x: x * 2 if exists(folder, 0) else x * 3)
        run.repeat(f, x0, n=6, at={3: lambda: os.rmdir(folder)})

    def lock_of_a_semaphore(run):
        semaphore = threading.Semaphore(2)

        def g(x):
            with semaphore:
                return x * 2

        run.repeat(run.compile(g), x0, n=6, at={3: lambda: semaphore.acquire()})
        run.see(semaphore.acquire(blocking=False))

    def lock_of_the_user(run):
        lock = threading.Lock()

        def g(x):
            with lock:
                return x * 2

        run.repeat(run.compile(g), x0)
        run.repeat(run.compile(lambda x: x * 2 if lock.acquire(blocking=False) else x * 3), x0)
