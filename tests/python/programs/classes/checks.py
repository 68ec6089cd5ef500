"""Classes: what isinstance asks, enums, generic classes and dataclasses."""

import abc
import enum
import types
import typing
from dataclasses import asdict, astuple, dataclass, field, fields, replace

from .._harness import Programs, x0


class ClassChecks(Programs):
    def abstract_class_registered(run):
        class Base(abc.ABC):  # noqa: B024
            pass

        class Box:
            pass

        box = Box()
        run.steps(run.compile(lambda x: x * (2 if isinstance(box, Base) else 3)), lambda: Base.register(Box))

    def subclass_hook_reads_state(run):
        accepted = [False]

        class Base(abc.ABC):
            @classmethod
            def __subclasshook__(cls, other):
                return accepted[0]

        class Box:
            pass

        box = Box()
        run.steps(run.compile(lambda x: x * (2 if isinstance(box, Base) else 3)), lambda: accepted.__setitem__(0, True))

    def instance_check_reads_state(run):
        class Meta(type):
            def __instancecheck__(cls, instance):
                return cls.accepts

        class Base(metaclass=Meta):
            accepts = False

        f = run.compile(lambda x: x * (2 if isinstance(3, Base) else 3))
        run.steps(f, lambda: setattr(Base, "accepts", not Base.accepts))

    def protocol_checked(run):
        @typing.runtime_checkable
        class HasScale(typing.Protocol):
            scale: float

        box = types.SimpleNamespace()
        f = run.compile(lambda x: x * (2 if isinstance(box, HasScale) else 3))
        run.steps(f, lambda: setattr(box, "scale", 1.0))

    def bases_as_an_attribute(run):
        class Box:
            pass

        class Odd:
            def __init__(self):
                self.__bases__ = ()

        odd = Odd()
        f = run.compile(lambda x: x * (2 if issubclass(odd, Box) else 3))
        run.steps(f, lambda: setattr(odd, "__bases__", (Box,)))

    def enum_value_list(run):
        class Mode(enum.Enum):
            A = [2.0]  # noqa: RUF012

        run.steps(run.compile(lambda x: x * Mode.A.value[0]), lambda: Mode.A.value.__setitem__(0, Mode.A.value[0] + 1))

    def enum_attribute(run):
        class Mode(enum.Enum):
            A = 1

            @property
            def scale(self):
                return self._scale

        Mode.A._scale = 2.0
        run.steps(run.compile(lambda x, m: x * m.scale), lambda: setattr(Mode.A, "_scale", Mode.A._scale + 1), Mode.A)

    def enum_value_changed(run):
        class Mode(enum.Enum):
            A = 2.0

        run.steps(run.compile(lambda x, m: x * m.value), lambda: setattr(Mode.A, "_value_", Mode.A._value_ + 1), Mode.A)

    def flags_combined(run):
        class Flags(enum.Flag):
            A = enum.auto()
            B = enum.auto()

        f = run.compile(lambda x, m: x * (2 if Flags.A in m else 3) + (1 if m & Flags.B else 0))
        run.over(f, Flags.A, Flags.A, Flags.A | Flags.B, Flags.B, Flags(0), Flags.A | Flags.B, Flags.A)

    def generic_alias_of_a_class(run):
        class Box:
            scale = 2.0

        alias = types.GenericAlias(Box, (int,))
        run.steps(run.compile(lambda x: x * alias.scale), lambda: setattr(Box, "scale", Box.scale + 1))

    def generic_class(run):
        T = typing.TypeVar("T")

        class Box(typing.Generic[T]):
            scale = 2.0

            def __init__(self):
                self.by = self.scale

        alias = Box[int]
        run.steps(run.compile(lambda x: x * alias().by), lambda: setattr(Box, "scale", Box.scale + 1))

    def generic_alias_in_an_annotation_default(run):
        class Box(typing.NamedTuple):
            scale: float = 2.0
            by: list = [1.0]  # noqa: RUF012

        box = Box()
        run.steps(run.compile(lambda x: x * box.scale + box.by[0]), lambda: box.by.__setitem__(0, box.by[0] + 1))

    def named_tuple_replaced(run):
        class Box(typing.NamedTuple):
            scale: float = 2.0
            by: float = 1.0

            @property
            def total(self):
                return self.scale + self.by

        f = run.compile(lambda x, b: x * b._replace(by=5.0).total + b.total)
        run.over(f, Box(), Box(), Box(), Box(3.0), Box(3.0, 4.0), Box())

    def dataclass_replaced_and_listed(run):
        @dataclass
        class Box:
            scale: float = 2.0
            parts: list = field(default_factory=list)

            def total(self):
                return sum(self.parts) + self.scale

        box = Box(parts=[1.0])

        def f(x):
            other = replace(box, scale=box.scale + 1)
            return x * other.total() + asdict(box)["scale"] + astuple(box)[0] + len(fields(box))

        f = run.compile(f)

        def change():
            box.scale += 1
            box.parts.append(1.0)

        run.steps(f, change)

    def dataclass_compared(run):
        @dataclass(order=True)
        class Box:
            scale: float = 2.0
            note: str = field(default="", compare=False)

        a, b = Box(1.0), Box(2.0)
        f = run.compile(lambda x: x * (2 if a < b else 3) + (1 if a == b else 0) + len(repr(a)))

        def change():
            a.scale += 1
            a.note += "x"

        run.steps(f, change)

    def dataclass_argument_compared(run):
        @dataclass
        class Box:
            scale: float = 2.0

        known = Box(3.0)
        f = run.compile(lambda x, b: x * (2 if b == known else 3))
        run.over(f, Box(), Box(), Box(), Box(3.0), known, Box())
        known.scale = 2.0
        run.call(f, x0(), Box())
        run.call(f, x0(), known)

    def dataclass_with_slots_and_defaults(run):
        @dataclass(slots=True)
        class Box:
            scale: float = 2.0
            by: float = 1.0

        f = run.compile(lambda x, b: x * b.scale + b.by)
        box = Box()
        run.repeat(f, x0, box, n=5, at={3: lambda: setattr(box, "by", 5.0), 4: lambda: delattr(box, "by")})
        run.call(f, x0(), Box())

    def dataclass_default_of_the_class(run):
        @dataclass
        class Box:
            scale: float = 2.0

        box = Box()
        del box.scale
        f = run.compile(lambda x, b: x * b.scale)
        run.repeat(f, x0, box, n=5, at={3: lambda: setattr(Box, "scale", 3.0), 4: lambda: setattr(box, "scale", 4.0)})

    def dataclass_attribute_that_is_no_field(run):
        @dataclass
        class Box:
            scale: float = 2.0

        box = Box()
        box.extra = 1.0
        run.steps(run.compile(lambda x, b: x * b.scale + b.extra), lambda: setattr(box, "extra", box.extra + 1), box)

    def getattr_with_a_table(run):
        class Box:
            def __init__(self):
                self.values = {"scale": 2.0}

            def __getattr__(self, name):
                try:
                    return self.__dict__["values"][name]
                except KeyError:
                    raise AttributeError(name) from None

        box = Box()
        run.steps(run.compile(lambda x: x * box.scale), lambda: box.values.update(scale=box.values["scale"] + 1))
        run.steps(run.compile(lambda x, b: x * b.scale), lambda: box.values.update(scale=box.values["scale"] + 1), box)

    def attribute_shadows_getattr(run):
        class Box:
            def __getattr__(self, name):
                return 2.0

        box = Box()
        run.steps(run.compile(lambda x: x * box.scale), lambda: setattr(box, "scale", box.scale + 1))

    def instance_attribute_shadows_a_method(run):
        class Box:
            def scale(self):
                return 2.0

        box = Box()
        run.steps(run.compile(lambda x: x * box.scale()), lambda: setattr(box, "scale", lambda: 5.0))

    def attribute_by_a_computed_name(run):
        class Box:
            def __init__(self):
                self.scale_2 = 2.0

        box = Box()
        f = run.compile(lambda x, n: x * getattr(box, f"scale_{n}"))
        run.steps(f, lambda: setattr(box, "scale_2", box.scale_2 + 1), 2)

    def attribute_by_a_format(run):
        box = types.SimpleNamespace(scale=2.0)

        class Box:
            scale = 2.0

        other = Box()
        f = run.compile(lambda x: x * float("{0.scale}".format(other)) + float(f"{box.scale}"))

        def change():
            other.scale += 1
            box.scale += 1

        run.steps(f, change)

    def attribute_by_matching(run):
        class Box:
            __match_args__ = ("scale",)

            def __init__(self):
                self.scale = 2.0
                self.by = 1.0

        box = Box()

        def f(x):
            match box:
                case Box(2.0, by=by):
                    return x * 2 + by
                case Box(scale):
                    return x * scale

        f = run.compile(f)

        def change():
            box.scale += 1
            box.by += 1

        run.steps(f, change)

    def registry_by_init_subclass(run):
        class Base:
            registry = {}  # noqa: RUF012

            def __init_subclass__(cls, scale=1.0):
                Base.registry[cls.__name__] = scale

        f = run.compile(lambda x: x * sum(Base.registry.values()))
        run.steps(f, lambda: type("Box", (Base,), {}, scale=len(Base.registry) + 5.0))

    def subclass_made_by_the_call(run):
        log = []

        class Base:
            def __init_subclass__(cls):
                log.append(cls.__name__)

        def f(x):
            class Box(Base):
                scale = 2.0

            return x * Box.scale

        run.repeat(run.compile(f), x0, n=4)
        run.see(len(log))

    def set_name_reads_state(run):
        scale = [2.0]

        class Field:
            def __set_name__(self, owner, name):
                owner.total = scale[0]

        def f(x):
            class Box:
                part = Field()

            return x * Box.total

        run.steps(run.compile(f), lambda: scale.__setitem__(0, scale[0] + 1))

    def nested_instances_shared(run):
        class Node:
            def __init__(self, scale, child=None):
                self.scale = scale
                self.child = child

        def total(node):
            return node.scale + (total(node.child) if node.child is not None else 0.0)

        leaf = Node(1.0)
        f = run.compile(lambda x, a, b: x * total(a) + total(b))
        a, b = Node(2.0, leaf), Node(3.0, leaf)
        run.repeat(f, x0, a, b, n=5, at={3: lambda: setattr(b, "child", Node(7.0)), 4: lambda: setattr(a, "child", b)})
        leaf.child = leaf
        b.child = None
        run.call(f, x0(), a, b)
