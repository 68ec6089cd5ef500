"""Objects and containers that a call reaches in several ways: by two arguments, by an argument and its state, by two
names."""

import collections
import dataclasses
import functools
import types
from typing import Any, NamedTuple

import lucid
import lucid.nn as nn
import pytest
from same import check


class Box:
    def __init__(self, **values):
        vars(self).update(values)


@dataclasses.dataclass
class Point:
    a: Any


class Pair(NamedTuple):
    a: Any


def rows(number):
    return lucid.ones(2 + number % 5, 3) * (number + 1)


# How an argument holds something, and how the function gets it.
WAYS = {
    "itself": (lambda value: value, lambda held: held),
    "list": (lambda value: [value], lambda held: held[0]),
    "tuple": (lambda value: (1.0, value), lambda held: held[1]),
    "dict": (lambda value: {"a": value}, lambda held: held["a"]),
    "nested": (lambda value: {"a": [(value,)]}, lambda held: held["a"][0][0]),
    "object": (lambda value: Box(a=value), lambda held: held.a),
    "namespace": (lambda value: types.SimpleNamespace(a=value), lambda held: held.a),
    "dataclass": (Point, lambda held: held.a),
    "list in a dataclass": (lambda value: Point([value]), lambda held: held.a[0]),
    "named tuple": (Pair, lambda held: held.a),
    "ordered dict": (lambda value: collections.OrderedDict(a=value), lambda held: held["a"]),
    "closure": (lambda value: lambda: value, lambda held: held()),
    "partial": (lambda value: functools.partial(lambda given: given, value), lambda held: held()),
    "two objects": (lambda value: Box(a=Box(a=value)), lambda held: held.a.a),
}
# Lists, tuples and dicts are replaced where sizes are traced, so one recording serves all sizes.
REPLACED = ("itself", "list", "tuple", "dict", "nested")


def twice(function, arguments, **options):
    """Calls a function with arguments that hold one tensor, whose size varies."""

    def calls():
        for number in range(12):
            given = arguments(rows(number))
            # By keyword, if it is a dict.
            yield ((), given) if type(given) is dict else (given, {})

    check(lambda: (function, calls, []), **options)


@pytest.mark.parametrize("verify", [0, 1], ids=["", "verified"])
@pytest.mark.parametrize("container", ["list", "tuple", "dict", "nested"])
@pytest.mark.parametrize("way", WAYS)
def test_a_container_of_tensors_that_is_passed_twice(way, container, verify):
    """Also in another object that is passed."""
    (hold, held), (make, item) = WAYS[way], WAYS[container]

    def arguments(value):
        made = make(value)
        return made, hold(made)

    compiles = 2 if way in REPLACED else None
    # Each size has a plan of its own if the symbolic retrace cannot replace the container everywhere.
    twice(
        lambda a, b: item(a) * item(held(b)).shape[0], arguments, compiles=compiles, min_hits=0 + 5 * (compiles == 2),
        verify=verify,
    )  # fmt: skip
    twice(lambda b, a: item(held(b)) * item(a).shape[0], lambda value: arguments(value)[::-1], min_hits=0)


@pytest.mark.parametrize("way", WAYS)
def test_a_tensor_that_is_passed_twice(way):
    hold, held = WAYS[way]
    twice(lambda a, b: a * held(b).shape[0], lambda value: (value, hold(value)), min_hits=0)
    twice(lambda b, a: held(b) * a.shape[0], lambda value: (hold(value), value), min_hits=0)


def test_sizes_of_arguments_that_the_state_holds():
    state = {"items": [None], "t": None}

    def world(function, hold):
        def calls():
            for number in range(8):
                state["t"] = state["items"][0] = rows(number)
                yield (hold(state["t"]),)

        return lambda: (function, calls, [])

    check(world(lambda a: a * state["t"].shape[0], lambda t: t), min_hits=0)
    check(world(lambda a: a[0] * state["items"][0].shape[0], lambda t: state["items"]), min_hits=0)
    check(world(lambda a: a[0] * state["items"][0].shape[0], lambda t: [t]), min_hits=0)


