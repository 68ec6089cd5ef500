"""Functions whose arguments choose between ops."""

import lucid
import pytest

X = lucid.tensor([[1.0, 5.0], [4.0, 2.0]])


def test_max_and_min():
    assert X.max().item() == lucid.max(X).item() == 5
    assert X.min().item() == 1
    assert X.max(dim=0).values.tolist() == [4, 5]
    assert X.max(1, keepdim=True).indices.tolist() == [[1], [0]]
    assert X.min(axis=1, keepdims=True)[0].tolist() == [[1], [2]]
    assert lucid.max(X, lucid.tensor([3.0, 3.0])).tolist() == [[3, 5], [4, 3]]
    assert lucid.min(X, other=lucid.tensor(3.0)).tolist() == [[1, 3], [3, 2]]
    with pytest.raises(TypeError, match="both 'dim' and 'axis'"):
        X.max(0, axis=1)


def test_where_and_nonzero():
    assert lucid.where(X > 3, X, 0.0).tolist() == [[0, 5], [4, 0]]
    rows, columns = lucid.where(X > 3)
    assert rows.tolist() == [0, 1]
    assert columns.tolist() == [1, 0]
    assert (X > 3).nonzero().tolist() == [[0, 1], [1, 0]]
    assert [t.tolist() for t in lucid.nonzero(X > 3, as_tuple=True)] == [[0, 1], [1, 0]]
    with pytest.raises(TypeError):
        lucid.where(X > 3, X)


def test_method_where_keeps_the_tensor_where_the_condition_holds():
    assert X.where(X > 3, 0.0).tolist() == [[0, 5], [4, 0]]


def test_median_and_unique():
    assert lucid.median(lucid.tensor([3, 1, 2, 4])).item() == 2
    assert X.median(dim=1).indices.tolist() == [0, 1]
    assert X.median(axis=1, keepdims=True).values.tolist() == [[1], [2]]
    x = lucid.tensor([3, 1, 3])
    assert lucid.unique(x).tolist() == [1, 3]
    assert [t.tolist() for t in x.unique(return_inverse=True)] == [[1, 3], [1, 0, 1]]
    assert [t.tolist() for t in x.unique(return_inverse=True, return_counts=True)] == [[1, 3], [1, 0, 1], [1, 2]]


def test_statistics():
    x = lucid.tensor([1.0, 2.0, 3.0, 4.0])
    assert x.var().item() == pytest.approx(5 / 3)
    assert x.var(correction=0).item() == x.var(unbiased=False).item() == 1.25
    assert x.var(False).item() == 1.25
    assert x.std(dim=0, correction=0).item() == pytest.approx(1.25**0.5)
    assert X.var(1, True).shape == X.var(axis=1, keepdims=True).shape == (2, 1)
    assert X.std((0, 1)).shape == ()
    var, mean = lucid.var_mean(x, correction=0)
    assert (var.item(), mean.item()) == (1.25, 2.5)


def test_comparisons_of_whole_tensors():
    assert lucid.equal(X, X.clone())
    assert not lucid.equal(X, X + 1)
    assert not lucid.equal(X, X[0])
    assert lucid.allclose(X, X + 1e-7)
    assert not lucid.allclose(X, X + 1)
    assert X.allclose(X)
    nan = lucid.tensor([float("nan")])
    assert not lucid.allclose(nan, nan)
    assert lucid.allclose(nan, nan, equal_nan=True)


def test_index_put():
    x = lucid.zeros(2, 2)
    where = (lucid.tensor([0, 1]), lucid.tensor([1, 0]))
    assert lucid.index_put(x, where, lucid.tensor([5.0, 6.0])).tolist() == [[0, 5], [6, 0]]
    assert x.index_put_(where, lucid.tensor(2.0), accumulate=True) is x
    assert x.index_put_(where, lucid.tensor(2.0), accumulate=True).tolist() == [[0, 4], [4, 0]]


def test_shape_helpers():
    x = lucid.zeros(1, 2)
    assert x.expand_as(X).shape == (2, 2)
    assert X.view_as(lucid.zeros(4)).shape == X.reshape_as(lucid.zeros(4)).shape == (4,)
    assert X.t().tolist() == X.T.tolist()
    with pytest.raises(RuntimeError, match="at most 2 dimensions"):
        lucid.zeros(1, 2, 3).t()
    assert lucid.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        lucid.broadcast_shapes((2,), (3,))
    assert lucid.numel(X) == 4
    assert lucid.is_tensor(X)
    assert not lucid.is_tensor(1)
    assert lucid.result_type(lucid.tensor([1]), 1.5) is lucid.float32
    assert lucid.promote_types("i8", "f16") is lucid.float16
