"""Plans repeat what a call prints, in the order of its other effects."""

import contextlib
import io
import sys
import threading

import lucid
import lucid.nn as nn
import pytest
from repeated import agrees, numbers, outputs, runs_eagerly
from same import bits

# Prints


def test_texts_are_printed_by_every_call():
    def f(x):
        print("begins", x.shape, x.dtype, sep=", ", end=";\n")
        y = x * 2
        for number in range(3):
            print(number, [number] * number, {"a": (1.5, None)})
        return y

    compiled = agrees(f, numbers(), 5)
    assert "then calls print (test_repeated_prints.py" in compiled.explain()


def test_values_of_tensors_are_printed():
    def f(x):
        total = x.sum()
        print("total", total.item(), "!")
        print(f"mean {x.mean().item():.3f}, largest {x.max().item():>8.2f} of {len(x)}")
        message = f"smallest {x.min().item()}"
        print(message)
        print(f"{float(total)}")
        return total

    agrees(f, numbers(), 4)


def test_a_value_is_printed_and_returned_and_kept():
    log = []

    def f(x):
        value = x.sum().item()
        log.append(value)
        print(f"sum {value:.2f}")
        return value

    agrees(f, numbers(), 3)
    assert len(log) == 12
    assert log[:6] == log[6:]


def test_a_value_whose_text_occurs_twice_is_still_printed_right():
    def f(x):
        print(f"2.5 and {x[1].item()} and {x.sum().item()}")
        return x + 1

    compiled = lucid.compile(f)
    assert outputs(compiled, numbers()) == outputs(f, numbers())


def test_a_text_in_a_variable_that_changes_is_a_use_of_the_value():
    def f(x):
        text = f"{x[1].item()}"
        if x[0].item() > 2:
            text = "2.5"
        print(text)
        return x * x

    calls = [(lucid.tensor([a, b]),) for a, b in [(3.0, 2.5), (3.0, 1.5), (1.0, 2.5), (1.0, 0.5), (3.0, 0.25)]]
    compiled = lucid.compile(f)
    assert outputs(compiled, calls) == outputs(f, calls)


def test_converted_values_are_printed_right():
    def f(x):
        print(f"{x.sum().item()!s:.3} {x.max().item()!r:>9} {x.min().item()!r} {x.mean().item()=}")
        return x + 1

    calls = [(lucid.tensor([a, 1.0]),) for a in (1.5, 1.5, 0.123456, 0.123456, 1234.5678, -2.0)]
    compiled = lucid.compile(f)
    assert outputs(compiled, calls) == outputs(f, calls)


def test_values_read_in_a_loop_are_printed_right():
    def f(x):
        for i in range(3):
            print(f"value {i} is {x[i].item()}")
        for i in range(2):
            value = x[i].item()
        print(value)
        return x + 1

    calls = [*numbers(), (lucid.tensor([2.5, 2.5, 2.5]),), (lucid.tensor([0.0, 0.0, 7.0]),)]
    compiled = lucid.compile(f)
    assert outputs(compiled, calls) == outputs(f, calls)


def test_prints_in_branches_on_values():
    def f(x):
        if x.sum().item() > 3:
            print("large")
            return x * 2
        print(f"small: {x.sum().item()}")
        return x

    agrees(f, numbers(8), 5)


class Shown:
    def __init__(self, number):
        self.number = number

    def __str__(self):
        print("is shown")
        return f"Shown({self.number})"


def test_printing_calls_methods_of_objects():
    shown = Shown(3)

    def f(x):
        print("before", shown)
        return x - shown.number

    runs_eagerly(f, numbers(), "has an effect while it prints")


def test_tensors_and_other_streams_are_printed_eagerly():
    other = io.StringIO()
    runs_eagerly(lambda x: (print(x), x * 2)[1], numbers(), "reads values of a tensor")
    runs_eagerly(lambda x: (print("a", file=other), x * 2)[1], numbers(), "prints to a stream other than sys.stdout")
    assert other.getvalue() == "a\n" * 12


def test_a_stream_of_the_user_makes_calls_run_eagerly():
    class Loud(io.StringIO):
        def write(self, text):
            return super().write(text.upper())

    def f(x):
        print("hello")
        return x * 2

    compiled = lucid.compile(f)
    assert outputs(compiled, numbers(3)) == outputs(f, numbers(3))
    hits = compiled.cache_info().hits
    assert hits > 0
    loud = Loud()
    with contextlib.redirect_stdout(loud):
        compiled(*numbers()[0])
    assert loud.getvalue() == "HELLO\n"
    assert compiled.cache_info().hits == hits


