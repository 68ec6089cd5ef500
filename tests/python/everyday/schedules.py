"""Training steps whose rate, decay, smoothing or clipping changes from step to step."""

import collections
import copy
import math

import lucid
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


def classified(count=4, size=16, features=24, classes=6):
    return [(lucid.randn(size, features), lucid.randint(0, classes, (size,))) for _ in range(count)]


def classifier():
    return nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 6))


@program
def warmup_lr_manual():
    model = nn.Linear(50, 50)
    optimizer = optim.Adam(model.parameters(), lr=0.0)
    x = lucid.randn(64, 50)

    def rate(i):
        return 1e-3 * min(1, (i + 1) / 100) * 0.5 * (1 + math.cos(math.pi * i / 1000))

    def step(i):
        for group in optimizer.param_groups:
            group["lr"] = rate(i)
        optimizer.zero_grad()
        loss = (model(x) - x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, lambda i: (i,), lambda: list(model.parameters())


@program
def warmup_by_step_number():
    """The schedule of "Attention is all you need", in a class around the optimizer."""

    class NoamOptimizer:
        def __init__(self, dim, factor, warmup, optimizer):
            self.dim, self.factor, self.warmup, self.optimizer = dim, factor, warmup, optimizer
            self.number, self.current = 0, 0.0

        def rate(self):
            return self.factor * self.dim**-0.5 * min(self.number**-0.5, self.number * self.warmup**-1.5)

        def step(self):
            self.number += 1
            self.current = self.rate()
            for group in self.optimizer.param_groups:
                group["lr"] = self.current
            self.optimizer.step()

    model = classifier()
    noam = NoamOptimizer(48, 1.0, 200, optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9))
    batches = classified()

    def train(x, y):
        loss = F.cross_entropy(model(x), y)
        noam.optimizer.zero_grad()
        loss.backward()
        noam.step()
        return loss.item(), noam.current

    return train, in_turn(batches), lambda: [*model.parameters(), noam.number, noam.current]


@program
def cosine_in_step():
    """The rate of the step is computed from its number and written to the optimizer, and kept for a plot."""
    model = classifier()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    batches = classified()

    class Session:
        total, warmup, top, bottom = 2000, 50, 0.1, 1e-4

        def __init__(self):
            self.step_number = 0
            self.rates = []

        def learning_rate(self):
            if self.step_number < self.warmup:
                return self.top * (self.step_number + 1) / self.warmup
            progress = (self.step_number - self.warmup) / (self.total - self.warmup)
            return self.bottom + 0.5 * (self.top - self.bottom) * (1 + math.cos(math.pi * progress))

        def step(self, x, y):
            rate = self.learning_rate()
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            self.rates.append(rate)
            self.step_number += 1
            return loss.detach()

    session = Session()
    return session.step, in_turn(batches), lambda: [*model.parameters(), session.step_number, session.rates]


@program
def ema_of_weights():
    """An average of the weights whose decay grows with the number of updates."""
    model = classifier()
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)
    batches = classified()

    class EMA:
        def __init__(self, model, decay=0.999):
            self.shadow = copy.deepcopy(model).eval()
            self.decay, self.updates = decay, 0

        @lucid.no_grad()
        def update(self, model):
            self.updates += 1
            decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
            for kept, new in zip(self.shadow.parameters(), model.parameters()):
                kept.mul_(decay).add_(new, alpha=1 - decay)

    ema = EMA(model)

    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
        return loss.item()

    return step, in_turn(batches), lambda: [*model.parameters(), *ema.shadow.parameters(), ema.updates]


@program
def accumulation_with_counters():
    """An engine that accumulates, clips, steps and reports by its own counters."""

    class Engine:
        def __init__(self, every=4):
            self.model = classifier()
            self.optimizer = optim.AdamW(self.model.parameters(), lr=1e-3)
            self.every = every
            self.micro_steps = self.updates = 0
            self.pending, self.mean_losses = 0.0, []

        def forward_backward(self, x, y):
            loss = F.cross_entropy(self.model(x), y)
            (loss / self.every).backward()
            self.pending += loss.item()
            self.micro_steps += 1
            if self.micro_steps % self.every == 0:
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.updates += 1
                self.mean_losses.append(self.pending / self.every)
                self.pending = 0.0
                return True
            return False

    engine = Engine()

    def state():
        return [*engine.model.parameters(), engine.micro_steps, engine.updates, engine.pending, engine.mean_losses]

    return engine.forward_backward, in_turn(classified()), state


@program
def label_smoothing_schedule():
    """Smoothing falls linearly over the steps; the loss without smoothing is averaged for the log."""
    model = classifier()
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    batches = classified()
    progress = {"step": 0, "average": None}

    def step(x, y, start=0.2, total=1000):
        smoothing = max(0.0, start * (1 - progress["step"] / total))
        out = model(x)
        loss = F.cross_entropy(out, y, label_smoothing=smoothing)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with lucid.no_grad():
            plain = F.cross_entropy(out, y).item()
        average = progress["average"]
        progress["average"] = plain if average is None else 0.98 * average + 0.02 * plain
        progress["step"] += 1
        return {"loss": loss.item(), "smoothing": smoothing, "average": progress["average"]}

    return step, in_turn(batches), lambda: [*model.parameters(), progress]


@program
def clipping_with_history():
    """The gradient is clipped to a quantile of the norms of the last steps."""
    model = nn.GRU(8, 16, batch_first=True)
    head = nn.Linear(16, 1)
    parameters = [*model.parameters(), *head.parameters()]
    optimizer = optim.RMSprop(parameters, lr=1e-3)
    norms = collections.deque(maxlen=100)
    batches = [(lucid.randn(8, 12, 8), lucid.randn(8, 1)) for _ in range(5)]

    def step(x, y):
        out, _ = model(x)
        loss = F.mse_loss(head(out[:, -1]), y)
        optimizer.zero_grad()
        loss.backward()
        limit = sorted(norms)[int(0.9 * len(norms))] if len(norms) >= 10 else float("inf")
        norm = nn.utils.clip_grad_norm_(parameters, max_norm=limit)
        norms.append(norm.item())
        optimizer.step()
        return loss.item(), norm.item(), limit

    return step, in_turn(batches), lambda: [*parameters, list(norms)]


@program
def gradient_norms_logged():
    """Norms of each parameter's gradient and the size of its update, in a dict that a logger would take."""
    model = classifier()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    batches = classified()
    records = []

    def step(i, x, y):
        before = {name: p.detach().clone() for name, p in model.named_parameters()}
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        record, total = {"step": i, "loss": loss.item()}, 0.0
        for name, p in model.named_parameters():
            norm = p.grad.norm().item()
            record[f"grad/{name}"] = norm
            total += norm**2
        record["grad/total"] = math.sqrt(total)
        optimizer.step()
        for name, p in model.named_parameters():
            record[f"ratio/{name}"] = ((p - before[name]).norm() / (p.norm() + 1e-12)).item()
        records.append(record)
        if record["grad/total"] > 100:
            raise RuntimeError("the gradient exploded")

    return step, lambda i: (i, *batches[i % 4]), lambda: [*model.parameters(), records]
