"""How a program is written, run and checked.

A program is a method of a subclass of `Programs`, whose `run` is a `Run`. It is called eagerly and compiled:

    run.compile(f)        compiles f, or returns it unchanged
    run.call(f, ...)      calls f and logs the result or the exception
    run.see(value, ...)   logs values

The two logs must be equal, and so must what is printed, the random numbers and the modes of the process. Tensors are
compared by class, dtype, shape, strides, place in the gradient graph, bits and gradient.

The other methods of `Run` are sequences of calls: some calls, a change, and further calls. A program that is nothing
but calls of one function is data: an attribute of the class, made with `repeat`, `each`, `over` or `alternate`.

The decorator `program`, or keywords of the class, say what must happen besides.
"""

import contextlib
import dataclasses
import functools
import io
import os
import random
import re
import time
import types
from collections.abc import Callable, Mapping
from typing import Any

import lucid
import numpy as np
from lucid import nn

from ._shadow import Shadow, Stale


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    function: Callable
    # It ought to compile; most of these do.
    ordinary: bool = False
    # The function that was compiled last runs a plan, and no call runs eagerly.
    compiles: bool = False
    # With `compiles`: also runs under `Shadow`, where guards must hold and never be stale.
    guards: bool = False
    # Instead of `compiles`: no plan runs, and the walk over the code gives this reason.
    eager: str | None = None
    # With `eager`: the reason that is reported, because it was found before.
    reported: str | None = None
    # Instead of `compiles`: no plan runs, because values of tensors are read. Only recording ops shows that.
    reads: str | None = None
    # Instead of `compiles`: some calls run eagerly for this reason.
    partly: str | None = None
    # Instead of `compiles`: a number or shape is new at each call, and no plan runs twice.
    never_twice: bool = False
    # Values of tensors decide what is computed, which plans check and guards do not.
    branches: bool = False
    # Numbers or sizes are new at each call, or the call stores state that it reads later: guards hold for one call.
    one_call: bool = False
    # Entries of the tables in docs/capture.md that the program is for.
    covers: tuple = ()

    @property
    def runs_no_plan(self):
        return bool(self.eager or self.reads or self.never_twice)


PROGRAMS: dict[str, Program] = {}


def program(name=None, *, each=None, **expected):
    """Says what is expected of a program (see the fields of `Program`), or makes it a family of programs.

    `each` is a mapping from names to a second argument of the method, or names that are arguments themselves. `{}` in
    `name` and in reasons stands for the name.
    """

    def mark(function):
        function.expected, function.family = expected, (name or f"{function.__name__}_{{}}", each)
        return function

    return mark


class Programs:
    """A subclass is a list of programs: its functions. Keywords of the class apply to all of them."""

    def __init_subclass__(cls, **defaults):
        folder = cls.__module__.partition(".")[2]
        for name, function in vars(cls).items():
            if not isinstance(function, types.FunctionType):
                continue
            expected = {**defaults, **getattr(function, "expected", {})}
            template, each = getattr(function, "family", ("", None))
            if each is None:
                _register(f"{folder}.{name}", function, expected)
                continue
            for key, value in each.items() if isinstance(each, Mapping) else zip(each, each):
                filled = {field: text.format(key) if type(text) is str else text for field, text in expected.items()}
                _register(f"{folder}.{template.format(key)}", functools.partial(_call, function, value), filled)


def _call(function: Callable, value: Any, run: "Run") -> None:
    function(run, value)


def _register(name: str, function: Callable, expected: dict[str, Any]) -> None:
    assert name not in PROGRAMS, name
    PROGRAMS[name] = Program(name, function, **expected)


def x0():
    return lucid.tensor([1.0, 2.0, 3.0])


def xg():
    return x0().requires_grad_()


def sample(seed=0, *shape):
    """A tensor that depends only on the seed."""
    return lucid.tensor(np.random.RandomState(seed).randn(*(shape or (3, 4))).astype("f4"))


