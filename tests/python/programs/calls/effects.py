"""Prints, log records, warnings and functions marked as effects, where repeating them later could show."""

import contextlib
import functools
import io
import logging
import math
import sys
import warnings

import lucid

from .._harness import Programs, patched, vary

effect = lucid.compiler.effect


def calls(run, f, values, *more):
    """Calls a function with tensors of one value, and logs what it prints."""
    for value in values:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            run.call(f, lucid.tensor([float(value)]), *more)
        run.see(stream.getvalue())


def make_logger(stream):
    logger = logging.Logger("effects")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(filename)s %(funcName)s %(message)s"))
    logger.addHandler(handler)
    return logger


# Numbers that vary.
class Box:
    pass


class Effects(Programs):
    def effect_in_try(run):
        @effect
        def note(value):
            if value > 2:
                raise ValueError("big")

        def f(x):
            try:
                note(x.sum().item())
            except ValueError:
                print("handled")
                return x * 100
            finally:
                print("finally")
            return x

        calls(run, run.compile(f), (1, 2, 3, 1))

    def effect_that_raises_first(run):
        @effect
        def note(value):
            if value < 2:
                raise ValueError("small")

        def f(x):
            with contextlib.suppress(ValueError):
                note(x.sum().item())
                return x
            return x * 100

        calls(run, run.compile(f), (1, 1, 3, 1))

    def effect_in_a_property(run):
        @effect
        def note(value):
            if value > 2:
                raise AttributeError("big")

        class Box:
            @property
            def value(self):
                note(self.x.sum().item())
                return 2.0

        box = Box()

        def f(x):
            box.x = x
            return x * getattr(box, "value", 100.0)

        calls(run, run.compile(f), (1, 2, 3, 1))

    def effect_in_a_generator(run):
        @effect
        def note(value):
            if value > 2:
                raise StopIteration

        def items(x):
            note(x.sum().item())
            yield x * 2

        calls(run, run.compile(lambda x: sum(items(x))), (1, 2, 3, 1))

    def effect_called_by_c_code(run):
        @effect
        def note(value):
            if value > 2:
                raise AttributeError("big")

        class Box:
            def __getattr__(self, name):
                note(self.__dict__["x"].sum().item())
                return 2.0

        box = Box()

        def f(x):
            box.x = x
            return x * 2 if hasattr(box, "value") else x

        calls(run, run.compile(f), (1, 2, 3, 1))

    def warning_as_error(run):
        def f(x):
            try:
                warnings.warn("a", RuntimeWarning, stacklevel=1)
            except RuntimeWarning:
                return x * 100
            return x

        f = run.compile(f)
        for action in ("ignore", "ignore", "ignore", "error"):
            with warnings.catch_warnings():
                warnings.simplefilter(action)
                calls(run, f, (1,))

    def print_by_another_name(run):
        say = print

        def f(x):
            value = x.sum().item()
            say(value)
            return value

        calls(run, run.compile(f), (1, 2, 3, 4))

    def float_as_specification(run):
        def f(x):
            print(f"10: {'a':{x.sum().item():.0f}}|")
            return x

        calls(run, run.compile(f), (10, 12, 10, 14))

    def print_to_a_stream_that_was_stdout(run):
        out, other = io.StringIO(), io.StringIO()

        def f(x):
            print("a", file=out)
            return x * 2

        f = run.compile(f)
        with contextlib.redirect_stdout(out):
            run.repeat(f, vary(lambda _: lucid.ones(1)))
        with contextlib.redirect_stdout(other):
            run.repeat(f, vary(lambda _: lucid.ones(1)))
        run.see(out.getvalue(), other.getvalue())

    def print_without_a_stream(run):
        def f(x):
            print("a")
            return x * 2

        f = run.compile(f)
        with contextlib.redirect_stdout(None):
            run.repeat(f, vary(lambda _: lucid.ones(1)))
        calls(run, f, (1, 2))

    def object_that_changes_after_the_effect(run):
        rows = []

        class Box:
            pass

        note = effect(lambda box: rows.append((box.number, box.tensor.tolist())))

        def f(x):
            box = Box()
            box.number, box.tensor = 1, x * 2
            note(box)
            box.number = 2
            box.tensor.add_(1)
            return box.tensor

        calls(run, run.compile(f), (1, 2, 3))
        run.see(rows)

    def effect_that_changes_its_argument(run):
        rows = []

        @effect
        def note(entries):
            rows.append(entries.pop("step", None))
            entries["items"].append(1)
            rows.append(len(entries["items"]))

        def f(x):
            note({"step": 3, "items": []})
            return x * 2

        calls(run, run.compile(f), (1, 2, 3))
        run.see(rows)

    def effect_without_a_name(run):
        rows = []
        note = effect(functools.partial(rows.append))

        def f(x):
            note(x.sum().item())
            return x * 2

        calls(run, run.compile(f), (1, 2, 3))
        run.see(rows)

    def effect_without_gradients(run):
        rows = []
        note = effect(lambda: rows.append(lucid.is_grad_enabled()))

        @lucid.no_grad()
        def f(x):
            note()
            return x * 2

        calls(run, run.compile(f), (1, 2, 3))
        run.see(rows)

    def state_between_effects(run):
        rows = []

        class Box:
            mode = None

        box = Box()
        note = effect(lambda: rows.append(box.mode))

        def f(x):
            box.mode = "train"
            note()
            box.mode = "eval"
            note()
            box.mode = "train"
            return x * 2

        calls(run, run.compile(f), (1, 2, 3, 4))
        run.see(rows)

    def effects_inside_a_print(run):
        stream = io.StringIO()
        logger = make_logger(stream)
        note = effect(lambda: print("note"))

        class Notes:
            def __str__(self):
                note()
                return "notes"

        class Logs:
            def __str__(self):
                logger.info("log")
                return "logs"

        notes, logs = Notes(), Logs()

        def f(x):
            print("[", notes, "]")
            return x

        def g(x):
            print("[", logs, "]")
            return x

        calls(run, run.compile(f), (1, 2, 3))
        calls(run, run.compile(g), (1, 2, 3))
        run.see(stream.getvalue())

    def logged_parameters(run):
        stream = io.StringIO()
        logger, weight = make_logger(stream), lucid.ones(1).requires_grad_()

        def f(x):
            logger.info("%s", [weight])
            logger.info("%(a)s", {"a": weight})
            return x

        calls(run, run.compile(f), (1, 2, 3))
        run.see(stream.getvalue())

    def local_variables_by_name(run):
        def f(x):
            value = x.sum().item()  # noqa: F841
            return x * vars()["value"]

        calls(run, run.compile(f), (1, 2, 3))

    def text_that_cannot_be_encoded(run):
        def f(x):
            print("a", "\u00e9")
            return x

        f = run.compile(f)
        calls(run, f, (1, 2))
        written = io.BytesIO()
        stream = io.TextIOWrapper(written, "ascii")
        with contextlib.redirect_stdout(stream):
            run.call(f, lucid.ones(1))
        stream.flush()
        run.see(written.getvalue())

    def records_without_a_caller(run):
        stream = io.StringIO()
        logger = make_logger(stream)

        def f(x):
            logger.info("a")
            return x

        f = run.compile(f)
        calls(run, f, (1, 2, 3))
        with patched(logging, "_srcfile", None):
            calls(run, f, (1, 2, 3))
        logger.findCaller = lambda *_: ("x.py", 1, "y", None)
        calls(run, f, (1, 2, 3))
        run.see(stream.getvalue())

    def another_function_behind_an_effect(run):
        rows = []
        note = effect(lambda: rows.append(1))

        def f(x):
            note()
            return x

        f = run.compile(f)
        calls(run, f, (1, 2, 3))
        note.__wrapped__ = lambda: rows.append(2)
        calls(run, f, (1, 2, 3))
        run.see(rows)

    def float_as_exception_info(run):
        stream = io.StringIO()
        logger = make_logger(stream)

        def f(x):
            value = x.sum().item()
            logger.info("%s", value, exc_info=value)
            return x

        calls(run, run.compile(f), (0, 0, 0, 1))
        run.see(stream.getvalue())

    def type_of_a_power(run):
        box = Box()
        f = run.compile(lambda x: x * (2.0 if isinstance(2**box.k, int) else 3.0))
        for box.k in (1, 2, 3, -1):
            run.call(f, lucid.ones(1))
        g = run.compile(lambda x, v: x * (2.0 if isinstance(v**0.5, float) else 3.0))
        for v in (1.0, 2.0, 3.0, -1.0):
            run.call(g, lucid.ones(1), v)

    def nan_by_identity(run):
        nan = float("nan")
        known = [nan, 1.0]
        f = run.compile(lambda x, v: x * (2 if v in known else 3))
        for v in (5.0, 6.0, 7.0, nan):
            run.call(f, lucid.ones(1), v)

    def number_that_is_slow_to_compute(run):
        def f(x, n):
            return x * (math.factorial(n) % 7) if n < 1000 else x * 2

        f = run.compile(f)
        for n in (3, 4, 5, 6, 20_000_000):
            run.call(f, lucid.ones(1), n)

    def profiler_sees_a_call_once(run):
        def scaled(x, k):
            return x * k

        f = run.compile(scaled)
        seen = []
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, _: seen.append(event) if frame.f_code is scaled.__code__ else None)
        try:
            for k in (1.0, 2.0):
                run.call(f, lucid.ones(1), k)
        finally:
            sys.setprofile(before)
        run.see(seen)
