"""Compiled functions and training on a gpu: the bits of the CPU, and few submissions."""

import os
import subprocess
import sys
from pathlib import Path

import lucid
import lucid.nn.functional as F
import pytest
from lucid import models, nn, optim
from same import bits

PYTHON_TESTS = Path(__file__).parent.parent / "python"
ALL = os.environ.get("LUCID_GPU_ALL") == "1"


def normalize(x):
    mean = lucid.mean(x, axis=-1, keepdims=True)
    std = lucid.std(x, axis=-1, keepdims=True)
    return (x - mean) / (std + 1e-5)


def test_a_compiled_function():
    fast = lucid.compile(normalize)
    x = lucid.randn(32, 128)
    expected = bits(normalize(x))
    for _ in range(3):
        assert bits(fast(x.gpu())) == expected
    assert fast.cache_info().hits == 2
    assert bits(fast(x)) == expected
    assert fast.cache_info().misses == 2, "the device is part of the key"


FUSED = {
    "a zero that drivers find in integers": lambda x: -2.0 / lucid.logical_xor(x > 0, x > 0).to(lucid.f32),
    "an infinity times such a zero": lambda x: (x / 0.0) * (x.long() - x.long()).to(lucid.f32),
    "two functions computed in f64": lambda x: lucid.cos(lucid.asinh(x)),
    "f64, f32 and f64": lambda x: (x.double() / 3).float().double() * 3,
}


@pytest.mark.parametrize("f", FUSED.values(), ids=FUSED)
def test_drivers_do_not_fold_what_changes_bits(f):
    fast = lucid.compile(f)
    x = lucid.randn(100)
    for _ in range(3):
        assert bits(fast(x.gpu())) == bits(f(x))
    assert fast.cache_info().hits == 2


def submissions(run):
    run()
    lucid.gpu.synchronize()
    before = lucid.gpu.work_stats()["submissions"]
    result = run()
    lucid.gpu.synchronize()
    return lucid.gpu.work_stats()["submissions"] - before, result


def deep(x, weights):
    for weight in weights:
        x = F.layer_norm(F.gelu(x @ weight), (32,)) + x
    return F.softmax(x, -1)


def test_a_compiled_plan_is_one_submission():
    weights = [lucid.randn(32, 32).gpu() for _ in range(6)]
    x = lucid.randn(16, 32).gpu()
    fast = lucid.compile(deep)
    fast(x, weights)
    count, result = submissions(lambda: fast(x, weights))
    assert fast.cache_info().hits == 2
    assert count == 1
    assert bits(result) == bits(deep(x.cpu(), [weight.cpu() for weight in weights]))


def test_chained_eager_ops_are_batched():
    x = lucid.randn(64).gpu()

    def chain():
        y = x
        for _ in range(25):
            y = y * 1.5 - 0.25
        return y

    count, result = submissions(chain)
    assert count <= 3
    y = x.cpu()
    for _ in range(25):
        y = y * 1.5 - 0.25
    assert bits(result) == bits(y)


def test_moves_inside_of_a_compiled_function():
    weight = lucid.randn(8, 8).gpu()

    def step(x):
        return (x.to("gpu") @ weight).relu().to("cpu")

    fast = lucid.compile(step)
    for _ in range(3):
        x = lucid.randn(4, 8)
        assert bits(fast(x)) == bits(step(x)) == bits((x @ weight.cpu()).relu())
    assert fast.cache_info().hits == 2, fast.explain()


def test_computing_on_both_devices_is_eager():
    def step(x, y):
        return x * 2, y * 2

    fast = lucid.compile(step)
    for _ in range(3):
        fast(lucid.ones(3), lucid.ones(3).gpu())
    assert fast.cache_info().hits == 0
    assert "computes on the CPU and on a gpu" in fast.explain()


HOST_OPS_WITH_NUMBERS = {
    "multinomial": lambda p: lucid.multinomial(p, 1),
    "multinomial after a kernel": lambda p: lucid.multinomial(p.softmax(-1), 1) + 1,
    "searchsorted": lambda p: lucid.searchsorted(p, lucid.tensor(0.5, device="cpu")),
}


