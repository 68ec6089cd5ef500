"""Calls that replace the tensors that an attribute, a global or a variable holds: plans store the new ones."""

import gc
import weakref

import lucid
import lucid.nn as nn
import pytest
from same import Box, check


class Slots:
    __slots__ = ("value",)


class Parameterless(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.value = lucid.zeros(3)
        self.step = step

    def forward(self, x):
        self.value, result = self.step(self.value, x)
        return result


class Setting:
    """Stores what it is given by code of its own."""

    def __init__(self):
        object.__setattr__(self, "value", lucid.zeros(3))

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 0.5)


class Property:
    def __init__(self):
        self._value = lucid.zeros(3)

    @property
    def value(self):
        return self._value * 2

    @value.setter
    def value(self, value):
        self._value = value


def holder(kind, step):
    """A function that keeps a tensor in a place of this kind, and a function that returns what is there, or sets it."""
    if kind == "variable":
        value = lucid.zeros(3)

        def function(x):
            nonlocal value
            value, result = step(value, x)
            return result

        def access(*new):
            nonlocal value
            if new:
                (value,) = new
            return value

        return function, access
    if kind == "global":
        scope = {"step": step, "value": lucid.zeros(3)}
        exec("def function(x):\n    global value\n    value, result = step(value, x)\n    return result", scope)
        return scope["function"], lambda *new: scope.update(value=new[0]) if new else scope["value"]
    if kind == "item of a list":
        items = [None, lucid.zeros(3)]

        def function(x):
            items[1], result = step(items[1], x)
            return result

        return function, lambda *new: items.__setitem__(1, new[0]) if new else items[1]
    if kind == "item of a dict":
        table = {"other": 1, 7: lucid.zeros(3)}

        def function(x):
            table[7], result = step(table[7], x)
            return result

        return function, lambda *new: table.update({7: new[0]}) if new else table[7]
    owner = {
        "attribute": lambda: Box(value=lucid.zeros(3)),
        "slot": Slots,
        "module": lambda: Parameterless(step),
        "class with __setattr__": Setting,
        "property": Property,
    }[kind]()
    if kind == "slot":
        owner.value = lucid.zeros(3)

    def access(*new):
        if new:
            owner.value = new[0]
        return owner.value

    if kind == "module":
        return owner, access

    def function(x):
        owner.value, result = step(owner.value, x)
        return result

    return function, access


KINDS = [
    "variable",
    "global",
    "attribute",
    "slot",
    "module",
    "item of a list",
    "item of a dict",
    "class with __setattr__",
    "property",
]


STEPS = {
    "average": lambda h, x: (h * 0.9 + x * 0.1, h.sum()),
    "last": lambda h, x: (x * 2, x + 1),
    "returned": lambda h, x: ((y := h + x), y),
    "argument": lambda h, x: (x, x * 2),
    "the same one": lambda h, x: (h, x * h),
    "in place, then another": lambda h, x: (h.add_(x) * 2, h),
    "view of the old one": lambda h, x: (h.view(3), h.sum()),
    "detached": lambda h, x: (h.detach(), x * 2),
    "random": lambda h, x: (h + lucid.rand(3), x),
    "branch": lambda h, x: (h + x if h.sum() > 1 else x * 3, h),
    "none and back": lambda h, x: (x * 2 if h is None else None, x),
    "text": lambda h, x: ("a" if type(h) is lucid.Tensor else x * 2, x),
}


# These classes compute with what they hold.
COMPUTING = ("class with __setattr__", "property")
CASES = [
    (kind, step) for kind in KINDS for step in STEPS if kind not in COMPUTING or step not in ("none and back", "text")
]


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize(("kind", "step"), CASES)
def test_places(kind, step, grad):
    def world():
        function, access = holder(kind, STEPS[step])
        calls = [(lucid.randn(3, requires_grad=grad),) for _ in range(10)]
        return function, calls, lambda: [access()]

    check(world, min_hits=2)


@pytest.mark.parametrize("kind", KINDS[:7])
def test_what_the_program_puts_there(kind):
    """Between calls the program stores tensors of other types, and other objects."""

    def world():
        function, access = holder(kind, lambda h, x: (h * 0.5 + x, (h * x).sum()))
        # A module does not accept tensors where it had a parameter.
        parameter = nn.Parameter(lucid.ones(3)) if kind != "module" else lucid.zeros(3)
        others = [
            lucid.ones(3),
            lucid.ones(1, 3),
            lucid.ones(3, dtype=lucid.f64),
            lucid.ones(3, requires_grad=True),
            lucid.ones(6)[::2],
            parameter,
            lucid.tensor(2.0),
            2.0,
            None,
            "text",
            lucid.ones(3),
        ]

        def calls():
            for other in others:
                access(other)
                for _ in range(3):
                    yield (lucid.ones(3) * 0.25,)

        return function, calls, lambda: [access()]

    check(world, fallback="", min_hits=0)


def test_tensors_that_are_one():
    """Which places and arguments hold one tensor may change."""

    def world():
        box = Box(a=lucid.ones(3), b=lucid.zeros(3))
        table = [lucid.full((3,), 5.0)]

        def function(x):
            same = 2.0 if box.a is x else 1.0
            other = 3.0 if box.a is table[0] else 1.0
            twins = 5.0 if box.a is box.b else 1.0
            box.a = box.a.mul(same * other * twins) + table[0] + box.b
            return box.a * x

        def calls():
            for change in (None, "argument", None, "table", None, "both", None, None, "argument", "table"):
                x = lucid.randn(3)
                if change == "argument":
                    box.a = x
                elif change == "table":
                    box.a = table[0]
                elif change == "both":
                    box.a = box.b
                yield (x,)
                yield (x,)

        return function, calls, lambda: [box.a, box.b, table[0]]

    check(world, min_hits=4)


