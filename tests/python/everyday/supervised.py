"""Training steps of classifiers and regressions, with what people log, count and decide around them."""

import collections
import io
import logging
import random
import time

import lucid
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


def classified(size, features, classes, count):
    return [(lucid.randn(size, features), lucid.randint(0, classes, (size,))) for _ in range(count)]


@program
def mlp_mnist_train():
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 10))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    batches = [(lucid.randn(64, 1, 28, 28), lucid.randint(0, 10, (64,))) for _ in range(8)]

    def train_step(x, y):
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        accuracy = (out.argmax(1) == y).float().mean()
        return loss.item(), accuracy.item()

    return train_step, in_turn(batches), lambda: list(model.parameters())


@program
def trainer_class():
    class Trainer:
        def __init__(self):
            self.model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 4))
            self.optimizer = optim.AdamW(self.model.parameters(), lr=1e-3)
            self.scheduler = optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 500)
            self.step_count = 0
            self.losses = []
            self.best = float("inf")

        def train_batch(self, batch):
            self.model.train()
            x, y = batch["x"], batch["y"]
            self.optimizer.zero_grad(set_to_none=True)
            loss = F.mse_loss(self.model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            self.step_count += 1
            self.losses.append(loss.item())
            return loss.item()

    trainer = Trainer()
    batches = [({"x": lucid.randn(32, 32), "y": lucid.randn(32, 4)},) for _ in range(4)]
    return (
        trainer.train_batch,
        in_turn(batches),
        lambda: [*trainer.model.parameters(), trainer.step_count, trainer.losses, trainer.scheduler.get_last_lr()],
    )


@program
def early_stopping():
    model = nn.Linear(20, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    state = {"best": float("inf"), "bad": 0, "stop": False}
    x, y = lucid.randn(128, 20), lucid.randn(128, 1)

    def epoch():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        value = loss.item()
        if value < state["best"] - 1e-5:
            state["best"] = value
            state["bad"] = 0
        else:
            state["bad"] += 1
        if state["bad"] > 10:
            state["stop"] = True
        return value

    return epoch, lambda i: (), lambda: [*model.parameters(), state]


@program
def print_every_50():
    model = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = optim.Adam(model.parameters())
    x, y = lucid.randn(64, 20), lucid.randn(64, 1)

    def step(i):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 50 == 0:
            print(f"step {i} loss {loss.item():.4f}")
        return loss

    return step, lambda i: (i,), lambda: list(model.parameters())


@program
def grad_accumulation():
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batches = classified(16, 32, 10, 4)

    def micro_step(i, x, y, every=4):
        loss = F.cross_entropy(model(x), y) / every
        loss.backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
        return loss.item() * every

    return micro_step, lambda i: (i, *batches[i % 4]), lambda: list(model.parameters())


@program
def metrics_logger():
    model = nn.Linear(16, 4)
    optimizer = optim.Adam(model.parameters())
    batches = classified(32, 16, 4, 4)
    log = logging.getLogger("everyday.metrics_logger")
    log.setLevel(logging.INFO)
    log.handlers[:] = [logging.StreamHandler(io.StringIO())]
    log.propagate = False
    history = collections.defaultdict(list)

    def step(epoch, x, y):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        history["loss"].append(loss.item())
        history["time"].append(time.perf_counter() - start)
        log.info("epoch %d loss %.4f", epoch, loss.item())
        return loss.item()

    def state():
        return [*model.parameters(), history["loss"], len(history["time"]), log.handlers[0].stream.getvalue()]

    return step, lambda i: (i // 4, *batches[i % 4]), state


@program
def mnist_epoch():
    """An epoch of training and its validation in one function."""
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 13 * 13, 10))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    images, labels = lucid.randn(40, 1, 28, 28), lucid.randint(0, 10, (40,))
    train = [(images[i : i + 16], labels[i : i + 16]) for i in range(0, 40, 16)]
    held_out = [(lucid.randn(16, 1, 28, 28), lucid.randint(0, 10, (16,))) for _ in range(2)]
    stopping = {"best": float("inf"), "patience": 5, "left": 5, "stopped_at": None}

    def run_epoch(epoch):
        model.train()
        running, seen = 0.0, 0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item() * x.size(0)
            seen += x.size(0)
        model.eval()
        correct, total, validation = 0, 0, 0.0
        with lucid.no_grad():
            for x, y in held_out:
                out = model(x)
                validation += criterion(out, y).item()
                correct += (out.argmax(dim=1) == y).sum().item()
                total += y.size(0)
        validation /= len(held_out)
        if validation < stopping["best"]:
            stopping["best"], stopping["left"] = validation, stopping["patience"]
        else:
            stopping["left"] -= 1
            if stopping["left"] == 0 and stopping["stopped_at"] is None:
                stopping["stopped_at"] = epoch
        return {"train": running / seen, "validation": validation, "accuracy": 100.0 * correct / total}

    return run_epoch, lambda i: (i,), lambda: [*model.parameters(), stopping]


@program
def distillation():
    """Knowledge distillation; counts how often student and teacher agree."""
    teacher = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
    student = nn.Sequential(nn.Linear(32, 24), nn.ReLU(), nn.Linear(24, 10))
    optimizer = optim.AdamW(student.parameters(), lr=2e-3)
    batches = classified(32, 32, 10, 6)
    agreement = {"same": 0, "seen": 0}

    def distill(x, y, temperature=4.0, alpha=0.7):
        with lucid.no_grad():
            targets = teacher(x)
        logits = student(x)
        soft = F.kl_div(
            F.log_softmax(logits / temperature, dim=-1), F.softmax(targets / temperature, dim=-1), reduction="batchmean"
        )
        hard = F.cross_entropy(logits, y)
        loss = alpha * temperature**2 * soft + (1 - alpha) * hard
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        agreement["same"] += int((logits.argmax(-1) == targets.argmax(-1)).sum())
        agreement["seen"] += len(x)
        return loss.item(), soft.item(), hard.item(), agreement["same"] / agreement["seen"]

    return distill, in_turn(batches), lambda: [*student.parameters(), agreement]


@program
def mixup():
    """Mixup: weight and order are drawn in the step, with Python's and the library's generators."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 5))
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    batches = classified(24, 32, 5, 5)

    def train(x, y, alpha=0.2):
        weight = random.betavariate(alpha, alpha)
        order = lucid.randperm(x.size(0))
        mixed = weight * x + (1 - weight) * x[order]
        out = model(mixed)
        loss = weight * F.cross_entropy(out, y) + (1 - weight) * F.cross_entropy(out, y[order])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        predicted = out.argmax(1)
        correct = weight * (predicted == y).sum().item() + (1 - weight) * (predicted == y[order]).sum().item()
        return loss.item(), correct / len(y)

    return train, in_turn(batches), lambda: list(model.parameters())


@program
def curriculum():
    """Samples become harder, and more per batch, when the running accuracy is high enough."""
    model = nn.Sequential(nn.Linear(16, 48), nn.Tanh(), nn.Linear(48, 2))
    optimizer = optim.Adam(model.parameters(), lr=5e-3)
    features = lucid.randn(256, 16)
    labels = (features.sum(1) > 0).long()
    order = features.sum(1).abs().argsort(descending=True)

    class Curriculum:
        def __init__(self):
            self.level, self.accuracy, self.promotions = 1, 0.5, []

        def step(self, i):
            pool = order[: 32 * self.level]
            chosen = pool[lucid.randint(0, len(pool), (16 + 4 * self.level,))]
            x, y = features[chosen], labels[chosen]
            out = model(x)
            loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.accuracy = 0.9 * self.accuracy + 0.1 * (out.argmax(1) == y).float().mean().item()
            if self.accuracy > 0.85 and self.level < 8:
                self.level += 1
                self.promotions.append(i)
                self.accuracy = 0.5
            return loss.item()

    course = Curriculum()
    return (
        course.step,
        lambda i: (i,),
        lambda: [*model.parameters(), course.level, course.accuracy, course.promotions],
    )


@program
def pruning_by_threshold():
    """Small weights are set to zero at every 20th step, and stay zero."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    masks = {name: lucid.ones_like(p) for name, p in model.named_parameters() if p.dim() > 1}
    batches = classified(16, 32, 4, 4)
    report = []

    def prune(threshold):
        kept = total = 0
        for name, p in model.named_parameters():
            if name in masks:
                masks[name] = (p.abs() > threshold).float() * masks[name]
                kept += int(masks[name].sum())
                total += p.numel()
        return 1 - kept / total

    def step(i, x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with lucid.no_grad():
            if i % 20 == 19:
                sparsity = prune(0.01 * (1 + i / 200))
                report.append((i, round(sparsity, 4)))
            for name, p in model.named_parameters():
                if name in masks:
                    p.mul_(masks[name])
        return loss.item()

    return step, lambda i: (i, *batches[i % 4]), lambda: [*model.parameters(), masks, report]
