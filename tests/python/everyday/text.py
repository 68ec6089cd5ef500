"""Language models: training, and generation by sampling, beams and caches."""

import math
import random

import lucid
import numpy as np
from lucid import nn, optim
from lucid.nn import functional as F

from ._programs import in_turn, program


@program
def gpt_generate():
    model = lucid.models.gpt(vocab_size=65, context=64, dim=64, heads=4, layers=2).eval()

    @lucid.no_grad()
    def next_token(ids, temperature=0.8):
        logits = model(ids[:, -64:])[:, -1] / temperature
        values, _ = logits.topk(10)
        logits = logits.masked_fill(logits < values[:, -1:], -float("inf"))
        return lucid.cat([ids, lucid.multinomial(logits.softmax(-1), 1)], 1)

    return next_token, lambda i: (lucid.randint(0, 65, (1, 1 + i % 60)),), lambda: []


@program
def gpt_train():
    model = lucid.models.gpt(vocab_size=65, context=32, dim=64, heads=4, layers=2)
    optimizer = optim.AdamW(model.parameters(), lr=3e-4)
    data = lucid.randint(0, 65, (4000,))

    def get_batch(i):
        starts = [random.randint(0, 3900) for _ in range(8)]
        x = lucid.stack([data[start : start + 32] for start in starts])
        y = lucid.stack([data[start + 1 : start + 33] for start in starts])
        return x, y

    def step(x, y):
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, 65), y.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step, get_batch, lambda: list(model.parameters())


@program
def kv_decode():
    width = 64
    query, key, value, out = (nn.Linear(width, width) for _ in range(4))
    cache = {"k": None, "v": None}

    @lucid.no_grad()
    def decode(x):
        if x is None:
            cache["k"] = cache["v"] = None
            return None
        keys, values = key(x), value(x)
        if cache["k"] is not None:
            keys = lucid.cat([cache["k"], keys], 1)
            values = lucid.cat([cache["v"], values], 1)
        cache["k"], cache["v"] = keys, values
        return out((query(x) @ keys.transpose(1, 2) / math.sqrt(width)).softmax(-1) @ values)

    return decode, lambda i: (None,) if i % 60 == 59 else (lucid.randn(1, 1, width),), lambda: [cache]


class CachedAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, past=None):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        if past is not None:
            k, v = lucid.cat([past[0], k], dim=2), lucid.cat([past[1], v], dim=2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.mlp_norm(x)), (k, v)


class CachedGPT(nn.Module):
    def __init__(self, words=40, width=32, heads=2, layers=2, context=48):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([CachedAttention(width, heads) for _ in range(layers)])
        self.head = nn.Linear(width, words)

    def forward(self, ids, past=None):
        start = 0 if past is None else past[0][0].size(2)
        x = self.words(ids) + self.places(lucid.arange(start, start + ids.size(1)))
        present = []
        for number, block in enumerate(self.blocks):
            x, kept = block(x, None if past is None else past[number])
            present.append(kept)
        return self.head(x), present


@program
def gpt_generate_with_cache():
    """A whole generation: the prompt, then one token at a time until the end token or the limit."""
    model = CachedGPT().eval()

    @lucid.no_grad()
    def generate(prompt, limit=16, end=0):
        logits, past = model(prompt)
        tokens = []
        for _ in range(limit):
            following = logits[:, -1].argmax(-1, keepdim=True)
            token = following.item()
            tokens.append(token)
            if token == end:
                break
            logits, past = model(following, past)
        return tokens

    return generate, lambda i: (lucid.randint(1, 40, (1, 3 + i % 5)),), lambda: []


@program
def beam_search():
    """Beams as a list of (tokens, score, state of the RNN)."""
    embedding, cell, head = nn.Embedding(30, 24), nn.GRUCell(24, 24), nn.Linear(24, 30)

    @lucid.no_grad()
    def search(context, width=3, limit=8, end=1):
        beams, finished = [([0], 0.0, context)], []
        for _ in range(limit):
            candidates = []
            for tokens, score, hidden in beams:
                hidden = cell(embedding(lucid.tensor([tokens[-1]])), hidden)
                scores, words = F.log_softmax(head(hidden), dim=-1).topk(width, dim=-1)
                for value, word in zip(scores[0].tolist(), words[0].tolist()):
                    candidates.append(([*tokens, word], score + value, hidden))
            candidates.sort(key=lambda beam: beam[1], reverse=True)
            beams = []
            for beam in candidates[:width]:
                (finished if beam[0][-1] == end else beams).append(beam)
            if not beams:
                break
        best = max(finished or beams, key=lambda beam: beam[1] / len(beam[0]))
        return best[0], best[1]

    return search, lambda i: (lucid.randn(1, 24),), lambda: []


