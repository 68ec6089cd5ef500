"""Guards of names and attributes: each kind of change is detected, and nothing else."""

import abc
import builtins
import functools
import math
import operator
import types

import lucid
import pytest
from capture_record import Box, Config, Mode, Pair, X, double, expect_change, expect_no_change, guards_of
from lucid import nn

SCALE = 2.0


# Names.


def test_a_global():
    def function(x):
        return x * SCALE

    guards = guards_of(function, X)
    entries = globals()
    expect_no_change(guards, lambda: entries.update(UNRELATED=1))
    expect_no_change(guards, lambda: entries.update(SCALE=float("2")))
    words = expect_change(guards, lambda: entries.update(SCALE=3.0), lambda: entries.update(SCALE=2.0))
    assert words.startswith("global SCALE: was 2.0, is 3.0 (test_capture.py:")
    expect_change(guards, lambda: entries.update(SCALE=2), lambda: entries.update(SCALE=2.0))
    expect_change(guards, lambda: entries.pop("SCALE"), lambda: entries.update(SCALE=2.0))


def test_negative_zero_is_a_different_number():
    zero = 0.0

    def function(x):
        return x * zero

    guards = guards_of(function, X)

    def negate():
        nonlocal zero
        zero = -0.0

    expect_change(guards, negate)


def test_a_missing_global_is_defined():
    def function(x):
        try:
            return x * NOT_THERE
        except NameError:
            return x

    guards = guards_of(function, X)
    words = expect_change(guards, lambda: globals().update(NOT_THERE=1), lambda: globals().pop("NOT_THERE"))
    assert words.startswith("global NOT_THERE: was missing, is 1")


def test_a_builtin_is_shadowed_or_replaced(monkeypatch):
    def function(x):
        return x * abs(-2)

    guards = guards_of(function, X)
    words = expect_change(guards, lambda: globals().update(abs=math.fabs), lambda: globals().pop("abs"))
    assert words.startswith("global abs: was missing")
    monkeypatch.setattr(builtins, "abs", math.fabs)
    assert guards.failed((X,)).startswith("builtin abs")


def test_a_closure():
    scale = 2.0

    def function(x):
        return x * scale

    def set_scale(value):
        nonlocal scale
        scale = value

    guards = guards_of(function, X)
    words = expect_change(guards, lambda: set_scale(3.0), lambda: set_scale(2.0))
    assert words.startswith("closure scale: was 2.0, is 3.0 (test_capture.py:")


def test_defaults():
    def function(x, scale=2.0, *, shift=1.0, table=[1.0]):  # noqa: B006
        return x * scale + shift + table[0]

    def set_defaults(value):
        function.__defaults__ = value

    def set_keyword_defaults(value):
        function.__kwdefaults__ = value

    guards = guards_of(function, X)
    expect_change(guards, lambda: set_defaults((3.0,)), lambda: set_defaults((2.0,)))
    before = function.__kwdefaults__
    expect_change(guards, lambda: before.update(shift=5.0), lambda: before.update(shift=1.0))
    expect_change(guards, lambda: set_keyword_defaults({**before}), lambda: set_keyword_defaults(before))
    expect_change(guards, lambda: before["table"].append(1), lambda: before["table"].pop())


def test_the_code_of_a_function():
    def helper(x):
        return x + 1

    def other(x):
        return x - 1

    def function(x):
        return helper(x)

    def set_code(value):
        helper.__code__ = value

    before = helper.__code__
    guards = guards_of(function, X)
    expect_change(guards, lambda: set_code(other.__code__), lambda: set_code(before))


def test_names_of_functions_and_classes():
    def helper(x):
        return x

    class Thing:
        pass

    guards = guards_of(lambda x: x * len(helper.__name__) * len(Thing.__name__), X)
    expect_change(guards, lambda: setattr(helper, "__name__", "other"), lambda: setattr(helper, "__name__", "helper"))
    expect_change(guards, lambda: setattr(Thing, "__name__", "Other"), lambda: setattr(Thing, "__name__", "Thing"))


def test_a_global_function_is_replaced(monkeypatch):
    def function(x):
        return double(x)

    guards = guards_of(function, X)
    expect_change(guards, lambda: monkeypatch.setitem(globals(), "double", lambda x: x), monkeypatch.undo)


def test_an_attribute_of_a_function():
    def helper(x):
        return x * helper.scale

    helper.scale = 2.0
    guards = guards_of(lambda x: helper(x), X)
    expect_no_change(guards, lambda: setattr(helper, "unrelated", 1))
    expect_change(guards, lambda: setattr(helper, "scale", 3.0), lambda: setattr(helper, "scale", 2.0))


# Attributes.


