"""Trains LeNet-5 on Fashion-MNIST for 100 steps and prints their losses. examples/cpp/lenet.cpp prints the same ones.

python examples/lenet.py [folder of the images]
"""

import itertools
import sys

import lucid
from lucid import nn
from lucid.utils.data import DataLoader, TensorDataset, read_idx


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"
    images = read_idx(f"{folder}/train-images-idx3-ubyte.gz").float() / 255
    labels = read_idx(f"{folder}/train-labels-idx1-ubyte.gz").long()

    lucid.manual_seed(0)
    model = lucid.models.lenet_5()
    optimizer = lucid.optim.Adam(model.parameters(), lr=1e-3)

    @lucid.compile
    def step(x: lucid.Tensor, y: lucid.Tensor) -> lucid.Tensor:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    data = TensorDataset(nn.functional.pad(images.unsqueeze(1), (2, 2, 2, 2)), labels)
    batches = DataLoader(data, batch_size=64, shuffle=True)
    epochs = itertools.chain.from_iterable(itertools.repeat(batches))
    for x, y in itertools.islice(epochs, 100):
        print(f"{step(x, y).item():.9g}")


if __name__ == "__main__":
    main()
