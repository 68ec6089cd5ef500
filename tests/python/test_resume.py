"""Training that is stopped and resumed in a new process ends with the same bits as training that was not."""

import subprocess
import sys

import pytest

TRAIN = """
import sys
import lucid
from lucid.utils.data import DataLoader, TensorDataset

folder, start, stop, workers = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
lucid.manual_seed(11)
x = lucid.randn(50, 6)
data = TensorDataset(x, (x * x).sum(1))
params = {
    name: (lucid.randn(shape) * 0.3).requires_grad_()
    for name, shape in {"w1": (6, 16), "b1": (16,), "w2": (16, 1)}.items()
}
optimizer = lucid.optim.AdamW(params.values(), lr=0.01, amsgrad=True)
scheduler = lucid.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=40)
generator = lucid.Generator().manual_seed(5)
loader = DataLoader(data, batch_size=8, shuffle=True, generator=generator, num_workers=workers)
done = 0
if start == "resume":
    saved = lucid.load(folder + "/checkpoint")
    with lucid.no_grad():
        for name, value in saved["params"].items():
            params[name].copy_(value)
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    loader.load_state_dict(saved["loader"])
    lucid.set_rng_state(saved["rng"])
    done = saved["done"]
while done < stop:
    for batch, target in loader:
        hidden = (batch @ params["w1"] + params["b1"]).tanh()
        hidden = hidden * (lucid.rand(hidden.shape) > 0.2)
        loss = ((hidden @ params["w2"]).squeeze(1) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        done += 1
        if done == stop:
            break
saved = {"params": params, "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
saved |= {"loader": loader.state_dict(), "rng": lucid.get_rng_state(), "done": done}
lucid.save(saved, folder + "/checkpoint")
"""


def train(folder, start, stop, workers):
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", TRAIN, str(folder), start, str(stop), str(workers)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return (folder / "checkpoint").read_bytes()


@pytest.mark.parametrize("stop", [1, 7, 10, 17])
def test_resumed_training_ends_with_the_same_bits(stop, tmp_path):
    expected = train(tmp_path / "whole", "begin", 23, 0)
    train(tmp_path / "parts", "begin", stop, 0)
    assert train(tmp_path / "parts", "resume", 23, 0) == expected


def test_the_number_of_workers_may_change_on_resume(tmp_path):
    expected = train(tmp_path / "whole", "begin", 23, 0)
    train(tmp_path / "parts", "begin", 9, 2)
    assert train(tmp_path / "parts", "resume", 23, 1) == expected
