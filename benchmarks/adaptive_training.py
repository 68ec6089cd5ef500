"""Programs of adaptive.py: training steps."""

import copy
import itertools
import math
import random

from adaptive_common import GPT, F, batches, images, lib, mlp, nn, texts


def mlp_adam(compile):
    """MLP with Adam."""
    model = mlp()
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)

    @compile
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return (step(x, y) for x, y in batches())


def cnn_momentum(compile):
    """CNN with SGD and momentum; returns the loss as a float."""
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 10),
    )  # fmt: skip
    criterion = nn.CrossEntropyLoss()
    optimizer = lib.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    @compile
    def step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return (step(x, y) for x, y in images())


class ConvBlock(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


def batch_norm_cnn(compile):
    """CNN with batch norm in training; returns loss and accuracy."""
    model = nn.Sequential(
        ConvBlock(3, 16), ConvBlock(16, 32, stride=2), ConvBlock(32, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(32, 10),
    )  # fmt: skip
    optimizer = lib.optim.SGD(model.parameters(), lr=0.05, weight_decay=1e-4)

    @compile
    def step(x, y):
        scores = model(x)
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (scores.argmax(1) == y).float().mean()
        return loss.detach(), accuracy

    return (step(x, y) for x, y in images(16, channels=3, side=32))


def gpt_adamw(compile):
    """GPT, 8 x 64 tokens, with AdamW."""
    model = GPT(context=64)
    optimizer = lib.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)

    @compile
    def step(tokens):
        inputs, targets = tokens[:, :-1], tokens[:, 1:]
        scores = model(inputs)
        loss = F.cross_entropy(scores.reshape(-1, scores.shape[-1]), targets.reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return (step(tokens) for tokens in texts(8, 65))


def transformer_dropout(compile):
    """Transformer encoder with dropout and label smoothing."""
    embedding = nn.Embedding(65, 64)
    encoder = nn.TransformerEncoderLayer(64, 4, dim_feedforward=128, dropout=0.1, batch_first=True)
    head = nn.Linear(64, 10)
    parameters = [*embedding.parameters(), *encoder.parameters(), *head.parameters()]
    optimizer = lib.optim.Adam(parameters, lr=1e-3)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    @compile
    def step(tokens, y):
        loss = criterion(head(encoder(embedding(tokens)).mean(1)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    labels = lib.randint(0, 10, (16, 8))
    return (step(tokens, labels[number % 16]) for number, tokens in enumerate(texts()))


def clip_norm(compile):
    """GRU regression whose gradient is clipped; returns loss and norm."""
    rnn, head = nn.GRU(16, 32, batch_first=True), nn.Linear(32, 1)
    parameters = [*rnn.parameters(), *head.parameters()]
    optimizer = lib.optim.RMSprop(parameters, lr=1e-3)

    @compile
    def step(x, y):
        optimizer.zero_grad()
        states, _ = rnn(x)
        loss = F.mse_loss(head(states[:, -1]).squeeze(-1), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(parameters, max_norm=0.5)
        optimizer.step()
        return loss.detach(), norm

    made = [(lib.randn(16, 12, 16), lib.randn(16)) for _ in range(8)]
    return (step(x, y) for x, y in itertools.cycle(made))


def weight_average(compile):
    """Exponential moving average of the weights after each step."""
    model = mlp()
    average = copy.deepcopy(model)
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)

    @compile
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with lib.no_grad():
            for kept, new in zip(average.parameters(), model.parameters()):
                kept.mul_(0.99).add_(0.01 * new)
        return loss.detach()

    return ((step(x, y), average[4].bias) for x, y in batches())


def accumulation(compile):
    """Gradients of 4 calls are accumulated; a counter decides."""
    model = mlp()
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-3)

    class Trainer:
        def __init__(self):
            self.calls = 0

        def step(self, x, y):
            loss = F.cross_entropy(model(x), y) / 4
            loss.backward()
            self.calls += 1
            if self.calls % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
            return loss.detach()

    step = compile(Trainer().step)
    return (step(x, y) for x, y in batches(32))


def scheduler(compile):
    """A scheduler steps inside the compiled step."""
    model = mlp()
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = lib.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=500)

    @compile
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss.detach()

    return (step(x, y) for x, y in batches())


def warmup(compile):
    """The learning rate is set by hand before each call."""
    model = mlp()
    optimizer = lib.optim.Adam(model.parameters(), lr=0.0)

    def rate(number):
        if number < 100:
            return 1e-3 * (number + 1) / 100
        return 0.5e-3 * (1 + math.cos(math.pi * (number - 100) / 900))

    @compile
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def train(loader):
        for number, (x, y) in enumerate(loader):
            for group in optimizer.param_groups:
                group["lr"] = rate(number)
            yield step(x, y)

    return train(batches())


def mixup(compile):
    """Mixup: the weight is a Python float that varies; the permutation is drawn in the step."""
    model = mlp()
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)

    @compile
    def step(x, y, weight):
        order = lib.randperm(x.shape[0])
        mixed = weight * x + (1 - weight) * x[order]
        scores = model(mixed)
        loss = weight * F.cross_entropy(scores, y) + (1 - weight) * F.cross_entropy(scores, y[order])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return (step(x, y, random.betavariate(0.4, 0.4)) for x, y in batches())


def contrastive(compile):
    """Contrastive loss between two noisy views."""
    encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32))
    optimizer = lib.optim.Adam(encoder.parameters(), lr=1e-3)

    @compile
    def step(x):
        first = F.normalize(encoder(x + 0.1 * lib.randn_like(x)), dim=-1)
        second = F.normalize(encoder(x + 0.1 * lib.randn_like(x)), dim=-1)
        similarity = first @ second.T / 0.1
        labels = lib.arange(x.shape[0])
        loss = (F.cross_entropy(similarity, labels) + F.cross_entropy(similarity.T, labels)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return (step(x) for x, _ in batches(64))


def model_only(compile):
    """Only the model is compiled: loss, backward and Adam run outside."""
    model = mlp(hidden=256)
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
    fast = compile(model)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(fast(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return (step(x, y) for x, y in batches())


def last_batch(compile):
    """Epochs of 8 batches whose last batch is smaller."""
    model = mlp()
    optimizer = lib.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    @compile
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    x, y = lib.randn(472, 64), lib.randint(0, 10, (472,))
    loader = [(x[start : start + 64], y[start : start + 64]) for start in range(0, 472, 64)]
    return (step(x, y) for x, y in itertools.cycle(loader))


def train_and_evaluate(compile):
    """Four training steps with dropout, then an evaluation; the mode of the model changes."""
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10))
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)

    @compile
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    @compile
    def evaluate(held_out):
        correct = total = 0
        with lib.no_grad():
            for x, y in held_out:
                correct += (model(x).argmax(1) == y).sum().item()
                total += len(y)
        return correct / total

    def train(loader, held_out):
        for number, (x, y) in enumerate(loader):
            if number % 5 == 4:
                model.eval()
                yield evaluate(held_out)
            else:
                model.train()
                yield step(x, y)

    return train(batches(), list(itertools.islice(batches(), 3)))
