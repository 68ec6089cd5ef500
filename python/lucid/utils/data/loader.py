"""The data loader: batches of a dataset, fetched by worker processes if requested."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ... import _random
from ..._core import Generator, Tensor
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .fetcher import Ended, Failure, Fetcher
from .sampler import BatchSampler, RandomSampler, SequentialSampler

if TYPE_CHECKING:
    from .worker import WorkerPool
from ... import _effects

_effects.module_effect("takes batches from a loader")


class _Forever:
    """Replaces the sample indices of datasets that have none."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader:
    """Iterates over batches of a dataset's samples.

    The order is the same for any number of workers. `state_dict()` returns the position in an epoch; a loader that
    loads it continues from there.

    Args:
        dataset: A Dataset, any object with __getitem__ and __len__, or an IterableDataset.
        batch_size: Samples per batch. None disables batching: the loader returns what the dataset returns.
        shuffle: Whether to use a random order.
        sampler: The order of the samples, instead of `shuffle`.
        batch_sampler: Lists of indices, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: Number of worker processes; 0 fetches in the main process.
        collate_fn: Combines a list of samples into a batch; default_collate by default.
        drop_last: Whether to drop an incomplete last batch.
        timeout: Seconds to wait for a batch from the workers; 0 waits forever.
        worker_init_fn: Called in each worker with the worker's index.
        multiprocessing_context: A multiprocessing context, or the name of a start method.
        generator: The random generator of the order; the default one if it is None.
        prefetch_factor: Batches requested in advance per worker; 2 by default.
        persistent_workers: Whether workers stay alive between epochs.
        progress: Whether to show a progress bar on stderr.

    >>> loader = lucid.utils.data.DataLoader(list(range(6)), batch_size=4, drop_last=True)
    >>> list(loader)
    [tensor([0, 1, 2, 3])]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        progress: bool = False,
    ) -> None:
        self._check(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.progress = progress
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader: an IterableDataset has its own order; it takes no shuffle and no sampler")
        if shuffle and sampler is not None:
            raise ValueError("DataLoader: pass either shuffle or a sampler, not both")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "DataLoader: a batch_sampler replaces batch_size, shuffle, sampler and drop_last; do not pass both"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: drop_last needs batches, but batch_size is None")
        self.batch_size = batch_size
        self.drop_last = drop_last
        if sampler is None:
            if self._iterable:
                sampler = _Forever()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last and not self._iterable)
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._epoch_start: Tensor | None = None
        self._batches = 0
        self._resume: dict[str, Any] | None = None
        self._pool: WorkerPool | None = None
        self._running: weakref.ref[_Epoch] | None = None

    @staticmethod
    def _check(num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool) -> None:
        if num_workers < 0:
            raise ValueError(f"DataLoader: num_workers must be at least 0, got {num_workers}")
        if timeout < 0:
            raise ValueError(f"DataLoader: timeout must be at least 0, got {timeout}")
        if num_workers == 0 and (prefetch_factor is not None or persistent_workers):
            raise ValueError("DataLoader: prefetch_factor and persistent_workers need num_workers above 0")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError(f"DataLoader: prefetch_factor must be at least 1, got {prefetch_factor}")

    def _order(self) -> Iterable[Any]:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _fetcher(self) -> Fetcher:
        return Fetcher(self.dataset, self.collate_fn, self.batch_sampler is None, self._iterable, self.drop_last)

    def __len__(self) -> int:
        if not self._iterable:
            return len(self._order())  # type: ignore[arg-type]
        total = len(self.dataset)
        if self.batch_size is None:
            return total
        return total // self.batch_size if self.drop_last else -(-total // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        running = self._running() if self._running else None
        if running is not None and self.persistent_workers:
            running.abandon()
        epoch = _Epoch(self)
        self._running = weakref.ref(epoch)
        return _with_progress(epoch, self) if self.progress else epoch

    def _generator_state(self) -> Tensor:
        return _random.get_rng_state() if self.generator is None else self.generator.get_state()

    def _set_generator_state(self, state: Tensor) -> None:
        if self.generator is None:
            _random.set_rng_state(state)
        else:
            self.generator.set_state(state)

    def state_dict(self) -> dict[str, Any]:
        """Returns the position in the epoch.

        It consists of the generator state that determines the order and the number of batches taken.
        """
        if self._resume is not None:
            return dict(self._resume)
        now = self._generator_state()
        started = self._epoch_start is not None
        start = self._epoch_start.clone() if self._epoch_start is not None else now.clone()
        return {"started": started, "epoch_start": start, "generator": now, "batches": self._batches}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Makes the next iteration continue at a saved position: in the same order, after the same batch."""
        missing = {"started", "epoch_start", "generator", "batches"} - set(state_dict)
        if missing:
            raise ValueError(f"DataLoader: the state has no keys {sorted(missing)}")
        self._resume = dict(state_dict) if state_dict["started"] else None
        if self._resume is None and self.generator is not None:
            self.generator.set_state(state_dict["generator"])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_pool", "_running")} | {
            "_pool": None,
            "_running": None,
        }

    def __del__(self) -> None:
        pool = self.__dict__.get("_pool")
        if pool is not None:
            pool.close()


