"""Worker processes of the loader.

A worker receives lists of sample numbers and sends batches back, each over a pipe of its own. Which worker makes a
batch does not matter for what is in it: before each batch the random generators are seeded from the epoch's seed and
the batch's number.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import queue
import random
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ... import _core, _random

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_POLL_SECONDS = 2.0
_SEEDS = 2**63


@dataclasses.dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: for an IterableDataset that iterates over its share."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What a worker process can know of itself; None in the main process."""
    return _info


@dataclasses.dataclass
class Failure:
    """An exception of a worker, on its way to the main process."""

    error: Exception
    text: str

    @classmethod
    def caught(cls, error: Exception, worker: int) -> Failure:
        text = f"in worker {worker} of the DataLoader:\n{traceback.format_exc()}"
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return cls(error, text)

    def raise_(self) -> None:
        """Raises it, with the worker's traceback as its cause."""
        raise self.error from WorkerTraceback(self.text)


class WorkerTraceback(Exception):
    """Shows where in a worker an exception was raised."""

    def __str__(self) -> str:
        return str(self.args[0])


def seed_everything(seed: int) -> None:
    """Seeds the generators that samples may be drawn with."""
    seed %= _SEEDS
    _random.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


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
        if hasattr(self.dataset, "__getitems__"):
            return self.collate(self.dataset.__getitems__(numbers))
        return self.collate([self.dataset[number] for number in numbers])


class Ended:
    """Instead of a batch: the worker's iterable dataset is exhausted."""


def _receive(connection: Connection, requests: queue.SimpleQueue[Any], parent: int) -> None:
    """Takes requests off the pipe at once, so that neither side waits for the other while both send."""
    with contextlib.suppress(EOFError, OSError):
        while os.getppid() == parent:
            if connection.poll(_POLL_SECONDS):
                requests.put(connection.recv())
    requests.put(None)


def _work(
    number: int,
    count: int,
    connection: Connection,
    others: list[Connection],
    fetcher: Fetcher,
    seed: int,
    init: Callable[[int], Any] | None,
    parent: int,
) -> None:
    """The main function of a worker."""
    global _info
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides
    for other in others:
        other.close()
    _core.set_num_threads(1)
    _info = WorkerInfo(number, count, seed + number, fetcher.dataset)
    failure = None
    try:
        seed_everything(seed + number)
        if init is not None:
            init(number)
    except Exception as error:
        failure = Failure.caught(error, number)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests, parent), daemon=True).start()
    epoch = None
    with contextlib.suppress(BrokenPipeError, ConnectionError, EOFError):
        while (request := requests.get()) is not None:
            this_epoch, batch, base_seed, numbers = request
            result: Any
            try:
                if this_epoch != epoch:
                    epoch = this_epoch
                    seed_everything(base_seed + number)
                    fetcher.start_epoch()
                if not fetcher.iterable:
                    seed_everything(base_seed + batch)
                result = failure or fetcher.fetch(numbers)
            except StopIteration:
                result = Ended()
            except Exception as error:
                result = Failure.caught(error, number)
            try:
                message = pickle.dumps((this_epoch, batch, result), protocol=pickle.HIGHEST_PROTOCOL)
            except Exception as error:
                message = pickle.dumps((this_epoch, batch, Failure.caught(error, number)))
            connection.send_bytes(message)


class WorkerPool:
    """The processes, and what was asked of them."""

    def __init__(
        self, count: int, fetcher: Fetcher, seed: int, init: Callable[[int], Any] | None, context: Any = None
    ) -> None:
        import multiprocessing  # late: it takes longer to import than the rest of the package

        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self.connections: list[Connection] = []
        self.processes: list[Any] = []
        self.epoch = 0
        try:
            for number in range(count):
                ours, theirs = context.Pipe()
                others = [*self.connections, ours] if context.get_start_method() == "fork" else []
                process = context.Process(
                    target=_work,
                    args=(number, count, theirs, others, fetcher, seed, init, os.getpid()),
                    name=f"lucid-data-{number}",
                    daemon=True,
                )
                self.connections.append(ours)
                process.start()
                self.processes.append(process)
                theirs.close()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.connections)

    def send(self, worker: int, batch: int, seed: int, numbers: Any) -> None:
        """Asks a worker for a batch."""
        try:
            self.connections[worker].send((self.epoch, batch, seed, numbers))
        except OSError:
            self._report_death(worker)

    def receive(self, timeout: float) -> Iterator[tuple[int, int, Any]]:
        """Batches that have arrived, (worker, number, batch), after waiting for at least one; none after a timeout."""
        from multiprocessing.connection import wait

        ready = wait(self.connections, timeout or None)
        for connection in ready:
            worker = self.connections.index(connection)  # type: ignore[arg-type]
            try:
                epoch, batch, result = pickle.loads(connection.recv_bytes())  # type: ignore[union-attr]
            except (EOFError, OSError):
                self._report_death(worker)
            if epoch == self.epoch:
                yield worker, batch, result

    def _report_death(self, worker: int) -> None:
        process = self.processes[worker]
        process.join(1)
        code, pid = process.exitcode, process.pid
        self.close()
        how = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
        raise RuntimeError(f"worker {worker} of the DataLoader (pid {pid}) {how}")

    def close(self) -> None:
        """Ends the processes; more than once does no harm."""
        connections, self.connections = self.connections, []
        processes, self.processes = self.processes, []
        for connection in connections:
            connection.close()
        for process in processes:
            process.join(0.5)
        for process in processes:
            if process.is_alive():
                process.terminate()
                process.join(0.5)
            if process.is_alive():
                process.kill()
                process.join()
