"""Stand-ins for tensors of other libraries."""

import numpy as np


class Tensor:
    """What PyTorch's tensors show: DLPack, a shape, and detach() if they require grad."""

    __module__ = "torch"

    def __init__(self, data, requires_grad=False, dtype=np.float32):
        self.array = np.asarray(data, dtype)
        self.requires_grad = requires_grad

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)

    def detach(self):
        return Tensor(self.array, dtype=self.array.dtype)

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        return Tensor(self.array[index], dtype=self.array.dtype)

    def __dlpack__(self, **options):
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class DataFrame:
    """What a pandas.DataFrame shows: __array__, and columns instead of rows as items."""

    def __init__(self, columns):
        self.columns = columns
        self.values = np.array(list(columns.values())).T

    def __len__(self):
        return len(self.values)

    def __getitem__(self, name):
        return self.columns[name]

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)
