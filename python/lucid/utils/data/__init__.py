"""Datasets, samplers, and the loader that combines them into batches.

>>> from lucid.utils.data import DataLoader, TensorDataset
>>> data = TensorDataset(lucid.arange(5), lucid.arange(5) * 10)
>>> for x, y in DataLoader(data, batch_size=2):
...     print(x.tolist(), y.tolist())
[0, 1] [0, 10]
[2, 3] [20, 30]
[4] [40]
"""

from .collate import default_collate, default_convert
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
    read_idx,
)
from .fetcher import WorkerInfo, get_worker_info
from .loader import DataLoader
from .sampler import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
    "read_idx",
]
