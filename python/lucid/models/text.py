"""Networks for text."""

from __future__ import annotations

from .. import _effects
from ..nn.module import Module, layer

_effects.pure_module()


@layer
class GPTBlock(Module):
    """A GPT block: causal self-attention, then a feedforward network, each with a residual connection.

    >>> lucid.models.GPTBlock(8, 2)(lucid.zeros(1, 5, 8)).shape
    (1, 5, 8)
    """

    def __init__(self, dim: int, heads: int, dropout: float = 0.0) -> None:
        self._build(None, dim=dim, heads=heads, dropout=dropout)


@layer
class GPT(Module):
    """A GPT decoder. Maps token indices of shape (batch, time) to next-token scores of shape (batch, time, vocab_size).

    >>> lucid.models.GPT(vocab_size=10, context=8, dim=16, heads=2, layers=1)(lucid.tensor([[1, 2, 3]])).shape
    (1, 3, 10)
    """

    def __init__(
        self,
        vocab_size: int = 65,
        context: int = 128,
        dim: int = 128,
        heads: int = 4,
        layers: int = 4,
        dropout: float = 0.0,
    ) -> None:
        self._build(None, vocab_size=vocab_size, context=context, dim=dim, heads=heads, layers=layers, dropout=dropout)


@layer
class GPTDecoder(Module):
    """Decodes text with a GPT, one or several tokens at a time.

    It keeps the keys and values of earlier tokens in buffers, which each call writes in place, so that a call computes
    nothing twice. Calls have the same shapes, so one plan serves all of them, and the decoder can be exported.

    A call takes the next tokens, of shape (batch_size, count), and returns a score for each possible token after the
    last one, of shape (batch_size, vocab_size). Tokens beyond the context raise IndexError. `position.zero_()` starts
    new texts.

    >>> model = lucid.models.GPT(vocab_size=10, context=8, dim=16, heads=2, layers=1).eval()
    >>> decoder = lucid.models.GPTDecoder(model)
    >>> step = lucid.compile(decoder)
    >>> scores = decoder(lucid.tensor([[1, 2, 3]]))
    >>> for _ in range(4):
    ...     scores = step(scores.argmax(-1, keepdim=True))
    >>> scores.shape, decoder.position.item()
    ((1, 10), 7)
    """

    def __init__(self, model: GPT, batch_size: int = 1) -> None:
        self._build(
            model.head.weight.dtype,
            batch_size=batch_size,
            layers=model.layers,
            heads=model.heads,
            context=model.context,
            width=model.dim // model.heads,
        )
        self.model = model


def gpt(
    vocab_size: int = 65, context: int = 128, dim: int = 128, heads: int = 4, layers: int = 4, dropout: float = 0.0
) -> GPT:
    """Returns a GPT, by default with 0.8 million parameters, which train on a laptop."""
    return GPT(vocab_size, context, dim, heads, layers, dropout)


def gpt2_small() -> GPT:
    """Returns a GPT of the size of GPT-2 small, with an output layer that is not tied to the embedding."""
    return GPT(vocab_size=50257, context=1024, dim=768, heads=12, layers=12)


@layer
class Bert(Module):
    """A BERT encoder. Returns a vector for each token and, with `pooler`, one for each text.

    Parameter names match the published weights of BERT models. The default sizes are those of MiniLM-L6.

    >>> model = lucid.models.Bert(vocab_size=10, context=8, dim=16, heads=2, layers=1, hidden=32)
    >>> tokens, text = model(lucid.tensor([[1, 2, 3]]))
    >>> tokens.shape, text.shape
    ((1, 3, 16), (1, 16))
    """

    _inputs = "input_ids, attention_mask=None, token_type_ids=None"

    def __init__(
        self,
        vocab_size: int = 30522,
        context: int = 512,
        dim: int = 384,
        heads: int = 12,
        layers: int = 6,
        hidden: int = 1536,
        types: int = 2,
        dropout: float = 0.1,
        eps: float = 1e-12,
        pooler: bool = True,
    ) -> None:
        self._build(
            None,
            vocab_size=vocab_size,
            context=context,
            dim=dim,
            heads=heads,
            layers=layers,
            hidden=hidden,
            types=types,
            dropout=dropout,
            eps=eps,
            pooler=pooler,
        )


def bert(
    vocab_size: int = 30522,
    context: int = 512,
    dim: int = 384,
    heads: int = 12,
    layers: int = 6,
    hidden: int = 1536,
    types: int = 2,
    dropout: float = 0.1,
    eps: float = 1e-12,
    pooler: bool = True,
) -> Bert:
    """Returns a Bert, by default of the size of MiniLM-L6."""
    return Bert(vocab_size, context, dim, heads, layers, hidden, types, dropout, eps, pooler)
