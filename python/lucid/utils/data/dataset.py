"""Datasets: sources of samples."""

from __future__ import annotations

import bisect
import itertools
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ... import _core, _effects, _random
from ..._core import Generator, Tensor
from ..._foreign import own_tensor
from ..._formats import explained, head_of

_effects.pure_module()

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """The base class of datasets with random access. Subclasses define __getitem__ and, for most uses, __len__."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """The base class of datasets that are streams of samples. Subclasses define __iter__.

    With several workers, each iterates over its own copy; get_worker_info() tells it which share to return.
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")

    def __add__(self, other: Dataset[Any]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """A dataset of tensors with the same first size. Sample i is a tuple of the tensors' elements at index i.

    Arrays, and tensors of other libraries, become tensors that share their memory if possible.

    >>> lucid.utils.data.TensorDataset(lucid.tensor([1, 2]), lucid.tensor([3, 4]))[1]
    (tensor(2), tensor(4))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Any) -> None:
        tensors = tuple(own_tensor(tensor) for tensor in tensors)
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"TensorDataset: expected tensors or arrays, not {_core.describe(tensor)}")
        sizes = [tensor.shape[0] if tensor.ndim else None for tensor in tensors]
        if not tensors or None in sizes or len(set(sizes)) != 1:
            raise ValueError(f"TensorDataset: the tensors must have the same first size, got {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def _collated(self, indices: list[int]) -> list[Tensor]:
        """Returns what default_collate returns for these samples, with one gather per tensor."""
        chosen = _core.tensor(indices)
        return [tensor[chosen] for tensor in self.tensors]

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class StackDataset(Dataset[Any]):
    """Combines datasets of the same length. Sample i is a tuple of their samples i, or a dict for keyword arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: pass datasets either all by position or all by name")
        self.datasets: Any = args or kwargs
        lengths = {len(dataset) for dataset in (args or kwargs.values())}
        if len(lengths) != 1:
            raise ValueError(f"StackDataset: the datasets must have the same length, got {sorted(lengths)}")
        (self._length,) = lengths

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Concatenates datasets."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: expected at least one dataset")
        for dataset in self.datasets:
            if isinstance(dataset, IterableDataset):
                raise TypeError("ConcatDataset: an IterableDataset cannot be indexed; use ChainDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"ConcatDataset: index {index} is out of range for {len(self)} samples")
        which = bisect.bisect_right(self.cumulative_sizes, position)
        start = self.cumulative_sizes[which - 1] if which else 0
        found: T_co = self.datasets[which][position - start]
        return found


class ChainDataset(IterableDataset[Any]):
    """Concatenates IterableDatasets."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[T_co]):
    """A subset of a dataset, given by indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        found: T_co = self.dataset[self.indices[index]]
        return found

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Splits a dataset randomly into subsets of the given lengths, or fractions that add up to 1.

    >>> parts = lucid.utils.data.random_split(range(10), [0.7, 0.3])
    >>> [len(part) for part in parts]
    [7, 3]
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if any(not 0 <= fraction <= 1 for fraction in lengths):
            raise ValueError(f"random_split: fractions must be between 0 and 1, got {list(lengths)}")
        counts = [math.floor(total * fraction) for fraction in lengths]
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
    else:
        counts = [int(length) for length in lengths]
    if sum(counts) != total:
        raise ValueError(f"random_split: the lengths add up to {sum(counts)}, the dataset has {total} samples")
    order = _random.randperm(total, generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]


def read_idx(path: str | os.PathLike[str]) -> Tensor:
    """Reads an array in the IDX format of MNIST and Fashion-MNIST, optionally compressed with gzip."""
    try:
        return _core.read_idx(os.fsencode(path))
    except ValueError as error:
        raise explained("lucid.data.read_idx", head_of(path), error) from None