@program
def temperature_sampling():
    """Samples with a temperature, top-k, top-p and a penalty of repeated words; the request chooses them."""
    model = nn.Sequential(nn.Embedding(50, 32), nn.Flatten(), nn.Linear(256, 64), nn.Tanh(), nn.Linear(64, 50)).eval()
    window = lucid.randint(0, 50, (1, 8))
    session = {"window": window, "text": []}

    @lucid.no_grad()
    def sample(temperature=1.0, top_k=None, top_p=None, penalty=1.0):
        logits = model(session["window"])[0]
        if penalty != 1.0:
            seen = session["window"][0]
            found = logits[seen]
            logits[seen] = lucid.where(found > 0, found / penalty, found * penalty)
        if temperature == 0:
            token = logits.argmax(keepdim=True)
        else:
            logits = logits / temperature
            if top_k is not None:
                limit = logits.topk(min(top_k, logits.numel())).values[-1]
                logits[logits < limit] = -float("inf")
            if top_p is not None:
                ordered, places = logits.sort(descending=True)
                remove = ordered.softmax(-1).cumsum(-1) > top_p
                remove[1:] = remove[:-1].clone()
                remove[0] = False
                logits[places[remove]] = -float("inf")
            token = lucid.multinomial(logits.softmax(-1), 1)
        session["window"] = lucid.cat([session["window"][:, 1:], token[None]], dim=1)
        session["text"].append(token.item())
        return token.item()

    requests = [(0.7, 10, None, 1.2), (1.0, None, 0.9, 1.0), (0.0,), (0.9, 40, 0.95, 1.1)]
    return sample, lambda i: requests[i // 25 % 4], lambda: [session]


@program
def masked_language_model():
    """BERT's masking: 80 % masked, 10 % random, 10 % unchanged; the loss is that of the chosen places."""
    words, mask_id = 60, 1
    embedding = nn.Embedding(words, 32)
    layer = nn.TransformerEncoderLayer(32, 2, dim_feedforward=64, dropout=0.0, batch_first=True)
    encoder, head = nn.TransformerEncoder(layer, 1), nn.Linear(32, words)
    parameters = [*embedding.parameters(), *encoder.parameters(), *head.parameters()]
    optimizer = optim.AdamW(parameters, lr=1e-3)
    texts = [lucid.randint(2, words, (8, 20)) for _ in range(6)]
    history = []

    def step(tokens, probability=0.15):
        labels = tokens.clone()
        chosen = lucid.rand(tokens.shape) < probability
        labels[~chosen] = -100
        inputs = tokens.clone()
        masked = (lucid.rand(tokens.shape) < 0.8) & chosen
        inputs[masked] = mask_id
        swapped = (lucid.rand(tokens.shape) < 0.5) & chosen & ~masked
        inputs[swapped] = lucid.randint(2, words, tokens.shape)[swapped]
        scores = head(encoder(embedding(inputs)))
        loss = F.cross_entropy(scores.view(-1, words), labels.view(-1), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right = (scores.argmax(-1) == labels)[chosen].float().mean().item()
        history.append((loss.item(), right))
        return loss.item()

    return step, in_turn([(text,) for text in texts]), lambda: [*parameters, history]


@program
def word2vec():
    """Skip-grams with negative samples drawn by NumPy from the unigram table; plain SGD with a falling rate."""
    words, width, negatives = 80, 16, 5
    center, context = nn.Embedding(words, width), nn.Embedding(words, width)
    nn.init.zeros_(context.weight)
    frequency = np.arange(1, words + 1) ** -0.75
    table = frequency / frequency.sum()
    corpus = np.random.choice(words, 3000, p=table)
    progress = {"seen": 0, "loss": 0.0}

    def pairs(i):
        places = [random.randrange(3, len(corpus) - 3) for _ in range(16)]
        inputs = lucid.tensor([int(corpus[p]) for p in places])
        return inputs, lucid.tensor([int(corpus[p + random.choice([-2, -1, 1, 2])]) for p in places])

    def train(inputs, targets, start=0.05, total=20000):
        drawn = np.random.choice(words, size=(len(inputs), negatives), p=table)
        vectors = center(inputs)
        positive = (vectors * context(targets)).sum(-1)
        negative = lucid.einsum("bd,bnd->bn", vectors, context(lucid.from_numpy(drawn)))
        loss = -(F.logsigmoid(positive).sum() + F.logsigmoid(-negative).sum()) / len(inputs)
        loss.backward()
        rate = max(start * (1 - progress["seen"] / total), start * 1e-4)
        with lucid.no_grad():
            for weight in (center.weight, context.weight):
                weight -= rate * weight.grad
                weight.grad = None
        progress["seen"] += len(inputs)
        progress["loss"] += loss.item()
        return progress["loss"] / (progress["seen"] / 16)

    return train, pairs, lambda: [center.weight, context.weight, progress]
