"""Trains LeNet-5 on Fashion-MNIST: 60,000 training images of clothes and 10,000 test images.

    apt-get install dataset-fashion-mnist
    python examples/fashion_mnist.py --epochs 5

Prints a table of epochs and the speed-up of a compiled step. Saves the network (lenet.safetensors) and the loss curve
(loss.svg).
"""

from __future__ import annotations

import argparse
import pathlib
import time

import lucid
from lucid import nn
from lucid.utils.data import DataLoader, TensorDataset, read_idx
from plot import save_curve
from timing import speed_up


def load(folder: pathlib.Path, part: str) -> TensorDataset:
    """Loads the images as floats of shape (n, 1, 32, 32), LeNet's input size, and their labels."""
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    scaled = (images.float() / 255 - 0.2860) / 0.3530
    return TensorDataset(nn.functional.pad(scaled.unsqueeze(1), (2, 2, 2, 2)), labels.long())


@lucid.no_grad()
def accuracy(model: nn.Module, data: TensorDataset) -> float:
    """Returns the percentage of images that the network classifies correctly."""
    model.eval()
    correct = 0
    for images, labels in DataLoader(data, batch_size=1000):
        correct += (model(images).argmax(dim=1) == labels).sum().item()
    model.train()
    return 100 * correct / len(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/usr/share/datasets/fashion-mnist"))
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()

    lucid.manual_seed(arguments.seed)
    model = lucid.models.lenet_5()
    optimizer = lucid.optim.Adam(model.parameters(), lr=arguments.lr)

    def step(images: lucid.Tensor, labels: lucid.Tensor) -> lucid.Tensor:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    compiled_step, compiled_model = lucid.compile(step), lucid.compile(model)
    test = load(arguments.data, "t10k")
    loader = DataLoader(load(arguments.data, "train"), batch_size=64, shuffle=True, drop_last=True, progress=True)
    losses: list[float] = []
    print("epoch    loss  test accuracy   seconds")
    for epoch in range(1, arguments.epochs + 1):
        start = time.perf_counter()
        steps: list[lucid.Tensor] = []
        for images, labels in loader:
            steps.append(compiled_step(images, labels))
        epoch_losses = lucid.stack(steps)
        losses += epoch_losses.tolist()
        seconds = time.perf_counter() - start
        print(f"{epoch:5d}  {epoch_losses.mean():.4f}  {accuracy(compiled_model, test):11.2f} %  {seconds:8.1f}")

    arguments.out.mkdir(parents=True, exist_ok=True)
    lucid.save(model.state_dict(), arguments.out / "lenet.safetensors")
    save_curve(arguments.out / "loss.svg", losses, title="LeNet-5 on Fashion-MNIST", x="step", y="loss")
    print(f"saved {arguments.out / 'lenet.safetensors'} and {arguments.out / 'loss.svg'}")
    print(f"a compiled step is {speed_up(step, compiled_step, images, labels):.2f} times as fast as an eager one")


if __name__ == "__main__":
    main()
