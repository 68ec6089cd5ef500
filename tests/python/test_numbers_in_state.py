"""Numbers that vary in attributes, closures, globals and items: one plan serves them, as it does for arguments."""

import contextlib
import math
import random
import sys
import threading
import types

import lucid
import lucid.nn as nn
import pytest
from interpreter import run_python
from same import bits

X = lucid.tensor([1.0, -2.0, 3.0])
SCALE = 1.0


class Box:
    def __init__(self, **values):
        vars(self).update(values)


class Slots:
    __slots__ = ("value",)


def agrees(function, change, count=12, hits=9, recordings=3):
    """Whether calls between changes return the same compiled, most of them by a plan."""
    compiled = lucid.compile(function)
    for number in range(count):
        change(number)
        assert bits(compiled(X)) == bits(function(X)), compiled.explain()
    info = compiled.cache_info()
    assert info.hits >= hits, compiled.explain()
    assert info.compiles <= recordings, compiled.explain()
    return compiled


def test_a_closure_variable():
    scale = 1.0

    def change(number):
        nonlocal scale
        scale = 0.5 + number

    compiled = agrees(lambda x: x * scale + scale * 2, change)
    assert "closure scale may vary" in compiled.explain()


def test_a_global():
    def change(number):
        global SCALE
        SCALE = 0.25 * number + 1

    agrees(lambda x: (x + SCALE).sum(), change)


def test_an_item_of_a_list():
    temperature = [1.0]
    agrees(lambda x: (x * temperature[0]).softmax(-1), lambda number: temperature.__setitem__(0, 1.0 - number * 0.01))


def test_an_item_of_a_dict_and_attributes():
    config = {"lr": 0.1, "name": "a", "nested": {"decay": 0.5}}
    box = Box(value=2, inner=Box(value=3.0))
    space = types.SimpleNamespace(value=0.5)
    slots = Slots()

    def change(number):
        config["lr"] = 0.1 + number
        config["nested"]["decay"] = 0.5 * number
        box.value = number + 2
        box.inner.value = -1.5 * number
        space.value = number / 3
        slots.value = number * 7.0

    def f(x):
        return (
            x * config["lr"]
            - config["nested"]["decay"]
            + box.value * box.inner.value
            + x / (space.value + 1)
            + slots.value
        )

    agrees(f, change)


def test_an_attribute_of_a_module():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.temperature = 1.0

        def forward(self, x):
            return self.linear(x) / self.temperature

    module = Scaled()

    def change(number):
        module.temperature = 1.0 + number / 4

    with lucid.no_grad():
        agrees(module, change)


def test_numbers_in_places_and_arguments_and_sizes():
    box = Box(value=1.0)

    def f(x, k):
        return (x * box.value + k).sum() * x.shape[0]

    compiled = lucid.compile(f)
    choose = random.Random(3)
    for _ in range(40):
        box.value = choose.random()
        x, k = lucid.ones(choose.randrange(2, 30)), choose.random()
        assert bits(compiled(x, k)) == bits(f(x, k))
    assert compiled.cache_info().hits > 25, compiled.explain()


def test_functions_of_math():
    box = Box(value=1.0)

    def f(x):
        angle = math.cos(math.pi * box.value / 20) + math.hypot(box.value, 2)
        near = math.isclose(1.0, 1.5, rel_tol=0.1)
        return x * math.exp(-box.value) + 0.5 * (1 + angle) + math.floor(box.value) + math.fsum([1.0, 2.0]) + near

    agrees(f, lambda number: setattr(box, "value", number + 0.25))
    assert type(math.exp) is types.BuiltinFunctionType

    def root(x, value):
        return x * math.sqrt(value)

    compiled = lucid.compile(root)
    for number in range(10):
        assert bits(compiled(X, number + 0.5)) == bits(root(X, number + 0.5))
    assert compiled.cache_info().hits >= 7, compiled.explain()
    with pytest.raises(ValueError, match="math domain error"):
        compiled(X, -1.0)
    assert bits(compiled(X, 4.0)) == bits(X * 2.0)


