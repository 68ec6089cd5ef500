"""Records calls with sizes that vary for `lucid.export`, and compares them with plain recordings.

A symbolic size acts like an int, but is none. A function may notice, and do something else than with an int.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._exported import reason_of

# The compiler is loaded when it is first used.
if TYPE_CHECKING:
    from .compiler._symbolic_retrace import RaiseWatch

# For how many sizes a function that may tell a size from an int is compared. There must not be more.
_MAX_INSPECTED = 256
# For how many sizes another function is compared at most, and up to which size: larger ones may not fit in memory.
_MAX_SAMPLES = 24
_MAX_SAMPLED_SIZE = 1024

Sizes = tuple[int, ...]


class DifferentError(ValueError):
    """A function does something else with symbolic sizes than with ints."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"lucid.export: the function behaves differently with symbolic sizes, which are no ints: {how}; leave the "
            "dimension out of `dynamic`, or do not ask for the type or identity of a size"
        )


class Traced(NamedTuple):
    """A call that was recorded with symbolic sizes."""

    # None if an exception was raised: for other sizes the function may catch another one, or none.
    call: _core.RecordedCall | None
    # Describes an exception that is raised for symbolic sizes only, or for ints only.
    raised: str | None
    # The user's code that ran.
    codes: set[CodeType]


def trace(
    function: Callable[..., list[_core.Tensor]],
    args: tuple[Any, ...],
    given: list[_core.Tensor],
    dims: Sequence[list[tuple[int, int | None, int | None]]],
    name: str,
) -> Traced:
    """Records a call with symbolic sizes. `given` are the tensors among the arguments, `dims` the dimensions of each
    whose sizes vary. Raises ValueError if the call does something else than with plain sizes."""
    from .compiler._numbers import Varying, VaryingTensor
    from .compiler._symbolic_retrace import retrace

    def touched(tracing: _core.Tracing) -> list[_core.Tensor]:
        return [] if tracing.may_run_twice else tracing.accessed

    plain = retrace(function, args, {}, given, keeps_contents=True, written=touched)
    first = plain.tracing
    # The second run replaces gradients.
    expected, _ = first.record(given, plain.result or [], plain.captured, name)
    varying = [VaryingTensor(index, index, 0, sizes) for index, sizes in enumerate(dims) if sizes]
    traced = retrace(
        function, args, {}, given, Varying([], varying, []), keeps_contents=True, written=lambda _: touched(first)
    )
    second = traced.tracing
    if traced.error is not None or second.caught_error or traced.watch.raised != plain.watch.raised:
        return Traced(None, _raised_once(plain.watch, traced.watch), traced.watch.codes)
    is_same = first.may_run_twice and second.number_operands(first, plain.result, traced.result, []) is not None
    recorded, obstacle = second.record(traced.given, traced.result, plain.captured, name)
    if recorded is None:
        raise ValueError(f"lucid.export: the call cannot be compiled: {obstacle}")
    found = None if is_same else _difference_of_calls(expected, recorded)
    if found is None and first.may_run_twice and not is_same:
        found = "a tensor or a branch differs"
    tensors = zip([*plain.result, *plain.contents], [*traced.result, *traced.contents])
    if found is None and any(_core.first_difference(a, b) is not None for a, b in tensors):
        found = "a result differs"
    if found is not None:
        raise DifferentError(found)
    return Traced(recorded, None, traced.watch.codes)


def _raised_once(plain: RaiseWatch, traced: RaiseWatch) -> str | None:
    for each in traced.raised:
        if each not in plain.raised:
            return f"{each} is raised for symbolic sizes only"
    for each in plain.raised:
        if each not in traced.raised:
            return f"{each} is raised for ints only"
    return None


def _describe(graph: _core.IRGraph, node: _core.IRNode) -> str:
    """What a node computes. Numbers of different types differ."""
    outputs = [(graph.values[value].dtype, graph.values[value].shape) for value in node.outputs]
    return repr((node.op, node.attributes, node.inputs, node.input_ids, node.outputs, outputs, node.has_gradient))


def _difference_of_calls(plain: _core.RecordedCall | None, traced: _core.RecordedCall) -> str | None:
    if plain is None:
        return "it can be recorded with one of the two only"
    try:
        return difference(plain.graph, traced.graph)
    except RuntimeError as error:
        raise ValueError(f"lucid.export: the call cannot be compiled: {reason_of(error)}") from None


def difference(left: _core.IRGraph, right: _core.IRGraph) -> str | None:
    """Says in which op two recordings for one size differ; None if they do not."""
    for a, b in itertools.zip_longest(left.nodes, right.nodes):
        if a is None or b is None or a.op != b.op:
            return f"it computes {_place(b)} in place of {_place(a)}"
        if _describe(left, a) != _describe(right, b):
            return f"the operands or attributes of {_place(b)} differ"
    ends = ((g.input_ids, g.state_ids, g.constant_ids, g.output_ids, g.updates) for g in (left, right))
    return None if next(ends) == next(ends) else "the inputs, results or state differ"


def _place(node: _core.IRNode | None) -> str:
    if node is None:
        return "nothing"
    return f"{node.op} ({node.source})" if node.source else node.op


def sizes_to_compare(
    bounds: Sequence[tuple[int, int]],
    recorded: Sequence[Sizes],
    is_symbolic: Callable[[Sizes], bool],
    inspects: bool,
    codes: Iterable[CodeType],
) -> Iterator[Sizes]:
    """Sizes for which to compare further recordings: those for which the program runs a symbolic one. `inspects`:
    whether the function may tell a size from an int."""
    if inspects and math.prod(high - low + 1 for low, high in bounds) > _MAX_INSPECTED:
        raise ValueError(
            "lucid.export: the function, or one that it calls, uses type() or compares with `is`, so it may behave "
            f"differently with symbolic sizes; that can be checked for up to {_MAX_INSPECTED} sizes. Export a smaller "
            "range, use isinstance() and ==, or leave the dimension out of `dynamic`"
        )
    every = itertools.product(*(range(low, high + 1) for low, high in bounds))
    chosen = every if inspects else dict.fromkeys(_samples(bounds, recorded, codes))
    found = (sizes for sizes in chosen if sizes not in recorded and is_symbolic(sizes))
    return found if inspects else itertools.islice(found, _MAX_SAMPLES)


def _samples(
    bounds: Sequence[tuple[int, int]], recorded: Sequence[Sizes], codes: Iterable[CodeType]
) -> Iterator[Sizes]:
    """The neighbors of recorded sizes, and of constants in the code."""
    for sizes in recorded:
        yield tuple(size + 1 if size < high else max(size - 1, low) for size, (low, high) in zip(sizes, bounds))
    constants = {each for code in codes for each in code.co_consts if type(each) is int}
    nearby = sorted({each + step for each in constants for step in (-1, 0, 1)})
    for size, (symbol, (low, high)) in itertools.product(nearby, enumerate(bounds)):
        if low <= size <= min(high, _MAX_SAMPLED_SIZE):
            yield (*recorded[0][:symbol], size, *recorded[0][symbol + 1 :])
