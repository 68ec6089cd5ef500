"""How a program is run eagerly and compiled, and what is compared.

A program is a function that is decorated with `prog`. It is called twice with a `Run`, once for each way:

    run.compile(f)        compiles f, or returns it unchanged
    run.call(f, ...)      calls f and logs the result or the exception
    run.see(value, ...)   logs values

The two logs must be equal. Tensors are compared by class, dtype, shape, strides, place in the gradient graph, bits and
gradient.
"""

import random
import re
from collections.abc import Callable
from typing import NamedTuple

import lucid
import numpy as np


class Program(NamedTuple):
    name: str
    function: Callable
    # "hit": an ordinary program, which ought to compile.
    want: str | None


PROGRAMS: dict[str, Program] = {}


def prog(name=None, want=None):
    """Registers a program under the name of its module and its own, or another."""
    if callable(name):
        return prog()(name)

    def register(function):
        module = function.__module__.rpartition(".")[2]
        key = f"{module}.{name or function.__name__}"
        assert key not in PROGRAMS, key
        PROGRAMS[key] = Program(key, function, want)
        return function

    return register


def x0():
    return lucid.tensor([1.0, 2.0, 3.0])


def xg():
    return x0().requires_grad_()


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

    def __init__(self, compiled):
        self.compiled = compiled
        self.log = []
        self.functions = []

    def compile(self, function, **options):
        if not self.compiled:
            return function
        self.functions.append(lucid.compile(function, **options))
        return self.functions[-1]

    def call(self, function, *args, **kwargs):
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            result = error
        self.log.append(describe(result))
        return result

    def see(self, *values):
        self.log.append([describe(value) for value in values])

    @property
    def hits(self):
        return sum(function.cache_info().hits for function in self.functions)


def run_program(program, compiled):
    """Runs a program from a fixed state of all random generators, and restores the modes of the process."""
    lucid.manual_seed(1234)
    np.random.seed(1)
    random.seed(1)
    run = Run(compiled)
    try:
        program.function(run)
        run.see(lucid.get_rng_state(), lucid.is_grad_enabled(), lucid.get_default_dtype())
    finally:
        lucid.set_grad_enabled(True)
        lucid.set_default_dtype(lucid.float32)
    return run