def test_branches_on_the_number():
    box = Box(value=0)

    def f(x):
        if box.value % 3 == 0:
            return x * box.value
        return x - box.value if box.value > 10 else x + box.value

    agrees(f, lambda number: setattr(box, "value", (number * 7) % 23), count=60, hits=30, recordings=20)


def test_numbers_that_are_used_as_indices_have_plans_of_their_own():
    box = Box(value=0)

    def f(x):
        return x[box.value] * 2

    agrees(f, lambda number: setattr(box, "value", number % 3), count=12, hits=8, recordings=4)


def test_other_types_and_values_are_recorded():
    box = Box(value=1.0)
    compiled = lucid.compile(lambda x: x * box.value)
    for value in (
        1.0,
        2.0,
        3.0,
        4,
        5,
        6.0,
        True,
        -0.0,
        0.0,
        float("nan"),
        float("inf"),
        2**40,
        2**70,
        lucid.ones(3),
        7.0,
    ):
        box.value = value
        if type(value) is int and value == 2**70:
            with pytest.raises(OverflowError, match="does not fit in 64 bits"):
                compiled(X)
            continue
        assert bits(compiled(X)) == bits(X * value), value


def test_a_place_that_is_gone():
    box = Box(value=1.0)
    compiled = lucid.compile(lambda x: x * box.value)
    for number in range(4):
        box.value = number + 0.5
        compiled(X)
    del box.value
    with pytest.raises(AttributeError):
        compiled(X)
    box.value = 9.0
    assert bits(compiled(X)) == bits(X * 9.0)


def test_the_number_is_put_back():
    box = Box(value=1.0)
    seen = []

    def f(x):
        seen.append(type(box.value) is float)
        return x * box.value

    def raises(x):
        y = x * box.value
        {}[box.value]
        return y

    for function in (f, raises):
        compiled = lucid.compile(function)
        for number in range(6):
            box.value = number + 0.5
            with contextlib.suppress(KeyError):
                compiled(X)
            assert type(box.value) is float
    assert all(seen)


def test_an_interrupt_leaves_plain_numbers():
    run_python(
        "import itertools, math, signal, sys\n"
        "import lucid\n"
        "sys.unraisablehook = lambda _: None\n"
        "class Box: value = None\n"
        "box, functions, got = Box(), dict(vars(math)), 0\n"
        "def interrupt(*_):\n"
        "    raise KeyboardInterrupt\n"
        "signal.signal(signal.SIGALRM, interrupt)\n"
        "def f(x):\n"
        "    for _ in range(20):\n"
        "        x = x * math.exp(-box.value) + box.value\n"
        "    return x\n"
        "for attempt in range(60):\n"
        "    compiled = lucid.compile(f)\n"
        "    box.value = 1.0\n"
        "    compiled(lucid.ones(3))\n"
        "    try:\n"
        # It is repeated, because destructors and the like ignore exceptions.
        "        signal.setitimer(signal.ITIMER_REAL, 0.0002 * (attempt + 1), 0.01)\n"
        "        for box.value in itertools.count(2.0):\n"
        "            compiled(lucid.ones(3))\n"
        "    except KeyboardInterrupt:\n"
        "        got += 1\n"
        # The next signal may come before the timer stops.
        "        while True:\n"
        "            try:\n"
        "                signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "                break\n"
        "            except KeyboardInterrupt:\n"
        "                pass\n"
        "    assert type(box.value) is float\n"
        "    assert all(vars(math)[name] is function for name, function in functions.items())\n"
        "assert got == 60\n"
    )


def test_code_that_looks_at_types_sees_plain_numbers():
    box = Box(value=1.0)

    def f(x):
        return x * (box.value if type(box.value) is float else 100.0)

    compiled = lucid.compile(f)
    for number in range(6):
        box.value = number + 0.5
        assert bits(compiled(X)) == bits(X * box.value)


