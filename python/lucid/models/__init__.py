"""Well-known network architectures, with random weights or those of published files.

>>> model = lucid.models.lenet_5()
>>> model(lucid.zeros(2, 1, 32, 32)).shape
(2, 10)
>>> sum(p.numel() for p in model.parameters())
61706
"""

from .image import (
    InvertedResidual,
    MobileNetV2,
    ResidualBlock,
    ResNet,
    VisionTransformer,
    lenet_5,
    mlp,
    mobilenet_v2,
    resnet_18,
    resnet_34,
    resnet_50,
    vit,
)
from .text import GPT, Bert, GPTBlock, GPTDecoder, bert, gpt, gpt2_small
from .weights import load_weights

__all__ = [
    "GPT",
    "Bert",
    "GPTBlock",
    "GPTDecoder",
    "InvertedResidual",
    "MobileNetV2",
    "ResNet",
    "ResidualBlock",
    "VisionTransformer",
    "bert",
    "gpt",
    "gpt2_small",
    "lenet_5",
    "load_weights",
    "mlp",
    "mobilenet_v2",
    "resnet_18",
    "resnet_34",
    "resnet_50",
    "vit",
]
