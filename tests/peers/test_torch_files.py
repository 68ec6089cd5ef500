"""Files of torch.save that Lucid reads, compared with what PyTorch finds in them and computes with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lucid
import numpy as np
import pytest
import torch
import torch_files
import torch_models

WAYS = [
    {},
    {"_use_new_zipfile_serialization": False},
    {"pickle_protocol": 3},
    {"pickle_protocol": 4},
    {"pickle_protocol": 5},
    {"_use_new_zipfile_serialization": False, "pickle_protocol": 5},
]


def check(ours: Any, theirs: Any) -> None:
    """Fails unless the objects are equal: types of containers, dtypes, strides and every bit of tensors."""
    if isinstance(theirs, torch.Tensor):
        assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
        assert ours.shape == tuple(theirs.shape)
        assert ours.stride() == theirs.stride() or theirs.numel() == 0
        assert (ours.requires_grad, ours.is_leaf) == (theirs.requires_grad, True)
        assert isinstance(ours, lucid.nn.Parameter) == isinstance(theirs, torch.nn.Parameter)
        numbers = [x.detach().float() if "bfloat16" in str(x.dtype) else x.detach() for x in (ours, theirs)]
        np.testing.assert_array_equal(*(np.array(x.numpy()) for x in numbers))
    elif isinstance(theirs, dict):
        assert type(ours) is dict
        assert list(ours) == list(theirs)
        for key, value in theirs.items():
            check(ours[key], value)
    elif isinstance(theirs, list | tuple):
        assert type(ours) is (list if isinstance(theirs, list) else tuple)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            check(a, b)
    elif isinstance(theirs, torch.dtype):
        assert ours == getattr(lucid, str(theirs).split(".")[-1])
    elif isinstance(theirs, torch.device):
        assert ours == str(theirs)
    else:
        assert type(ours) is type(theirs)
        assert ours == theirs


@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_checkpoints(ways: dict[str, Any], tmp_path: Path) -> None:
    saved = torch_files.checkpoint()
    torch.save(saved, tmp_path / "file", **ways)
    check(lucid.load_torch(tmp_path / "file"), saved)
    with open(tmp_path / "file", "rb") as file:
        check(lucid.load_torch(file), saved)


@pytest.mark.parametrize("name", torch_files.FILES)
def test_committed_files_are_what_pytorch_reads(name: str) -> None:
    theirs = torch.load(torch_files.DATA / name, weights_only=False)
    check(lucid.load_torch(torch_files.DATA / name), theirs)


@pytest.mark.parametrize("dtype", torch_files.DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0, 3), (7, 1, 300)])
def test_every_dtype(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    x = (torch.randn(shape) * 3).to(getattr(torch, dtype))
    for ways in WAYS[:2]:
        torch.save(
            {"x": x, "t": x.T if x.dim() == 2 else x, "part": x[..., ::2] if x.dim() else x}, tmp_path / "x", **ways
        )
        check(lucid.load_torch(tmp_path / "x"), torch.load(tmp_path / "x"))


def test_options_of_the_writer(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    torch.serialization.set_crc32_options(False)
    try:
        torch.save(model.state_dict(), tmp_path / "no checksums")
    finally:
        torch.serialization.set_crc32_options(True)
    check(lucid.load_torch(tmp_path / "no checksums"), model.state_dict())


def test_a_file_of_many_storages(tmp_path: Path) -> None:
    """More than 65,535 entries, which needs a 64-bit zip directory."""
    state = {str(i): torch.tensor(i) for i in range(66_000)}
    torch.save(state, tmp_path / "file")
    found = lucid.load_torch(tmp_path / "file")
    assert list(found) == list(state)
    assert [x.item() for x in found.values()] == list(range(66_000))


@pytest.mark.parametrize("ways", WAYS[:2], ids=str)
def test_modules_and_functions_are_not_built(ways: dict[str, Any], tmp_path: Path) -> None:
    refused = {
        "model": torch.nn.Linear(2, 2),
        "loss": torch.nn.functional.relu,
        "scalar": np.float64(3),
        "array": np.ones(2),
        "layout": torch.strided,
        "generator": torch.Generator().get_state().untyped_storage(),
    }
    for key, value in refused.items():
        torch.save({key: value, "epoch": 3}, tmp_path / "file", **ways)
        with pytest.raises(ValueError, match=rf"load_torch: .*'{key}'"):
            lucid.load_torch(tmp_path / "file")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ways", WAYS[:2], ids=str)
def test_other_kinds_of_tensors_are_named(ways: dict[str, Any], tmp_path: Path) -> None:
    x = torch.ones(2, 2)
    refused = {
        "complex": (x.to(torch.complex64), "ComplexFloatStorage"),
        "conjugated": (x.to(torch.complex64).conj(), "resolve_conj"),
        "sparse": (x.to_sparse(), "to_dense"),
        "compressed": (x.to_sparse_csr(), "to_dense"),
        "quantized": (torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), "dequantize"),
        "float8": (x.to(torch.float8_e5m2), "torch.float8_e5m2"),
        "unsigned": (x.to(torch.uint16), "torch.uint16"),
        "meta": (x.to("meta"), "meta"),
        "nested": (torch.nested.nested_tensor([x[0], x[0, :1]]), "nested"),
    }
    for key, (value, message) in refused.items():
        torch.save({"a": {"epoch": 3, key: value}}, tmp_path / "file", **ways)
        with pytest.raises(ValueError, match=rf"load_torch: obj\['a'\]\['{key}'\]: .*{message}"):
            lucid.load_torch(tmp_path / "file")


SIZES = {"vocab_size": 11, "context": 6, "dim": 16, "heads": 2, "layers": 2}
VIT = {"image_size": 16, "patch_size": 4, "dim": 16, "heads": 2, "layers": 2, "hidden": 24, "num_classes": 5}
TOKENS = np.array([[1, 2, 3, 10], [0, 9, 8, 7]])
IMAGES = np.random.default_rng(1).normal(size=(2, 3, 32, 32))
NETWORKS: dict[str, tuple[Any, Any, Any]] = {
    "resnet": (lambda: lucid.models.ResNet([1, 2, 1, 1]), lambda: torch_models.ResNet([1, 2, 1, 1]), IMAGES),
    "mobilenet_v2": (lucid.models.mobilenet_v2, torch_models.MobileNetV2, IMAGES),
    "vit": (
        lambda: lucid.models.vit(**VIT),
        lambda: torch_models.VisionTransformer(**VIT),
        IMAGES[:, :, :16, :16],
    ),
    "gpt": (lambda: lucid.models.gpt(**SIZES), lambda: torch_models.GPT(**SIZES), TOKENS),
    "bert": (
        lambda: lucid.models.bert(**SIZES, hidden=24),
        lambda: torch_models.Bert(**SIZES, hidden=24),
        TOKENS,
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_with_weights_of_pytorch(name: str, tmp_path: Path) -> None:
    make_ours, make_theirs, inputs = NETWORKS[name]
    torch.manual_seed(3)
    theirs = make_theirs().double().eval()
    torch.save(theirs.state_dict(), tmp_path / "weights.pth")
    ours = lucid.models.load_weights(make_ours().double().eval(), tmp_path / "weights.pth")
    got, expected = ours(lucid.tensor(inputs)), theirs(torch.tensor(inputs))
    for a, b in zip(got, expected) if isinstance(got, tuple) else [(got, expected)]:
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)
