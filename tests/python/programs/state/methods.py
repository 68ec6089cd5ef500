"""Bound methods of containers and iterators, and locks."""

import collections
import decimal
import itertools
import threading

import lucid
import numpy as np

from .._harness import Programs, patched, x0


class BoundMethods(Programs):
    def method_wrapper_len(run):
        items = [1]
        size = items.__len__
        run.repeat(run.compile(lambda x: x * size()), x0, n=6, at={4: lambda: items.append(2)})

    def method_wrapper_next(run):
        nxt = itertools.count().__next__
        run.repeat(run.compile(lambda x: x * nxt()), x0, n=6)

    def method_wrapper_list_iter_next(run):
        nxt = iter([1, 2, 3, 4, 5, 6, 7]).__next__
        run.repeat(run.compile(lambda x: x + nxt()), x0, n=6)

    def method_wrapper_np_getitem(run):
        a = np.array([2.0, 3.0])
        get = a.__getitem__
        run.repeat(run.compile(lambda x: x * float(get(0))), x0, n=4, at={3: lambda: a.__setitem__(0, 7)})

    def method_wrapper_dict_eq(run):
        d = {"a": 1}
        eq = d.__eq__
        f = run.compile(lambda x: x * (2 if eq({"a": 1}) else 3))
        run.repeat(f, x0, n=4, at={3: lambda: d.__setitem__("a", 5)})

    def method_wrapper_deque(run):
        d = collections.deque([1, 2])
        ln = d.__len__
        run.repeat(run.compile(lambda x: x * ln()), x0, n=4, at={3: lambda: d.append(3)})

    def decimal_context(run):
        a = decimal.Decimal(1)
        b = decimal.Decimal(3)
        f = run.compile(lambda x: x * float(a / b))
        run.repeat(f, x0)
        with patched(decimal.getcontext(), "prec", 3):
            run.call(f, x0())

    def lock_locked(run):
        lock = threading.Lock()
        f = run.compile(lambda x: x * (2 if lock.locked() else 3))
        run.repeat(f, x0)
        with lock:
            run.call(f, x0())

    def lock_tryacquire(run):
        lock = threading.Lock()

        def g(x):
            if lock.acquire(blocking=False):
                try:
                    return x * 2
                finally:
                    lock.release()
            return x * 3

        f = run.compile(g)
        run.repeat(f, x0)
        with lock:
            run.call(f, x0())

    def lock_acquire_leaks(run):
        lock = threading.Lock()

        def g(x):
            lock.acquire(blocking=False)
            return x * 2

        f = run.compile(g)
        for _ in range(4):
            run.call(f, x0())
            run.see(lock.locked())
            if lock.locked():
                lock.release()

    def lock_mutual_exclusion(run):
        lock = threading.Lock()
        t = lucid.zeros(3)

        def g(x):
            with lock:
                t.add_(x)
                return t.clone()

        f = run.compile(g)
        run.repeat(f, x0)
        done = threading.Event()
        with lock:
            th = threading.Thread(target=lambda: (f(x0()), done.set()))
            th.start()
            run.see(done.wait(0.3))
        th.join()
