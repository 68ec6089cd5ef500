"""Differentiable gradients of every op of the table, in double precision, compared with PyTorch: which results and
gradients require grad, which operands get a gradient, and second derivatives. Layers and losses are compared only in
test_gradients.py.
"""

import numpy as np
import pytest
import torch
from accuracy import COMPOSED, ELEMENTWISE, LAYERS
from test_table import TABLE, as_tuple, compared, lucid, op_samples, run_torch

# Elements where elementwise functions have a kink, an end or a jump.
SPECIAL = [0.0, -0.0, 0.25, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 6.0, 7.0, 20.0, 25.0]
SPECIAL += [float("inf"), float("-inf"), float("nan")]

# Ops whose gradients are not compared, and why.
DIFFERENT = {
    "floor_divide": "PyTorch has no gradient; Lucid's is 0",
    "remainder": "PyTorch has no gradient if the first operand is a number",
    "histc": "Lucid's result requires grad, and its gradient is 0",
    "unique_all": "has no gradient in either",
    "scatter": "only the last of several writes to an element has a gradient; in PyTorch all have it",
    "index_put": "the same",
    "full": "PyTorch accepts no tensor",
    "full_like": "PyTorch accepts no tensor",
}
# Ops whose second derivatives are not compared, because PyTorch has none.
ONCE = {"cdist", "hardsigmoid"}
# With beta = 0 the first operand is unused and gets no gradient; PyTorch's gradient is 0.
NONE_IS_ZERO = {"addmm", "addmv", "baddbmm"}
# PyTorch's gradient is less exact: its 1/6 is a float32.
ROUGH = {"hardsigmoid": 1e-7}


def leaf(library, array):
    return library.from_numpy(np.array(array, np.float64)).requires_grad_()


def weights_for(results):
    random = np.random.default_rng(0)
    return [np.array(random.uniform(0.5, 1.5, tuple(result.shape))) for result in results]


def differentiate(library, results, leaves, create_graph=False):
    """The gradients of the leaves, None where there is none."""
    results = [result for result in results if result.requires_grad]
    if not results or not leaves:
        return [None] * len(leaves)
    weights = [library.from_numpy(weights).to(result.dtype) for weights, result in zip(weights_for(results), results)]
    return library.autograd.grad(
        results, leaves, weights, create_graph=create_graph, retain_graph=True, allow_unused=True
    )


def close(ours, theirs, tolerance=1e-9):
    """Treats None and an empty gradient as equal."""
    ours, theirs = (None if gradient is None or gradient.numel() == 0 else gradient for gradient in (ours, theirs))
    if ours is None or theirs is None:
        return ours is theirs
    ours, theirs = np.array(ours.detach().numpy()), np.array((theirs.detach() + 0).numpy())
    size = np.abs(theirs[np.isfinite(theirs)]).max(initial=1.0)
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=tolerance, atol=1e-11 * size, equal_nan=True)


def compare(name, ours, theirs, our_leaves, their_leaves, what):
    tolerance = ROUGH.get(name, 1e-9)
    assert [x.requires_grad for x in ours] == [x.requires_grad for x in theirs], f"requires_grad of {what}"
    twice = name not in ONCE
    found = differentiate(lucid, ours, our_leaves, create_graph=twice)
    wanted = differentiate(torch, theirs, their_leaves, create_graph=twice)
    for mine, native in zip(found, wanted):
        if mine is None and native is not None and name in NONE_IS_ZERO:
            assert not native.any()
            continue
        assert close(mine, native, tolerance), f"gradient of {what}: {mine} against {native}"
        if twice and mine is not None and native is not None:
            flags = mine.requires_grad, native.requires_grad
            assert flags[0] == flags[1], f"requires_grad of the gradient of {what}: {flags}"
    if not twice:
        return
    found = [mine for mine in found if mine is not None]
    wanted = [native for native in wanted if native is not None]
    second = differentiate(lucid, found, our_leaves), differentiate(torch, wanted, their_leaves)
    for mine, native in zip(*second):
        assert close(mine, native), f"second derivative of {what}: {mine} against {native}"


class Leaves:
    """Replaces the floats among the arguments of a call by leaves of a library."""

    def __init__(self, library):
        self.library = library
        self.found = []

    def __call__(self, value):
        if isinstance(value, list):
            return [self(part) for part in value]
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return value
        self.found.append(leaf(self.library, value))
        return self.found[-1]


def is_differentiable(op):
    name = op["name"]
    is_layer = name in LAYERS or name.startswith("conv") or "pool" in name or name == "prelu"
    return lucid.float64 in op["dtypes"] and compared(name) and not op["random"] and not is_layer


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name", [name for name, op in TABLE.items() if is_differentiable(op) and name not in DIFFERENT]
)
def test_differentiable_gradients_match_pytorch(name):
    op = TABLE[name]
    for position in range(len(op["samples"])):
        call = op_samples.make_call(op, position, lucid.float64)
        our_leaves, their_leaves = Leaves(lucid), Leaves(torch)
        ours = call.run(our_leaves)
        theirs = run_torch(call, double=False, change=their_leaves)
        compare(name, as_tuple(ours), theirs, our_leaves.found, their_leaves.found, str(call))


def takes_one_tensor(op):
    return [parameter["kind"] for parameter in op["parameters"]][:1] == ["tensor"] and all(
        parameter["kind"] != "tensor" for parameter in op["parameters"][1:]
    )


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, op in TABLE.items()
        if is_differentiable(op)
        and (op["pointwise"] or name in ELEMENTWISE or name in COMPOSED)
        and takes_one_tensor(op)
    ],
)
def test_special_points(name):
    """Values and first derivatives where functions have a kink or an end."""
    op = TABLE[name]
    attributes = next(sample["attributes"] for sample in reversed(op["samples"]))
    call = op_samples.Call(op, 0, lucid.float64, {"x": np.array(SPECIAL), **attributes}, {})
    our_leaves, their_leaves = Leaves(lucid), Leaves(torch)
    (ours,) = as_tuple(call.run(our_leaves))
    (theirs,) = run_torch(call, double=False, change=their_leaves)
    assert close(ours, theirs), f"{name}: {ours} against {theirs}"
    gradients = differentiate(lucid, [ours], our_leaves.found), differentiate(torch, [theirs], their_leaves.found)
    for mine, native in zip(*gradients):
        assert close(mine, native, ROUGH.get(name, 1e-9)), f"gradient of {name}: {mine} against {native}"
