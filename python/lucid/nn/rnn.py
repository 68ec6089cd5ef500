"""Recurrent layers."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .module import Module, layer
from .utils.rnn import PackedSequence

_effects.pure_module()

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


class _Recurrent(Module):
    """The base class of recurrent layers.

    A call takes a sequence and an initial state, which is zero if it is None. The sequence has shape (time, batch,
    input_size), or (batch, time, input_size) with `batch_first`, or is a PackedSequence. The call returns the hidden
    states of the last layer for all time steps, in the same form, and the final state.
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
        """Initializes all parameters again, from the uniform distribution on +-1 / sqrt(hidden_size)."""
        self._reset()

    def flatten_parameters(self) -> None:
        """Does nothing; for compatibility with code for other devices."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, as one list per layer and direction."""
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
    """An Elman recurrent network: `h' = tanh(W_ih x + b_ih + W_hh h + b_hh)`.

    A call takes `(input, hx=None)` and returns the outputs of all time steps and the final state. Input has shape
    (time, batch, input_size), output (time, batch, hidden_size), and state (num_layers, batch, hidden_size).
    A PackedSequence as input returns one as output.

    Args:
        input_size: Size of an input vector.
        hidden_size: Size of the hidden state.
        num_layers: Number of stacked layers.
        nonlinearity: 'tanh' or 'relu'.
        bias: Whether to add biases.
        batch_first: Whether inputs and outputs have shape (batch, time, size). States do not change shape.
        dropout: Probability of dropout on the outputs of every layer but the last.
        bidirectional: Whether to run in both directions. Outputs are concatenated; states have 2 * num_layers rows.

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
            device=device,
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
    """A long short-term memory network. The state is a pair (h, c).

    Calls and arguments are the same as for RNN.

    Args:
        proj_size: If not 0, hidden states are projected to this size.

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
            device=device,
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
    """A gated recurrent unit network. Calls and arguments are the same as for RNN.

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
            device=device,
            input_size=input_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            bias=bias,
            batch_first=batch_first,
            dropout=dropout,
            bidirectional=bidirectional,
        )


class _Cell(Module):
    """The base class of layers that compute one time step."""

    _inputs = "input, hx=None"

    input_size: int
    hidden_size: int
    bias: bool

    def reset_parameters(self) -> None:
        """Initializes all parameters again, from the uniform distribution on +-1 / sqrt(hidden_size)."""
        self._reset()


@layer
class RNNCell(_Cell):
    """Computes one time step of an RNN: `(input, state=None)` to the next state.

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
        self._build(
            dtype, device=device, input_size=input_size, hidden_size=hidden_size, bias=bias, nonlinearity=nonlinearity
        )


@layer
class LSTMCell(_Cell):
    """Computes one time step of an LSTM: `(input, (h, c)=None)` to the next (h, c).

    >>> h, c = lucid.nn.LSTMCell(3, 4)(lucid.ones(2, 3))
    >>> h.shape, c.shape
    ((2, 4), (2, 4))
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        self._build(dtype, device=device, input_size=input_size, hidden_size=hidden_size, bias=bias)


@layer
class GRUCell(_Cell):
    """Computes one time step of a GRU: `(input, state=None)` to the next state.

    >>> lucid.nn.GRUCell(3, 4)(lucid.ones(2, 3)).shape
    (2, 4)
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        self._build(dtype, device=device, input_size=input_size, hidden_size=hidden_size, bias=bias)
