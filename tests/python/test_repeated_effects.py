"""Plans repeat calls of functions marked with `lucid.compiler.effect`."""

import contextlib
import gc
import io
import logging
import sys
import weakref

import lucid
import pytest
from interpreter import run_python
from repeated import agrees, logs, make_logger, numbers, outputs, runs_eagerly

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