class vary:
    """An argument that is made for each call, from the number of the call."""

    def __init__(self, make):
        self.make = make


def _argument(value, number):
    if value is x0 or value is xg:
        return value()
    if value is sample:
        return sample(number)
    return value.make(number) if isinstance(value, vary) else value


class Box:
    """An object with attributes."""

    def __init__(self, **values):
        self.__dict__.update(values)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)
        self.scale = 1.0
        self.n = 0
        self.log = []
        self.hidden = None
        self.flags = {"r": True}
        self.layers = [nn.Linear(4, 4), nn.ReLU()]
        self.cfg = Box(a=1.0, b=Box(c=2.0))
        self.w = lucid.ones(4)


@contextlib.contextmanager
def patched(owner, name, value):
    """Sets an attribute, and sets it back, or deletes it if there was none or a class inherited it."""
    is_new = not hasattr(owner, name) or (isinstance(owner, type) and name not in vars(owner))
    before = getattr(owner, name, None)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if is_new:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def set_zone(name):
    os.environ["TZ"] = name
    time.tzset()


@contextlib.contextmanager
def time_zone(name=None):
    """A time zone, or none, in TZ; and then what was there."""
    before = os.environ.pop("TZ", None)
    if name is not None:
        set_zone(name)
    try:
        yield
    finally:
        os.environ.pop("TZ", None)
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


def _bits(tensor):
    values = tensor.detach()
    values = values.float() if values.dtype is lucid.bfloat16 else values.contiguous()
    return values.numpy().tobytes()


def _tensor(tensor):
    node = tensor.grad_fn
    gradient = tensor.grad if tensor.is_leaf else None
    return (
        type(tensor).__name__,
        str(tensor.dtype),
        tuple(tensor.shape),
        tuple(tensor.stride()) if tensor.numel() else (),
        tensor.requires_grad,
        tensor.is_leaf,
        None if node is None else node.name(),
        _bits(tensor),
        None if gradient is None else describe(gradient),
    )


def _attributes(value):
    return sorted((name, describe(part)) for name, part in getattr(value, "__dict__", {}).items())


def describe(value):
    """Everything about a value that a program could tell, as something that can be compared."""
    kind = type(value).__name__
    if isinstance(value, lucid.Tensor):
        return _tensor(value)
    if isinstance(value, np.ndarray):
        return (kind, str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, BaseException):
        return (kind, str(value))
    if isinstance(value, dict):
        return (kind, [(describe(key), describe(part)) for key, part in value.items()], _attributes(value))
    if isinstance(value, (list, tuple)):
        return (kind, [describe(part) for part in value], _attributes(value))
    if isinstance(value, (set, frozenset)):
        return (kind, sorted(repr(part) for part in value))
    if isinstance(value, (int, float, str, bytes, type(None), complex)):
        return (kind, repr(value))
    if hasattr(value, "__dataclass_fields__"):
        return (kind, [(name, describe(getattr(value, name, "missing"))) for name in value.__dataclass_fields__])
    return (kind, re.sub(r"0x[0-9a-f]+", "0x", repr(value)))


