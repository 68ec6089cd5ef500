"""The workloads of peers.py: their sizes, and the hardware limit of each."""

import itertools
from dataclasses import dataclass

MILLION = 1 << 20


def dense(*sizes):
    return sum(2 * rows * columns for rows, columns in itertools.pairwise(sizes))


def convolution(channels_in, channels_out, kernel, size_out):
    return 2 * channels_in * channels_out * kernel**2 * size_out**2


def lenet_5():
    return convolution(1, 6, 5, 28) + convolution(6, 16, 5, 10) + dense(400, 120, 84, 10)


def resnet_18():
    total, channels_in, size = convolution(3, 64, 7, 112) + dense(512, 1000), 64, 56
    for channels in (64, 128, 256, 512):
        size = 56 * 64 // channels
        total += convolution(channels_in, channels, 3, size) + 3 * convolution(channels, channels, 3, size)
        if channels != channels_in:
            total += convolution(channels_in, channels, 1, size)
        channels_in = channels
    return total


def gpt(tokens, vocabulary, width, layers):
    """For one text: the products with the weights, and the full products of attention, including masked elements."""
    return tokens * (layers * (dense(width, 12 * width) + 4 * tokens * width) + dense(width, vocabulary))


@dataclass(frozen=True)
class Network:
    """`shape` is the shape of one input. With `vocabulary`, inputs are integers below it."""

    shape: tuple[int, ...]
    classes: int
    flops: int
    vocabulary: int | None = None


NETWORKS = {
    "mlp": Network((784,), 10, dense(784, 256, 128, 10)),
    "lenet5": Network((1, 32, 32), 10, lenet_5()),
    "resnet18": Network((3, 224, 224), 1000, resnet_18()),
    "gptmini": Network((128,), 65, gpt(128, 65, 128, 4), 65),
    "gpt2": Network((64,), 50257, gpt(64, 50257, 768, 12), 50257),
}


@dataclass(frozen=True)
class Workload:
    """A function of one array, a forward pass of a network, a training step, or a limit of the machine."""

    kind: str
    # The name in tables and in the plot.
    label: str = ""
    # For functions: the shape of the argument, and the bytes that must be read and written.
    shape: tuple[int, ...] = ()
    moved: int = 0
    network: str | None = None
    batch: int = 0
    # Floating-point operations of products and convolutions. A training step counts as three forward passes.
    flops: int = 0
    needs_grad: bool = False


def function(label, shape=(1024, 1024), moved=8 * MILLION, **rest):
    return Workload("function", label, shape=shape, moved=moved, **rest)


def network(label, name, batch):
    return Workload("network", label, network=name, batch=batch, flops=batch * NETWORKS[name].flops)


def training(label, name, batch):
    flops = 3 * batch * NETWORKS[name].flops
    return Workload("training", label, network=name, batch=batch, flops=flops, needs_grad=True)


WORKLOADS = {
    "add1_8": function("x + 1, 8 floats", (8,), 0),
    "add1_8_grad": function("x + 1, recording a gradient", (8,), 0, needs_grad=True),
    "add_1m": function("x + y, 1M floats", moved=12 * MILLION),
    "exp_1m": function("exp, 1M floats"),
    "normalize_1m": function("normalize columns, 1M floats"),
    "gelu_chain_1m": function("gelu, sigmoid, tanh, 1M floats"),
    "softmax_1m": function("softmax, 1M floats"),
    "layernorm_1m": function("layer_norm, 1M floats"),
    "sum_16m": function("sum, 16M floats", (4096, 4096), 64 * MILLION),
    "mlp_b1": network("MLP, batch 1", "mlp", 1),
    "mlp_b64": network("MLP, batch 64", "mlp", 64),
    "lenet5_b1": network("LeNet-5, batch 1", "lenet5", 1),
    "lenet5_b64": network("LeNet-5, batch 64", "lenet5", 64),
    "resnet18_b1": network("ResNet-18, batch 1", "resnet18", 1),
    "gptmini_b8": network("GPT mini, 8 x 128 tokens", "gptmini", 8),
    "gpt2_t64": network("GPT-2 small, 64 tokens", "gpt2", 1),
    "mlp_train_b64": training("train MLP, batch 64", "mlp", 64),
    "lenet5_train_b64": training("train LeNet-5, batch 64", "lenet5", 64),
    "gptmini_train_b8": training("train GPT mini, 8 x 128 tokens", "gptmini", 8),
    "resnet18_train_b4": training("train ResNet-18, batch 4", "resnet18", 4),
    # Limits. A copy reads half of the bytes that it moves and writes the other half.
    "copy_8mb": Workload("limit", shape=(1024, 1024), moved=8 * MILLION),
    "copy_12mb": Workload("limit", shape=(1536, 1024), moved=12 * MILLION),
    "copy_64mb": Workload("limit", shape=(8192, 1024), moved=64 * MILLION),
    "matmul_512": Workload("limit", shape=(512, 512), flops=2 * 512**3),
}
# The workloads that are compiled from an empty cache, and the training steps whose memory is measured.
COMPILING = ("lenet5_train_b64", "gpt2_t64")
MEMORY = ("lenet5_train_b64", "gptmini_train_b8", "resnet18_train_b4")


def shown():
    """The names of the workloads that have a row."""
    return [name for name, work in WORKLOADS.items() if work.kind != "limit"]


def limit_of(work):
    """The name of the limit of a workload, or None if call overhead dominates."""
    if work.flops:
        return "matmul_512"
    return f"copy_{work.moved // MILLION}mb" if work.moved else None
