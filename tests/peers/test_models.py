"""Whole networks compared with PyTorch: losses of 20 steps of Adam from the same weights, and weights in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lucid
import numpy as np
import pytest
import torch
import torch_models
from safetensors import torch as safetensors

STEPS = 20
RANDOM = np.random.default_rng(3)


class LstmClassifier:
    """An embedding, an LSTM over it, and a linear layer on its last state, in either library."""

    def __new__(cls, library: Any) -> Any:
        nn = library.nn

        class Classifier(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.embedding = nn.Embedding(50, 16)
                self.lstm = nn.LSTM(16, 24, num_layers=2, batch_first=True, bidirectional=True)
                self.out = nn.Linear(48, 4)

            def forward(self, tokens: Any) -> Any:
                states, _ = self.lstm(self.embedding(tokens))
                return self.out(states[:, -1])

        return Classifier()


def encoder(library: Any) -> Any:
    """A transformer encoder over a sequence of vectors, with a linear layer on the first of them."""
    nn = library.nn

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2)
            self.out = nn.Linear(32, 4)

        def forward(self, x: Any) -> Any:
            return self.out(self.encoder(x)[:, 0])

    return Encoder()


@dataclass
class Case:
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    inputs: np.ndarray[Any, Any]
    targets: np.ndarray[Any, Any]
    lr: float = 1e-3


def images(count: int, channels: int, side: int) -> np.ndarray[Any, Any]:
    return RANDOM.normal(size=(count, channels, side, side))


def labels(*shape: int, classes: int) -> np.ndarray[Any, Any]:
    return RANDOM.integers(0, classes, shape)


TOKENS = labels(2, 33, classes=65)
CASES = {
    "mlp": Case(lucid.models.mlp, torch_models.mlp, RANDOM.normal(size=(8, 784)), labels(8, classes=10)),
    "lenet_5": Case(lucid.models.lenet_5, torch_models.lenet_5, images(4, 1, 32), labels(4, classes=10)),
    "resnet_18": Case(
        lucid.models.resnet_18, lambda: torch_models.ResNet([2, 2, 2, 2]), images(2, 3, 64), labels(2, classes=1000)
    ),
    "mobilenet_v2": Case(
        lambda: lucid.models.MobileNetV2(100, dropout=0.0),
        lambda: torch_models.MobileNetV2(100, dropout=0.0),
        images(2, 3, 64),
        labels(2, classes=100),
    ),
    "gpt_mini": Case(lucid.models.gpt, torch_models.GPT, TOKENS[:, :-1], TOKENS[:, 1:]),
    "lstm": Case(
        lambda: LstmClassifier(lucid),
        lambda: LstmClassifier(torch),
        labels(4, 12, classes=50),
        labels(4, classes=4),
        1e-2,
    ),
    "encoder": Case(
        lambda: encoder(lucid), lambda: encoder(torch), RANDOM.normal(size=(4, 6, 32)), labels(4, classes=4)
    ),
}
VIT = {"image_size": 32, "patch_size": 8, "dim": 32, "heads": 4, "layers": 2, "hidden": 64, "num_classes": 10}
BERT = {"vocab_size": 100, "context": 32, "dim": 32, "heads": 4, "layers": 2, "hidden": 64}


def flat(scores: Any, targets: Any) -> tuple[Any, Any]:
    """Scores as rows, one for each target."""
    return scores.reshape(-1, scores.shape[-1]), targets.reshape(-1)


def train(library: Any, model: Any, case: Case, inputs: np.ndarray[Any, Any], dtype: str) -> list[float]:
    x = library.as_tensor(inputs)
    if inputs.dtype.kind == "f":
        x = x.to(getattr(library, dtype))
    y = library.as_tensor(case.targets)
    model.to(getattr(library, dtype)).train()
    optimizer = library.optim.Adam(model.parameters(), lr=case.lr)
    losses = []
    for _ in range(STEPS):
        loss = library.nn.functional.cross_entropy(*flat(model(x), y))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def load_from_torch(ours: Any, theirs: Any) -> None:
    ours.load_state_dict({name: lucid.from_numpy(value.numpy()) for name, value in theirs.state_dict().items()})


def run_both(name: str, dtype: str) -> tuple[list[float], list[float], list[list[float]]]:
    """The losses of Lucid, of PyTorch, and of PyTorch with inputs and weights perturbed by one ULP."""
    case = CASES[name]
    torch.manual_seed(1)
    start = case.theirs().to(getattr(torch, dtype))
    state = {key: value.clone() for key, value in start.state_dict().items()}
    ours = case.ours().to(getattr(lucid, dtype))
    load_from_torch(ours, start)
    got = train(lucid, ours, case, case.inputs, dtype)

    def theirs(direction: int) -> list[float]:
        model = case.theirs().to(getattr(torch, dtype))
        model.load_state_dict(state)
        inputs = case.inputs
        far = np.inf * direction if direction else 0.0
        if direction and inputs.dtype.kind == "f":
            inputs = np.nextafter(inputs.astype(dtype), np.array(far, dtype))
        elif direction:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(torch.nextafter(parameter, torch.tensor(far, dtype=parameter.dtype)))
        return train(torch, model, case, inputs, dtype)

    return got, theirs(0), [theirs(1), theirs(-1)]


@pytest.mark.parametrize("name", CASES)
def test_losses_in_double_precision(name: str) -> None:
    got, expected, _ = run_both(name, "float64")
    assert expected[-1] < 0.9 * expected[0]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_losses_in_single_precision(name: str) -> None:
    got, expected, moved = run_both(name, "float32")
    assert expected[-1] < 0.9 * expected[0]
    # Errors grow chaotically with the steps. PyTorch's own deviation after a perturbation of one ULP is the measure.
    spread = np.maximum.accumulate(np.max(np.abs(np.array(moved) - expected), axis=0))
    allowed = 10 * np.maximum(spread, np.spacing(np.float32(expected[0])))
    assert np.all(np.abs(np.array(got) - expected) <= allowed), (got, expected, allowed.tolist())


@pytest.mark.parametrize("dtype", ["float64"])
def test_encoders_agree(dtype: str) -> None:
    torch.manual_seed(2)
    theirs = torch_models.VisionTransformer(**VIT).to(getattr(torch, dtype)).eval()
    ours = lucid.models.vit(**VIT).to(getattr(lucid, dtype)).eval()
    load_from_torch(ours, theirs)
    x = images(2, 3, 32)
    np.testing.assert_allclose(
        ours(lucid.tensor(x)).detach().numpy(), theirs(torch.tensor(x)).detach().numpy(), rtol=0, atol=1e-12
    )
    theirs = torch_models.Bert(**BERT).to(getattr(torch, dtype)).eval()
    ours = lucid.models.bert(**BERT).to(getattr(lucid, dtype)).eval()
    load_from_torch(ours, theirs)
    tokens, mask = labels(2, 9, classes=100), np.array([[1] * 9, [1] * 5 + [0] * 4])
    for got, expected in zip(
        ours(lucid.tensor(tokens), attention_mask=lucid.tensor(mask)),
        theirs(torch.tensor(tokens), torch.tensor(mask)),
        strict=True,
    ):
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), rtol=0, atol=1e-12)


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    **{name: (case.ours, case.theirs) for name, case in CASES.items()},
    "resnet_34": (lucid.models.resnet_34, lambda: torch_models.ResNet([3, 4, 6, 3])),
    "resnet_50": (lucid.models.resnet_50, lambda: torch_models.ResNet([3, 4, 6, 3], bottleneck=True)),
    "vit": (lambda: lucid.models.vit(**VIT), lambda: torch_models.VisionTransformer(**VIT)),
    "bert": (lambda: lucid.models.bert(**BERT), lambda: torch_models.Bert(**BERT)),
}


@pytest.mark.parametrize("name", MODELS)
def test_state_round_trips_through_files(name: str, tmp_path: Any) -> None:
    make_ours, make_theirs = MODELS[name]
    ours, theirs = make_ours(), make_theirs()
    lucid.save(ours.state_dict(), tmp_path / "ours.safetensors")
    theirs.load_state_dict(safetensors.load_file(tmp_path / "ours.safetensors"))
    for key, value in ours.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), theirs.state_dict()[key].numpy(), err_msg=key)
    theirs = make_theirs()
    safetensors.save_file(theirs.state_dict(), tmp_path / "theirs.safetensors")
    ours.load_state_dict(lucid.load(tmp_path / "theirs.safetensors"))
    for key, value in theirs.state_dict().items():
        np.testing.assert_array_equal(ours.state_dict()[key].numpy(), value.numpy(), err_msg=key)
