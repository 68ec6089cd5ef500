"""Holes that were found in the table of guarded types and pure functions: state that an entry did not compare, and C
functions that were called unseen."""

import datetime
import functools
import operator
import os
import random
import time
import types
import typing

import lucid
from lucid import nn

from ._harness import prog, x0


def _repeat(run, f, *args, times=3):
    for _ in range(times):
        run.call(f, x0(), *args)


def _set_zone(name):
    os.environ["TZ"] = name
    time.tzset()


class _Zone(datetime.tzinfo):
    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, when):
        return datetime.timedelta(hours=self.hours)

    def dst(self, when):
        return None


class _Plain:
    pass


@prog
def method_caller_on_a_module(run):
    random.seed(3)
    f = run.compile(lambda x: x * operator.methodcaller("random")(random))
    _repeat(run, f, times=4)


@prog
def kept_method_caller_on_a_module(run):
    random.seed(3)
    draw = operator.methodcaller("random")
    f = run.compile(lambda x: x * draw(random))
    _repeat(run, f, times=4)


@prog
def method_caller_of_a_clock(run):
    today = operator.methodcaller("now")
    f = run.compile(lambda x: today(datetime.datetime).microsecond)
    seen = {f(x0()) for _ in range(20)}
    run.see(len(seen) > 1)


@prog
def clock_got_by_name(run):
    f = run.compile(lambda x: next(iter(getattr(datetime.datetime, "now"), None)).microsecond)
    seen = {f(x0()) for _ in range(20)}
    run.see(len(seen) > 1)


@prog
def function_of_a_module_got_by_name(run):
    name = "".join(["perf", "_counter"])
    f = run.compile(lambda x: next(iter(getattr(time, name), None)))
    seen = {f(x0()) for _ in range(20)}
    run.see(len(seen) > 1)


@prog
def function_of_an_imported_module_got_by_name(run):
    name = "".join(["perf", "_counter"])

    def g(x):
        import time as clock

        return next(iter(getattr(clock, name), None))

    f = run.compile(g)
    seen = {f(x0()) for _ in range(20)}
    run.see(len(seen) > 1)


@prog
def subclasses_by_descriptor(run):
    class Base:
        pass

    class A(Base):
        pass

    f = run.compile(lambda x: x * len(next(map(type.__subclasses__, [Base]))))
    _repeat(run, f)

    class B(Base):
        pass

    run.call(f, x0())


@prog
def subclasses_by_method_caller(run):
    class Base:
        pass

    class A(Base):
        pass

    f = run.compile(lambda x: x * len(operator.methodcaller("__subclasses__")(Base)))
    _repeat(run, f)

    class B(Base):
        pass

    run.call(f, x0())


@prog
def time_zone_by_a_passed_method(run):
    day = datetime.datetime(2000, 1, 1)
    f = run.compile(lambda x: x * (next(iter(day.timestamp, None)) / 3600 - 262000))
    try:
        _set_zone("UTC")
        _repeat(run, f)
        _set_zone("EST5")
        _repeat(run, f)
    finally:
        del os.environ["TZ"]
        time.tzset()


@prog
def time_zone_by_a_descriptor(run):
    day = datetime.datetime(2000, 1, 1)
    f = run.compile(lambda x: x * (next(map(datetime.datetime.timestamp, [day])) / 3600 - 262000))
    try:
        _set_zone("UTC")
        _repeat(run, f)
        _set_zone("EST5")
        _repeat(run, f)
    finally:
        del os.environ["TZ"]
        time.tzset()


@prog
def time_zone_by_a_kept_method(run):
    stamp = datetime.datetime(2000, 1, 1).timestamp
    f = run.compile(lambda x: x * (next(iter(stamp, None)) / 3600 - 262000))
    try:
        _set_zone("UTC")
        _repeat(run, f)
        _set_zone("EST5")
        _repeat(run, f)
    finally:
        del os.environ["TZ"]
        time.tzset()


@prog
def partial_set_state(run):
    two, three = (lambda x: x * 2), (lambda x: x * 3)
    g = functools.partial(two)
    f = run.compile(lambda x: g(x))
    _repeat(run, f)
    g.__setstate__((three, (), {}, {}))
    _repeat(run, f)


@prog
def static_method_initialized_again(run):
    class C:
        g = staticmethod(lambda x: x * 2)

    f = run.compile(lambda x: C.g(x))
    _repeat(run, f)
    staticmethod.__init__(vars(C)["g"], lambda x: x * 3)
    _repeat(run, f)


@prog
def class_method_initialized_again(run):
    class C:
        g = classmethod(lambda cls, x: x * 2)

    f = run.compile(lambda x: C.g(x))
    _repeat(run, f)
    classmethod.__init__(vars(C)["g"], lambda cls, x: x * 3)
    _repeat(run, f)


@prog
def property_initialized_again(run):
    class C:
        p = property(lambda self: 2.0)

    c = C()
    f = run.compile(lambda x: x * c.p)
    _repeat(run, f)
    property.__init__(vars(C)["p"], lambda self: 3.0)
    _repeat(run, f)


