"""Calls that replace the tensors that an attribute, a global or a variable holds: plans store the new ones."""

import gc
import operator
import weakref

import lucid
import lucid.nn as nn
import pytest
from same import bits, check


class Box:
    last = None

    def __init__(self, **values):
        vars(self).update(values)


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


# Counters, and lists that calls append to.


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.calls = 0
        self.log = []

    def forward(self, x):
        self.calls += 1
        y = self.linear(x)
        self.log.append(y.detach())
        return y


def test_counters_and_logs():
    def world():
        model = Counter()
        return model, [(lucid.randn(2, 3),) for _ in range(8)], lambda: [lucid.tensor(model.calls), *model.log]

    check(world, min_hits=7)


def test_a_training_step_that_counts_and_logs():
    def world():
        model = nn.Linear(3, 1)
        optimizer = lucid.optim.SGD(model.parameters(), lr=0.1)
        box = Box(step=0, total=0)
        losses = []

        def function(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            box.total += 2
            box.total -= 1
            losses.extend([loss.detach(), x])
            return loss.detach()

        def calls():
            for _ in range(10):
                # Nothing in the step reads this, although it is called `step`.
                box.step += 1
                yield (lucid.randn(4, 3),)

        return function, calls, lambda: [lucid.tensor([box.step, box.total]), *losses, *model.parameters()]

    check(world, min_hits=7)


def test_logs_in_containers():
    """Lists that are items of what code only fills: those of other calls may grow too."""

    def world():
        box = Box(history={"loss": [], "norm": [0.5], "other": []})
        logs = [[], []]

        def function(x):
            y = (x * 2).tanh()
            box.history["loss"].append(y.sum().item())
            box.history["norm"].append(y)
            logs[1].append("called")
            return y

        def calls():
            for step in range(12):
                yield (lucid.randn(4),)
                box.history["other"].append(step)
                logs[0].append(float(step))
                if step == 5:
                    del box.history["loss"][:2]
                if step == 6:
                    box.history["loss"] = []

        def state():
            kept = [item for log in (*box.history.values(), *logs) for item in log]
            return [lucid.tensor([len(kept), *(item for item in kept if type(item) is float)])]

        return function, calls, state

    check(world, min_hits=7)


LOGS_THAT_ARE_READ = {
    "item": lambda logs: logs[0][-1],
    "length": lambda logs: len(logs[0]),
    "variable": lambda logs: sum(sum(log) for log in logs),
    "popped": lambda logs: logs[0].pop(),
    "method": lambda logs: logs.copy()[0][-1],
    "sliced": lambda logs: logs[:1][0][-1],
    "negative": lambda logs: logs[-2][-1],
}


@pytest.mark.parametrize("name", LOGS_THAT_ARE_READ)
def test_logs_that_are_read(name):
    def world():
        box = Box(logs=[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], []])
        read = LOGS_THAT_ARE_READ[name]

        def function(x):
            box.logs[1].append(1.0)
            return x * read(box.logs)

        def calls():
            for step in range(8):
                yield (lucid.randn(3),)
                box.logs[0].append(step * 0.5)

        return function, calls, lambda: [lucid.tensor(box.logs[0]), lucid.tensor(box.logs[1])]

    check(world, fallback="", min_hits=0)


def test_logs_under_two_names():
    """A list that is filled under one name and read under another."""

    def world():
        shared = [1.0]
        box = Box(logs={"a": shared, "b": []}, shared=shared, rows=[shared])

        def function(x):
            box.logs["b"].append(0.5)
            return x * box.shared[-1] + len(box.rows[0])

        def calls():
            for step in range(8):
                yield (lucid.randn(3),)
                shared.append(step * 0.5)

        return function, calls, lambda: [lucid.tensor(box.logs["b"])]

    check(world, fallback="", min_hits=0)


