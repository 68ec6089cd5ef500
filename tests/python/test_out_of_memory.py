"""Running out of memory raises MemoryError or costs speed. It never ends the process or leaves partial updates.

LUCID_LONG_TESTS=1 runs 100 processes at random limits instead of a few.
"""

import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import lucid
import pytest
from interpreter import FOLDER, run_python
from lucid import _core, nn

LONG = os.environ.get("LUCID_LONG_TESTS") == "1"

# Runs a workload with a limited address space, then again without a limit.
LIMITED = """
import hashlib, resource, sys
import numpy  # which would otherwise be loaded under the limit
import lucid

def digest(rounds=4):
    "What training, eager ops and their compiles come to, and how often memory ran out meanwhile."
    lucid.manual_seed(0)
    short = 0
    seen = hashlib.sha256()
    net = lucid.nn.Sequential(
        lucid.nn.Linear(64, 128), lucid.nn.GELU(), lucid.nn.Dropout(0.5),
        lucid.nn.Linear(128, 64), lucid.nn.LayerNorm(64)
    )
    compiled = net.compile()
    optimizer = lucid.optim.Adam(net.parameters())
    for i in range(rounds):
        try:
            x = lucid.randn(8 + i, 64)
            loss = compiled(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            values, _ = (x * 1.5).exp().sort()
            image = lucid.nn.functional.conv2d(lucid.randn(1, 3, 9 + i, 9), lucid.randn(4, 3, 3, 3))
            for result in (loss, values, image):
                seen.update(result.detach().numpy().tobytes())
        except MemoryError:
            short += 1
    for parameter in net.parameters():
        seen.update(parameter.detach().numpy().tobytes())
    return seen.hexdigest(), short

extra = int(sys.argv[1])
lucid.set_num_threads(2)
short = 0
if extra:
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, hard))
    try:
        _, short = digest()
    except MemoryError:  # while the network was made
        short = 1
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
bits, still_short = digest()
assert still_short == 0, still_short
print(bits, short)
"""


def run_limited(extra):
    """The digest of the unlimited run, and the number of MemoryErrors in the limited run before it."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, str(extra)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *sys.path]), "LUCID_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, (extra, done.returncode, done.stdout, done.stderr)
    bits, short = done.stdout.split()
    return bits, int(short)


def test_no_address_space_limit_ends_the_process():
    rng = random.Random(12)
    limits = [int(2 ** rng.uniform(20, 28)) for _ in range(100 if LONG else 3)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        (expected, _), *found = pool.map(run_limited, [0, *limits])
    for extra, (bits, _) in zip(limits, found):
        assert bits == expected, extra
    assert any(short > 0 for _, short in found)  # otherwise the limits were too high to test anything


class Training:
    """A network, its optimizer, and a compiled step."""

    def __init__(self):
        lucid.manual_seed(3)
        self.net = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.25), nn.Linear(16, 4))
        self.optimizer = lucid.optim.AdamW(self.net.parameters(), lr=0.1)
        self.x, self.y = lucid.randn(5, 8), lucid.randn(5, 4)
        # The first step creates the optimizer's state.
        self.step(self.x, self.y)
        self.start = [tensor.detach().clone() for tensor in self.tensors()]
        self.forget_plans()

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = (self.net(x) - y).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def forget_plans(self):
        self.compiled = lucid.compile(self.step)

    def tensors(self):
        found = list(self.net.parameters())
        for state in self.optimizer.state_dict()["state"].values():
            found += [value for value in state.values() if isinstance(value, lucid.Tensor)]
        return found

    def reset(self):
        with lucid.no_grad():
            for tensor, start in zip(self.tensors(), self.start, strict=True):
                tensor.copy_(start)
        for parameter in self.net.parameters():
            parameter.grad = lucid.ones_like(parameter)
        lucid.manual_seed(4)

    def state(self):
        bits = [tensor.detach().numpy().tobytes() for tensor in self.tensors()]
        bits += [None if p.grad is None else p.grad.numpy().tobytes() for p in self.net.parameters()]
        return [*bits, lucid.get_rng_state().numpy().tobytes()]


@pytest.fixture
def training():
    threads = lucid.get_num_threads()
    lucid.set_num_threads(1)
    yield Training()
    lucid.set_num_threads(threads)


@pytest.mark.parametrize("only_one", [True, False])
@pytest.mark.parametrize("is_planned", [True, False])
def test_a_training_step_without_memory_for_tensors(training, only_one, is_planned):
    training.reset()
    before = training.state()
    training.step(training.x, training.y)
    after = training.state()
    for _ in range(3 if is_planned else 0):
        training.reset()
        training.compiled(training.x, training.y)
    for successes in range(10_000):
        if not is_planned:
            training.forget_plans()
        training.reset()
        assert training.state() == before
        with _core.FailingAllocations(successes, only_one) as failing:
            try:
                training.compiled(training.x, training.y)
                lucid.compiler.wait()
                raised = False
            except MemoryError:
                raised = True
        if not raised:
            assert training.state() == after, successes
        elif is_planned:
            assert training.state() == before, successes
        for _ in range(1 if is_planned else 2):
            training.reset()
            training.compiled(training.x, training.y)
            assert training.state() == after, successes
        if not failing.has_failed:
            break
    assert successes > 0
    if is_planned:
        assert training.compiled.cache_info().compiles == 1


OP_TABLE = """
import os, resource
from lucid import _core

os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for kilobytes in range(0, 400, 4):
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (used + (kilobytes << 10), -1))
            _core.op_table()
        except MemoryError:
            pass
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, kilobytes
print("done")
"""


def test_describing_the_ops_with_little_memory():
    assert run_python(OP_TABLE) == "done\n"
