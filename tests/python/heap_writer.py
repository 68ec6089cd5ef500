"""Writes random heaps, functions that read them, and changes to them, as text; used by heap_fuzzer.py."""

import collections
import contextvars
import enum
import functools
import re
import types
from typing import Any, NamedTuple

import lucid
import numpy as np
from heap_observer import attributes_of, is_a, slots_of
from lucid import nn

NUMBERS = ("0.0", "1.0", "2.0", "0.5", "-1.0", "3.0", "1", "2", "0", "3", "True", "False")
_TEXTS = ("'a'", "'b'", "'RED'", "'relu'", "''")
NAMES = ("a", "b", "c", "scale")
CLASSES = ("Box", "Derived", "Other", "Slotted", "Point", "Pair", "Color", "Made", "Meta", "Holder", "Layer", "Sized")
_FUNCTIONS = ("add", "sub")
_MAX_DEPTH = 5
_MAX_PLACES = 150


_VALUES = (
    "Box(<entries>)",
    "Box(<entries>)",
    "Derived(<entries>)",
    "Slotted(<both>)",
    "Both(<both>)",
    "Point(<both>)",
    "Frozen(<both>)",
    "Packed(<both>)",
    "Pair(<both>)",
    "Made(<v>)",
    "Lazy(<entries>)",
    "Sized(<atom>)",
    "Holder(<v>)",
    "Items([<items>])",
    "Table({<mapping>})",
    "types.SimpleNamespace(<entries>)",
    "[<items>]",
    "[<items>]",
    "[<numbers>]",
    "(<v>, <items>)",
    "(<numbers>)",
    "{<mapping>}",
    "{<mapping>}",
    "collections.OrderedDict({<mapping>})",
    "collections.defaultdict(float, {<mapping>})",
    "collections.deque([<items>])",
    "{<numbers>}",
    "frozenset((<numbers>))",
    "Color.RED",
    "Color.BLUE",
    "Level.HIGH",
    "Box",
    "Made",
    "Color",
    "len",
    "functools.partial(add, k=<v>)",
    "functools.partial(add, <v>)",
    "counter(<v>)",
    "(lambda v=1.0, w=<v>: num(v) + num(w))",
    "Box(<entries>).total",
    "[<items>].__len__",
    "operator.attrgetter('<name>')",
    "np.array([<numbers>])",
    "np.array([<numbers>], dtype=np.float32)",
    "np.float32(<number>)",
    "lucid.tensor([<numbers>])",
    "lucid.tensor([<numbers>])",
    "lucid.tensor(<number>)",
    "lucid.tensor([<numbers>], requires_grad=True)",
    "nn.Parameter(lucid.tensor([<numbers>]))",
    "Layer(<v>)",
    "nn.Linear(3, 3)",
    "nn.Sequential(nn.Linear(3, 3), nn.ReLU())",
    "optimizer(lucid.optim.SGD, nn.Parameter(lucid.tensor([<numbers>])))",
    "optimizer(lucid.optim.Adam, nn.Parameter(lucid.tensor([<numbers>])))",
    "contextvars.ContextVar('v', default=<atom>)",
    "<v> if <number> else threading.Lock()",
    "lucid.Generator()",
    "slice(<atom>, None)",
    "range(3)",
)
# Most of these are not guarded: functions that read them run eagerly. None can be changed from both worlds.
_RARE_VALUES = (
    "iter([<items>])",
    "itertools.repeat(1, 5)",
    "(v for v in (<v>, <v>))",
    "bytearray(b'ab')",
    "memoryview(bytearray(b'abc'))",
    "array.array('d', [<numbers>])",
    "np.arange(6.0)[::2]",
    "np.array([<numbers>], dtype=object)",
    "np.array(<number>)",
    "collections.Counter([<atom>, <atom>, <number>])",
    "collections.ChainMap({<mapping>}, {<mapping>})",
    "collections.UserList([<items>])",
    "types.MappingProxyType({<mapping>})",
    "{<mapping>}.keys()",
    "{<mapping>}.values()",
    "weakref.ref(KEPT)",
    "weakref.proxy(KEPT)",
    "weakref.WeakValueDictionary(a=KEPT)",
    "functools.lru_cache(counter(<v>))",
    "functools.wraps(add)(counter(<v>))",
    "calling(counter(<v>))",
    "calling(add)",
    "Number(<number>)",
    "Text('a')",
    "Cached(<v>)",
    "Strict(<v>)",
    "Abstract(<v>)",
    "Single(<v>)",
    "decimal.Decimal(<number>)",
    "fractions.Fraction(1, 3)",
    "complex(<number>, 1.0)",
    "1000",
    "'te' + str(<number>)",
    "ValueError(<v>)",
    "random.Random(3)",
    "datetime.date(2020, 1, 2)",
    "re.compile('a')",
    "nn.ModuleList([nn.Linear(3, 3), nn.Dropout(0.5)])",
    "nn.ParameterDict({'a': nn.Parameter(lucid.tensor([<numbers>]))})",
    "nn.BatchNorm1d(3)",
    "lucid.arange(6.0)[::2]",
    "lucid.from_numpy(np.array([<numbers>], dtype=np.float32))",
    "(lucid.tensor([<numbers>], requires_grad=True) * 2.0)",
    "operator.itemgetter(<atom>)",
    "operator.methodcaller('total')",
    "[<v>].append",
    "{<mapping>}.get",
    "Box.total",
    "Box(<entries>).__class__",
    "lucid.float64",
    "threading.local()",
    "object()",
    "print",
)
# What reads attributes by names that no code contains.
_REFLECTING = ("operator.attrgetter('<name>')", "operator.methodcaller('total')")


