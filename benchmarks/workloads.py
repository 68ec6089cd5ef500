"""What is measured beside the peers: the sizes of each workload, what limits it, and what is aimed for."""

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
    """For one text: the products with the weights, and those of attention in full, masked or not."""
    return tokens * (layers * (dense(width, 12 * width) + 4 * tokens * width) + dense(width, vocabulary))


@dataclass(frozen=True)
class Network:
    """`shape` is that of one input; whole numbers below `vocabulary` where there is one."""

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
    """A function of one array, the forward pass of a network, a step of its training, or a limit of the machine."""

    kind: str
    # The share of the best peer's time that ours should take at most, or of the time of the peer that is named.
    at_most: float | None = None
    beside: str | None = None
    # The share of the machine's limit that ours should reach at least.
    at_least: float | None = None
    # What a function must read and write; how many it takes.
    shape: tuple[int, ...] = ()
    moved: int = 0
    network: str | None = None
    batch: int = 0
    # Floating-point operations of products and convolutions; a step of training counts as three forward passes.
    flops: int = 0
    needs_grad: bool = False


def function(shape=(1024, 1024), moved=8 * MILLION, **rest):
    return Workload("function", shape=shape, moved=moved, **rest)


def network(name, batch, **rest):
    return Workload("network", network=name, batch=batch, flops=batch * NETWORKS[name].flops, **rest)


def training(name, batch, **rest):
    flops = 3 * batch * NETWORKS[name].flops
    return Workload("training", network=name, batch=batch, flops=flops, needs_grad=True, **rest)


WORKLOADS = {
    "add1_8": function((8,), 0, at_most=0.1, beside="torch-eager"),
    "add1_8_grad": function((8,), 0, at_most=0.2, beside="torch-eager", needs_grad=True),
    "add_1m": function(moved=12 * MILLION, at_least=0.85),
    "exp_1m": function(at_least=0.85),
    "normalize_1m": function(at_most=0.6),
    "gelu_chain_1m": function(at_most=0.85),
    "softmax_1m": function(at_most=0.6, at_least=0.85),
    "layernorm_1m": function(at_most=0.75, at_least=0.85),
    "sum_16m": function((4096, 4096), 64 * MILLION, at_most=0.95),
    "mlp_b1": network("mlp", 1, at_most=0.7),
    "mlp_b64": network("mlp", 64),
    "lenet5_b1": network("lenet5", 1, at_most=0.4),
    "lenet5_b64": network("lenet5", 64, at_most=0.4),
    "resnet18_b1": network("resnet18", 1),
    "gptmini_b8": network("gptmini", 8, at_most=0.8),
    "gpt2_t64": network("gpt2", 1),
    "mlp_train_b64": training("mlp", 64, at_most=0.5),
    "lenet5_train_b64": training("lenet5", 64, at_most=0.25),
    "gptmini_train_b8": training("gptmini", 8, at_most=0.8),
    "resnet18_train_b4": training("resnet18", 4),
    # Limits: half of what a copy moves is read, half is written.
    "copy_8mb": Workload("limit", shape=(1024, 1024), moved=8 * MILLION),
    "copy_12mb": Workload("limit", shape=(1536, 1024), moved=12 * MILLION),
    "copy_64mb": Workload("limit", shape=(8192, 1024), moved=64 * MILLION),
    "matmul_512": Workload("limit", shape=(512, 512), flops=2 * 512**3),
}
# CPU seconds that compiling may take at most, from an empty cache.
COMPILING = {"lenet5_train_b64": 0.6, "gpt2_t64": 2.0}
# Steps of training whose memory is counted, and the share of torch's bytes that ours should take at most.
MEMORY = ("lenet5_train_b64", "gptmini_train_b8", "resnet18_train_b4")
MEMORY_AT_MOST = 0.7


def shown():
    """The names of what has a row of its own."""
    return [name for name, work in WORKLOADS.items() if work.kind != "limit"]


def limit_of(work):
    """The name of what limits a workload, or None where calling it is what takes the time."""
    if work.flops:
        return "matmul_512"
    return f"copy_{work.moved // MILLION}mb" if work.moved else None
