"""The op table on a gpu: the same results and gradients as on the CPU, bit for bit.

Every tenth sample runs; LUCID_GPU_ALL=1 runs all of them.
"""

import os

import lucid
import op_samples
import pytest
from same import bits, tensors_in

STEP = 1 if os.environ.get("LUCID_GPU_ALL") == "1" else 10
DTYPES = [*op_samples.NUMPY_DTYPES, lucid.bfloat16]


def calls():
    number = 0
    for op in lucid._core.op_table():
        for position in range(len(op["samples"])):
            for dtype in op["dtypes"]:
                if dtype not in DTYPES:
                    continue
                number += 1
                if number % STEP == 0:
                    yield pytest.param(op, position, dtype, id=f"{op['name']}-{position}-{dtype}")


def run(call, device):
    lucid.set_default_device(device)
    try:
        lucid.manual_seed(6)
        inputs = []

        def tensor(value):
            made = op_samples.as_lucid(value)
            for part in tensors_in(made):
                if part.is_floating_point():
                    part.requires_grad_()
                    inputs.append(part)
            return made

        arguments = {name: tensor(value) for name, value in call.arguments.items()}
        try:
            result = lucid._core.ops[call.name](**arguments)
        except Exception as error:
            return type(error), str(error).replace("@gpu:0", "")
        seen = [bits(result)]
        outputs = [part for part in tensors_in(result) if part.requires_grad]
        if outputs:
            try:
                sum((part * part).sum() for part in outputs).backward()
            except NotImplementedError:
                return seen
        return [*seen, [None if made.grad is None else bits(made.grad) for made in inputs]]
    finally:
        lucid.set_default_device("cpu")


@pytest.mark.parametrize(("op", "position", "dtype"), list(calls()))
def test_an_op_has_the_bits_of_the_cpu(op, position, dtype):
    call = op_samples.make_call(op, position, dtype)
    if call.name == "to_device":
        return
    assert run(call, "gpu") == run(call, "cpu")
