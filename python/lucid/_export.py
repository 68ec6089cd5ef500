"""`lucid.export`: writes what a function computes to a file, as a program (`_program`)."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core, _effects
from ._export_names import encodable, levels_of, output_names, referenced, state_names, symbol_of, write_header
from ._export_sizes import DifferentError, Sizes, Traced, sizes_to_compare, trace
from ._exported import arguments, input_names, original, training_ops, warn_of
from ._structure import structure_of, to_text
from .autograd import grad_enabled, no_grad
from .nn import Module

# The compiler is loaded when it is first used.
if TYPE_CHECKING:
    from .compiler._capture import Outcome, Recording
    from .compiler._symbolic_retrace import Run

# Sizes of a dimension that is given by a name only.
_DEFAULT_MAX = 64
# How many calls are recorded until it is known what code they run.
_MAX_TRIES = 16

_contiguous = _core.ops["contiguous"]
_detach = _core.Tensor.detach


class Dim(NamedTuple):
    """A size that differs from call to call, for `lucid.export`: its name and its bounds.

    >>> lucid.Dim("batch", max=8)
    Dim(name='batch', min=1, max=8)
    """

    name: str
    min: int = 1
    max: int = _DEFAULT_MAX


Dynamic = Mapping[str, Mapping[int, str | Dim]]


@_effects.pure
def _call(target: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    return target(*values)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_tensor, value.values()))
    return isinstance(value, _core.Tensor) or (isinstance(value, list | tuple) and any(map(_has_tensor, value)))


def _tensors(args: Sequence[Any]) -> list[_core.Tensor]:
    return [arg for arg in args if isinstance(arg, _core.Tensor)]


def _symbol(name: str, dim: Any, given: str | Dim, known: dict[str, Dim]) -> tuple[str, int, int]:
    """The size that varies there. A name alone stands for one of the `known` sizes, if there is one of that name."""
    symbol = known.get(given, Dim(given)) if isinstance(given, str) else given
    if not isinstance(symbol, Dim) or not isinstance(symbol.name, str) or not symbol.name.isidentifier():
        raise TypeError(
            f"lucid.export: dynamic[{name!r}][{dim}] must be a name or a lucid.Dim with a name, got {given!r}"
        )
    if not isinstance(dim, int) or abs(dim) >= 2**31:
        raise TypeError(f"lucid.export: dynamic[{name!r}] must have dimensions as keys, got {dim!r}")
    if not isinstance(symbol.min, int) or not isinstance(symbol.max, int):
        raise TypeError(f"lucid.export: the bounds of {symbol} must be integers")
    known.setdefault(symbol.name, symbol)
    # Larger numbers are refused like these.
    low, high = (max(-1, min(bound, 2**31)) for bound in symbol[1:])
    return symbol.name, low, high


def _leaves(result: Any, name: str) -> Iterator[tuple[str, _core.Tensor]]:
    """The tensors of a result, each with the key of the dict that holds it."""
    if isinstance(result, _core.Tensor):
        yield name, result
    elif isinstance(result, Mapping):
        for key, value in result.items():
            # The tensors of a list in a dict have no names.
            yield from _leaves(value, encodable(str(key)) if isinstance(value, _core.Tensor) and not name else "")
    elif isinstance(result, list | tuple):
        for value in result:
            yield from _leaves(value, "")


class _Exporter:
    """Records calls of a function with examples."""

    def __init__(self, target: Callable[..., Any], dynamic: Dynamic) -> None:
        from .compiler._capture import Capture

        self.target = target
        self.dynamic = dynamic
        self.output_names: list[str] = []
        # How the results of all calls hold their tensors.
        self.structure: str | None = None
        # What to warn of: calls that print or the like, and ops that do something else in training.
        self.unrepeated: dict[str, None] = {}
        self.training: dict[str, None] = {}
        self.capture = Capture(target)
        # The positions of calls that were recorded with symbolic sizes, and whether code that ran may notice that.
        self.symbolic: list[int] = []
        self.inspects = False
        self.codes: set[CodeType] = set()
        # Whether gradients are recorded: a training step needs that.
        self.keeps_gradients = grad_enabled() and not isinstance(target, Module)
        name = getattr(target, "__name__", None)
        self.name = encodable(name if isinstance(name, str) else type(target).__name__)
        self.calls = _core.ExampleCalls(self.name)

    def add_examples(self, examples: Sequence[tuple[Any, ...]]) -> None:
        self._describe_inputs(examples[0])
        for args in examples:
            self._check(args, examples[0])

        def record(index: int, given: list[_core.Tensor], sizes: str) -> tuple[_core.Program, list[str]]:
            with self._keeping_gradients():
                try:
                    return self._recorded(examples[index], given)
                except DifferentError:
                    raise
                except Exception as error:
                    if not sizes:
                        raise
                    reason = str(error).removeprefix("lucid.export: ")
                    raise ValueError(f"lucid.export: the function fails for {sizes}: {reason}") from error

        self.calls.record([_tensors(args) for args in examples], record)
        if self.symbolic:
            self._compare_sizes(examples)

    def _compare_sizes(self, examples: Sequence[tuple[Any, ...]]) -> None:
        """Compares calls with symbolic sizes with plain calls, for sizes that were not recorded."""

        def is_symbolic(sizes: Sizes) -> bool:
            return self.calls.has_sizes(sizes, self.symbolic)

        chosen = sizes_to_compare(self.calls.bounds, self.calls.sizes, is_symbolic, self.inspects, self.codes)
        for sizes, args in itertools.product(chosen, examples):
            with self._keeping_gradients():
                traced = self._traced(args, self.calls.resized(_tensors(args), sizes))
            if traced.raised:
                raise DifferentError(traced.raised)

    def _describe_inputs(self, args: tuple[Any, ...]) -> None:
        names = input_names(self.target, args)
        known: dict[str, Dim] = {}
        for name, tensor in zip(names, _tensors(args)):
            dims = self.dynamic.get(name, {})
            self.calls.add_input(name, tensor, {dim: _symbol(name, dim, given, known) for dim, given in dims.items()})
        for name in self.dynamic:
            if name not in names:
                raise ValueError(f"lucid.export: dynamic has the name {name!r}; the inputs are {', '.join(names)}")

    @staticmethod
    def _check(args: tuple[Any, ...], first: tuple[Any, ...]) -> None:
        others, expected = ([arg for arg in each if not isinstance(arg, _core.Tensor)] for each in (args, first))
        if any(map(_has_tensor, others)):
            raise TypeError("lucid.export: pass tensors as arguments of their own, not in lists, tuples or dicts")
        if _core.call_key(tuple(others), {}) != _core.call_key(tuple(expected), {}):
            raise ValueError(
                "lucid.export: the examples have different arguments that are not tensors, whose values are fixed; "
                "export a program for each"
            )

    @contextlib.contextmanager
    def _keeping_gradients(self) -> Iterator[None]:
        """Leaves the gradients of parameters as they were."""
        modules = [value for _, value in referenced(self.target) if isinstance(value, Module)]
        gradients = [(each, each.grad) for module in modules for each in module.parameters()]
        try:
            yield
        finally:
            for parameter, gradient in gradients:
                if parameter.grad is not gradient:
                    parameter.grad = gradient

    def _recorded(self, args: tuple[Any, ...], given: list[_core.Tensor]) -> tuple[_core.Program, list[str]]:
        if _core.is_tracing():
            raise RuntimeError("lucid.export cannot be called by a function that is being recorded")
        first, results = self._trace(args, given)
        if self.keeps_gradients and not first.tracing.ran_backward:
            # Without a backward pass, a gradient graph would only hold memory.
            self.keeps_gradients = False
            first, results = self._trace(args, given)
        symbolic = self._traced(args, given).call if self.calls.bounds else None
        call, obstacle = symbolic, None
        if call is None:
            if self.calls.bounds and first.tracing.ran_backward:
                # The runs with symbolic sizes have replaced the gradients.
                first, results = self._trace(args, given)
            call, obstacle = first.tracing.record(given, results, first.captured, self.name)
        if call is not None:
            program = call.program()
            obstacle = program.compile_now()
        if call is None or obstacle is not None:
            raise ValueError(f"lucid.export: the call cannot be compiled: {obstacle}")
        if not first.tracing.ran_backward:
            self.training |= dict.fromkeys(training_ops(program.graph))
        if symbolic is not None:
            self.symbolic.append(len(self.calls.sizes))
        state = program.state  # before the names, which are found by id
        names = state_names(self.target)
        return program, [names.get(id(tensor), "state") for tensor in state]

    def _trace(self, args: tuple[Any, ...], given: list[_core.Tensor]) -> tuple[Run, list[_core.Tensor]]:
        """Records a call, as often as it takes to know what it depends on."""
        from .compiler._escaping_scalars import EscapingScalars
        from .compiler._symbolic_retrace import retrace

        for _ in range(_MAX_TRIES):
            values = self._values(args, given)
            recording = self.capture.begin(values)

            def call(*values: Any, recording: Recording = recording) -> tuple[Any, list[_core.Tensor]]:
                with self._grad_mode(), recording:
                    result = _call(self.target, values)
                return result, self._results(result)

            run = retrace(call, values, {}, given, keeps_contents=True, watches=False)
            if run.error is not None:
                raise run.error
            tracing, (result, results) = run.tracing, run.result
            self.calls.check(tracing)
            floats = EscapingScalars(tracing.floats)
            leaving = floats if floats.copies and recording.forwards(floats) else None
            self.inspects = self.inspects or recording.inspects_numbers
            outcome = recording.finish(result, leaving, tracing.effects)
            writes = recording.written
            _core.replace_in([(location, before) for location, _, before, _ in writes])
            tracing.forwards_scalars = leaving is not None
            if not outcome.record_again:
                self._check_recording(tracing, recording, outcome, [name for _, name, _, _ in writes])
                self.unrepeated |= dict.fromkeys(call.name for call in recording.log.calls)
                return run, results
        raise ValueError("lucid.export: the call runs other code each time that it is called")

    def _traced(self, args: tuple[Any, ...], given: list[_core.Tensor]) -> Traced:
        """Records a call with symbolic sizes."""

        def call(*values: Any) -> list[_core.Tensor]:
            with self._grad_mode():
                result = self.target(*values)
            return self._results(result)

        traced = trace(call, self._values(args, given), given, self.calls.dims, self.name)
        self.codes |= traced.codes
        if traced.raised and not self.calls.hint:
            self.calls.hint = f"; {traced.raised}"
        return traced

    @staticmethod
    def _values(args: tuple[Any, ...], given: Sequence[_core.Tensor]) -> tuple[Any, ...]:
        tensors = iter(given)
        return tuple(next(tensors) if isinstance(arg, _core.Tensor) else arg for arg in args)

    def _grad_mode(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext() if self.keeps_gradients else no_grad()

    def _results(self, result: Any) -> list[_core.Tensor]:
        """The tensors of a result, in row-major order and outside the gradient graph."""
        structure = to_text(structure_of(result))
        if self.structure not in (None, structure):
            raise ValueError("lucid.export: the examples return results of different structures")
        self.structure = structure
        leaves = list(_leaves(result, ""))
        self.output_names = output_names([name for name, _ in leaves])
        return [_contiguous(_detach(tensor)) for _, tensor in leaves]

    def _check_recording(
        self, tracing: _core.Tracing, recording: Recording, outcome: Outcome, replaced: list[str]
    ) -> None:
        if outcome.guards is None or tracing.obstacle:
            # An obstacle in the use of tensors is more specific than state that the call might have read.
            reason = recording.obstacle or tracing.obstacle or outcome.reason
            raise ValueError(f"lucid.export: the call cannot be recorded: {reason}")
        if replaced:
            raise ValueError(
                f"lucid.export: the call replaces what {', '.join(replaced)} holds, which a program cannot; write to "
                "tensors in place: `self.state.copy_(new)`"
            )


@_effects.effect("writes a file")
def export(
    function: Callable[..., Any],
    args: Any,
    path: str | os.PathLike[str],
    *,
    dynamic: Dynamic | None = None,
    targets: Sequence[str] | None = None,
    examples: Sequence[Any] = (),
    ahead_of_time: bool = False,
) -> None:
    """Writes a module or a function to a file, as a program that runs without Python.

    The function is called with the examples and recorded, as `lucid.compile` records it. The file has its graph, the
    weights, and machine code. `lucid.load_program`, `lucid::Program::load` in C++ and `lucid_program_load` in C read
    it; `liblucid_runtime.so` is all that C programs need.

    Tensors among the arguments become inputs; other arguments keep their values. State that the function writes, such
    as a cache, becomes state of the program; the export leaves it as it was. Modules are exported as they are: call
    `model.eval()` first.

    Args:
        function: A module or a function. If it is compiled, the original is exported.
        args: A tuple or list of arguments, or one argument.
        path: The file to write.
        dynamic: Dimensions whose sizes may vary, by the name of a parameter: `{"x": {0: "batch"}}`, or
            `{"x": {0: lucid.Dim("batch", max=256)}}`. A name alone means sizes from 1 to 64.
        targets: The CPUs to write machine code for: "scalar", "avx2", "avx512". The default is that of this machine.
            With an empty list the file has no machine code, and the program is compiled when it is loaded.
        examples: Further arguments, for functions that take another branch for them. A program raises an error for a
            branch that no example took.
        ahead_of_time: Writes an object file, `path`, whose suffix must be `.o`, and a header next to it with the suffix
            `.h`. A C program links the object file and opens the program by its name, that of the file:
            `lucid_program_open(&model)`. Nothing is compiled or loaded at run time. There is one target.

    >>> import tempfile
    >>> model = lucid.nn.Linear(3, 2).eval()
    >>> path = tempfile.mkdtemp() + "/model.lucid"
    >>> lucid.export(model, lucid.ones(4, 3), path, dynamic={"input": {0: "batch"}})
    >>> program = lucid.load_program(path)
    >>> program
    Program(Linear: (input: f32[batch,3]) -> (output0: f32[batch,2]))
    >>> bool((program(lucid.ones(5, 3)) == model(lucid.ones(5, 3))).all())
    True
    """
    if dynamic is not None and not (
        isinstance(dynamic, Mapping) and all(isinstance(dims, Mapping) for dims in dynamic.values())
    ):
        raise TypeError(f'lucid.export: dynamic must be like {{"x": {{0: "batch"}}}}, got {dynamic!r}')
    levels = levels_of(targets)
    if ahead_of_time and len(levels) != 1:
        raise ValueError(f"lucid.export: ahead_of_time=True needs one target, got {levels}")
    symbol = symbol_of(path) if ahead_of_time else None
    exporter = _Exporter(original(function, "lucid.export"), dynamic or {})
    exporter.add_examples([arguments(each) for each in (args, *examples)])
    warn_of(exporter.unrepeated, exporter.training)
    exporter.calls.write(os.fsencode(path), exporter.output_names, exporter.structure or "", levels, symbol)
    if symbol is not None:
        write_header(path, symbol)
