"""The workloads for JAX: the same functions, networks and training steps, each compiled as a whole."""

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from prepared import Prepared
from workloads import NETWORKS, WORKLOADS

random = numpy.random.default_rng(0)


def floats(*shape, scale=1.0):
    return jnp.asarray(random.standard_normal(shape, dtype=numpy.float32) * numpy.float32(scale))


def layer_norm(x, weight=1.0, bias=0.0):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5) * weight + bias


def functions():
    other = floats(1024, 1024)
    return {
        "add1_8": lambda x: x + 1,
        "add_1m": lambda x: x + other,
        "exp_1m": jnp.exp,
        "normalize_1m": lambda x: (x - x.mean(0, keepdims=True)) / (x.std(0, keepdims=True, ddof=1) + 1e-5),
        "gelu_chain_1m": lambda x: jax.nn.gelu(x * 1.5 + 0.5) * jax.nn.sigmoid(x) + jnp.tanh(x) - jnp.abs(x),
        "softmax_1m": lambda x: jax.nn.softmax(x, -1),
        "layernorm_1m": layer_norm,
        "sum_16m": jnp.sum,
    }


def new_linear(inputs, outputs):
    return {"weight": floats(inputs, outputs, scale=inputs**-0.5), "bias": jnp.zeros(outputs)}


def linear(layer, x):
    return x @ layer["weight"] + layer["bias"]


def new_convolution(inputs, outputs, kernel):
    return floats(outputs, inputs, kernel, kernel, scale=(inputs * kernel**2) ** -0.5)


def convolution(weight, x, stride=1, padding=0):
    pads = [(padding, padding)] * 2
    return lax.conv_general_dilated(x, weight, (stride, stride), pads, dimension_numbers=("NCHW", "OIHW", "NCHW"))


class MLP:
    def new(self):
        return [new_linear(*sizes) for sizes in ((784, 256), (256, 128), (128, 10))]

    def forward(self, layers, x, _training):
        for layer in layers[:-1]:
            x = jax.nn.relu(linear(layer, x))
        return linear(layers[-1], x)


class LeNet5:
    def new(self):
        return {
            "convolutions": [
                {"weight": new_convolution(1, 6, 5), "bias": jnp.zeros((6, 1, 1))},
                {"weight": new_convolution(6, 16, 5), "bias": jnp.zeros((16, 1, 1))},
            ],
            "dense": [new_linear(*sizes) for sizes in ((400, 120), (120, 84), (84, 10))],
        }

    def forward(self, state, x, _training):
        for layer in state["convolutions"]:
            x = jnp.tanh(convolution(layer["weight"], x) + layer["bias"])
            x = lax.reduce_window(x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") / 4
        x = x.reshape(x.shape[0], -1)
        for layer in state["dense"][:-1]:
            x = jnp.tanh(linear(layer, x))
        return linear(state["dense"][-1], x)


class ResNet18:
    def new(self):
        blocks, inputs = [], 64
        for channels, first_stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            for stride in (first_stride, 1):
                block = {
                    "first": new_convolution(inputs, channels, 3),
                    "first_norm": self.new_norm(channels),
                    "second": new_convolution(channels, channels, 3),
                    "second_norm": self.new_norm(channels),
                }
                if stride == 2:
                    block |= {"down": new_convolution(inputs, channels, 1), "down_norm": self.new_norm(channels)}
                blocks.append(block)
                inputs = channels
        stem = {"weight": new_convolution(3, 64, 7), "norm": self.new_norm(64)}
        return {"stem": stem, "blocks": blocks, "out": new_linear(512, 1000)}

    def new_norm(self, channels):
        shape = (channels, 1, 1)
        return {name: (jnp.ones if name in ("weight", "variance") else jnp.zeros)(shape)
                for name in ("weight", "bias", "mean", "variance")}  # fmt: skip

    def norm(self, state, x, training):
        mean, variance = state["mean"], state["variance"]
        if training:
            mean, variance = x.mean((0, 2, 3))[:, None, None], x.var((0, 2, 3))[:, None, None]
        return (x - mean) * (lax.rsqrt(variance + 1e-5) * state["weight"]) + state["bias"]

    def forward(self, state, x, training):
        x = jax.nn.relu(self.norm(state["stem"]["norm"], convolution(state["stem"]["weight"], x, 2, 3), training))
        pads = ((0, 0), (0, 0), (1, 1), (1, 1))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), pads)
        for block in state["blocks"]:
            stride = 2 if "down" in block else 1
            y = jax.nn.relu(self.norm(block["first_norm"], convolution(block["first"], x, stride, 1), training))
            y = self.norm(block["second_norm"], convolution(block["second"], y, 1, 1), training)
            if "down" in block:
                x = self.norm(block["down_norm"], convolution(block["down"], x, stride), training)
            x = jax.nn.relu(x + y)
        return linear(state["out"], x.mean((2, 3)))


