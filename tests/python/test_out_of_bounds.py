"""Errors about values of tensors name the value, its position and the bounds: eagerly, compiled, on any threads."""

import lucid
import numpy as np
import op_samples
import pytest
from lucid.nn import Embedding
from lucid.nn import functional as F

X = lucid.arange(24.0).reshape(6, 4)


def longs(*values):
    return lucid.tensor(values, dtype=lucid.int64)


LABELS = longs(0, 1, 3, 0, 1, 4)
REFUSED = {
    "cross_entropy": (
        lambda: F.cross_entropy(X, LABELS),
        "cross_entropy: target 4 at position [5] is out of bounds for 4 classes (expected 0 <= target < 4)",
    ),
    "cross_entropy with gradients": (
        lambda: F.cross_entropy(X.detach().requires_grad_(), LABELS).backward(),
        "cross_entropy: target 4 at position [5] is out of bounds for 4 classes (expected 0 <= target < 4)",
    ),
    "cross_entropy of pictures": (
        lambda: F.cross_entropy(X.reshape(2, 3, 4), lucid.tensor([[0, 1, 2, 0], [2, -1, 0, 9]]), reduction="none"),
        "cross_entropy: target -1 at position [1,1] is out of bounds for 3 classes (expected 0 <= target < 3)",
    ),
    "cross_entropy of one": (
        lambda: F.cross_entropy(X[0], lucid.tensor(7)),
        "cross_entropy: target 7 is out of bounds for 4 classes (expected 0 <= target < 4)",
    ),
    "cross_entropy that ignores": (
        lambda: F.cross_entropy(X, longs(-100, 9, 0, 5, -100, 9), ignore_index=9),
        "cross_entropy: target -100 at position [0] is out of bounds for 4 classes (expected 0 <= target < 4)",
    ),
    "nll_loss": (
        lambda: F.nll_loss(X, LABELS),
        "nll_loss: target 4 at position [5] is out of bounds for 4 classes (expected 0 <= target < 4)",
    ),
    "nll_loss with gradients": (
        lambda: F.nll_loss(X.detach().requires_grad_(), LABELS).backward(),
        "nll_loss: target 4 at position [5] is out of bounds for 4 classes (expected 0 <= target < 4)",
    ),
    "multi_margin_loss": (
        lambda: F.multi_margin_loss(X, LABELS),
        "multi_margin_loss: target 4 at position [5] is out of bounds for 4 classes (expected 0 <= target < 4)",
    ),
    "embedding": (
        lambda: F.embedding(longs(0, 6), X),
        "embedding: index 6 at position [1] is out of bounds for 6 rows (expected 0 <= index < 6)",
    ),
    "layer": (
        lambda: Embedding(6, 4)(lucid.tensor([[0, 1], [-1, 2]])),
        "embedding: index -1 at position [1,0] is out of bounds for 6 rows (expected 0 <= index < 6)",
    ),
    "embedding_bag": (
        lambda: F.embedding_bag(lucid.tensor([[0, 1], [1, 8]]), X),
        "embedding_bag: index 8 at position [1,1] is out of bounds for 6 rows (expected 0 <= index < 6)",
    ),
    "one_hot": (
        lambda: F.one_hot(longs(0, 3), 3),
        "one_hot: class 3 at position [1] is out of bounds for 3 classes (expected 0 <= class < 3)",
    ),
    "gather": (
        lambda: X.gather(1, lucid.tensor([[0], [1], [2], [3], [4], [5]])),
        "gather: index 4 at position [4,0] is out of bounds for dimension 1 of size 4 (expected 0 <= index < 4)",
    ),
    "index_select": (
        lambda: X.index_select(-1, longs(0, -1)),
        "index_select: index -1 at position [1] is out of bounds for dimension 1 of size 4 (expected 0 <= index < 4)",
    ),
    "take_along_dim": (
        lambda: X.take_along_dim(lucid.tensor([[0, 4]]), 1),
        "take_along_dim: index 4 at position [0,1] is out of bounds for dimension 1 of size 4 "
        "(expected 0 <= index < 4)",
    ),
    "take_along_dim of all": (
        lambda: X.take_along_dim(longs(0, 24)),
        "take_along_dim: index 24 at position [1] is out of bounds for 24 elements (expected 0 <= index < 24)",
    ),
    "subscript": (
        lambda: X[longs(0, -6, -7)],
        "index: index -7 at position [2] is out of bounds for dimension 0 of size 6 (expected -6 <= index < 6)",
    ),
    "second subscript": (
        lambda: X[longs(0, 1), longs(0, 9)],
        "index: index 9 at position [1] is out of bounds for dimension 1 of size 4 (expected -4 <= index < 4)",
    ),
    "scatter": (
        lambda: X.scatter(0, lucid.tensor([[0, 6]]), 1.0),
        "scatter: index 6 at position [0,1] is out of bounds for dimension 0 of size 6 (expected 0 <= index < 6)",
    ),
    "scatter_add": (
        lambda: X.scatter_add(1, lucid.tensor([[0, 4]]), lucid.ones(1, 2)),
        "scatter_add: index 4 at position [0,1] is out of bounds for dimension 1 of size 4 (expected 0 <= index < 4)",
    ),
    "scatter_reduce": (
        lambda: X.scatter_reduce(1, lucid.tensor([[0, 4]]), lucid.ones(1, 2), "amax"),
        "scatter_reduce: index 4 at position [0,1] is out of bounds for dimension 1 of size 4 "
        "(expected 0 <= index < 4)",
    ),
    "index_add": (
        lambda: X.index_add(0, longs(0, 6), lucid.ones(2, 4)),
        "index_add: index 6 at position [1] is out of bounds for dimension 0 of size 6 (expected 0 <= index < 6)",
    ),
    "index_put": (
        lambda: X.index_put([longs(0, 6)], lucid.tensor(1.0)),
        "index_put: index 6 at position [1] is out of bounds for dimension 0 of size 6 (expected -6 <= index < 6)",
    ),
    "a strided index": (
        lambda: X[lucid.tensor([[0, 7], [8, 1]]).t()[1:]],
        "index: index 7 at position [0,0] is out of bounds for dimension 0 of size 6 (expected -6 <= index < 6)",
    ),
}


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("name", REFUSED)
def test_the_message_is_the_same_eager_and_compiled(name, threads):
    call, message = REFUSED[name]
    compiled = lucid.compile(call)
    before = lucid.get_num_threads()
    lucid.set_num_threads(threads)
    try:
        for run in (call, compiled, compiled, compiled):
            with pytest.raises(IndexError) as error:
                run()
            assert str(error.value) == message
            lucid.compiler.wait()
    finally:
        lucid.set_num_threads(before)


