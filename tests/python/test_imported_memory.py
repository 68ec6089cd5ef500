"""Tensors on memory that other libraries own: how they share it, and that compiled functions know (decision 18)."""

import gc
import os
import sys

import lucid
import numpy as np
import pytest


def write_both(a, b):
    b.mul_(2.0)
    a.add_(10.0)
    return b + 0.0


def parts(memory):
    """Pairs of arrays that share memory, or do not."""
    return {
        "whole and slice": (memory, memory[2:4]),
        "slice and whole": (memory[2:4], memory),
        "same": (memory, memory),
        "partial": (memory[:5], memory[3:]),
        "interleaved": (memory[::2], memory[1::2]),
        "transposed": (memory[:4].reshape(2, 2), memory[:4].reshape(2, 2).T),
        "disjoint": (memory[:4], memory[4:]),
    }


@pytest.mark.parametrize(
    "take", [lucid.from_numpy, lucid.from_dlpack, lambda array: lucid.from_numpy(memoryview(array))]
)
@pytest.mark.parametrize("case", parts(np.zeros(8)))
def test_a_plan_serves_all_imports_that_overlap_alike(case, take):
    f = lucid.compile(write_both)
    for _ in range(4):
        memory, expected = np.arange(8.0), np.arange(8.0)
        result = f(*map(take, parts(memory)[case]))
        assert result.tolist() == write_both(*map(take, parts(expected)[case])).tolist()
        np.testing.assert_array_equal(memory, expected)
    info = f.cache_info()
    assert (info.hits, info.misses) == (3, 1), f.explain()


def test_each_way_to_overlap_has_a_plan():
    f = lucid.compile(write_both)
    memory, expected = np.arange(8.0), np.arange(8.0)
    for _ in range(4):
        for begin in (0, 1, 4):
            result = f(lucid.from_numpy(memory[:4]), lucid.from_numpy(memory[begin : begin + 4]))
            other = write_both(lucid.from_numpy(expected[:4]), lucid.from_numpy(expected[begin : begin + 4]))
            assert result.tolist() == other.tolist()
    np.testing.assert_array_equal(memory, expected)
    info = f.cache_info()
    assert (info.hits, info.misses) == (9, 3), f.explain()


def test_tensors_that_are_only_read_may_overlap_in_any_way():
    total = lucid.zeros(4, dtype=lucid.float64)
    data = np.arange(32.0)

    @lucid.compile
    def f(x, y):
        total.add_(x * y)

    expected = np.zeros(4)
    for i in range(8):
        f(lucid.from_numpy(data[i : i + 4]), lucid.from_numpy(data[2 * i : 2 * i + 4]))
        expected += data[i : i + 4] * data[2 * i : 2 * i + 4]
    np.testing.assert_array_equal(total.numpy(), expected)
    assert f.cache_info().hits == 7, f.explain()


def test_slots_of_an_arena_share_a_plan():
    arena = np.zeros((8, 4), np.float32)
    f = lucid.compile(lambda slot, x: slot.add_(x))
    for i in range(8):
        f(lucid.from_numpy(arena[i]), lucid.full(4, i))
    np.testing.assert_array_equal(arena, np.repeat(np.arange(8.0), 4).reshape(8, 4))
    assert f.cache_info().hits == 7, f.explain()


def test_a_compiled_write_leaves_the_rest_of_the_array_alone():
    """Other processes may be writing there."""
    memory = np.zeros(8, np.float32)
    whole, part = lucid.from_numpy(memory), lucid.from_numpy(memory[2:4])

    def step(x):
        part.add_(x)

    f = lucid.compile(step)
    for _ in range(3):
        f(lucid.ones(2))
    assert f.cache_info().hits == 2, f.explain()
    assert "f32[2]" in str(f.graph(lucid.ones(2)))
    assert "f32[8]" not in str(f.graph(lucid.ones(2)))
    assert whole.tolist() == [0, 0, 3, 3, 0, 0, 0, 0]


