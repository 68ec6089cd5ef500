"""Nodes of loaded models whose operands are known before the call: they run with NumPy, and compile."""

import lucid
import lucid.onnx
import numpy as np
import pytest
from lucid.onnx._host import HOST
from onnx import helper, numpy_helper


def ints(*values):
    return np.array(values, np.int64)


def bools(*values):
    return np.array(values)


PAIR = (ints(7, -7), ints(3, 3))
CASES = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "LessOrEqual", "Min", "Max"), PAIR),
    **dict.fromkeys(("Greater", "GreaterOrEqual"), PAIR),
    **dict.fromkeys(("And", "Or"), (bools(True, False), bools(True, True))),
    **dict.fromkeys(("Neg", "Abs", "Identity", "Squeeze", "Transpose", "Shape", "Size"), (ints(-1),)),
    **dict.fromkeys(("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"), (ints(2, 3),)),
    **dict.fromkeys(("Floor", "Ceil"), (np.array([1.5], np.float32),)),
    "Not": [bools(True)],
    "Where": [bools(True, False), ints(1, 2), ints(3, 4)],
    "Cast": [ints(3)],
    "CastLike": [ints(3), np.ones(1, np.float32)],
    "Concat": [ints(1), ints(2, 3)],
    "Gather": [ints(4, 5, 6), np.array(-1)],
    "Unsqueeze": [ints(4), ints(0)],
    "Slice": [ints(4, 5, 6), ints(-1), ints(-10), ints(0), ints(-2)],
    "Reshape": [ints(1, 2), ints(2, -1)],
    "ConstantOfShape": [ints(2)],
    "Expand": [ints(5), ints(3, 1)],
    "Range": [np.array(7), np.array(0), np.array(-2)],
}
ATTRIBUTES = {"Cast": {"to": 1}, "Concat": {"axis": 0}}


def model_of(op, arrays, from_inputs):
    """The sum of a node's result, added to x. The operands are constants, or inputs."""
    names = [f"c{position}" for position in range(len(arrays))]
    inputs = [helper.make_tensor_value_info("x", 1, [2])]
    nodes = []
    for name, array in zip(names, arrays):
        tensor = numpy_helper.from_array(array)
        if from_inputs:
            inputs.append(helper.make_tensor_value_info(name, tensor.data_type, array.shape))
        else:
            nodes.append(helper.make_node("Constant", [], [name], value=tensor))
    nodes += [
        helper.make_node(op, names, ["r"], **ATTRIBUTES.get(op, {})),
        helper.make_node("Cast", ["r"], ["f"], to=1),
        helper.make_node("ReduceSum", ["f"], ["s"], keepdims=0),
        helper.make_node("Add", ["x", "s"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", 1, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def test_every_function_has_a_case():
    assert set(CASES) == set(HOST)


@pytest.mark.parametrize("op", CASES)
def test_known_operands(op):
    """The result is that of tensors, and a compiled call keeps it."""
    arrays = CASES[op]
    x = lucid.randn(2)
    loaded = lucid.onnx.load(model_of(op, arrays, from_inputs=False))
    expected = lucid.onnx.load(model_of(op, arrays, from_inputs=True))(x, *map(lucid.tensor, arrays))
    assert lucid.equal(loaded(x), expected)
    fast = lucid.compile(loaded)
    assert all(lucid.equal(fast(x), expected) for _ in range(3))
    assert fast.cache_info().hits == 2, fast.explain()


def test_division_by_zero_is_an_error():
    loaded = lucid.onnx.load(model_of("Div", [ints(1), ints(0)], from_inputs=False))
    with pytest.raises(ValueError, match="division by 0"):
        loaded(lucid.ones(2))
