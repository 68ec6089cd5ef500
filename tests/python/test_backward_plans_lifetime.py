"""Backward plans: custom functions, threads, and the memory that they free."""

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


def test_plans_before_and_after_a_custom_function():
    def scenario(wrap):
        def f(x, w):
            return (Doubled.apply((x @ w).tanh()) * x.sigmoid()).exp() * x

        f = wrap(f)
        seen = []
        for _ in range(4):
            x, w = leaves((4, 4), (4, 4))
            f(x, w).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(scenario, runs=4)


OTHER = lucid.arange(8.0)


@pytest.mark.parametrize(("function", "is_asked"), [(lambda x: x + 1, False), (lambda x: x * OTHER, True)])
def test_a_function_with_nothing_to_fuse_runs_node_by_node(function, is_asked):
    def scenario(wrap):
        f = wrap(function)
        seen = []
        for _ in range(4):
            (x,) = leaves((8,))
            f(x).sum().backward()
            seen.append(gradients([x]))
        return seen

    (compiled,) = check_planned(scenario, runs=0)
    assert ("there is nothing to fuse" in compiled.explain()) == is_asked


def test_calls_without_grad_record_no_backward():
    def scenario(wrap):
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

    check_planned(scenario, runs=1, min_hits=4)


def test_concurrent_backward_passes():
    module = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 16), nn.Sigmoid())
    batches = [lucid.randn(8, 16) for _ in range(4)]

    def gradient_of(call, x):
        return [bits(g) for g in lucid.autograd.grad((call(x) * x).sum(), list(module.parameters()))]

    expected = [gradient_of(module, x) for x in batches]
    compiled = lucid.compile(module)
    before = counters()
    wrong = []

    def work(number):
        for step in range(50):
            which = (number + step) % len(batches)
            if gradient_of(compiled, batches[which]) != expected[which]:
                wrong.append((number, step))

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


def test_saved_tensors_are_freed_as_in_eager_mode():
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


def test_a_large_graph_is_freed_during_backward():
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
    # Matrix product kernels have some scratch memory, which may be in use at the peak of only one of them.
    assert peak(compiled) <= 1.02 * peak(f) + (256 << 10), compiled.explain()
    assert compiled.explain().count("backward: 32 nodes as") >= 8, compiled.explain()


def test_a_large_graph_runs_several_plans():
    def scenario(wrap):
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

    check_planned(scenario, runs=2 * 5)


def test_a_destroyed_program_frees_its_plans():
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


def test_backward_after_its_program_was_destroyed():
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


def test_a_tracer_sees_backward_node_by_node():
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


def test_the_log_reports_backward_plans():
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
