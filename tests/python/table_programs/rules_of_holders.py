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

from .case import Box, Case, replaced, rule

# Never closed.
NULL = open(os.devnull, "w")  # noqa: SIM115


@rule(bytearray)
def a_byte_changes():
    data = bytearray(b"\2")
    return Case(lambda x: x * data[0], lambda: data.__setitem__(0, 3))


@rule(memoryview)
def a_byte_behind_a_view_changes():
    data = bytearray(b"\2\2")
    view = memoryview(data)[:1]
    return Case(lambda x: x * view[0], lambda: data.__setitem__(0, 3))


@rule(memoryview)
def the_object_of_a_view_changes():
    data = bytearray(b"\2\2")
    view = memoryview(data)[:1]
    return Case(lambda x: x * view.obj[1], lambda: data.__setitem__(1, 3))


@rule(types.BuiltinFunctionType)
def the_object_of_a_builtin_method_changes():
    values = {"a": 2.0}
    get = values.get
    return Case(lambda x: x * get("a"), lambda: values.update(a=3.0))


@rule(types.BuiltinFunctionType)
def a_function_that_is_not_pure_is_passed_on():
    factors = [2.0]
    return Case(
        lambda x: x * factors[0] * float(next(iter(os.getpid, None)) > 0),
        lambda: factors.__setitem__(0, 3.0),
        "may call posix.getpid",
    )


@rule(types.MethodWrapperType)
def the_object_of_a_method_wrapper_changes():
    values = [1.0, 2.0]
    length = values.__len__
    return Case(lambda x: x * length(), lambda: values.append(1.0))


@rule(types.MethodDescriptorType)
def a_method_descriptor_is_replaced():
    return replaced(str.upper, str.lower, lambda method: ord(method("a")))


@rule(types.ClassMethodDescriptorType)
def a_class_method_descriptor_is_replaced():
    first, second = vars(dict)["fromkeys"], vars(int)["from_bytes"]
    return replaced(first, second, lambda descriptor: len(descriptor.__name__))


class Zone(datetime.tzinfo):
    def __init__(self, hours):
        self.hours = hours

    def utcoffset(self, when):
        return datetime.timedelta(hours=self.hours)


@rule(datetime.datetime)
def the_zone_of_a_date_changes():
    zone = Zone(2)
    when = datetime.datetime(2000, 1, 1, tzinfo=zone)
    return Case(lambda x: x * when.utcoffset().seconds, lambda: setattr(zone, "hours", 3))


@rule(datetime.datetime)
def a_date_and_time_is_replaced():
    return replaced(datetime.datetime(2000, 1, 2), datetime.datetime(2000, 1, 3), lambda when: when.day)


@rule(datetime.time)
def the_zone_of_a_time_changes():
    zone = Zone(2)
    when = datetime.time(1, tzinfo=zone)
    return Case(lambda x: x * when.utcoffset().seconds, lambda: setattr(zone, "hours", 3))


@rule(types.GenericAlias)
def a_class_in_an_alias_changes():
    class C:
        factor = 2.0

    alias = list[C]
    return Case(lambda x: x * alias.__args__[0].factor, lambda: setattr(C, "factor", 3.0))


@rule(types.UnionType)
def a_class_in_a_union_changes():
    class C:
        factor = 2.0

    union = C | int
    return Case(lambda x: x * union.__args__[0].factor, lambda: setattr(C, "factor", 3.0))


@rule(slice)
def a_slice_is_replaced():
    return replaced(slice(0, 2), slice(0, 3), lambda part: part.stop)


@rule(operator.itemgetter)
def an_item_getter_is_replaced():
    return replaced(operator.itemgetter(0), operator.itemgetter(1), lambda get: get((2.0, 3.0)))


@rule(type(threading.Lock()))
def a_lock_is_taken():
    lock, factors = threading.Lock(), [2.0]

    def function(x):
        with lock:
            return x * factors[0]

    return Case(function, lambda: factors.__setitem__(0, 3.0), "lock")


@rule(type(threading.RLock()))
def a_reentrant_lock_is_taken():
    lock, factors = threading.RLock(), [2.0]

    def function(x):
        with lock:
            return x * factors[0]

    return Case(function, lambda: factors.__setitem__(0, 3.0), "_thread.RLock")


