"""Compiled networks and modules: forward, backward and training match eager bit for bit, on any number of threads.

CI trains every network on two threads and calls every module on one; LUCID_FULL_MODELS=1 does both on 1, 2 and 7.
"""

import copy
import os
import re

import lucid
import numpy as np
import pytest
from lucid import models, nn, optim
from module_cases import CASES
from same import bits, tensors_in

FULL = bool(os.environ.get("LUCID_FULL_MODELS"))


@pytest.fixture
def set_threads():
    before = lucid.get_num_threads()
    yield lucid.set_num_threads
    lucid.set_num_threads(before)


def train(module, call, batches, make_optimizer):
    """Everything observable about training steps on these batches, which are (arguments, keyword arguments)."""
    optimizer = make_optimizer(list(module.parameters())) if list(module.parameters()) else None
    seen = []
    for args, named in batches:
        if optimizer:
            optimizer.zero_grad()
        result = call(*args, **named)
        learned = [t for t in tensors_in(result) if t.requires_grad]
        if learned:
            sum((t * t).mean() for t in learned).backward()
        seen.append(bits(result))
        seen.append([None if t.grad is None else bits(t.grad) for t in tensors_in([*args, *module.parameters()])])
        if optimizer:
            optimizer.step()
        seen.append([bits(tensor) for tensor in module.state_dict().values()])
        seen.append(bits(lucid.get_rng_state()))
    return seen


def check(make_module, make_batches, make_optimizer, threads, set_threads):
    """Trains a module eagerly on one thread and compiled on `threads`, and compares."""
    set_threads(1)
    lucid.manual_seed(1)
    module = make_module()
    copied = copy.deepcopy(module)
    lucid.manual_seed(2)
    expected = train(module, module, make_batches(), make_optimizer)
    set_threads(threads)
    compiled = lucid.compile(copied)
    lucid.manual_seed(2)
    found = train(copied, compiled, make_batches(), make_optimizer)
    for step, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert a == b, f"step {step}: {compiled.explain()}"
    info = compiled.cache_info()
    assert info.fallbacks == 0, compiled.explain()
    assert info.hits > 0, compiled.explain()
    return compiled


def images(*shape):
    def batches():
        generator = lucid.Generator().manual_seed(5)
        return [((lucid.randn(*shape, generator=generator),), {}) for _ in range(4)]

    return batches


def tokens(size, *shape):
    def batches():
        generator = lucid.Generator().manual_seed(5)
        return [((lucid.randint(0, size, shape, generator=generator),), {}) for _ in range(4)]

    return batches


SMALL = {"dim": 16, "heads": 2, "layers": 2}
NETWORKS = {
    "mlp": (lambda: models.mlp((12, 8, 5)), images(6, 12)),
    "lenet_5": (lambda: models.lenet_5(5), images(2, 1, 32, 32)),
    "resnet_18": (lambda: models.resnet_18(5), images(2, 3, 16, 16)),
    "resnet_50": (lambda: models.ResNet((1, 1, 1, 1), bottleneck=True, num_classes=5), images(2, 3, 32, 32)),
    "mobilenet_v2": (lambda: models.mobilenet_v2(5), images(2, 3, 32, 32)),
    "vit": (
        lambda: models.vit(image_size=16, patch_size=8, hidden=32, num_classes=5, dropout=0.1, **SMALL),
        images(2, 3, 16, 16),
    ),
    "gpt": (lambda: models.gpt(vocab_size=11, context=8, dropout=0.1, **SMALL), tokens(11, 2, 8)),
    "bert": (lambda: models.bert(vocab_size=11, context=8, hidden=32, **SMALL), tokens(11, 2, 8)),
}


@pytest.mark.parametrize("threads", [1, 2, 7] if FULL else [2])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_trains_as_in_eager_mode(name, threads, set_threads):
    make_network, batches = NETWORKS[name]
    rates = {"mlp": 0.1, "lenet_5": 0.1}
    make_optimizer = (
        (lambda p: optim.SGD(p, lr=rates[name], momentum=0.9)) if name in rates else (lambda p: optim.Adam(p, lr=1e-3))
    )
    report = check(make_network, batches, make_optimizer, threads, set_threads).explain()
    # backward() is called outside: it is recorded in the second step and runs plans in the next two.
    assert re.search(r"backward: .* 2 runs", report), report
    assert "one by one" not in report, report


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_infers_as_in_eager_mode(name, set_threads):
    make_network, batches = NETWORKS[name]
    network = make_network().eval()
    compiled = lucid.compile(network)
    set_threads(2)
    with lucid.no_grad():
        for args, _ in batches():
            assert bits(compiled(*args)) == bits(network(*args))
    assert compiled.cache_info().fallbacks == 0, compiled.explain()