class Place(NamedTuple):
    """Where a value is: as code outside the function and inside it writes it, and how another value is put there."""

    outer: str
    inner: str
    value: Any
    # A statement with $ for the value; None if the place cannot be set.
    store: str | None
    delete: str | None = None


class Writer:
    """Writes about one heap. `choose` is a random.Random. If `reflects`, code may read attributes by names that it does
    not contain. Most values are of few kinds, so that what is read is also what is changed."""

    def __init__(self, choose, reflects=False):
        self.choose = choose
        self.reflects = reflects
        self.favorites = choose.sample(_VALUES, 5)
        self.pick = choose.choice

    # Values.

    def atom(self):
        return self.pick((*NUMBERS, *NUMBERS, *_TEXTS, "None"))

    def value(self, depth=2, paths=()):
        """An expression for a new value, or for one that exists already."""
        if paths and self.choose.random() < 0.2:
            return self.pick(paths)
        if depth == 0 or self.choose.random() < 0.3:
            return self.atom()
        chance = self.choose.random()
        template = self.pick(self.favorites if chance < 0.6 else _VALUES if chance < 0.95 else _RARE_VALUES)
        if template in _REFLECTING and not self.reflects:
            return self.atom()
        return re.sub("<([a-z]+)>", lambda match: self._part(match[1], depth - 1, paths), template)

    def _part(self, name, depth, paths):
        """What is put for a placeholder of _VALUES."""
        choose = self.choose
        match name:
            case "v":
                return self.value(depth, paths)
            case "atom":
                return self.atom()
            case "number":
                return self.pick(NUMBERS[:6])
            case "numbers":
                return ", ".join(choose.sample(NUMBERS[:6], 3))
            case "name":
                return self.pick(NAMES)
            case "entries":
                names = choose.sample(NAMES, choose.randint(1, 3))
                return ", ".join(f"{name}={self.value(depth, paths)}" for name in names)
            case "both":
                return ", ".join(f"{name}={self.value(depth, paths)}" for name in ("a", "b")[: choose.randint(1, 2)])
            case "items":
                return ", ".join(self.value(depth, paths) for _ in range(choose.randint(0, 4)))
            case "mapping":
                keys = choose.sample(("'a'", "'b'", "1", "2.5", "Color.RED", "(1, 2)"), choose.randint(0, 3))
                return ", ".join(f"{key}: {self.value(depth, paths)}" for key in keys)
        raise ValueError(name)

    def like(self, value, paths):
        """An expression for a value of the same kind, most of the time."""
        if self.choose.random() < 0.15:
            return self.value(2, paths)
        if is_a(value, (bool, int, float)):
            return self.pick(NUMBERS)
        if is_a(value, (str, type(None))):
            return self.pick((*_TEXTS, "None"))
        start = type(value).__name__.lower()
        start = {"list": "[<", "dict": "{<m", "tuple": "(<", "set": "{<n", "ndarray": "np.array"}.get(start, start)
        alike = [template for template in _VALUES if start in template.lower()]
        template = self.pick(alike or _VALUES)
        return re.sub("<([a-z]+)>", lambda match: self._part(match[1], 1, paths), template)

    # The heap as it is.

    def places(self, roots):
        """All places that can be reached from some."""
        found, pending, seen = [], [(place, 0) for place in roots], set()
        while pending and len(found) < _MAX_PLACES:
            place, depth = pending.pop(0)
            found.append(place)
            if depth < _MAX_DEPTH and id(place.value) not in seen:
                seen.add(id(place.value))
                pending += [(part, depth + 1) for part in _parts(place)]
        return found


