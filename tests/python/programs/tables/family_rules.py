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

from .._harness import Box, Programs, program


class FamilyRules(Programs, compiles=True):
    @program(covers=("`lucid.Tensor`",))
    def the_values_of_a_tensor_change(run):
        weight = lucid.ones(3)
        run.shows(lambda x: x * weight, lambda: weight.add_(1))

    @program(covers=("`lucid.Tensor`",))
    def a_tensor_is_replaced(run):
        box = Box(weight=lucid.ones(3))
        run.shows(lambda x: x * box.weight, lambda: setattr(box, "weight", lucid.zeros(3)))

    @program(covers=("`lucid.Tensor`",))
    def the_shape_of_a_tensor_changes(run):
        weight = lucid.ones(3)
        run.shows(lambda x: x * len(weight), lambda: setattr(weight, "data", lucid.ones(5)))

    @program(covers=("`lucid.Tensor`",))
    def a_parameter_needs_no_gradient_any_more(run):
        weight = nn.Parameter(lucid.ones(3))
        run.shows(lambda x: x * (2 if weight.requires_grad else 3), lambda: weight.requires_grad_(False))

    @program(covers=("`lucid.Tensor`",))
    def an_attribute_of_a_parameter_changes(run):
        weight = nn.Parameter(lucid.ones(3))
        weight.factor = 2.0
        run.shows(lambda x: x * weight.factor, lambda: setattr(weight, "factor", 3.0))

    @program(covers=("`nn.Module`",))
    def the_mode_of_a_module_changes(run):
        drop = nn.Dropout(1.0).eval()
        run.shows(lambda x: drop(x), drop.train)

    @program(covers=("`nn.Module`",))
    def a_parameter_of_a_module_is_replaced(run):
        layer = nn.Linear(3, 3)
        run.shows(lambda x: layer(x).detach(), lambda: setattr(layer, "weight", nn.Parameter(lucid.zeros(3, 3))))

    @program(covers=("`nn.Module`",))
    def a_module_gets_a_hook(run):
        layer = nn.Linear(3, 3)
        run.shows(
            lambda x: layer(x).detach(), lambda: layer.register_forward_hook(lambda module, args, output: output * 2)
        )

    @program(covers=("`nn.Module`",))
    def a_child_of_a_module_is_replaced(run):
        net = nn.Sequential(nn.Identity())
        run.shows(lambda x: net(x), lambda: net.__setitem__(0, nn.Softmax(0)))

    @program(covers=("`optim.Optimizer`",))
    def an_option_of_an_optimizer_changes(run):
        optimizer = lucid.optim.SGD([nn.Parameter(lucid.ones(3))], lr=2.0)
        run.shows(
            lambda x: x * (2 if optimizer.param_groups[0]["maximize"] else 3),
            lambda: optimizer.param_groups[0].update(maximize=True),
        )

    @program(covers=("`optim.Optimizer`",))
    def the_learning_rate_of_an_optimizer_changes(run):
        weight = nn.Parameter(lucid.ones(3))
        optimizer = lucid.optim.SGD([weight], lr=2.0)

        def function(x):
            weight.data.copy_(lucid.ones(3))
            weight.grad = None
            (weight * x).sum().backward()
            optimizer.step()
            return weight.detach().clone()

        run.shows(function, lambda: optimizer.param_groups[0].update(lr=3.0))

    @program(covers=("`LRScheduler`",))
    def an_attribute_of_a_schedule_changes(run):
        optimizer = lucid.optim.SGD([nn.Parameter(lucid.ones(3))], lr=2.0)
        schedule = lucid.optim.lr_scheduler.StepLR(optimizer, 1)
        schedule.mine = [2.0]
        run.shows(lambda x: x * schedule.mine[0], lambda: schedule.mine.__setitem__(0, 3.0))

    @program(covers=("`LRScheduler`",), eager="reads a learning rate schedule")
    def a_schedule_steps(run):
        optimizer = lucid.optim.SGD([nn.Parameter(lucid.ones(3))], lr=2.0)
        schedule = lucid.optim.lr_scheduler.StepLR(optimizer, 1)

        def change():
            optimizer.step()
            schedule.step()

        run.shows(lambda x: x * schedule.get_last_lr()[0], change)

    @program(covers=("classes with a metaclass",))
    def an_attribute_of_a_metaclass_changes(run):
        class Meta(type):
            factor = 2.0

        class C(metaclass=Meta):
            pass

        run.shows(lambda x: x * C.factor, lambda: setattr(Meta, "factor", 3.0))

    @program(covers=("classes with a metaclass",))
    def a_class_is_registered_with_an_abstract_one(run):
        class Base(abc.ABC):  # noqa: B024
            pass

        class C:
            pass

        c = C()
        run.shows(lambda x: x * (2 if isinstance(c, Base) else 3), lambda: Base.register(C))

    @program(covers=(datetime.date,))
    def a_date_is_replaced(run):
        run.shows_replaced(datetime.date(2000, 1, 2), datetime.date(2000, 1, 3), lambda day: day.day)

    @program(covers=("immutable types",))
    def a_pattern_is_replaced(run):
        run.shows_replaced(re.compile("a+"), re.compile("a"), lambda pattern: pattern.match("aaa").end())

    @program(covers=("NumPy's scalars, dtypes and functions",))
    def a_numpy_scalar_is_replaced(run):
        run.shows_replaced(np.float32(2.0), np.float32(3.0), float)

    @program(covers=("NumPy's scalars, dtypes and functions",))
    def a_ufunc_is_replaced(run):
        run.shows_replaced(np.add, np.multiply, lambda function: float(function(2.0, 3.0)))

    @program(covers=("NumPy's scalars, dtypes and functions",), eager="cannot be checked")
    def the_names_of_a_dtype_change(run):
        dtype = np.dtype([("a", "f4")])
        run.shows(lambda x: x * len(dtype.names[0]), lambda: setattr(dtype, "names", ("abc",)))

    @program(covers=("NumPy's scalars, dtypes and functions",), eager="whose effects cannot be known")
    def a_ufunc_of_python_code_is_refused(run):
        factors = [2.0]
        scale = np.frompyfunc(lambda value: value * factors[0], 1, 1)
        run.shows(lambda x: x * float(scale(1.0)), lambda: factors.__setitem__(0, 3.0))

    @program(covers=("`numpy.ndarray`",))
    def an_element_of_an_array_changes(run):
        values = np.array([2.0])
        run.shows(lambda x: x * float(values[0]), lambda: values.__setitem__(0, 3.0))

    @program(covers=("`numpy.ndarray`",))
    def an_array_becomes_read_only(run):
        values = np.array([2.0])
        run.shows(lambda x: x * (2 if values.flags.writeable else 3), lambda: values.setflags(write=False))

    @program(covers=("`numpy.ndarray`",))
    def the_array_behind_an_array_changes(run):
        values = np.array([2.0, 2.0])
        part = values[:1]
        run.shows(lambda x: x * float(part.base[1]), lambda: values.__setitem__(1, 3.0))

    @program(covers=("`numpy.ndarray`",), eager="cannot be checked")
    def an_array_of_objects_is_refused(run):
        values = np.array([2.0], dtype=object)
        run.shows(lambda x: x * values[0], lambda: values.__setitem__(0, 3.0))

    @program(covers=("tuples with named fields that are written in C, such as `sys.version_info`",))
    def a_struct_sequence_is_replaced(run):
        run.shows_replaced(sys.version_info, sys.float_info, len)

    @program(covers=("Python modules",))
    def an_attribute_of_a_module_changes(run):
        module = types.ModuleType("module")
        module.factor = 2.0
        run.shows(lambda x: x * module.factor, lambda: setattr(module, "factor", 3.0))

    @program(covers=("other classes of Lucid",))
    def the_limits_of_a_dtype_change(run):
        limits = lucid.finfo(lucid.float32)
        run.shows(lambda x: x * limits.bits, lambda: setattr(limits, "bits", 7))

    @program(covers=("other classes of Lucid",))
    def an_attribute_of_a_compiled_function_changes(run):
        inner = lucid.compile(lambda x: x * 2)
        inner.factor = 2.0
        run.shows(lambda x: x * inner.factor, lambda: setattr(inner, "factor", 3.0))

    @program(covers=("classes defined in Python",))
    def an_attribute_changes(run):
        box = Box(value=2.0)
        run.shows(lambda x: x * box.value, lambda: setattr(box, "value", 3.0))

    @program(covers=("classes defined in Python",))
    def the_class_of_an_object_changes(run):
        class Two:
            factor = 2.0

        class Three:
            factor = 3.0

        value = Two()
        run.shows(lambda x: x * value.factor, lambda: setattr(value, "__class__", Three))

    @program(covers=("classes defined in Python",))
    def the_contents_of_a_counter_change(run):
        counts = collections.Counter(a=2)
        run.shows(lambda x: x * counts["a"], lambda: counts.update(a=1))

    @program(covers=("any other type",), eager="array.array whose state cannot be checked")
    def an_unknown_type_is_refused(run):
        values = array.array("f", [2.0])
        run.shows(lambda x: x * values[0], lambda: values.__setitem__(0, 3.0))
