"""Times training steps (forward, backward, Adam) for one library and prints their microseconds as one line of JSON.

python benchmarks/training_work.py lucid --threads 2
"""

import argparse
import importlib
import json
import pathlib
import sys

from eager_work import time_one


def networks(lib):
    """Yields name, constructor, input and target. PyTorch's networks are the reference models of the tests."""
    if lib.__name__ == "lucid":
        models = lib.models
        made = {"mlp": models.mlp, "lenet5": models.lenet_5, "gptmini": models.gpt, "resnet18": models.resnet_18}
    else:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "peers"))
        twins = importlib.import_module("torch_models")
        made = {"mlp": twins.mlp, "lenet5": twins.lenet_5, "gptmini": twins.GPT}
        made["resnet18"] = lambda: twins.ResNet([2, 2, 2, 2])
    yield "mlp_train_b64", made["mlp"], lib.randn(64, 784), lib.randint(0, 10, (64,))
    yield "lenet5_training", made["lenet5"], lib.randn(64, 1, 32, 32), lib.randint(0, 10, (64,))
    yield "gptmini_train_b8", made["gptmini"], lib.randint(0, 65, (8, 128)), lib.randint(0, 65, (8 * 128,))
    yield "resnet18_training", made["resnet18"], lib.randn(4, 3, 224, 224), lib.randint(0, 1000, (4,))


def step_of(lib, model, x, y):
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-4)
    cross_entropy = lib.nn.functional.cross_entropy

    def step():
        scores = model(x)
        loss = cross_entropy(scores.reshape(-1, scores.shape[-1]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=["lucid", "torch"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    lib = importlib.import_module(arguments.library)
    importlib.import_module(f"{arguments.library}.nn.functional")
    lib.set_num_threads(arguments.threads)
    lib.manual_seed(0)
    times = {}
    for name, make, x, y in networks(lib):
        if arguments.only in name:
            times[name] = time_one(step_of(lib, make(), x, y), arguments.seconds)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
