"""Compiled matches eager: the plan cache, memory and threads. Numbers refer to docs/failures.md."""

import gc
import threading
import time
import weakref

import lucid
import lucid.nn as nn
import pytest
from same import bits, check_scenario
from worlds import IMAGES, Net, run_in_threads

# Bounds.


def test_45_wrong_targets():
    with pytest.raises(TypeError, match=r"lucid.compile\(\) expects an nn.Module or a callable, got <class 'int'>"):
        lucid.compile(3)
    with pytest.raises(ValueError, match="max_cache_entries"):
        lucid.compile(lambda x: x, max_cache_entries=0)


def test_45_the_oldest_plans_are_evicted_first():
    @lucid.compile(max_cache_entries=2, dynamic=False)
    def f(x):
        return x + 1

    for size in (1, 2, 3, 3, 2, 1):
        f(lucid.ones(size))
    info = f.cache_info()
    assert (info.entries, info.hits, info.compiles, info.fallbacks) == (2, 2, 4, 0)
    f.invalidate_cache()
    assert f.cache_info().entries == 0
    f(lucid.ones(3))
    assert f.cache_info().compiles == 5


@pytest.mark.parametrize("entries", [1, 2, 3, 8])
def test_45_evicted_plans_are_compiled_again(entries):
    def scenario(wrap):
        f = wrap(lambda x: x.exp().sum(), max_cache_entries=entries, dynamic=False)
        return [f(lucid.full((size,), float(number))) for number in range(3) for size in (1, 1, 2, 2, 3, 3)]

    compiled = check_scenario(scenario, min_hits=9)[0]
    assert len(lucid.compiler.plan_cache(compiled)) == min(entries, 3)


def test_45_invalidated_between_calls():
    """Plans are invalidated after each result and compiled again."""

    def scenario(wrap):
        f = wrap(lambda x: (x * 2, x + 1))
        seen = []
        for _ in range(4):
            seen.append(f(lucid.ones(3)))
            if hasattr(f, "invalidate_cache"):
                f.invalidate_cache()
            seen.append(f(lucid.ones(3)))
            seen.append(f(lucid.ones(3)))
        return seen

    check_scenario(scenario, min_hits=4)


def test_45_recursive_calls():
    def scenario(wrap):
        def f(x, depth=2):
            return x if depth == 0 else holder[0](x * 2, depth - 1) + 1

        holder = [wrap(f)]
        return [holder[0](lucid.ones(3)) for _ in range(4)]

    check_scenario(scenario, min_hits=3)


def test_45_invalidated_by_another_thread():
    net = Net().eval()
    compiled = net.compile()
    x = lucid.randn(*IMAGES)
    with lucid.no_grad():
        expected = bits(net(x))
    stop = threading.Event()

    def forget():
        while not stop.is_set():
            compiled.invalidate_cache()
            time.sleep(0.001)

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        with lucid.no_grad():
            results = {bits(compiled(x)) for _ in range(300)}
    finally:
        stop.set()
        thread.join()
    assert results == {expected}
    assert compiled.cache_info().fallbacks == 0


# Memory.


def test_46_plans_hold_no_arguments_or_results():
    f = lucid.compile(lambda x: (x * 2).exp())
    x = lucid.ones(3, requires_grad=True)
    for _ in range(3):
        y = f(x)
    seen = [weakref.ref(x), weakref.ref(y)]
    del x, y
    gc.collect()
    assert [reference() for reference in seen] == [None, None]
    assert f.cache_info().hits == 2


