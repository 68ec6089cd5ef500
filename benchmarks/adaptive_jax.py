"""Programs of adaptive.py for JAX: those that are pure functions of arrays. Loops on values are loops of `jax.lax`."""

import itertools
import random

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax_peer import GPT, adam, floats, linear, new_linear

integers = numpy.random.default_rng(0).integers


def new_mlp(features=64, hidden=128, classes=10):
    return [new_linear(features, hidden), new_linear(hidden, hidden), new_linear(hidden, classes)]


def mlp(layers, x):
    for layer in layers[:-1]:
        x = jax.nn.relu(linear(layer, x))
    return linear(layers[-1], x)


def cross_entropy(scores, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores, -1), y[:, None], 1).mean()


def batches(size=64, features=64, count=16):
    made = [(floats(size, features), jnp.asarray(integers(0, 10, size))) for _ in range(count)]
    return itertools.cycle(made)


def new_adam(parameters):
    zeros = [jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)]
    return parameters, *zeros, jnp.float32(0)


def mlp_loss(parameters, x, y):
    return cross_entropy(mlp(parameters, x), y)


def mlp_adam(compile):
    @compile
    def step(state, x, y):
        loss, gradients = jax.value_and_grad(mlp_loss)(state[0], x, y)
        return adam(gradients, state), loss

    def train(loader, state):
        for x, y in loader:
            state, loss = step(state, x, y)
            yield loss

    return train(batches(), new_adam(new_mlp()))


def weight_average(compile):
    @compile
    def step(state, average, x, y):
        loss, gradients = jax.value_and_grad(mlp_loss)(state[0], x, y)
        state = adam(gradients, state)
        return state, jax.tree.map(lambda kept, new: 0.99 * kept + 0.01 * new, average, state[0]), loss

    def train(loader, state):
        average = state[0]
        for x, y in loader:
            state, average, loss = step(state, average, x, y)
            yield loss

    return train(batches(), new_adam(new_mlp()))


def warmup(compile):
    @compile
    def step(parameters, rate, x, y):
        loss, gradients = jax.value_and_grad(mlp_loss)(parameters, x, y)
        return jax.tree.map(lambda weight, gradient: weight - rate * gradient, parameters, gradients), loss

    def train(loader, parameters):
        for number, (x, y) in enumerate(loader):
            parameters, loss = step(parameters, 1e-3 * min(1, (number + 1) / 100), x, y)
            yield loss

    return train(batches(), new_mlp())


def contrastive(compile):
    def loss_of(parameters, x, key):
        noise = 0.1 * jax.random.normal(key, (2, *x.shape))
        first, second = (mlp(parameters, x + each) for each in noise)
        first = first / jnp.linalg.norm(first, axis=-1, keepdims=True)
        second = second / jnp.linalg.norm(second, axis=-1, keepdims=True)
        similarity, labels = first @ second.T / 0.1, jnp.arange(x.shape[0])
        return (cross_entropy(similarity, labels) + cross_entropy(similarity.T, labels)) / 2

    @compile
    def step(state, x, key):
        loss, gradients = jax.value_and_grad(loss_of)(state[0], x, key)
        return adam(gradients, state), loss

    def train(loader, state, key):
        for x, _ in loader:
            key, used = jax.random.split(key)
            state, loss = step(state, x, used)
            yield loss

    return train(batches(), new_adam([new_linear(64, 128), new_linear(128, 32)]), jax.random.key(0))


def last_batch(compile):
    @compile
    def step(parameters, x, y):
        loss, gradients = jax.value_and_grad(mlp_loss)(parameters, x, y)
        return jax.tree.map(lambda weight, gradient: weight - 0.05 * gradient, parameters, gradients), loss

    def train(loader, parameters):
        for x, y in itertools.cycle(loader):
            parameters, loss = step(parameters, x, y)
            yield loss

    x, y = floats(472, 64), jnp.asarray(integers(0, 10, 472))
    loader = [(x[start : start + 64], y[start : start + 64]) for start in range(0, 472, 64)]
    return train(loader, new_mlp())


def gpt_lengths(compile):
    model = GPT(65, 64, 64, 4, 2)
    state = model.new()

    @compile
    def evaluate(tokens):
        scores = model.forward(state, tokens[:, :-1], False)
        return cross_entropy(scores.reshape(-1, 65), tokens[:, 1:].reshape(-1))

    made = [jnp.asarray(integers(0, 65, (4, 65))) for _ in range(16)]
    return (evaluate(tokens[:, : random.randint(3, 65)]) for tokens in itertools.cycle(made))


