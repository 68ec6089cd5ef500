"""Writes tests/python/data/published: small networks of Hugging Face with random weights, and their results.

Needs `pip install transformers==5.23.0`. Each folder is what save_pretrained writes, without the configuration, and has
a file expected.safetensors with inputs and results in double precision. names.json lists names and shapes of weights
of residual networks, which are too large to be small.
"""

from __future__ import annotations

import json
import pathlib
import shutil
from typing import Any

import torch
import transformers
from safetensors.torch import save_file

PUBLISHED = pathlib.Path(__file__).resolve().parents[1] / "python" / "data" / "published"
GPT2 = {
    "n_embd": 8,
    "n_head": 2,
    "n_layer": 2,
    "vocab_size": 11,
    "n_positions": 6,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
BERT = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "vocab_size": 11,
    "max_position_embeddings": 6,
}
VIT = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "image_size": 8,
    "patch_size": 4,
    "num_labels": 3,
    "layer_norm_eps": 1e-6,
}


def randomize(model: Any) -> Any:
    """Gives every weight a value that matters."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3 + (parameter.dim() == 1))
    return model.eval()


def save(name: str, model: Any, inputs: dict[str, torch.Tensor], results: Any, **settings: Any) -> None:
    folder = PUBLISHED / name
    shutil.rmtree(folder, ignore_errors=True)
    if settings.pop("pickled", False):
        folder.mkdir(parents=True)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    else:
        model.save_pretrained(folder, **settings)
        for extra in folder.glob("*config.json"):
            extra.unlink()
    model.double()
    with torch.no_grad():
        named = {f"result {i}": value.contiguous() for i, value in enumerate(results(model))}
    save_file({**inputs, **named}, folder / "expected.safetensors")


def main() -> None:
    torch.manual_seed(0)
    tokens = torch.randint(0, 11, (2, 5))
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    images = torch.randn(2, 3, 8, 8, dtype=torch.float64)

    gpt2 = randomize(transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2)))
    save("gpt2", gpt2, {"tokens": tokens}, lambda model: [model(tokens).logits], max_shard_size="4KB")
    base = randomize(transformers.GPT2Model(transformers.GPT2Config(**GPT2)))
    save(
        "gpt2_base",
        base,
        {"tokens": tokens},
        lambda model: [model(tokens).last_hidden_state @ model.wte.weight.T],
        pickled=True,
    )
    for kind in ("BertModel", "BertForMaskedLM", "BertForSequenceClassification"):
        bert = randomize(getattr(transformers, kind)(transformers.BertConfig(**BERT)))
        save(
            kind,
            bert,
            {"tokens": tokens, "mask": mask},
            lambda model: [
                value
                for value in getattr(model, "bert", model)(tokens, attention_mask=mask).to_tuple()
                if value is not None
            ],
        )
    vit = randomize(transformers.ViTForImageClassification(transformers.ViTConfig(**VIT)))
    save("vit", vit, {"images": images}, lambda model: [model(images).logits])

    names = {}
    for kind, settings in {
        "basic": {"layer_type": "basic", "hidden_sizes": [64, 128, 256, 512], "depths": [1, 2, 1, 1]},
        "bottleneck": {"depths": [1, 1, 2, 1]},
    }.items():
        resnet = transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=1000, **settings))
        names[kind] = {name: list(value.shape) for name, value in resnet.state_dict().items()}
    lines = [
        f"{json.dumps(kind)}: {{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in listed.items())
        + "\n}"
        for kind, listed in names.items()
    ]
    (PUBLISHED / "names.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
