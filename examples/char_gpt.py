"""Trains a small character-level GPT with compiled steps, then generates text.

    python examples/char_gpt.py --text /usr/share/common-licenses/GPL-3 --steps 1000

Any text of some ten thousand characters will do, such as the licences that Debian installs.
"""

from __future__ import annotations

import argparse
import pathlib
import time

import lucid
from lucid import nn
from timing import speed_up


class Text:
    """A text as a tensor of character indices."""

    def __init__(self, text: str) -> None:
        self.characters = sorted(set(text))
        self.index = {character: i for i, character in enumerate(self.characters)}
        self.tokens = lucid.tensor([self.index[character] for character in text])

    def batch(self, size: int, length: int) -> tuple[lucid.Tensor, lucid.Tensor]:
        """Returns random pieces of the text, and the same pieces shifted by one character."""
        starts = lucid.randint(0, len(self.tokens) - length - 1, (size, 1))
        positions = starts + lucid.arange(length)
        return self.tokens[positions], self.tokens[positions + 1]

    def decode(self, tokens: lucid.Tensor) -> str:
        return "".join(self.characters[i] for i in tokens.tolist())


@lucid.no_grad()
def write(model: nn.Module, start: lucid.Tensor, count: int, context: int, temperature: float = 0.8) -> lucid.Tensor:
    """Generates text, sampling one character at a time."""
    model.eval()
    tokens = start.reshape(1, -1)
    for _ in range(count):
        window = tokens[:, -context:]
        # Padding keeps the shape constant, so one plan suffices. Attention is causal, so padding has no effect.
        padded = nn.functional.pad(window, (0, context - window.shape[1]))
        scores = model(padded)[:, window.shape[1] - 1] / temperature
        tokens = lucid.cat([tokens, lucid.multinomial(scores.softmax(dim=-1), 1)], dim=1)
    model.train()
    return tokens[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=pathlib.Path, default=pathlib.Path("/usr/share/common-licenses/GPL-3"))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--write", type=int, default=300, help="number of characters to generate")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    lucid.manual_seed(arguments.seed)
    text = Text(arguments.text.read_text())
    model = lucid.models.gpt(vocab_size=len(text.characters), context=arguments.context)
    optimizer = lucid.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    schedule = lucid.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=arguments.steps)
    print(f"{len(text.tokens):,} characters, {sum(p.numel() for p in model.parameters()):,} parameters")

    def train_step(tokens: lucid.Tensor, following: lucid.Tensor) -> lucid.Tensor:
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.detach()

    compiled_step = lucid.compile(train_step)
    start = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        loss = compiled_step(*text.batch(arguments.batch, arguments.context))
        schedule.step()  # Python computes the new learning rate; the plan reads it from the optimizer
        if step % max(1, arguments.steps // 10) == 0:
            print(f"step {step:5d}   loss {loss:.4f}   {time.perf_counter() - start:6.1f} s")
    print(text.decode(write(lucid.compile(model), text.tokens[:20], arguments.write, arguments.context)))
    batch = text.batch(arguments.batch, arguments.context)
    print(f"a compiled step is {speed_up(train_step, compiled_step, *batch):.2f} times as fast as an eager one")


if __name__ == "__main__":
    main()