def test_an_attribute():
    box = Box(scale=2.0, unrelated=0)
    guards = guards_of(lambda x: x * box.scale, X)
    expect_no_change(guards, lambda: setattr(box, "unrelated", 1))
    expect_no_change(guards, lambda: setattr(box, "more", 1))
    words = expect_change(guards, lambda: setattr(box, "scale", 3.0), lambda: setattr(box, "scale", 2.0))
    assert words.startswith("closure box.scale: was 2.0, is 3.0 (test_capture.py:")
    expect_change(guards, lambda: delattr(box, "scale"), lambda: setattr(box, "scale", 2.0))


def test_the_dict_of_attributes_is_replaced():
    box = Box(scale=2.0)
    guards = guards_of(lambda x: x * box.scale, X)
    expect_change(guards, lambda: setattr(box, "__dict__", {"scale": 3.0}))


def test_an_attribute_of_an_attribute():
    box = Box(inner=Box(scale=2.0))
    guards = guards_of(lambda x: x * box.inner.scale, X)
    inner = box.inner
    expect_change(guards, lambda: setattr(box.inner, "scale", 3.0), lambda: setattr(box.inner, "scale", 2.0))
    expect_change(guards, lambda: setattr(box, "inner", Box(scale=2.0)), lambda: setattr(box, "inner", inner))


def test_a_slot():
    class Slotted:
        __slots__ = ("empty", "scale")

    box = Slotted()
    box.scale = 2.0
    guards = guards_of(lambda x: x * box.scale if not hasattr(box, "empty") else x, X)
    expect_change(guards, lambda: setattr(box, "scale", 3.0), lambda: setattr(box, "scale", 2.0))
    expect_change(guards, lambda: setattr(box, "empty", 3.0), lambda: delattr(box, "empty"))


def test_the_attributes_of_classes():
    class Base:
        scale = 2.0

    class Derived(Base):
        pass

    box = Derived()
    guards = guards_of(lambda x: x * box.scale, X)
    expect_change(guards, lambda: setattr(Base, "scale", 3.0), lambda: setattr(Base, "scale", 2.0))
    expect_change(guards, lambda: setattr(Derived, "scale", 3.0), lambda: delattr(Derived, "scale"))
    expect_change(guards, lambda: setattr(box, "scale", 3.0), lambda: delattr(box, "scale"))


def test_the_bases_of_a_class():
    class One:
        scale = 1.0

    class Two:
        scale = 2.0

    class Derived(One):
        pass

    class Other(Derived):
        pass

    box = Other()
    guards = guards_of(lambda x: x * box.scale, X)
    expect_change(guards, lambda: setattr(Derived, "__bases__", (Two,)))


def test_the_class_of_an_object():
    class One:
        def scale(self):
            return 1.0

    class Two:
        def scale(self):
            return 2.0

    box = One()
    guards = guards_of(lambda x: x * box.scale(), X)
    expect_change(guards, lambda: setattr(box, "__class__", Two), lambda: setattr(box, "__class__", One))


def test_a_method_is_patched_on_the_instance():
    class Thing:
        def scale(self):
            return 1.0

    thing = Thing()
    guards = guards_of(lambda x: x * thing.scale(), X)
    expect_change(guards, lambda: setattr(thing, "scale", lambda: 2.0), lambda: delattr(thing, "scale"))
    expect_change(guards, lambda: setattr(Thing, "scale", lambda self: 2.0))


def test_the_code_of_a_property():
    factor = 2.0

    class Thing:
        scale = 1.0

        @property
        def twice(self):
            return self.scale * factor

    thing = Thing()
    guards = guards_of(lambda x: x * thing.twice, X)
    before = Thing.twice

    def set_factor(value):
        nonlocal factor
        factor = value

    expect_change(guards, lambda: setattr(thing, "scale", 3.0), lambda: delattr(thing, "scale"))
    expect_change(guards, lambda: set_factor(3.0), lambda: set_factor(2.0))
    replaced = property(lambda self: 7.0)
    expect_change(guards, lambda: setattr(Thing, "twice", replaced), lambda: setattr(Thing, "twice", before))


def test_a_descriptor():
    class Descriptor:
        def __init__(self):
            self.value = 1.0

        def __get__(self, instance, owner):
            return self.value

    descriptor = Descriptor()

    class Thing:
        scale = descriptor

    thing = Thing()
    guards = guards_of(lambda x: x * thing.scale, X)
    expect_change(guards, lambda: setattr(descriptor, "value", 2.0), lambda: setattr(descriptor, "value", 1.0))


def test_values_that_dunder_getattr_reads():
    class Thing:
        def __init__(self):
            self.values = {"scale": 2.0}

        def __getattr__(self, name):
            return self.values[name]

    thing = Thing()
    guards = guards_of(lambda x: x * thing.scale, X)
    expect_change(guards, lambda: thing.values.update(scale=3.0), lambda: thing.values.update(scale=2.0))
    expect_change(guards, lambda: setattr(thing, "scale", 3.0), lambda: delattr(thing, "scale"))


