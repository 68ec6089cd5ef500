"""Trains LeNet-5 on Fashion-MNIST with a compiled step in Python and in C++, in turns.

python benchmarks/lenet_training.py --prefix <where the C++ package is installed> [--data <folder of the images>]

Both print the last loss, which must be the same, and the time of the fastest epoch.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
EPOCHS, ROUNDS = 2, 3


def train(folder):
    """Prints the seconds of each epoch after the first, then the last loss."""
    import lucid
    from lucid import nn
    from lucid.utils.data import DataLoader, TensorDataset, read_idx

    images = read_idx(f"{folder}/train-images-idx3-ubyte.gz").float() / 255
    labels = read_idx(f"{folder}/train-labels-idx1-ubyte.gz").long()
    lucid.manual_seed(0)
    model = lucid.models.lenet_5()
    optimizer = lucid.optim.Adam(model.parameters(), lr=1e-3)

    @lucid.compile
    def step(x, y):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    data = TensorDataset(nn.functional.pad(images.unsqueeze(1), (2, 2, 2, 2)), labels)
    batches = DataLoader(data, batch_size=64, shuffle=True)
    for epoch in range(EPOCHS + 1):
        start = time.perf_counter()
        for x, y in batches:
            loss = step(x, y).item()
        if epoch > 0:
            print(f"{time.perf_counter() - start:.6f}")
    print(f"{loss:.9g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        return train(arguments.data)
    best, losses = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "lenet_training")
        library = arguments.prefix / "lib"
        flags = ["-std=c++20", "-O2", f"-I{arguments.prefix / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}"]
        source = HERE / "cpp" / "lenet_training.cpp"
        subprocess.run(["clang++-22", *flags, source, "-llucid", "-o", program], check=True)
        commands = {
            "C++": [program, arguments.data, str(EPOCHS)],
            "Python": [sys.executable, __file__, "--work", "--data", arguments.data],
        }
        for _ in range(ROUNDS):
            for language, command in commands.items():
                *times, loss = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
                best[language] = min([*map(float, times), best.get(language, float("inf"))])
                losses[language] = loss
    if losses["C++"] != losses["Python"]:
        sys.exit(f"the losses differ: {losses}")
    print(*(f"{language}: {seconds:.3f} s for an epoch" for language, seconds in best.items()), sep="\n")
    print(f"C++ over Python: {best['C++'] / best['Python']:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
