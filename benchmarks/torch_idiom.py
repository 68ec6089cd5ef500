"""The workloads for libraries with PyTorch's API: PyTorch and Lucid, eager and compiled."""

import gc
import importlib
import pathlib
import sys

from prepared import Prepared
from workloads import NETWORKS, WORKLOADS

TWINS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "peers"


def functions(lib):
    functional = importlib.import_module(f"{lib.__name__}.nn.functional")
    other = lib.randn(1024, 1024)

    def normalize(x):
        return (x - x.mean(0, keepdim=True)) / (x.std(0, keepdim=True) + 1e-5)

    def gelu_chain(x):
        return functional.gelu(x * 1.5 + 0.5, approximate="tanh") * lib.sigmoid(x) + lib.tanh(x) - x.abs()

    return {
        "add1_8": lambda x: x + 1,
        "add1_8_grad": lambda x: x + 1,
        "add_1m": lambda x: x + other,
        "exp_1m": lambda x: x.exp(),
        "normalize_1m": normalize,
        "gelu_chain_1m": gelu_chain,
        "softmax_1m": lambda x: functional.softmax(x, -1),
        "layernorm_1m": lambda x: functional.layer_norm(x, (1024,)),
        "sum_16m": lambda x: x.sum(),
    }


def builders(lib):
    """Constructors of the networks. PyTorch's are the reference models of the tests."""
    if lib.__name__ == "lucid":
        models = lib.models
        made = (models.mlp, models.lenet_5, models.resnet_18, models.gpt, models.gpt2_small)
    else:
        sys.path.insert(0, str(TWINS))
        twins = importlib.import_module("torch_models")
        made = (
            *(twins.mlp, twins.lenet_5, lambda: twins.ResNet([2, 2, 2, 2]), twins.GPT),
            lambda: twins.GPT(vocab_size=50257, context=1024, dim=768, heads=12, layers=12),
        )
    return dict(zip(("mlp", "lenet5", "resnet18", "gptmini", "gpt2"), made))


def arguments(lib, work):
    """The input of a network and its target: a class for each image or token."""
    network = NETWORKS[work.network]
    shape = (work.batch, *network.shape)
    if network.vocabulary:
        count = work.batch * network.shape[0]
        return lib.randint(0, network.vocabulary, shape), lib.randint(0, network.classes, (count,))
    return lib.randn(*shape), lib.randint(0, network.classes, (work.batch,))


class Library:
    def __init__(self, name, threads, compiled):
        self.lib = importlib.import_module(name)
        self.version = getattr(self.lib, "__version__", "")
        self.compiled = compiled
        self.lib.set_num_threads(threads)
        self.lib.manual_seed(0)

    def wrap(self, function):
        if not self.compiled:
            return function
        return self.lib.compile(function, **({} if self.lib.__name__ == "torch" else {"wait": True}))

    def prepare(self, name):
        work = WORKLOADS[name]
        self.lib.set_grad_enabled(work.needs_grad)
        if self.lib.__name__ == "torch" and self.compiled:
            importlib.import_module("torch._dynamo").reset()
        return getattr(self, work.kind)(name, work)

    def function(self, name, work):
        called = self.wrap(functions(self.lib)[name])
        x = self.lib.randn(*work.shape).requires_grad_(work.needs_grad)
        return self.prepared(called, lambda: called(x))

    def network(self, _name, work):
        called = self.wrap(builders(self.lib)[work.network]().eval())
        x, _ = arguments(self.lib, work)
        return self.prepared(called, lambda: called(x))

    def limit(self, _name, work):
        if self.compiled:
            return None
        x, y = self.lib.randn(*work.shape), self.lib.randn(*work.shape)
        return Prepared((lambda: x @ y) if work.flops else (lambda: y.copy_(x)))

    def training(self, _name, work):
        step, x, y = self.step_of(work)
        if self.lib.__name__ == "torch":
            return Prepared(lambda: step(x, y))
        called = self.wrap(step)
        return self.prepared(called, lambda: called(x, y))

    def step_of(self, work):
        """A training step and its arguments. Lucid compiles it as a whole; PyTorch compiles its loss and its update."""
        model = builders(self.lib)[work.network]().train()
        optimizer = self.lib.optim.Adam(model.parameters(), lr=1e-3)
        cross_entropy = importlib.import_module(f"{self.lib.__name__}.nn.functional").cross_entropy

        def loss_of(x, y):
            scores = model(x)
            return cross_entropy(scores.reshape(-1, scores.shape[-1]), y)

        update = optimizer.step
        if self.lib.__name__ == "torch":
            loss_of, update = self.wrap(loss_of), self.wrap(update)

        def step(x, y):
            optimizer.zero_grad()
            loss_of(x, y).backward()
            update()

        return step, *arguments(self.lib, work)

    def prepared(self, called, call):
        """For Lucid, checks that no call fell back to eager execution."""
        if not self.compiled or self.lib.__name__ == "torch":
            return Prepared(call)

        def check():
            if called.cache_info().fallbacks:
                raise RuntimeError(f"not compiled: {called.explain()}")

        return Prepared(call, check=check, compiled=lambda: called.cache_info().hits > 0)

    def peak(self, name):
        """Peak bytes of a step, excluding parameters, gradients, state and arguments, as counted by the allocator."""
        work = WORKLOADS[name]
        self.lib.set_grad_enabled(True)
        step, x, y = self.step_of(work)
        for _ in range(2):
            step(x, y)
        gc.collect()
        if self.lib.__name__ == "torch":
            return self.peak_of_torch(lambda: step(x, y))
        # Memory after eager steps is the baseline; memory that compiled steps hold between calls counts.
        baseline = self.lib.memory_stats()["bytes_in_use"]
        called = self.wrap(step)
        for _ in range(3):
            called(x, y)
        self.lib.reset_peak_memory()
        called(x, y)
        self.prepared(called, None).check()
        return self.lib.memory_stats()["peak_bytes"] - baseline

    def peak_of_torch(self, step):
        """Profiles two steps and measures the second: the profiler counts only frees of allocations that it saw."""
        profiler = importlib.import_module("torch.profiler")
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
            step()
            with profiler.record_function("measured step"):
                step()
        in_use = peak = 0
        start = None
        for event in sorted(profile.profiler.kineto_results.events(), key=lambda event: event.start_ns()):
            if event.name() == "measured step":
                start = peak = in_use
            elif event.name() == "[memory]":
                in_use += event.nbytes()
                peak = max(peak, in_use)
        return peak - start

    def export(self, name, path):
        """Exports a network to an ONNX file, for the libraries that load it."""
        work = WORKLOADS[name]
        model = builders(self.lib)[work.network]().eval()
        x, _ = arguments(self.lib, work)
        self.lib.onnx.export(model, (x,), path, input_names=["x"], dynamo=False)
