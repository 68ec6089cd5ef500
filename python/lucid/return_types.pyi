# Generated from the op table by tools/stubs; do not edit.
# fmt: off
# ruff: noqa
from typing import NamedTuple

from ._core import Tensor

class adaptive_max_pool1d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor

class adaptive_max_pool2d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor

class adaptive_max_pool3d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor

class attention(NamedTuple):
    output: Tensor
    logsumexp: Tensor

class batch_norm(NamedTuple):
    output: Tensor
    running_mean: Tensor
    running_var: Tensor

class class_loss(NamedTuple):
    loss: Tensor
    logsumexp: Tensor
    total_weight: Tensor

class instance_norm(NamedTuple):
    output: Tensor
    running_mean: Tensor
    running_var: Tensor

class kthvalue(NamedTuple):
    values: Tensor
    indices: Tensor

class max_dim(NamedTuple):
    values: Tensor
    indices: Tensor

class max_pool1d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor

class max_pool2d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor

class max_pool3d_with_indices(NamedTuple):
    values: Tensor
    indices: Tensor

class median_dim(NamedTuple):
    values: Tensor
    indices: Tensor

class min_dim(NamedTuple):
    values: Tensor
    indices: Tensor

class sort(NamedTuple):
    values: Tensor
    indices: Tensor

class topk(NamedTuple):
    values: Tensor
    indices: Tensor

class unique_all(NamedTuple):
    values: Tensor
    inverse: Tensor
    counts: Tensor

class var_mean(NamedTuple):
    var: Tensor
    mean: Tensor
