"""Networks for images, and multilayer perceptrons."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core, _effects
from ..nn.container import Sequential
from ..nn.module import Module, layer

_effects.pure_module()


def mlp(sizes: Sequence[int] = (784, 256, 128, 10)) -> Sequential:
    """Returns a multilayer perceptron: linear layers of the given sizes with ReLU between them.

    >>> lucid.models.mlp([4, 8, 2])
    Sequential(
      (0): Linear(in_features=4, out_features=8, bias=True)
      (1): ReLU()
      (2): Linear(in_features=8, out_features=2, bias=True)
    )
    """
    network: Sequential = _core.models.mlp(tuple(sizes))
    return network


def lenet_5(num_classes: int = 10) -> Sequential:
    """Returns LeNet-5, for images of one channel and 32 x 32 pixels. It uses tanh and average pooling.

    >>> lucid.models.lenet_5()(lucid.zeros(1, 1, 32, 32)).shape
    (1, 10)
    """
    network: Sequential = _core.models.lenet_5(num_classes)
    return network


@layer
class ResidualBlock(Module):
    """A residual block: two convolutions, or three in a bottleneck, whose output is added to the input.

    >>> lucid.models.ResidualBlock(4, 8, stride=2)(lucid.zeros(1, 4, 6, 6)).shape
    (1, 8, 3, 3)
    """

    def __init__(self, in_channels: int, channels: int, stride: int = 1, bottleneck: bool = False) -> None:
        self._build(None, in_channels=in_channels, channels=channels, stride=stride, bottleneck=bottleneck)


@layer
class ResNet(Module):
    """A residual network of four stages, for images of three channels.

    Args:
        layers: Number of residual blocks in each stage.
        bottleneck: Whether the blocks are bottlenecks.
        num_classes: Size of the output.

    >>> lucid.models.ResNet([1, 1, 1, 1], num_classes=5)(lucid.zeros(2, 3, 32, 32)).shape
    (2, 5)
    """

    def __init__(self, layers: Sequence[int], bottleneck: bool = False, num_classes: int = 1000) -> None:
        self._build(None, layers=tuple(layers), bottleneck=bottleneck, num_classes=num_classes)


def resnet_18(num_classes: int = 1000) -> ResNet:
    """Returns a ResNet with 18 layers."""
    return ResNet([2, 2, 2, 2], num_classes=num_classes)


def resnet_34(num_classes: int = 1000) -> ResNet:
    """Returns a ResNet with 34 layers."""
    return ResNet([3, 4, 6, 3], num_classes=num_classes)


def resnet_50(num_classes: int = 1000) -> ResNet:
    """Returns a ResNet with 50 layers, built from bottleneck blocks."""
    return ResNet([3, 4, 6, 3], bottleneck=True, num_classes=num_classes)


@layer
class InvertedResidual(Module):
    """An inverted residual block: pointwise expansion, depthwise convolution and pointwise projection.

    >>> lucid.models.InvertedResidual(4, 4)(lucid.zeros(1, 4, 6, 6)).shape
    (1, 4, 6, 6)
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int = 1, expansion: int = 6) -> None:
        self._build(None, in_channels=in_channels, out_channels=out_channels, stride=stride, expansion=expansion)


@layer
class MobileNetV2(Module):
    """MobileNetV2: a small network for images of three channels, built from inverted residual blocks."""

    def __init__(self, num_classes: int = 1000, dropout: float = 0.2) -> None:
        self._build(None, num_classes=num_classes, dropout=dropout)


def mobilenet_v2(num_classes: int = 1000) -> MobileNetV2:
    """Returns a MobileNetV2."""
    return MobileNetV2(num_classes)


@layer
class VisionTransformer(Module):
    """A vision transformer (ViT): a transformer encoder over the patches of an image.

    >>> sizes = dict(image_size=8, patch_size=4, dim=16, heads=2, layers=1, hidden=32, num_classes=5)
    >>> lucid.models.VisionTransformer(**sizes)(lucid.zeros(1, 3, 8, 8)).shape
    (1, 5)
    """

    def __init__(
        self,
        image_size: int = 224,
        patch_size: int = 16,
        dim: int = 768,
        heads: int = 12,
        layers: int = 12,
        hidden: int = 3072,
        num_classes: int = 1000,
        dropout: float = 0.0,
    ) -> None:
        self._build(
            None,
            image_size=image_size,
            patch_size=patch_size,
            dim=dim,
            heads=heads,
            layers=layers,
            hidden=hidden,
            num_classes=num_classes,
            dropout=dropout,
        )


def vit(
    image_size: int = 224,
    patch_size: int = 16,
    dim: int = 768,
    heads: int = 12,
    layers: int = 12,
    hidden: int = 3072,
    num_classes: int = 1000,
    dropout: float = 0.0,
) -> VisionTransformer:
    """Returns a VisionTransformer, by default ViT-Base with patches of 16 x 16 pixels."""
    return VisionTransformer(image_size, patch_size, dim, heads, layers, hidden, num_classes, dropout)
