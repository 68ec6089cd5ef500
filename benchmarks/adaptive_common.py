"""What the programs of adaptive.py share: the library, data and small networks.

A program is a function whose argument is `compile`. It builds its state, compiles one or two functions, and returns an
iterator: each item is the result of one call. PyTorch and Lucid run the same code.
"""

import importlib
import itertools
import os

lib = importlib.import_module(os.environ.get("ADAPTIVE_LIBRARY", "lucid"))
nn = lib.nn
F = lib.nn.functional


def batches(size=64, features=64, classes=10, count=16):
    """Endless batches of features and classes."""
    made = [(lib.randn(size, features), lib.randint(0, classes, (size,))) for _ in range(count)]
    return itertools.cycle(made)


def images(size=32, channels=1, side=28, count=8):
    """Endless batches of images and classes."""
    made = [(lib.randn(size, channels, side, side), lib.randint(0, 10, (size,))) for _ in range(count)]
    return itertools.cycle(made)


def texts(size=8, length=32, words=65, count=16):
    """Endless batches of tokens."""
    return itertools.cycle([lib.randint(0, words, (size, length)) for _ in range(count)])


def mlp(features=64, hidden=128, classes=10):
    return nn.Sequential(
        nn.Linear(features, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, classes),
    )


class Block(nn.Module):
    """A layer of a transformer with causal attention. With a cache, `x` is the newest token."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def split(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        return [part.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2) for part in parts]

    def join(self, x, mixed):
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

    def forward(self, x):
        queries, keys, values = self.split(x)
        return self.join(x, F.scaled_dot_product_attention(queries, keys, values, is_causal=True))


class GPT(nn.Module):
    def __init__(self, words=65, context=64, width=64, heads=4, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(lib.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
