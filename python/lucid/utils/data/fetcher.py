"""What makes batches, in a worker or in the main process, and what a worker sends instead of one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .collate import default_collate
from .dataset import TensorDataset


class WorkerInfo(NamedTuple):
    """Which worker this is: for an IterableDataset that iterates over its share."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What a worker process can know of itself; None in the main process."""
    return info


class Fetcher:
    """Makes batches: in a worker or in the main process."""

    def __init__(
        self, dataset: Any, collate: Callable[[Any], Any], whole: bool, iterable: bool, drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.collate = collate
        self.whole = whole  # the dataset gives whole batches when it is asked for one: batch_size is None
        self.iterable = iterable
        self.drop_last = drop_last
        self.samples: Iterator[Any] | None = None

    def start_epoch(self) -> None:
        if not self.iterable:
            self.samples = None
            return
        self.samples = _call(f"{type(self.dataset).__name__}.__iter__()", iter, self.dataset)

    def fetch(self, numbers: Any) -> Any:
        """The batch of these sample numbers; of an iterable dataset, of as many samples, or Ended()."""
        samples = self._take(numbers) if self.samples is not None else self._read(numbers)
        if isinstance(samples, (Ended, _Collated)):
            return samples.batch if isinstance(samples, _Collated) else samples
        return _call(f"collate_fn {getattr(self.collate, '__qualname__', self.collate)}", self.collate, samples)

    def _take(self, numbers: Any) -> Any:
        assert self.samples is not None
        if self.whole:
            return next(self.samples, Ended())
        taken = [sample for _, sample in zip(range(len(numbers)), self.samples)]
        if not taken or (len(taken) < len(numbers) and self.drop_last):
            return Ended()
        return taken

    def _read(self, numbers: Any) -> Any:
        name = type(self.dataset).__name__
        if self.whole:
            return _call(f"{name}.__getitem__({numbers!r})", operator.getitem, self.dataset, numbers)
        if type(self.dataset) is TensorDataset and self.collate is default_collate:
            return _Collated(self.dataset._collated(numbers))
        if hasattr(self.dataset, "__getitems__"):
            return _call(f"{name}.__getitems__({numbers!r})", self.dataset.__getitems__, numbers)
        samples = []
        number = None
        try:
            for number in numbers:
                samples.append(self.dataset[number])
        except StopIteration as error:
            raise _unexpected(f"{name}.__getitem__({number!r})") from error
        return samples


class _Collated(NamedTuple):
    """A batch of which nothing is left to do."""

    batch: Any


def _unexpected(what: str) -> RuntimeError:
    return RuntimeError(f"DataLoader: {what} raised StopIteration, which would end the epoch early")


def _call(what: str, function: Callable[..., Any], *args: Any) -> Any:
    """A StopIteration that comes from a user's function means a mistake there, not the end of the data."""
    try:
        return function(*args)
    except StopIteration as error:
        raise _unexpected(what) from error


class Ended:
    """Instead of a batch: the worker's iterable dataset is exhausted."""


class Failure(NamedTuple):
    """An exception of a worker, on its way to the main process."""

    error: Exception
    text: str

    def raise_(self) -> None:
        """Raises it, with the worker's traceback as its cause."""
        raise self.error from WorkerTraceback(self.text)


class WorkerTraceback(Exception):
    """Shows where in a worker an exception was raised."""

    def __str__(self) -> str:
        return str(self.args[0])
