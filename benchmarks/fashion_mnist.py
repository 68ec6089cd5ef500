"""Trains LeNet-5 on Fashion-MNIST with one library and prints the test accuracy in percent after the last epoch.

    python benchmarks/fashion_mnist.py lucid --seeds 0 1 2
    python benchmarks/fashion_mnist.py torch --seeds 0 1 2

NumPy selects the batches, so that all libraries see the same ones. Each library initializes its own weights. The data
is in Debian's package dataset-fashion-mnist.
"""

import argparse
import gzip
import importlib
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(lib, part):
    images = gzip.decompress((FOLDER / f"{part}-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((FOLDER / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 1, 28, 28).astype(np.float32)
    padded = np.pad((pixels / 255 - 0.2860) / 0.3530, ((0, 0), (0, 0), (2, 2), (2, 2))).astype(np.float32)
    return lib.from_numpy(padded), lib.from_numpy(np.frombuffer(labels, np.uint8, offset=8).astype(np.int64))


def make_model(lib):
    if lib.__name__ == "lucid":
        return lib.models.lenet_5()
    sys.path.insert(0, str(ROOT / "tests" / "peers"))
    return importlib.import_module("torch_models").lenet_5()


def accuracy(lib, model, images, labels):
    with lib.no_grad():
        correct = sum(
            (model(images[i : i + 1000]).argmax(1) == labels[i : i + 1000]).sum().item() for i in range(0, 10_000, 1000)
        )
    return 100 * correct / len(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=["lucid", "torch"])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    lib = importlib.import_module(arguments.library)
    functional = importlib.import_module(f"{arguments.library}.nn.functional")
    images, labels = load(lib, "train")
    test = load(lib, "t10k")
    found = []
    for seed in arguments.seeds:
        lib.manual_seed(seed)
        random = np.random.default_rng(seed)
        model = make_model(lib)
        optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
        for _ in range(arguments.epochs):
            order = random.permutation(len(labels))
            for start in range(0, len(order) - 63, 64):
                batch = lib.from_numpy(order[start : start + 64])
                loss = functional.cross_entropy(model(images[batch]), labels[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        found.append(accuracy(lib, model, *test))
        print(f"seed {seed}: {found[-1]:.2f} %", flush=True)
    print(f"{arguments.library}: mean {np.mean(found):.2f} %")


if __name__ == "__main__":
    main()