def test_places_that_are_swapped():
    def world():
        box = Box(a=lucid.ones(3), b=lucid.zeros(3))

        def function(x):
            box.a, box.b = box.b, box.a + x
            return box.a - box.b

        return function, [(lucid.randn(3),) for _ in range(8)], lambda: [box.a, box.b]

    check(world, min_hits=6)


def test_one_tensor_in_two_places():
    def world():
        box = Box(a=lucid.ones(3), b=lucid.zeros(3))

        def function(x):
            box.a = box.b = box.a + box.b + x
            return box.a

        return function, [(lucid.randn(3),) for _ in range(8)], lambda: [box.a, box.b]

    check(world, min_hits=0)


def test_memory_that_is_shared():
    """A tensor in a place that shares memory with one that the call writes."""

    def world():
        buffer = lucid.zeros(6)
        box = Box(part=buffer[:3])

        def function(x):
            old = box.part * 2
            buffer.add_(1.0)
            box.part = old + box.part
            return box.part + x

        def calls():
            for number in range(8):
                if number % 3 == 0:
                    box.part = buffer[:3] if number % 2 else lucid.ones(3)
                yield (lucid.randn(3),)

        return function, calls, lambda: [buffer, box.part]

    check(world, min_hits=1)


def test_gradients_flow_through_calls():
    def world():
        cell = nn.Linear(3, 3)
        box = Box(h=lucid.zeros(3))

        def function(x):
            box.h = (cell(x) + box.h).tanh()
            return box.h

        def calls():
            for number in range(9):
                if number % 3 == 0:
                    box.h = box.h.detach()
                yield (lucid.randn(3),)

        return function, calls, lambda: [box.h, *cell.parameters()]

    check(world, min_hits=3)


def descend(box, x):
    q = box.h.detach().requires_grad_()
    return box.h - lucid.autograd.grad((q * q * x).sum(), q)[0]


def descend_or_use_the_gradient(box, x):
    gradient = box.h.grad
    return descend(box, x) if gradient is None else box.h + gradient


@pytest.mark.parametrize(("change", "min_hits"), [(descend, 8), (descend_or_use_the_gradient, 0)])
def test_calling_grad_does_not_read_a_gradient(change, min_hits):
    """A place whose tensor varies: each call finds that of the last one there, if no code reads gradients."""

    def world():
        box = Box(h=lucid.ones(3))

        def function(x):
            box.h = change(box, x)
            return box.h * 2

        def calls():
            for number in range(12):
                if number == 6:
                    box.h.grad = lucid.ones(3)
                yield (lucid.full((3,), 0.1),)

        return function, calls, lambda: [box.h]

    check(world, min_hits=min_hits)


def test_old_tensors_are_freed():
    box = Box(h=lucid.zeros(3))

    @lucid.compile(wait=True)
    def function(x):
        box.h = box.h + x
        return x * 2

    references = []
    for _ in range(6):
        references.append(weakref.ref(box.h))
        function(lucid.ones(3))
    gc.collect()
    assert [reference() for reference in references] == [None] * 6
    assert function.cache_info().hits == 5
    assert box.h.tolist() == [6.0] * 3


def test_a_call_that_raises_stores_what_it_stored_before():
    def world():
        box = Box(h=lucid.zeros(3), table=lucid.arange(4))

        def function(x, index):
            box.h = box.h + x
            return box.table[index] + box.h[:2]

        indices = [[1, 2], [0, 3], [1, 9], [2, 2], [1, 9], [3, 3]]
        calls = [(lucid.ones(3), lucid.tensor(index)) for index in indices]
        return function, calls, lambda: [box.h, box.table]

    check(world, min_hits=2)


def test_a_tensor_with_a_hook():
    def world():
        box = Box(h=lucid.zeros(3, requires_grad=True))
        seen = []

        def function(x):
            loss = (box.h * x).sum()
            loss.backward()
            box.h = x.detach().clone().requires_grad_()
            return loss.detach()

        def calls():
            for number in range(6):
                if number % 2:
                    box.h.register_hook(lambda gradient: seen.append(gradient.sum().item()))
                yield (lucid.ones(3) * number,)
                yield (lucid.tensor([float(len(seen))] * 3),)

        return function, calls, lambda: [box.h]

    check(world, fallback="", min_hits=0)


def count(box, x):
    box.count = box.count + 1


def set_object(box, x):
    box.other = Box()


def set_on_class(box, x):
    Box.last = x * 2


REFUSED = {
    "number": count,
    "list that is read": lambda box, x: box.items.append(len(box.items)),
    "new key": lambda box, x: box.table.update({len(box.table): x}),
    "object": set_object,
    "class": set_on_class,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_runs_eagerly(name):
    change = REFUSED[name]

    def world():
        box = Box(count=0, items=[], table={}, other=None)

        def function(x):
            change(box, x)
            return x * 2 + (Box.last if Box.last is not None else 0)

        return function, [(lucid.ones(3),) for _ in range(6)], lambda: [box.count, box.items, box.table]

    Box.last = None
    check(world, fallback="the call writes", min_hits=0)


def test_explain_says_what_the_program_put_there():
    box = Box(h=lucid.zeros(3))

    @lucid.compile(wait=True)
    def function(x):
        box.h = box.h + x
        return x * 2

    for _ in range(3):
        function(lucid.ones(3))
    box.h = lucid.zeros(2, 3)
    function(lucid.ones(3))
    assert "recorded again: closure box.h: was f32[3], is f32[2,3]" in function.explain()
