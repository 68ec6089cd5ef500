"""Where Lucid differs from PyTorch on purpose, and what random programs therefore leave out. All rules are here.

Two more differences need no rule, for `backends.Torch` makes PyTorch give the answer that Lucid gives: what was saved
for backward may be written afterwards (PyTorch raises, or after a write through `.data` computes something else), and a
source may lie over the target of a write (PyTorch leaves partial overlaps undefined).
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
    """requires_grad_() of a tensor that has views: in Lucid gradients flow through the views made before it, and such a
    view can be written; PyTorch decides when the view is made."""
    has_views = any(other._base is x for other in all_tensors)
    # Where a leaf with hooks stops requiring grad and comes to be no leaf, PyTorch never calls hooks added after that.
    return not is_view(x) and not has_views and not x._backward_hooks


def may_write_elements(x: torch.Tensor) -> bool:
    """masked_fill_ and writes through masks and index tensors to an expanded tensor raise in Lucid, as other writes do;
    PyTorch only warns."""
    return all(size <= 1 or stride != 0 for size, stride in zip(x.shape, x.stride()))


def may_write(x: torch.Tensor, recorded: bool) -> bool:
    """Recorded writes to expanded tensors that both libraries allow, fill_(), zero_() and copying a tensor to itself,
    make PyTorch raise in the backward pass. A recorded write to a part of a tensor that is expanded itself, which
    detach() can give, raises in Lucid: elements outside the part change too, which PyTorch's gradients miss."""
    return not recorded or (may_write_elements(x) and may_write_elements(root_of(x)))


def may_ask_for_gradient(x: torch.Tensor, doubling_hooks: int) -> bool:
    """grad with respect to a tensor that is no leaf and has a hook that changes the gradient: PyTorch returns the
    gradient before the hook, Lucid the one after it, which is also what flows on."""
    return doubling_hooks == 0 or x.is_leaf


def is_change(x: torch.Tensor, recorded: bool, all_tensors: Iterable[torch.Tensor]) -> bool:
    """Whether a write is not recorded for some tensor on the same memory: for none, or not for those that detach() or
    `.data` took out of the graph."""
    others = [other for other in all_tensors if memory_of(other) == memory_of(x)]
    return not recorded or any(root_of(other) is not root_of(x) for other in others)


def may_watch(x: torch.Tensor, changed: set[int]) -> bool:
    """A write that is not recorded leaves Lucid's graph alone. In PyTorch it replaces the nodes of all views of the
    memory, and with them their hooks, their retain_grad() and their place between the base and what came of them."""
    return not is_view(x) or memory_of(x) not in changed


def may_change(memory: int, watched: set[int]) -> bool:
    """The same difference, for the write."""
    return memory not in watched


def ends_program(op: str, *raised: Exception | None) -> bool:
    """After a backward pass that raised, which gradients had already been added is not defined in either library."""
    return op in ("backward", "grad") and any(error is not None for error in raised)


def same_flags(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> bool:
    """PyTorch refuses to answer is_leaf of a view made under no_grad after its base was written; Lucid says true."""
    return ours[:2] == theirs[:2] and (theirs[2] is None or ours[2] == theirs[2])


# Strides of what an index tensor picks: Lucid's are those of a new tensor, PyTorch's follow the index tensor's place
# among the dimensions. `Backend.getitem` makes them contiguous.
# Strides of gradients: `Backend.grad` joins them, and strides of `.grad` are not compared.
