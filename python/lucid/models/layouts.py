"""The names that published files give to the weights of the networks, one table for each network.

In a pattern, `#` stands for a number and `*` for the rest of a name. In a target they stand for what the pattern found,
and `+` for the number plus one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .. import _effects
from ..nn.module import Module
from .image import ResNet, VisionTransformer
from .text import GPT, Bert

_effects.pure_module()


class Target(NamedTuple):
    """Where a tensor of a file belongs.

    Args:
        name: Name of a parameter or buffer of the network, or a pattern of such names.
        transposed: Whether the file stores the transpose of the matrix.
        part: If not None, the tensor is this one of three that are joined along the first dimension.
    """

    name: str
    transposed: bool = False
    part: int | None = None


class Layout(NamedTuple):
    """The names of one network's weights in published files. Names of the network itself are always accepted.

    Args:
        names: A target for each pattern of names.
        prefixes: Prefixes that may precede all names.
        ignored: Patterns of names in files that the network has no use for.
        tied: Names that may be missing, each with the name of the weight that is then used.
    """

    names: Mapping[str, str | Target] = {}
    prefixes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    tied: Mapping[str, str] = {}


def _matrix(name: str) -> Target:
    return Target(name, transposed=True)


def _projections(patterns: tuple[str, str, str], target: str) -> dict[str, Target]:
    """Targets of the separate projections to queries, keys and values of attention."""
    return {
        f"{pattern}.{kind}": Target(f"{target}_{kind}", part=part)
        for part, pattern in enumerate(patterns)
        for kind in ("weight", "bias")
    }


# Hugging Face. Its GPT-2 stores the matrices of linear layers transposed.
_GPT = Layout(
    {
        "wte.*": "tok.*",
        "wpe.*": "pos.*",
        "h.#.ln_1.*": "blocks.#.ln1.*",
        "h.#.ln_2.*": "blocks.#.ln2.*",
        "h.#.attn.c_attn.weight": _matrix("blocks.#.qkv.weight"),
        "h.#.attn.c_attn.bias": "blocks.#.qkv.bias",
        "h.#.attn.c_proj.weight": _matrix("blocks.#.proj.weight"),
        "h.#.attn.c_proj.bias": "blocks.#.proj.bias",
        "h.#.mlp.c_fc.weight": _matrix("blocks.#.up.weight"),
        "h.#.mlp.c_fc.bias": "blocks.#.up.bias",
        "h.#.mlp.c_proj.weight": _matrix("blocks.#.down.weight"),
        "h.#.mlp.c_proj.bias": "blocks.#.down.bias",
        "ln_f.*": "ln.*",
        "lm_head.weight": "head.weight",
    },
    prefixes=("transformer.",),
    ignored=("h.#.attn.bias", "h.#.attn.masked_bias"),
    tied={"head.weight": "tok.weight"},
)

# Hugging Face, whose names Bert has. Files converted from TensorFlow call the weights of norms gamma and beta.
_BERT = Layout(
    {"*.LayerNorm.gamma": "*.LayerNorm.weight", "*.LayerNorm.beta": "*.LayerNorm.bias"},
    prefixes=("bert.",),
    ignored=("embeddings.position_ids", "pooler.*", "cls.*", "classifier.*", "qa_outputs.*"),
)

# torchvision and timm use the names of ResNet; Hugging Face has its own.
_RESNET = Layout(
    {
        "embedder.embedder.convolution.*": "conv1.*",
        "embedder.embedder.normalization.*": "bn1.*",
        "encoder.stages.#.layers.#.layer.#.convolution.*": "layer+.#.conv+.*",
        "encoder.stages.#.layers.#.layer.#.normalization.*": "layer+.#.bn+.*",
        "encoder.stages.#.layers.#.shortcut.convolution.*": "layer+.#.downsample.0.*",
        "encoder.stages.#.layers.#.shortcut.normalization.*": "layer+.#.downsample.1.*",
        "classifier.1.*": "fc.*",
    },
    prefixes=("resnet.",),
)

_BLOCK = "encoder.layers.encoder_layer_#."
_VIT = Layout(
    {
        # torchvision, whose published files have older names of two layers.
        f"{_BLOCK}mlp.linear_1.*": f"{_BLOCK}mlp.0.*",
        f"{_BLOCK}mlp.linear_2.*": f"{_BLOCK}mlp.3.*",
        # Hugging Face: the names of published files, then those of version 5 of its library.
        "embeddings.cls_token": "class_token",
        "embeddings.position_embeddings": "encoder.pos_embedding",
        "embeddings.patch_embeddings.projection.*": "conv_proj.*",
        "encoder.layer.#.layernorm_before.*": f"{_BLOCK}ln_1.*",
        "encoder.layer.#.layernorm_after.*": f"{_BLOCK}ln_2.*",
        **_projections(
            (
                "encoder.layer.#.attention.attention.query",
                "encoder.layer.#.attention.attention.key",
                "encoder.layer.#.attention.attention.value",
            ),
            f"{_BLOCK}self_attention.in_proj",
        ),
        "encoder.layer.#.attention.output.dense.*": f"{_BLOCK}self_attention.out_proj.*",
        "encoder.layer.#.intermediate.dense.*": f"{_BLOCK}mlp.0.*",
        "encoder.layer.#.output.dense.*": f"{_BLOCK}mlp.3.*",
        "layers.#.layernorm_before.*": f"{_BLOCK}ln_1.*",
        "layers.#.layernorm_after.*": f"{_BLOCK}ln_2.*",
        **_projections(
            ("layers.#.attention.q_proj", "layers.#.attention.k_proj", "layers.#.attention.v_proj"),
            f"{_BLOCK}self_attention.in_proj",
        ),
        "layers.#.attention.o_proj.*": f"{_BLOCK}self_attention.out_proj.*",
        "layers.#.mlp.fc1.*": f"{_BLOCK}mlp.0.*",
        "layers.#.mlp.fc2.*": f"{_BLOCK}mlp.3.*",
        "layernorm.*": "encoder.ln.*",
        "classifier.*": "heads.head.*",
        # timm.
        "cls_token": "class_token",
        "pos_embed": "encoder.pos_embedding",
        "patch_embed.proj.*": "conv_proj.*",
        "blocks.#.norm1.*": f"{_BLOCK}ln_1.*",
        "blocks.#.norm2.*": f"{_BLOCK}ln_2.*",
        "blocks.#.attn.qkv.weight": f"{_BLOCK}self_attention.in_proj_weight",
        "blocks.#.attn.qkv.bias": f"{_BLOCK}self_attention.in_proj_bias",
        "blocks.#.attn.proj.*": f"{_BLOCK}self_attention.out_proj.*",
        "blocks.#.mlp.fc1.*": f"{_BLOCK}mlp.0.*",
        "blocks.#.mlp.fc2.*": f"{_BLOCK}mlp.3.*",
        "norm.*": "encoder.ln.*",
        "head.*": "heads.head.*",
    },
    prefixes=("vit.",),
    ignored=("pooler.*",),
)

# Networks without an entry have the names of torchvision's files, or no published files.
LAYOUTS: dict[type[Module], Layout] = {GPT: _GPT, Bert: _BERT, ResNet: _RESNET, VisionTransformer: _VIT}


def find_layout(model: Module) -> Layout:
    return next((layout for kind, layout in LAYOUTS.items() if isinstance(model, kind)), Layout())


def find_target(layout: Layout, name: str, known: Callable[[str], bool]) -> Target | None:
    """Returns where a tensor belongs, or None if it is ignored. Raises KeyError if the layout has no such name.

    `known` tells whether the network has a parameter or buffer of a name.
    """
    for prefix in layout.prefixes:
        name = name.removeprefix(prefix)
    if known(name):
        return Target(name)
    for pattern, target in layout.names.items():
        if (found := _match(pattern, name)) is not None:
            target = target if isinstance(target, Target) else Target(target)
            return target._replace(name=_fill(target.name, found))
    if any(_match(pattern, name) is not None for pattern in layout.ignored):
        return None
    raise KeyError(name)


def _match(pattern: str, name: str) -> tuple[str, ...] | None:
    parts = {"#": r"(\d+)", "*": "(.+)"}
    text = "".join(parts.get(part, re.escape(part)) for part in re.split(r"([#*])", pattern))
    found = re.fullmatch(text, name)
    return None if found is None else found.groups()


def _fill(target: str, found: tuple[str, ...]) -> str:
    values = iter(found)
    return re.sub(r"[#*+]", lambda sign: str(int(next(values)) + 1) if sign[0] == "+" else next(values), target)
