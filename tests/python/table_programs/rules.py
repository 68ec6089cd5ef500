"""Programs for rules of functions, classes and containers."""

import collections
import math
import types

from .case import Case, replaced, rule


@rule(types.FunctionType)
def a_function_gets_other_code():
    def two(x):
        return x * 2

    def three(x):
        return x * 3

    return Case(lambda x: two(x), lambda: setattr(two, "__code__", three.__code__))


@rule(types.FunctionType)
def a_default_changes():
    def scale(x, factor=2.0):
        return x * factor

    return Case(lambda x: scale(x), lambda: setattr(scale, "__defaults__", (3.0,)))


@rule(types.FunctionType)
def a_keyword_default_changes():
    def scale(x, *, factor=2.0):
        return x * factor

    return Case(lambda x: scale(x), lambda: scale.__kwdefaults__.update(factor=3.0))


@rule(types.FunctionType)
def a_name_of_a_function_changes():
    def scale():
        pass

    return Case(lambda x: x * len(scale.__name__), lambda: setattr(scale, "__name__", "s"))


@rule(types.FunctionType)
def an_attribute_of_a_function_changes():
    def scale():
        pass

    scale.factor = 2.0
    return Case(lambda x: x * scale.factor, lambda: setattr(scale, "factor", 3.0))


@rule(types.FunctionType, types.CellType)
def a_variable_changes():
    factor = 2.0

    def change():
        nonlocal factor
        factor = 3.0

    return Case(lambda x: x * factor, change)


@rule(type)
def an_attribute_of_a_class_changes():
    class C:
        factor = 2.0

    return Case(lambda x: x * C.factor, lambda: setattr(C, "factor", 3.0))


@rule(type)
def the_bases_of_a_class_change():
    class A:
        factor = 2.0

    class B:
        factor = 3.0

    class C(A):
        pass

    return Case(lambda x: x * C().factor, lambda: setattr(C, "__bases__", (B,)))


@rule(type)
def a_method_is_replaced():
    class C:
        def __len__(self):
            return 2

    c = C()
    return Case(lambda x: x * len(c), lambda: setattr(C, "__len__", lambda self: 3))


@rule(types.SimpleNamespace)
def an_attribute_of_a_namespace_changes():
    space = types.SimpleNamespace(a=1)
    same = types.SimpleNamespace(a=1)
    return Case(lambda x: x * (2 if space == same else 3), lambda: setattr(space, "a", 2))


@rule(list)
def an_item_of_a_list_changes():
    values = [2.0]
    return Case(lambda x: x * values[0], lambda: values.__setitem__(0, 3.0))


@rule(collections.deque)
def an_item_of_a_deque_changes():
    values = collections.deque([1.0, 2.0])
    return Case(lambda x: x * values[0], lambda: values.rotate())


@rule(collections.deque)
def the_length_of_a_deque_changes():
    values = collections.deque([1.0], 2)
    return Case(lambda x: x * values.maxlen, lambda: values.__init__([1.0], 3))


@rule(set)
def an_item_is_added_to_a_set():
    values = {1.0}
    return Case(lambda x: x * sum(values), lambda: values.add(2.0))


@rule(tuple, frozenset)
def an_item_of_an_item_changes():
    values = ([2.0], frozenset({1}))
    return Case(lambda x: x * values[0][0], lambda: values[0].__setitem__(0, 3.0))


@rule(frozenset)
def a_frozen_set_is_replaced():
    return replaced(frozenset({2.0}), frozenset({3.0}), sum)


@rule(tuple)
def a_tuple_is_replaced():
    return replaced((2.0, -0.0), (2.0, 0.0), lambda value: math.copysign(1.0, value[1]))


@rule(dict)
def a_value_of_a_dict_changes():
    values = {"a": 2.0}
    return Case(lambda x: x * values["a"], lambda: values.update(a=3.0))


@rule(dict)
def the_order_of_a_dict_changes():
    values = {"a": 2.0, "b": 3.0}
    return Case(lambda x: x * next(iter(values.values())), lambda: values.update(a=values.pop("a")))


@rule(collections.OrderedDict)
def the_order_of_an_ordered_dict_changes():
    values = collections.OrderedDict(a=2.0, b=3.0)
    return Case(lambda x: x * next(iter(values.values())), lambda: values.move_to_end("a"))


@rule(collections.defaultdict)
def the_factory_of_a_dict_changes():
    values = collections.defaultdict(lambda: 2.0, a=1.0)
    return Case(lambda x: x * values.default_factory(), lambda: setattr(values, "default_factory", lambda: 3.0))
