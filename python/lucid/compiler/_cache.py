"""The plans of a compiled function or module, and what they are found by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

from .. import _core
from ..autograd import grad_enabled

_ATOMS = (type(None), bool, int, float, str, bytes)


class InputKey(NamedTuple):
    """What a plan depends on of a tensor that is an argument."""

    shape: tuple[int, ...]
    dtype: _core.dtype
    device: str
    strides: tuple[int, ...]
    requires_grad: bool


class CacheKey(NamedTuple):
    """What a plan is found by, to be read. Guards say more: what the call reads of everything else."""

    inputs: tuple[InputKey, ...]
    # Numbers and text among the arguments, by position or name.
    values: tuple[tuple[int | str, Any], ...]
    grad_enabled: bool
    training: bool

    @classmethod
    def of(cls, tensors: list[_core.Tensor], args: tuple[Any, ...], kwargs: dict[str, Any], training: bool) -> CacheKey:
        """The key of a call."""
        inputs = tuple(
            InputKey(tuple(x.shape), x.dtype, str(x.device), tuple(x.stride()), x.requires_grad) for x in tensors
        )
        named: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
        values = tuple((name, value) for name, value in named if type(value) in _ATOMS)
        return cls(inputs, values, grad_enabled(), training)


@dataclass(eq=False)
class ForwardExecutor:
    """A plan: runs what was recorded with the tensors of another call, and with parameters as they are by then."""

    key: CacheKey
    program: _core.Program
    guards: _core.GuardSet
    # Where the tensors were found that it uses besides the arguments.
    places: list[str]

    @property
    def graph(self) -> _core.IRGraph:
        """What it computes, after the passes."""
        return self.program.graph

    @property
    def state(self) -> dict[str, _core.Tensor]:
        """The tensors that it reads or writes besides the arguments, by place."""
        return dict(zip(self.places, self.program.state))

    def __call__(self, *tensors: _core.Tensor) -> list[_core.Tensor]:
        """The tensors that a call with these would return. Guards are not asked."""
        results = self.program.run(list(tensors))
        if results is None:
            raise ValueError("the plan does not fit these tensors: call the compiled function")
        return results

    def __repr__(self) -> str:
        return f"ForwardExecutor({self.program.nodes} nodes, {self.program.kernels} kernels)"


class PlanCache(Sequence[ForwardExecutor]):
    """The plans of a compiled function or module, the oldest first; it leaves when there are more than `max_entries`.
    Reading it waits for the plans that are being made."""

    def __init__(self, table: _core.CompiledCallable, max_entries: int) -> None:
        self.max_entries = max_entries
        self._table = table

    @property
    def _plans(self) -> list[ForwardExecutor]:
        return [ForwardExecutor(*plan) for plan in self._table.plans()]

    def __len__(self) -> int:
        return len(self._plans)

    @overload
    def __getitem__(self, number: int) -> ForwardExecutor: ...
    @overload
    def __getitem__(self, number: slice) -> list[ForwardExecutor]: ...
    def __getitem__(self, number: int | slice) -> ForwardExecutor | list[ForwardExecutor]:
        return self._plans[number]

    @property
    def keys(self) -> list[CacheKey]:
        """The oldest first."""
        return [plan.key for plan in self._plans]

    def __repr__(self) -> str:
        return f"PlanCache({len(self)} of at most {self.max_entries} plans)"