def as_tensors(value):
    return lucid.tensor(value) if isinstance(value, np.ndarray) else value


def batches_of(case):
    inputs_of_calls = []
    for _ in range(4):
        arrays = []
        for make_input in case.inputs:
            repeated = next((a for a, other in zip(arrays, case.inputs) if other is make_input), None)
            arrays.append(make_input() if repeated is None else repeated)
        inputs_of_calls.append(arrays)

    def batches():
        for arrays in inputs_of_calls:
            inputs = [lucid.tensor(array) for array in arrays]
            for tensor in inputs[: case.learned]:
                if tensor.is_floating_point():
                    tensor.requires_grad_()
            yield inputs, {name: as_tensors(value) for name, value in case.named.items()}

    return batches


# Modules with random ops, which cannot be compared with PyTorch.
class RandomCase:
    """A case for a module with random ops."""

    def __init__(self, name, *args, shape, **kwargs):
        self.name, self.args, self.kwargs, self.train = name, args, kwargs, True
        self.inputs, self.named, self.learned = [lambda: np.random.default_rng(3).normal(size=shape)], {}, 1

    def __repr__(self):
        return f"{self.name} random"


RANDOM_CASES = [
    *(RandomCase(name, 0.5, shape=(3, 4)) for name in ("Dropout", "AlphaDropout")),
    *(RandomCase(f"Dropout{d}d", 0.5, shape=(2, 3, *[4] * d)) for d in (1, 2, 3)),
    RandomCase("FeatureAlphaDropout", 0.5, shape=(2, 3, 4)),
    RandomCase("RReLU", shape=(3, 4)),
    RandomCase("GRU", 3, 4, num_layers=2, dropout=0.4, shape=(5, 2, 3)),
    RandomCase("TransformerEncoderLayer", 8, 2, 16, dropout=0.2, shape=(5, 2, 8)),
]


@pytest.mark.parametrize("threads", [1, 2, 7] if FULL else [1])
@pytest.mark.parametrize("case", [*CASES, *RANDOM_CASES], ids=repr)
def test_a_module_trains_as_in_eager_mode(case, threads, set_threads):
    def make_module():
        named = {name: as_tensors(value) for name, value in case.kwargs.items()}
        return getattr(nn, case.name)(*map(as_tensors, case.args), **named).double().train(case.train)

    check(make_module, batches_of(case), lambda p: optim.SGD(p, lr=0.1), threads, set_threads)


def test_every_module_has_a_case():
    apart = {
        *("Module", "Parameter", "Buffer", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"),
        # The same as another module, parts of Transformer, or tested below.
        *("TransformerEncoder", "TransformerDecoder", "LazyLinear", "ConstantPad1d", "ConstantPad3d"),
        *("CTCLoss", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"),
    }
    called = {case.name for case in [*CASES, *RANDOM_CASES]}
    found = {name for name in nn.__all__ if isinstance(getattr(nn, name), type)}
    assert found - called - apart == set()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_unpooling(d):
    pool, unpool = getattr(nn, f"MaxPool{d}d")(2, return_indices=True), getattr(nn, f"MaxUnpool{d}d")(2)
    compiled = lucid.compile(lambda x: unpool(*pool(x)))
    for _ in range(3):
        x = lucid.randn(2, 3, *[6] * d)
        assert bits(compiled(x)) == bits(unpool(*pool(x)))
    assert compiled.cache_info().fallbacks == 0, compiled.explain()


def test_ctc():
    loss = nn.CTCLoss()
    targets = lucid.tensor([[1, 2, 2], [3, 1, 0]])
    seen = []
    compiled = lucid.compile(loss)
    for call in (loss, compiled):
        generator = lucid.Generator().manual_seed(3)
        for _ in range(3):
            x = lucid.randn(6, 2, 4, generator=generator).requires_grad_()
            value = call(x.log_softmax(2), targets, (6, 5), (3, 2))
            value.backward()
            seen.append((bits(value), bits(x.grad)))
    assert seen[:3] == seen[3:]
    assert compiled.cache_info().fallbacks == 0, compiled.explain()