def test_containers_by_keyword_and_in_each_other():
    twice(lambda a, b: a["x"] * b["x"].shape[0], lambda t: {"a": (d := {"x": t}), "b": d}, compiles=2)
    twice(lambda *a: a[0][0] * a[2][0].shape[0] + a[1][0], lambda t: ((made := [t]), [t + 1], made), compiles=2)
    twice(lambda a, b: a[0][0] * b[0].shape[0], lambda t: ([made := [t]], made), compiles=2)


def test_numbers_that_are_held_twice():
    """Numbers that vary in places that a call reaches in two ways, and among arguments."""

    def world():
        shared = {"k": 0.5}
        box = Box(shared=shared, k=0.5)

        def function(x, k, other, read):
            return x * shared["k"] + box.shared["k"] * k + other[0] + read() + box.k

        def calls():
            for number in range(12):
                shared["k"] = box.k = number * 0.5
                yield lucid.ones(3), number * 0.25, [number * 0.25], lambda: shared["k"]

        return function, calls, []

    check(world, min_hits=0, fallback="")


# Lists that a call appends to, and how it also reaches them.

LOGS = {
    "list": (list, lambda log: log),
    "dict of lists": (lambda: {"a": []}, lambda log: log["a"]),
    "list of lists": (lambda: [[], []], lambda log: log[0]),
    "default dict": (lambda: collections.defaultdict(list, a=[]), lambda log: log["a"]),
}


@pytest.mark.parametrize("verify", [0, 1], ids=["", "verified"])
@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.parametrize("way", WAYS)
def test_a_log_that_an_argument_holds(way, kind, verify):
    (hold, held), (make, item) = WAYS[way], LOGS[kind]

    def world(other=None):
        """Every third call passes another container than the log's, or all pass the log's."""
        # No other code uses this name.
        records = make()
        append = {
            "list": lambda: records.append(1.0),
            "list of lists": lambda: records[0].append(1.0),
        }.get(kind, lambda: records["a"].append(1.0))

        def function(x, p):
            append()
            return x * len(item(held(p)))

        passed = hold(records)
        calls = lambda: [  # noqa: E731
            (lucid.ones(3), passed if other is None or number % 3 == 2 else hold(other())) for number in range(9)
        ]
        return function, calls, []

    for other in (None, make):
        check(lambda other=other: world(other), min_hits=0, fallback="", verify=verify)


class Callback(nn.Module):
    def __init__(self, records):
        super().__init__()
        self.records = records

    def forward(self, x):
        return x * len(self.records["loss"])


def test_a_history_that_a_callback_shares():
    """Whichever of the two names the walk meets first."""

    class Report:
        def __init__(self, records):
            self.records = records

        def factor(self):
            return 0.5 if len(self.records["loss"]) > 4 else 1.0

    for attribute in ("a_report", "z_report"):

        def world(attribute=attribute):
            weight = lucid.ones(3, requires_grad=True)
            optimizer = lucid.optim.SGD([weight], lr=0.1)
            trainer = Box(history={"loss": []})
            setattr(trainer, attribute, Report(trainer.history))

            def step(x):
                report = trainer.a_report if attribute == "a_report" else trainer.z_report
                loss = (weight * x).sum().square() * report.factor()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                trainer.history["loss"].append(loss.item())
                return loss.item()

            return step, [(lucid.randn(3),) for _ in range(9)], [weight]

        check(world, min_hits=0, fallback="")


def in_slots(log):
    class Slots:
        __slots__ = ("items", "view")

    made = Slots()
    made.items, made.view = log, (log,)
    return made


