"""Compares a compiled function with eager: results, gradients, state, random numbers and exceptions, bit for bit."""

import contextlib
import dataclasses
import io
import math

import lucid
import numpy as np


class Box:
    """An object with attributes, one of which every object has."""

    last = None

    def __init__(self, **values):
        vars(self).update(values)


class Numbers:
    """A tensor's elements as bytes. All NaNs count as equal."""

    def __init__(self, tensor):
        tensor = tensor.detach().cpu()
        # A copy, because exporting memory to NumPy pins it.
        array = (tensor.to(lucid.f64) if tensor.dtype in HALVES else tensor.clone()).numpy()
        is_nan = array != array
        if np.count_nonzero(is_nan):
            array = np.where(is_nan, array.dtype.type(np.nan), array)
        self.dtype, self.bytes = array.dtype, array.tobytes()

    def __eq__(self, other):
        return isinstance(other, Numbers) and self.dtype == other.dtype and self.bytes == other.bytes

    def __hash__(self):
        return hash(self.bytes)

    def __repr__(self):
        return str(np.frombuffer(self.bytes, self.dtype).tolist())


HALVES = (lucid.f16, lucid.bf16)


def bits(value):
    """Converts a value to a form that == compares bit by bit."""
    if isinstance(value, lucid.Tensor):
        return (
            "tensor",
            str(value.dtype),
            tuple(value.shape),
            value.stride(),
            value.requires_grad,
            Numbers(value),
        )
    if isinstance(value, dict):
        return (type(value), tuple((name, bits(item)) for name, item in value.items()))
    if isinstance(value, (list, tuple)):
        return (type(value), tuple(bits(item) for item in value))
    if dataclasses.is_dataclass(value):
        return (type(value), tuple(bits(getattr(value, field.name)) for field in dataclasses.fields(value)))
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, Numbers):  # in a value that was converted before
        return value
    return (type(value), repr(value))


def tensors_in(value):
    if isinstance(value, lucid.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from tensors_in(getattr(value, field.name))


def identities(result, others):
    """For each tensor of a result: the first identical object in it or in `others`, is_leaf, grad_fn is None."""
    tensors = list(tensors_in(result))
    known = [*tensors, *others]
    return [
        (next(i for i, other in enumerate(known) if other is tensor), tensor.is_leaf, tensor.grad_fn is None)
        for tensor in tensors
    ]


def history(world, wrap, backward):
    """Everything observable about the calls of a world, which is (function, list of arguments, state)."""
    lucid.manual_seed(3)
    function, calls, state = world()
    function = wrap(function)
    seen = []
    for args in calls() if callable(calls) else calls:
        args, kwargs = args if isinstance(args, tuple) and len(args) == 2 and isinstance(args[1], dict) else (args, {})
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                result = function(*args, **kwargs)
        except Exception as error:
            seen.append((type(error), str(error)))
        else:
            seen.append(bits(result))
            around = [*tensors_in([*args, kwargs]), *tensors_in(state() if callable(state) else state)]
            seen.append(identities(result, around))
            if backward:
                total = None
                for tensor in tensors_in(result):
                    if tensor.requires_grad and tensor.is_floating_point():
                        part = (tensor * tensor).sum()
                        total = part if total is None else total + part
                if total is not None:
                    try:
                        total.backward()
                    except Exception as error:
                        seen.append((type(error), str(error)))
        seen.append(printed.getvalue())
        everything = [*tensors_in([*args, kwargs]), *tensors_in(state() if callable(state) else state)]
        seen.append([bits(tensor) for tensor in everything])
        seen.append([None if tensor.grad is None else bits(tensor.grad) for tensor in everything])
        seen.append(bits(lucid.get_rng_state()))
    return seen, function


def check(world, *, backward=True, fallback=None, min_hits=1, compiles=None, **options):
    """Checks that a world behaves the same compiled. `world()` creates a function, arguments of calls, and state; it is
    called twice.

    The compiled function must not run eagerly, unless `fallback` is part of the reason for it. `options` are passed to
    lucid.compile().
    """
    expected, _ = history(world, lambda function: function, backward)
    found, compiled = history(world, lambda function: lucid.compile(function, **options), backward)
    assert len(found) == len(expected)
    for step, (a, b) in enumerate(zip(found, expected)):
        assert a == b, f"step {step} of {len(found)}: {compiled.explain()}"
    info = compiled.cache_info()
    if fallback is None:
        assert info.fallbacks == 0, compiled.explain()
        assert info.hits >= min_hits, compiled.explain()
    else:
        assert fallback in compiled.explain(), compiled.explain()
    if compiles is not None:
        assert info.compiles == compiles, compiled.explain()
    return compiled


def check_scenario(scenario, *, fallback=None, min_hits=1):
    """Like check(), for scenarios that are not a sequence of calls.

    `scenario(wrap)` wraps the functions to compile and returns the values to compare.
    """
    made = []

    def wrap(function, **options):
        made.append(lucid.compile(function, **options))
        return made[-1]

    expected = seen_of(scenario, lambda function, **options: function)
    found = seen_of(scenario, wrap)
    reports = "\n".join(compiled.explain() for compiled in made)
    assert found == expected, reports
    if fallback is None:
        assert sum(compiled.cache_info().fallbacks for compiled in made) == 0, reports
        assert sum(compiled.cache_info().hits for compiled in made) >= min_hits, reports
    else:
        assert fallback in reports, reports
    return made


def seen_of(scenario, wrap):
    lucid.manual_seed(3)
    return bits(scenario(wrap)), bits(lucid.get_rng_state())
