"""Everything works on threads with the smallest stack that Python allows, 64 KiB."""

import threading

import lucid
import op_samples
import pytest
from interpreter import run_python
from lucid import nn

SMALL = 64 << 10


def on_small_stack(work):
    """Runs `work` on a thread with a small stack and returns its result."""
    results = []

    def run():
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    before = threading.stack_size(SMALL)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(60)
    assert results, "the thread is still running"
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


def first_calls():
    """The first sample of each op, with float32 tensors."""
    for op in lucid._core.op_table():
        if not op["samples"]:
            continue
        yield op_samples.make_call(op, 0, lucid.float32)


def tensors_in(value):
    if isinstance(value, lucid.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def run_with_gradients(call):
    try:
        result = call.run()
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        return [str(error)]
    numbers = [tensor.tolist() for tensor in tensors_in(result)]
    leaves = []

    def as_leaf(value):
        if isinstance(value, op_samples.np.ndarray) and value.dtype == op_samples.np.float32:
            leaves.append(lucid.tensor(value, requires_grad=True))
            return leaves[-1]
        return value

    try:
        outputs = [t for t in tensors_in(call.run(as_leaf)) if t.requires_grad]
        sum((output.sum() for output in outputs), lucid.zeros((), requires_grad=True)).backward()
    except NotImplementedError as error:
        return [*numbers, str(error)]
    return numbers + [leaf.grad.tolist() for leaf in leaves if leaf.grad is not None]


def test_every_op_and_its_gradient():
    def run():
        return [str(run_with_gradients(call)) for call in first_calls()]

    lucid.manual_seed(0)
    small = on_small_stack(run)
    lucid.manual_seed(0)
    assert small == run()
    assert len(small) > 100


MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8)), (4, 32)),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.MaxPool2d(2)), (2, 3, 12, 12)),
    "attention": (lambda: nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, dropout=0.1), (2, 70, 32)),
    "lstm": (lambda: nn.LSTM(8, 16), (5, 2, 8)),
}


@pytest.mark.parametrize("name", MODELS)
def test_training_eager_and_compiled(name):
    make, shape = MODELS[name]

    def train(compiled):
        lucid.manual_seed(1)
        model = make()
        run = model.compile() if compiled else model
        optimizer = lucid.optim.Adam(model.parameters(), lr=1e-2)
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            result = run(lucid.randn(*shape))
            loss = (result[0] if isinstance(result, tuple) else result).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    assert on_small_stack(lambda: train(True)) == on_small_stack(lambda: train(False)) == train(False)


def test_kernels_are_compiled():
    source = """
import os, sys, tempfile, threading
import lucid
from lucid import nn
with tempfile.TemporaryDirectory() as folder:
    os.environ["LUCID_CACHE_DIR"] = folder
    def work():
        x = lucid.randn(40, 300)
        for f in (lambda x: x @ x.T, lambda x: x.softmax(-1).sum(), lambda x: x.sort(-1)[0], lambda x: x.cumsum(0),
                  lambda x: nn.functional.conv1d(x.reshape(4, 10, 300), x[:30].reshape(10, 10, 90)), lambda x: x.var(0),
                  lambda x: lucid.einsum("ij,kj->ik", x, x).tanh()):
            eager = f(x).tolist()
            g = lucid.compile(f)
            assert g(x).tolist() == g(x).tolist() == eager, f
        print("done")
    threading.stack_size(64 << 10)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
    assert run_python(source) == "done\n"


def test_long_chains():
    def run():
        x = lucid.ones(3, requires_grad=True)
        y = x
        for _ in range(20_000):
            y = y + 1
        y.sum().backward()
        z = x
        for _ in range(20_000):
            z = z * 1.0
        del z  # destroys the chain without a backward pass
        return x.grad.tolist()

    assert on_small_stack(run) == [1.0, 1.0, 1.0]


def test_long_graphs():
    def run():
        def long(x):
            for _ in range(300):
                x = x * 0.5 + 1
            return x

        compiled = lucid.compile(long)
        x = lucid.ones(5)
        return [compiled(x).tolist() for _ in range(3)], long(x).tolist()

    calls, eager = on_small_stack(run)
    assert calls == [eager] * 3
