"""Every op of the table on every sample and every dtype that it supports, compared with PyTorch.

Integers, bools and indices must be equal, floats within the bounds of accuracy.py; dtypes and shapes must be PyTorch's.
"""

import accuracy
import lucid
import numpy as np
import op_samples
import pytest
import references
import torch

TABLE = {op["name"]: op for op in lucid._core.op_table()}
TORCH_DTYPES = {
    lucid.float32: torch.float32,
    lucid.float64: torch.float64,
    lucid.float16: torch.float16,
    lucid.bfloat16: torch.bfloat16,
    lucid.int64: torch.int64,
    lucid.int32: torch.int32,
    lucid.int16: torch.int16,
    lucid.int8: torch.int8,
    lucid.uint8: torch.uint8,
    lucid.bool: torch.bool,
}


def compared(name):
    return TABLE[name]["public"] and name not in references.NO_COUNTERPART


def as_torch(value, bound, double):
    """An argument for PyTorch, optionally in double precision. Its index functions accept no negative indices."""
    if isinstance(value, list):
        return [as_torch(part, bound, double) for part in value]
    if isinstance(value, lucid.dtype):
        return torch.float64 if double and value.is_floating_point else TORCH_DTYPES[value]
    if not isinstance(value, np.ndarray):
        return value
    if bound:
        value = np.where(value < 0, value + bound, value)
    tensor = torch.from_numpy(np.array(value))
    if double and tensor.is_floating_point():
        return tensor.double()
    return tensor.bfloat16() if isinstance(value, op_samples.BFloat16) else tensor


def arguments_for_torch(call, double, change=lambda value: value):
    """PyTorch's arguments, by name. `change` may replace arrays by tensors."""
    arguments = op_samples.all_arguments(call)
    found = {}
    for parameter in call.op["parameters"]:
        name = parameter["name"]
        bound = call.bounds.get(name) if parameter["kind"] == "tensor" else None
        found[name] = as_torch(change(arguments[name]), bound, double)
    return found


def call_torch(call, arguments):
    function = references.counterpart(call.name)
    parameters = call.op["parameters"]
    positional = [arguments[parameter["name"]] for parameter in parameters if not parameter["keyword_only"]]
    keywords = {
        parameter["name"]: arguments[parameter["name"]] for parameter in parameters if parameter["keyword_only"]
    }
    if keywords.get("dtype", ...) is None:
        del keywords["dtype"]
    try:
        return as_tuple(function(*positional, **keywords))
    except TypeError:
        is_double = call.dtype is lucid.float64
        # Lucid accepts a number for any tensor, PyTorch only for some.
        for i, parameter in enumerate(parameters):
            if parameter["kind"] == "tensor" and isinstance(positional[i], bool | int | float):
                positional[i] = torch.tensor(positional[i], dtype=torch.float64 if is_double else None)
        return as_tuple(function(*positional, **keywords))


def run_torch(call, double, change=lambda value: value):
    """PyTorch's results."""
    return call_torch(call, arguments_for_torch(call, double, change))


def as_tuple(results):
    return (results,) if isinstance(results, lucid.Tensor | torch.Tensor) else tuple(results)


def run_torch_exactly(call):
    """PyTorch's results in double precision, also for integers that become floats."""
    torch.set_default_dtype(torch.float64)
    try:
        return [result.double().numpy() for result in run_torch(call, double=True)]
    finally:
        torch.set_default_dtype(torch.float32)


def run_torch_natively(call):
    """PyTorch's results in the same precision; None if it has no kernel for the dtype."""
    try:
        return run_torch(call, double=False)
    except RuntimeError as error:
        if "not implemented for" in str(error) and accuracy.is_half(call.dtype):
            return None
        raise


def check(call):
    ours = as_tuple(call.run())
    theirs = run_torch_natively(call)
    exact = None
    assert theirs is None or len(ours) == len(theirs), call
    for i, mine in enumerate(ours):
        if theirs is not None:
            assert mine.shape == tuple(theirs[i].shape), f"{call}: {mine.shape} against {theirs[i].shape}"
            assert TORCH_DTYPES[mine.dtype] == theirs[i].dtype, f"{call}: {mine.dtype} against {theirs[i].dtype}"
        if call.name in references.PICKS and call.dtype is lucid.bool and i == 1:
            continue
        if mine.dtype.is_floating_point:
            exact = exact or run_torch_exactly(call)
            found = np.array(mine.detach().double().numpy())
            assert found.shape == exact[i].shape, f"{call}: {found.shape} against {exact[i].shape}"
            alike = accuracy.agrees(call, i, found, exact[i], mine.dtype, run_torch_exactly)
            assert alike, f"{call}: {found} against {exact[i]}"
        elif theirs is not None:
            found = np.array(mine.numpy())
            assert np.array_equal(found, theirs[i].numpy()), f"{call}: {found} against {theirs[i]}"


def dtypes_of(op):
    """The dtypes to test; one is enough if no tensor of the samples has the dtype under test."""
    found = [dtype for dtype in TORCH_DTYPES if dtype in op["dtypes"]]
    follows = any(
        tensor and "shape" in tensor and "dtype" not in tensor
        for sample in op["samples"]
        for tensor in sample["tensors"]
    )
    return found if follows else found[:1]


# PyTorch warns about the variance of a single element.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in TABLE if compared(name)])
def test_results_match_pytorch(name):
    op = TABLE[name]
    for dtype in dtypes_of(op):
        for position in range(len(op["samples"])):
            check(op_samples.make_call(op, position, dtype))


def test_all_ops_are_compared_or_excluded():
    assert references.NO_COUNTERPART.keys() <= TABLE.keys()
    assert all(op["samples"] for op in TABLE.values())