def lstm_lengths(compile):
    cell, head = new_linear(96, 256), new_linear(64, 10)

    def advance(carry, x):
        state, memory = carry
        into, forget, out, new = jnp.split(linear(cell, jnp.concatenate([x, state], -1)), 4, -1)
        memory = jax.nn.sigmoid(forget) * memory + jax.nn.sigmoid(into) * jnp.tanh(new)
        return (jax.nn.sigmoid(out) * jnp.tanh(memory), memory), None

    @compile
    def predict(x):
        (state, _), _ = lax.scan(advance, (jnp.zeros((8, 64)), jnp.zeros((8, 64))), x.swapaxes(0, 1))
        return jax.nn.softmax(linear(head, state), -1)

    made = [floats(8, random.randint(4, 32), 32) for _ in range(64)]
    return (predict(x) for x in itertools.cycle(made))


def padded_attention(compile):
    embedding, query, key = floats(100, 64), new_linear(64, 64), new_linear(64, 64)

    @compile
    def embed(tokens, lengths):
        mask = jnp.arange(tokens.shape[1]) < lengths[:, None]
        x = embedding[tokens]
        scores = linear(query, x) @ linear(key, x).swapaxes(1, 2) / 8
        x = jax.nn.softmax(jnp.where(mask[:, None], scores, -jnp.inf), -1) @ x
        mean = (x * mask[:, :, None]).sum(1) / lengths[:, None]
        return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)

    def batch():
        lengths = integers(3, 41, 8)
        return jnp.asarray(integers(0, 100, (8, lengths.max()))), jnp.asarray(lengths)

    return (embed(*batch) for batch in itertools.cycle([batch() for _ in range(64)]))


def k_means(compile):
    points = floats(2000, 16)

    @compile
    def iterate(centers):
        distances = jnp.linalg.norm(points[:, None] - centers, axis=-1)
        chosen = jax.nn.one_hot(distances.argmin(1), 10)
        moved = (chosen.T @ points) / jnp.maximum(chosen.sum(0), 1)[:, None]
        return moved, jnp.linalg.norm(moved - centers)

    def fit():
        while True:
            centers = floats(10, 16)
            for _ in range(20):
                centers, shift = iterate(centers)
                yield centers, shift

    return fit()


def newton(compile):
    @compile
    def cube_root(a):
        def unfinished(state):
            x, count = state
            return (jnp.abs(x**3 - a).max() > 1e-4) & (count < 20)

        def improve(state):
            x, count = state
            return x - (x**3 - a) / (3 * x**2), count + 1

        return lax.while_loop(unfinished, improve, (jnp.ones_like(a), 0))[0]

    made = [jnp.abs(floats(2048)) * scale + 0.5 for scale in (1, 2, 4, 8, 16, 32)]
    return (cube_root(a) for a in itertools.cycle(made))


def page_rank(compile):
    @compile
    def rank(links):
        size = links.shape[0]
        transitions = links / jnp.maximum(links.sum(0, keepdims=True), 1)

        def unfinished(state):
            _, change, count = state
            return (change >= 1e-5) & (count < 50)

        def improve(state):
            ranks, _, count = state
            new = 0.15 / size + 0.85 * (transitions @ ranks)
            return new, jnp.abs(new - ranks).sum(), count + 1

        ranks = lax.while_loop(unfinished, improve, (jnp.full(size, 1 / size), jnp.float32(1), 0))[0]
        return ranks / ranks.sum()

    made = [(floats(400, 400) > 1.6).astype(jnp.float32) for _ in range(8)]
    return (rank(links) for links in itertools.cycle(made))


def n_body(compile):
    masses = jnp.abs(floats(128))

    def acceleration(places):
        offsets = places[None] - places[:, None]
        distances = (offsets**2).sum(-1) + 0.01
        return (offsets * (masses / distances**1.5)[..., None]).sum(1)

    @compile
    def step(places, speeds, dt=0.001):
        speeds = speeds + 0.5 * dt * acceleration(places)
        places = places + dt * speeds
        return places, speeds + 0.5 * dt * acceleration(places)

    def simulate(places, speeds):
        while True:
            places, speeds = step(places, speeds)
            yield places

    return simulate(floats(128, 3), jnp.zeros((128, 3)))


def adaptive_ode(compile):
    weight = 0.3 * floats(64, 64)

    def slope(y):
        return jnp.tanh(y @ weight) - 0.1 * y

    @compile
    def step(y, h):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.75 * h * k2)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        error = jnp.abs(h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - slope(new) / 8)).max()
        factor = jnp.where(error > 1e-4, 0.5, jnp.where(error < 1e-5, 1.5, 1.0))
        return jnp.where(error > 1e-4, y, new), h * factor

    def solve(starts):
        for y in starts:
            h = jnp.float32(0.1)
            for _ in range(50):
                y, h = step(y, h)
                yield y, h

    return solve(itertools.cycle([floats(64, 64) for _ in range(8)]))


def annealed_softmax(compile):
    @compile
    def soften(scores, temperature):
        weights = jax.nn.softmax(scores / temperature, -1)
        entropy = -(weights * jnp.log(weights + 1e-9)).sum(-1).mean()
        return weights, entropy * temperature

    return (soften(scores, 5.0 / (1 + 0.01 * number)) for number, (scores, _) in enumerate(batches(128, 128)))