def test_a_tensor_that_is_kept_and_logged():
    def world():
        box = Box(h=lucid.zeros(3), log=[], other=[])

        def function(x):
            box.h = box.h * 0.5 + x
            box.log.append(box.h)
            box.other.append(box.h)
            return box.h.sum()

        return function, [(lucid.randn(3),) for _ in range(8)], lambda: [box.h, *box.log, *box.other]

    check(world, min_hits=6)


def test_a_tensor_in_a_list_that_is_read():
    def world():
        log = [lucid.ones(3)]
        box = Box(h=log[0], log=[])

        def function(x):
            box.h = box.h * 0.5 + x
            box.log.append(box.h)
            return box.h.sum() + log[-1].sum()

        def calls():
            for number in range(8):
                if number % 3 == 2:
                    log.append(box.h)
                yield (lucid.randn(3),)

        return function, calls, lambda: [box.h, *box.log, *log]

    check(world, min_hits=0, fallback="")


def test_what_the_program_does_to_a_list():
    def world():
        log = [1, None]

        def function(x):
            log.append(x * 2)
            return x + 1

        def calls():
            for number in range(10):
                if number == 3:
                    log.clear()
                elif number == 5:
                    log[:] = ["text", [log]]
                elif number == 7:
                    log.insert(0, lucid.ones(2))
                yield (lucid.ones(3) * number,)

        return function, calls, lambda: [item for item in log if isinstance(item, lucid.Tensor)]

    check(world, min_hits=9)


def test_what_the_program_puts_into_a_counter():
    def world():
        box = Box(n=0)

        def function(x):
            box.n += 1
            return x + 1

        def calls():
            for value in (5, 2**70, -1, True, 1.5, "text", None, lucid.zeros(2), 0):
                box.n = value
                for _ in range(3):
                    yield (lucid.ones(3),)

        return function, calls, lambda: [box.n] if isinstance(box.n, lucid.Tensor) else [lucid.tensor(len(repr(box.n)))]

    check(world, fallback="", min_hits=6)


def reads_count(box, x):
    box.n += 1
    return x * box.n


def reads_count_by_name(box, x):
    box.n += 1
    return x * getattr(box, "n")  # noqa: B009


def reads_count_by_computed_name(box, x):
    box.n += 1
    return x * getattr(box, "abcn"[3:])


def reads_count_from_dict(box, x):
    box.n += 1
    return x * vars(box)["n"]


def reads_list_by_name(box, x):
    box.log.append(x * 2)
    return x + len(operator.attrgetter("log")(box))


def adds_variable(box, x):
    step = 2
    box.n += step
    return x + 1


def reads_list(box, x):
    box.log.append(x * 2)
    return x + len(box.log)


def reads_list_in_another_function(box, x):
    box.log.append(x * 2)
    return x + sum(part.sum() for part in others(box))


def others(box):
    return box.log


def keeps_the_method(box, x):
    append = box.log.append
    append(x * 2)
    return x + 1


def reads_an_alias(box, x):
    box.log.append(x * 2)
    return x + len(box.alias)


def reads_an_alias_in_a_tuple(box, x):
    box.log.append(x * 2)
    return x + len(box.pair[1])


def iterates(box, x):
    box.log.append(x * 2)
    return x + sum(1 for _ in box.log)


def compares(box, x):
    box.log.append(1)
    return x * 2 if box.log == [1, 1, 1] else x


READERS = [
    reads_count,
    reads_count_by_name,
    reads_count_by_computed_name,
    reads_count_from_dict,
    reads_list_by_name,
    adds_variable,
    reads_list,
    reads_list_in_another_function,
    keeps_the_method,
    reads_an_alias,
    reads_an_alias_in_a_tuple,
    iterates,
    compares,
]


@pytest.mark.parametrize("reader", READERS)
def test_what_the_call_reads_is_not_loosened(reader):
    def world():
        log = []
        box = Box(n=0, log=log, alias=log if reader is reads_an_alias else None, pair=(1, None))
        if reader is reads_an_alias_in_a_tuple:
            box.pair = (1, log)

        def function(x):
            return reader(box, x)

        def calls():
            for number in range(12):
                if number % 4 == 3:
                    box.n = 0
                    box.log.clear()
                yield (lucid.ones(3),)

        return function, calls, lambda: [lucid.tensor(box.n), lucid.tensor(len(log))]

    check(world, fallback="", min_hits=0)


