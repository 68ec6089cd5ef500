"""The WordPiece tokenizer of uncased BERT models: splits words into the longest pieces in the vocabulary."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence


def _is_punctuation(character: str) -> bool:
    code = ord(character)
    ascii_symbol = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_symbol or unicodedata.category(character).startswith("P")


def _is_ideograph(character: str) -> bool:
    code = ord(character)
    return (
        0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF or 0xF900 <= code <= 0xFAFF
    )


def words(text: str) -> Iterator[str]:
    """Yields lower-case words without accents. Every punctuation mark and ideograph is a word of its own."""
    plain = unicodedata.normalize("NFD", text.lower())
    word = ""
    for character in plain:
        category = unicodedata.category(character)
        if category == "Mn" or character in "\0\ufffd":
            continue
        if character.isspace() or category == "Zs":
            if word:
                yield word
            word = ""
        elif category.startswith("C"):
            continue
        elif _is_punctuation(character) or _is_ideograph(character):
            if word:
                yield word
            yield character
            word = ""
        else:
            word += character
    if word:
        yield word


class WordPiece:
    """Converts text to token indices.

    >>> WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##known", "word"])("unknown WORD")
    [2, 4, 5, 6, 3]
    """

    max_word_length = 100

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.index = {piece: i for i, piece in enumerate(vocabulary)}
        self.start, self.end, self.unknown = (self.index[name] for name in ("[CLS]", "[SEP]", "[UNK]"))

    def _pieces(self, word: str) -> list[int]:
        pieces: list[int] = []
        begin = 0
        while begin < len(word):
            for end in range(len(word), begin, -1):
                piece = self.index.get(("##" if begin else "") + word[begin:end])
                if piece is not None:
                    pieces.append(piece)
                    begin = end
                    break
            else:
                return [self.unknown]
        return pieces

    def __call__(self, text: str) -> list[int]:
        tokens = [self.start]
        for word in words(text):
            tokens += self._pieces(word) if len(word) <= self.max_word_length else [self.unknown]
        return [*tokens, self.end]
