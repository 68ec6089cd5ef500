"""Calls with one spoiled argument, 5,000 of them: an exception or a result, never a crash. `bad_calls.py` runs more.

What it has found is tested by name below it.
"""

import bad_calls
import lucid
import pytest


def test_bad_calls_raise_or_return():
    assert bad_calls.run_in_child(0, 5000) is None


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("msort", {}),
        ("argsort", {}),
        ("diag", {}),
        ("tile", {"dims": (2,)}),
        ("log_softmax", {"dim": 0}),
        ("histc", {"bins": 4, "min": -1.0, "max": 5.0}),
    ],
)
def test_a_number_is_a_tensor_without_dimensions(name, arguments):
    op = lucid._core.ops[name]
    outcomes = []
    for x in (2.5, lucid.tensor(2.5)):
        try:
            outcomes.append(op(x=x, **arguments).tolist())
        except ValueError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("embedding", {"weight": lucid.ones(2, 3), "indices": lucid.tensor([2])}),
        ("one_hot", {"x": lucid.tensor([3]), "num_classes": 2}),
        ("take_along_dim", {"x": lucid.ones(3), "indices": lucid.tensor([5])}),
        ("scatter", {"x": lucid.ones(3), "dim": 0, "index": lucid.tensor([3]), "src": lucid.ones(1)}),
        ("index_put", {"x": lucid.ones(3), "values": 1.0, "indices": [lucid.tensor([3])]}),
    ],
)
def test_indices_out_of_range_are_reported_by_ops_made_of_others(name, arguments):
    with pytest.raises(IndexError, match=f"^{name}: "):
        lucid._core.ops[name](**arguments)


@pytest.mark.parametrize("shape", [(4, 0), (0, 4), (7, 0, 4), (7, 4, 0)])
def test_several_dimensions_without_elements_are_reduced(shape):
    x = lucid.zeros(shape)
    assert x.sum().item() == 0
    assert x.prod().item() == 1
    assert not x.any()
    assert x.mean().isnan()
    assert x.sum((0, 1)).shape == shape[2:]


def test_ranks_beyond_the_end_are_refused():
    with pytest.raises(ValueError, match="kthvalue: k is 5"):
        lucid.tensor([True]).kthvalue(5)


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum"])
def test_bools_are_no_sums(name):
    with pytest.raises(TypeError, match="number type"):
        lucid._core.ops[name](lucid.ones(3), dim=0, dtype=lucid.bool)


def test_means_of_bools_are_bools():
    x = lucid.tensor([True, True])
    mean = x.scatter_reduce(0, lucid.tensor([0, 1]), lucid.tensor([True, False]), "mean")
    assert mean.dtype is lucid.bool
    assert mean.tolist() == [True, False]


@pytest.mark.parametrize("offset", [-5, -1, 0, 1, 2, 7])
@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (3, 4), (5, 2)])
def test_triangles_are_counted_without_walking_them(rows, columns, offset):
    ones = lucid.ones(rows, columns)
    for triangle, part in ((lucid.tril_indices, lucid.tril), (lucid.triu_indices, lucid.triu)):
        expected = lucid.nonzero(part(ones, offset)).T
        assert triangle(rows, columns, offset).tolist() == expected.tolist()


def test_triangles_of_many_rows_are_found_at_once():
    assert lucid.triu_indices(2**40, 4).shape == (2, 10)
