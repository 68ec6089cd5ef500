"""Modules that go through sequences step by step."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .module import Module, layer
from .utils.rnn import PackedSequence

_effects.pure_module()


class _Recurrent(Module):
    """What recurrent modules have in common.

    Called with a sequence, (time, batch, input_size) or with batch_first (batch, time, input_size), and the first state
    or None for zeros; gives the sequence of hidden states and the last state. A PackedSequence gives one.
    """

    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def forward(self, input: Any, hx: Any = None) -> Any:
        if not isinstance(input, PackedSequence):
            return super().forward(input, hx)
        output, state = super().forward((input.data, input.batch_sizes), _permuted(hx, input.sorted_indices))
        packed = PackedSequence(output, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
        return packed, _permuted(state, input.unsorted_indices)

    def reset_parameters(self) -> None:
        """Draws all parameters anew, from the uniform distribution on +-1 / sqrt(hidden_size)."""
        self._reset()

    def flatten_parameters(self) -> None:
        """Does nothing: it is for other devices."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        parameters = list(self._parts()[0].values())
        count = 2 + 2 * self.bias + (self.proj_size > 0)
        return [parameters[i : i + count] for i in range(0, len(parameters), count)]


def _permuted(state: Any, order: Any) -> Any:
    if state is None or order is None:
        return state
    if isinstance(state, tuple):
        return tuple(part.index_select(1, order) for part in state)
    return state.index_select(1, order)


@layer
class RNN(_Recurrent):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.

    >>> output, state = lucid.nn.RNN(3, 4, num_layers=2)(lucid.ones(5, 2, 3))
    >>> output.shape, state.shape
    ((5, 2, 4), (2, 2, 4))
    """

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            nonlinearity=nonlinearity,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
        )


@layer
class LSTM(_Recurrent):
    """Long short-term memory; the state is (h, c). With proj_size hidden states are projected to that size.

    >>> output, (h, c) = lucid.nn.LSTM(3, 4, bidirectional=True)(lucid.ones(5, 2, 3))
    >>> output.shape, h.shape, c.shape
    ((5, 2, 8), (2, 2, 4), (2, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
            proj_size=proj_size,
        )


@layer
class GRU(_Recurrent):
    """A gated recurrent unit.

    >>> output, state = lucid.nn.GRU(3, 4, batch_first=True)(lucid.ones(2, 5, 3))
    >>> output.shape, state.shape
    ((2, 5, 4), (1, 2, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
        )


class _Cell(Module):
    """What the modules of one step have in common."""

    input_size: int
    hidden_size: int
    bias: bool

    def reset_parameters(self) -> None:
        """Draws all parameters anew, from the uniform distribution on +-1 / sqrt(hidden_size)."""
        self._reset()


@layer
class RNNCell(_Cell):
    """One step of an RNN: (input, state) gives the next state.

    >>> lucid.nn.RNNCell(3, 4)(lucid.ones(2, 3)).shape
    (2, 4)
    """

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(dtype, input_size=input_size, hidden_size=hidden_size, bias=bias, nonlinearity=nonlinearity)


@layer
class LSTMCell(_Cell):
    """One step of an LSTM: (input, (h, c)) gives the next (h, c).

    >>> h, c = lucid.nn.LSTMCell(3, 4)(lucid.ones(2, 3))
    >>> h.shape, c.shape
    ((2, 4), (2, 4))
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        self._build(dtype, input_size=input_size, hidden_size=hidden_size, bias=bias)


@layer
class GRUCell(_Cell):
    """One step of a GRU: (input, state) gives the next state.

    >>> lucid.nn.GRUCell(3, 4)(lucid.ones(2, 3)).shape
    (2, 4)
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        self._build(dtype, input_size=input_size, hidden_size=hidden_size, bias=bias)
