"""Schedules of learning rates. Call `scheduler.step()` after the optimizer's.

>>> w = lucid.ones(1, requires_grad=True)
>>> optimizer = lucid.optim.SGD([w], lr=1.0)
>>> scheduler = lucid.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
>>> for _ in range(3):
...     optimizer.step()
...     scheduler.step()
>>> scheduler.get_last_lr()
[0.1]
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _core, _effects
from .optimizer import Optimizer

_effects.module_effect("counts the steps of a schedule")

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

_EARLY = (
    "lr_scheduler.step() was called before optimizer.step(), so the first rate of the schedule is skipped; "
    "call the optimizer's step first"
)


def _options(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor that are options."""
    return {name: value for name, value in values.items() if name not in ("self", "optimizer", "__class__")}


# How the schedules of the core are made, from what copies and pickles keep.


def _named(
    scheduler: LRScheduler, options: dict[str, Any], functions: Sequence[Callable[..., float]]
) -> _core.Schedule:
    return _core.Schedule.make(type(scheduler)._kind(), scheduler.optimizer, options, functions)


def _custom(scheduler: LRScheduler, last_epoch: int) -> _core.Schedule:
    this = weakref.ref(scheduler)

    def rates(epoch: int, base_lrs: list[float]) -> list[float]:
        scheduler = this()
        assert scheduler is not None
        scheduler._now = (epoch, base_lrs)
        return [float(rate) for rate in scheduler.get_lr()]

    return _core.Schedule.make_custom(scheduler.optimizer, rates, last_epoch)


def _sequential(
    scheduler: LRScheduler, parts: Sequence[LRScheduler], milestones: list[int], last_epoch: int
) -> _core.Schedule:
    schedules = [part._schedule for part in parts]
    return _core.Schedule.make_sequential(scheduler.optimizer, schedules, milestones, last_epoch)


def _chained(scheduler: LRScheduler, parts: Sequence[LRScheduler]) -> _core.Schedule:
    return _core.Schedule.make_chained(scheduler.optimizer, [part._schedule for part in parts])


class LRScheduler:
    """The base class of schedules. One of your own gives the rates of all groups.

    >>> class Halving(lucid.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
    >>> optimizer = lucid.optim.SGD([lucid.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = Halving(optimizer)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    _schedule: _core.Schedule
    _made_by: tuple[Callable[..., _core.Schedule], tuple[Any, ...]]
    _now: tuple[int, list[float]] | None = None

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self._start(optimizer, _custom, last_epoch)

    def _start(self, optimizer: Optimizer, make: Callable[..., _core.Schedule], *arguments: Any) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(self).__name__}: optimizer must be an Optimizer, not a {type(optimizer).__name__}")
        self.optimizer = optimizer
        self._made_by = make, arguments
        self._schedule = make(self, *arguments)

    def _make(
        self, optimizer: Optimizer, options: dict[str, Any], functions: Sequence[Callable[..., float]] = ()
    ) -> None:
        self._start(optimizer, _named, options, functions)

    @classmethod
    def _kind(cls) -> str:
        """The schedule of the core that this class, or the class that it derives from, stands for."""
        return next(base.__name__ for base in cls.__mro__ if base.__module__ == __name__)

    @property
    def last_epoch(self) -> int:
        """How many steps were taken."""
        if "_schedule" in self.__dict__:
            return self._schedule.last_epoch
        return self._now[0] if self._now else -1

    @property
    def base_lrs(self) -> list[float]:
        """The rate that each group began with."""
        if "_schedule" in self.__dict__:
            return self._schedule.base_lrs
        return self._now[1] if self._now else []

    def get_lr(self) -> list[float]:
        """The rates of all groups at `last_epoch`; for classes of one's own."""
        raise NotImplementedError(f"{type(self).__name__} must say what its rates are: override get_lr")

    def get_last_lr(self) -> list[float]:
        """The rates that were set last."""
        return self._schedule.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Sets the rates of the next epoch, or of a given one."""
        if self._schedule.is_early:
            warnings.warn(_EARLY, UserWarning, stacklevel=2)
        if epoch is None:
            self._schedule.step()
        else:
            self._schedule.step_to(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Options and progress as plain data. Functions are not part of it."""
        return self._schedule.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on where state_dict() was taken. The optimizer's state is loaded separately."""
        self._schedule.load_state_dict(state_dict)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_schedule", "_now")}
        return {**kept, "_progress": self.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "_progress"})
        # A schedule sets the first rates when it is made; those of this optimizer are further on.
        options = [{name: value for name, value in group.items() if name != "params"} for group in self._groups()]
        make, arguments = self._made_by
        self._schedule = make(self, *arguments)
        self._schedule.load_state_dict(state["_progress"])
        for group, values in zip(self._groups(), options, strict=True):
            group.update(values)

    def _groups(self) -> list[Any]:
        return list(self.optimizer.param_groups)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "_schedule" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._schedule.option(name)


class StepLR(LRScheduler):
    """Multiplies the rates by gamma every step_size epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class MultiStepLR(LRScheduler):
    """Multiplies the rates by gamma at each milestone."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self._make(optimizer, {"milestones": list(milestones), "gamma": gamma, "last_epoch": last_epoch})


class ConstantLR(LRScheduler):
    """Multiplies the rates by a factor for some epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self._make(optimizer, _options(locals()))


class LinearLR(LRScheduler):
    """Multiplies the rates by a factor that changes evenly: a warm-up."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self._make(optimizer, _options(locals()))


class ExponentialLR(LRScheduler):
    """Multiplies the rates by gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class PolynomialLR(LRScheduler):
    """Lowers the rates to 0 along a polynomial."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class CosineAnnealingLR(LRScheduler):
    """Lowers the rates to eta_min along half a cosine wave."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosine waves one after another, each T_mult times as long as the one before."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self._make(optimizer, _options(locals()))


class CyclicLR(LRScheduler):
    """Moves the rates up and down between two bounds, and the momentum against them."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        options = _options(locals())
        function = options.pop("scale_fn")
        self._make(optimizer, options, [function] if function else [])


class OneCycleLR(LRScheduler):
    """Raises the rates from a fraction of max_lr to it, then lowers them far below; the momentum moves against them."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self._make(optimizer, _options(locals()))


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rates by a factor when a metric has not got better for `patience` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        self._make(optimizer, _options(locals()))

    def step(self, metrics: Any) -> None:  # type: ignore[override]
        """Tells the schedule the metric's value at the end of an epoch."""
        self._schedule.observe(float(metrics))


class LambdaLR(LRScheduler):
    """The first rates times a function of the epoch; one function, or one for each group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        functions: list[Any] = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda]
        for function in functions:
            if not callable(function):
                raise TypeError(f"{type(self).__name__}: lr_lambda must be a function, not a {type(function).__name__}")
        self._make(optimizer, {"last_epoch": last_epoch}, functions)


class MultiplicativeLR(LambdaLR):
    """Multiplies the rates by a function of the epoch."""


class SequentialLR(LRScheduler):
    """One schedule after another, each from its milestone on."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._schedulers = list(schedulers)
        self._start(optimizer, _sequential, self._schedulers, list(milestones), last_epoch)


class ChainedScheduler(LRScheduler):
    """Several schedules at once."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._schedulers = list(schedulers)
        if not self._schedulers:
            raise ValueError("ChainedScheduler: give at least one schedule")
        self._start(optimizer or self._schedulers[0].optimizer, _chained, self._schedulers)
