"""backward() by plans around functions of the user's own, in threads, and what it frees."""

import gc
import os
import subprocess
import sys
import threading

import lucid
import pytest
from lucid import nn
from lucid.backend.jit import Tracer
from lucid.compiler import counters
from planned import check_planned, gated, gradients, leaves
from same import bits


class Doubled(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 2 + x * 0


def test_plans_for_what_stands_before_and_after_a_function_of_the_users_own():
    def story(wrap):
        def f(x, w):
            return (Doubled.apply((x @ w).tanh()) * x.sigmoid()).exp() * x

        f = wrap(f)
        seen = []
        for _ in range(4):
            x, w = leaves((4, 4), (4, 4))
            f(x, w).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(story, runs=4)


OTHER = lucid.arange(8.0)


@pytest.mark.parametrize(("function", "is_asked"), [(lambda x: x + 1, False), (lambda x: x * OTHER, True)])
def test_a_function_without_ops_that_count_stays_with_its_nodes(function, is_asked):
    def story(wrap):
        f = wrap(function)
        seen = []
        for _ in range(4):
            (x,) = leaves((8,))
            f(x).sum().backward()
            seen.append(gradients([x]))
        return seen

    (compiled,) = check_planned(story, runs=0)
    assert ("there is nothing to fuse" in compiled.explain()) == is_asked


def test_without_gradients_nothing_is_recorded():
    def story(wrap):
        f = wrap(gated)
        seen = []
        for number in range(6):
            x, w = leaves((4, 4), (4, 4))
            with lucid.set_grad_enabled(number % 2 == 0):
                y = f(x, w)
            if y.requires_grad:
                y.sum().backward()
            seen.append([y.requires_grad, gradients([x, w])])
        return seen

    check_planned(story, runs=1, least_hits=4)


def test_threads_go_backward_at_once():
    module = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16), nn.Sigmoid())
    batches = [lucid.randn(8, 16) for _ in range(4)]

    def gradient_of(call, x):
        return [bits(g) for g in lucid.autograd.grad((call(x) * x).sum(), list(module.parameters()))]

    expected = [gradient_of(module, x) for x in batches]
    compiled = lucid.compile(module)
    before = counters()
    wrong = []

    def work(number):
        for turn in range(50):
            which = (number + turn) % len(batches)
            if gradient_of(compiled, batches[which]) != expected[which]:
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    between = counters()
    assert between.backward_plans - before.backward_plans == 1, compiled.explain()
    work(0)
    assert not wrong
    assert counters().backward_runs - between.backward_runs == 50, compiled.explain()


def bytes_in_use():
    gc.collect()
    return lucid._core.memory_stats()["bytes_in_use"]


def test_what_was_saved_is_freed_as_ever():
    def f(x, w):
        for _ in range(8):
            x = lucid.tanh(x @ w) * x.sigmoid()
        return x

    def memory(call):
        x, w = leaves((64, 64), (64, 64))
        for _ in range(3):
            call(x, w).sum().backward()
        x.grad = w.grad = None
        start = bytes_in_use()
        total = call(x, w).sum()
        saved = bytes_in_use() - start
        total.backward()
        left = bytes_in_use() - start
        return saved, left

    saved, left = memory(lucid.compile(f))
    assert saved >= 8 * 64 * 64 * 4
    # The gradients of x and w, and the sum.
    assert left == memory(f)[1]


def test_a_large_graph_is_freed_while_it_runs():
    def f(x, w):
        for _ in range(40):
            x = lucid.tanh(x @ w) * x.sigmoid()
        return x

    def peak(call):
        x, w = leaves((64, 64), (64, 64))
        for _ in range(3):
            call(x, w).sum().backward()
        x.grad = w.grad = None
        start = bytes_in_use()
        total = call(x, w).sum()
        lucid._core.reset_peak_memory()
        total.backward()
        return lucid._core.memory_stats()["peak_bytes"] - start

    compiled = lucid.compile(f)
    # Kernels that multiply matrices have some scratch memory, which need not be in use at the peak of both.
    assert peak(compiled) <= 1.02 * peak(f) + (256 << 10), compiled.explain()
    assert compiled.explain().count("backward: 32 nodes as") >= 8, compiled.explain()


def test_a_large_graph_in_parts():
    def story(wrap):
        def f(x, w):
            for _ in range(20):
                x = lucid.tanh(x @ w) * x.sigmoid() + x
            return x

        f = wrap(f)
        seen = []
        for _ in range(4):
            x, w = leaves((6, 6), (6, 6))
            (f(x, w) * w).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(story, runs=2 * 5)


def test_a_dropped_program_frees_its_plans():
    def measure():
        module = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32))
        compiled = lucid.compile(module)
        for _ in range(4):
            compiled(lucid.randn(16, 32)).sum().backward()

    measure()
    before, nodes = bytes_in_use(), lucid._core.live_nodes()
    for _ in range(3):
        measure()
    assert bytes_in_use() == before
    assert lucid._core.live_nodes() == nodes


def test_passes_that_go_on_after_a_program_is_gone():
    x, w = leaves((4, 4), (4, 4))
    expected = lucid.autograd.grad(gated(x, w).sum(), [x, w])
    compiled = lucid.compile(gated)
    for _ in range(3):
        lucid.autograd.grad(compiled(x, w).sum(), [x, w])
    total = compiled(x, w).sum()
    compiled.invalidate_cache()
    del compiled
    gc.collect()
    assert bits(lucid.autograd.grad(total, [x, w])) == bits(expected)


def test_a_recording_sees_what_the_nodes_do():
    f = lucid.compile(gated)
    x, w = leaves((4, 4), (4, 4))
    for _ in range(3):
        f(x, w).sum().backward()
    total = f(x, w).sum()
    before = counters()
    with Tracer():
        total.backward()
    assert counters() == before
    total = f(x, w).sum()
    total.backward()
    assert counters().backward_runs == before.backward_runs + 1


def test_the_log_tells_of_backward_plans():
    script = """
import lucid
f = lucid.compile(lambda x: lucid.tanh(x * 2).exp() * x)
for _ in range(3):
    f(lucid.ones(4, requires_grad=True)).sum().backward()
print(f.explain())
"""
    environment = {**os.environ, "LUCID_LOG": "jit"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "_backward: compiled " in done.stderr
    assert "backward: " in done.stdout, done.stdout
    assert "1 runs" in done.stdout, done.stdout
