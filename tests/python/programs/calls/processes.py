"""Processes, threads, interrupts, and compiled functions that call each other."""

import gc
import itertools
import multiprocessing as mp
import os
import signal
import sys
import threading
import time

import lucid
from interrupts import interrupts_reach_the_program
from lucid import nn

from .._harness import Programs, x0
from ..calls.copies import decorated, plain_top


class Processes(Programs):
    def fork_child(run):
        f = run.compile(lambda x: (x * 2).sum())
        run.repeat(f, x0())
        q = mp.get_context("fork").SimpleQueue()
        p = mp.get_context("fork").Process(
            target=lambda: q.put(
                [float(f(x0()).item()) for _ in range(3)] + [float(f(lucid.ones(5)).item()) for _ in range(3)]
            )
        )
        p.start()
        p.join(30)
        run.see(q.get() if not q.empty() else None, p.exitcode)

    def fork_rng(run):
        f = run.compile(lambda x: x + lucid.rand(3))
        run.repeat(f, x0())
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(w, f(x0()).numpy().tobytes())
            os._exit(0)
        os.waitpid(pid, 0)
        run.see(os.read(r, 100))
        run.call(f, x0())

    def pool_map(run):
        g = decorated if run.compiled else plain_top
        try:
            with mp.get_context("fork").Pool(1) as p:
                run.see([t for t in p.map(g, [x0(), x0()])])
        except Exception as e:
            run.see(type(e).__name__, str(e)[:80])

    def interrupt(run):
        f = run.compile(lambda x: (x @ x).sum())
        x = lucid.randn(300, 300)
        f(x)
        f(x)

        def h(*a):
            raise KeyboardInterrupt

        o = signal.signal(signal.SIGALRM, h)
        got = 0
        with interrupts_reach_the_program():
            for i in range(5):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.002 + 0.001 * i)
                    while True:
                        f(x)
                except KeyboardInterrupt:
                    got += 1
        signal.signal(signal.SIGALRM, o)
        run.see(got)
        run.call(f, x)

    def interrupt_recording(run):
        def h(*a):
            raise KeyboardInterrupt

        o = signal.signal(signal.SIGALRM, h)
        got = 0
        m = nn.Sequential(*[nn.Linear(8, 8) for _ in range(30)])
        f = run.compile(lambda x, k: m(x) * k)
        with interrupts_reach_the_program():
            for i in range(25):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0007 * i)
                    for k in itertools.count():
                        f(lucid.ones(1, 8), i * 1000 + k % 5)
                except KeyboardInterrupt:
                    got += 1
        signal.signal(signal.SIGALRM, o)
        run.see(got)
        run.call(f, lucid.ones(1, 8), 3)
        run.call(f, lucid.ones(1, 8), 3)
        run.see(sys.getprofile() is None, gc.isenabled())

    def gc_enabled_after_interrupt(run):
        run.see(gc.isenabled())

    def shapes300(run):
        f = run.compile(lambda x: (x * 2).sum())
        for n in range(1, 301):
            run.call(f, lucid.ones(n))
        for n in range(295, 301):
            run.call(f, lucid.ones(n))

    def threads8_mutation(run):
        k = [1.0]
        f = run.compile(lambda x: x * k[0])
        bad = []
        stop = []

        def w():
            for _ in range(300):
                r = f(x0())
                v = float(r[0].item())
                if v < 1 or v != int(v):
                    bad.append(v)

        def mut():
            for i in range(200):
                k[0] = float(i % 5 + 1)
                time.sleep(0.0003)

        ts = [threading.Thread(target=w) for _ in range(8)] + [threading.Thread(target=mut)]
        for t in ts:
            t.start()
        for t in ts:
            t.join(60)
        run.see(len(bad), [t.is_alive() for t in ts])
        k[0] = 7.0
        run.call(f, x0())

    def threads8_per_thread_value(run):
        """each thread sets a global under a lock, calls, and checks"""
        k = [1.0]
        L = threading.Lock()
        f = run.compile(lambda x: x * k[0])
        bad = []

        def w(me):
            for _ in range(60):
                with L:
                    k[0] = float(me)
                    r = f(x0())
                    if float(r[0].item()) != me:
                        bad.append((me, float(r[0].item())))

        ts = [threading.Thread(target=w, args=(i + 1,)) for i in range(8)]
        for t in ts:
            t.start()
        for t in ts:
            t.join(60)
        run.see(len(bad))

    def threads8_train(run):
        ms = [nn.Linear(3, 3) for _ in range(8)]
        for m in ms:
            m.load_state_dict(ms[0].state_dict())
        fs = [run.compile(m) for m in ms]
        out = [None] * 8

        def w(i):
            o = lucid.optim.SGD(ms[i].parameters(), lr=0.01)
            for _ in range(20):
                o.zero_grad()
                fs[i](x0()).sum().backward()
                o.step()
            out[i] = ms[i].weight.detach()

        ts = [threading.Thread(target=w, args=(i,)) for i in range(8)]
        for t in ts:
            t.start()
        for t in ts:
            t.join(60)
        run.see(*out)

    def threads_invalidate(run):
        f = run.compile(lambda x: x * 2)
        stop = [0]
        bad = []

        def w():
            for n in range(200):
                r = f(lucid.ones(n % 12 + 1))
                if float(r.sum().item()) != 2 * (n % 12 + 1):
                    bad.append(n)

        def inv():
            while not stop[0]:
                if run.compiled:
                    f.invalidate_cache()
                    f.explain()
                time.sleep(0.001)

        ts = [threading.Thread(target=w) for _ in range(6)]
        iv = threading.Thread(target=inv)
        iv.start()
        for t in ts:
            t.start()
        for t in ts:
            t.join(60)
        stop[0] = 1
        iv.join(10)
        run.see(len(bad), iv.is_alive())

    def thread_gradmode(run):
        f = run.compile(lambda x: x * 2)
        a = x0().requires_grad_()
        r = []
        with lucid.no_grad():
            run.call(f, a)
            t = threading.Thread(target=lambda: r.append(f(a)))
            t.start()
            t.join()
            run.see(r)

    def compile_in_del(run):
        out = []
        f = run.compile(lambda x: x * 2)

        class A:
            def __del__(self):
                out.append(f(x0()))

        for _ in range(3):
            A()
        run.see(out)

    def compile_during_gc_cb(run):
        f = run.compile(lambda x: x * 2)
        out = []

        def cb(ph, i):
            if ph == "start":
                out.append(f(x0()))

        gc.callbacks.append(cb)
        gc.collect()
        gc.collect()
        gc.callbacks.remove(cb)
        run.see(out[:2])
        run.call(f, x0())

    def reentrant_other_thread_waits(run):
        """f's body waits for a thread that calls f"""
        st = {"first": True}

        def g(x):
            if st["first"]:
                st["first"] = False
                r = []
                t = threading.Thread(target=lambda: r.append(f(x)))
                t.start()
                t.join(10)
                assert r
            return x * 2

        f = run.compile(g)
        run.repeat(f, x0(), n=4)

    def guard_eq_calls_back(run):
        """a key of the same hash whose __eq__ invalidates while guards look"""

        class H:
            pass

        h = H()
        h.k = 2

        class Evil:
            def __hash__(self):
                return hash("k")

            def __eq__(self, o):
                if run.compiled:
                    f.invalidate_cache()
                return False

        f = run.compile(lambda x: x * h.k)
        run.repeat(f, x0())
        h.__dict__[Evil()] = 1
        run.repeat(f, x0())

    def trace_settrace(run):
        n = [0]

        def tr(fr, ev, arg):
            n[0] += 1
            return None

        f = run.compile(lambda x: x * 2)
        sys.settrace(tr)
        try:
            run.repeat(f, x0())
        finally:
            sys.settrace(None)

    def profile_inside(run):
        def g(x):
            sys.setprofile(None)
            return x * 2

        run.repeat(run.compile(g), x0())

    def result_outlives(run):
        def mk():
            f = run.compile(lambda x: (x * 2).exp())
            x = x0().requires_grad_()
            f(x)
            return x, f(x)

        x, y = mk()
        gc.collect()
        run.functions.clear()
        y.sum().backward()
        run.see(x.grad)

    def nested_compile_direct(run):
        g = run.compile(lambda x: x * 2)
        run.repeat(run.compile(lambda x: g(x) + g(x * 3)), x0())
        run.repeat(g, x0())

    def nested_compile_state(run):
        k = [2]
        g = run.compile(lambda x: x * k[0])
        f = run.compile(lambda x: g(x) + 1)
        run.repeat(f, x0())
        k[0] = 3
        run.repeat(f, x0())
        run.repeat(g, x0())

    def nested_compile_called_first_inside(run):
        def g(x):
            h = run.compile(lambda t: t * 2) if False else lucid.compile(lambda t: t * 2)
            return h(x)

        run.repeat(run.compile(g), x0())

    def nested_cache_info(run):
        g = lucid.compile(lambda x: x * 2)
        g(x0())
        run.repeat(run.compile(lambda x: g(x) * (1 + g.cache_info().max_entries)), x0())

    def invalidate_inside(run):
        g = lucid.compile(lambda x: x * 2)

        def h(x):
            g.invalidate_cache()
            return g(x)

        run.repeat(run.compile(h), x0())
