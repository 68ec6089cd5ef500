"""Programs for families of types."""

import abc
import array
import collections
import datetime
import re
import sys
import types

import lucid
import numpy as np
from lucid import nn

from .case import Box, Case, family, replaced, rule


@family("`lucid.Tensor`")
def the_values_of_a_tensor_change():
    weight = lucid.ones(3)
    return Case(lambda x: x * weight, lambda: weight.add_(1))


@family("`lucid.Tensor`")
def a_tensor_is_replaced():
    box = Box()
    box.weight = lucid.ones(3)
    return Case(lambda x: x * box.weight, lambda: setattr(box, "weight", lucid.zeros(3)))


@family("`lucid.Tensor`")
def the_shape_of_a_tensor_changes():
    weight = lucid.ones(3)
    return Case(lambda x: x * len(weight), lambda: setattr(weight, "data", lucid.ones(5)))


@family("`lucid.Tensor`")
def a_parameter_needs_no_gradient_any_more():
    weight = nn.Parameter(lucid.ones(3))
    return Case(lambda x: x * (2 if weight.requires_grad else 3), lambda: weight.requires_grad_(False))


@family("`lucid.Tensor`")
def an_attribute_of_a_parameter_changes():
    weight = nn.Parameter(lucid.ones(3))
    weight.factor = 2.0
    return Case(lambda x: x * weight.factor, lambda: setattr(weight, "factor", 3.0))


@family("`nn.Module`")
def the_mode_of_a_module_changes():
    drop = nn.Dropout(1.0).eval()
    return Case(lambda x: drop(x), drop.train)


@family("`nn.Module`")
def a_parameter_of_a_module_is_replaced():
    layer = nn.Linear(3, 3)
    return Case(lambda x: layer(x).detach(), lambda: setattr(layer, "weight", nn.Parameter(lucid.zeros(3, 3))))


@family("`nn.Module`")
def a_module_gets_a_hook():
    layer = nn.Linear(3, 3)
    return Case(
        lambda x: layer(x).detach(), lambda: layer.register_forward_hook(lambda module, args, output: output * 2)
    )


@family("`nn.Module`")
def a_child_of_a_module_is_replaced():
    net = nn.Sequential(nn.Identity())
    return Case(lambda x: net(x), lambda: net.__setitem__(0, nn.Softmax(0)))


@family("`optim.Optimizer`")
def an_option_of_an_optimizer_changes():
    optimizer = lucid.optim.SGD([nn.Parameter(lucid.ones(3))], lr=2.0)
    return Case(
        lambda x: x * (2 if optimizer.param_groups[0]["maximize"] else 3),
        lambda: optimizer.param_groups[0].update(maximize=True),
    )


@family("`optim.Optimizer`")
def the_learning_rate_of_an_optimizer_changes():
    weight = nn.Parameter(lucid.ones(3))
    optimizer = lucid.optim.SGD([weight], lr=2.0)

    def function(x):
        weight.data.copy_(lucid.ones(3))
        weight.grad = None
        (weight * x).sum().backward()
        optimizer.step()
        return weight.detach().clone()

    return Case(function, lambda: optimizer.param_groups[0].update(lr=3.0))


@family("`LRScheduler`")
def an_attribute_of_a_schedule_changes():
    optimizer = lucid.optim.SGD([nn.Parameter(lucid.ones(3))], lr=2.0)
    schedule = lucid.optim.lr_scheduler.StepLR(optimizer, 1)
    schedule.mine = [2.0]
    return Case(lambda x: x * schedule.mine[0], lambda: schedule.mine.__setitem__(0, 3.0))


@family("`LRScheduler`")
def a_schedule_steps():
    optimizer = lucid.optim.SGD([nn.Parameter(lucid.ones(3))], lr=2.0)
    schedule = lucid.optim.lr_scheduler.StepLR(optimizer, 1)

    def change():
        optimizer.step()
        schedule.step()

    return Case(lambda x: x * schedule.get_last_lr()[0], change, "reads a learning rate schedule")


@family("classes with a metaclass")
def an_attribute_of_a_metaclass_changes():
    class Meta(type):
        factor = 2.0

    class C(metaclass=Meta):
        pass

    return Case(lambda x: x * C.factor, lambda: setattr(Meta, "factor", 3.0))


