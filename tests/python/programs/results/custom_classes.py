"""Results that are instances of many classes, and exceptions with tensors."""

import collections
import dataclasses
import enum
import functools
import gc
import types
import typing
import weakref

import lucid
from lucid import nn

from .._harness import Programs, program, x0, xg


@dataclasses.dataclass
class Out:
    y: lucid.Tensor
    extra: object = None


@dataclasses.dataclass(slots=True)
class Slotted:
    y: lucid.Tensor
    n: int = 3


@dataclasses.dataclass(frozen=True)
class Frozen:
    y: lucid.Tensor
    label: str = "a"


@dataclasses.dataclass
class Derived(Out):
    total: object = dataclasses.field(init=False)

    def __post_init__(self):
        self.total = self.y.sum()


class Pair(typing.NamedTuple):
    a: lucid.Tensor
    b: object = 5


class Counted(collections.namedtuple("Counted", "a")):
    made = 0

    def __new__(cls, a):
        Counted.made += 1
        return super().__new__(cls, a)


class Bag(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.note = "n"


class Row(list):
    pass


class Plain:
    def __init__(self, y):
        self.y = y

    def __eq__(self, other):
        return True

    __hash__ = None


class SlotsAndDict:
    __slots__ = ("__dict__", "y")

    def __init__(self, y):
        self.y = y
        self.z = y * 2


class WithProperty:
    def __init__(self, y):
        self._y = y

    @property
    def y(self):
        return self._y * 2


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.stamp = cls.__name__
        return made


class WithMeta(metaclass=Meta):
    def __init__(self, y):
        self.y = y


class Setter:
    def __init__(self, y):
        object.__setattr__(self, "y", y)

    def __setattr__(self, name, value):
        raise TypeError("read-only")


class Color(enum.Enum):
    RED = 1


def _cyclic_object(y):
    made = Plain(y)
    made.me = made
    return made


def _cyclic_list(y):
    made = [y]
    made.append(made)
    return made


def _shared(y):
    part = [y]
    return {"a": part, "b": part, "c": (part, [part])}


def parts(value, depth=0):
    """What there is to see in a result."""
    if depth > 4:
        return "deep"
    if isinstance(value, lucid.Tensor):
        return value
    found = [type(value).__name__]
    if isinstance(value, (type, types.ModuleType, types.FunctionType)):
        return found
    if isinstance(value, dict):
        found += [parts(v, depth + 1) for v in value.values()]
    elif isinstance(value, (list, tuple)):
        found += [parts(v, depth + 1) for v in value]
    for name in sorted(getattr(value, "__dict__", {})):
        found += [name, parts(value.__dict__[name], depth + 1)]
    for cls in type(value).__mro__:
        for name in getattr(cls, "__slots__", ()):
            if name not in ("__dict__", "__weakref__"):
                found += [name, parts(getattr(value, name, None), depth + 1)]
    return found


RESULTS = dict(
    dataclass=Out,
    dataclass_nested=lambda y: Out(y, Out(y * 2, [Out(y)])),
    dataclass_slots=Slotted,
    dataclass_frozen=Frozen,
    dataclass_post_init=Derived,
    dataclass_extra_attribute=lambda y: (lambda o: (setattr(o, "more", y + 1), o)[1])(Out(y)),
    named_tuple=Pair,
    named_tuple_counting=Counted,
    dict_subclass=lambda y: Bag(y=y, z=[y]),
    list_subclass=lambda y: Row([y, y * 2]),
    list_subclass_attribute=lambda y: (lambda r: (setattr(r, "n", y), r)[1])(Row([y])),
    plain=Plain,
    slots_and_dict=SlotsAndDict,
    with_property=WithProperty,
    metaclass=WithMeta,
    setter=Setter,
    counter=lambda y: collections.Counter({"a": 2, "b": y.numel()}),
    chain_map=lambda y: collections.ChainMap({"y": y}, {"z": y}),
    ordered=lambda y: collections.OrderedDict([("z", y), ("a", y * 2)]),
    default_dict=lambda y: collections.defaultdict(list, {"y": [y]}),
    deque=lambda y: collections.deque([y, y * 2], maxlen=2),
    set_of_numbers=lambda y: {1, 2, y.numel()},
    frozen_set=lambda y: frozenset({"a", y.numel()}),
    array=lambda y: y.numpy().copy(),
    array_view=lambda y: y.numpy(),
    scalar=lambda y: y.sum().item(),
    listed=lambda y: y.tolist(),
    shape=lambda y: (y.shape, y.stride(), y.dtype, y.device),
    iterator=lambda y: list(iter(y)),
    generator=lambda y: (y * i for i in range(3)),
    mapped=lambda y: map(lambda v: v * 2, [y]),
    zipped=lambda y: list(zip([y], [y * 2])),
    method=lambda y: y.sum,
    partial=lambda y: functools.partial(lucid.add, y),
    function=lambda y: lambda: y,
    exception=lambda y: ValueError("bad", y),
    exception_plain=lambda y: KeyError("bad"),
    namespace=lambda y: types.SimpleNamespace(y=y, n=1),
    proxy=lambda y: types.MappingProxyType({"y": y}),
    type_made=lambda y: type("Made", (), {"y": 1}),
    class_itself=lambda y: Out,
    module_itself=lambda y: lucid,
    enum_member=lambda y: (Color.RED, {Color.RED: y}),
    nested_tuple=lambda y: ((y, (y, ())), [[]], {}),
    same_tensor_twice=lambda y: (y, y, [y]),
    view_and_base=lambda y: (y, y[1:], y.view(3, 1)),
    shared_part=_shared,
    cyclic_object=_cyclic_object,
    cyclic_list=_cyclic_list,
    parameter_new=nn.Parameter,
    size_zero=lambda y: y[:0],
    strings=lambda y: ("a" * 3, b"x", f"{y.numel()}", ""),
    big_numbers=lambda y: (10**30, -0.0, float("nan"), 1j),
    slices=lambda y: (slice(0, 2), range(3), ...),
    bytes_made=lambda y: bytearray(b"ab"),
    complex_keys=lambda y: {(1, "a"): y, None: y, 2.5: y, True: y},
    tensor_keys=lambda y: {y: 1},
    module_new=lambda y: nn.ReLU(),
    context_manager=lambda y: lucid.no_grad(),
    weak_reference=lambda y: weakref.ref(y),
)


class CustomClasses(Programs):
    def result_written_by_the_caller(run):
        f = run.compile(lambda x: {"y": [x * 2], "n": Out(x)})
        for _ in range(4):
            out = run.call(f, x0())
            out["y"].append(1)
            out["y"][0].zero_()
            out["n"].extra = "changed"
            out["k"] = 2

    def result_of_state(run):
        state = {"a": x0(), "list": [x0()]}
        f = run.compile(lambda x: (x * 2, state["a"], state["list"], state))
        for i in range(5):
            y, a, l, s = f(x0())
            run.see(y, a, l, a is state["a"], l is state["list"], s is state)
            if i == 2:
                state["a"] = lucid.ones(2)
                state["list"] = [1]

    def result_views_state(run):
        w = lucid.zeros(6)
        f = run.compile(lambda x: (w[:3], w.view(2, 3), w.add_(1)[3:]))
        for _ in range(4):
            a, b, c = run.call(f, x0())
            a.add_(10)
            run.see(w, b, c)

    def result_is_the_argument(run):
        f = run.compile(lambda x, l: (x, l, [x], x.view(3), x.detach()))
        for _ in range(4):
            x, l = x0(), [1]
            y, k, m, v, d = f(x, l)
            run.see(y is x, k is l, m[0] is x, v is x, d)
            v.zero_()
            run.see(x, d)

    def result_with_a_finalizer(run):
        log = []

        class Closing:
            def __init__(self, y):
                self.y = y

            def __del__(self):
                log.append(1)

        f = run.compile(lambda x: Closing(x * 2))
        for _ in range(4):
            out = f(x0())
            run.see(out.y, len(log))
            del out
            run.see(len(log))

    def result_finalized_by_weakref(run):
        log = []

        def make(x):
            out = Plain(x * 2)
            weakref.finalize(out, log.append, 1)
            return out

        f = run.compile(make)
        for _ in range(4):
            out = f(x0())
            run.see(out.y, len(log))
            del out
            gc.collect()
            run.see(len(log))

    def result_weakly_registered(run):
        alive = weakref.WeakSet()

        class Node:
            def __init__(self, y):
                self.y = y
                alive.add(self)

        f = run.compile(lambda x: Node(x * 2))
        kept = []
        for _ in range(4):
            kept.append(f(x0()))
            run.see(kept[-1].y, len(alive))

    def result_counted_by_the_class(run):
        class Node:
            count = 0

            def __init__(self, y):
                type(self).count += 1
                self.id = Node.count
                self.y = y

        f = run.compile(lambda x: Node(x * 2))
        for _ in range(5):
            out = f(x0())
            run.see(out.y, out.id, Node.count)

    def exceptions_raised_with_tensors(run):
        class Bad(Exception):
            pass

        def check(x, limit):
            if limit > 2:
                raise Bad("limit", x * 2)
            return x

        f = run.compile(check)
        for limit in (1, 1, 3, 3, 1, 3):
            try:
                run.see(f(x0(), limit))
            except Bad as error:
                run.see(error.args[0], error.args[1], error.__cause__)

    def exceptions_with_the_cause(run):
        def check(x):
            try:
                {}["k"]
            except KeyError as error:
                raise ValueError("v") from error

        f = run.compile(check)
        for _ in range(4):
            try:
                f(x0())
            except ValueError as error:
                run.see(error, error.__cause__, error.__traceback__.tb_next is not None)

    @program("result_{}", each=RESULTS)
    def returned(run, make):
        f = run.compile(lambda x: make(x * 2))
        before = None
        for i in range(4):
            x = x0() * (i + 1)
            out = run.call(f, x) if "yclic" not in make.__name__ else f(x)
            run.see(parts(out), out is before, type(out).__name__)
            before = out

    @program("result_{}_backward", each=RESULTS)
    def returned_with_gradient(run, make):
        f = run.compile(lambda x: make(x * 2))
        for _ in range(4):
            x = xg()
            try:
                out = f(x)
            except RuntimeError as error:
                run.see(error)
                continue
            found = [v for v in (out if isinstance(out, (list, tuple)) else [getattr(out, "y", out)])]
            for value in found:
                if isinstance(value, lucid.Tensor) and value.requires_grad and value.grad_fn is not None:
                    value.sum().backward(retain_graph=True)
            run.see(x.grad)
