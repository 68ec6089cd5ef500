"""The plans of a compiled function or module, and their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

from .. import _core
from ..autograd import grad_enabled

_ATOMS = (type(None), bool, int, float, str, bytes)


# Attributes of tensors as they are when Lucid is imported: classes of users may define others.
_shape, _dtype, _device, requires_grad = (
    _core.Tensor.__dict__[name].__get__ for name in ("shape", "dtype", "device", "requires_grad")
)
_stride = _core.Tensor.stride


class InputKey(NamedTuple):
    """The properties of an argument tensor that a plan depends on."""

    shape: tuple[int, ...]
    dtype: _core.dtype
    device: str
    strides: tuple[int, ...]
    requires_grad: bool


class CacheKey(NamedTuple):
    """The key of a plan in readable form. The guards check everything else that the call reads."""

    inputs: tuple[InputKey, ...]
    # Numbers and strings among the arguments, by position or name.
    values: tuple[tuple[int | str, Any], ...]
    grad_enabled: bool
    training: bool

    @classmethod
    def of(cls, tensors: list[_core.Tensor], args: tuple[Any, ...], kwargs: dict[str, Any], training: bool) -> CacheKey:
        """The key of a call."""
        inputs = tuple(
            InputKey(tuple(_shape(x)), _dtype(x), str(_device(x)), tuple(_stride(x)), requires_grad(x)) for x in tensors
        )
        named: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        values = tuple((name, value) for name, value in named if any(type(value) is atom for atom in _ATOMS))
        return cls(inputs, values, grad_enabled(), training)

    def without(self, names: set[int | str]) -> CacheKey:
        """The key without the values of these arguments, which may vary."""
        return self._replace(values=tuple((name, value) for name, value in self.values if name not in names))


@dataclass(eq=False)
class ForwardExecutor:
    """A plan. Runs the recorded call on the tensors of another call, with the current values of parameters."""

    key: CacheKey
    program: _core.Program
    guards: _core.GuardSet
    # The sources of the captured tensors.
    sources: list[str]

    @property
    def graph(self) -> _core.IRGraph:
        """The graph after the passes."""
        return self.program.graph

    @property
    def state(self) -> dict[str, _core.Tensor]:
        """The tensors that the plan reads or writes and that are not arguments, by source, such as `model.weight`."""
        return dict(zip(self.sources, self.program.state))

    def __call__(self, *tensors: _core.Tensor) -> list[_core.Tensor]:
        """Runs the plan on these tensors and returns the resulting tensors. The guards are not checked."""
        results = self.program.run(list(tensors))
        if results is None:
            raise ValueError("the plan does not match these tensors; call the compiled function instead")
        return results

    def __repr__(self) -> str:
        return f"ForwardExecutor({self.program.nodes} nodes, {self.program.kernels} kernels)"


class PlanCache(Sequence[ForwardExecutor]):
    """The plans of a compiled function or module, oldest first. The oldest is evicted when there are more than
    `max_entries`. Reading the cache waits for the plans that are being compiled."""

    def __init__(self, table: _core.CompiledCallable, max_entries: int) -> None:
        self.max_entries = max_entries
        self._table = table

    @property
    def _plans(self) -> list[ForwardExecutor]:
        return [ForwardExecutor(*plan) for plan in self._table.plans()]

    def __len__(self) -> int:
        return len(self._plans)

    @overload
    def __getitem__(self, index: int) -> ForwardExecutor: ...
    @overload
    def __getitem__(self, index: slice) -> list[ForwardExecutor]: ...
    def __getitem__(self, index: int | slice) -> ForwardExecutor | list[ForwardExecutor]:
        return self._plans[index]

    @property
    def keys(self) -> list[CacheKey]:
        """The keys of the plans, oldest first."""
        return [plan.key for plan in self._plans]

    def __repr__(self) -> str:
        return f"PlanCache({len(self)} of at most {self.max_entries} plans)"
