"""Dimensions that are marked as varying, and sizes of tensors in containers."""

import lucid
import pytest
from varied_sizes import check, same


def test_a_marked_dimension_varies_from_the_first_call_on():
    f = lucid.compile(lambda x: (x * 2).sum(0))
    first = lucid.randn(6, 4)
    lucid.compiler.mark_dynamic(first, 0)
    for x in (first, lucid.randn(9, 4), lucid.randn(30, 4)):
        assert same(f(x), (x * 2).sum(0))
    assert f.cache_info().compiles == 1
    assert f.cache_info().hits == 2
    # The other dimension is not marked.
    f(lucid.randn(6, 5))
    assert f.cache_info().compiles == 2


def test_bounds_of_a_marked_dimension_decide_tests():
    def f(x):
        return x + 1 if x.shape[0] < 100 and x.shape[0] > 3 else x - 1

    def conditions(**bounds):
        compiled = lucid.compile(f)
        x = lucid.randn(6)
        lucid.compiler.mark_dynamic(x, -1, **bounds)
        for each in (x, lucid.randn(50), lucid.randn(4), lucid.randn(200), lucid.randn(2)):
            assert same(compiled(each), f(each))
        first = compiled.explain().partition("plan 2")[0]
        return {line.partition("serves sizes with ")[2] for line in first.splitlines() if "serves sizes" in line}

    assert conditions() == {"s0-100 < 0", "-s0+3 < 0"}
    assert conditions(min=4, max=64) == {"s0-4 >= 0", "s0-65 < 0"}


def test_dynamic_false_ignores_marks():
    f = lucid.compile(lambda x: x * 2, dynamic=False)
    x = lucid.randn(6)
    lucid.compiler.mark_dynamic(x, 0)
    f(x)
    f(lucid.randn(7))
    assert f.cache_info().compiles == 2


@pytest.mark.parametrize(
    ("error", "message", "arguments", "bounds"),
    [
        (TypeError, "x must be a Tensor, got int", (3, 0), {}),
        (IndexError, "dim is 2, but the tensor has 2 dimensions", (lucid.ones(2, 3), 2), {}),
        (ValueError, "dimension 0 has size 2, which is not between min and max", (lucid.ones(2, 3), 0), {"min": 4}),
        (ValueError, "dimension 1 has size 3, which is not between min and max", (lucid.ones(2, 3), 1), {"max": 2}),
        (ValueError, "min is 5, which is greater than max, 4", (lucid.ones(2, 3), 1), {"min": 5, "max": 4}),
    ],
)
def test_mistakes_in_marks_are_named(error, message, arguments, bounds):
    with pytest.raises(error, match=message):
        lucid.compiler.mark_dynamic(*arguments, **bounds)


def test_a_mark_ends_with_its_tensor():
    x = lucid.ones(2, 3)
    lucid.compiler.mark_dynamic(x, [0, 1])
    from lucid.compiler._dynamic_dims import _marks

    assert id(x) in _marks
    key = id(x)
    del x
    assert key not in _marks


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x, cache: x @ lucid.cat([cache[0], x]).T, lambda n: (lucid.ones(1, 3), [lucid.randn(n, 3)])),
        (
            lambda cache: [k.sum(0) * v.mean() for k, v in cache],
            lambda n: ([(lucid.randn(n, 3), lucid.randn(n, 2))] * 1,),
        ),
        (lambda batch: batch["x"] / batch["x"].shape[0] + batch["y"], lambda n: ({"x": lucid.randn(n), "y": 1.5},)),
        (lambda a, b: a[0].sum() + b["c"][0][0].sum(), lambda n: ([lucid.randn(n)], {"c": ([lucid.randn(n + 1)],)})),
    ],
    ids=["list", "pairs", "dict", "nested"],
)
def test_sizes_of_tensors_in_containers_vary(function, arguments):
    check(function, [arguments(size) for size in (2, 3, 5, 9, 4, 12)], compiles=2, hits=4)


def test_containers_of_tensors_whose_sizes_vary_stay_the_same_objects():
    def f(first, second):
        return (first[0] * 2, first) if first is second else (first[0] * 3, second)

    compiled = lucid.compile(f)
    for size in (2, 3, 4, 5):
        one, other = [lucid.randn(size)], [lucid.randn(size)]
        for given in ((one, one), (one, other)):
            found, expected = compiled(*given), f(*given)
            assert same(found[0], expected[0])
            assert found[1] is expected[1]


def test_graphs_show_symbols_and_parse_back():
    @lucid.compile
    def f(x):
        n = x.shape[0]
        y = x.reshape(n * 2, -1) / n
        return y[::2].sum(0), lucid.arange(n // 2)

    for size in (4, 6, 8):
        f(lucid.ones(size, 8))
    graph = f.graph(lucid.ones(10, 8))
    text = str(graph)
    assert text.startswith("graph f[s0=6](%0: f32[s0,8] input) -> (")
    assert "f32[s0*2,4] = reshape(%0) {shape=[s0*2,-1]}" in text
    assert "div(%1, s0)" in text
    assert "f32[((s0*2-1)/2)+1,4] = slice" in text
    assert "i64[(s0/2)] = arange((s0/2), none, none)" in text
    parsed = lucid.compiler.IRGraph.parse(text)
    assert str(parsed) == text
    assert parsed == graph
    assert parsed != lucid.compiler.IRGraph.parse(text.replace("s0=6", "s0=8"))
    # Passes written in Python see the recorded sizes.
    assert graph.values[graph.input_ids[0]].shape == (6, 8)
