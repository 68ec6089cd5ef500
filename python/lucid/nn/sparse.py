"""Embedding layers."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .._core import Tensor
from .module import Module, layer
from .parameter import Parameter

_effects.pure_module()

__all__ = ["Embedding", "EmbeddingBag"]


@layer
class Embedding(Module):
    """Looks up rows of a learned table by integer index.

    `weight` has shape (num_embeddings, embedding_dim) and is initialized from the standard normal distribution.

    Args:
        num_embeddings: Number of rows.
        embedding_dim: Size of a row.
        padding_idx: A row that is zero at first and gets no gradient.
        max_norm: Rows with a larger norm are scaled down in place when they are used.
        norm_type: The p of that norm.
        scale_grad_by_freq: Whether to divide the gradient of a row by its number of occurrences.
        sparse: Accepted for compatibility; gradients are always dense.

    >>> lucid.nn.Embedding(10, 3)(lucid.tensor([[1, 2], [4, 5]])).shape
    (2, 2, 3)
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Any

    # By hand: it may take its rows.
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
            device=device,
            num_embeddings=num_embeddings,
            embedding_dim=embedding_dim,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )
        _set_weight(self, _weight, _freeze)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **settings: Any) -> Embedding:
        """Creates a module with the given rows. With `freeze`, they require no gradient.

        >>> lucid.nn.Embedding.from_pretrained(lucid.eye(2))(lucid.tensor(1))
        tensor([0., 1.])
        """
        rows, columns = embeddings.shape
        return cls(rows, columns, _weight=embeddings, _freeze=freeze, **settings)

    def reset_parameters(self) -> None:
        """Initializes the rows again."""
        self._reset()


@layer
class EmbeddingBag(Module):
    """Looks up rows by index and reduces each bag of rows to one: its mean, sum or maximum.

    The bags are the rows of a matrix of indices, or the parts of a vector of indices that begin at the given offsets.

    Args:
        mode: 'mean', 'sum' or 'max'.
        include_last_offset: Whether the last offset is the end of the last bag.
        padding_idx: An index that is left out of the bags.

    The other arguments are the same as for Embedding.

    >>> bag = lucid.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bag(lucid.tensor([1, 2, 4, 5]), lucid.tensor([0, 3])).shape
    (2, 3)
    """

    _inputs = "input, offsets=None, per_sample_weights=None"

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    mode: str
    weight: Any

    # By hand: it may take its rows.
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
            device=device,
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
        _set_weight(self, _weight, False)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **settings: Any) -> EmbeddingBag:
        """Creates a module with the given rows. With `freeze`, they require no gradient.

        >>> lucid.nn.EmbeddingBag.from_pretrained(lucid.eye(2), mode="sum")(lucid.tensor([[0, 1]]))
        tensor([[1., 1.]])
        """
        rows, columns = embeddings.shape
        bag = cls(rows, columns, _weight=embeddings, **settings)
        bag.weight.requires_grad_(not freeze)
        return bag

    def reset_parameters(self) -> None:
        """Initializes the rows again."""
        self._reset()


def _set_weight(module: Any, weight: Tensor | None, freeze: bool) -> None:
    if weight is None:
        return
    if weight.shape != module.weight.shape:
        raise ValueError(
            f"{type(module).__name__}: expected a weight of shape {module.weight.shape}, got {weight.shape}"
        )
    module.weight = Parameter(weight, requires_grad=not freeze)
