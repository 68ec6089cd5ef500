"""Programs for rules of views, methods, descriptors and other objects that lead to others."""

import contextvars
import datetime
import functools
import io
import logging
import operator
import os
import threading
import types

import lucid

from .._harness import Box, Programs, program

# Never closed.
NULL = open(os.devnull, "w")  # noqa: SIM115


class Zone(datetime.tzinfo):
    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, when):
        return datetime.timedelta(hours=self.hours)


class HolderRules(Programs, compiles=True):
    @program(covers=(bytearray,))
    def a_byte_changes(run):
        data = bytearray(b"\2")
        run.shows(lambda x: x * data[0], lambda: data.__setitem__(0, 3))

    @program(covers=(memoryview,))
    def a_byte_behind_a_view_changes(run):
        data = bytearray(b"\2\2")
        view = memoryview(data)[:1]
        run.shows(lambda x: x * view[0], lambda: data.__setitem__(0, 3))

    @program(covers=(memoryview,))
    def the_object_of_a_view_changes(run):
        data = bytearray(b"\2\2")
        view = memoryview(data)[:1]
        run.shows(lambda x: x * view.obj[1], lambda: data.__setitem__(1, 3))

    @program(covers=(types.BuiltinFunctionType,))
    def the_object_of_a_builtin_method_changes(run):
        values = {"a": 2.0}
        get = values.get
        run.shows(lambda x: x * get("a"), lambda: values.update(a=3.0))

    @program(covers=(types.BuiltinFunctionType,), eager="may call posix.getpid")
    def a_function_that_is_not_pure_is_passed_on(run):
        factors = [2.0]
        run.shows(
            lambda x: x * factors[0] * float(next(iter(os.getpid, None)) > 0), lambda: factors.__setitem__(0, 3.0)
        )

    @program(covers=(types.MethodWrapperType,))
    def the_object_of_a_method_wrapper_changes(run):
        values = [1.0, 2.0]
        length = values.__len__
        run.shows(lambda x: x * length(), lambda: values.append(1.0))

    @program(covers=(types.MethodDescriptorType,))
    def a_method_descriptor_is_replaced(run):
        run.shows_replaced(str.upper, str.lower, lambda method: ord(method("a")))

    @program(covers=(types.ClassMethodDescriptorType,))
    def a_class_method_descriptor_is_replaced(run):
        first, second = vars(dict)["fromkeys"], vars(int)["from_bytes"]
        run.shows_replaced(first, second, lambda descriptor: len(descriptor.__name__))

    @program(covers=(datetime.datetime,))
    def the_zone_of_a_date_changes(run):
        zone = Zone(2)
        when = datetime.datetime(2000, 1, 1, tzinfo=zone)
        run.shows(lambda x: x * when.utcoffset().seconds, lambda: setattr(zone, "hours", 3))

    @program(covers=(datetime.datetime,))
    def a_date_and_time_is_replaced(run):
        run.shows_replaced(datetime.datetime(2000, 1, 2), datetime.datetime(2000, 1, 3), lambda when: when.day)

    @program(covers=(datetime.time,))
    def the_zone_of_a_time_changes(run):
        zone = Zone(2)
        when = datetime.time(1, tzinfo=zone)
        run.shows(lambda x: x * when.utcoffset().seconds, lambda: setattr(zone, "hours", 3))

    @program(covers=(types.GenericAlias,))
    def a_class_in_an_alias_changes(run):
        class C:
            factor = 2.0

        alias = list[C]
        run.shows(lambda x: x * alias.__args__[0].factor, lambda: setattr(C, "factor", 3.0))

    @program(covers=(types.UnionType,))
    def a_class_in_a_union_changes(run):
        class C:
            factor = 2.0

        union = C | int
        run.shows(lambda x: x * union.__args__[0].factor, lambda: setattr(C, "factor", 3.0))

    @program(covers=(slice,))
    def a_slice_is_replaced(run):
        run.shows_replaced(slice(0, 2), slice(0, 3), lambda part: part.stop)

    @program(covers=(operator.itemgetter,))
    def an_item_getter_is_replaced(run):
        run.shows_replaced(operator.itemgetter(0), operator.itemgetter(1), lambda get: get((2.0, 3.0)))

    @program(covers=(type(threading.Lock()),), eager="lock")
    def a_lock_is_taken(run):
        lock, factors = threading.Lock(), [2.0]

        def function(x):
            with lock:
                return x * factors[0]

        run.shows(function, lambda: factors.__setitem__(0, 3.0))

    @program(covers=(type(threading.RLock()),), eager="_thread.RLock")
    def a_reentrant_lock_is_taken(run):
        lock, factors = threading.RLock(), [2.0]

        def function(x):
            with lock:
                return x * factors[0]

        run.shows(function, lambda: factors.__setitem__(0, 3.0))

    @program(covers=(io.StringIO,))
    def an_attribute_of_a_stream_changes(run):
        handler = logging.StreamHandler(io.StringIO())
        run.shows(lambda x: x * (2.0 if handler.stream.closed else 3.0), handler.stream.close)

    @program(covers=(io.TextIOWrapper,))
    def an_attribute_of_a_file_changes(run):
        NULL.reconfigure(line_buffering=False)
        run.shows(lambda x: x * (2.0 if NULL.line_buffering else 3.0), lambda: NULL.reconfigure(line_buffering=True))

    @program(covers=(contextvars.ContextVar,))
    def a_context_variable_is_set(run):
        variable = contextvars.ContextVar("variable", default=2.0)
        run.shows(lambda x: x * variable.get(), lambda: variable.set(3.0))

    @program(covers=(types.MappingProxyType, type({}.keys()), type({}.values()), type({}.items())))
    def the_dict_of_a_view_changes(run):
        values = {"a": 2.0}
        proxy, keys, items = types.MappingProxyType(values), values.keys(), values.items()
        shown = values.values()
        run.shows(
            lambda x: x * (sum(shown) + proxy["a"] + len(keys) + sum(value for _, value in items)),
            lambda: values.update(a=3.0),
        )

    @program(covers=(lucid.Generator,))
    def a_generator_is_replaced(run):
        box = Box()
        box.state = lucid.Generator().manual_seed(1).get_state()
        box.generator = lucid.Generator()

        def function(x):
            box.generator.set_state(box.state)
            return x * lucid.rand(3, generator=box.generator)

        run.shows(function, lambda: setattr(box, "state", lucid.Generator().manual_seed(2).get_state()))

    @program(covers=(types.MethodType,))
    def the_object_of_a_method_changes(run):
        class C:
            def scaled(self, x):
                return x * self.factor

        c = C()
        c.factor = 2.0
        scaled = c.scaled
        run.shows(lambda x: scaled(x), lambda: setattr(c, "factor", 3.0))

    @program(covers=(functools.partial,))
    def the_arguments_of_a_partial_change(run):
        scale = functools.partial(operator.mul, 2.0)
        run.shows(lambda x: scale(x), lambda: scale.__setstate__((operator.mul, (3.0,), {}, {})))

    @program(covers=(staticmethod,))
    def the_function_of_a_static_method_changes(run):
        class C:
            scaled = staticmethod(lambda x: x * 2)

        run.shows(lambda x: C.scaled(x), lambda: staticmethod.__init__(vars(C)["scaled"], lambda x: x * 3))

    @program(covers=(classmethod,))
    def the_function_of_a_class_method_changes(run):
        class C:
            scaled = classmethod(lambda cls, x: x * 2)

        run.shows(lambda x: C.scaled(x), lambda: classmethod.__init__(vars(C)["scaled"], lambda cls, x: x * 3))

    @program(covers=(property,))
    def the_function_of_a_property_changes(run):
        class C:
            factor = property(lambda self: 2.0)

        c = C()
        run.shows(lambda x: x * c.factor, lambda: property.__init__(vars(C)["factor"], lambda self: 3.0))

    @program(covers=(operator.attrgetter,))
    def an_attribute_that_no_code_names_changes(run):
        box = Box(hidden=2.0)
        read = operator.attrgetter("hidden")
        run.shows(lambda x: x * read(box), lambda: vars(box).update(hidden=3.0))

    @program(covers=(operator.methodcaller,))
    def a_method_that_no_code_names_is_replaced(run):
        class C:
            def hidden(self):
                return 2.0

        c = C()
        read = operator.methodcaller("hidden")
        run.shows(lambda x: x * read(c), lambda: setattr(C, "hidden", lambda self: 3.0))

    @program(covers=(types.MemberDescriptorType,))
    def a_slot_that_no_code_names_changes(run):
        class C:
            __slots__ = ("hidden",)

        c = C()
        c.hidden = 2.0
        read = vars(C)["hidden"]
        run.shows(lambda x: x * read.__get__(c), lambda: setattr(c, "hidden", 3.0))

    @program(covers=(types.GetSetDescriptorType,))
    def attributes_that_no_code_names_change(run):
        class C:
            pass

        c = C()
        c.hidden = 2.0
        read = vars(C)["__dict__"]
        run.shows(lambda x: x * read.__get__(c)["hidden"], lambda: setattr(c, "hidden", 3.0))

    @program(covers=(type(functools.lru_cache(lambda: None)),), eager="keeps results in a cache")
    def a_cache_is_cleared(run):
        factors = [2.0]

        @functools.lru_cache
        def factor():
            return factors[0]

        def change():
            factors[0] = 3.0
            factor.cache_clear()

        run.shows(lambda x: x * factor(), change)
