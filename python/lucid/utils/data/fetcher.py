"""Fetching of batches, in a worker or in the main process, and the messages that replace a batch."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .collate import default_collate
from .dataset import TensorDataset


class WorkerInfo(NamedTuple):
    """Describes the current worker, so that an IterableDataset can return its share."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Returns the WorkerInfo of this worker process; None in the main process."""
    return info


class Fetcher:
    """Fetches batches from a dataset."""

    def __init__(
        self, dataset: Any, collate: Callable[[Any], Any], whole: bool, iterable: bool, drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.collate = collate
        self.whole = whole  # batch_size is None: an item of the dataset is a whole batch
        self.iterable = iterable
        self.drop_last = drop_last
        self.samples: Iterator[Any] | None = None

    def start_epoch(self) -> None:
        if not self.iterable:
            self.samples = None
            return
        self.samples = _call(f"{type(self.dataset).__name__}.__iter__()", iter, self.dataset)

    def fetch(self, indices: Any) -> Any:
        """Returns the batch with these sample indices. For an iterable dataset, returns as many samples, or Ended()."""
        samples = self._take(indices) if self.samples is not None else self._read(indices)
        if isinstance(samples, (Ended, _Collated)):
            return samples.batch if isinstance(samples, _Collated) else samples
        return _call(f"collate_fn {getattr(self.collate, '__qualname__', self.collate)}", self.collate, samples)

    def _take(self, indices: Any) -> Any:
        assert self.samples is not None
        if self.whole:
            return next(self.samples, Ended())
        taken = [sample for _, sample in zip(range(len(indices)), self.samples)]
        if not taken or (len(taken) < len(indices) and self.drop_last):
            return Ended()
        return taken

    def _read(self, indices: Any) -> Any:
        name = type(self.dataset).__name__
        if self.whole:
            return _call(f"{name}.__getitem__({indices!r})", operator.getitem, self.dataset, indices)
        if type(self.dataset) is TensorDataset and self.collate is default_collate:
            return _Collated(self.dataset._collated(indices))
        if hasattr(self.dataset, "__getitems__"):
            return _call(f"{name}.__getitems__({indices!r})", self.dataset.__getitems__, indices)
        samples = []
        index = None
        try:
            for index in indices:
                samples.append(self.dataset[index])
        except StopIteration as error:
            raise _unexpected(f"{name}.__getitem__({index!r})") from error
        return samples


class _Collated(NamedTuple):
    """A batch that is already collated."""

    batch: Any


def _unexpected(what: str) -> RuntimeError:
    return RuntimeError(f"DataLoader: {what} raised StopIteration, which would end the epoch early")


def _call(what: str, function: Callable[..., Any], *args: Any) -> Any:
    """Calls a user's function. Its StopIteration is a bug, not the end of the data, and becomes RuntimeError."""
    try:
        return function(*args)
    except StopIteration as error:
        raise _unexpected(what) from error


class Ended:
    """Replaces a batch when a worker's iterable dataset is exhausted."""


class Failure(NamedTuple):
    """An exception in a worker, sent to the main process."""

    error: Exception
    text: str

    def raise_(self) -> None:
        """Raises the exception, with the worker's traceback as its cause."""
        raise self.error from WorkerTraceback(self.text)


class WorkerTraceback(Exception):
    """Shows the traceback of an exception in a worker."""

    def __str__(self) -> str:
        return str(self.args[0])
