"""Offsets of embedding_bag: which are rejected, and where the last bag ends."""

import lucid
import pytest
from lucid.nn.functional import embedding_bag

WEIGHT = lucid.arange(20.0).reshape(5, 4) + 1
INDICES = lucid.tensor([0, 1, 2, 3])
MODES = ["sum", "mean", "max"]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "offsets",
    [[-6], [1], [-(2**63)], [2**63 - 1], [3, 1], [0, 9, 2], [0, 3, 2], [0, 0, 5], [0, 0, 2**62], [0, 0, -6], [0, -1]],
    ids=str,
)
def test_bad_offsets_raise(offsets, mode, compiled):
    def bags(weight, offsets):
        return embedding_bag(INDICES, weight, offsets, mode=mode)

    call = lucid.compile(bags) if compiled else bags
    weight = WEIGHT.clone().requires_grad_()
    good = lucid.zeros(len(offsets), dtype=lucid.int64)
    for _ in range(2):
        call(weight, good).sum().backward()
        with pytest.raises(IndexError, match="offsets must begin with 0, never decrease, and not exceed"):
            call(weight, lucid.tensor(offsets))


def test_bad_offsets_raise_without_indices():
    with pytest.raises(IndexError, match="offsets must"):
        embedding_bag(lucid.zeros(0, dtype=lucid.int64), WEIGHT, lucid.tensor([0, 5]), mode="sum").tolist()
    nothing = embedding_bag(lucid.zeros(0, dtype=lucid.int64), WEIGHT, lucid.tensor([0, 0]), mode="sum")
    assert nothing.tolist() == [[0.0] * 4] * 2


@pytest.mark.parametrize("mode", MODES)
def test_indices_after_the_last_offset_are_in_no_bag(mode):
    weight = WEIGHT.clone().requires_grad_()
    got = embedding_bag(INDICES, weight, lucid.tensor([0, 1, 3]), mode=mode, include_last_offset=True)
    want = embedding_bag(INDICES[:3], WEIGHT, lucid.tensor([0, 1]), mode=mode)
    assert lucid.equal(got, want)
    got.sum().backward()
    assert weight.grad[3].tolist() == [0] * 4
    assert embedding_bag(INDICES, WEIGHT, lucid.tensor([0]), mode=mode, include_last_offset=True).shape == (0, 4)
