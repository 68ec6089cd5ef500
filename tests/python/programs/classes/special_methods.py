"""Classes: special methods, descriptors, metaclasses, slots and inheritance."""

import builtins
import enum
import functools
import itertools
import time
import types

import lucid

from .._harness import Programs, patched, x0
from ..state.closures import Adder, Scaler


class Two:
    def by(self):
        return 2.0


class Three:
    def by(self):
        return 3.0


class SpecialMethods(Programs):
    def special_method_is_an_object(run):
        class Table:
            __getitem__ = Scaler()

        table = Table()
        f = run.compile(lambda x: x * table[0])
        run.steps(f, lambda: setattr(Table.__getitem__, "scale", Table.__getitem__.scale + 1))

    def special_method_is_a_static_object(run):
        scaler = Scaler()

        class Table:
            __getitem__ = staticmethod(scaler)

        table = Table()
        run.steps(run.compile(lambda x: x * table[0]), lambda: setattr(scaler, "scale", scaler.scale + 1))

    def special_method_is_a_partial_method(run):
        scales = [2.0]

        class Table:
            def get(self, values, index):
                return values[index]

            __getitem__ = functools.partialmethod(get, scales)

        table = Table()
        run.steps(run.compile(lambda x: x * table[0]), lambda: scales.__setitem__(0, scales[0] + 1))

    def special_method_is_a_bound_method(run):
        scaler = Scaler()

        class Table:
            __call__ = scaler.__call__
            __len__ = types.MethodType(lambda self: int(self.scale), scaler)

        table = Table()
        run.steps(run.compile(lambda x: x * table() + len(table)), lambda: setattr(scaler, "scale", scaler.scale + 1))

    def special_method_from_a_list(run):
        values = [2.0, 3.0]

        class Table:
            __getitem__ = values.__getitem__
            __len__ = values.__len__

        table = Table()
        f = run.compile(lambda x: x * table[0] + len(table))

        def change():
            values[0] += 1
            values.append(0.0)

        run.steps(f, change)

    def special_method_of_a_metaclass_is_an_object(run):
        class Meta(type):
            __getitem__ = Scaler()

        class Table(metaclass=Meta):
            pass

        f = run.compile(lambda x: x * Table[0])
        scaler = Meta.__dict__["__getitem__"]
        run.steps(f, lambda: setattr(scaler, "scale", scaler.scale + 1))

    def right_operand_decides(run):
        class Times:
            def __init__(self):
                self.by = 2.0

            def __rmul__(self, x):
                return x * self.by

        times = Times()
        run.steps(run.compile(lambda x: x * times), lambda: setattr(times, "by", times.by + 1))

    def descriptor_with_state(run):
        class Field:
            def __init__(self):
                self.values = {}

            def __get__(self, instance, owner):
                return self.values.get("scale", 2.0)

        class Box:
            scale = Field()

        box = Box()
        f = run.compile(lambda x: x * box.scale)
        values = Box.__dict__["scale"].values
        run.steps(f, lambda: values.update(scale=values.get("scale", 2.0) + 1))

    def property_of_a_metaclass(run):
        class Meta(type):
            @property
            def scale(cls):
                return cls._scale

        class Box(metaclass=Meta):
            _scale = 2.0

        run.steps(run.compile(lambda x: x * Box.scale), lambda: setattr(Box, "_scale", Box._scale + 1))

    def property_of_a_metaclass_replaced(run):
        class Meta(type):
            @property
            def scale(cls):
                return 2.0

        class Box(metaclass=Meta):
            pass

        run.steps(run.compile(lambda x: x * Box.scale), lambda: setattr(Meta, "scale", property(lambda cls: 5.0)))

    def property_of_a_module(run):
        class Lazy(types.ModuleType):
            @property
            def scale(self):
                return 2.0

        module = Lazy("lazy")
        run.steps(run.compile(lambda x: x * module.scale), lambda: setattr(Lazy, "scale", property(lambda self: 5.0)))

    def special_method_of_a_module(run):
        class Lazy(types.ModuleType):
            def __mul__(self, x):
                return x * 2

        module = Lazy("lazy")
        run.steps(run.compile(lambda x: module * x), lambda: setattr(Lazy, "__mul__", lambda self, x: x * 5))

    def getattr_of_a_module(run):
        module = types.ModuleType("lazy")
        module.values = {"scale": 2.0}
        module.__getattr__ = lambda name: module.values[name]
        f = run.compile(lambda x: x * module.scale)
        run.steps(f, lambda: module.values.update(scale=module.values["scale"] + 1))

    def slot_hidden_by_a_slot(run):
        class Base:
            __slots__ = ("scale",)

        class Box(Base):
            __slots__ = ("scale",)

            def get(self):
                return super().scale + self.scale

        box = Box()
        box.scale = 1.0
        Base.scale.__set__(box, 2.0)
        run.steps(run.compile(lambda x: x * box.get()), lambda: Base.scale.__set__(box, Base.scale.__get__(box) + 1))

    def slot_with_another_name(run):
        class Base:
            __slots__ = ("_scale",)

        class Box(Base):
            scale = Base._scale

        box = Box()
        box._scale = 2.0
        run.steps(run.compile(lambda x: x * box.scale), lambda: setattr(box, "_scale", box._scale + 1))

    def slot_with_another_name_of_an_argument(run):
        class Base:
            __slots__ = ("_scale",)

        class Box(Base):
            scale = Base._scale

        box = Box()
        box._scale = 2.0
        run.steps(run.compile(lambda x, b: x * b.scale), lambda: setattr(box, "_scale", box._scale + 1), box)

    def slot_and_dict(run):
        class Box:
            __slots__ = ("__dict__", "scale")

        box = Box()
        box.scale, box.by = 2.0, 1.0
        f = run.compile(lambda x: x * box.scale + box.by)

        def change():
            box.scale += 1
            box.by += 1

        run.steps(f, change)

    def private_slot(run):
        class Box:
            __slots__ = ("__scale",)

            def __init__(self):
                self.__scale = 2.0

            def grow(self):
                self.__scale += 1

            def get(self):
                return self.__scale

        box = Box()
        run.steps(run.compile(lambda x: x * box.get()), box.grow)

    def class_swapped(run):
        box = Two()
        f = run.compile(lambda x: x * box.by())
        run.steps(f, lambda: setattr(box, "__class__", Three if type(box) is Two else Two))

    def class_of_an_argument_swapped(run):
        box = Two()
        f = run.compile(lambda x, b: x * b.by())
        run.steps(f, lambda: setattr(box, "__class__", Three if type(box) is Two else Two), box)

    def bases_changed(run):
        class Box(Two):
            pass

        box = Box()
        run.steps(run.compile(lambda x: x * box.by()), lambda: setattr(Box, "__bases__", (Three,)))

    def attribute_added_to_a_base(run):
        class Base:
            pass

        class Box(Base):
            pass

        box = Box()
        f = run.compile(lambda x: x * getattr(box, "scale", 2.0))
        run.steps(f, lambda: setattr(Base, "scale", getattr(Base, "scale", 2.0) + 1))

    def special_method_reads_the_clock(run):
        class Clock:
            __float__ = time.perf_counter

        clock = Clock()
        f = run.compile(lambda x: x[0] * float(clock))
        values = {f(lucid.ones(1).double()).item() for _ in range(4)}
        run.see(len(values))

    def special_method_counts(run):
        counter = itertools.count()

        class Table:
            __len__ = counter.__next__
            __call__ = functools.partial(next, counter)

        table = Table()
        run.repeat(run.compile(lambda x: x * len(table) + table()), x0, n=4)

    def method_of_a_trusted_module_patched(run):
        class Mode(enum.Enum):
            A = 1

        f = run.compile(lambda x: x * hash(Mode.A))
        for _ in range(3):
            run.see(f(lucid.ones(1)).item() == lucid.tensor(float(hash(Mode.A))).item())
        with patched(enum.Enum, "__hash__", lambda self: 7):
            run.see(f(lucid.ones(1)).item() == 7.0)

    def name_of_the_globals_as_text(run):
        space = {"scale": 2.0, "__builtins__": builtins}
        exec("def helper(): return scale", space)  # noqa: S102
        helper, adder = space["helper"], Adder(1.0)
        f = run.compile(lambda x: (adder + x) * getattr(helper, "__globals__")["scale"])  # noqa: B009
        run.steps(f, lambda: space.update(scale=space["scale"] + 1))
