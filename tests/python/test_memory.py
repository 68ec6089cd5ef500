"""Long runs leak nothing: live tensors, gradient nodes and the memory of the process stay flat."""

import gc
import resource

import lucid
import pytest

OPS = 1_000_000
BACKWARD_PASSES = 10_000
# Allocators retain some pages. A leak of one small object per op would be larger.
SLACK_KILOBYTES = 2048


def resident_kilobytes():
    with open("/proc/self/statm") as statm:
        pages = int(statm.read().split()[1])
    return pages * resource.getpagesize() // 1024


def small_ops(count):
    x = lucid.ones(4, 4)
    for _ in range(count // 10):
        y = (x * 2.0 + x).T[1:]
        y = y.reshape(-1).sum()
        y = y.exp() - 1
        x[0] = 0.5
        x.detach().add_(0.25)
        x.clamp_(0, 1)


def backward_passes(count):
    weight = lucid.ones(4, 4, requires_grad=True)
    bias = lucid.zeros(4, requires_grad=True)
    x = lucid.ones(2, 4)
    for _ in range(count):
        y = lucid.tanh(x @ weight + bias)
        y[0].mul_(0.5)
        y.register_hook(lambda gradient: gradient * 1.0)
        y.sum().backward()
        with lucid.no_grad():
            weight -= 0.01 * weight.grad
        weight.grad = bias.grad = None


def second_gradients(count):
    x = lucid.ones(4, requires_grad=True)
    for _ in range(count // 4):
        (first,) = lucid.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
        first.sum().backward()
        x.grad = None


def failing_calls(count):
    x = lucid.ones(2, 3, requires_grad=True)
    for _ in range(count):
        with pytest.raises(ValueError, match="matmul"):
            lucid.matmul(x * 2.0, x)


@pytest.mark.parametrize(
    ("work", "count"),
    [
        (small_ops, OPS),
        (backward_passes, BACKWARD_PASSES),
        (second_gradients, BACKWARD_PASSES),
        (failing_calls, BACKWARD_PASSES),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_nothing_leaks(work, count):
    # Plan caches and memory pools fill up first.
    work(count // 5)
    gc.collect()
    nodes = lucid._core.live_nodes()
    in_use = lucid.memory_stats()["bytes_in_use"]
    resident = resident_kilobytes()
    work(count)
    gc.collect()
    assert lucid._core.live_nodes() == nodes
    assert lucid.memory_stats()["bytes_in_use"] == in_use
    assert resident_kilobytes() - resident < SLACK_KILOBYTES


def test_graphs_are_freed_with_their_results():
    nodes = lucid._core.live_nodes()
    x = lucid.ones(3, requires_grad=True)
    y = x
    for _ in range(1000):
        y = y * 1.5
    assert lucid._core.live_nodes() >= nodes + 1000
    del y
    assert lucid._core.live_nodes() <= nodes + 1


def test_a_long_chain_is_freed_without_deep_recursion():
    x = lucid.ones(1, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y + 1.0
    del y
    gc.collect()


@pytest.mark.parametrize("small", [0, 100])
def test_peak_memory_can_be_reset(small):
    lucid.ones(1 << 20)
    kept = [lucid.ones(7) for _ in range(small)]
    lucid.reset_peak_memory()
    before = lucid.memory_stats()
    assert before["peak_bytes"] == before["bytes_in_use"]
    x = lucid.ones(1 << 18)
    del x
    after = lucid.memory_stats()
    assert after["bytes_in_use"] == before["bytes_in_use"]
    assert (1 << 20) <= after["peak_bytes"] - before["peak_bytes"] < (1 << 20) + (1 << 18)
    assert len(kept) == small
