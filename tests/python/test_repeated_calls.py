"""Plans repeat what a call prints, logs and warns of, and calls of functions marked with `lucid.compiler.effect`."""

import contextlib
import gc
import io
import logging
import sys
import threading
import warnings
import weakref

import lucid
import lucid.nn as nn
import pytest
from interpreter import run_python
from same import bits


def outputs(function, calls):
    """What a function prints and returns in some calls."""
    seen = []
    for args in calls:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            result = function(*args)
        seen.append((stream.getvalue(), bits(result)))
    return seen


def numbers(count=6):
    return [(lucid.tensor([float(number), 2.5, -1.0]),) for number in range(count)]


def agrees(function, calls, hits):
    """Whether the compiled function prints and returns the same, with at least so many hits."""
    compiled = lucid.compile(function)
    assert outputs(compiled, calls) == outputs(function, calls)
    assert compiled.cache_info().hits >= hits, compiled.explain()
    return compiled


def runs_eagerly(function, calls, reason):
    compiled = lucid.compile(function)
    assert outputs(compiled, calls) == outputs(function, calls)
    assert compiled.cache_info().hits == 0
    assert reason in compiled.explain()


# Prints


def test_texts_are_printed_by_every_call():
    def f(x):
        print("begins", x.shape, x.dtype, sep=", ", end=";\n")
        y = x * 2
        for number in range(3):
            print(number, [number] * number, {"a": (1.5, None)})
        return y

    compiled = agrees(f, numbers(), 5)
    assert "then calls print (test_repeated_calls.py" in compiled.explain()


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


# Logging


def make_logger():
    logger = logging.getLogger("test_repeated_calls")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(filename)s:%(lineno)d %(funcName)s: %(message)s"))
    # Without those of pytest.
    logger.handlers[:] = [handler]
    return logger, stream


def logs(function, stream):
    for args in numbers():
        function(*args)
    text = stream.getvalue()
    stream.truncate(0)
    stream.seek(0)
    return text


def test_records_carry_the_values_and_the_line():
    logger, stream = make_logger()

    def f(x):
        total = x.sum()
        logger.info("total %.3f of %s", total.item(), x.shape)
        logger.warning(f"total {total.item():.1f}")
        logger.error("the tensor %s", x)
        logger.debug("not shown %s", x)
        logger.log(logging.CRITICAL, "done")
        return total

    compiled = lucid.compile(f)
    text = logs(compiled, stream)
    assert text == logs(f, stream)
    assert text.count("\n") == 24
    assert " f: total" in text
    assert compiled.cache_info().hits >= 3, compiled.explain()


def test_a_handler_of_the_user_makes_calls_run_eagerly():
    logger, stream = make_logger()
    records = []

    class Keeps(logging.Handler):
        def emit(self, record):
            records.append(record.getMessage())

    def f(x):
        logger.info("hello")
        return x * 2

    compiled = lucid.compile(f)
    logs(compiled, stream)
    hits = compiled.cache_info().hits
    assert hits > 0
    logger.addHandler(Keeps())
    logs(compiled, stream)
    assert records == ["hello"] * 6
    assert compiled.cache_info().hits == hits


@pytest.mark.parametrize("options", [{"extra": {"a": 1}}, {"exc_info": ValueError("a")}, {"stacklevel": 2}])
def test_records_with_more_are_logged_eagerly(options):
    logger, stream = make_logger()

    def f(x):
        logger.info("hello", **options)
        return x * 2

    compiled = lucid.compile(f)
    assert logs(compiled, stream).count("hello") == 6
    assert compiled.cache_info().hits == 0


# Warnings


def test_warnings_are_shown_as_the_filters_say():
    def f(x):
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
        return x * 2

    def shown(function, action):
        globals().pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action)
            for args in numbers():
                function(*args)
        return [(str(each.message), each.category, each.filename, each.lineno) for each in caught]

    compiled = lucid.compile(f)
    for action, count in (("always", 6), ("default", 1), ("ignore", 0)):
        assert shown(compiled, action) == shown(f, action)
        assert len(shown(f, action)) == count
    assert compiled.cache_info().hits >= 10, compiled.explain()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="careful"):
            compiled(lucid.ones(3))


# Functions marked as effects


