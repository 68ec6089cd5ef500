"""The gradients of every op of the table on every sample, in double precision, compared with PyTorch.

Both libraries get the same random gradient for each floating-point result. A gradient that PyTorch does not give (None,
or an op that it cannot differentiate) is not compared.
"""

import itertools

import lucid
import numpy as np
import pytest
import torch
from test_table import TABLE, arguments_for_torch, as_tuple, call_torch, compared, op_samples

TOLERANCE = 1e-10

# Ops whose gradients are not compared, and why.
EXCUSED = {
    "hardsigmoid": "PyTorch uses 1/6 in single precision",
    "to": "the samples convert to single precision",
    "scatter": "PyTorch returns a gradient for overwritten elements",
    "index_put": "PyTorch returns a gradient for overwritten elements",
    "ctc_loss": "PyTorch's gradient assumes normalised probabilities",
    "unique_all": "it has no gradient",
}
# PyTorch writes running statistics in place. Here they are results, without a gradient.
FIRST_ONLY = {"batch_norm", "instance_norm"}


def has_gradient(name):
    op = TABLE[name]
    return compared(name) and name not in EXCUSED and not op["random"] and lucid.float64 in op["dtypes"]


def leaves(value):
    """The tensors of an argument that require grad."""
    found = value if isinstance(value, list) else [value]
    return [x for x in found if isinstance(x, lucid.Tensor | torch.Tensor) and x.is_floating_point()]


def loss_of(call, results):
    """A number that depends on every floating-point result."""
    total = None
    for i, result in enumerate(as_tuple(results)[: 1 if call.name in FIRST_ONLY else None]):
        if not (result.is_floating_point() and result.requires_grad):
            continue
        weights = np.random.default_rng(call.sample + i).uniform(0.5, 1.5, tuple(result.shape))
        make = lucid.from_numpy if isinstance(result, lucid.Tensor) else torch.from_numpy
        part = (result * make(np.asarray(weights))).sum()
        total = part if total is None else total + part
    return total


def our_gradients(call):
    arguments = {}
    for name, value in call.arguments.items():
        arguments[name] = op_samples.as_lucid(value)
        for leaf in leaves(arguments[name]):
            leaf.requires_grad_(True)
    total = loss_of(call, lucid._core.ops[call.name](**arguments))
    if total is None:
        return None
    total.backward()
    return {name: [leaf.grad for leaf in leaves(value)] for name, value in arguments.items()}


def their_gradients(call):
    arguments = arguments_for_torch(call, double=True)
    kept = {name: leaves(value) for name, value in arguments.items()}
    for leaf in itertools.chain(*kept.values()):
        leaf.requires_grad_(True)
    try:
        total = loss_of(call, call_torch(call, arguments))
        if total is None:
            return None
        total.backward()
    except (RuntimeError, TypeError, NotImplementedError):
        return None
    return {name: [leaf.grad for leaf in found] for name, found in kept.items()}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in TABLE if has_gradient(name)])
def test_gradients_match_pytorch(name):
    op = TABLE[name]
    for position in range(len(op["samples"])):
        call = op_samples.make_call(op, position, lucid.float64)
        theirs = their_gradients(call)
        ours = our_gradients(op_samples.make_call(op, position, lucid.float64))
        if theirs is None or ours is None:
            continue
        for parameter, expected in theirs.items():
            for mine, wanted in zip(ours.get(parameter, []), expected):
                if wanted is None:
                    continue
                assert mine is not None or not wanted.any(), f"{call}: no gradient of {parameter}"
                if mine is None:
                    continue
                a, b = mine.numpy(), wanted.numpy()
                scale = max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0)))
                near = (np.abs(a - b) <= TOLERANCE * scale) | (a == b) | (np.isnan(a) & np.isnan(b))
                assert near.all(), f"{call}: of {parameter} {a} against {b}"
