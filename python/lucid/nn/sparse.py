"""Learned vectors for integers."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .._core import Tensor
from .module import Module, layer
from .parameter import Parameter

_effects.pure_module()


@layer
class Embedding(Module):
    """A learned row for each of num_embeddings integers.

    Row padding_idx is zero at first and gets no gradient. Rows longer than max_norm are scaled down, in place,
    when they are used. Gradients are always dense: `sparse` is accepted and changes nothing.

    >>> lucid.nn.Embedding(10, 3)(lucid.tensor([[1, 2], [4, 5]])).shape
    (2, 2, 3)
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Any

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            num_embeddings=num_embeddings,
            embedding_dim=embedding_dim,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )
        _take_over(self, _weight, _freeze)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **settings: Any) -> Embedding:
        """A module with these rows.

        >>> lucid.nn.Embedding.from_pretrained(lucid.eye(2))(lucid.tensor(1))
        tensor([0., 1.])
        """
        rows, columns = embeddings.shape
        return cls(rows, columns, _weight=embeddings, _freeze=freeze, **settings)

    def reset_parameters(self) -> None:
        """Draws the rows anew."""
        self._reset()


@layer
class EmbeddingBag(Module):
    """Means, sums or maxima of rows, one for each bag of integers: rows of a matrix, or parts of a vector that begin at
    the offsets.

    >>> bag = lucid.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bag(lucid.tensor([1, 2, 4, 5]), lucid.tensor([0, 3])).shape
    (2, 3)
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    mode: str
    weight: Any

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            num_embeddings=num_embeddings,
            embedding_dim=embedding_dim,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            mode=mode,
            include_last_offset=include_last_offset,
        )
        _take_over(self, _weight, False)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **settings: Any) -> EmbeddingBag:
        """A module with these rows.

        >>> lucid.nn.EmbeddingBag.from_pretrained(lucid.eye(2), mode="sum")(lucid.tensor([[0, 1]]))
        tensor([[1., 1.]])
        """
        rows, columns = embeddings.shape
        bag = cls(rows, columns, _weight=embeddings, **settings)
        bag.weight.requires_grad_(not freeze)
        return bag

    def reset_parameters(self) -> None:
        """Draws the rows anew."""
        self._reset()


def _take_over(module: Any, weight: Tensor | None, freeze: bool) -> None:
    if weight is None:
        return
    if weight.shape != module.weight.shape:
        raise ValueError(f"expected a weight of shape {module.weight.shape}, got {weight.shape}")
    module.weight = Parameter(weight, requires_grad=not freeze)
