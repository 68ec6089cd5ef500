"""Calls every public op with tensors that have no elements but huge dimensions: python empty_shapes.py MODE.

MODE is "eager", "backward" or "compiled". Prints the calls that take longer than a few seconds, crash, or raise an
internal error. Each op runs in a child of its own, with little memory: results that are not empty may be huge.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

import lucid
from lucid import _core

# A call takes milliseconds; a loop over one of these sizes takes minutes to days.
SHAPES = [(0, 2**40), (2**40, 0), (2**31, 0, 3), (0, 2, 2**36, 3)]
SECONDS = 60
MEMORY = 4 << 30
# They return a tensor for each element of a dimension.
MANY_RESULTS = {"unbind", "split", "chunk", "tensor_split"}

Case = tuple[tuple[int, ...], dict[str, Any], int]


def cases(op: dict[str, Any], mode: str) -> Iterator[Case]:
    """The samples of the op with each shape, along each dimension. Compiled calls, which take longer, are fewer."""
    takes_dim = any(parameter["name"] == "dim" for parameter in op["parameters"])
    few = mode == "compiled"
    for shape in SHAPES[:2] if few else SHAPES:
        for sample in op["samples"][:1] if few else op["samples"]:
            for dim in range(len(shape) if takes_dim else 1):
                yield shape, sample, dim


def operand(op: dict[str, Any], tensor: dict[str, Any] | None, shape: tuple[int, ...], grad: bool) -> Any:
    if tensor is None or "number" in tensor:
        return tensor and tensor["number"]
    kinds = {"index": lucid.int64, "offset": lucid.int64, "mask": lucid.bool, "true_mask": lucid.bool}
    dtype = tensor.get("dtype") or kinds.get(tensor["fill"])
    if dtype is None:
        dtype = lucid.float32 if lucid.float32 in op["dtypes"] else op["dtypes"][-1]
    x = lucid.zeros(shape if tensor["shape"] else (), dtype=dtype)
    return x.requires_grad_() if grad and dtype.is_floating_point else x


def run(op: dict[str, Any], case: Case, mode: str) -> None:
    shape, sample, dim = case
    tensors = iter(sample["tensors"])
    listed = len(sample["tensors"]) - sum(parameter["kind"] == "tensor" for parameter in op["parameters"])
    arguments = {}
    for parameter in op["parameters"]:
        name, kind = parameter["name"], parameter["kind"]
        if kind == "tensor":
            arguments[name] = operand(op, next(tensors), shape, mode != "eager")
        elif kind == "tensors":
            arguments[name] = [operand(op, next(tensors), shape, mode != "eager") for _ in range(listed)]
        elif name == "dim":
            arguments[name] = [dim] if kind == "axes" else dim
        elif name in sample["attributes"]:
            arguments[name] = sample["attributes"][name]

    def call() -> Any:
        result = _core.ops[op["name"]](**arguments)
        for part in result if isinstance(result, (list, tuple)) else [result]:
            if mode != "eager" and part.requires_grad:
                part.backward(lucid.zeros(()).expand(part.shape))
        return result

    if mode != "compiled":
        call()
        return
    compiled = lucid.compile(call)
    for _ in range(2):
        compiled()
        lucid.compiler.wait()


def run_all(op: dict[str, Any], mode: str, report: int) -> None:
    """Writes a line before each case, and one for each internal error."""
    for case in cases(op, mode):
        signal.alarm(SECONDS)
        os.write(report, f"{case[0]} dim {case[2]} {case[1]['attributes']}\n".encode())
        try:
            run(op, case, mode)
        except lucid.InternalError as error:
            os.write(report, f"internal error: {error}\n".encode())
        except (MemoryError, ValueError, IndexError, TypeError, RuntimeError):
            pass


def main(mode: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for op in _core.op_table():
        if not op["public"] or op["name"] in MANY_RESULTS:
            continue
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            run_all(op, mode, write)
            os._exit(0)
        os.close(write)
        with open(read) as report:
            lines = report.read().splitlines()
        status = os.waitpid(child, 0)[1]
        if status:
            print(op["name"], mode, lines[-1] if lines else "", "ends with", status)
        for at, line in enumerate(lines):
            if line.startswith("internal error"):
                print(op["name"], mode, lines[at - 1], line)
    print("end")


if __name__ == "__main__":
    main(sys.argv[1])
