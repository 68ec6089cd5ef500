"""Streams in the state of a function: a call that may read one runs eagerly, since no call shows that it is iterated
over. Streams that calls print and log to may be missing."""

import contextlib
import functools
import io
import itertools
import logging
import sys

import lucid
import pytest
from interpreter import run_python
from same import bits

LINES = "".join(f"{number}\n" for number in range(1, 60))


def text(path):
    return io.StringIO(LINES)


def updated_file(path):
    file = open(path, "w+")  # noqa: SIM115
    file.write(LINES)
    file.seek(0)
    return file


def wrapped_bytes(path):
    return io.TextIOWrapper(io.BytesIO(LINES.encode()))


def all_lines(stream):
    stream.seek(0)
    return list(stream)


def loop(stream):
    for line in stream:
        return float(line)
    return 0.0


def unpack(stream):
    first, *_ = stream
    return float(first)


# How code reads a stream without calling one of its methods.
READERS = {
    "next": lambda stream: float(next(stream)),
    "loop": loop,
    "list": lambda stream: len(list(stream)),
    "enumerate": lambda stream: sum(float(line) * n for n, line in zip(range(3), stream)),
    "islice": lambda stream: sum(map(float, itertools.islice(stream, 2))),
    "in": lambda stream: 2.0 if "5\n" in stream else 3.0,
    "unpack": unpack,
    "star": lambda stream: len([*stream]),
    "join": lambda stream: len("".join(stream)),
    "max": lambda stream: float(max(stream, default=0)),
}


def results(compile, stream, function):
    compiled = compile(function)
    seen = []
    for number in range(6):
        if number == 4:
            stream.seek(0)
        try:
            seen.append(bits(compiled(lucid.ones(2))))
        except Exception as error:
            seen.append(repr(error))
    return seen, stream.read(), compiled


@pytest.mark.parametrize("make", [text, updated_file, wrapped_bytes])
@pytest.mark.parametrize("reader", READERS)
def test_a_stream_that_is_iterated_over(reader, make, tmp_path):
    read = READERS[reader]

    def run(compile, path):
        with contextlib.closing(make(path)) as stream:
            return results(compile, stream, lambda x: x * read(stream))

    seen, rest, compiled = run(lucid.compile, tmp_path / "compiled")
    assert run(lambda f: f, tmp_path / "eager")[:2] == (seen, rest)
    assert compiled.cache_info().hits == 0
    assert "runs eagerly" in compiled.explain()


def test_the_reason():
    stream = io.StringIO(LINES)
    compiled = lucid.compile(lambda x: x * float(next(stream)))
    compiled(lucid.ones(1)), compiled(lucid.ones(1))
    assert "reads closure stream, a _io.StringIO whose state cannot be checked" in compiled.explain()


class Box:
    def __init__(self, value):
        self.value = value


# A value that holds a stream, and how code reads it.
PLACES = {
    "attribute": (Box, lambda held: loop(held.value)),
    "generator": (Box, lambda held: sum(float(line) for line in held.value)),
    "list": (lambda stream: [stream], lambda held: loop(held[0])),
    "iterator": (iter, loop),
    "method": (lambda stream: stream.__next__, lambda held: float(held())),
    "partial": (lambda stream: functools.partial(next, stream), lambda held: float(held())),
}


@pytest.mark.parametrize("place", PLACES)
def test_where_the_stream_is_kept(place):
    def run(compile):
        hold, read = PLACES[place]
        stream = io.StringIO(LINES)
        held = hold(stream)
        return results(compile, stream, lambda x: x * read(held))

    seen, rest, _ = run(lucid.compile)
    assert run(lambda f: f)[:2] == (seen, rest)


def test_an_argument_that_is_a_stream():
    compiled, stream = lucid.compile(lambda x, lines: x * loop(lines)), io.StringIO(LINES)
    assert [compiled(lucid.ones(1), stream).item() for _ in range(5)] == [1, 2, 3, 4, 5]


def test_what_is_printed_is_read_by_another_name():
    def run(compile):
        stream, seen = io.StringIO("c\n" * 9), []

        def f(x):
            print("a")
            return x * len(list(stream))

        compiled = compile(f)
        with contextlib.redirect_stdout(stream):
            for number in range(5):
                stream.seek(2 * number)
                seen.append(compiled(lucid.ones(1)).item())
        return seen

    assert run(lucid.compile) == run(lambda f: f)


def test_a_stream_that_can_only_be_written_to(tmp_path):
    with open(tmp_path / "log", "w") as stream:
        box = Box(stream)

        def f(x):
            if x.ndim > 3:
                print("large", file=box.value)
            return x * 2

        compiled = lucid.compile(f)
        for _ in range(3):
            compiled(lucid.ones(2))
        assert compiled.cache_info().hits == 2, compiled.explain()


