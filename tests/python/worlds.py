"""Building blocks of test cases. A world creates a function, the arguments of its calls, and the state to compare."""

import threading

import lucid
import pytest
from lucid import nn


def numbered(table):
    """Parametrizes a test with a table whose names begin with numbers of docs/failures.md."""
    return pytest.mark.parametrize("case", table.values(), ids=table)


def calls(*shapes, count=4, dtype=None, grad=False, before=None):
    """Calls with random tensors of these shapes. `before(number)` runs before each."""

    def make():
        generator = lucid.Generator().manual_seed(11)
        for number in range(count):
            args = [lucid.randn(*shape, generator=generator, dtype=dtype or lucid.f32) for shape in shapes]
            if before is not None:
                before(number)
            yield [argument.requires_grad_() for argument in args] if grad else args

    return make


def pure(function, *shapes, **options):
    """A world without state."""
    return lambda: (function, calls(*shapes, **options), [])


def given(function, *lists):
    """A world with one call for each function in `lists`, which returns the arguments."""
    return lambda: (function, lambda: (make() for make in lists), [])


def parts_of(module):
    """The state of a module."""
    return lambda: [*module.parameters(), *module.buffers()]


def module_world(make_module, *shapes, prepare=lambda module: None, before=None, **options):
    """A world that calls a module. `before(module, number)` runs before each call."""

    def world():
        module = make_module()
        prepare(module)
        between = None if before is None else lambda number: before(module, number)
        return module, calls(*shapes, before=between, **options), parts_of(module)

    return world


class Net(nn.Module):
    """A small network with buffers, dropout and an unused submodule."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(4 * 16, 5)
        self.unused = nn.Linear(3, 3)

    def forward(self, x):
        x = lucid.relu(self.norm(self.conv(x)))
        x = nn.functional.max_pool2d(x, 2).flatten(1)
        return self.head(self.drop(x))


IMAGES = (2, 1, 8, 8)


def run_in_threads(count, work):
    """Runs work(number) in `count` threads at once. Raises the first exception of a thread."""
    errors = []
    gate = threading.Barrier(count)

    def run(number):
        try:
            gate.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def peak_of(function, *args):
    """The peak memory of a call in bytes, in addition to the memory in use before it.

    Every thread that runs kernels has scratch memory, so the call runs with two threads on every machine.
    """
    threads = lucid.get_num_threads()
    lucid.set_num_threads(2)
    try:
        kept = lucid.memory_stats()["bytes_in_use"]
        lucid.reset_peak_memory()
        function(*args)
        return lucid.memory_stats()["peak_bytes"] - kept
    finally:
        lucid.set_num_threads(threads)


def leaf(*shape, dtype=lucid.f32):
    return lucid.randn(*shape, dtype=dtype, requires_grad=True)


def calls_of(function, *make_arguments, times=3, state=()):
    """A world that calls the function with new arguments each time."""

    def world():
        return function, lambda: ([make() for make in make_arguments] for _ in range(times)), state

    return world