class GPT:
    def __init__(self, vocabulary, context, width, heads, layers):
        self.vocabulary, self.context, self.width, self.heads, self.layers = vocabulary, context, width, heads, layers

    def new(self):
        width = self.width

        def norm():
            return {"weight": jnp.ones(width), "bias": jnp.zeros(width)}

        def block():
            sizes = {
                "qkv": (width, 3 * width),
                "out": (width, width),
                "up": (width, 4 * width),
                "down": (4 * width, width),
            }
            return {name: new_linear(*pair) for name, pair in sizes.items()} | {"norms": [norm(), norm()]}

        return {
            "tokens": floats(self.vocabulary, width, scale=0.02),
            "places": floats(self.context, width, scale=0.02),
            "blocks": [block() for _ in range(self.layers)],
            "norm": norm(),
            "head": floats(width, self.vocabulary, scale=0.02),
        }

    def attention(self, block, x):
        batch, time, width = x.shape
        split = linear(block["qkv"], x).reshape(batch, time, 3, self.heads, width // self.heads)
        queries, keys, values = split.transpose(2, 0, 3, 1, 4)
        scores = queries @ keys.swapaxes(-1, -2) / (width // self.heads) ** 0.5
        later = jnp.triu(jnp.ones((time, time), bool), 1)
        mixed = jax.nn.softmax(jnp.where(later, -jnp.inf, scores), -1) @ values
        return linear(block["out"], mixed.swapaxes(1, 2).reshape(batch, time, width))

    def forward(self, state, x, _training):
        x = state["tokens"][x] + state["places"][: x.shape[1]]
        for block in state["blocks"]:
            first, second = block["norms"]
            x = x + self.attention(block, layer_norm(x, **first))
            x = x + linear(block["down"], jax.nn.gelu(linear(block["up"], layer_norm(x, **second))))
        return layer_norm(x, **state["norm"]) @ state["head"]


BUILDERS = {
    "mlp": MLP(),
    "lenet5": LeNet5(),
    "resnet18": ResNet18(),
    "gptmini": GPT(65, 128, 128, 4, 4),
    "gpt2": GPT(50257, 1024, 768, 12, 12),
}


def arguments(work):
    network = NETWORKS[work.network]
    shape = (work.batch, *network.shape)
    if network.vocabulary:
        answers = random.integers(0, network.classes, work.batch * network.shape[0])
        return jnp.asarray(random.integers(0, network.vocabulary, shape)), jnp.asarray(answers)
    return floats(*shape), jnp.asarray(random.integers(0, network.classes, work.batch))


def adam(gradients, state):
    parameters, first, second, count = state
    count = count + 1
    first = jax.tree.map(lambda moment, g: 0.9 * moment + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda moment, g: 0.999 * moment + 0.001 * g * g, second, gradients)

    def update(parameter, mean, square):
        root = jnp.sqrt(square / (1 - 0.999**count)) + 1e-8
        return parameter - 1e-3 * (mean / (1 - 0.9**count)) / root

    return jax.tree.map(update, parameters, first, second), first, second, count


class Library:
    version = jax.__version__

    def prepare(self, name):
        work = WORKLOADS[name]
        return getattr(self, work.kind)(name, work)

    def function(self, name, work):
        if name not in functions():
            return None
        called, x = jax.jit(functions()[name]), floats(*work.shape)
        return Prepared(lambda: called(x), jax.block_until_ready)

    def network(self, _name, work):
        network = BUILDERS[work.network]
        state, (x, _) = network.new(), arguments(work)
        called = jax.jit(lambda state, x: network.forward(state, x, False))
        return Prepared(lambda: called(state, x), jax.block_until_ready)

    def limit(self, _name, _work):
        return None

    def training(self, _name, work):
        network = BUILDERS[work.network]
        parameters, (x, y) = network.new(), arguments(work)

        def loss_of(parameters, x, y):
            scores = network.forward(parameters, x, True)
            scores = jax.nn.log_softmax(scores.reshape(-1, scores.shape[-1]), -1)
            return -scores[jnp.arange(len(y)), y].mean()

        # The old state is donated, so that the new one can reuse its buffers.
        step = jax.jit(lambda state, x, y: adam(jax.grad(loss_of)(state[0], x, y), state), donate_argnums=0)
        zeros = [jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)]
        state = (parameters, *zeros, jnp.float32(0))

        def call():
            nonlocal state
            state = step(state, x, y)
            return state[3]

        return Prepared(call, jax.block_until_ready)
