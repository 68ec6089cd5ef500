"""Attention and transformer layers."""

from __future__ import annotations

import copy
from typing import Any

from .. import _core, _effects
from .._core import Tensor
from . import init
from .container import ModuleList
from .module import Module, layer
from .norm import LayerNorm

_effects.pure_module()

__all__ = [
    "MultiheadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


@layer
class MultiheadAttention(Module):
    """Multi-head attention: projects query, key and value, and attends with `num_heads` heads in parallel.

    A call takes query, key and value of shape (time, batch, size), or (batch, time, size) with `batch_first`, and
    optionally key_padding_mask, need_weights=True, attn_mask, average_attn_weights=True and is_causal=False. It
    returns the output and the attention weights, or None instead of the weights if need_weights is false. A mask is
    true, or -inf, at positions that must not be attended to.

    Args:
        embed_dim: Size of the queries and of the output; a multiple of `num_heads`.
        num_heads: Number of heads.
        dropout: Probability of dropout on the attention weights.
        bias: Whether the projections have biases.
        add_bias_kv: Whether to append a learned key and value.
        add_zero_attn: Whether to append a key and value of zeros.
        kdim: Size of the keys; `embed_dim` by default.
        vdim: Size of the values; `embed_dim` by default.

    >>> x = lucid.ones(5, 2, 8)
    >>> output, weights = lucid.nn.MultiheadAttention(8, 2)(x, x, x)
    >>> output.shape, weights.shape
    ((5, 2, 8), (2, 5, 5))
    """

    _inputs = (
        "query, key, value, key_padding_mask=None, "
        "need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False"
    )

    embed_dim: int
    num_heads: int
    dropout: float
    batch_first: bool
    kdim: int
    vdim: int
    in_proj_weight: Any
    in_proj_bias: Any
    out_proj: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            device=device,
            embed_dim=embed_dim,
            num_heads=num_heads,
            dropout=dropout,
            _bias=bias,
            _add_bias_kv=add_bias_kv,
            add_zero_attn=add_zero_attn,
            kdim=kdim,
            vdim=vdim,
            batch_first=batch_first,
        )

    @property
    def head_dim(self) -> int:
        """The size of a head."""
        return self.embed_dim // self.num_heads


class _TransformerLayer(Module):
    """The base class of encoder and decoder layers."""

    # By hand: the activation may be a module.
    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            device=device,
            _activation="relu" if isinstance(activation, Module) else activation,
            _d_model=d_model,
            _nhead=nhead,
            _dim_feedforward=dim_feedforward,
            _dropout=dropout,
            _layer_norm_eps=layer_norm_eps,
            _batch_first=batch_first,
            norm_first=norm_first,
            _bias=bias,
        )
        self.activation = activation


@layer
class TransformerEncoderLayer(_TransformerLayer):
    """A transformer encoder layer: self-attention, then a feedforward network of two linear layers.

    Args:
        d_model: Size of the input and output.
        nhead: Number of attention heads.
        dim_feedforward: Size of the hidden layer of the feedforward network.
        dropout: Probability of dropout.
        activation: 'relu', 'gelu' or a function.
        norm_first: Whether to normalize before each part instead of after it.
        batch_first: Whether the input has shape (batch, time, d_model) instead of (time, batch, d_model).

    >>> layer = lucid.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
    >>> layer(lucid.ones(5, 2, 8)).shape
    (5, 2, 8)
    """

    _inputs = "src, src_mask=None, src_key_padding_mask=None, is_causal=False"


@layer
class TransformerDecoderLayer(_TransformerLayer):
    """A transformer decoder layer: self-attention, attention to the encoder's output, then a feedforward network.

    Takes the same arguments as TransformerEncoderLayer. A call takes the target and the encoder's output.

    >>> layer = lucid.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
    >>> layer(lucid.ones(5, 2, 8), lucid.ones(3, 2, 8)).shape
    (5, 2, 8)
    """

    _inputs = (
        "tgt, memory, tgt_mask=None, memory_mask=None, "
        "tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False"
    )


class _Stack(Module):
    """The base class of stacks of layers."""

    num_layers: int
    layers: Any
    norm: Any

    def _stack(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        self._build(None, num_layers=num_layers)
        self.layers = ModuleList(copy.deepcopy(layer) for _ in range(num_layers))
        self.add_module("norm", norm)


@layer
class TransformerEncoder(_Stack):
    """A stack of `num_layers` copies of an encoder layer, followed by `norm` if it is given.

    >>> layer = lucid.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
    >>> lucid.nn.TransformerEncoder(layer, num_layers=2)(lucid.ones(5, 2, 8)).shape
    (5, 2, 8)
    """

    _inputs = "src, mask=None, src_key_padding_mask=None, is_causal=None"

    # By hand: it copies the layer.
    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        self._stack(encoder_layer, num_layers, norm)


@layer
class TransformerDecoder(_Stack):
    """A stack of `num_layers` copies of a decoder layer, followed by `norm` if it is given.

    >>> layer = lucid.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
    >>> lucid.nn.TransformerDecoder(layer, num_layers=2)(lucid.ones(5, 2, 8), lucid.ones(3, 2, 8)).shape
    (5, 2, 8)
    """

    _inputs = (
        "tgt, memory, tgt_mask=None, memory_mask=None, "
        "tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False"
    )

    # By hand: it copies the layer.
    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self._stack(decoder_layer, num_layers, norm)


@layer
class Transformer(Module):
    """An encoder-decoder transformer. A call takes the source and target sequences.

    >>> model = lucid.nn.Transformer(8, 2, 1, 1, dim_feedforward=16)
    >>> model(lucid.ones(5, 2, 8), lucid.ones(3, 2, 8)).shape
    (3, 2, 8)
    """

    _inputs = (
        "src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, "
        "tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, "
        "memory_is_causal=False"
    )

    d_model: int
    nhead: int
    batch_first: bool
    encoder: Any
    decoder: Any

    # By hand: it makes the parts that are not given.
    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(None, d_model=d_model, nhead=nhead, batch_first=batch_first)
        common: dict[str, Any] = {
            "dim_feedforward": dim_feedforward,
            "dropout": dropout,
            "activation": activation,
            "layer_norm_eps": layer_norm_eps,
            "batch_first": batch_first,
            "norm_first": norm_first,
            "bias": bias,
            "device": device,
            "dtype": dtype,
        }
        if custom_encoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            encoder_layer = TransformerEncoderLayer(d_model, nhead, **common)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm)
        if custom_decoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            decoder_layer = TransformerDecoderLayer(d_model, nhead, **common)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Returns a causal mask of shape (sz, sz): -inf above the diagonal, 0 elsewhere.

        >>> lucid.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[  0., -inf],
                [  0.,   0.]])
        """
        return _core.ops["triu"](_core.ops["full"]((sz, sz), float("-inf"), device=device, dtype=dtype), 1)
