"""Contrastive learning, recommendation, mixtures of experts and meta-learning."""

import copy
import math

import lucid
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


@program
def contrastive():
    model = nn.Linear(32, 16)
    scale = nn.Parameter(lucid.tensor(math.log(1 / 0.07)))
    groups = [{"params": model.parameters(), "weight_decay": 0.1}, {"params": [scale], "weight_decay": 0.0}]
    optimizer = optim.AdamW(groups, lr=1e-3)
    batches = [(lucid.randn(32, 32), lucid.randn(32, 32)) for _ in range(4)]

    def step(a, b):
        first, second = F.normalize(model(a), dim=-1), F.normalize(model(b), dim=-1)
        logits = first @ second.T * scale.exp()
        labels = lucid.arange(len(a))
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with lucid.no_grad():
            scale.clamp_(0, math.log(100))
        return loss.item()

    return step, in_turn(batches), lambda: [*model.parameters(), scale]


@program
def contrastive_with_queue():
    """MoCo: a momentum encoder fills a queue of negatives, written at a pointer that wraps around."""

    class MoCo(nn.Module):
        def __init__(self, dim=16, size=128, momentum=0.99, temperature=0.2):
            super().__init__()
            self.size, self.momentum, self.temperature = size, momentum, temperature
            self.query = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, dim))
            self.key = copy.deepcopy(self.query)
            for p in self.key.parameters():
                p.requires_grad = False
            self.register_buffer("queue", F.normalize(lucid.randn(dim, size), dim=0))
            self.register_buffer("pointer", lucid.zeros(1, dtype=lucid.int64))

        @lucid.no_grad()
        def update_key(self):
            for q, k in zip(self.query.parameters(), self.key.parameters()):
                k.data = k.data * self.momentum + q.data * (1.0 - self.momentum)

        @lucid.no_grad()
        def enqueue(self, keys):
            place, count = int(self.pointer), keys.shape[0]
            self.queue[:, place : place + count] = keys.T
            self.pointer[0] = (place + count) % self.size

        def forward(self, first, second):
            q = F.normalize(self.query(first), dim=1)
            with lucid.no_grad():
                self.update_key()
                k = F.normalize(self.key(second), dim=1)
            positive = (q * k).sum(-1, keepdim=True)
            negative = q @ self.queue.clone().detach()
            logits = lucid.cat([positive, negative], dim=1) / self.temperature
            self.enqueue(k)
            return logits, lucid.zeros(logits.shape[0], dtype=lucid.int64)

    model = MoCo()
    optimizer = optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
    batches = [(lucid.randn(16, 32), lucid.randn(16, 32)) for _ in range(4)]

    def step(first, second):
        logits, labels = model(first, second)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item(), (logits.argmax(1) == labels).float().mean().item()

    return step, in_turn(batches), lambda: [*model.parameters(), model.queue, model.pointer]


@program
def collaborative_filtering():
    """Matrix factorization with biases; the error is a running mean over all ratings seen."""

    class Factors(nn.Module):
        def __init__(self, users=60, items=90, width=12):
            super().__init__()
            self.users, self.items = nn.Embedding(users, width), nn.Embedding(items, width)
            self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)
            self.mean = nn.Parameter(lucid.tensor([3.5]))

        def forward(self, u, i):
            dot = (self.users(u) * self.items(i)).sum(1)
            return dot + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1) + self.mean

    model = Factors()
    optimizer = optim.Adagrad(model.parameters(), lr=0.05)
    totals = {"squared": 0.0, "count": 0}

    def ratings(i):
        n = 32 if i % 9 else 13
        return lucid.randint(0, 60, (n,)), lucid.randint(0, 90, (n,)), lucid.randint(1, 6, (n,)).float()

    def step(users, items, stars, decay=1e-4):
        predicted = model(users, items)
        error = F.mse_loss(predicted, stars)
        penalty = sum(p.square().sum() for p in model.parameters())
        optimizer.zero_grad()
        (error + decay * penalty).backward()
        optimizer.step()
        totals["squared"] += F.mse_loss(predicted.detach(), stars, reduction="sum").item()
        totals["count"] += len(stars)
        return math.sqrt(totals["squared"] / totals["count"])

    return step, ratings, lambda: [*model.parameters(), totals]


@program
def mixture_of_experts():
    """Each token goes to its two best experts; an expert computes the tokens that it got, if any."""

    class Mixture(nn.Module):
        def __init__(self, width=16, experts=4, chosen=2):
            super().__init__()
            self.chosen = chosen
            self.gate = nn.Linear(width, experts, bias=False)
            self.experts = nn.ModuleList(
                [nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width)) for _ in range(experts)]
            )

        def forward(self, x):
            probabilities = self.gate(x).softmax(-1)
            weights, indices = probabilities.topk(self.chosen, dim=-1)
            weights = weights / weights.sum(-1, keepdim=True)
            out, loads = lucid.zeros_like(x), []
            for number, expert in enumerate(self.experts):
                rows, slots = lucid.where(indices == number)
                loads.append(len(rows))
                if len(rows) == 0:
                    continue
                out = out.index_add(0, rows, weights[rows, slots, None] * expert(x[rows]))
            share = lucid.tensor(loads, dtype=lucid.float32) / sum(loads)
            return out, len(self.experts) * (share * probabilities.mean(0)).sum(), loads

    model = nn.ModuleDict({"mixture": Mixture(), "head": nn.Linear(16, 4)})
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    batches = [(lucid.randn(24, 16), lucid.randint(0, 4, (24,))) for _ in range(6)]

    def step(x, y):
        mixed, balance, loads = model["mixture"](x)
        loss = F.cross_entropy(model["head"](x + mixed), y) + 0.01 * balance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item(), max(loads) / sum(loads)

    return step, in_turn(batches), lambda: list(model.parameters())


@program
def maml():
    """Second-order MAML on sine waves: adapted weights in a dict, a few inner steps, gradients through them."""
    weights = {
        "w1": (lucid.randn(1, 24) * 0.5).requires_grad_(),
        "b1": lucid.zeros(24).requires_grad_(),
        "w2": (lucid.randn(24, 1) * 0.2).requires_grad_(),
        "b2": lucid.zeros(1).requires_grad_(),
    }
    optimizer = optim.Adam(weights.values(), lr=1e-3)

    def forward(params, x):
        return lucid.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] + params["b2"]

    def tasks(i):
        amplitude, phase = lucid.rand(3, 1, 1) * 4 + 0.1, lucid.rand(3, 1, 1) * math.pi
        x = lucid.rand(3, 20, 1) * 10 - 5
        return x, amplitude * lucid.sin(x + phase)

    def meta_step(x, y, inner_rate=0.01, inner_steps=2):
        meta_loss, gains = 0.0, []
        for task in range(x.size(0)):
            adapted = dict(weights)
            first = None
            for _ in range(inner_steps):
                loss = F.mse_loss(forward(adapted, x[task, :10]), y[task, :10])
                first = loss.item() if first is None else first
                gradients = lucid.autograd.grad(loss, list(adapted.values()), create_graph=True)
                adapted = {name: p - inner_rate * g for (name, p), g in zip(adapted.items(), gradients)}
            loss = F.mse_loss(forward(adapted, x[task, 10:]), y[task, 10:])
            gains.append(first - loss.item())
            meta_loss = meta_loss + loss
        meta_loss = meta_loss / x.size(0)
        optimizer.zero_grad()
        meta_loss.backward()
        optimizer.step()
        return meta_loss.item(), sum(gains) / len(gains)

    return meta_step, tasks, lambda: [weights]
