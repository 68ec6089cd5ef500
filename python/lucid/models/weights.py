"""Loading of published weights into the networks."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from typing import IO, Any, TypeVar

from .. import _core, _effects, _files
from .._foreign import own_tensor
from ..nn.module import Module
from .layouts import Layout, Target, find_layout, find_target

_Model = TypeVar("_Model", bound=Module)
Source = str | os.PathLike[str] | IO[bytes] | Mapping[str, Any]

# The files of a folder that may hold weights, the preferred one first.
_FILES = (
    *("model.safetensors", "model.safetensors.index.json"),
    *("pytorch_model.bin", "pytorch_model.bin.index.json"),
)
# Number of bytes that tell a safetensors file from one of torch.save.
_START = 9
_PARTS = 3
_SHOWN = 5


@_effects.effect("reads a file")
def load_weights(model: _Model, source: Source) -> _Model:
    """Copies weights from a file or a state dict into a network. Returns the network.

    Weights are found by their names: those of the network, or those that published files use. There are name maps for

    - `GPT`: GPT-2 of Hugging Face, whose matrices are transposed. Without an output layer, the embedding is used.
    - `Bert`: BERT models of Hugging Face, such as MiniLM. Output layers that Bert does not have are ignored.
    - `ResNet`: torchvision, timm and Hugging Face.
    - `VisionTransformer`: torchvision, timm and Hugging Face. The norms of Hugging Face have `eps=1e-12`, not 1e-6.
    - `MobileNetV2`: torchvision.

    Args:
        model: A network of `lucid.models`, or any other module, whose weights are then found by its own names.
        source: The path of a safetensors file, of a file of torch.save, of an index of several such files, or of a
            folder with `model.safetensors`, `pytorch_model.bin` or their index; an object with read(); or a dict
            from names to tensors.

    Names that are missing or unexpected, and shapes that differ, raise one ValueError that lists them. The network is
    then unchanged.

    >>> trained, model = lucid.models.mlp([2, 3]), lucid.models.mlp([2, 3])
    >>> lucid.models.load_weights(model, trained.state_dict())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
    )
    >>> lucid.equal(model[0].weight, trained[0].weight)
    True
    >>> lucid.models.load_weights(model, {"0.weight": trained[0].weight, "bias": trained[0].bias})
    Traceback (most recent call last):
        ...
    ValueError: load_weights: the state dict does not fit Sequential: missing '0.bias'; unexpected 'bias'
    """
    state, origin = _read(source)
    found = _arrange(model, state, origin)
    model.load_state_dict(found, strict=False)
    return model


def _arrange(model: Module, state: Mapping[str, Any], origin: str) -> dict[str, _core.Tensor]:
    """Returns the tensors of `state` by the names of the model. Raises ValueError unless all fit."""
    wanted = model.state_dict()
    layout = find_layout(model)
    pieces: dict[str, dict[int | None, _core.Tensor]] = {}
    unexpected, twice = [], []
    for name, value in state.items():
        value = own_tensor(value)
        if not isinstance(name, str) or not isinstance(value, _core.Tensor):
            raise ValueError(
                f"load_weights: {origin} has {type(value).__name__} objects among its tensors, at key {name!r}; "
                "pass the state dict itself, such as load_torch(file)['state_dict']"
            )
        try:
            target = find_target(layout, name, wanted.__contains__)
        except KeyError:
            unexpected.append(name)
            continue
        if target is None:
            continue
        if target.name not in wanted:
            unexpected.append(name)
        elif target.part in pieces.setdefault(target.name, {}):
            twice.append(name)
        else:
            pieces[target.name][target.part] = _oriented(value, target)
    found = {name: joined for name, parts in pieces.items() if (joined := _joined(parts)) is not None}
    missing = _add_optional(found, wanted, layout)
    shapes = [
        f"{name!r} has shape {value.shape}, expected {wanted[name].shape}"
        for name, value in found.items()
        if value.shape != wanted[name].shape
    ]
    problems = [
        *_listed("missing", map(repr, missing)),
        *_listed("unexpected", map(repr, unexpected)),
        *_listed("given twice:", map(repr, twice)),
        *_listed("", shapes),
    ]
    if problems:
        raise ValueError(f"load_weights: {origin} does not fit {type(model).__name__}: {'; '.join(problems)}")
    return found


def _oriented(value: _core.Tensor, target: Target) -> _core.Tensor:
    return value.T if target.transposed and value.dim() == 2 else value


def _joined(parts: dict[int | None, _core.Tensor]) -> _core.Tensor | None:
    """Returns the tensor that the parts make, or None if some are missing."""
    if None in parts:
        return parts[None] if len(parts) == 1 else None
    if len(parts) != _PARTS or any(part.dim() == 0 or part.shape != parts[0].shape for part in parts.values()):
        return None
    from .. import cat

    return cat([parts[part] for part in range(_PARTS)])


def _add_optional(found: dict[str, _core.Tensor], wanted: Mapping[str, Any], layout: Layout) -> list[str]:
    """Adds tied weights that are not in the file. Returns the names that are missing.

    Files written before PyTorch 0.4.1 have no num_batches_tracked.
    """
    for name, other in layout.tied.items():
        if name not in found and other in found:
            found[name] = found[other]
    return [name for name in wanted if name not in found and not name.endswith("num_batches_tracked")]


def _listed(word: str, items: Iterable[str]) -> list[str]:
    names = list(items)
    if not names:
        return []
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return [f"{word} {', '.join(names[:_SHOWN])}{rest}".strip()]


def _read(source: Source) -> tuple[Mapping[str, Any], str]:
    """Returns the tensors by their names in the source, and what to call the source in messages."""
    if isinstance(source, Mapping):
        return source, "the state dict"
    if hasattr(source, "read"):
        data = source.read()
        return _load(io.BytesIO(data), data, "the file"), "the file"
    path = os.fsdecode(source)
    if os.path.isdir(path):
        names = [name for name in _FILES if os.path.exists(os.path.join(path, name))]
        if not names:
            raise FileNotFoundError(f"load_weights: the folder {path} has none of {', '.join(_FILES)}")
        path = os.path.join(path, names[0])
    return (_read_index(path) if path.endswith(".json") else _read_file(path)), path


def _read_file(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        start = file.read(_START)
    return _load(path, start, path)


def _load(f: str | IO[bytes], start: bytes, origin: str) -> dict[str, Any]:
    # A safetensors file starts with the size of its header, which is an object in JSON.
    state = _files.load(f) if start[_START - 1 : _START] == b"{" else _files.load_torch(f)
    if not isinstance(state, dict):
        raise ValueError(f"load_weights: {origin} contains a {type(state).__name__}, not a dict of tensors")
    return state


def _read_index(path: str) -> dict[str, Any]:
    """Reads the files that an index names. They are in the folder of the index."""
    import json

    with open(path, "rb") as file:
        try:
            index = json.load(file)
        except (ValueError, RecursionError):
            raise ValueError(f"load_weights: {path} is not a JSON file") from None
    places = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise ValueError(f"load_weights: {path} has no weight_map from names of tensors to names of files")
    names: dict[str, list[str]] = {}
    for name, file_name in places.items():
        names.setdefault(file_name, []).append(name)
    state: dict[str, Any] = {}
    for file_name, its_names in names.items():
        if file_name in ("", ".", "..") or "/" in file_name or "\0" in file_name:
            raise ValueError(f"load_weights: {path} names the file {file_name[:100]!r}, which is not in its folder")
        part = os.path.join(os.path.dirname(path), file_name)
        tensors = _read_file(part)
        for name in its_names:
            if name not in tensors:
                raise ValueError(f"load_weights: {part} does not contain {name[:100]!r}, as {path} says")
            state[name] = tensors[name]
    return state
