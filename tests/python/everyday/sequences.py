"""Recurrent networks over text and time series."""

import collections
import random

import lucid
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


@program
def lstm_lm():
    embedding, lstm, head = nn.Embedding(50, 32), nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 50)
    parameters = [*embedding.parameters(), *lstm.parameters(), *head.parameters()]
    optimizer = optim.SGD(parameters, lr=0.5)
    batches = [(lucid.randint(0, 50, (8, 21)),) for _ in range(4)]
    state = {"h": None}

    def step(batch):
        x, y = batch[:, :-1], batch[:, 1:]
        h = state["h"]
        out, h = lstm(embedding(x), h)
        state["h"] = tuple(t.detach() for t in h)
        loss = F.cross_entropy(head(out).reshape(-1, 50), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 5.0)
        optimizer.step()
        return loss.item()

    return step, in_turn(batches), lambda: [*parameters, state]


@program
def truncated_bptt():
    """Segments of long texts; the state is kept between segments and dropped at the start of a text."""

    class CharModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(32, 16)
            self.gru = nn.GRU(16, 32, num_layers=2, batch_first=True)
            self.head = nn.Linear(32, 32)

        def forward(self, x, hidden=None):
            out, hidden = self.gru(self.embedding(x), hidden)
            return self.head(out), hidden

    class Learner:
        def __init__(self):
            self.model = CharModel()
            self.optimizer = optim.Adam(self.model.parameters(), lr=2e-3)
            self.hidden, self.segments, self.total = None, 0, 0.0

        def learn(self, x, y, first):
            if first:
                self.hidden = None
            elif self.hidden is not None:
                self.hidden = self.hidden.detach()
            out, self.hidden = self.model(x, self.hidden)
            loss = F.cross_entropy(out.transpose(1, 2), y)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.segments += 1
            self.total += loss.item()
            return self.total / self.segments

    text = lucid.randint(0, 32, (4, 161))
    learner = Learner()

    def segment(i):
        start = 16 * (i % 10)
        return text[:, start : start + 16], text[:, start + 1 : start + 17], i % 10 == 0

    return (
        learner.learn,
        segment,
        lambda: [*learner.model.parameters(), learner.hidden.detach(), learner.segments, learner.total],
    )


@program
def seq2seq_teacher_forcing():
    """Encoder and decoder; for each target word a coin decides between the word and the prediction."""

    class Seq2Seq(nn.Module):
        def __init__(self, words=24, width=24):
            super().__init__()
            self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
            self.encoder = nn.GRU(width, width, batch_first=True)
            self.decoder, self.head = nn.GRUCell(width, width), nn.Linear(width, words)

        def forward(self, source, target, forcing):
            _, hidden = self.encoder(self.source(source))
            hidden, word, outputs = hidden[0], target[:, 0], []
            for t in range(1, target.size(1)):
                hidden = self.decoder(self.target(word), hidden)
                out = self.head(hidden)
                outputs.append(out)
                word = target[:, t] if random.random() < forcing else out.argmax(1)
            return lucid.stack(outputs, dim=1)

    model = Seq2Seq()
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    pairs = [(lucid.randint(0, 24, (8, 9)), lucid.randint(0, 24, (8, 7))) for _ in range(5)]

    def step(source, target, forcing=0.5):
        optimizer.zero_grad()
        out = model(source, target, forcing)
        loss = F.cross_entropy(out.reshape(-1, out.size(-1)), target[:, 1:].reshape(-1), ignore_index=0)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step, lambda i: (*pairs[i % 5], max(0.0, 1.0 - i / 300)), lambda: list(model.parameters())


@program
def bucketed_lengths():
    """Sentences of any length, padded to that of their bucket; the last state before the padding is classified."""
    buckets = (8, 16, 24, 32)
    embedding, lstm, head = nn.Embedding(40, 24, padding_idx=0), nn.LSTM(24, 24, batch_first=True), nn.Linear(24, 3)
    parameters = [*embedding.parameters(), *lstm.parameters(), *head.parameters()]
    optimizer = optim.Adam(parameters, lr=1e-3)
    counts = collections.Counter()

    def sentences(i):
        longest = random.randint(4, 32)
        lengths = [random.randint(2, longest) for _ in range(8)]
        return [[random.randint(1, 39) for _ in range(n)] for n in lengths], [random.randint(0, 2) for _ in range(8)]

    def train(sentences, labels):
        lengths = [len(sentence) for sentence in sentences]
        bucket = next(size for size in buckets if size >= max(lengths))
        padded = lucid.tensor([sentence + [0] * (bucket - len(sentence)) for sentence in sentences])
        out, _ = lstm(embedding(padded))
        last = out[lucid.arange(len(lengths)), lucid.tensor(lengths) - 1]
        y = lucid.tensor(labels)
        scores = head(last)
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        counts[bucket] += 1
        return loss.item(), (scores.argmax(-1) == y).sum().item() / len(labels)

    return train, sentences, lambda: [*parameters, dict(counts)]


@program
def forecasting():
    """Learns from a sliding window of a series as its values arrive, and forecasts the next steps."""

    class Forecaster:
        def __init__(self, window=24, horizon=4):
            self.window, self.horizon = window, horizon
            self.values = collections.deque(maxlen=window + horizon)
            self.model = nn.Sequential(nn.Linear(window, 32), nn.ReLU(), nn.Linear(32, horizon))
            self.optimizer = optim.Adam(self.model.parameters(), lr=1e-3)
            self.errors = []

        def observe(self, value):
            self.values.append(value)
            if len(self.values) < self.values.maxlen:
                return None
            series = lucid.tensor(list(self.values))
            mean, std = series[: self.window].mean().item(), series[: self.window].std().item() + 1e-6
            scaled = (series - mean) / std
            forecast = self.model(scaled[: self.window])
            loss = F.smooth_l1_loss(forecast, scaled[self.window :])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.errors.append(loss.item())
            with lucid.no_grad():
                following = self.model(scaled[-self.window :]) * std + mean
            return [round(v, 3) for v in following.tolist()]

    forecaster = Forecaster()

    def observation(i):
        return (random.gauss(0, 0.1) + (i % 12) / 6,)

    return (
        forecaster.observe,
        observation,
        lambda: [*forecaster.model.parameters(), list(forecaster.values), forecaster.errors],
    )
