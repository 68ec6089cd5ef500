"""Programs of adaptive.py: training steps that log, count and stop early."""

import logging

from adaptive_common import F, batches, lib, mlp, nn

log = logging.getLogger("training")


def log_history(compile):
    """Appends the loss and the accuracy as floats to lists."""

    class Trainer:
        def __init__(self):
            self.model = mlp()
            self.optimizer = lib.optim.Adam(self.model.parameters(), lr=1e-3)
            self.history = {"loss": [], "accuracy": []}
            self.steps = 0

        def step(self, x, y):
            scores = self.model(x)
            loss = F.cross_entropy(scores, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.history["loss"].append(loss.item())
            self.history["accuracy"].append((scores.argmax(1) == y).float().mean().item())
            self.steps += 1

    trainer = Trainer()
    step = compile(trainer.step)
    history = trainer.history
    return ((step(x, y), history["loss"][-1], history["accuracy"][-1], trainer.steps) for x, y in batches())


def log_print(compile):
    """Prints the loss at each 50th step."""

    class Trainer:
        def __init__(self):
            self.model = mlp()
            self.optimizer = lib.optim.Adam(self.model.parameters(), lr=1e-3)
            self.steps = 0

        def step(self, x, y):
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.steps += 1
            if self.steps % 50 == 0:
                print(f"step {self.steps}: loss {loss.item():.4f}")
            return loss.detach()

    step = compile(Trainer().step)
    return (step(x, y) for x, y in batches())


def log_module(compile):
    """Logs each loss with the logging module, at a level that is off; and each 100th loss at one that is on."""
    model = mlp()
    optimizer = lib.optim.SGD(model.parameters(), lr=0.05)
    steps = 0

    @compile
    def step(x, y):
        nonlocal steps
        steps += 1
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.debug("step %d: loss %s", steps, loss.detach())
        if steps % 100 == 0:
            log.info("step %d: loss %.4f", steps, loss.item())
        return loss.detach()

    return (step(x, y) for x, y in batches())


class AverageMeter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, count):
        self.total += value * count
        self.count += count

    @property
    def average(self):
        return self.total / self.count


def average_meter(compile):
    """Adds the loss to a running average in Python floats."""
    model = mlp()
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
    losses = AverageMeter()

    @compile
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), x.shape[0])

    return ((step(x, y), losses.average) for x, y in batches())


def early_stopping(compile):
    """Keeps the best weights and counts the steps without progress; training starts again after 30 of them."""

    class Trainer:
        def __init__(self):
            self.model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))
            self.optimizer = lib.optim.Adam(self.model.parameters(), lr=1e-3)
            self.best, self.bad, self.best_state = float("inf"), 0, None

        def step(self, x, y):
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if loss.item() < self.best - 1e-3:
                self.best, self.bad = loss.item(), 0
                self.best_state = {name: value.clone() for name, value in self.model.state_dict().items()}
            else:
                self.bad += 1
            return self.bad >= 30

    trainer = Trainer()
    step = compile(trainer.step)

    def train(loader):
        for x, y in loader:
            if step(x, y):
                trainer.best, trainer.bad = float("inf"), 0
            yield trainer.best, trainer.bad

    return train(batches())
