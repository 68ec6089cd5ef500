"""Every op of the table on every sample, for floats and integers, against PyTorch.

Integers, bools and indices must be equal. Elementwise floats are within 2 units in the last place of PyTorch's answer
in double precision, or 3 of its answer in the same precision, which has an error of its own. Other floats, sums of n
products mostly, are within 4 n eps times the largest product.
"""

import pathlib
import sys

import lucid
import numpy as np
import pytest
import references
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

import op_samples

TABLE = {op["name"]: op for op in lucid._core.op_table()}
DTYPES = [lucid.float32, lucid.float64, lucid.int32, lucid.int64, lucid.uint8, lucid.bool]
TORCH_DTYPES = {
    lucid.bool: torch.bool,
    lucid.uint8: torch.uint8,
    lucid.int8: torch.int8,
    lucid.int16: torch.int16,
    lucid.int32: torch.int32,
    lucid.int64: torch.int64,
    lucid.float16: torch.float16,
    lucid.bfloat16: torch.bfloat16,
    lucid.float32: torch.float32,
    lucid.float64: torch.float64,
}
# Elementwise, though made of several ops.
ELEMENTWISE = {
    "square",
    "pow",
    "relu6",
    "threshold",
    "hardtanh",
    "hardsigmoid",
    "hardshrink",
    "softshrink",
    "clamp",
    "clip",
}


def compared(name):
    return TABLE[name]["public"] and name not in references.NO_COUNTERPART


def as_torch(value, bound, double):
    """An argument for PyTorch, in double precision if asked. Its index functions take no negative indices."""
    if isinstance(value, list):
        return [as_torch(part, bound, double) for part in value]
    if isinstance(value, lucid.dtype):
        return torch.float64 if double and value.is_floating_point else TORCH_DTYPES[value]
    if not isinstance(value, np.ndarray):
        return value
    if bound:
        value = np.where(value < 0, value + bound, value)
    tensor = torch.from_numpy(np.array(value))
    return tensor.double() if double and tensor.is_floating_point() else tensor


def ask_torch(call, double):
    arguments = op_samples.all_arguments(call)
    function = references.counterpart(call.name)
    positional, keywords = [], {}
    for parameter in call.op["parameters"]:
        name = parameter["name"]
        bound = call.bounds.get(name) if parameter["kind"] == "tensor" else None
        value = as_torch(arguments[name], bound, double)
        if parameter["keyword_only"]:
            keywords[name] = value
        else:
            positional.append(value)
    if keywords.get("dtype", ...) is None:
        del keywords["dtype"]
    try:
        return as_tuple(function(*positional, **keywords))
    except TypeError:
        # Lucid takes a number for any tensor, PyTorch in some places only.
        for i, parameter in enumerate(call.op["parameters"]):
            if parameter["kind"] == "tensor" and isinstance(positional[i], bool | int | float):
                positional[i] = torch.tensor(positional[i])
        return as_tuple(function(*positional, **keywords))


def as_tuple(results):
    return (results,) if isinstance(results, lucid.Tensor | torch.Tensor) else tuple(results)


def largest_product(call):
    largest, count = 1.0, 1
    for value in call.arguments.values():
        for array in value if isinstance(value, list) else [value]:
            if isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.size:
                largest *= max(1.0, float(np.abs(array).max()))
                count = max(count, array.size)
    return largest, count


def error_bound(call, theirs, same_precision):
    """How far an answer may lie from theirs, for each element."""
    kind = np.dtype(op_samples.NUMPY_DTYPES[call.dtype]) if call.dtype.is_floating_point else np.dtype(np.float32)
    size = np.abs(theirs[np.isfinite(theirs)])
    if call.op["pointwise"] or call.name in ELEMENTWISE:
        with np.errstate(invalid="ignore", over="ignore"):
            return (3 if same_precision else 2) * np.spacing(np.abs(theirs).astype(kind)).astype(np.float64)
    largest, count = largest_product(call)
    return 4 * count * float(np.finfo(kind).eps) * max(largest, float(size.max(initial=0)))


def agrees(call, ours, theirs, same_precision):
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - theirs) <= error_bound(call, theirs, same_precision)
    return bool(np.all(near | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))))


def check(call):
    ours = [np.array(result.detach().numpy()) for result in as_tuple(call.run())]
    theirs = [result.numpy() for result in ask_torch(call, double=False)]
    assert len(ours) == len(theirs), call
    exact = None
    for i, (mine, native) in enumerate(zip(ours, theirs)):
        assert mine.shape == native.shape, f"{call}: {mine.shape} against {native.shape}"
        assert mine.dtype == native.dtype, f"{call}: {mine.dtype} against {native.dtype}"
        if call.name in references.PICKS and call.dtype is lucid.bool and i == 1:
            continue
        if mine.dtype.kind != "f":
            assert np.array_equal(mine, native), f"{call}: {mine} against {native}"
        elif not agrees(call, mine, native, same_precision=True):
            exact = exact or ask_torch(call, double=True)
            assert agrees(call, mine, exact[i].numpy(), same_precision=False), f"{call}: {mine} against {native}"


def dtypes_of(op):
    """One is enough where no tensor of the samples follows the dtype under test."""
    found = [dtype for dtype in DTYPES if dtype in op["dtypes"]]
    follows = any(
        tensor and "shape" in tensor and "dtype" not in tensor
        for sample in op["samples"]
        for tensor in sample["tensors"]
    )
    return found if follows else found[:1]


# PyTorch warns of variances of a single element.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in TABLE if compared(name)])
def test_answers_like_pytorch(name):
    op = TABLE[name]
    for dtype in dtypes_of(op):
        for position in range(len(op["samples"])):
            check(op_samples.make_call(op, position, dtype))


def test_all_ops_are_compared_or_excused():
    assert references.NO_COUNTERPART.keys() <= TABLE.keys()
    assert all(op["samples"] for op in TABLE.values())