def test_memory_of_two_dtypes_is_not_compiled():
    memory = np.zeros(8, np.float32)
    a, b = lucid.from_numpy(memory), lucid.from_numpy(memory.view(np.int32))
    f = lucid.compile(lambda: (a.add_(1.0), b + 0)[1])
    for _ in range(3):
        assert f().tolist() == memory.view(np.int32).tolist()
    assert "another dtype" in f.explain()


def test_a_file_that_is_mapped_twice_is_not_compiled(tmp_path):
    np.zeros(8, np.float32).tofile(tmp_path / "x")
    one, two = (np.memmap(tmp_path / "x", np.float32, mode="r+") for _ in range(2))
    a, b, c = lucid.from_numpy(one), lucid.from_numpy(two[2:4]), lucid.from_numpy(two[4:])
    f = lucid.compile(write_both)
    for _ in range(3):
        f(a, b)
    assert "mapped at several addresses" in f.explain()
    np.testing.assert_array_equal(one, [30, 30, 70, 70, 30, 30, 30, 30])
    g = lucid.compile(write_both)
    for _ in range(3):
        g(b, c)
    assert g.cache_info().hits == 2, g.explain()


def test_gradients_may_be_slices_of_an_imported_array():
    model = lucid.nn.Sequential(lucid.nn.Linear(6, 5), lucid.nn.ReLU(), lucid.nn.Linear(5, 3))
    parameters = list(model.parameters())
    gradients = np.zeros(sum(p.numel() for p in parameters), np.float32)
    whole = lucid.from_numpy(gradients)
    at = 0
    for p in parameters:
        p.grad = lucid.from_numpy(gradients[at : at + p.numel()].reshape(tuple(p.shape)))
        at += p.numel()

    def step(x):
        whole.zero_()
        (model(x) ** 2).mean().backward()
        whole.mul_(0.5)

    f = lucid.compile(step)
    for _ in range(4):
        x = lucid.randn(4, 6)
        f(x)
        found = gradients.copy()
        step(x)
        np.testing.assert_array_equal(found, gradients)
        assert np.count_nonzero(found) > 0
    assert f.cache_info().hits == 3, f.explain()


def test_eager_ops_read_overlapping_operands_first():
    memory = np.arange(1024, dtype=np.float32)
    lucid.from_numpy(memory[1:]).copy_(lucid.from_numpy(memory[:-1]))
    np.testing.assert_array_equal(memory, np.maximum(np.arange(1024) - 1, 0))
    memory = np.arange(64.0).reshape(8, 8)
    expected = memory + memory.T
    lucid.from_numpy(memory).add_(lucid.from_numpy(memory.T))
    np.testing.assert_array_equal(memory, expected)


def test_imports_end_with_their_tensors():
    memory = np.arange(8.0)
    references = sys.getrefcount(memory)
    f = lucid.compile(write_both)
    for _ in range(3):
        f(lucid.from_numpy(memory[:4]), lucid.from_numpy(memory[2:6]))
    gc.collect()
    assert sys.getrefcount(memory) == references


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_imports_work_in_a_forked_child():
    memory = np.arange(8.0)
    a = lucid.from_numpy(memory)
    child = os.fork()
    if child == 0:
        f = lucid.compile(write_both)
        for _ in range(3):
            f(a, lucid.from_numpy(memory[2:4]))
        expected = np.arange(8.0)
        for _ in range(3):
            expected[2:4] *= 2
            expected += 10
        os._exit(0 if np.array_equal(memory, expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_imports_of_one_array_are_saved_as_one(tmp_path):
    memory = np.arange(8.0)
    saved = {"a": lucid.from_numpy(memory), "b": lucid.from_numpy(memory), "c": lucid.from_numpy(memory[4:])}
    lucid.save(saved, tmp_path / "x")
    loaded = lucid.load(tmp_path / "x")
    loaded["a"].add_(1.0)
    assert loaded["b"].tolist() == (memory + 1).tolist()
    assert loaded["c"].tolist() == memory[4:].tolist()
