"""Files exchanged with the safetensors package and PyTorch, both ways."""

from __future__ import annotations

from pathlib import Path

import lucid
import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(7, 5)
        self.body = torch.nn.Sequential(torch.nn.Linear(5, 5), torch.nn.BatchNorm1d(5))
        self.head = torch.nn.Linear(5, 7, bias=False)
        self.head.weight = self.embedding.weight


def numbers(x: lucid.Tensor | torch.Tensor) -> np.ndarray:
    return np.array((x.float() if "bfloat16" in str(x.dtype) else x).tolist())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3)])
def test_every_dtype_round_trips(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    theirs = (torch.randn(shape) * 3).to(getattr(torch, dtype))
    save_file({"x": theirs}, tmp_path / "theirs")
    ours = lucid.load(tmp_path / "theirs")["x"]
    assert str(ours.dtype).split(".")[-1] == dtype
    assert tuple(ours.shape) == shape
    np.testing.assert_array_equal(numbers(ours), numbers(theirs))
    lucid.save({"x": ours}, tmp_path / "ours")
    back = load_file(tmp_path / "ours")["x"]
    assert back.dtype == theirs.dtype
    assert torch.equal(back, theirs)


def test_weights_of_a_model_round_trip(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 2))
    save_file(model.state_dict(), tmp_path / "theirs")
    loaded = lucid.load(tmp_path / "theirs")
    assert set(loaded) == set(model.state_dict())
    lucid.save(loaded, tmp_path / "ours")
    other = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 2))
    other.load_state_dict(load_file(tmp_path / "ours"))
    for name, value in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], value), name


def test_tied_weights_round_trip(tmp_path: Path) -> None:
    model = Tied()
    save_model(model, str(tmp_path / "theirs"))
    loaded = lucid.load(tmp_path / "theirs")
    assert set(loaded) == set(model.state_dict())
    assert loaded["head.weight"] is loaded["embedding.weight"]
    lucid.save(loaded, tmp_path / "ours")
    plain = load_file(tmp_path / "ours")
    assert set(plain) == set(model.state_dict())
    other = Tied()
    other.load_state_dict(plain)
    assert torch.equal(other.head.weight, model.head.weight)
    third = Tied()
    # Lucid's files have every name. Files of safetensors have one of the names that share memory, which strict expects.
    load_model(third, str(tmp_path / "ours"), strict=False)
    assert torch.equal(third.embedding.weight, model.embedding.weight)


def test_checkpoints_are_readable_files(tmp_path: Path) -> None:
    lucid.save({"model": {"w": lucid.ones(3)}, "epoch": 4, "history": [lucid.zeros(2)]}, tmp_path / "all")
    with safe_open(tmp_path / "all", "pt") as file:
        assert set(file.keys()) == {"model.w", "history.0"}
        assert file.get_tensor("model.w").tolist() == [1, 1, 1]


def test_optimizer_states_round_trip() -> None:
    def trained(library: object) -> object:
        w = library.tensor([1.0, 2.0], dtype=library.float64, requires_grad=True)  # type: ignore[attr-defined]
        optimizer = library.optim.Adam([w], lr=0.1)  # type: ignore[attr-defined]
        for _ in range(3):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        return optimizer

    theirs = trained(torch).state_dict()  # type: ignore[attr-defined]
    numbers_of = {k: lucid.tensor(v.tolist(), dtype=str(v.dtype)[6:]) for k, v in theirs["state"][0].items()}
    ours = trained(lucid)
    ours.load_state_dict({"state": {0: numbers_of}, "param_groups": theirs["param_groups"]})  # type: ignore[attr-defined]
    found = ours.state_dict()["state"][0]  # type: ignore[attr-defined]
    for name, value in theirs["state"][0].items():
        assert found[name].tolist() == value.tolist(), name
