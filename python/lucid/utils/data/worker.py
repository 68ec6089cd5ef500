"""Worker processes of the data loader.

A worker receives lists of sample indices and sends back batches, over its own pipe. The contents of a batch do not
depend on the worker that fetches it: before each batch, the random generators are seeded from the epoch's seed and the
index of the batch.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import random
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ... import _core, _random
from ..._imported import imported
from . import fetcher as fetching
from .fetcher import Failure, Fetcher, WorkerInfo

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_POLL_SECONDS = 2.0
_SEEDS = 2**63


def caught(error: Exception, worker: int) -> Failure:
    """Converts an exception that is being handled to a Failure that can be sent."""
    text = f"in worker {worker} of the DataLoader:\n{traceback.format_exc()}"
    try:
        pickle.loads(pickle.dumps(error))
        # A StopIteration raised in the main process would look like the end of the data.
        sendable = not isinstance(error, StopIteration)
    except Exception:
        sendable = False
    if not sendable:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return Failure(error, text)


def seed_everything(seed: int) -> None:
    """Seeds all random generators that a dataset may use."""
    seed %= _SEEDS
    _random.manual_seed(seed)
    random.seed(seed)
    if (numpy := imported("numpy")) is not None:
        numpy.random.seed(seed % 2**32)


def _receive(connection: Connection, requests: queue.SimpleQueue[Any], parent: int) -> None:
    """Reads requests from the pipe immediately, so that the two sides cannot deadlock while both are sending."""
    with contextlib.suppress(EOFError, OSError):
        while os.getppid() == parent:
            if connection.poll(_POLL_SECONDS):
                requests.put(connection.recv())
    requests.put(None)


def _work(
    worker: int,
    count: int,
    connection: Connection,
    others: list[Connection],
    fetcher: Fetcher,
    seed: int,
    init: Callable[[int], Any] | None,
    parent: int,
) -> None:
    """The main function of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles it
    for other in others:
        other.close()
    _core.set_num_threads(1)
    _core.set_default_device("cpu")  # a forked process cannot use the gpus of its parent
    fetching.info = WorkerInfo(worker, count, seed + worker, fetcher.dataset)
    failure = None
    try:
        seed_everything(seed + worker)
        if init is not None:
            init(worker)
    except Exception as error:
        failure = caught(error, worker)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, requests, parent), daemon=True).start()
    epoch = None
    with contextlib.suppress(BrokenPipeError, ConnectionError, EOFError):
        while (request := requests.get()) is not None:
            this_epoch, batch, base_seed, indices = request
            result: Any
            try:
                if this_epoch != epoch:
                    epoch = this_epoch
                    seed_everything(base_seed + worker)
                    fetcher.start_epoch()
                if not fetcher.iterable:
                    seed_everything(base_seed + batch)
                result = failure or fetcher.fetch(indices)
            except Exception as error:
                result = caught(error, worker)
            try:
                message = pickle.dumps((this_epoch, batch, result), protocol=pickle.HIGHEST_PROTOCOL)
            except Exception as error:
                message = pickle.dumps((this_epoch, batch, caught(error, worker)))
            connection.send_bytes(message)


class WorkerPool:
    """The worker processes and their connections."""

    def __init__(
        self, count: int, fetcher: Fetcher, seed: int, init: Callable[[int], Any] | None, context: Any = None
    ) -> None:
        import multiprocessing

        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self.connections: list[Connection] = []
        self.processes: list[Any] = []
        self.epoch = 0
        try:
            for worker in range(count):
                ours, theirs = context.Pipe()
                others = [*self.connections, ours] if context.get_start_method() == "fork" else []
                process = context.Process(
                    target=_work,
                    args=(worker, count, theirs, others, fetcher, seed, init, os.getpid()),
                    name=f"lucid-data-{worker}",
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

    def send(self, worker: int, batch: int, seed: int, indices: Any) -> None:
        """Requests a batch from a worker."""
        try:
            self.connections[worker].send((self.epoch, batch, seed, indices))
        except OSError:
            self._report_death(worker)

    def receive(self, timeout: float) -> Iterator[tuple[int, int, Any]]:
        """Waits for a result, then yields all that have arrived as (worker, batch index, batch).

        Yields nothing after a timeout.
        """
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
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"exited with code {code}"
        raise RuntimeError(f"worker {worker} of the DataLoader (pid {pid}) {how}")

    def close(self) -> None:
        """Terminates the processes. Further calls have no effect."""
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
