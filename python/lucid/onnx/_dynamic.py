"""Records calls with sizes that vary, and checks for which sizes the recordings hold.

A recording with traced sizes holds for the sizes that meet its conditions, from 2 on. Other sizes are explained one by
one: the call fails for them, or the file gives the same results.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from ..autograd import no_grad
from ..compiler._numbers import Varying, VaryingTensor
from ..compiler._results import CannotRebuild, flatten_result
from ..compiler._symbolic_retrace import Run, retrace
from ._conditions import SMALLEST, Condition
from ._dtypes import FLOATS

# How many combinations of sizes are tried at most, unless there are more sizes that must be.
_MAX_POINTS = 64
# How many elements an argument may have that is made for other sizes.
_MAX_ELEMENTS = 2**26
_LARGEST = 2**31 - 1
# Sizes for which a call may fail because they are too large.
_GUARDED = [*range(SMALLEST, 2**12), *(2**power for power in range(12, 27))]

# For the position of a tensor among the tensors of the call: the names of the dimensions that vary.
Names = Mapping[int, Mapping[int, str]]
Sizes = dict[str, int]


def tensors_of(result: Any) -> list[_core.Tensor]:
    """The tensors that a call returns."""
    try:
        tensors = flatten_result(result)[0]
    except CannotRebuild as error:
        raise TypeError(f"lucid.onnx.export: {error}; return tensors, or tensors in lists, tuples and dicts") from None
    if not tensors:
        raise TypeError(
            f"lucid.onnx.export: the call returns no tensor, but an object of class {type(result).__name__}; return "
            "tensors, or tensors in lists, tuples and dicts"
        )
    return tensors


def _only_tensors(args: Sequence[Any]) -> list[_core.Tensor]:
    return [arg for arg in args if isinstance(arg, _core.Tensor)]


def record_call(function: Callable[..., Any], args: Sequence[Any], varying: Sequence[VaryingTensor] = ()) -> Run:
    """Records a call with sizes that vary, and leaves the tensors that it changes as they were."""

    def call(*values: Any) -> list[_core.Tensor]:
        return tensors_of(function(*values))

    with no_grad():
        given = _only_tensors(args)
        return retrace(
            call, tuple(args), {}, given, Varying([], [*varying], []), keeps_contents=True, watches=bool(varying)
        )


def _is_same(found: _core.Tensor, expected: _core.Tensor) -> bool:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    a, b = found.detach(), expected.detach()
    return bool(((a == b) | ((a != a) & (b != b))).all())


class SizeCheck:
    """The sizes of a call that vary, and its recordings for them."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], inputs: Sequence[str], names: Names) -> None:
        self._function = function
        self._args = args
        self._inputs = inputs
        self._names = names
        self._example: Sizes = {}
        tensors = _only_tensors(args)
        for position, dims in names.items():
            for dim, name in dims.items():
                size = tensors[position].shape[dim]
                where = f"dimension {dim} of {inputs[position]!r}"
                if size == 0:
                    raise ValueError(
                        f"lucid.onnx.export: {where} is 0 in the example, but sizes that vary must be at least 1 there"
                    )
                if self._example.setdefault(name, size) != size:
                    raise ValueError(
                        f"lucid.onnx.export: the size {name!r} is {self._example[name]} and, as {where}, {size}"
                    )
        # Size 1 is broadcast, so a recording for it holds for no other size.
        if any(size < SMALLEST for size in self._example.values()):
            self._example = {name: max(size, SMALLEST) for name, size in self._example.items()}
            self._args = self._resized(self._example)

    @property
    def args(self) -> Sequence[Any]:
        """The arguments of the example, made larger where a size is 1."""
        return self._args

    def recorded(self) -> Run:
        """The call of the example, with traced sizes."""
        return self._traced(self._args, {})

    # ---- Recordings.

    def _varying(self, fixed: Sizes) -> list[VaryingTensor]:
        positions = [position for position, arg in enumerate(self._args) if isinstance(arg, _core.Tensor)]
        varying = [
            VaryingTensor(
                positions[position], position, 0, [(dim, None, None) for dim, name in dims.items() if name not in fixed]
            )
            for position, dims in self._names.items()
        ]
        return [each for each in varying if each.dims]

    def _traced(self, args: Sequence[Any], fixed: Sizes) -> Run:
        """Runs the call with traced sizes, except those that are fixed."""
        found = record_call(self._function, args, self._varying(fixed))
        if found.error is not None:
            raise ValueError(
                f"lucid.onnx.export: the call fails with sizes that vary, but not with plain ones: {found.error}; "
                "leave out `dynamic`"
            ) from found.error
        if found.watch.raised or found.tracing.caught_error:
            raise ValueError(
                "lucid.onnx.export: the call catches an error, which may be another one for other sizes; leave out "
                "`dynamic`, or do not raise an error"
            )
        return found

    def conditions(self, call: _core.RecordedCall, run: Run) -> list[Condition]:
        """What must hold for the sizes, from 2 on, so that a recording holds for them."""
        if any(tensor.device.type != "cpu" for tensor in run.given):
            raise ValueError("lucid.onnx.export: dynamic needs the model and the example on the CPU")
        names = {f"s{i}": self._names[argument][dim] for i, (argument, dim, _) in enumerate(run.tracing.sizes)}
        return [Condition(text, names) for text in call.conditions]

    # ---- Conditions.

    def _conditions_at(self, sizes: Sizes, fixed: Sizes) -> list[Condition] | None:
        """The conditions of a call with other sizes. None if it fails."""
        args = self._resized(sizes)
        plain = record_call(self._function, args)
        if plain.error is not None:
            return None
        return self._finished(self._traced(args, fixed), plain.captured)[0]

    def _finished(self, run: Run, captured: list[_core.Tensor]) -> tuple[list[Condition], bool]:
        """The conditions of a recording, and whether it holds for certain values of tensors only."""
        call, obstacle = run.tracing.record(run.given, run.result or [], captured, "sizes")
        if call is None:
            raise ValueError(f"lucid.onnx.export: the call cannot be recorded for other sizes: it {obstacle}")
        call.function()  # its graph may add conditions
        return self.conditions(call, run), call.reads_values

    def explain(self, conditions: Sequence[Condition], sizes: Sizes, fixed: Sizes) -> dict[str, set[int]]:
        """The sizes to try, by name. Raises ValueError if the call may do something else for others."""
        tried: dict[str, set[int]] = {}
        proven: list[Condition] = []
        left = []
        for condition in conditions:
            exceptions = condition.exceptions()
            if exceptions is None:
                left.append(condition)
            elif exceptions:
                tried.setdefault(condition.names[0], set()).update(exceptions)
            else:
                proven.append(condition)
        while left:
            guards = [each for each in left if self._guards(each, proven, tried, sizes, fixed)]
            if not guards:
                raise self._refusal(left[0])
            proven += guards
            left = [each for each in left if each not in guards]
        return tried

    def _guards(
        self,
        condition: Condition,
        proven: Sequence[Condition],
        tried: Mapping[str, set[int]],
        sizes: Sizes,
        fixed: Sizes,
    ) -> bool:
        """Whether the call fails for all sizes for which a condition does not hold, except those that are tried or for
        which a condition that is proven does not hold either."""
        if len(condition.names) != 1:
            return False
        [name] = condition.names
        # One size is enough: the conditions of the call that fails are those of all others.
        other = next((size for size in _GUARDED if not condition.holds({name: size})), None)
        if other is None:
            return False
        args = self._resized({**sizes, name: other})
        plain = record_call(self._function, args)
        if plain.error is None:
            return False
        failed = record_call(self._function, args, self._varying(fixed))
        if repr(failed.error) != repr(plain.error):
            return False

        def is_explained(each: Condition) -> bool:
            exceptions = each.exceptions()
            known = tried.get(each.names[0], set())
            return (
                each.negates(condition) or each in proven or (exceptions is not None and known.issuperset(exceptions))
            )

        conditions, reads_values = self._finished(failed, plain.captured)
        return not reads_values and all(map(is_explained, conditions))

    def _refusal(self, condition: Condition) -> ValueError:
        return ValueError(
            f"lucid.onnx.export: the call does something else unless {condition.text} ({self._places(condition.names)})"
            ": it uses a size as a plain number, or decides by it what to do. Leave the dimension out of `dynamic`, so "
            "that its size is fixed"
        )

    def _places(self, names: Sequence[str]) -> str:
        return ", ".join(
            f"{name} is dimension {dim} of {self._inputs[position]!r}"
            for position, dims in self._names.items()
            for dim, name in dims.items()
            if name in names
        )

    # ---- Other sizes.

    def _resized(self, sizes: Sizes) -> list[Any]:
        """The example with other sizes: elements are repeated or left out."""
        args = list(self._args)
        for each in self._varying({}):
            arg = args[each.argument]
            names = self._names[each.tensor]
            total = math.prod(sizes[names[dim]] if dim in names else size for dim, size in enumerate(arg.shape))
            if total > _MAX_ELEMENTS:
                raise ValueError(
                    f"lucid.onnx.export: the call depends on sizes for which {self._inputs[each.tensor]!r} would have "
                    f"{total} elements; leave `dynamic` out"
                )
            args[each.argument] = _core.resized(arg, [(dim, sizes[names[dim]]) for dim, _, _ in each.dims])
        return args

    def _with_other_values(self, args: Sequence[Any]) -> list[Any]:
        """Values that are not all the same: they would hide what a call does."""
        random = np.random.default_rng(0)

        def other(arg: _core.Tensor) -> _core.Tensor:
            shape = tuple(arg.shape)
            array = random.random(shape) if arg.dtype in FLOATS else random.integers(0, 2, shape)
            return _core.tensor(np.asarray(array)).to(arg.dtype).to(arg.device)

        return [other(arg) if isinstance(arg, _core.Tensor) else arg for arg in args]

    def _points(self, tried: Mapping[str, set[int]]) -> Iterator[Sizes]:
        """Combinations of sizes."""
        yield self._example
        yield {name: size + 1 for name, size in self._example.items()}
        choices = [[size, *sorted(tried[name])] for name, size in self._example.items()]
        if math.prod(map(len, choices)) <= _MAX_POINTS:
            yield from (dict(zip(self._example, sizes)) for sizes in itertools.product(*choices))
            return
        yield dict.fromkeys(self._example, 1)
        for name in self._example:
            yield from ({**self._example, name: size} for size in sorted(tried[name]))

    def check(self, conditions: Sequence[Condition], loaded: Callable[..., Any]) -> None:
        """Checks a file, loaded again, for sizes for which the recording may not hold."""
        tried = {name: {1} for name in self._example}
        found = self.explain(conditions, self._example, {})
        for name, exceptions in found.items():
            tried[name] |= exceptions
        if len(self._example) > 1:
            # With one of these sizes, the call may take another branch, with its own exceptions for other sizes.
            for name, size in [(name, size) for name, values in tried.items() for size in values]:
                sizes = {**self._example, name: size}
                others = self._conditions_at(sizes, {name: size})
                for each, more in self.explain(others or [], sizes, {name: size}).items():
                    tried[each] |= more
        for point in self._points(tried):
            self._compare(point, conditions, loaded)

    def _compare(self, sizes: Sizes, conditions: Sequence[Condition], loaded: Callable[..., Any]) -> None:
        args = self._resized(sizes)
        for values in (args, self._with_other_values(args)):
            plain = record_call(self._function, values)
            if plain.error is not None:
                # What a file does where the call fails does not matter.
                return
            try:
                with no_grad():
                    results = loaded(*_only_tensors(values))
            except Exception as error:
                raise self._difference(sizes, conditions, f"the file fails: {error}") from error
            found = [results] if isinstance(results, _core.Tensor) else list(results)
            if len(found) != len(plain.result) or not all(map(_is_same, found, plain.result)):
                raise self._difference(sizes, conditions, "the call does something else than for those of the example")

    def _difference(self, sizes: Sizes, conditions: Sequence[Condition], what: str) -> ValueError:
        broken = [each for each in conditions if not each.holds(sizes)]
        reason = f". The recording holds only if {broken[0].text}" if broken else ""
        named = ", ".join(f"{name}={size}" for name, size in sizes.items())
        return ValueError(
            f"lucid.onnx.export: for sizes {named} ({self._places(list(sizes))}) {what}{reason}. Leave the dimension "
            "out of `dynamic`, so that its size is fixed"
        )