def test_a_metaclass():
    class Meta(type):
        scale = 2.0

    class Thing(metaclass=Meta):
        pass

    guards = guards_of(lambda x: x * Thing.scale, X)
    expect_change(guards, lambda: setattr(Meta, "scale", 3.0), lambda: setattr(Meta, "scale", 2.0))
    expect_change(guards, lambda: setattr(Thing, "scale", 3.0), lambda: delattr(Thing, "scale"))


def test_a_computed_name_guards_all_attributes():
    box = Box(scale=2.0)
    guards = guards_of(lambda x: x * getattr(box, "sc" + "ale"), X)
    expect_change(guards, lambda: setattr(box, "scale", 3.0), lambda: setattr(box, "scale", 2.0))
    expect_change(guards, lambda: setattr(box, "other", 3.0), lambda: delattr(box, "other"))


@pytest.mark.parametrize(
    "read",
    [
        lambda box: vars(box)["scale"],
        lambda box: box.__dict__["scale"],
        lambda box: object.__getattribute__(box, "scale"),
        lambda box: operator.attrgetter("scale")(box),
        lambda box: float("{0.scale}".format(box)),  # noqa: UP030, UP032
        lambda box: getattr(box, "scale", 1.0),
    ],
)
def test_indirect_attribute_reads(read):
    box = Box(scale=2.0)
    guards = guards_of(lambda x: x * read(box), X)
    expect_change(guards, lambda: setattr(box, "scale", 3.0), lambda: setattr(box, "scale", 2.0))


def test_a_class_pattern():
    class Point:
        __match_args__ = ("scale",)

        def __init__(self, scale):
            self.scale = scale

    point = Point(2.0)

    def function(x):
        match point:
            case Point(scale):
                return x * scale

    guards = guards_of(function, X)
    expect_change(guards, lambda: setattr(point, "scale", 3.0), lambda: setattr(point, "scale", 2.0))


def test_an_enum():
    mode = Mode.FAST

    def function(x):
        return x * mode.value if mode is Mode.FAST else x

    def set_mode(value):
        nonlocal mode
        mode = value

    guards = guards_of(function, X)
    expect_change(guards, lambda: set_mode(Mode.SLOW), lambda: set_mode(Mode.FAST))
    expect_change(guards, lambda: setattr(Mode.FAST, "_value_", 5), lambda: setattr(Mode.FAST, "_value_", 1))


def test_a_dataclass_and_a_named_tuple():
    config = Config(2.0)
    pair = Pair(1.0, [2.0])

    def function(x):
        return x * config.rate + pair.first + pair.second[0]

    guards = guards_of(function, X)
    expect_no_change(guards, lambda: setattr(config, "name", "b"))
    expect_change(guards, lambda: setattr(config, "rate", 3.0), lambda: setattr(config, "rate", 2.0))
    expect_change(guards, lambda: pair.second.append(1), lambda: pair.second.pop())


def test_a_class_registered_with_an_abstract_class():
    class Abstract(abc.ABC):  # noqa: B024
        pass

    class Thing:
        pass

    thing = Thing()
    guards = guards_of(lambda x: x * 2 if isinstance(thing, Abstract) else x, X)
    expect_change(guards, lambda: Abstract.register(Thing))


def test_attributes_of_parameters_and_partials():
    weight = nn.Parameter(lucid.ones(3))
    partial = functools.partial(double)
    partial.scale = 2.0

    def function(x):
        return partial(x) * partial.scale * getattr(weight, "scale", 1.0)

    guards = guards_of(function, X)
    expect_change(guards, lambda: setattr(partial, "scale", 3.0), lambda: setattr(partial, "scale", 2.0))
    expect_change(guards, lambda: setattr(weight, "scale", 3.0), lambda: delattr(weight, "scale"))


def test_a_module_attribute_with_a_computed_name():
    module = types.ModuleType("module")
    module.SCALE = 2.0
    guards = guards_of(lambda x: x * getattr(module, "SC" + "ALE"), X)
    expect_change(guards, lambda: setattr(module, "SCALE", 3.0), lambda: setattr(module, "SCALE", 2.0))


def test_functions_that_share_their_code():
    def make(items):
        def method(self, x):
            return x * items[0]

        return method

    class Thing:
        pass

    items = [2.0]
    Thing.__matmul__ = make(items)
    thing = Thing()
    # The walk finds the code of the method, as a constant of `make`, but not the function object.
    guards = guards_of(lambda x: thing @ x if make else x, X)
    expect_change(guards, lambda: items.append(1.0), lambda: items.pop())