class Run:
    """One run of a program."""

    def __init__(self, compiler=None):
        self.compiler = compiler
        self.log = []
        self.functions = []
        # Hits and report when they were last asked for by a program.
        self.outcome = None

    @property
    def compiled(self):
        return self.compiler is not None

    def compile(self, function, **options):
        if self.compiler is None:
            return function
        self.functions.append(self.compiler(function, **options))
        return self.functions[-1]

    def call(self, function, *args, **kwargs):
        try:
            result = function(*args, **kwargs)
        except Stale:
            raise
        except BaseException as error:
            result = error
        self.log.append(describe(result))
        return result

    def see(self, *values):
        self.log.append([describe(value) for value in values])

    @contextlib.contextmanager
    def errors(self, kind=Exception):
        """Logs an exception of this kind, and goes on."""
        try:
            yield
        except kind as error:
            self.see(error)

    def repeat(self, function, *args, n=3, at=(), before=None, see=None, **kwargs):
        """Calls a function n times.

        `x0`, `xg` and `sample` stand for a new tensor at each call, and `vary` for other new arguments. `at` maps
        numbers of calls to changes before them, `before` is a change before each call, and `see` gives values to log
        after each call.
        """
        for number in range(n):
            if number in at:
                at[number]()
            if before is not None:
                before(number)
            self.call(
                function,
                *[_argument(arg, number) for arg in args],
                **{name: _argument(arg, number) for name, arg in kwargs.items()},
            )
            if see is not None:
                self.see(*see())

    def each(self, function, *argsets, n=1, x=x0):
        """Calls a function n times with a new tensor and each set of arguments."""
        for args in argsets:
            for _ in range(n):
                self.call(function, x(), *args)

    def over(self, function, *values, n=1, x=x0):
        """Calls a function n times with a new tensor and each value."""
        self.each(function, *[(value,) for value in values], n=n, x=x)

    def alternate(self, function, *argsets):
        """Calls a function three times with each set of arguments, then once more with each."""
        self.each(function, *argsets, n=3)
        self.each(function, *argsets)

    def steps(self, function, change, *args):
        """Calls a function until it is compiled, changes something, and calls it again."""
        self.repeat(function, x0, *args)
        for _ in range(2):
            change()
            self.repeat(function, x0, *args, n=2)

    def changes(self, function, *changes, args=(), see=lambda: ()):
        """Compiles a function, calls it three times, and again three times after each change.

        Arguments that can be called make the argument.
        """
        function = self.compile(function)

        def go():
            for _ in range(3):
                self.call(function, *(a() if callable(a) else a for a in args))
                self.see(*see())

        go()
        for change in changes:
            with self.errors():
                change()
            go()

    def shows(self, function, change):
        """Compiles a function, calls it four times, and three times after a change that its result must show."""
        function = self.compile(function)
        self.repeat(function, x0, n=4)
        if self.compiled:
            self.outcome = (self.hits, function.explain())
        before = self.log[-1]
        change()
        self.repeat(function, x0)
        assert self.log[-1] != before, "the program does not show the change"

    def shows_replaced(self, first, second, read):
        """Like shows(), for a function that reads an object, which is then replaced by another one."""
        box = Box(value=first)
        self.shows(lambda x: x * read(box.value), lambda: setattr(box, "value", second))

    @property
    def hits(self):
        return sum(function.cache_info().hits for function in self.functions)

    def report(self):
        """What the compiled functions say about their plans."""
        return "\n".join(function.explain() for function in self.functions if hasattr(function, "explain"))


def _data(method):
    """A program that is nothing but calls of one function."""

    def make(function, *args, **options):
        return lambda run: method(run, run.compile(function), *args, **options)

    make.__doc__ = method.__doc__
    return make


repeat, each, over, alternate = (_data(getattr(Run, name)) for name in ("repeat", "each", "over", "alternate"))


def run_program(program, compiler=None):
    """Runs a program from a fixed state of all random generators, and restores the modes of the process."""
    lucid.manual_seed(1234)
    np.random.seed(1)  # noqa: NPY002
    random.seed(1)
    run = Run(compiler)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            program.function(run)
        run.see(printed.getvalue(), lucid.get_rng_state(), lucid.is_grad_enabled(), lucid.get_default_dtype())
    finally:
        lucid.set_grad_enabled(True)
        lucid.set_default_dtype(lucid.float32)
        lucid.set_flush_denormal(True)
    return run


def run_shadow(program):
    """Runs a program under `Shadow`, where each call whose guards hold must do what its plan does; returns the last."""
    unchecked = bool(program.reads or program.branches)
    return run_program(program, lambda function: Shadow(function, reads_values=unchecked)).functions[-1]
