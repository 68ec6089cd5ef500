"""Programs for rules of functions, classes and containers."""

import collections
import math
import types

from .._harness import Programs, program


class Rules(Programs, compiles=True):
    @program(covers=(types.FunctionType,))
    def a_function_gets_other_code(run):
        def two(x):
            return x * 2

        def three(x):
            return x * 3

        run.shows(lambda x: two(x), lambda: setattr(two, "__code__", three.__code__))

    @program(covers=(types.FunctionType,))
    def a_default_changes(run):
        def scale(x, factor=2.0):
            return x * factor

        run.shows(lambda x: scale(x), lambda: setattr(scale, "__defaults__", (3.0,)))

    @program(covers=(types.FunctionType,))
    def a_keyword_default_changes(run):
        def scale(x, *, factor=2.0):
            return x * factor

        run.shows(lambda x: scale(x), lambda: scale.__kwdefaults__.update(factor=3.0))

    @program(covers=(types.FunctionType,))
    def a_name_of_a_function_changes(run):
        def scale():
            pass

        run.shows(lambda x: x * len(scale.__name__), lambda: setattr(scale, "__name__", "s"))

    @program(covers=(types.FunctionType,))
    def an_attribute_of_a_function_changes(run):
        def scale():
            pass

        scale.factor = 2.0
        run.shows(lambda x: x * scale.factor, lambda: setattr(scale, "factor", 3.0))

    @program(covers=(types.FunctionType, types.CellType))
    def a_variable_changes(run):
        factor = 2.0

        def change():
            nonlocal factor
            factor = 3.0

        run.shows(lambda x: x * factor, change)

    @program(covers=(type,))
    def an_attribute_of_a_class_changes(run):
        class C:
            factor = 2.0

        run.shows(lambda x: x * C.factor, lambda: setattr(C, "factor", 3.0))

    @program(covers=(type,))
    def the_bases_of_a_class_change(run):
        class A:
            factor = 2.0

        class B:
            factor = 3.0

        class C(A):
            pass

        run.shows(lambda x: x * C().factor, lambda: setattr(C, "__bases__", (B,)))

    @program(covers=(type,))
    def a_method_is_replaced(run):
        class C:
            def __len__(self):
                return 2

        c = C()
        run.shows(lambda x: x * len(c), lambda: setattr(C, "__len__", lambda self: 3))

    @program(covers=(types.SimpleNamespace,))
    def an_attribute_of_a_namespace_changes(run):
        space = types.SimpleNamespace(a=1)
        same = types.SimpleNamespace(a=1)
        run.shows(lambda x: x * (2 if space == same else 3), lambda: setattr(space, "a", 2))

    @program(covers=(list,))
    def an_item_of_a_list_changes(run):
        values = [2.0]
        run.shows(lambda x: x * values[0], lambda: values.__setitem__(0, 3.0))

    @program(covers=(collections.deque,))
    def an_item_of_a_deque_changes(run):
        values = collections.deque([1.0, 2.0])
        run.shows(lambda x: x * values[0], lambda: values.rotate())

    @program(covers=(collections.deque,))
    def the_length_of_a_deque_changes(run):
        values = collections.deque([1.0], 2)
        run.shows(lambda x: x * values.maxlen, lambda: values.__init__([1.0], 3))

    @program(covers=(set,))
    def an_item_is_added_to_a_set(run):
        values = {1.0}
        run.shows(lambda x: x * sum(values), lambda: values.add(2.0))

    @program(covers=(tuple, frozenset))
    def an_item_of_an_item_changes(run):
        values = ([2.0], frozenset({1}))
        run.shows(lambda x: x * values[0][0], lambda: values[0].__setitem__(0, 3.0))

    @program(covers=(frozenset,))
    def a_frozen_set_is_replaced(run):
        run.shows_replaced(frozenset({2.0}), frozenset({3.0}), sum)

    @program(covers=(tuple,))
    def a_tuple_is_replaced(run):
        run.shows_replaced((2.0, -0.0), (2.0, 0.0), lambda value: math.copysign(1.0, value[1]))

    @program(covers=(dict,))
    def a_value_of_a_dict_changes(run):
        values = {"a": 2.0}
        run.shows(lambda x: x * values["a"], lambda: values.update(a=3.0))

    @program(covers=(dict,))
    def the_order_of_a_dict_changes(run):
        values = {"a": 2.0, "b": 3.0}
        run.shows(lambda x: x * next(iter(values.values())), lambda: values.update(a=values.pop("a")))

    @program(covers=(collections.OrderedDict,))
    def the_order_of_an_ordered_dict_changes(run):
        values = collections.OrderedDict(a=2.0, b=3.0)
        run.shows(lambda x: x * next(iter(values.values())), lambda: values.move_to_end("a"))

    @program(covers=(collections.defaultdict,))
    def the_factory_of_a_dict_changes(run):
        values = collections.defaultdict(lambda: 2.0, a=1.0)
        run.shows(lambda x: x * values.default_factory(), lambda: setattr(values, "default_factory", lambda: 3.0))
