"""Writes the files of torch.save in tests/python/data. `python tests/peers/torch_files.py` writes them again.

tests/python/test_load_torch.py has their expected contents. The bytes differ from run to run.
"""

from __future__ import annotations

import pathlib
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import torch

DATA = pathlib.Path(__file__).resolve().parents[1] / "python" / "data"
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


def small() -> dict[str, Any]:
    """Two tensors that share memory, and plain data. Small, because tests change every byte of it."""
    w = torch.arange(6.0).reshape(2, 3)
    return {"w": w, "column": w[:, 1], "n": [3, "text", None]}


def checkpoint() -> dict[str, Any]:
    model = torch.nn.Linear(3, 2)
    with torch.no_grad():
        model.weight.copy_(torch.arange(6.0).reshape(2, 3))
        model.bias.fill_(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25, momentum=0.5)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    base = torch.arange(10)
    attributed = torch.ones(1)
    attributed.note = "dropped"  # type: ignore[attr-defined]
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "dtypes": {dtype: torch.tensor([0, 1, 3]).to(getattr(torch, dtype)) for dtype in DTYPES},
        "tensors": {
            "scalar": torch.tensor(2.5),
            "empty": torch.zeros(2, 0),
            "transposed": torch.arange(6).reshape(2, 3).T,
            "expanded": torch.tensor([7.0]).expand(4),
            "channels last": torch.arange(8.0).reshape(1, 2, 2, 2).to(memory_format=torch.channels_last),
            "grad": torch.ones(2, requires_grad=True),
            "parameter": torch.nn.Parameter(torch.full((2,), 4.0)),
            "frozen": torch.nn.Parameter(torch.zeros(1, dtype=torch.int64), requires_grad=False),
            "buffer": torch.nn.Buffer(torch.ones(1)),
            "attributed": attributed,
        },
        "shared": [base, base[2:8:2], base[5:], base],
        "plain": {
            "numbers": (1, -1, 255, 65535, -(2**31), 2**62, -(2**70), 0.1, True, False, None, 1 + 2j),
            "text": "Grüße",
            "binary": [b"", b"\x00\xff", bytearray(b"ab")],
            "sets": [set(), {1, 2}, frozenset({"a"})],
            "ordered": OrderedDict([("b", 1), ("a", 2)]),
            "counter": Counter("aab"),
            "default": defaultdict(list, {3: [4]}),
            (1, "key"): [],
            "torch": [torch.Size([2, 3]), torch.float16, torch.device("cpu"), torch.device("cuda", 1)],
        },
    }


# For each file the object, and how it is written.
FILES: dict[str, tuple[Any, dict[str, Any]]] = {
    "small.pt": (small, {}),
    "small_legacy.pt": (small, {"_use_new_zipfile_serialization": False}),
    "checkpoint.pt": (checkpoint, {}),
    "checkpoint_legacy.pt": (checkpoint, {"_use_new_zipfile_serialization": False}),
    "checkpoint_protocol_5.pt": (checkpoint, {"pickle_protocol": 5}),
}


def write(folder: pathlib.Path) -> None:
    for name, (make, settings) in FILES.items():
        torch.save(make(), folder / name, **settings)


if __name__ == "__main__":
    write(DATA)
