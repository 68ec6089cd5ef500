"""5,000 calls with one mutated argument, each with the expected outcome. `bad_calls.py` runs more.

The bugs that it found are tested by name below.
"""

from collections import Counter

import bad_calls
import lucid
import numpy as np
import pytest


def test_invalid_calls_have_the_expected_outcome():
    outcomes = Counter()
    assert bad_calls.run_in_child(0, 5000, outcomes) is None
    assert outcomes.total() == 5000


def test_an_unexpected_outcome_is_reported():
    wrong = bad_calls.BadCall("add", "test", lucid.add, (ValueError,), [lucid.ones(2), "x"])
    with pytest.raises(AssertionError, match="expected ValueError, got TypeError"):
        bad_calls.run(wrong)
    valid = bad_calls.BadCall("add", "test", lucid.add, (ValueError,), [lucid.ones(2), 1])
    with pytest.raises(AssertionError, match="but it returned"):
        bad_calls.run(valid)


@pytest.mark.parametrize("index", [2**64, -(2**63) - 1, (slice(None), 2**100)])
def test_subscripts_beyond_64_bits_are_out_of_range(index):
    with pytest.raises(IndexError, match="more than 64 bits"):
        lucid.ones(2, 3)[index]


def test_index_tensors_that_do_not_broadcast_are_index_errors():
    with pytest.raises(IndexError, match="do not broadcast"):
        lucid.ones(3, 4)[[0, 1], [0, 1, 2]]


@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("unsqueeze", (0,), (1,)),
        ("reshape", ((1, 1),), (1, 1)),
        ("expand", ((2, 3),), (2, 3)),
        ("squeeze", (), ()),
        ("flatten", (), (1,)),
    ],
)
def test_numbers_are_viewed_like_tensors(name, arguments, shape):
    assert lucid._core.ops[name](3, *arguments).shape == shape


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_composite_checks_its_operands_before_its_parts_do(requires_grad):
    with pytest.raises(ValueError, match=r"^prelu: weight"):
        lucid.prelu(lucid.ones((), requires_grad=requires_grad), lucid.ones(0))


def test_bytes_are_not_a_sequence_of_tensors():
    with pytest.raises(TypeError, match="sequence of tensors"):
        lucid.stack(b"xy")


def test_messages_may_quote_part_of_a_character():
    with pytest.raises(ValueError, match="einsum") as caught:
        lucid.einsum("é", lucid.ones(2))
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    "call",
    [
        lambda x: lucid.equal(x, 3),
        lambda x: lucid.numel([1]),
        lambda x: lucid.is_floating_point(2.5),
        lambda x: lucid.rand_like(3),
        lambda x: lucid.randint_like("x", 3),
        lambda x: x.view_as((2, 3)),
        lambda x: x.uniform_(np.array(["a"]), 1.0),
        lambda x: x.normal_("0"),
        lambda x: x.var(unbiased="x"),
    ],
)
def test_objects_that_are_not_tensors_or_numbers_raise_type_error(call):
    with pytest.raises(TypeError):
        call(lucid.ones(2, 3))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.exponential_(0.0),
        lambda x: x.normal_(0.0, -1.0),
        lambda x: x.uniform_(2.0, 1.0),
        lambda x: x.bernoulli_(1.5),
        lambda x: x.bernoulli_(float("nan")),
        lambda x: lucid.multinomial(lucid.ones(2, 3, 4), 1),
    ],
)
def test_parameters_of_distributions_are_checked(call):
    with pytest.raises(ValueError, match=r"^\w+: "):
        call(lucid.ones(2, 3))


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
def test_a_number_is_a_0d_tensor(name, arguments):
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
def test_composites_report_indices_out_of_range(name, arguments):
    with pytest.raises(IndexError, match=f"^{name}: "):
        lucid._core.ops[name](**arguments)


@pytest.mark.parametrize("shape", [(4, 0), (0, 4), (7, 0, 4), (7, 4, 0)])
def test_reductions_over_empty_dimensions(shape):
    x = lucid.zeros(shape)
    assert x.sum().item() == 0
    assert x.prod().item() == 1
    assert not x.any()
    assert x.mean().isnan()
    assert x.sum((0, 1)).shape == shape[2:]


def test_kthvalue_rejects_k_out_of_range():
    with pytest.raises(ValueError, match="kthvalue: k is 5"):
        lucid.tensor([True]).kthvalue(5)


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum"])
def test_sums_of_dtype_bool_are_rejected(name):
    with pytest.raises(TypeError, match="must be numeric"):
        lucid._core.ops[name](lucid.ones(3), dim=0, dtype=lucid.bool)


def test_means_of_bools_are_bools():
    x = lucid.tensor([True, True])
    mean = x.scatter_reduce(0, lucid.tensor([0, 1]), lucid.tensor([True, False]), "mean")
    assert mean.dtype is lucid.bool
    assert mean.tolist() == [True, False]


@pytest.mark.parametrize("offset", [-5, -1, 0, 1, 2, 7])
@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (3, 4), (5, 2)])
def test_triangle_indices_match_nonzero(rows, columns, offset):
    ones = lucid.ones(rows, columns)
    for triangle, part in ((lucid.tril_indices, lucid.tril), (lucid.triu_indices, lucid.triu)):
        expected = lucid.nonzero(part(ones, offset)).T
        assert triangle(rows, columns, offset).tolist() == expected.tolist()


def test_triangle_indices_of_many_rows_are_fast():
    assert lucid.triu_indices(2**40, 4).shape == (2, 10)