@pytest.mark.parametrize("f", HOST_OPS_WITH_NUMBERS.values(), ids=HOST_OPS_WITH_NUMBERS)
def test_host_ops_read_tensors_of_the_cpu(f):
    p = lucid.tensor([0.25, 0.5, 0.75])
    fast = lucid.compile(f)
    for seed in range(4):
        lucid.manual_seed(seed)
        expected = bits(f(p))
        lucid.manual_seed(seed)
        assert bits(fast(p.gpu())) == expected
    assert fast.cache_info().hits > 0


def test_dropout_and_values():
    layer = nn.Dropout(0.5)

    def step(x):
        y = layer(x)
        return y * 2 if y.sum() > 0 else y - 1

    fast = lucid.compile(step)
    for seed in range(4):
        x = lucid.randn(40)
        lucid.manual_seed(seed)
        expected = bits([step(x), lucid.get_rng_state()])
        lucid.manual_seed(seed)
        assert bits([fast(x.gpu()), lucid.get_rng_state()]) == expected


def test_an_error_leaves_everything_as_it_was():
    table = nn.Embedding(5, 3).to("gpu")
    total = lucid.zeros(3, device="gpu")

    def step(indices):
        total.add_(table(indices).detach().sum(0))
        return total * 1

    fast = lucid.compile(step)
    for _ in range(3):
        fast(lucid.tensor([1, 2]).gpu())
    before = bits(total)
    with pytest.raises(IndexError):
        fast(lucid.tensor([1, 9]).gpu())
    assert bits(total) == before


def train(model, make_optimizer, batches, compile, device, loss_of):
    lucid.manual_seed(1)
    model = model()
    model.to(device)
    if compile:
        model = model.compile()
    optimizer = make_optimizer(model.parameters())
    losses = []
    generator = lucid.Generator().manual_seed(5)
    for _ in range(batches):
        optimizer.zero_grad()
        loss = loss_of(model, generator, device)
        loss.backward()
        optimizer.step()
        losses.append(bits(loss.detach()))
    return losses, [bits(parameter.detach()) for parameter in model.parameters()]


def lenet_loss(model, generator, device):
    x = lucid.randn(3, 1, 32, 32, generator=generator)
    y = lucid.randint(0, 10, (3,), generator=generator)
    return F.cross_entropy(model(x.to(device)), y.to(device))


def gpt_loss(model, generator, device):
    tokens = lucid.randint(0, 50, (2, 17), generator=generator).to(device)
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))


def small_gpt():
    return models.GPT(vocab_size=50, context=16, dim=32, heads=2, layers=2)


@pytest.mark.parametrize("compile", [False, True])
def test_lenet_trains_with_the_bits_of_the_cpu(compile):
    batches = 20 if ALL else 5
    arguments = (models.lenet_5, lambda p: optim.Adam(p, lr=1e-3), batches, compile)
    assert train(*arguments, "gpu", lenet_loss) == train(*arguments, "cpu", lenet_loss)


@pytest.mark.parametrize("compile", [False, True])
def test_gpt_trains_with_the_bits_of_the_cpu(compile):
    batches = 20 if ALL else 3
    arguments = (small_gpt, lambda p: optim.AdamW(p, lr=1e-3), batches, compile)
    assert train(*arguments, "gpu", gpt_loss) == train(*arguments, "cpu", gpt_loss)


def test_random_programs():
    count = 2000 if ALL else 60
    command = [sys.executable, "compile_programs.py", f"--count={count}", "--device=gpu", "--no-shrink", "--batch=30"]
    run = subprocess.run(command, cwd=PYTHON_TESTS, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-3000:]


def test_a_timed_plan_has_no_effect():
    weight = lucid.ones(8, device="gpu")

    @lucid.compile
    def step(x):
        weight.add_(x)
        return (lucid.rand(8, device="gpu") * weight).sum()

    x = lucid.ones(8, device="gpu")
    for _ in range(3):
        step(x)
    lucid.manual_seed(5)
    kept = weight.tolist()
    lines = [line for line in str(lucid.compiler.plan(step, x, timed=True)).splitlines() if line.startswith("step ")]
    assert lines
    assert all(line.endswith(" us") for line in lines)
    assert weight.tolist() == kept
    found = step(x).item()
    lucid.manual_seed(5)
    weight.copy_(lucid.tensor(kept))
    assert found == step(x).item()
