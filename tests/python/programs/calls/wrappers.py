"""Compiled functions, objects and modules used as what they wrap: operators, attributes, and targets of many kinds."""

import dataclasses
import functools
import inspect
import math
import operator
import pickle

import lucid
from lucid import nn

from .._harness import Programs, program, x0, xg
from ..results.custom_classes import Out


def twice(x, k=2.0, *, shift=0.0):
    return x * k + shift


class Adder:
    """Adds."""

    def __init__(self, k=1.0):
        self.k = k
        self.calls = []

    def __call__(self, x):
        return x + self.k

    def method(self, x):
        return x + 2 * self.k

    @classmethod
    def make(cls, x):
        return x + len(cls.__name__)

    @staticmethod
    def plain(x):
        return x + 3

    def __len__(self):
        return 7

    def __getitem__(self, key):
        return key * 2

    def __setitem__(self, key, value):
        self.calls.append((key, value))

    def __delitem__(self, key):
        self.calls.append(key)

    def __iter__(self):
        return iter([1, 2])

    def __contains__(self, item):
        return item == 5

    def __enter__(self):
        self.calls.append("enter")
        return self

    def __exit__(self, *unused):
        self.calls.append("exit")

    def __eq__(self, other):
        return isinstance(other, Adder) and self.k == other.k

    def __hash__(self):
        return 5

    def __lt__(self, other):
        return True

    def __add__(self, other):
        return "sum"

    def __radd__(self, other):
        return "reversed sum"

    def __iadd__(self, other):
        self.k += other
        return self

    def __matmul__(self, other):
        return "product"

    def __neg__(self):
        return "negated"

    def __bool__(self):
        return False

    def __int__(self):
        return 3

    def __float__(self):
        return 4.0

    def __index__(self):
        return 1

    def __reversed__(self):
        return iter([2, 1])

    def __format__(self, spec):
        return f"formatted {spec}"

    def __str__(self):
        return "text"

    def __dir__(self):
        return ["one"]