def test_marked_functions_get_values_and_tensors():
    history = []

    @lucid.compiler.effect
    def note(step, value, tensor, *, more):
        """Notes."""
        history.append((step, value, tensor.tolist(), [item.item() for item in more["items"]]))
        return "ignored"

    def f(x):
        total = x.sum()
        note(1, total.item(), x * 2, more={"items": [total, x[0]]})
        return total

    assert note.__name__ == "note"
    assert note.__doc__ == "Notes."
    assert note(1, 2.0, lucid.ones(1), more={"items": []}) is None
    history.clear()
    compiled = lucid.compile(f)
    for args in numbers():
        compiled(*args)
    compiled_history = history[:]
    history.clear()
    for args in numbers():
        f(*args)
    assert compiled_history == history
    assert compiled.cache_info().hits >= 4, compiled.explain()


def test_marked_functions_get_copies():
    kept = []
    note = lucid.compiler.effect(kept.append)
    total = lucid.zeros(3)

    def f(x):
        total.add_(x)
        note(total)
        y = x * 2
        note(y)
        y.add_(1)
        return y

    compiled = lucid.compile(f)
    for _ in range(3):
        compiled(lucid.ones(3))
    assert [tensor.tolist()[0] for tensor in kept] == [1.0, 2.0, 2.0, 2.0, 3.0, 2.0]
    assert compiled.cache_info().hits == 2, compiled.explain()


def test_copies_have_the_same_strides():
    strides = []
    note = lucid.compiler.effect(lambda tensor: strides.append(tensor.stride()))

    def f(x):
        note(x.split(3)[1])
        return x * 2

    compiled = lucid.compile(f)
    x = lucid.ones(3, 4).t()
    for _ in range(3):
        compiled(x)
    f(x)
    assert len(set(strides)) == 1
    assert compiled.cache_info().hits > 0


def test_marked_methods_and_objects():
    class Board:
        def __init__(self):
            self.rows = []

        @lucid.compiler.effect
        def add(self, name, value):
            self.rows.append((name, value))

    board, other = Board(), Board()

    def f(x):
        board.add("sum", x.sum().item())
        Board.add(other, "max", x.max().item())
        return x * 2

    compiled = lucid.compile(f)
    for args in numbers():
        compiled(*args)
    assert board.rows == [("sum", float(number) + 1.5) for number in range(6)]
    assert other.rows == [("max", max(float(number), 2.5)) for number in range(6)]
    assert compiled.cache_info().hits >= 4, compiled.explain()


def test_an_object_that_was_passed_is_not_repeated():
    rows = []

    @lucid.compiler.effect
    def note(box):
        rows.append(box["name"])

    def f(x, box):
        note(box)
        return x * 2

    compiled = lucid.compile(f)
    for number in range(6):
        compiled(lucid.ones(3), {"name": str(number)})
    assert rows == list("012345")


def test_what_a_marked_function_does_is_not_recorded():
    other = lucid.zeros(3)

    @lucid.compiler.effect
    def work(x):
        other.add_(x.sum() * lucid.rand(1).clamp(1, 1))
        open(__file__).close()

    def f(x):
        work(x)
        return x * 2

    compiled = lucid.compile(f)
    for _ in range(4):
        compiled(lucid.ones(3))
    assert other.tolist() == [12.0] * 3
    assert compiled.cache_info().hits == 3, compiled.explain()
    assert len(lucid.compiler.graph(compiled, lucid.ones(3)).nodes) == 2


def test_an_effect_that_raises():
    seen = []
    total = lucid.zeros(3)

    @lucid.compiler.effect
    def stop(value):
        seen.append(value)
        if value > 6:
            raise StopIteration(value)

    def f(x):
        total.add_(x)
        stop(x.sum().item())
        stop(-1.0)
        return x * 2

    compiled = lucid.compile(f)
    for number in (0, 1, 2, 3, 1):
        with pytest.raises(StopIteration) if number == 3 else contextlib.nullcontext():
            compiled(lucid.ones(3) * number)
    assert seen == [0.0, -1.0, 3.0, -1.0, 6.0, -1.0, 9.0, 3.0, -1.0]
    assert total.tolist() == [7.0] * 3
    assert compiled.cache_info().hits == 3, compiled.explain()


def test_effects_happen_once_in_verified_calls():
    rows = []
    note = lucid.compiler.effect(rows.append)

    def f(x):
        note(x.sum().item())
        return x * 2

    compiled = lucid.compile(f, verify=1)
    for args in numbers():
        compiled(*args)
    assert rows == [float(number) + 1.5 for number in range(6)]