def test_a_stream_is_entered_and_closed(tmp_path):
    def run(compile, name):
        with open(tmp_path / name, "w") as stream:

            def f(x):
                with stream:
                    return x * 2

            compiled, seen = compile(f), []
            for _ in range(3):
                try:
                    seen.append(bits(compiled(lucid.ones(2))))
                except ValueError as error:
                    seen.append(str(error))
            return seen, stream.closed

    assert run(lucid.compile, "compiled") == run(lambda f: f, "eager")


# Streams that are missing.


@pytest.mark.parametrize("missing", ["stdout", "stderr"])
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_standard_stream_is_missing(name, missing, monkeypatch):
    def to_stdout(x):
        print("value", x[0].item())
        return x * 2

    def to_stderr(x):
        print("value", x[0].item(), file=sys.stderr)
        return x * 2

    def run(function):
        seen, streams = [], {"stdout": io.StringIO(), "stderr": io.StringIO()}
        for number in range(8):
            with monkeypatch.context() as patched:
                for each, stream in streams.items():
                    patched.setattr(sys, each, None if each == missing and number % 4 == 3 else stream)
                function(lucid.tensor([float(number)]))
            seen.append([stream.getvalue() for stream in streams.values()])
        return seen

    function = to_stdout if name == "stdout" else to_stderr
    compiled = lucid.compile(function)
    assert run(compiled) == run(function)
    # A stream that the code names is compared.
    assert compiled.cache_info().hits == (5 if name == missing == "stderr" else 7), compiled.explain()


def test_a_warning_while_there_is_no_stream():
    # In a process of its own: pytest catches warnings.
    shown = run_python(
        """
import io, sys, warnings, lucid
warnings.simplefilter("always")
def f(x):
    warnings.warn("careful")
    return x * 2
f = lucid.compile(f, wait=True)
for number in range(6):
    sys.stderr = stream = None if number % 3 == 2 else io.StringIO()
    f(lucid.ones(2))
    print(stream and stream.getvalue().count("careful"), end=" ")
print(f.cache_info().hits)
"""
    )
    assert shown.split() == ["1", "1", "None", "1", "1", "None", "5"]


def close(handler):
    handler.stream = io.StringIO()
    handler.stream.close()


@pytest.mark.parametrize("spoil", [lambda handler: setattr(handler, "stream", None), close])
def test_a_handler_that_cannot_write_shows_the_call_stack(spoil, monkeypatch):
    def run(compile):
        logger = logging.Logger("test_streams")
        handler = logging.StreamHandler(io.StringIO())
        logger.addHandler(handler)

        def f(x):
            logger.warning("a")
            return x * 2

        compiled, seen = compile(f), []
        for number in range(6):
            if number == 3:
                spoil(handler)
            if number == 5:
                handler.stream = io.StringIO()
            errors = io.StringIO()
            with monkeypatch.context() as patched:
                patched.setattr(sys, "stderr", errors)
                compiled(lucid.ones(2))
            seen.append(errors.getvalue())
        return seen, compiled

    # The call stack names this line.
    (seen, compiled), (eager, _) = [run(way) for way in (lucid.compile, lambda f: f)]
    assert seen == eager
    assert "Call stack:" in seen[3]
    assert compiled.cache_info().hits >= 1, compiled.explain()


def test_a_record_that_cannot_be_formatted_shows_the_call_stack(monkeypatch):
    def run(compile):
        logger = logging.Logger("test_streams")
        logger.addHandler(logging.StreamHandler(io.StringIO()))

        def f(x):
            logger.warning("%d items", "many")
            return x * 2

        compiled, errors = compile(f), io.StringIO()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", errors)
            for _ in range(4):
                compiled(lucid.ones(2))
        return errors.getvalue()

    compiled, eager = [run(way) for way in (lucid.compile, lambda f: f)]
    assert compiled == eager


def test_a_file_handler_that_opens_its_file_later(tmp_path):
    logger = logging.Logger("test_streams")
    handler = logging.FileHandler(tmp_path / "log", delay=True)
    logger.addHandler(handler)

    def f(x):
        logger.warning("a")
        return x * 2

    compiled = lucid.compile(f)
    for number in range(5):
        if number == 3:
            handler.close()
        compiled(lucid.ones(2))
    handler.close()
    assert (tmp_path / "log").read_text() == "a\n" * 5
    assert compiled.cache_info().hits == 3, compiled.explain()
