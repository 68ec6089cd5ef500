"""Learning rate schedulers. Call `scheduler.step()` after `optimizer.step()`.

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
    "call optimizer.step() first"
)


def _options(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the options among the arguments of a constructor."""
    return {name: value for name, value in values.items() if name not in ("self", "optimizer", "__class__")}


# Constructors of the core's schedules, from arguments that copies and pickles preserve.


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
    """The base class of learning rate schedulers. A subclass overrides get_lr(), which returns the rate of every group.

    Args:
        optimizer: The optimizer whose learning rates are set.
        last_epoch: The epoch to resume after; -1 starts from the beginning.

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
            raise TypeError(f"{type(self).__name__}: optimizer must be an Optimizer, not {_core.describe(optimizer)}")
        self.optimizer = optimizer
        self._made_by = make, arguments
        self._schedule = make(self, *arguments)

    def _make(
        self, optimizer: Optimizer, options: dict[str, Any], functions: Sequence[Callable[..., float]] = ()
    ) -> None:
        self._start(optimizer, _named, options, functions)

    @classmethod
    def _kind(cls) -> str:
        """Returns the name of the core schedule that implements this class."""
        return next(base.__name__ for base in cls.__mro__ if base.__module__ == __name__)

    @property
    def last_epoch(self) -> int:
        """The number of steps taken."""
        if "_schedule" in self.__dict__:
            return self._schedule.last_epoch
        return self._now[0] if self._now else -1

    @property
    def base_lrs(self) -> list[float]:
        """The initial learning rate of each group."""
        if "_schedule" in self.__dict__:
            return self._schedule.base_lrs
        return self._now[1] if self._now else []

    def get_lr(self) -> list[float]:
        """Returns the learning rates of all groups at `last_epoch`. Override it in a subclass."""
        raise NotImplementedError(f"{type(self).__name__} must override get_lr, which returns the learning rates")

    def get_last_lr(self) -> list[float]:
        """Returns the learning rates that were set last."""
        return self._schedule.get_last_lr()

    @_effects.pure
    def step(self, epoch: int | None = None) -> None:
        """Sets the learning rates of the next epoch, or of the given one."""
        log = _core.call_log()
        if epoch is None and log is not None and log.step(self):
            return
        if self._schedule.is_early:
            warnings.warn(_EARLY, UserWarning, stacklevel=2)
        if epoch is None:
            self._schedule.step()
        else:
            self._schedule.step_to(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Returns options and progress as plain data. Functions are not included."""
        return self._schedule.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores the progress that state_dict() returned. The optimizer's state is loaded separately."""
        self._schedule.load_state_dict(state_dict)

    def __getstate__(self) -> dict[str, Any]:
        saved = {name: value for name, value in self.__dict__.items() if name not in ("_schedule", "_now")}
        return {**saved, "_progress": self.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "_progress"})
        # Creating a schedule sets the initial rates, but this optimizer has advanced: restore its options afterwards.
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
    """Multiplies the learning rates by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class MultiStepLR(LRScheduler):
    """Multiplies the learning rates by `gamma` at each milestone."""

    # By hand: milestones may be any iterable.
    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self._make(optimizer, {"milestones": list(milestones), "gamma": gamma, "last_epoch": last_epoch})


class ConstantLR(LRScheduler):
    """Multiplies the learning rates by `factor` for the first `total_iters` epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 0.3333333333333333, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self._make(optimizer, _options(locals()))


class LinearLR(LRScheduler):
    """Multiplies the learning rates by a factor that changes linearly over `total_iters` epochs: a warm-up."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 0.3333333333333333,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self._make(optimizer, _options(locals()))


class ExponentialLR(LRScheduler):
    """Multiplies the learning rates by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class PolynomialLR(LRScheduler):
    """Decays the learning rates to 0 over `total_iters` epochs, along a polynomial of degree `power`."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class CosineAnnealingLR(LRScheduler):
    """Decays the learning rates to `eta_min` over `T_max` epochs, along half a cosine wave."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self._make(optimizer, _options(locals()))


class CosineAnnealingWarmRestarts(LRScheduler):
    """Repeats cosine annealing from the initial learning rates.

    The first cycle takes `T_0` epochs. Each cycle is `T_mult` times as long as the previous one.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self._make(optimizer, _options(locals()))


class CyclicLR(LRScheduler):
    """Cycles the learning rates between two bounds, and the momentum in the opposite direction.

    Args:
        base_lr: Lower bound, for all groups or one per group.
        max_lr: Upper bound.
        step_size_up: Steps from the lower to the upper bound.
        step_size_down: Steps back; `step_size_up` by default.
        mode: 'triangular', 'triangular2' (amplitude halves every cycle) or 'exp_range' (scaled by gamma ** step).
        scale_fn: A function that scales the amplitude, instead of `mode`.
        scale_mode: Whether scale_fn takes the cycle ('cycle') or the step ('iterations').
        cycle_momentum: Whether to cycle the momentum between `base_momentum` and `max_momentum`.
    """

    # By hand: the function is no plain value.
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
    """The 1cycle policy: raises the learning rates to `max_lr`, then anneals them far below the initial rate.

    The number of steps is `total_steps`, or `epochs * steps_per_epoch`. The momentum moves in the opposite direction.

    Args:
        max_lr: Highest rate, for all groups or one per group. The same holds for the bounds of the momentum.
        pct_start: Fraction of the steps that raise the rate.
        anneal_strategy: 'cos' or 'linear'.
        div_factor: `max_lr` divided by the initial rate.
        final_div_factor: The initial rate divided by the final rate.
        three_phase: Whether to return to the initial rate before the final phase.
    """

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
    """Multiplies the learning rates by `factor` when a metric has not improved for `patience` epochs.

    Args:
        mode: Whether the metric improves downwards ('min') or upwards ('max').
        threshold: How much better a metric must be to count as an improvement.
        threshold_mode: Whether the threshold is relative ('rel') or absolute ('abs').
        cooldown: Epochs to wait after a reduction.
        min_lr: Lower bound of the rates.
        eps: Reductions by less than this are skipped.
    """

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
        """Reports the value of the metric at the end of an epoch."""
        self._schedule.observe(float(metrics))


class LambdaLR(LRScheduler):
    """Multiplies the initial learning rates by a function of the epoch: one function, or one per group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        functions: list[Any] = list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda]
        for function in functions:
            if not callable(function):
                raise TypeError(f"{type(self).__name__}: lr_lambda must be a function, not {_core.describe(function)}")
        self._make(optimizer, {"last_epoch": last_epoch}, functions)


class MultiplicativeLR(LambdaLR):
    """Multiplies the current learning rates by a function of the epoch."""


class SequentialLR(LRScheduler):
    """Runs several schedulers in sequence, switching to the next one at each milestone."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._schedulers = list(schedulers)
        self._start(optimizer, _sequential, self._schedulers, list(milestones), last_epoch)


class ChainedScheduler(LRScheduler):
    """Runs several schedulers at the same time."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._schedulers = list(schedulers)
        if not self._schedulers:
            raise ValueError("ChainedScheduler: expected at least one scheduler")
        self._start(optimizer or self._schedulers[0].optimizer, _chained, self._schedulers)