def _parts(place):
    value = place.value

    def item(key, part, store=True, delete=True):
        outer, inner = f"{place.outer}[{key}]", f"{place.inner}[{key}]"
        return Place(outer, inner, part, f"{outer} = $" if store else None, f"del {outer}" if delete else None)

    def attribute(name, part, store=True, delete=True):
        outer, inner = f"{place.outer}.{name}", f"{place.inner}.{name}"
        return Place(outer, inner, part, f"{outer} = $" if store else None, f"del {outer}" if delete else None)

    parts = []
    if is_a(value, (list, collections.deque)):
        parts = [item(i, part) for i, part in enumerate(list(value)[:4])]
    elif is_a(value, tuple):
        if type(value) is not tuple:
            fields = zip(("a", "b"), tuple.__iter__(value))
            parts = [attribute(name, part, False, False) for name, part in fields]
        else:
            parts = [item(i, part, False, False) for i, part in enumerate(value[:4])]
    elif is_a(value, dict):
        plain = [(key, part) for key, part in dict.items(value) if type(key) in (str, int, float, tuple)]
        parts = [item(repr(key), part) for key, part in plain[:4]]
    elif is_a(value, functools.partial):
        parts = [attribute(f"args[{i}]", part, False, False) for i, part in enumerate(value.args)]
        parts += [attribute(f"keywords[{name!r}]", part) for name, part in value.keywords.items()]
    elif is_a(value, types.MethodType):
        parts = [attribute("__self__", value.__self__, False, False)]
    elif is_a(value, nn.Module):
        children = [*value._modules.items()]
        if is_a(value, (nn.Sequential, nn.ModuleList)):
            parts = [item(name, part, delete=False) for name, part in children]
        else:
            parts = [attribute(name, part) for name, part in (*children, *value._parameters.items())]
    elif is_a(value, type):
        parts = [attribute(name, vars(value)[name]) for name in ("a", "scale", "factor") if name in vars(value)]
    parts += [attribute(name, part) for name, part in slots_of(value) if name in NAMES]
    if not is_a(value, lucid.optim.Optimizer):
        own = [entry for entry in attributes_of(value).items() if entry[0] in (*NAMES, "store", "tag", "add")]
        parts += [attribute(name, part) for name, part in own]
    return parts


def kind_of(value):
    """What a value can be used for."""
    if is_a(value, (bool, int, float, np.generic)) and not is_a(value, enum.Enum):
        return "number"
    for kind, classes in _KINDS.items():
        if is_a(value, classes):
            return kind
    return "callable" if callable(value) else "object"


_KINDS = {
    "member": enum.Enum,
    "tensor": lucid.Tensor,
    "module": nn.Module,
    "optimizer": lucid.optim.Optimizer,
    "array": np.ndarray,
    "class": type,
    "mapping": dict,
    "sequence": (list, tuple, collections.deque),
    "set": (set, frozenset),
    "variable": contextvars.ContextVar,
    "generator": lucid.Generator,
    "namespace": types.ModuleType,
    "function": types.FunctionType,
    "text": str,
}
