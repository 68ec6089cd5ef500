"""Loops with objects that track them: meters, loggers, early stopping, checkpoints."""

import csv
import io
import math

import lucid
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


def regression(count=5):
    return [(lucid.randn(24, 10), lucid.randn(24, 1)) for _ in range(count)]


@program
def early_stopping_class():
    class EarlyStopping:
        def __init__(self, patience=7, min_delta=0.0):
            self.patience, self.min_delta = patience, min_delta
            self.counter, self.best_score, self.early_stop = 0, None, False

        def __call__(self, loss):
            score = -loss
            if self.best_score is None:
                self.best_score = score
            elif score < self.best_score + self.min_delta:
                self.counter += 1
                if self.counter >= self.patience:
                    self.early_stop = True
            else:
                self.best_score = score
                self.counter = 0

    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    batches, (held_x, held_y) = regression(), (lucid.randn(40, 10), lucid.randn(40, 1))
    stopper = EarlyStopping(patience=20, min_delta=1e-4)

    def train_and_validate(x, y):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with lucid.no_grad():
            validation = F.mse_loss(model(held_x), held_y)
        stopper(validation.item())
        return stopper.early_stop

    return (
        train_and_validate,
        in_turn(batches),
        lambda: [*model.parameters(), stopper.counter, stopper.best_score, stopper.early_stop],
    )


@program
def best_checkpoint():
    """Keeps a copy of the state dict whenever the validation improves."""
    model = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    batches, (held_x, held_y) = regression(), (lucid.randn(40, 10), lucid.randn(40, 1))
    best = {"loss": math.inf, "step": -1, "state": None}

    def step(i, x, y):
        model.train()
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.eval()
        with lucid.no_grad():
            validation = F.mse_loss(model(held_x), held_y).item()
        improved = validation < best["loss"]
        if improved:
            best["loss"], best["step"] = validation, i
            best["state"] = {k: v.detach().clone() for k, v in model.state_dict().items()}
        return loss.item(), validation, improved

    return step, lambda i: (i, *batches[i % 5]), lambda: [*model.parameters(), best]


@program
def metric_loggers():
    """Meters with a running mean, printed like a progress bar, and rows of a CSV file."""

    class AverageMeter:
        def __init__(self, name, fmt=":f"):
            self.name, self.fmt = name, fmt
            self.val = self.avg = self.sum = self.count = 0

        def update(self, val, n=1):
            self.val = val
            self.sum += val * n
            self.count += n
            self.avg = self.sum / self.count

        def __str__(self):
            return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**vars(self))

    model = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 5))
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    losses, accuracies = AverageMeter("Loss", ":.4e"), AverageMeter("Acc@1", ":6.2f")
    file = io.StringIO()
    rows = csv.writer(file)
    batches = [(lucid.randn(n, 20), lucid.randint(0, 5, (n,))) for n in (32, 32, 32, 19)]

    def step(i, x, y):
        out = model(x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (out.argmax(1) == y).float().mean() * 100
        losses.update(loss.item(), x.size(0))
        accuracies.update(accuracy.item(), x.size(0))
        rows.writerow([i, losses.val, accuracies.avg])
        if i % 10 == 0:
            print(f"[{i:4d}]", losses, accuracies, sep="\t")

    def state():
        meters = [[m.val, m.avg, m.sum, m.count] for m in (losses, accuracies)]
        return [*model.parameters(), meters, file.getvalue()]

    return step, lambda i: (i, *batches[i % 4]), state


@program
def streaming_mean_and_variance():
    """Welford's algorithm over batches, as for the observations of an agent."""

    class RunningStatistics:
        def __init__(self, shape):
            self.mean, self.m2 = lucid.zeros(shape), lucid.zeros(shape)
            self.count = 0

        def update(self, batch):
            n = batch.shape[0]
            mean = batch.mean(0)
            delta = mean - self.mean
            total = self.count + n
            self.m2 = self.m2 + batch.var(0, unbiased=False) * n + delta.square() * (self.count * n / total)
            self.mean = self.mean + delta * (n / total)
            self.count = total

        def normalize(self, batch):
            std = (self.m2 / max(self.count, 1)).sqrt().clamp(min=1e-6)
            return ((batch - self.mean) / std).clamp(-5, 5)

    statistics = RunningStatistics((12,))

    def observe(batch, training=True):
        if training:
            statistics.update(batch)
        return statistics.normalize(batch)

    return (
        observe,
        lambda i: (lucid.randn(8 if i % 3 else 5, 12) * 2 + 1, i % 7 != 0),
        lambda: [statistics.mean, statistics.m2, statistics.count],
    )