# Each makes a function that appends to a list by one name, and one that reads it in another way.
OTHER_PATHS = {
    "two names of the container": lambda: (
        (h := {"a": []}) and (b := Box(records=h)) and None,
        lambda: h["a"].append(1.0),
        lambda: len(b.records["a"]),
    ),
    "a module's attribute": lambda: (
        m := Callback(h := {"loss": []}),
        lambda: h["loss"].append(1.0),
        lambda: m(lucid.ones(1)).item(),
    ),
    "a list of lists in a dict": lambda: (
        d := {"r": (runs := [[], []])},
        lambda: runs[0].append(1.0),
        lambda: len(d["r"][0]),
    ),
    "a tuple in a slot": lambda: (s := in_slots([]), lambda: s.items.append(1.0), lambda: len(s.view[0])),
    "a view of the dict": lambda: (
        v := (d := {"a": []}).values(),
        lambda: d["a"].append(1.0),
        lambda: sum(len(log) for log in v),
    ),
    "a default": lambda: (records := [], lambda: records.append(1.0), lambda given=records: len(given)),
    "a partial": lambda: (records := [], lambda: records.append(1.0), functools.partial(len, records)),
    "the arguments of a partial": lambda: (
        p := functools.partial(len, []),
        lambda: p.args[0].append(1.0),
        lambda: p(),
    ),
    "a cell": lambda: (
        (records := []) and None,
        append := (lambda: records.append(1.0)),
        lambda: len(append.__closure__[0].cell_contents),
    ),
    "the dict of an object": lambda: (
        d := vars(b := Box(items=[])),
        lambda: b.items.append(1.0),
        lambda: sum(len(part) for part in d.values()),
    ),
    "a dict with a class of its own": lambda: (
        t := Reading(a=[]),
        lambda: t["a"].append(1.0),
        lambda: 1.0,
    ),
}


class Reading(dict):
    """Reads what is taken from it."""

    def __getitem__(self, key):
        value = dict.__getitem__(self, key)
        if len(value) > 3:
            raise KeyError("full")
        return value


@pytest.mark.parametrize("name", OTHER_PATHS)
def test_a_log_that_is_read_in_another_way(name):
    def world():
        _, append, read = OTHER_PATHS[name]()

        def function(x):
            append()
            return x * read()

        return function, [(lucid.ones(3),) for _ in range(8)], []

    check(world, min_hits=0, fallback="")


def test_the_dict_of_an_object():
    """The state or an argument holds it, from the first call on or later."""

    def world(later):
        box = Box(count=100)
        own, other = Box(entries=vars(box)), Box(entries={"count": 100})

        def function(x, p):
            box.count += 1
            return x * sum(p.entries.values())

        def calls():
            for number in range(9):
                box.count = 100
                yield lucid.ones(3), own if number % 3 == 2 or not later else other

        return function, calls, []

    check(lambda: world(False), min_hits=0, fallback="")
    check(lambda: world(True), min_hits=2, fallback="")


@pytest.mark.parametrize("empty", [[], (), {}, set()], ids=["list", "tuple", "dict", "set"])
def test_empty_containers_that_the_state_has_too(empty):
    box = Box(items=empty)
    for hold, held in (WAYS["itself"], WAYS["object"]):

        def function(x, p, held=held):
            return x + len(held(p)) + len(box.items)

        calls = [(lucid.ones(3), hold(empty), held) for _ in range(4)]
        check(lambda function=function, calls=calls: (function, calls, []), min_hits=3)


def test_tensors_that_a_log_and_a_place_hold():
    """A tensor in a list that is only appended to may be in another place, which is read."""

    def world():
        first = lucid.ones(3)
        box = Box(log=[first], kept=first)

        def function(x):
            box.log.append(x * 2)
            return x * box.kept.shape[0] + box.kept.sum()

        def calls():
            for number in range(9):
                if number == 6:
                    box.kept.data = lucid.ones(4)
                yield (lucid.ones(3),)

        return function, calls, lambda: [*box.log]

    check(world, min_hits=4)


def test_logs_that_nobody_reads_are_compiled():
    """A callback has the history under the same name."""

    def world():
        trainer = Box(history={"loss": [], "norm": []}, steps=0, log=[])
        trainer.owner = Box(trainer=trainer)
        callback = Box(history=trainer.history, log=trainer.log)

        def step(x):
            y = (x * 2).sum()
            trainer.history["loss"].append(y.item())
            callback.history["norm"].append(1.0)
            trainer.owner.trainer.log.append(y.item())
            trainer.steps += 1
            return y

        return step, [(lucid.randn(3),) for _ in range(9)], lambda: [lucid.tensor([*trainer.history["loss"]])]

    check(world, min_hits=7)