@prog
def memory_view_object(run):
    data = bytearray(b"abcdef")
    view = memoryview(data)[:2]
    f = run.compile(lambda x: x * view.obj[5])
    _repeat(run, f)
    data[5] = 7
    _repeat(run, f)


@prog
def zone_of_a_date(run):
    when = datetime.datetime(2000, 1, 1, tzinfo=_Zone(2))
    f = run.compile(lambda x: x * (when.utcoffset().seconds // 3600))
    _repeat(run, f)
    when.tzinfo.hours = 3
    _repeat(run, f)


@prog
def zone_of_a_time(run):
    when = datetime.time(1, tzinfo=_Zone(2))
    f = run.compile(lambda x: x * (when.utcoffset().seconds // 3600))
    _repeat(run, f)
    when.tzinfo.hours = 3
    _repeat(run, f)


@prog
def zone_by_comparing(run):
    a = datetime.datetime(2000, 1, 1, tzinfo=_Zone(2))
    b = datetime.datetime(2000, 1, 1, tzinfo=_Zone(3))
    f = run.compile(lambda x: x * 2 if a < b else x * 3)
    _repeat(run, f)
    b.tzinfo.hours = 1
    _repeat(run, f)


@prog
def class_in_a_generic_alias(run):
    class C:
        scale = 2.0

    alias = list[C]
    f = run.compile(lambda x: x * alias.__args__[0].scale)
    _repeat(run, f)
    C.scale = 3.0
    _repeat(run, f)


@prog
def class_in_a_union(run):
    class C:
        scale = 2.0

    union = C | int
    f = run.compile(lambda x: x * union.__args__[0].scale)
    _repeat(run, f)
    C.scale = 3.0
    _repeat(run, f)


@prog
def class_called_through_an_alias(run):
    class C:
        __class_getitem__ = classmethod(types.GenericAlias)
        scale = 2.0

        def __init__(self):
            self.k = type(self).scale

    alias = C[int]
    f = run.compile(lambda x: x * alias().k)
    _repeat(run, f)
    C.scale = 3.0
    _repeat(run, f)


@prog
def class_in_a_typing_alias(run):
    class C:
        scale = 2.0

    alias = typing.List[C]  # noqa: UP006
    f = run.compile(lambda x: x * alias.__args__[0].scale)
    _repeat(run, f)
    C.scale = 3.0
    _repeat(run, f)


@prog
def attributes_by_a_kept_descriptor(run):
    class C:
        pass

    c = C()
    c.k = 2.0
    attributes = vars(C)["__dict__"]
    f = run.compile(lambda x: x * attributes.__get__(c)["k"])
    _repeat(run, f)
    c.k = 3.0
    _repeat(run, f)


@prog
def epoch_of_a_scheduler(run):
    w = nn.Parameter(lucid.ones(3))
    opt = lucid.optim.SGD([w], lr=0.1)
    schedule = lucid.optim.lr_scheduler.StepLR(opt, 1)
    f = run.compile(lambda x: x * (schedule.last_epoch + 2))
    _repeat(run, f)
    opt.step()
    schedule.step()
    _repeat(run, f)


@prog
def rate_of_a_scheduler(run):
    w = nn.Parameter(lucid.ones(3))
    opt = lucid.optim.SGD([w], lr=0.1)
    schedule = lucid.optim.lr_scheduler.StepLR(opt, 1)
    f = run.compile(lambda x: x * schedule.get_last_lr()[0])
    _repeat(run, f)
    opt.step()
    schedule.step()
    _repeat(run, f)


@prog
def attribute_of_a_scheduler(run):
    w = nn.Parameter(lucid.ones(3))
    opt = lucid.optim.SGD([w], lr=0.1)
    schedule = lucid.optim.lr_scheduler.StepLR(opt, 1)
    schedule.mine = [2.0]
    f = run.compile(lambda x: x * schedule.mine[0])
    _repeat(run, f)
    schedule.mine[0] = 3.0
    _repeat(run, f)


@prog
def attribute_put_on_a_layer_class(run):
    layer = nn.Linear(3, 3)
    nn.Linear.factors = [2.0]
    try:
        f = run.compile(lambda x: x * layer.factors[0])
        _repeat(run, f)
        nn.Linear.factors[0] = 3.0
        _repeat(run, f)
    finally:
        del nn.Linear.factors


@prog
def method_put_on_a_layer_class(run):
    layer = nn.Linear(3, 3)
    k = [2.0]
    nn.Linear.scaled = lambda self, x: x * k[0]
    try:
        f = run.compile(lambda x: layer.scaled(x))
        _repeat(run, f)
        k[0] = 3.0
        _repeat(run, f)
    finally:
        del nn.Linear.scaled


@prog
def hash_of_an_argument(run):
    a, b = _Plain(), _Plain()
    table = {hash(a): 2.0, hash(b): 3.0}
    f = run.compile(lambda x, o: x * table[hash(o)])
    for o in (a, a, a, b, b):
        run.call(f, x0(), o)