@family("classes with a metaclass")
def a_class_is_registered_with_an_abstract_one():
    class Base(abc.ABC):  # noqa: B024
        pass

    class C:
        pass

    c = C()
    return Case(lambda x: x * (2 if isinstance(c, Base) else 3), lambda: Base.register(C))


@rule(datetime.date)
def a_date_is_replaced():
    return replaced(datetime.date(2000, 1, 2), datetime.date(2000, 1, 3), lambda day: day.day)


@family("immutable types")
def a_pattern_is_replaced():
    return replaced(re.compile("a+"), re.compile("a"), lambda pattern: pattern.match("aaa").end())


@family("NumPy's scalars, dtypes and functions")
def a_numpy_scalar_is_replaced():
    return replaced(np.float32(2.0), np.float32(3.0), float)


@family("NumPy's scalars, dtypes and functions")
def a_ufunc_is_replaced():
    return replaced(np.add, np.multiply, lambda function: float(function(2.0, 3.0)))


@family("NumPy's scalars, dtypes and functions")
def the_names_of_a_dtype_change():
    dtype = np.dtype([("a", "f4")])
    return Case(lambda x: x * len(dtype.names[0]), lambda: setattr(dtype, "names", ("abc",)), "cannot be checked")


@family("NumPy's scalars, dtypes and functions")
def a_ufunc_of_python_code_is_refused():
    factors = [2.0]
    scale = np.frompyfunc(lambda value: value * factors[0], 1, 1)
    return Case(lambda x: x * float(scale(1.0)), lambda: factors.__setitem__(0, 3.0), "whose effects cannot be known")


@family("`numpy.ndarray`")
def an_element_of_an_array_changes():
    values = np.array([2.0])
    return Case(lambda x: x * float(values[0]), lambda: values.__setitem__(0, 3.0))


@family("`numpy.ndarray`")
def an_array_becomes_read_only():
    values = np.array([2.0])
    return Case(lambda x: x * (2 if values.flags.writeable else 3), lambda: values.setflags(write=False))


@family("`numpy.ndarray`")
def the_array_behind_an_array_changes():
    values = np.array([2.0, 2.0])
    part = values[:1]
    return Case(lambda x: x * float(part.base[1]), lambda: values.__setitem__(1, 3.0))


@family("`numpy.ndarray`")
def an_array_of_objects_is_refused():
    values = np.array([2.0], dtype=object)
    return Case(lambda x: x * values[0], lambda: values.__setitem__(0, 3.0), "cannot be checked")


@family("tuples with named fields that are written in C, such as `sys.version_info`")
def a_struct_sequence_is_replaced():
    return replaced(sys.version_info, sys.float_info, len)


@family("Python modules")
def an_attribute_of_a_module_changes():
    module = types.ModuleType("module")
    module.factor = 2.0
    return Case(lambda x: x * module.factor, lambda: setattr(module, "factor", 3.0))


@family("other classes of Lucid")
def the_limits_of_a_dtype_change():
    limits = lucid.finfo(lucid.float32)
    return Case(lambda x: x * limits.bits, lambda: setattr(limits, "bits", 7))


@family("other classes of Lucid")
def an_attribute_of_a_compiled_function_changes():
    inner = lucid.compile(lambda x: x * 2)
    inner.factor = 2.0
    return Case(lambda x: x * inner.factor, lambda: setattr(inner, "factor", 3.0))


@family("classes defined in Python")
def an_attribute_changes():
    box = Box()
    box.value = 2.0
    return Case(lambda x: x * box.value, lambda: setattr(box, "value", 3.0))


@family("classes defined in Python")
def the_class_of_an_object_changes():
    class Two:
        factor = 2.0

    class Three:
        factor = 3.0

    value = Two()
    return Case(lambda x: x * value.factor, lambda: setattr(value, "__class__", Three))


@family("classes defined in Python")
def the_contents_of_a_counter_change():
    counts = collections.Counter(a=2)
    return Case(lambda x: x * counts["a"], lambda: counts.update(a=1))


@family("any other type")
def an_unknown_type_is_refused():
    values = array.array("f", [2.0])
    return Case(
        lambda x: x * values[0], lambda: values.__setitem__(0, 3.0), "array.array whose state cannot be checked"
    )


# Immutable types: two values, how to tell them apart, and why calls run eagerly if they do.