def test_two_places_with_one_name():
    def make(value):
        def get(x):
            return x * value

        def put(new):
            nonlocal value
            value = new

        return get, put

    (first, put_first), (second, put_second) = make(1.0), make(2.0)
    compiled = lucid.compile(lambda x: first(x) - second(x * x))
    for number in range(8):
        put_first(number + 0.5)
        put_second(number * 3.5)
        assert bits(compiled(X)) == bits(first(X) - second(X * X))
    for number in range(8):
        put_first(number * 1.5)
        assert bits(compiled(X)) == bits(first(X) - second(X * X))


def test_one_number_in_two_places():
    shared = 1.5
    a, b = Box(value=shared), Box(value=shared)
    compiled = lucid.compile(lambda x: x * a.value + b.value)
    for number in range(10):
        a.value = b.value = number * 1.25
        assert bits(compiled(X)) == bits(X * a.value + b.value)
    for number in range(10):
        a.value = number * 1.25
        assert bits(compiled(X)) == bits(X * a.value + b.value)


def test_other_threads_never_see_a_traced_number_or_a_replaced_function():
    box, kinds, stop = Box(value=1.0), set(), threading.Event()

    def watch():
        while not stop.is_set():
            kinds.update((type(box.value), type(math.exp)))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        for _ in range(20):
            compiled = lucid.compile(lambda x: x * math.exp(box.value))
            for number in range(5):
                box.value = number + 0.5
                assert bits(compiled(X)) == bits(X * math.exp(box.value))
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert kinds == {float, types.BuiltinFunctionType}


def test_training_steps_keep_exact_numbers():
    weight = lucid.ones(3).requires_grad_()
    optimizer = lucid.optim.SGD([weight], lr=0.1)
    box = Box(beta=1.0)

    def step(x):
        optimizer.zero_grad()
        loss = (weight * x).sum() * box.beta
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = lucid.compile(step)
    weights = []
    for run in (step, compiled):
        with lucid.no_grad():
            weight.fill_(1.0)
        for number in range(6):
            box.beta = 1.0 + number // 2
            run(X)
        weights.append(bits(weight))
    assert weights[0] == weights[1]


def test_random_programs_with_numbers_in_places():
    choose = random.Random(7)
    names = [f"n{number}" for number in range(5)]
    for _ in range(60):
        box = Box(**{name: choose.choice([1, 2.0, 0.5, 3]) for name in names})
        terms = []
        for _ in range(choose.randrange(2, 6)):
            a, b = choose.choice(names), choose.choice(names)
            terms.append(
                choose.choice(
                    [
                        f"y = y * box.{a}",
                        f"y = y + box.{a} * box.{b}",
                        f"y = y - (box.{a} if box.{b} > 1 else -box.{a})",
                        f"y = y / (abs(box.{a}) + 1)",
                        f"y = y + box.{a} // 2 + int(box.{b})",
                        f"y = y * max(box.{a}, box.{b})",
                        f"y = y + len([0] * int(abs(box.{a})))",
                        f"y = y ** 2 if box.{a} == box.{b} else y",
                        f"y = y + round(box.{a})",
                    ]
                )
            )
        source = "def f(x):\n    y = x\n    " + "\n    ".join(terms) + "\n    return y\n"
        world = {"box": box}
        exec(source, world)
        compiled = lucid.compile(world["f"])
        for _ in range(25):
            name = choose.choice(names)
            now = getattr(box, name)
            setattr(box, name, choose.choice([now, now + 1, -now, now * 0.5, int(now), 4]))
            assert bits(compiled(X)) == bits(world["f"](X)), source


def test_calls_that_do_not_wait():
    done = run_python(
        "import lucid\n"
        "t = [1.0]\n"
        "f = lucid.compile(lambda x: x * t[0])\n"
        "for number in range(200):\n"
        "    t[0] = number + 0.5\n"
        "    assert f(lucid.ones(2)).tolist() == [number + 0.5] * 2\n"
        "    if number < 4:\n"
        "        lucid.compiler.wait()\n"
        "print(f.cache_info().hits > 150)\n",
        LUCID_COMPILE_WAIT="0",
    )
    assert done == "True\n"