def test_a_plan_that_has_run_before_gives_the_same_message():
    compiled = lucid.compile(lambda x, y: F.cross_entropy(x.relu(), y) * 2)
    good = longs(0, 1, 3, 0, 1, 2)
    for _ in range(3):
        compiled(X, good)
        lucid.compiler.wait()
    assert compiled.cache_info().hits > 0
    with pytest.raises(IndexError, match=r"^cross_entropy: target 4 at position \[5\] is out of bounds for 4 classes"):
        compiled(X, LABELS)


def test_the_first_of_many_is_named():
    index = lucid.zeros(1000, 1000, dtype=lucid.int64)
    index[700:] = 50
    index[499, 998] = -3
    for threads in (1, 2, 7):
        lucid.set_num_threads(threads)
        with pytest.raises(IndexError, match=r"^embedding: index -3 at position \[499,998\] is out of bounds"):
            F.embedding(index, X)


# These report positions in a reshaped operand.
RESHAPED = {"class_loss_backward", "max_unpool1d", "max_unpool2d", "max_unpool3d", "multilabel_margin_loss"}


def indexing_calls():
    for op in lucid._core.op_table():
        for position, sample in enumerate(op["samples"]):
            for i, tensor in enumerate(sample["tensors"]):
                if tensor and tensor.get("fill") in ("index", "offset") and 0 not in tensor["shape"]:
                    yield pytest.param(op, position, i, id=f"{op['name']}-{position}-{i}")