def test_an_effect_may_call_the_function():
    depths = []

    @lucid.compiler.effect
    def again(value):
        depths.append(value)
        if value < 20:
            compiled(lucid.ones(2) * value)

    compiled = lucid.compile(lambda x: (again(x.sum().item()), x * 2)[1])
    for _ in range(3):
        compiled(lucid.ones(2))
    assert depths == [2.0, 4.0, 8.0, 16.0, 32.0] * 3


def test_plans_do_not_keep_objects_alive():
    class Board:
        @lucid.compiler.effect
        def add(self, value):
            pass

        def __call__(self, x):
            self.add(x.sum().item())
            return x * 2

    board = Board()
    compiled = lucid.compile(board)
    for args in numbers():
        compiled(*args)
    assert compiled.cache_info().hits > 0
    gone = weakref.ref(board)
    del board, compiled
    gc.collect()
    assert gone() is None


def test_an_effect_calls_another():
    rows = []

    @lucid.compiler.effect
    def inner(value):
        rows.append(value)
        print("inner", value)

    @lucid.compiler.effect
    def outer(value):
        inner(value)
        inner(-value)

    def f(x):
        outer(x.sum().item())
        return x * 2

    compiled = lucid.compile(f)
    assert outputs(compiled, numbers()) == outputs(f, numbers())
    assert rows[:12] == rows[12:]
    assert compiled.cache_info().hits > 3, compiled.explain()
    assert compiled.explain().count("then calls") == 1


def test_both_streams_are_one():
    def f(x):
        print("a")
        print("b", file=sys.stderr)
        return x * 2

    compiled = lucid.compile(f)
    for _ in range(4):
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            compiled(lucid.ones(2))
        assert stream.getvalue() == "a\nb\n"
        assert not vars(stream)


def test_the_level_of_a_logger_changes():
    logger, stream = make_logger()

    def f(x):
        logger.info("hello")
        return x * 2

    compiled = lucid.compile(f)
    assert logs(compiled, stream).count("hello") == 6
    logger.setLevel(logging.ERROR)
    assert logs(compiled, stream) == ""
    logger.setLevel(logging.INFO)
    assert logs(compiled, stream).count("hello") == 6
    logging.disable(logging.CRITICAL)
    try:
        assert logs(compiled, stream) == ""
    finally:
        logging.disable(logging.NOTSET)


def test_bad_uses_of_effect():
    with pytest.raises(TypeError, match=r"lucid.compiler.effect\(\): expected a function, got int"):
        lucid.compiler.effect(3)


def test_many_effects_run_eagerly():
    def f(x):
        for number in range(1001):
            print(number)
        return x * 2

    runs_eagerly(f, numbers(3), "more than 1000 effects")


def test_effects_that_are_arguments():
    first, second = [], []
    notes = [lucid.compiler.effect(first.append), lucid.compiler.effect(second.append)]

    def f(x, note):
        note(x.sum().item())
        return x * 2

    compiled = lucid.compile(f)
    for number in range(8):
        compiled(lucid.ones(2) * number, notes[number % 2])
    assert first == [0.0, 4.0, 8.0, 12.0]
    assert second == [2.0, 6.0, 10.0, 14.0]


def test_a_compiled_function_calls_another_that_prints():
    @lucid.compile
    def inner(x):
        print(f"inner {x.sum().item()}", flush=True)
        return x * 2

    def outer(x):
        return inner(x) + 1

    outputs(inner, numbers(3))
    agrees(outer, numbers(), 4)


def test_streams_are_flushed_as_often():
    class Counts(io.BytesIO):
        flushes = 0

        def flush(self):
            self.flushes += 1

    def f(x):
        print("a", flush=True)
        return x * 2

    stream = io.StringIO()
    compiled = lucid.compile(f)
    with contextlib.redirect_stdout(stream):
        compiled(lucid.ones(2))
    assert "print" in compiled.explain()
    # A buffer of the user's makes calls run eagerly.
    buffer = Counts()
    wrapper = io.TextIOWrapper(buffer)
    with contextlib.redirect_stdout(wrapper):
        compiled(lucid.ones(2))
    assert buffer.flushes == 1
    assert compiled.cache_info().hits == 0
    run = run_python(
        "import lucid, os, sys\n"
        "f = lucid.compile(lambda x: (print('a', x.shape, flush=True), x * 2)[1], wait=True)\n"
        "for _ in range(4):\n"
        "    f(lucid.ones(2))\n"
        "assert f.cache_info().hits == 3, f.explain()\n"
        "os._exit(0)\n"
    )
    assert run == "a (2,)\n" * 4
