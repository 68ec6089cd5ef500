"""The examples of the documents that specify the compiler, on the CPU and on a gpu, which gives the same bits."""

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import lucid.optim as optim
import pytest
from lucid import compiler
from lucid.compiler import plan_cache
from lucid.models import lenet_5
from same import bits


class MyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.drop = nn.Dropout(0.5)
        self.last = nn.Linear(16, 4)

    def forward(self, x):
        return self.last(self.drop(self.first(x).relu()))


def loader(count=3, shape=(6, 8), classes=4, device="cpu"):
    generator = lucid.Generator().manual_seed(5)
    for _ in range(count):
        x = lucid.randn(*shape, generator=generator, device=device)
        yield x, lucid.randint(0, classes, (shape[0],), generator=generator, device=device)


both_devices = pytest.mark.parametrize("device", ["cpu", "gpu"])


# The examples.


@both_devices
def test_compiling_a_module(device):
    model = lenet_5().to(device)
    module = model
    model = model.compile()
    assert isinstance(model, lucid.JITModule)

    x = lucid.randn(1, 1, 32, 32, device=device)
    assert model.cache_info().misses == 0
    output = model(x)
    assert bits(output) == bits(module(x))
    assert bits(model(x)) == bits(module(x))
    assert model.cache_info()[:3] == (1, 1, 1)
    assert bits(output) == bits(module.cpu()(x.cpu()))


@both_devices
def test_compiling_a_standalone_function(device):
    def my_func(x, y):
        return lucid.sum(x * y + x)

    compiled_func = lucid.compile(my_func)
    assert isinstance(compiled_func, lucid.JITFunction)
    result = compiled_func(lucid.randn(3, 3, device=device), lucid.randn(3, 3, device=device))
    assert result.shape == ()
    x, y = lucid.randn(3, 3, device=device), lucid.randn(3, 3, device=device)
    assert bits(compiled_func(x, y)) == bits(my_func(x, y)) == bits(my_func(x.cpu(), y.cpu()))
    assert compiled_func.cache_info().hits == 1


@both_devices
def test_normalize(device):
    def normalize(x):
        mean = lucid.mean(x, axis=-1, keepdims=True)
        std = lucid.std(x, axis=-1, keepdims=True)
        return (x - mean) / (std + 1e-5)

    fast_normalize = lucid.compile(normalize)
    x = lucid.randn(32, 128, device=device)
    result = fast_normalize(x)
    result = fast_normalize(x)
    assert bits(result) == bits(normalize(x)) == bits(normalize(x.cpu()))
    assert fast_normalize.cache_info()[:3] == (1, 1, 1)


def test_both_ways_to_compile_a_module_are_the_same():
    model = nn.Sequential(
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Linear(256, 10),
    )
    for compiled_model in (model.compile(), lucid.compile(model)):
        assert isinstance(compiled_model, lucid.JITModule)
        assert compiled_model[0].weight is model[0].weight
        x = lucid.randn(2, 784)
        compiled_model(x)
        assert bits(compiled_model(x)) == bits(model(x))


def test_custom_cache_size():
    model = MyModel()
    assert model.compile(max_cache_entries=32).cache_info().max_entries == 32
    assert model.compile(max_cache_entries=2).cache_info().max_entries == 2
    with pytest.raises(ValueError, match="max_cache_entries must be at least 1, got 0"):
        model.compile(max_cache_entries=0)
    with pytest.raises(TypeError, match="max_cache_entries must be an int, got float"):
        model.compile(max_cache_entries=2.5)


def train(compile, device):
    lucid.manual_seed(1)
    model = lenet_5()
    model.to(device)
    model = compile(model)
    model.train()
    optimizer = lucid.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for x, y in loader(4, (3, 1, 32, 32), 10):
        x = x.to(device)
        y = y.to(device)

        logits = model(x)
        loss = F.cross_entropy(logits, y)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(bits(loss))
    return losses, [bits(parameter) for parameter in model.parameters()], model


@both_devices
def test_full_training_loop(device):
    expected, parameters, _ = train(lambda model: model, "cpu")
    losses, compiled_parameters, model = train(lambda model: model.compile(), device)
    assert losses == expected
    assert compiled_parameters == parameters
    # The plan, which is compiled once, sees updates of parameters.
    assert len(set(map(repr, losses))) == len(losses)
    assert model.cache_info()[:4] == (3, 1, 1, 0), model.explain()


