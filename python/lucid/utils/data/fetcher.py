"""What makes batches, in a worker or in the main process, and what a worker sends instead of one."""

from __future__ import annotations

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
        self.samples = iter(self.dataset) if self.iterable else None

    def fetch(self, numbers: Any) -> Any:
        """The batch of these sample numbers; of an iterable dataset, of as many samples. Raises StopIteration."""
        if self.samples is not None:
            if self.whole:
                return self.collate(next(self.samples))
            taken = [sample for _, sample in zip(range(len(numbers)), self.samples)]
            if not taken or (len(taken) < len(numbers) and self.drop_last):
                raise StopIteration
            return self.collate(taken)
        if self.whole:
            return self.collate(self.dataset[numbers])
        if type(self.dataset) is TensorDataset and self.collate is default_collate:
            return self.dataset._collated(numbers)
        if hasattr(self.dataset, "__getitems__"):
            return self.collate(self.dataset.__getitems__(numbers))
        return self.collate([self.dataset[number] for number in numbers])


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