@pytest.mark.parametrize("what", ["forward", "backward", "step"])
def test_46_no_memory_leaks(what):
    net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64))
    optimizer = lucid.optim.SGD(net.parameters(), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled = lucid.compile(step) if what == "step" else net.compile()

    def run():
        y = compiled(lucid.ones(128, 64))
        if what == "backward":
            y.sum().backward()
            net.zero_grad()

    for _ in range(4):
        run()
    gc.collect()
    before = lucid.memory_stats()["bytes_in_use"]
    for _ in range(20):
        run()
    gc.collect()
    assert lucid.memory_stats()["bytes_in_use"] == before
    assert compiled.cache_info().hits >= 20


def test_46_many_signatures_do_not_grow_memory():
    """benchmarks/signatures.py does this for 100,000 signatures."""
    f = lucid.compile(lambda x, n: x * float(n))  # depends on the number, so that each has its own plan
    g = lucid.compile(lambda x, n: x * x.sum().item() * n)
    x = lucid.ones(2)

    def run(start):
        for number in range(start, start + 300):
            f(x, number)
            g(x, number)

    run(0)
    gc.collect()
    before, live = len(gc.get_objects()), lucid.memory_stats()["bytes_in_use"]
    run(300)
    gc.collect()
    assert len(gc.get_objects()) < before + 300
    assert lucid.memory_stats()["bytes_in_use"] <= live
    assert f.cache_info().entries == 8
    assert f._compiled.table.known_keys <= 8
    assert g._compiled.table.known_keys <= 64


def test_47_a_dropped_model_is_freed():
    net = Net()
    compiled = net.compile()
    for _ in range(3):
        compiled(lucid.randn(*IMAGES))
    plan = lucid.compiler.plan_cache(compiled)[0]
    seen = [weakref.ref(thing) for thing in (net, net.head.weight, plan, compiled._compiled.table)]
    del net, compiled, plan
    gc.collect()
    assert [reference() for reference in seen] == [None] * 4


def test_47_the_memory_of_a_dropped_model_is_freed():
    gc.collect()
    before = lucid.memory_stats()["bytes_in_use"]
    compiled = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10)).compile()
    for _ in range(3):
        compiled(lucid.randn(16, 128)).sum().backward()
    assert lucid.memory_stats()["bytes_in_use"] > before
    del compiled
    gc.collect()
    assert lucid.memory_stats()["bytes_in_use"] == before


def test_47_no_cycle_keeps_a_function_alive():
    class Big:
        pass

    gc.collect()
    gc.disable()
    try:
        big = Big()
        f = lucid.compile(lambda x, big=big: x * (2 if big else 3))
        for _ in range(3):
            f(lucid.ones(2))
        seen = weakref.ref(big)
        del f, big
        gc.collect()
        assert seen() is None
    finally:
        gc.enable()


# Threads.


def test_48_many_threads():
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)).eval()
    compiled = net.compile()
    xs = [lucid.randn(size, 4) for size in (1, 2, 5)]
    with lucid.no_grad():
        expected = [net(x).tolist() for x in xs]

    def work(number):
        with lucid.no_grad():
            for call in range(1000):
                at = (number + call) % 3
                assert compiled(xs[at]).tolist() == expected[at]

    run_in_threads(64, work)
    info = compiled.cache_info()
    assert info.compiles == info.entries <= 3, compiled.explain()
    assert info.fallbacks == 0
    assert info.hits + info.misses == 64_000


def test_48_many_threads_with_gradients():
    net = nn.Linear(4, 3)
    compiled = net.compile()

    def work(number):
        for call in range(100):
            x = lucid.full((2, 4), float(number + call), requires_grad=True)
            (gradient,) = lucid.autograd.grad(compiled(x).square().sum(), [x])
            y = x.detach().requires_grad_()
            (expected,) = lucid.autograd.grad(net(y).square().sum(), [y])
            assert bits(gradient) == bits(expected)

    run_in_threads(8, work)
    assert compiled.cache_info().compiles == 1
    assert compiled.cache_info().fallbacks == 0


def test_48_one_thread_compiles_while_another_trains():
    def train(wrap):
        generator = lucid.Generator().manual_seed(1)
        net = nn.Linear(4, 3)
        with lucid.no_grad():
            net.weight.copy_(lucid.randn(3, 4, generator=generator))
            net.bias.zero_()
        optimizer = lucid.optim.Adam(net.parameters(), lr=0.01)

        def step(x):
            optimizer.zero_grad()
            net(x).square().sum().backward()
            optimizer.step()

        f = wrap(step)
        for _ in range(60):
            f(lucid.randn(5, 4, generator=generator))
        return bits(net.weight)

    expected = train(lambda function: function)
    found = {}

    def work(number):
        if number == 0:
            found[0] = train(lucid.compile)
        else:
            for size in range(1, 30):
                f = lucid.compile(lambda x: x.exp() + 1)
                x = lucid.ones(size)
                assert bits(f(x)) == bits(f(x)) == bits(x.exp() + 1)

    run_in_threads(3, work)
    assert found[0] == expected


def test_48_models_recorded_in_several_threads():
    nets = [Net().eval() for _ in range(4)]
    x = lucid.randn(*IMAGES)
    expected = [bits(net(x)) for net in nets]
    found = {}

    def work(number):
        compiled = nets[number].compile()
        found[number] = [bits(compiled(x)) for _ in range(20)]
        assert compiled.cache_info()[:4] == (19, 1, 1, 0)

    run_in_threads(4, work)
    assert all(set(found[number]) == {expected[number]} for number in range(4))