@pytest.mark.parametrize(("op", "position", "operand"), list(indexing_calls()))
def test_every_op_that_refuses_an_index_names_it(op, position, operand):
    """An index that is too large in the last place."""
    call = op_samples.make_call(op, position, lucid.float32)
    bound = op["samples"][position]["tensors"][operand]["bound"]
    order = []
    for parameter in op["parameters"]:
        if parameter["kind"] == "tensor":
            order.append(call.arguments[parameter["name"]])
        elif parameter["kind"] == "tensors":
            order += call.arguments[parameter["name"]]
    array = order[operand]
    array[tuple(size - 1 for size in array.shape)] = bound
    message = ""
    try:
        call.run()
    except IndexError as error:
        message = str(error)
    if message and "offsets must begin" not in message:
        assert message.startswith(f"{op['name']}: ")
        place = str([size - 1 for size in array.shape]).replace(", ", ",")
        at = f" at position {place}" if array.ndim else ""
        assert f" {bound} at position [" in message if op["name"] in RESHAPED else f" {bound}{at} is out of" in message


# Probabilities.


@pytest.mark.parametrize("dtype", [lucid.float32, lucid.float64, lucid.float16, lucid.bfloat16])
@pytest.mark.parametrize("value", [1.5, -0.25, np.nan, np.inf])
@pytest.mark.parametrize("operand", ["x", "target"])
@pytest.mark.parametrize("grad", [False, True])
def test_binary_cross_entropy_refuses_what_is_no_probability(dtype, value, operand, grad):
    good = lucid.full((3, 50), 0.5, dtype=dtype)
    bad = good.clone()
    bad[2, 7] = value
    compiled = lucid.compile(lambda x, y: F.binary_cross_entropy(x, y))
    for function in (F.binary_cross_entropy, compiled, compiled, compiled):
        function(good, good)
        lucid.compiler.wait()
        x, target = (bad, good) if operand == "x" else (good, bad)
        with pytest.raises(ValueError, match="out of bounds") as error:
            function(x.detach().requires_grad_(grad), target)
        assert str(error.value) == (
            f"binary_cross_entropy: {operand} {value} at position [2,7] is out of bounds (expected 0 <= {operand} <= 1)"
        )


def test_binary_cross_entropy_accepts_both_ends():
    x = lucid.tensor([0.0, -0.0, 1.0, 0.5])
    assert F.binary_cross_entropy(x, x).item() == pytest.approx(np.log(2) / 4)
    assert F.binary_cross_entropy(lucid.zeros(0), lucid.zeros(0), reduction="sum").item() == 0


def test_a_step_with_a_refused_value_changes_nothing():
    model = lucid.nn.Linear(4, 1)
    optimizer = lucid.optim.SGD(model.parameters(), lr=0.1)

    @lucid.compile
    def step(x, y):
        optimizer.zero_grad()
        F.binary_cross_entropy(model(x), y).backward()
        optimizer.step()

    lucid.nn.init.zeros_(model.weight)
    lucid.nn.init.constant_(model.bias, 0.5)
    for _ in range(4):
        step(X / 24, lucid.full((6, 1), 0.5))
        lucid.compiler.wait()
    before = model.weight.tolist(), model.bias.tolist()
    with pytest.raises(ValueError, match=r"binary_cross_entropy: target 2 at position"):
        step(X / 24, lucid.full((6, 1), 2.0))
    assert (model.weight.tolist(), model.bias.tolist()) == before
