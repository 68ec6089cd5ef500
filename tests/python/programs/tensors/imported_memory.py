"""Tensors on memory that other libraries own, and that other tensors share: overlaps and owners."""

import array
import mmap
import tempfile
from multiprocessing import shared_memory

import lucid
import numpy as np

from .._harness import Programs, vary


def flat(count=8):
    return np.arange(count, dtype=np.float32)


def write_both(a, b):
    b.mul_(2.0)
    a.add_(10.0)
    return b + 0.0


def write_first(a, b):
    a.mul_(2.0)
    return a + b


def repeat(run, function, memory, *tensors, calls=4):
    """Calls a function on the same tensors, and shows the memory after each call."""
    f = run.compile(function)
    for _ in range(calls):
        run.call(f, *tensors)
        run.see(memory)


class ImportedMemory(Programs):
    def imported_whole_then_slice(run):
        memory = flat(4)
        repeat(run, write_both, memory, lucid.from_numpy(memory), lucid.from_numpy(memory[:2]))

    def imported_slice_then_whole(run):
        memory = flat(4)
        part = lucid.from_numpy(memory[1:3])
        repeat(run, write_both, memory, lucid.from_numpy(memory), part)

    def imported_slice_used_first(run):
        memory = flat(4)
        part, whole = lucid.from_numpy(memory[2:]), lucid.from_numpy(memory)
        repeat(run, write_both, memory, part, whole)

    def imported_twice(run):
        memory = flat(4)
        repeat(run, write_both, memory, lucid.from_numpy(memory), lucid.from_numpy(memory))

    def imported_partial_overlap(run):
        memory = flat()
        repeat(run, write_first, memory, lucid.from_numpy(memory[:5]), lucid.from_numpy(memory[3:]))

    def imported_chain_of_overlaps(run):
        def step(a, b, c):
            b.add_(1.0)
            a.mul_(c)
            return a + b + c

        memory = flat()
        parts = [lucid.from_numpy(memory[i : i + 4]) for i in (4, 2, 0)]
        repeat(run, step, memory, *parts)

    def imported_interleaved(run):
        memory = flat()
        repeat(run, write_both, memory, lucid.from_numpy(memory[::2]), lucid.from_numpy(memory[1::2]))

    def imported_columns(run):
        def step(a, b):
            a.add_(b)
            b.copy_(a * 2)
            return a

        memory = flat(12).reshape(3, 4)
        repeat(run, step, memory, lucid.from_numpy(memory[:, 1]), lucid.from_numpy(memory[:, 2]))
        repeat(run, step, memory, lucid.from_numpy(memory[:, :2]), lucid.from_numpy(memory[:, 1:3]))

    def imported_transposed(run):
        def step(a, b):
            a.add_(1.0)
            return b.mul_(a)

        memory = flat(9).reshape(3, 3)
        repeat(run, step, memory, lucid.from_numpy(memory), lucid.from_numpy(memory.T))

    def imported_overlap_that_comes_and_goes(run):
        f = run.compile(write_both)
        memory, other = flat(), flat()
        for i in (0, 0, 4, 4, 2, 0, 2, 4, 0):
            a, b = lucid.from_numpy(memory[:4]), lucid.from_numpy(memory[i : i + 4])
            run.call(f, a, b)
            run.call(f, a, lucid.from_numpy(other[i : i + 4]))
            run.see(memory, other)

    def imported_other_distance(run):
        f = run.compile(write_both)
        memory = flat(16)
        for i in (1, 1, 2, 2, 1, 3, 3, 3):
            run.call(f, lucid.from_numpy(memory[i : i + 4]), lucid.from_numpy(memory[2:6]))
            run.see(memory)

    def imported_other_size(run):
        def step(a, b):
            a[0].add_(1.0)
            return b[0] * 2

        f = run.compile(step)
        memory = flat(16)
        for size in (4, 4, 4, 8, 8, 4, 8):
            backing = memory[:size]
            a = lucid.from_numpy(backing)[:2]
            run.call(f, a, lucid.from_numpy(memory[:2]))
            run.call(f, a, lucid.from_numpy(memory[6:8]))
            run.see(memory)

    def imported_argument_and_state(run):
        memory = flat()
        state = lucid.from_numpy(memory[2:6])

        def step(x):
            state.add_(1.0)
            y = x * 2
            x.sub_(state.sum())
            return y

        f = run.compile(step)
        for i in (0, 0, 0, 4, 4, 2, 2, 0, 6):
            run.call(f, lucid.from_numpy(memory[i : i + 2]))
            run.see(memory)

    def imported_state_and_state(run):
        memory = flat()
        left, right = lucid.from_numpy(memory[:6]), lucid.from_numpy(memory[2:])

        def step(x):
            left.add_(x)
            right.mul_(2.0)
            return left + 0.0, right + 0.0

        run.repeat(run.compile(step), vary(lambda _: lucid.ones(6)), n=4, see=lambda: (memory,))

    def imported_and_changed_by_numpy(run):
        f = run.compile(write_both)
        memory = flat()
        a, b = lucid.from_numpy(memory), lucid.from_numpy(memory[3:5])
        run.repeat(f, a, b, n=5, before=lambda i: memory.__setitem__(3, i), see=lambda: (memory, a, b))

    def imported_through_dlpack(run):
        memory = flat()
        repeat(run, write_both, memory, lucid.from_dlpack(memory), lucid.from_dlpack(memory[2:4]))
        repeat(run, write_both, memory, lucid.from_numpy(memory[3:]), lucid.from_dlpack(memory[5:]))

    def imported_through_buffers(run):
        values = array.array("f", range(8))
        a, b = lucid.from_numpy(memoryview(values)), lucid.from_numpy(memoryview(values)[2:5])
        run.repeat(run.compile(write_both), a, b, n=4, see=lambda: (list(values),))

    def imported_from_a_bytearray(run):
        values = bytearray(flat().tobytes())
        a, b = np.frombuffer(values, np.float32), np.frombuffer(values, np.float32, count=3, offset=8)
        repeat(run, write_both, a, lucid.from_numpy(a), lucid.from_numpy(b))

    def imported_from_a_map(run):
        memory = mmap.mmap(-1, 64)
        a = np.frombuffer(memory, np.float32, count=8)
        b = np.frombuffer(memory, np.float32, count=4, offset=16)
        a[:] = flat()
        repeat(run, write_both, a, lucid.from_numpy(a), lucid.from_numpy(b))

    def imported_from_two_maps(run):
        """The same memory at two addresses."""
        for access in (mmap.ACCESS_WRITE, mmap.ACCESS_COPY):
            with tempfile.TemporaryFile() as file:
                file.write(flat().tobytes())
                file.flush()
                maps = [mmap.mmap(file.fileno(), 32, access=access) for _ in range(2)]
                a, b = (np.frombuffer(memory, np.float32) for memory in maps)
                repeat(run, write_both, b, lucid.from_numpy(a), lucid.from_numpy(b[2:5]))
                repeat(run, lambda a, b: a.copy_(b), b, lucid.from_dlpack(a[1:]), lucid.from_dlpack(b[:-1]))
                run.see(a)

    def imported_from_shared_memory(run):
        block = shared_memory.SharedMemory(create=True, size=64)
        same = shared_memory.SharedMemory(name=block.name)
        a, b = (np.ndarray(8, np.float32, buffer=memory.buf) for memory in (block, same))
        a[:] = flat()
        f = run.compile(write_both)
        for i in (0, 0, 4, 4, 2, 0):
            run.call(f, lucid.from_numpy(a[:4]), lucid.from_numpy(b[i : i + 4]))
            run.call(f, lucid.from_numpy(a[:4]), lucid.from_numpy(a[i : i + 4]))
            run.see(a, b)
        del a, b
        same.close()
        block.close()
        block.unlink()

    def imported_as_other_dtypes(run):
        def step(a, b):
            a.add_(1.0)
            return b + 1

        memory = flat()
        repeat(run, step, memory, lucid.from_numpy(memory), lucid.from_numpy(memory.view(np.int32)))
        repeat(run, step, memory, lucid.from_numpy(memory[:4]), lucid.from_numpy(memory[4:].view(np.int32)))
        repeat(run, step, memory, lucid.from_numpy(memory), lucid.from_numpy(memory[1:2].view(np.uint8)[1:3]))
