"""The printed form of tensors, compared character by character."""

import lucid
import pytest

CASES = [
    (lambda: lucid.tensor(1.0), "tensor(1.)"),
    (lambda: lucid.tensor(3.14159), "tensor(3.1416)"),
    (lambda: lucid.tensor(7), "tensor(7)"),
    (lambda: lucid.tensor(True), "tensor(True)"),
    (lambda: lucid.tensor([1.0, 2.0]), "tensor([1., 2.])"),
    (lambda: lucid.tensor([1.0, 2.5]), "tensor([1.0000, 2.5000])"),
    (lambda: lucid.tensor([-1.5, 20.25]), "tensor([-1.5000, 20.2500])"),
    (lambda: lucid.tensor([1, 20, -300]), "tensor([   1,   20, -300])"),
    (lambda: lucid.tensor([True, False]), "tensor([ True, False])"),
    (lambda: lucid.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
    (lambda: lucid.tensor([1.5, 2000.0]), "tensor([1.5000e+00, 2.0000e+03])"),
    (lambda: lucid.tensor([1e9]), "tensor([1.0000e+09])"),
    (lambda: lucid.tensor([float("nan"), float("inf"), 1.0]), "tensor([nan, inf,  1.])"),
    (lambda: lucid.tensor([float("nan"), -float("inf"), 0.5]), "tensor([   nan,   -inf, 0.5000])"),
    (lambda: lucid.tensor([0.0, -0.0]), "tensor([ 0., -0.])"),
    (lambda: lucid.tensor([]), "tensor([])"),
    (lambda: lucid.zeros(2, 0), "tensor([], size=(2, 0))"),
    (lambda: lucid.tensor([], dtype=lucid.int64), "tensor([], dtype=lucid.int64)"),
    (lambda: lucid.tensor([1.0], dtype=lucid.float64), "tensor([1.], dtype=lucid.float64)"),
    (lambda: lucid.tensor([1], dtype=lucid.int8), "tensor([1], dtype=lucid.int8)"),
    (lambda: lucid.tensor([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
    (lambda: lucid.tensor([1.0], requires_grad=True) * 2, "tensor([2.], grad_fn=<MulBackward>)"),
    (lambda: lucid.tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
    (lambda: lucid.tensor([[1, 2], [3, 4]]).T, "tensor([[1, 3],\n        [2, 4]])"),
    (
        lambda: lucid.arange(8).reshape(2, 2, 2),
        "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])",
    ),
    (lambda: lucid.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (
        lambda: lucid.arange(30),
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
    ),
    (
        lambda: lucid.zeros(100, 100),
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        ...,\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 0., 0.]])",
    ),
]


@pytest.mark.parametrize(("make", "text"), CASES, ids=[text for _, text in CASES])
def test_repr(make, text):
    x = make()
    assert repr(x) == text
    assert str(x) == text
    assert f"{x}" == (text if x.dim() else str(x.item()))


def test_long_suffixes_start_a_line_of_their_own():
    x = lucid.full((7,), 1.5, dtype=lucid.float64).requires_grad_()
    assert repr(x) == (
        "tensor([1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000, 1.5000],\n"
        "       dtype=lucid.float64, requires_grad=True)"
    )


def test_formatting_numbers():
    assert f"{lucid.tensor(3.14159):.2f}" == "3.14"
    assert f"{lucid.tensor(42):5d}" == "   42"
    assert f"{lucid.tensor(0.5, requires_grad=True) * 2:.1f}" == "1.0"
    with pytest.raises(TypeError, match="format"):
        f"{lucid.tensor([1.0, 2.0]):.2f}"


def test_print_options():
    x = lucid.tensor([1.23456789, 1000.5])
    try:
        lucid.set_printoptions(precision=2, sci_mode=False)
        assert repr(x) == "tensor([   1.23, 1000.50])"
        lucid.set_printoptions(sci_mode=True)
        assert repr(x) == "tensor([1.23e+00, 1.00e+03])"
        lucid.set_printoptions(profile="default", threshold=5, edgeitems=1)
        assert repr(lucid.arange(6)) == "tensor([0,  ..., 5])"
        lucid.set_printoptions(profile="default", linewidth=20)
        assert repr(lucid.arange(6)) == "tensor([0, 1, 2, 3,\n        4, 5])"
        with pytest.raises(ValueError, match="profile must be one of"):
            lucid.set_printoptions(profile="loud")
    finally:
        lucid.set_printoptions(profile="default")


def test_printing_records_nothing_and_changes_nothing():
    x = lucid.ones(3, requires_grad=True)
    part = x[1:]
    before = lucid._core.live_nodes()
    repr(x)
    repr(part)
    assert lucid._core.live_nodes() == before
