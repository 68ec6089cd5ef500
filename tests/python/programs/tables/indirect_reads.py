"""Holes found in the tables: clocks, time zones, subclasses and schedules that are reached indirectly."""

import datetime
import functools
import operator
import random
import time
import types
import typing

import lucid
from lucid import nn

from .._harness import Programs, patched, set_zone, time_zone, x0


class _Zone(datetime.tzinfo):
    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, when):
        return datetime.timedelta(hours=self.hours)

    def dst(self, when):
        return None


class _Plain:
    pass


class IndirectReads(Programs):
    def method_caller_on_a_module(run):
        random.seed(3)
        run.repeat(run.compile(lambda x: x * operator.methodcaller("random")(random)), x0, n=4)

    def kept_method_caller_on_a_module(run):
        random.seed(3)
        draw = operator.methodcaller("random")
        run.repeat(run.compile(lambda x: x * draw(random)), x0, n=4)

    def method_caller_of_a_clock(run):
        today = operator.methodcaller("now")
        f = run.compile(lambda x: today(datetime.datetime).microsecond)
        seen = {f(x0()) for _ in range(20)}
        run.see(len(seen) > 1)

    def clock_got_by_name(run):
        f = run.compile(lambda x: next(iter(getattr(datetime.datetime, "now"), None)).microsecond)
        seen = {f(x0()) for _ in range(20)}
        run.see(len(seen) > 1)

    def function_of_a_module_got_by_name(run):
        name = "".join(["perf", "_counter"])
        f = run.compile(lambda x: next(iter(getattr(time, name), None)))
        seen = {f(x0()) for _ in range(20)}
        run.see(len(seen) > 1)

    def function_of_an_imported_module_got_by_name(run):
        name = "".join(["perf", "_counter"])

        def g(x):
            import time as clock

            return next(iter(getattr(clock, name), None))

        f = run.compile(g)
        seen = {f(x0()) for _ in range(20)}
        run.see(len(seen) > 1)

    def subclasses_by_descriptor(run):
        class Base:
            pass

        class A(Base):
            pass

        f = run.compile(lambda x: x * len(next(map(type.__subclasses__, [Base]))))
        run.repeat(f, x0)

        class B(Base):
            pass

        run.call(f, x0())

    def subclasses_by_method_caller(run):
        class Base:
            pass

        class A(Base):
            pass

        f = run.compile(lambda x: x * len(operator.methodcaller("__subclasses__")(Base)))
        run.repeat(f, x0)

        class B(Base):
            pass

        run.call(f, x0())

    def time_zone_by_a_passed_method(run):
        day = datetime.datetime(2000, 1, 1)
        f = run.compile(lambda x: x * (next(iter(day.timestamp, None)) / 3600 - 262000))
        with time_zone("UTC"):
            run.repeat(f, x0, n=6, at={3: lambda: set_zone("EST5")})

    def time_zone_by_a_descriptor(run):
        day = datetime.datetime(2000, 1, 1)
        f = run.compile(lambda x: x * (next(map(datetime.datetime.timestamp, [day])) / 3600 - 262000))
        with time_zone("UTC"):
            run.repeat(f, x0, n=6, at={3: lambda: set_zone("EST5")})

    def time_zone_by_a_kept_method(run):
        stamp = datetime.datetime(2000, 1, 1).timestamp
        f = run.compile(lambda x: x * (next(iter(stamp, None)) / 3600 - 262000))
        with time_zone("UTC"):
            run.repeat(f, x0, n=6, at={3: lambda: set_zone("EST5")})

    def partial_set_state(run):
        two, three = (lambda x: x * 2), (lambda x: x * 3)
        g = functools.partial(two)
        run.repeat(run.compile(lambda x: g(x)), x0, n=6, at={3: lambda: g.__setstate__((three, (), {}, {}))})

    def static_method_initialized_again(run):
        class C:
            g = staticmethod(lambda x: x * 2)

        f = run.compile(lambda x: C.g(x))
        run.repeat(f, x0, n=6, at={3: lambda: staticmethod.__init__(vars(C)["g"], lambda x: x * 3)})

    def class_method_initialized_again(run):
        class C:
            g = classmethod(lambda cls, x: x * 2)

        f = run.compile(lambda x: C.g(x))
        run.repeat(f, x0, n=6, at={3: lambda: classmethod.__init__(vars(C)["g"], lambda cls, x: x * 3)})

    def property_initialized_again(run):
        class C:
            p = property(lambda self: 2.0)

        c = C()
        f = run.compile(lambda x: x * c.p)
        run.repeat(f, x0, n=6, at={3: lambda: property.__init__(vars(C)["p"], lambda self: 3.0)})

    def memory_view_object(run):
        data = bytearray(b"abcdef")
        view = memoryview(data)[:2]
        run.repeat(run.compile(lambda x: x * view.obj[5]), x0, n=6, at={3: lambda: data.__setitem__(5, 7)})

    def zone_of_a_date(run):
        when = datetime.datetime(2000, 1, 1, tzinfo=_Zone(2))
        f = run.compile(lambda x: x * (when.utcoffset().seconds // 3600))
        run.repeat(f, x0, n=6, at={3: lambda: setattr(when.tzinfo, "hours", 3)})

    def zone_of_a_time(run):
        when = datetime.time(1, tzinfo=_Zone(2))
        f = run.compile(lambda x: x * (when.utcoffset().seconds // 3600))
        run.repeat(f, x0, n=6, at={3: lambda: setattr(when.tzinfo, "hours", 3)})

    def zone_by_comparing(run):
        a = datetime.datetime(2000, 1, 1, tzinfo=_Zone(2))
        b = datetime.datetime(2000, 1, 1, tzinfo=_Zone(3))
        f = run.compile(lambda x: x * 2 if a < b else x * 3)
        run.repeat(f, x0, n=6, at={3: lambda: setattr(b.tzinfo, "hours", 1)})

    def class_in_a_generic_alias(run):
        class C:
            scale = 2.0

        alias = list[C]
        f = run.compile(lambda x: x * alias.__args__[0].scale)
        run.repeat(f, x0, n=6, at={3: lambda: setattr(C, "scale", 3.0)})

    def class_in_a_union(run):
        class C:
            scale = 2.0

        union = C | int
        f = run.compile(lambda x: x * union.__args__[0].scale)
        run.repeat(f, x0, n=6, at={3: lambda: setattr(C, "scale", 3.0)})

    def class_called_through_an_alias(run):
        class C:
            __class_getitem__ = classmethod(types.GenericAlias)
            scale = 2.0

            def __init__(self):
                self.k = type(self).scale

        alias = C[int]
        run.repeat(run.compile(lambda x: x * alias().k), x0, n=6, at={3: lambda: setattr(C, "scale", 3.0)})

    def class_in_a_typing_alias(run):
        class C:
            scale = 2.0

        alias = typing.List[C]  # noqa: UP006
        f = run.compile(lambda x: x * alias.__args__[0].scale)
        run.repeat(f, x0, n=6, at={3: lambda: setattr(C, "scale", 3.0)})

    def attributes_by_a_kept_descriptor(run):
        class C:
            pass

        c = C()
        c.k = 2.0
        attributes = vars(C)["__dict__"]
        run.repeat(run.compile(lambda x: x * attributes.__get__(c)["k"]), x0, n=6, at={3: lambda: setattr(c, "k", 3.0)})

    def epoch_of_a_scheduler(run):
        w = nn.Parameter(lucid.ones(3))
        opt = lucid.optim.SGD([w], lr=0.1)
        schedule = lucid.optim.lr_scheduler.StepLR(opt, 1)
        f = run.compile(lambda x: x * (schedule.last_epoch + 2))
        run.repeat(f, x0)
        opt.step()
        schedule.step()
        run.repeat(f, x0)

    def rate_of_a_scheduler(run):
        w = nn.Parameter(lucid.ones(3))
        opt = lucid.optim.SGD([w], lr=0.1)
        schedule = lucid.optim.lr_scheduler.StepLR(opt, 1)
        f = run.compile(lambda x: x * schedule.get_last_lr()[0])
        run.repeat(f, x0)
        opt.step()
        schedule.step()
        run.repeat(f, x0)

    def attribute_of_a_scheduler(run):
        w = nn.Parameter(lucid.ones(3))
        opt = lucid.optim.SGD([w], lr=0.1)
        schedule = lucid.optim.lr_scheduler.StepLR(opt, 1)
        schedule.mine = [2.0]
        f = run.compile(lambda x: x * schedule.mine[0])
        run.repeat(f, x0, n=6, at={3: lambda: schedule.mine.__setitem__(0, 3.0)})

    def attribute_put_on_a_layer_class(run):
        layer = nn.Linear(3, 3)
        with patched(nn.Linear, "factors", [2.0]):
            f = run.compile(lambda x: x * layer.factors[0])
            run.repeat(f, x0, n=6, at={3: lambda: nn.Linear.factors.__setitem__(0, 3.0)})

    def method_put_on_a_layer_class(run):
        layer = nn.Linear(3, 3)
        k = [2.0]
        with patched(nn.Linear, "scaled", lambda self, x: x * k[0]):
            run.repeat(run.compile(lambda x: layer.scaled(x)), x0, n=6, at={3: lambda: k.__setitem__(0, 3.0)})

    def hash_of_an_argument(run):
        a, b = _Plain(), _Plain()
        table = {hash(a): 2.0, hash(b): 3.0}
        run.over(run.compile(lambda x, o: x * table[hash(o)]), a, a, a, b, b)
