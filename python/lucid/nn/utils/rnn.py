"""Batches of sequences of different lengths."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ... import _core, _effects
from ..._core import Tensor

_effects.pure_module()


@_effects.pure
class PackedSequence(NamedTuple):
    """A batch of sequences without padding.

    `data` holds the first time steps of all sequences, longest sequence first, then the second time steps, and so on.
    `batch_sizes` is the number of sequences at each time step. `sorted_indices` and `unsorted_indices` are the
    permutations to the order by length and back, or None.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Converts the data to another dtype. Takes the same arguments as Tensor.to."""
        return self._replace(data=self.data.to(*args, **kwargs))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Returns the inverse of a permutation.

    >>> lucid.nn.utils.rnn.invert_permutation(lucid.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    return None if permutation is None else permutation.argsort()


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stacks sequences of different lengths, padding the shorter ones.

    The result has shape (time, batch, ...), or (batch, time, ...) with `batch_first`. `padding_side` is 'right' or
    'left'.

    >>> lucid.nn.utils.rnn.pad_sequence([lucid.ones(2), lucid.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    listed = list(sequences)
    if not listed:
        raise ValueError("pad_sequence: expected at least one sequence")
    if padding_side not in ("left", "right"):
        raise ValueError(f"pad_sequence: padding_side must be 'left' or 'right', got {padding_side!r}")
    longest = max(sequence.shape[0] for sequence in listed)
    padded = []
    for sequence in listed:
        missing = longest - sequence.shape[0]
        around = [0, 0] * (sequence.dim() - 1) + ([missing, 0] if padding_side == "left" else [0, missing])
        padded.append(_core.ops["pad"](sequence, around, value=float(padding_value)))
    return _core.ops["stack"](padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Splits a padded tensor into a list of sequences of the given lengths.

    >>> [len(s) for s in lucid.nn.utils.rnn.unpad_sequence(lucid.ones(3, 2), lucid.tensor([3, 1]))]
    [3, 1]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[:length] for sequence, length in zip(padded_sequences, lengths.tolist())]


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs a padded tensor of shape (time, batch, ...), or (batch, time, ...) with `batch_first`.

    Args:
        input: The padded sequences.
        lengths: The length of each sequence.
        enforce_sorted: Whether lengths must be in decreasing order. If false, sequences are sorted by length.

    >>> packed = lucid.nn.utils.rnn.pack_padded_sequence(lucid.ones(3, 2, 1), [3, 1])
    >>> packed.data.shape, packed.batch_sizes
    ((4, 1), tensor([2, 1, 1]))
    """
    sizes = [int(length) for length in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    if batch_first:
        input = input.transpose(0, 1)
    if len(sizes) != input.shape[1]:
        raise ValueError(f"pack_padded_sequence: got {len(sizes)} lengths for a batch of {input.shape[1]}")
    if min(sizes, default=0) <= 0 or max(sizes) > input.shape[0]:
        raise ValueError(f"pack_padded_sequence: lengths must be between 1 and {input.shape[0]}, got {sizes}")
    order: Tensor | None = None
    if enforce_sorted:
        if any(a < b for a, b in itertools.pairwise(sizes)):
            raise RuntimeError(
                f"pack_padded_sequence: lengths must be in decreasing order, got {sizes}; pass enforce_sorted=False"
            )
    else:
        order = _core.ops["argsort"](_core.tensor(sizes, device=input.device), descending=True, stable=True)
        input = input.index_select(1, order)
        sizes = sorted(sizes, reverse=True)
    batch_sizes = [sum(size > step for size in sizes) for step in range(sizes[0])]
    data = _core.ops["cat"]([input[step, :count] for step, count in enumerate(batch_sizes)])
    return PackedSequence(data, _core.tensor(batch_sizes, device="cpu"), order, invert_permutation(order))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Converts a PackedSequence to a padded tensor. Returns the tensor and the lengths of the sequences.

    `total_length`, if given, is the length to pad to.

    >>> packed = lucid.nn.utils.rnn.pack_sequence([lucid.ones(3, 1), lucid.ones(1, 1)])
    >>> lucid.nn.utils.rnn.pad_packed_sequence(packed)[1]
    tensor([3, 1])
    """
    counts = sequence.batch_sizes.tolist()
    batch = counts[0]
    steps = []
    for part in sequence.data.split(counts):
        around = [0, 0] * (part.dim() - 1) + [0, batch - part.shape[0]]
        steps.append(_core.ops["pad"](part, around, value=float(padding_value)))
    padded: Tensor = _core.ops["stack"](steps)
    if total_length is not None:
        if total_length < len(counts):
            raise ValueError(f"pad_packed_sequence: total_length {total_length} is below the length {len(counts)}")
        around = [0, 0] * (padded.dim() - 1) + [0, total_length - len(counts)]
        padded = _core.ops["pad"](padded, around, value=float(padding_value))
    lengths = _core.tensor([sum(count > row for count in counts) for row in range(batch)], device="cpu")
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths.index_select(0, sequence.unsorted_indices.cpu())
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs a list of sequences. With `enforce_sorted`, their lengths must be in decreasing order.

    >>> lucid.nn.utils.rnn.pack_sequence([lucid.ones(2), lucid.zeros(1)]).data
    tensor([1., 0., 1.])
    """
    lengths = [sequence.shape[0] for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Splits a PackedSequence into a list of sequences.

    >>> [len(s) for s in lucid.nn.utils.rnn.unpack_sequence(lucid.nn.utils.rnn.pack_sequence([lucid.ones(2)]))]
    [2]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
