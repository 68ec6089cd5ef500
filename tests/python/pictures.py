"""Writes a small data set in the format of Fashion-MNIST, for the tests that run the examples.

python tests/python/pictures.py <folder>
"""

import gzip
import pathlib
import random
import struct
import sys

SIZES = {"train": 256, "t10k": 1000}
CLASSES, SIDE = 10, 28


def picture(label, generator):
    """Noise with a bright band whose position encodes the label."""
    pixels = bytearray(generator.randbytes(SIDE * SIDE))
    for row in range(2 * label, 2 * label + 4):
        pixels[row * SIDE : (row + 1) * SIDE] = b"\xff" * SIDE
    return bytes(pixels)


def write_pictures(folder):
    folder.mkdir(parents=True, exist_ok=True)
    generator = random.Random(0)
    for part, count in SIZES.items():
        labels = [generator.randrange(CLASSES) for _ in range(count)]
        images = b"".join(picture(label, generator) for label in labels)
        head = struct.pack(">4B3I", 0, 0, 8, 3, count, SIDE, SIDE)
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + images, 1))
        head = struct.pack(">4B1I", 0, 0, 8, 1, count)
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(head + bytes(labels), 1))


if __name__ == "__main__":
    write_pictures(pathlib.Path(sys.argv[1]))
