"""Compiled matches eager bit for bit: tensor values and state in Python. Numbers refer to docs/failures.md.

Functions that cannot be compiled run eagerly and report why.
"""

import random
import time

import lucid
import lucid.nn as nn
import numpy as np
import pytest
from same import bits, check, check_scenario
from worlds import calls, module_world, numbered, pure

# Values of tensors.


def branch(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def loop(x):
    error = x.abs().sum()
    while error > 0.1:
        x = x / 2
        error = x.abs().sum()
    return x


def asserted(x):
    # Not an assert statement, which pytest rewrites.
    if not (x == x).all():
        raise AssertionError
    return x * 2


def failing_assert(x):
    assert (x == 3).all(), "not three"
    return x * 2


def counted(x):
    for _ in range(int((x > 0).sum())):
        x = x + 1
    return x


BRANCHES = {
    "11 if": branch,
    "11 while": loop,
    "11 bool": lambda x: x * 2 if bool(x[0] > 0) else x,
    "11 not": lambda x: x * 2 if not x[0] > 0 else x,
    "11 and": lambda x: x * 2 if x[0] > 0 and x[1] > 0 else x,
    "11 assert": asserted,
    "11 max of Python": lambda x: max(x[0], x[1]) * x,
    "11 any": lambda x: x * 2 if any(x > 0) else x,
    "11 index": lambda x: x[int(x.argmax())] * x,
    "11 index with a tensor": lambda x: x[x.argmax()] * x,
    "11 range": counted,
    "11 list of integers": lambda x: x * sum((x[:2] > 0).int().tolist()),
    "11 item": lambda x: x * 2 if x.sum().item() > 0 else x,
    "11 mask without dimensions": lambda x: x[x[0] > 0] * 2,
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(BRANCHES)
def test_branches(case, grad):
    """Each outcome of reading values has its own plan."""
    check(pure(case, (4,), grad=grad, count=24), min_hits=8)


VALUES = {
    "11 item as a number": (lambda x: x * x.sum().item(), "reads a value"),
    "11 sorted of Python": (lambda x: sorted(x.unbind(0), key=float)[0] * x, "reads a value"),
    "11 in": (lambda x: x * 2 if 3.0 in x.tolist() else x, "reads values"),
    "12 numpy": (lambda x: x * float(x.detach().numpy().sum()), "NumPy"),
    "12 list": (lambda x: x * x.tolist()[0], "reads values"),
    "12 float": (lambda x: x * float(x[0]), "reads a value"),
    "12 int": (lambda x: x * int(x[0]), "reads a value"),
    "12 print": (lambda x: (print(x), x + 1)[1], "reads values"),
    "12 print of text": (lambda x: (print("here"), x + 1)[1], "print"),
    "12 repr": (lambda x: (repr(x), x * 2), ""),
    "12 format": (lambda x: (f"{x.sum().item():.2f}", x * 2), "reads a value"),
    "12 iteration over values": (lambda x: sum(float(part) for part in x) * x, "reads a value"),
    "12 array function": (lambda x: x * float(np.max(np.asarray(x.detach()))), ""),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(VALUES)
def test_values(case, grad):
    function, reason = case
    check(pure(function, (4,), grad=grad, count=5), fallback=reason)


def test_11_an_assertion_that_fails():
    check(pure(failing_assert, (4,)), min_hits=0)


def doubled(x):
    return x * 2 * x.sum().item()


def test_12_explain_names_the_line():
    f = lucid.compile(doubled)
    f(lucid.ones(3))
    line = doubled.__code__.co_firstlineno + 1
    assert f"runs eagerly: test_failures_state.py:{line}: reads a value of a tensor" in f.explain()


# Python state.


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.counter = 0
        self.scale = 1.0
        self.layers = [nn.Linear(3, 3), nn.ReLU()]
        for number, layer in enumerate(self.layers):
            self.add_module(f"layer{number}", layer)
        self.table = {"gain": 1.0, "names": ["a"]}

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale * self.table["gain"] + len(self.table["names"])


class Counting(Stateful):
    def forward(self, x):
        self.counter += 1
        return super().forward(x) * self.counter


class Setting(Stateful):
    def forward(self, x):
        self.scale = 2.0
        return super().forward(x)


class Remembering(Stateful):
    def forward(self, x):
        self.last = super().forward(x)
        return self.last


class Logging(Stateful):
    def forward(self, x):
        self.table["names"].append("b")
        return super().forward(x)


class Swapping(Stateful):
    def forward(self, x):
        self.layers.reverse()
        return super().forward(x)


@pytest.mark.parametrize("make", [Counting, Setting, Remembering, Logging, Swapping])
def test_13_writes_to_attributes(make):
    compiled = check(module_world(make, (2, 3), count=7), fallback="")
    eager = make()
    for (x,) in calls((2, 3), count=7)():
        eager(x)
    assert (compiled.counter, compiled.scale, compiled.table) == (eager.counter, eager.scale, eager.table)


def replace_layer(net):
    net.layers[1] = nn.Identity()


def add_layer(net):
    net.layers.append(nn.Tanh())


def replace_parameter(net):
    net.layer0.weight = nn.Parameter(lucid.eye(3))


def tie(net):
    net.layer0.bias = nn.Parameter(net.layer0.weight[0].detach().clone())
    net.layers.append(net.layers[0])


def change_method(net):
    net.layers[1].forward = lambda x: x * 7


def change_class(net):
    net.layers[1].__class__ = nn.Tanh


def rename(net):
    net.table["names"] = ["a", "b", "c"]


CHANGES = {
    "13 a scale": lambda net: setattr(net, "scale", 3.0),
    "13 a layer replaced": replace_layer,
    "13 a layer added": add_layer,
    "13 a parameter replaced": replace_parameter,
    "13 weights tied": tie,
    "13 a method replaced": change_method,
    "13 a class replaced": change_class,
    "13 a mode": lambda net: net.layer1.eval(),
    "13 something that is not read": lambda net: setattr(net, "other", 3.0),
    "14 an entry of a dict": lambda net: net.table.update(gain=5.0),
    "14 a new entry of a dict": lambda net: net.table.update(more=5.0),
    "14 an inner list grows": lambda net: net.table["names"].append("b"),
    "14 an inner list is replaced": rename,
    "14 a list is cleared": lambda net: net.layers.clear(),
    "14 a list is reversed": lambda net: net.layers.reverse(),
    "14 a list shrinks": lambda net: net.layers.pop(),
    "14 a dict is replaced": lambda net: setattr(net, "table", {"gain": 2.0, "names": []}),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(CHANGES)
def test_changes_between_calls(case, grad):
    def change(net, number):
        if number == 3:
            case(net)

    check(module_world(Stateful, (2, 3), count=7, before=change, grad=grad), min_hits=3)


GLOBAL_SCALE = 1.0
GLOBAL_LIST = [1.0]


@pytest.mark.parametrize("where", ["13 global", "14 global list", "14 closure list", "14 set", "14 tuple replaced"])
def test_changes_outside_of_modules(where):
    def world():
        global GLOBAL_SCALE
        GLOBAL_SCALE = 1.0
        GLOBAL_LIST[:] = [1.0]
        numbers, names, pair = [1.0, 2.0], {"a"}, [(1.0, 2.0)]
        functions = {
            "13 global": lambda x: x * GLOBAL_SCALE,
            "14 global list": lambda x: x * GLOBAL_LIST[0] + len(GLOBAL_LIST),
            "14 closure list": lambda x: x * sum(numbers),
            "14 set": lambda x: x * len(names) + ("b" in names),
            "14 tuple replaced": lambda x: x * pair[0][1],
        }

        def change(number):
            global GLOBAL_SCALE
            if number == 3:
                GLOBAL_SCALE = 4.0
                GLOBAL_LIST.insert(0, 3.0)
                numbers.append(5.0)
                names.add("b")
                pair[0] = (1.0, 9.0)

        return functions[where], calls((3,), count=7, before=change), []

    check(world, min_hits=4, compiles=2)


# Clocks and random numbers of other libraries.


@pytest.mark.parametrize("kind", ["15 random", "15 random.choice", "15 NumPy", "15 a NumPy generator", "15 a Random"])
def test_random_numbers_of_other_libraries(kind):
    def scenario(wrap):
        random.seed(5)
        np.random.seed(5)  # noqa: NPY002
        generator = np.random.default_rng(5)
        own = random.Random(5)
        functions = {
            "15 random": lambda x: x * random.random(),
            "15 random.choice": lambda x: x * random.choice([1.0, 2.0, 3.0]),
            "15 NumPy": lambda x: x * float(np.random.rand()),  # noqa: NPY002
            "15 a NumPy generator": lambda x: x * float(generator.random()),
            "15 a Random": lambda x: x * own.random(),
        }
        f = wrap(functions[kind])
        return [f(lucid.ones(2)) for _ in range(6)]

    check_scenario(scenario, fallback="runs eagerly: test_failures_state.py")


@pytest.mark.parametrize("clock", [time.time, time.perf_counter, time.monotonic])
def test_15_clocks(clock):
    f = lucid.compile(lambda x: x * 0 + clock())
    first = f(lucid.zeros(1, dtype=lucid.f64)).item()
    time.sleep(0.01)
    assert f(lucid.zeros(1, dtype=lucid.f64)).item() > first
    assert "time" in f.explain()


def test_13_explain_names_the_line_that_writes_a_counter():
    compiled = Counting().compile()
    for _ in range(4):
        compiled(lucid.ones(2, 3))
    line = Counting.forward.__code__.co_firstlineno + 1
    assert f"test_failures_state.py:{line}: the call writes self.counter" in compiled.explain()
    assert compiled.counter == 4
    assert bits(compiled(lucid.ones(2, 3))) == bits(compiled._wrapped.forward(lucid.ones(2, 3)) / 6 * 5)