@rule(io.StringIO)
def an_attribute_of_a_stream_changes():
    handler = logging.StreamHandler(io.StringIO())
    return Case(lambda x: x * (2.0 if handler.stream.closed else 3.0), handler.stream.close)


@rule(io.TextIOWrapper)
def an_attribute_of_a_file_changes():
    return Case(lambda x: x * (2.0 if NULL.line_buffering else 3.0), lambda: NULL.reconfigure(line_buffering=True))


@rule(contextvars.ContextVar)
def a_context_variable_is_set():
    variable = contextvars.ContextVar("variable", default=2.0)
    return Case(lambda x: x * variable.get(), lambda: variable.set(3.0))


@rule(types.MappingProxyType, type({}.keys()), type({}.values()), type({}.items()))
def the_dict_of_a_view_changes():
    values = {"a": 2.0}
    proxy, keys, items = types.MappingProxyType(values), values.keys(), values.items()
    shown = values.values()
    return Case(
        lambda x: x * (sum(shown) + proxy["a"] + len(keys) + sum(value for _, value in items)),
        lambda: values.update(a=3.0),
    )


@rule(lucid.Generator)
def a_generator_is_replaced():
    box = Box()
    box.state = lucid.Generator().manual_seed(1).get_state()
    box.generator = lucid.Generator()

    def function(x):
        box.generator.set_state(box.state)
        return x * lucid.rand(3, generator=box.generator)

    return Case(function, lambda: setattr(box, "state", lucid.Generator().manual_seed(2).get_state()))


@rule(types.MethodType)
def the_object_of_a_method_changes():
    class C:
        def scaled(self, x):
            return x * self.factor

    c = C()
    c.factor = 2.0
    scaled = c.scaled
    return Case(lambda x: scaled(x), lambda: setattr(c, "factor", 3.0))


@rule(functools.partial)
def the_arguments_of_a_partial_change():
    scale = functools.partial(operator.mul, 2.0)
    return Case(lambda x: scale(x), lambda: scale.__setstate__((operator.mul, (3.0,), {}, {})))


@rule(staticmethod)
def the_function_of_a_static_method_changes():
    class C:
        scaled = staticmethod(lambda x: x * 2)

    return Case(lambda x: C.scaled(x), lambda: staticmethod.__init__(vars(C)["scaled"], lambda x: x * 3))


@rule(classmethod)
def the_function_of_a_class_method_changes():
    class C:
        scaled = classmethod(lambda cls, x: x * 2)

    return Case(lambda x: C.scaled(x), lambda: classmethod.__init__(vars(C)["scaled"], lambda cls, x: x * 3))


@rule(property)
def the_function_of_a_property_changes():
    class C:
        factor = property(lambda self: 2.0)

    c = C()
    return Case(lambda x: x * c.factor, lambda: property.__init__(vars(C)["factor"], lambda self: 3.0))


@rule(operator.attrgetter)
def an_attribute_that_no_code_names_changes():
    box = Box()
    box.hidden = 2.0
    read = operator.attrgetter("hidden")
    return Case(lambda x: x * read(box), lambda: vars(box).update(hidden=3.0))


@rule(operator.methodcaller)
def a_method_that_no_code_names_is_replaced():
    class C:
        def hidden(self):
            return 2.0

    c = C()
    read = operator.methodcaller("hidden")
    return Case(lambda x: x * read(c), lambda: setattr(C, "hidden", lambda self: 3.0))


@rule(types.MemberDescriptorType)
def a_slot_that_no_code_names_changes():
    class C:
        __slots__ = ("hidden",)

    c = C()
    c.hidden = 2.0
    read = vars(C)["hidden"]
    return Case(lambda x: x * read.__get__(c), lambda: setattr(c, "hidden", 3.0))


@rule(types.GetSetDescriptorType)
def attributes_that_no_code_names_change():
    class C:
        pass

    c = C()
    c.hidden = 2.0
    read = vars(C)["__dict__"]
    return Case(lambda x: x * read.__get__(c)["hidden"], lambda: setattr(c, "hidden", 3.0))


@rule(type(functools.lru_cache(lambda: None)))
def a_cache_is_cleared():
    factors = [2.0]

    @functools.lru_cache
    def factor():
        return factors[0]

    def change():
        factors[0] = 3.0
        factor.cache_clear()

    return Case(lambda x: x * factor(), change, "keeps results in a cache")


# Families of types.
