"""Compiled matches eager: plans that are still being compiled. Numbers refer to docs/failures.md."""

import gc
import threading
import weakref

import lucid
import lucid.nn as nn
import pytest
from interpreter import run_python
from same import bits
from worlds import run_in_threads


def pending(f):
    """The number of recordings that no call has finished yet, whether their plans are compiled or not."""
    return f._compiled.table.pending


def test_44_calls_wait_only_for_their_own_plan():
    f = lucid.compile(lambda x: (x * 2).exp(), dynamic=False)
    for size in range(1, 5):
        f(lucid.ones(size))
        assert pending(f) == size
    assert f._compiled.table.hits == 0
    f(lucid.ones(2))
    assert pending(f) == 2
    assert f.cache_info()[:5] == (1, 4, 4, 0, 4)
    assert pending(f) == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda f, x: f.cache_info(),
        lambda f, x: f.explain(),
        lambda f, x: f.graph(x),
        lambda f, x: f.invalidate_cache(),
        lambda f, x: lucid.compiler.plan_cache(f)[0],
        lambda f, x: lucid.compiler.explain(f, x),
        lambda f, x: lucid.compiler.counters(),
        lambda f, x: lucid.compiler.wait(),
        lambda f, x: f(x),
    ],
)
def test_44_queries_about_plans_wait_for_them(ask):
    f = lucid.compile(lambda x: (x * 3).exp())
    x = lucid.ones(3)
    f(x)
    assert pending(f) == 1
    ask(f, x)
    assert pending(f) == 0
    assert f.cache_info().compiles == 1


def test_44_tensors_of_the_call_change_before_its_plan_is_compiled():
    weight = lucid.ones(4).requires_grad_()

    def function(x):
        return x * weight + lucid.tensor([1.0, 2.0, 3.0, 4.0]) + x[1:3].sum()

    f = lucid.compile(function)
    for number in range(4):
        x = lucid.full((4,), float(number))
        result = f(x)
        assert bits(result) == bits(function(x))
        # The memory is overwritten or freed.
        x.fill_(99)
        result.detach().fill_(98)
        del x, result
        with lucid.no_grad():
            weight += 1
        junk = [lucid.full((4,), 97.0) for _ in range(20)]
        del junk
    assert f.cache_info()[:4] == (3, 1, 1, 0)


def test_45_more_keys_than_the_cache_holds():
    f = lucid.compile(lambda x: x + 1, max_cache_entries=2, dynamic=False)
    for size in range(1, 8):
        assert f(lucid.ones(size)).tolist() == [2] * size
        assert pending(f) <= 2
    assert f.cache_info()[:5] == (0, 7, 7, 0, 2)
    f(lucid.ones(7)), f(lucid.ones(6))
    assert f.cache_info().hits == 2


def test_45_recorded_again_before_the_first_plan_is_compiled():
    scale = 2

    def function(x):
        return x * scale

    f = lucid.compile(function)
    x = lucid.ones(3)
    assert f(x).tolist() == [2] * 3
    scale = 5
    # Waits for the plan with this key, which does not match.
    assert f(x).tolist() == [5] * 3
    assert pending(f) == 1
    assert f(x).tolist() == [5] * 3
    scale = 2
    assert f(x).tolist() == [2] * 3
    assert f.cache_info()[:5] == (2, 2, 2, 0, 2)


def test_46_compiling_holds_no_tensor_of_the_call():
    f = lucid.compile(lambda x: (x.exp() @ x.T, x.sum()))
    x = lucid.randn(8, 8)
    y, z = f(x)
    seen = [weakref.ref(tensor) for tensor in (x, y, z)]
    assert pending(f) == 1
    del x, y, z
    assert [reference() for reference in seen] == [None] * 3


def test_47_a_model_is_dropped_while_its_plan_is_compiled():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    compiled = net.compile()
    compiled(lucid.ones(2, 4))
    assert pending(compiled) == 1
    seen = [weakref.ref(thing) for thing in (net, net[0].weight, compiled)]
    del net, compiled
    gc.collect()
    assert [reference() for reference in seen] == [None] * 3
    lucid.compiler.wait()


def test_48_many_threads_wait_for_one_plan():
    f = lucid.compile(lambda x: (x * 2).tanh().sum(), dynamic=False)
    for size in range(1, 9):
        x = lucid.full((size,), 0.5)
        expected = f(x).item()
        found = []
        run_in_threads(6, lambda number, x=x, found=found: found.append(f(x).item()))
        assert found == [expected] * 6
    assert f.cache_info()[:4] == (48, 8, 8, 0)


def test_44_a_function_runs_eagerly_after_a_failed_compile():
    source = """
import lucid
f = lucid.compile(lambda x: x * 2)
print([f(lucid.ones(2)).tolist() for _ in range(3)], f.cache_info()[:5])
print(f.explain())
"""
    # An unknown pass name is detected when the passes run.
    output = run_python(source, LUCID_DISABLE_PASSES="nonsense")
    assert output.startswith("[[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]] (0, 1, 0, 3, 0)\n")
    assert "runs eagerly: cannot be compiled, internal error: LUCID_DISABLE_PASSES names nonsense" in output


def test_44_custom_passes_run_on_the_calling_thread():
    threads = []

    class Where(lucid.compiler.Pass):
        def run(self, graph):
            threads.append(threading.current_thread())
            return False

    f = lucid.compile(lambda x: x * 2, passes=[Where])
    f(lucid.ones(2))
    assert threads == [threading.current_thread()]
    assert pending(f) == 0


@pytest.mark.parametrize("kind", ["object", "tensor"])
def test_47_what_is_replaced_while_a_plan_is_compiled_is_freed_by_the_next_call(kind):
    seen = run_python(
        f"""
import gc, weakref, lucid
gc.disable()
class Held:
    scale = 2.0
make = Held if {kind!r} == "object" else lambda: lucid.full((3,), 2.0)
class Box: pass
box = Box()
box.value = make()
f = lucid.compile(lambda x: x * (box.value.scale if {kind!r} == "object" else box.value))
x = lucid.ones(3)
for number in range(6):
    for _ in range(number % 3):
        f(x)
    old = weakref.ref(box.value)
    box.value = make()
    f(x)
    print(old() is None, end=" ")
""",
        LUCID_COMPILE_WAIT="0",
    )
    assert seen.split() == ["True"] * 6