class _Epoch:
    """An iterator over one epoch."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._pool: WorkerPool | None = None
        self._abandoned = False
        resume, loader._resume = loader._resume, None
        before = loader._generator_state()
        if resume is not None:
            loader._set_generator_state(resume["epoch_start"])
        loader._epoch_start = loader._generator_state()
        self._seed = int(_random.randint(0, 2**62, (), generator=loader.generator).item())
        self._order: Iterator[tuple[int, Any]] = enumerate(loader._order())  # (batch index, sample indices)
        skipped = 0 if resume is None else int(resume["batches"])
        self._skip(skipped)
        if resume is not None:
            # The order has been sampled. Later random numbers continue as if there had been no interruption.
            loader._set_generator_state(before if loader.generator is None else resume["generator"])
        loader._batches = skipped
        self._start_workers(skipped)

    def _skip(self, count: int) -> None:
        loader = self._loader
        # Samplers use the generator when their first index is taken. Do that now, not in the middle of the epoch.
        first = list(itertools.islice(self._order, 1))
        self._order = itertools.chain(first, self._order)
        if loader._iterable:
            return
        for _ in range(count):
            next(self._order, None)

    def _start_workers(self, skipped: int) -> None:
        loader = self._loader
        if not loader.num_workers:
            self._fetcher = loader._fetcher()
            self._fetcher.start_epoch()
            if loader._iterable:
                for _ in range(skipped):
                    self._fetcher.fetch(next(self._order)[1])
            return
        pool = loader._pool if loader.persistent_workers else None
        if pool is None or not len(pool):
            from .worker import WorkerPool  # imported late: its imports take longer than the rest of the package

            context = loader.multiprocessing_context
            pool = WorkerPool(loader.num_workers, loader._fetcher(), self._seed, loader.worker_init_fn, context)
        self._pool = pool
        if loader.persistent_workers:
            loader._pool = pool
        pool.epoch += 1
        self._idle = itertools.cycle(range(len(pool)))
        self._ended: set[int] = set()
        self._owners: dict[int, int] = {}
        self._arrived: dict[int, Any] = {}
        self._next = skipped if not loader._iterable else 0
        self._drop = skipped if loader._iterable else 0
        for _ in range(loader.prefetch_factor * len(pool)):
            self._request()

    def _request(self) -> None:
        """Requests the next batch from the next worker."""
        assert self._pool is not None
        if len(self._ended) == len(self._pool):
            return
        entry = next(self._order, None)
        if entry is None:
            return
        batch, indices = entry
        worker = next(worker for worker in self._idle if worker not in self._ended)
        self._owners[batch] = worker
        self._pool.send(worker, batch, self._seed, indices)

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        loader = self._loader
        if self._abandoned:
            raise RuntimeError("DataLoader: the persistent workers have started another epoch")
        if self._pool is None and loader.num_workers:
            raise StopIteration
        try:
            batch = self._next_here() if self._pool is None else self._next_from_workers()
        except StopIteration:
            self._finish()
            raise
        except BaseException:
            self.close()
            raise
        loader._batches += 1
        return batch

    def _next_here(self) -> Any:
        entry = next(self._order, None)
        if entry is None:
            raise StopIteration
        batch = self._fetcher.fetch(entry[1])
        if isinstance(batch, Ended):
            raise StopIteration
        return batch

    def _next_from_workers(self) -> Any:
        assert self._pool is not None
        while True:
            while self._next in self._owners and self._next not in self._arrived:
                self._wait()
            if self._next not in self._arrived:
                raise StopIteration
            result = self._arrived.pop(self._next)
            worker = self._owners.pop(self._next)
            self._next += 1
            if isinstance(result, Ended):
                self._ended.add(worker)
            self._request()
            if isinstance(result, Failure):
                result.raise_()
            if isinstance(result, Ended):
                continue
            if self._drop:
                self._drop -= 1
                continue
            return result

    def _wait(self) -> None:
        assert self._pool is not None
        loader = self._loader
        got = False
        for _, batch, result in self._pool.receive(loader.timeout):
            self._arrived[batch] = result
            got = True
        if not got and loader.timeout:
            raise RuntimeError(f"DataLoader: no batch arrived within {loader.timeout} seconds")

    def _finish(self) -> None:
        """Ends the epoch. The next one starts from the beginning."""
        self._loader._epoch_start = None
        self._loader._batches = 0
        if self._pool is not None and not self._loader.persistent_workers:
            self.close()
        self._pool = None

    def abandon(self) -> None:
        """Releases the workers for another epoch."""
        self._abandoned = self._pool is not None
        self._pool = None

    def close(self) -> None:
        """Terminates the workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()
            if self._loader._pool is pool:
                self._loader._pool = None

    def __del__(self) -> None:
        if self.__dict__.get("_pool") is not None and not self._loader.persistent_workers:
            self.close()

    def __len__(self) -> int:
        return len(self._loader)


_SECONDS_BETWEEN_BARS = 0.1


def _with_progress(epoch: _Epoch, loader: DataLoader) -> Iterator[Any]:
    """Yields the batches and shows a progress bar on the terminal."""
    total = None
    with contextlib.suppress(TypeError):
        total = len(loader)
    width = 30
    shown = 0.0
    for count, batch in enumerate(epoch, start=1):
        yield batch
        now = time.monotonic()
        if now - shown < _SECONDS_BETWEEN_BARS and count != total:
            continue
        shown = now
        if total:
            filled = width * count // total
            sys.stderr.write(f"\r[{'#' * filled}{' ' * (width - filled)}] {count}/{total}")
        else:
            sys.stderr.write(f"\r{count} batches")
        sys.stderr.flush()
    sys.stderr.write("\n")