class Both(Adder, nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.k = 1.0
        self.calls = []

    __call__ = nn.Module.__call__

    def forward(self, x):
        return x + self.k


OPERATORS = dict(
    length=len,
    item=lambda f: f[3],
    listed=list,
    contains=lambda f: (5 in f, 6 in f),
    equal=lambda f: (f == Adder(), Adder() == f, f != Adder(2.0), f == f),
    hashed=lambda f: hash(f),
    less=lambda f: f < 3,
    plus=lambda f: f + 1,
    reversed_plus=lambda f: 1 + f,
    product=lambda f: f @ 1,
    negated=lambda f: -f,
    truth=bool,
    integer=int,
    real=float,
    index=operator.index,
    backwards=lambda f: list(reversed(f)),
    formatted=lambda f: f"{f:x}",
    text=str,
    directory=dir,
    set_item=lambda f: (f.__setitem__(1, 2), operator.setitem(f, 3, 4), f.calls),
    delete_item=lambda f: (operator.delitem(f, 3), f.calls),
    entered=lambda f: (f.__enter__() is f, f.calls),
    with_statement=lambda f: [0 for _ in [0] if _entered(f)] + f.calls,
    added_in_place=lambda f: operator.iadd(f, 2).k,
    documented=lambda f: f.__doc__,
    named=lambda f: type(f).__name__ if False else f.__class__.__name__,
    instance=lambda f: (isinstance(f, Adder), callable(f)),
    variables=lambda f: sorted(name for name in vars(f) if not name.startswith("_")),
    attribute_set=lambda f: (setattr(f, "k", 5.0), f.k, f(x0()), f.method(x0())),
    attribute_deleted=lambda f: (setattr(f, "z", 1), delattr(f, "z"), hasattr(f, "z")),
    matched=lambda f: _match(f),
)


def _entered(f):
    with f as g:
        return g.k > 100


def _match(f):
    match f:
        case Adder(k=1.0):
            return "adder"
        case _:
            return "other"


def _use(run, target, use):
    f = run.compile(target)
    for _ in range(2):
        run.call(f, x0())
        run.call(use, f)


TARGETS = dict(
    op=lambda: lucid.exp,
    method_of_tensor=lambda: lucid.Tensor.exp,
    bound_method_of_tensor=lambda: x0().add,
    builtin=lambda: len,
    math=lambda: math.ceil,
    constructor=lambda: Out,
    list_type=lambda: list,
    string_method=lambda: "{}".format,
    bound_append=lambda: [].append,
    item_getter=lambda: operator.itemgetter(0),
    method_caller=lambda: operator.methodcaller("exp"),
    attribute_getter=lambda: operator.attrgetter("shape"),
    partial=lambda: functools.partial(lucid.add, lucid.ones(3)),
    partial_of_method=lambda: functools.partial(Adder(3.0).method),
    bound=lambda: Adder(3.0).method,
    class_method=lambda: Adder.make,
    static=lambda: Adder.plain,
    cached=lambda: functools.lru_cache(lambda x: x * 2),
    dispatched=lambda: functools.singledispatch(lambda x: x * 2),
    module_class=lambda: nn.ReLU,
    module_method=lambda: nn.Linear(3, 3, bias=False).forward,
    functional=lambda: nn.functional.relu,
    no_grad=lambda: lucid.no_grad()(twice),
    apply=lambda: _Square.apply,
    random=lambda: lucid.rand_like,
)


class _Square(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]


class Wrappers(Programs):
    @program("object_operator_{}", each=OPERATORS)
    def object_operator(run, use):
        _use(run, Adder(), use)

    @program("module_operator_{}", each=OPERATORS)
    def module_operator(run, use):
        _use(run, Both(), use)

    def attributes_of_the_function_written(run):
        def function(x, k=2.0, *, shift=0.0):
            return x * k + shift

        def other(x, k=2.0, *, shift=0.0):
            return x * k + shift + 100

        f = run.compile(function)
        run.repeat(f, x0, n=2)
        for name, value in (
            ("__defaults__", (3.0,)),
            ("__kwdefaults__", {"shift": 5.0}),
            ("__code__", other.__code__),
            ("__name__", "renamed"),
            ("__doc__", "text"),
            ("note", 5),
        ):
            setattr(f, name, value)
            run.repeat(f, x0, n=2)
            run.see(name, f.__name__, f.__qualname__, f.__doc__, getattr(f, "note", None), function.__name__)
            run.see(function.__defaults__, function.__kwdefaults__, getattr(function, "note", None))

    def the_signature_of_the_function(run):
        f = run.compile(twice)
        run.see(str(inspect.signature(f)), inspect.isfunction(f), f.__module__, f.__qualname__, f.__annotations__)
        run.see(inspect.getsource(f), inspect.unwrap(f) is twice, f.__code__ is twice.__code__)
        run.see(f.__globals__ is twice.__globals__, f.__closure__, f.__dict__.get("zzz"), f.__get__(3).__self__)

    def compiled_sequential_edited(run):
        f = run.compile(nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
        edits = [
            lambda: operator.setitem(f, 1, nn.ReLU()),
            lambda: f.append(nn.Linear(3, 2)),
            lambda: operator.delitem(f, 1),
            lambda: f.insert(0, nn.Tanh()),
            lambda: f.extend([nn.Tanh()]),
            lambda: f.pop(0),
            lambda: operator.iadd(f, nn.Sequential(nn.Sigmoid())),
            lambda: len(f + nn.Sequential(nn.Tanh())),
            lambda: [type(m).__name__ for m in f[:2]],
            lambda: [type(m).__name__ for m in f],
            lambda: type(f[0]).__name__,
            lambda: f.eval().training,
        ]
        for edit in edits:
            result = run.call(edit)
            run.see(result is f if isinstance(result, nn.Module) else None)
            run.repeat(f, x0, n=2)

    def compiled_dictionary_edited(run):
        f = run.compile(nn.ModuleDict({"a": nn.Linear(3, 3)}))
        for edit in (
            lambda: operator.setitem(f, "b", nn.Tanh()),
            lambda: list(f.keys()),
            lambda: "b" in f,
            lambda: operator.delitem(f, "a"),
            lambda: len(f),
            lambda: f["b"](x0()),
            lambda: f.update({"c": nn.ReLU()}),
            lambda: list(f),
            lambda: f(x0()),
        ):
            run.call(edit)

    def compiled_modules_compared(run):
        f = run.compile(nn.Linear(3, 3))
        run.see(f == f, f != f, f in [f], {f: 1}[f], len({f, f}), bool(f), isinstance(f, nn.Linear), callable(f))
        net = nn.Sequential(f)
        run.see([type(c).__name__ for c in net], len(list(net.modules())))

    def compiled_things_pickled(run):
        f = run.compile(twice)
        g = pickle.loads(pickle.dumps(f))
        m = run.compile(nn.Linear(3, 3))
        n = pickle.loads(pickle.dumps(m))
        for _ in range(3):
            run.call(f, x0())
            run.call(g, x0())
            run.call(m, x0())
            run.call(n, x0())

    def a_compiled_function_in_a_dataclass(run):
        @dataclasses.dataclass
        class Holder:
            f: object
            k: float = 2.0

        k = [2.0]
        h = Holder(run.compile(lambda x: x * k[0]))
        f = run.compile(lambda x, h: h.f(x) * h.k)
        for i in range(6):
            k[0] = 2.0 if i < 3 else 5.0
            run.call(f, x0(), h)
            run.call(f, x0(), dataclasses.replace(h, k=3.0))

    @program("target_{}", each=TARGETS)
    def targeted(run, make):
        f = run.compile(make())
        for x in (x0(), x0() * 2, xg(), x0() * 3):
            y = run.call(f, x)
            if isinstance(y, lucid.Tensor) and y.requires_grad and y.grad_fn is not None:
                y.sum().backward()
                run.see(x.grad)
        run.call(f, [1, 2])
        run.call(f)
