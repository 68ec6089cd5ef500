"""Programs of adaptive.py: sequences whose lengths vary, caches, decoding."""

import itertools
import random

from adaptive_common import GPT, F, lib, nn, texts


def gpt_lengths(compile):
    """Loss of a GPT on texts of any length."""
    model = GPT(context=64).eval()

    @compile
    def evaluate(tokens):
        with lib.no_grad():
            scores = model(tokens[:, :-1])
            return F.cross_entropy(scores.reshape(-1, 65), tokens[:, 1:].reshape(-1))

    return (evaluate(tokens[:, : random.randint(3, 65)]) for tokens in texts(4, 65))


def lstm_lengths(compile):
    """LSTM classifier on sequences of any length."""
    lstm, head = nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 10)

    @compile
    @lib.no_grad()
    def predict(x):
        states, _ = lstm(x)
        return F.softmax(head(states[:, -1]), dim=-1)

    made = [lib.randn(8, random.randint(4, 32), 32) for _ in range(64)]
    return (predict(x) for x in itertools.cycle(made))


def cell_loop(compile):
    """Trains a GRU cell in a Python loop over sequences of 6 to 12 steps."""
    cell, head = nn.GRUCell(16, 32), nn.Linear(32, 16)
    optimizer = lib.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)

    @compile
    def step(x):
        state = lib.zeros(x.shape[0], 32)
        loss = 0.0
        for time in range(x.shape[1] - 1):
            state = cell(x[:, time], state)
            loss = loss + F.mse_loss(head(state), x[:, time + 1])
        loss = loss / (x.shape[1] - 1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    made = [lib.randn(16, random.randint(6, 12), 16) for _ in range(64)]
    return (step(x) for x in itertools.cycle(made))


def teacher_forcing(compile):
    """Sequence to sequence: a random number of Python decides whether the decoder sees the targets."""
    embedding = nn.Embedding(30, 32)
    encoder, decoder, head = nn.GRU(32, 32, batch_first=True), nn.GRUCell(32, 32), nn.Linear(32, 30)
    modules = nn.ModuleList([embedding, encoder, decoder, head])
    optimizer = lib.optim.Adam(modules.parameters(), lr=1e-3)

    @compile
    def step(source, target):
        _, state = encoder(embedding(source))
        state, token, loss = state[0], lib.zeros(8, dtype=lib.int64), 0.0
        forced = random.random() < 0.5
        for time in range(target.shape[1]):
            state = decoder(embedding(token), state)
            scores = head(state)
            loss = loss + F.cross_entropy(scores, target[:, time])
            token = target[:, time] if forced else scores.argmax(-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item() / target.shape[1]

    return (step(source, target) for source, target in zip(texts(8, 8, 30), texts(8, 8, 30, count=15)))


class Decoder(GPT):
    """Computes the scores of the next token from the newest one and the keys and values of the others."""

    def forward(self, token, cache):
        place = cache[0][0].shape[2] if cache else 0
        x = self.tokens(token) + self.places.weight[place]
        new = []
        for number, block in enumerate(self.blocks):
            queries, keys, values = block.split(x)
            if cache:
                keys = lib.cat([cache[number][0], keys], dim=2)
                values = lib.cat([cache[number][1], values], dim=2)
            new.append((keys, values))
            x = block.join(x, F.scaled_dot_product_attention(queries, keys, values))
        return self.head(self.norm(x))[:, -1], new


def growing_cache(compile):
    """Decodes with a KV cache that grows by cat, up to 48 tokens."""
    model = Decoder().eval()

    @compile
    def decode(token, cache):
        with lib.no_grad():
            scores, cache = model(token, cache)
            return scores.argmax(-1, keepdim=True), cache

    def generate(prompts):
        for token in prompts:
            cache = []
            for _ in range(48):
                token, cache = decode(token, cache)
                yield token

    return generate(texts(1, 1))


def preallocated_cache(compile):
    """Decodes with a preallocated KV cache; the place is a Python int."""
    model = GPT().eval()
    keys_cache = lib.zeros(2, 1, 4, 64, 16)
    values_cache = lib.zeros(2, 1, 4, 64, 16)

    @compile
    @lib.no_grad()
    def decode(token, place):
        x = model.tokens(token) + model.places.weight[place]
        for number, block in enumerate(model.blocks):
            queries, keys, values = block.split(x)
            keys_cache[number, :, :, place] = keys[:, :, 0]
            values_cache[number, :, :, place] = values[:, :, 0]
            seen_keys = keys_cache[number, :, :, : place + 1]
            seen_values = values_cache[number, :, :, : place + 1]
            x = block.join(x, F.scaled_dot_product_attention(queries, seen_keys, seen_values))
        return model.head(model.norm(x))[:, -1].argmax(-1, keepdim=True)

    def generate(prompts):
        for token in prompts:
            for place in range(48):
                token = decode(token, place)
                yield token

    return generate(texts(1, 1))


def generate(compile):
    """Greedy generation of 8 tokens in one call."""
    model = GPT(context=32).eval()

    @compile
    @lib.no_grad()
    def generate(tokens, count):
        for _ in range(count):
            scores = model(tokens[:, -32:])[:, -1]
            tokens = lib.cat([tokens, scores.argmax(-1, keepdim=True)], dim=1)
        return tokens

    return (generate(tokens, 8) for tokens in texts(2, 12))


def sample_tokens(compile):
    """Samples the next token of a growing text: top 10, a temperature."""
    model = GPT().eval()

    @compile
    @lib.no_grad()
    def next_token(tokens, temperature):
        scores = model(tokens)[:, -1] / temperature
        best, _ = scores.topk(10)
        scores = scores.masked_fill(scores < best[:, -1:], float("-inf"))
        return lib.multinomial(F.softmax(scores, dim=-1), 1)

    def generate(prompts):
        for tokens in prompts:
            for _ in range(48):
                token = next_token(tokens, 0.8)
                tokens = lib.cat([tokens, token], dim=1)
                yield token

    return generate(texts(2, 8))


def beam_search(compile):
    """Beam search with 4 beams over 8 steps in one call."""
    embedding, cell, head = nn.Embedding(50, 32), nn.GRUCell(32, 32), nn.Linear(32, 50)

    @compile
    @lib.no_grad()
    def search(state):
        state = state.expand(4, 32)
        tokens = lib.zeros(4, 1, dtype=lib.int64)
        scores = lib.tensor([0.0, -1e9, -1e9, -1e9])
        for _ in range(8):
            state = cell(embedding(tokens[:, -1]), state)
            candidates = scores.unsqueeze(1) + F.log_softmax(head(state), dim=-1)
            scores, best = candidates.reshape(-1).topk(4)
            beam, token = best // 50, best % 50
            tokens = lib.cat([tokens[beam], token.unsqueeze(1)], dim=1)
            state = state[beam]
        return tokens[0], scores[0]

    made = [lib.randn(1, 32) for _ in range(16)]
    return (search(state) for state in itertools.cycle(made))


def padded_attention(compile):
    """Attention over padded batches: a boolean mask from lengths; the longest length varies."""
    embedding, query, key = nn.Embedding(100, 64), nn.Linear(64, 64), nn.Linear(64, 64)

    @compile
    @lib.no_grad()
    def embed(tokens, lengths):
        mask = lib.arange(tokens.shape[1]) < lengths.unsqueeze(1)
        x = embedding(tokens)
        scores = query(x) @ key(x).transpose(1, 2) / 8
        scores = scores.masked_fill(~mask.unsqueeze(1), float("-inf"))
        x = F.softmax(scores, dim=-1) @ x
        mean = (x * mask.unsqueeze(-1)).sum(1) / lengths.unsqueeze(1)
        return F.normalize(mean, dim=-1)

    def batch():
        lengths = [random.randint(3, 40) for _ in range(8)]
        return lib.randint(0, 100, (8, max(lengths))), lib.tensor(lengths)

    return (embed(*batch) for batch in itertools.cycle([batch() for _ in range(64)]))