@both_devices
def test_training_with_evaluation(device):
    def run(compile, device):
        lucid.manual_seed(2)
        model = MyModel()
        model.to(device)
        model = compile(model)
        model.train()
        optimizer = optim.Adam(model.parameters(), lr=1e-3)
        num_epochs = 3
        test_x = lucid.ones(5, 8, device=device)
        seen = []
        for _epoch in range(num_epochs):
            model.train()
            for x, y in loader(device=device):
                logits = model(x)
                loss = F.cross_entropy(logits, y)

                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

            # Evaluation uses a separate cached plan
            model.eval()
            with lucid.no_grad():
                test_logits = model(test_x)
            seen.append(bits(test_logits))
        return seen, model

    expected, _ = run(lambda model: model, "cpu")
    seen, model = run(lambda model: model.compile(), device)
    assert seen == expected
    assert model.cache_info().compiles == 2, model.explain()


def test_inference_with_no_grad():
    test_input = lucid.randn(2, 8)
    model = MyModel()
    model = model.compile()
    model.eval()
    with lucid.no_grad():
        predictions = model(test_input)
        assert not predictions.requires_grad
        graph = model.graph(test_input)
    assert graph.nodes
    assert not any(node.has_gradient for node in graph.nodes)


def test_switching_between_train_and_eval():
    x = lucid.randn(3, 8)
    model = MyModel()
    model = model.compile()
    model.train()
    logits = model(x)
    assert logits.requires_grad
    model.eval()
    assert not model.training
    with lucid.no_grad():
        logits = model(x)
    assert not logits.requires_grad
    assert [key.training for key in plan_cache(model).keys] == [True, False]
    for _ in range(3):
        model.train()
        model(x)
        model.eval()
        with lucid.no_grad():
            model(x)
    assert model.cache_info()[:3] == (6, 2, 2)


def test_cache_invalidation():
    x = lucid.randn(2, 8)
    model = MyModel().eval().compile()
    output = model(x)
    model.invalidate_cache()
    assert len(plan_cache(model)) == 0
    assert bits(model(x)) == bits(output)
    assert model.cache_info().compiles == 2

    function = lucid.compile(lambda x: x + 1)
    function(x)
    function.invalidate_cache()
    function(x)
    assert function.cache_info()[:3] == (0, 2, 2)


def test_a_changed_structure_is_detected_automatically():
    x = lucid.randn(2, 8)
    module = MyModel().eval()
    model = module.compile()
    model(x)
    module.last = nn.Linear(16, 7)
    assert bits(model(x)) == bits(module(x))


def test_invalid_targets():
    with pytest.raises(TypeError) as error:
        lucid.compile(42)
    assert str(error.value) == "lucid.compile() expects an nn.Module or a callable, got <class 'int'>"


def test_jit_decorator():
    w, w2 = lucid.randn(256, 8), lucid.randn(10, 256)

    @lucid.jit
    def forward(x):
        h = F.linear(x, w)
        h = F.relu(h)
        return F.linear(h, w2)

    x = lucid.randn(32, 8)
    y = forward(x)
    assert bits(forward(x)) == bits(y)
    assert forward.cache_info().hits == 1


def test_explicit_tracing():
    from lucid.backend.jit import trace

    model, example_input, new_input = MyModel().eval(), lucid.randn(3, 8), lucid.randn(3, 8)
    traced = trace(model, example_input)
    y = traced(new_input)
    assert bits(y) == bits(model(new_input))
    with lucid.no_grad():
        assert bits(traced(new_input)) == bits(model(new_input))
    y.sum().backward()
    found = bits(model.last.weight.grad)
    model.zero_grad()
    model(new_input).sum().backward()
    assert bits(model.last.weight.grad) == found
    with lucid.no_grad():
        model.last.bias.add_(1)
    assert bits(traced(new_input)) == bits(model(new_input))
    with pytest.raises(ValueError, match=r"traced with \(float32\[3,8\]\), called with \(float32\[4,8\]\)"):
        traced(lucid.randn(4, 8))


@lucid.no_grad()
def test_traced_graph():
    from lucid.backend.jit import Tracer

    x = lucid.randn(32, 784)
    model = nn.Sequential(nn.Linear(784, 256, bias=False), nn.ReLU(), nn.Linear(256, 10, bias=False))
    tracer = Tracer()
    with tracer:
        tracer.register_input(x)
        y = model(x)
    graph = tracer.build([y])
    assert graph.summary().split("\n") == [
        "TracedGraph: 3 ops",
        "  [0] linear: [0, 1] -> 2 (32, 256)",
        "  [1] relu: [2] -> 3 (32, 256)",
        "  [2] linear: [3, 4] -> 5 (32, 10)",
    ]
    other = lucid.randn(32, 784)
    assert bits(graph(other)) == bits(model(other))


def test_a_trace_without_a_graph_reports_why():
    from lucid.backend.jit import Tracer, trace

    with pytest.raises(RuntimeError, match=r"test_documents.py:\d+: reads a value of a tensor"):
        trace(lambda x: x + x.sum().item(), lucid.ones(3))
    with Tracer(), pytest.raises(RuntimeError, match="do not nest"), Tracer():
        pass
    assert not compiler.TracingContext.is_active()