def test_a_number_that_is_only_called():
    class Machine:
        def run(self):
            return 2.0

    def world():
        box = Box(run=3, machine=Machine())

        def function(x):
            try:
                return x * box.run()
            except TypeError as error:
                return x * len(str(error))

        def calls():
            for value in (3, 4, 5.0, "text", None, lambda: 7.0, 3, 6):
                box.run = value
                yield (lucid.ones(3),)
                yield (lucid.ones(3),)

        return function, calls, list

    check(world, fallback="", min_hits=3)


class Averages(nn.Module):
    """Replaces its buffers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", lucid.zeros(3))
        self.register_buffer("count", lucid.zeros((), dtype=lucid.int64), persistent=False)
        self.register_buffer("none", None)
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.detach()
        self.count = self.count + 1
        return self.linear(x - self.mean) * self.count


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Averages(), Averages()])

    def forward(self, x):
        return self.parts[1](self.parts[0](x))


@pytest.mark.parametrize("make", [Averages, Nested])
def test_buffers_are_replaced(make):
    def run(compile):
        lucid.manual_seed(5)
        module = make()
        compiled = compile(module)
        seen = []
        for number in range(8):
            x = lucid.ones(3) * number
            seen.append(
                (bits(compiled(x)), [(name, bits(b)) for name, b in module.named_buffers()], list(module.state_dict()))
            )
            if number == 4:
                module.load_state_dict({**module.state_dict()})
            if number == 5:
                module.eval()
        return seen, compiled

    eager, _ = run(lambda module: module)
    found, compiled = run(lucid.compile)
    assert found == eager
    assert compiled.cache_info().hits >= 4, compiled.explain()


def test_a_replaced_buffer_is_used_elsewhere():
    module = Averages()
    kept = []

    def f(x):
        y = module(x)
        return y + kept[0] if kept else y

    compiled = lucid.compile(f)
    other = Averages()
    other.load_state_dict(module.state_dict())
    for number in range(8):
        x = lucid.ones(3) * number
        if number == 4:
            kept.append(module.mean)
        expected = other(x)
        found = compiled(x)
        if kept:
            expected = expected + kept[0]
        assert bits(found.detach()) == bits(expected.detach())
        assert bits(module.mean) == bits(other.mean)


def test_a_buffer_gets_another_type():
    module = Averages()
    compiled = lucid.compile(module)
    for _ in range(4):
        compiled(lucid.ones(3))
    assert compiled.cache_info().hits > 0, compiled.explain()
    module.mean = lucid.zeros(3, dtype=lucid.float64)
    module.linear = module.linear.double()
    result = compiled(lucid.ones(3, dtype=lucid.float64))
    assert result.dtype == lucid.float64
    assert module.mean.dtype == lucid.float64
    module.mean = None
    with pytest.raises(TypeError):
        compiled(lucid.ones(3, dtype=lucid.float64))
    module.mean = lucid.ones(3, dtype=lucid.float64)
    assert compiled(lucid.ones(3, dtype=lucid.float64)).dtype == lucid.float64


def test_plans_that_replace_buffers_do_not_keep_modules_alive():
    module = Averages()
    compiled = lucid.compile(module)
    for _ in range(4):
        compiled(lucid.ones(3))
    assert compiled.cache_info().hits > 0
    gone = weakref.ref(module)
    del module, compiled
    gc.collect()
    assert gone() is None


def test_a_buffer_is_the_parameter_of_nobody_else():
    module = Averages()

    def f(x):
        module.mean = x
        return module.mean * 2

    compiled = lucid.compile(f)
    for number in range(6):
        x = lucid.ones(3) * number
        result = compiled(x)
        assert module.mean is x
        assert result.tolist() == [2.0 * number] * 3