def test_the_stream_is_left_as_it_was():
    stream = io.StringIO()
    compiled = lucid.compile(lambda x: (print("a"), x * 2)[1])
    with contextlib.redirect_stdout(stream):
        compiled(lucid.ones(3))
    assert "write" not in vars(stream)
    assert "write" not in vars(sys.stdout)


def test_a_print_that_raises():
    class Odd:
        def __str__(self):
            raise ValueError("odd")

    odd = Odd()
    stream = io.StringIO()
    compiled = lucid.compile(lambda x: (print("a", odd), x * 2)[1])
    with contextlib.redirect_stdout(stream):
        for _ in range(3):
            with pytest.raises(ValueError, match="odd"):
                compiled(lucid.ones(3))
    assert stream.getvalue() == "a " * 3
    assert "write" not in vars(stream)


def test_prints_of_other_threads_are_not_recorded():
    stream, stop = io.StringIO(), threading.Event()

    def chatter():
        while not stop.is_set():
            print("chatter")

    def f(x):
        print("hello", x.shape)
        return x * 2

    thread = threading.Thread(target=chatter)
    with contextlib.redirect_stdout(stream):
        thread.start()
        compiled = [lucid.compile(lambda x, f=f: f(x)) for _ in range(20)]
        for each in compiled:
            each(lucid.ones(3))
        stop.set()
        thread.join()
    again = io.StringIO()
    with contextlib.redirect_stdout(again):
        for each in compiled:
            each(lucid.ones(3))
    assert again.getvalue() == "hello (3,)\n" * 20
    assert "write" not in vars(stream)


def test_threads_record_prints_at_once():
    stream = io.StringIO()

    def work(number):
        def f(x):
            print(f"<{number}>")
            return x * number

        compiled = lucid.compile(f)
        for _ in range(20):
            compiled(lucid.ones(3))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    with contextlib.redirect_stdout(stream):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [stream.getvalue().count(f"<{number}>") for number in range(8)] == [20] * 8


# Order


def step_of(model, optimizer, log):
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        log(loss)
        return loss.detach()

    return step


def train(compile, log, capture):
    lucid.manual_seed(3)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    optimizer = lucid.optim.Adam(model.parameters(), lr=0.1)
    step = compile(step_of(model, optimizer, log))
    losses = [step(lucid.ones(5, 3) * (number + 1)).item() for number in range(8)]
    return losses, [bits(p) for p in model.parameters()], capture()


def test_a_training_step_prints_its_loss():
    streams = io.StringIO(), io.StringIO()
    compiled = []

    def keep(function):
        compiled.append(lucid.compile(function))
        return compiled[-1]

    def log(loss):
        print(f"loss {loss.item():.6f}")

    with contextlib.redirect_stdout(streams[0]):
        eager = train(lambda function: function, log, streams[0].getvalue)
    with contextlib.redirect_stdout(streams[1]):
        assert train(keep, log, streams[1].getvalue) == eager
    assert compiled[0].cache_info().hits > 3, compiled[0].explain()


def test_state_that_changes_after_a_print_makes_calls_run_eagerly():
    total = lucid.zeros(3)
    counter = [0]

    def adds(x):
        print("adds")
        total.add_(x)
        return total * 2

    def counts(x):
        print("counts")
        counter[0] += 1
        return x * 2

    def draws(x):
        print("draws")
        return x * lucid.rand(3)

    def backward(x):
        weight = total.detach().requires_grad_()
        loss = (weight * x).sum()
        print("backward")
        loss.backward()
        return weight.grad

    for function in (adds, counts, draws):
        compiled = lucid.compile(function)
        for args in numbers(4):
            with contextlib.redirect_stdout(io.StringIO()):
                compiled(*args)
        assert compiled.cache_info().hits == 0
        assert "changes tensors or other state after it prints" in compiled.explain()
    compiled = lucid.compile(backward)
    assert outputs(compiled, numbers()) == outputs(backward, numbers())


def test_state_may_change_before_a_print():
    class Meter:
        def __init__(self):
            self.count = 0
            self.total = lucid.zeros(3)

        def __call__(self, x):
            self.count += 1
            self.total += x
            print("counted")
            return x * 2

    eager, other = Meter(), Meter()
    compiled = lucid.compile(other)
    assert outputs(compiled, numbers()) == outputs(eager, numbers())
    assert (other.count, bits(other.total)) == (eager.count, bits(eager.total))
    assert compiled.cache_info().hits > 2, compiled.explain()
