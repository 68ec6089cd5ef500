"""Intentional differences between Lucid and PyTorch, which random programs avoid. All rules are here.

Two more differences need no rule, because `backends.Torch` makes PyTorch return the same as Lucid: saved tensors may be
written afterwards (PyTorch raises, or computes something else after a write through `.data`), and the source of a write
may overlap its target (PyTorch leaves partial overlaps undefined).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch


def memory_of(x: torch.Tensor) -> int:
    return x.untyped_storage().data_ptr()


def is_view(x: torch.Tensor) -> bool:
    return x._base is not None


def root_of(x: torch.Tensor) -> torch.Tensor:
    return x if x._base is None else x._base


def may_require(x: torch.Tensor, all_tensors: Iterable[torch.Tensor]) -> bool:
    """requires_grad_() of a tensor that has views: in Lucid, gradients flow through views created before, and these
    views can be written. PyTorch decides when the view is created."""
    has_views = any(other._base is x for other in all_tensors)
    # If a leaf with hooks stops requiring grad and becomes a non-leaf, PyTorch never calls hooks added after that.
    return not is_view(x) and not has_views and not x._backward_hooks


def may_write_elements(x: torch.Tensor) -> bool:
    """masked_fill_ and writes through masks and index tensors to an expanded tensor raise in Lucid, as other writes do;
    PyTorch only warns."""
    return all(size <= 1 or stride != 0 for size, stride in zip(x.shape, x.stride()))


def may_write(x: torch.Tensor, recorded: bool) -> bool:
    """Recorded writes to expanded tensors that both libraries allow, fill_(), zero_() and copying a tensor to itself,
    make PyTorch raise in the backward pass. A recorded write to a view of an expanded tensor, which detach() can
    return, raises in Lucid: elements outside the view change too, which PyTorch's gradients miss."""
    return not recorded or (may_write_elements(x) and may_write_elements(root_of(x)))


def may_compute_gradient(x: torch.Tensor, doubling_hooks: int) -> bool:
    """grad with respect to a non-leaf tensor with a hook that changes the gradient: PyTorch returns the gradient before
    the hook, Lucid the one after it, which is also the one that is propagated."""
    return doubling_hooks == 0 or x.is_leaf


def is_change(x: torch.Tensor, recorded: bool, all_tensors: Iterable[torch.Tensor]) -> bool:
    """Whether a write is not recorded for some tensor on the same memory: for all of them, or for those detached by
    detach() or `.data`."""
    others = [other for other in all_tensors if memory_of(other) == memory_of(x)]
    return not recorded or any(root_of(other) is not root_of(x) for other in others)


def may_watch(x: torch.Tensor, changed: set[int]) -> bool:
    """A write that is not recorded does not change Lucid's graph. In PyTorch it replaces the nodes of all views of the
    memory, and with them their hooks, their retain_grad() and their position in the graph."""
    return not is_view(x) or memory_of(x) not in changed


def may_change(memory: int, watched: set[int]) -> bool:
    """The same difference, for the write."""
    return memory not in watched


def ends_program(op: str, *raised: Exception | None) -> bool:
    """After a backward pass that raised, which gradients had already been added is not defined in either library."""
    return op in ("backward", "grad") and any(error is not None for error in raised)


def same_flags(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """PyTorch raises for is_leaf of a view created under no_grad after its base was written; Lucid returns True."""
    return ours[:2] == theirs[:2] and (theirs[2] is None or ours[2] == theirs[2])


# Strides of elements selected by an index tensor: Lucid's are contiguous, PyTorch's depend on the position of
# the index tensor among the dimensions. `Backend.getitem` makes them contiguous.
# Strides of gradients: `Backend.grad` concatenates the gradients, and strides of `.grad` are not compared.
