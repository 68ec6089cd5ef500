"""Calls that count, and that append to lists: plans do the same."""

import operator

import lucid
import lucid.nn as nn
import pytest
from interpreter import run_python
from same import Box, check

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


def test_a_counter_beside_clipped_gradients():
    """In a new interpreter, in which nothing has asked yet whether a generator is iterable."""
    run_python("""
import lucid

class Trainer:
    def __init__(self):
        self.model, self.count = lucid.nn.Linear(3, 2), 0

    def step(self, x):
        self.model(x).sum().backward()
        lucid.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.count += 1

trainer = Trainer()
step = lucid.compile(trainer.step, wait=True)
for _ in range(6):
    step(lucid.ones(3))
assert trainer.count == 6
assert step.cache_info().hits >= 2, step.explain()
""")
