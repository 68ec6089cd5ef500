"""Claims of the documents about the compiler that their examples do not show."""

import io
import os
import random
import subprocess
import sys
import time

import lucid
import lucid.nn as nn
import pytest
from lucid import compiler
from lucid.compiler import DeadNodeElimPass, NoGradStripPass, plan_cache
from same import bits
from test_documents import MyModel

# Claims of the documents.


def test_compiling_is_lazy():
    calls = []

    def f(x):
        calls.append(1)
        return x

    compiled = lucid.compile(f)
    assert not calls
    compiled(lucid.ones(2))
    assert len(calls) == 1


def test_the_graph_has_the_fields_of_the_documents():
    module = MyModel().eval()
    model = module.compile()
    x = lucid.randn(3, 8)
    with lucid.no_grad():
        model(x)
        graph = compiler.graph(model, x)
    assert isinstance(graph, compiler.IRGraph)
    assert len(graph.input_ids) == 1
    assert len(graph.param_ids) == 4
    assert graph.constant_ids == graph.state_ids == graph.updates == []
    value = graph.values[graph.input_ids[0]]
    assert isinstance(value, compiler.IRValue)
    assert (value.shape, value.dtype, value.device) == ((3, 8), lucid.float32, "cpu")
    node = graph.nodes[0]
    assert isinstance(node, compiler.IRNode)
    assert (node.op, node.inputs, node.device) == ("linear", [*graph.input_ids, *graph.param_ids[:2]], "cpu")
    assert node.source.startswith("test_documents.py:")
    made = [id for node in graph.nodes for id in node.outputs]
    assert set(graph.output_ids) <= set(made)
    assert compiler.IRGraph.parse(str(graph)) == graph
    assert node.attributes == {}
    (plan,) = plan_cache(model)
    assert isinstance(plan, compiler.ForwardExecutor)
    assert plan.state["self.first.weight"] is module.first.weight
    with lucid.no_grad():
        assert bits(plan(x)[0]) == bits(module(x))


def test_buffers_are_state_that_is_updated():
    model = nn.BatchNorm1d(3).train().compile()
    x = lucid.randn(4, 3)
    model(x)
    graph = model.graph(x)
    assert graph.updates
    assert {old for old, _ in graph.updates} <= set(graph.state_ids)


DEAD = """graph f(%0: f32[4] input) -> (%1) {
  %1: f32[4] = relu(%0)
  %2: f32[4] = exp(%0)
}
"""


def test_passes_run_individually():
    graph = compiler.IRGraph.parse(DEAD)
    assert DeadNodeElimPass().run(graph)
    assert [node.op for node in graph.nodes] == ["relu"]
    assert not DeadNodeElimPass().run(graph)
    assert graph.nodes[0].has_gradient
    assert NoGradStripPass().run(graph)
    assert not graph.nodes[0].has_gradient


def test_dead_code_is_removed():
    @lucid.compile
    def f(x):
        (x * 3).exp().sum()
        return x + 1

    x = lucid.ones(4)
    f(x)
    assert [node.op for node in f.graph(x).nodes] == ["add"]


def test_custom_passes():
    class Count(compiler.Pass):
        seen = 0

        def run(self, graph):
            Count.seen += len(graph.nodes)
            return False

    class DoubleNegation(compiler.Pass):
        def run(self, graph):
            makers = {node.outputs[0]: node for node in graph.nodes}
            for node in graph.nodes:
                inner = makers.get(node.inputs[0])
                if node.op == "neg" and inner is not None and inner.op == "neg":
                    graph.replace(node.outputs[0], inner.inputs[0])
                    graph.remove(node)
                    graph.remove(inner)
                    return True
            return False

    @lucid.compile(passes=[Count(), DoubleNegation, DeadNodeElimPass])
    def f(x):
        return (x * 2).neg().neg() + 1

    x = lucid.randn(3)
    f(x)
    assert bits(f(x)) == bits(x * 2 + 1)
    assert Count.seen == 4
    assert [node.op for node in f.graph(x).nodes] == ["mul", "add"]
    with pytest.raises(TypeError, match=r"derived from lucid\.compiler\.Pass"):
        lucid.compile(f.__wrapped__, passes=[print])


def test_invalid_edits_of_a_graph_raise():
    graph = compiler.IRGraph.parse(DEAD)
    relu, exp = graph.nodes
    with pytest.raises(ValueError, match="is a result of the graph"):
        graph.remove(relu)
    with pytest.raises(ValueError, match="cannot replace"):
        graph.replace(1, 0)
    with pytest.raises(ValueError, match="there is no %9"):
        graph.replace(1, 9)
    graph.remove(exp)
    with pytest.raises(ValueError, match="no node computes %2"):
        graph.remove(exp)
    graph.verify()


def test_plan_keys():
    def f(x):
        return x * 2

    compiled = lucid.compile(f)
    for x in (lucid.ones(2), lucid.ones(3), lucid.ones(3, dtype=lucid.f64), lucid.ones(3, requires_grad=True)):
        compiled(x)
        compiled(x)
        with lucid.no_grad():
            compiled(x)
            compiled(x)
    assert compiled.cache_info()[:3] == (8, 8, 8)
    keys = plan_cache(compiled).keys
    assert len(set(keys)) == 8
    assert [key.inputs[0].shape for key in keys] == [(2,), (2,), (3,), (3,), (3,), (3,), (3,), (3,)]
    assert [key.inputs[0].dtype for key in keys[2:6]] == [lucid.f32, lucid.f32, lucid.f64, lucid.f64]
    assert [key.grad_enabled for key in keys] == [True, False] * 4
    assert not any(key.training for key in keys)
    assert {key.inputs[0].device for key in keys} == {"cpu"}


def test_the_oldest_plan_is_evicted_first():
    compiled = lucid.compile(lambda x: x + 1, dynamic=False)
    for size in range(1, 10):
        compiled(lucid.ones(size))
    cache = plan_cache(compiled)
    assert isinstance(cache, compiler.PlanCache)
    assert len(cache) == cache.max_entries == 8
    assert [key.inputs[0].shape for key in cache.keys] == [(size,) for size in range(2, 10)]
    compiled(lucid.ones(2))
    compiled(lucid.ones(9))
    assert compiled.cache_info()[:3] == (2, 9, 9)
    compiled(lucid.ones(1))
    assert compiled.cache_info()[:3] == (2, 10, 10)
    # Using a plan does not protect it from eviction.
    assert cache.keys[0].inputs[0].shape == (3,)


def test_hooks_run_around_the_plan():
    def run(compile):
        lucid.manual_seed(4)
        module = MyModel().eval()
        module.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        module.register_forward_hook(lambda module, args, output: output * 2)
        model = compile(module)
        return [bits(model(lucid.ones(2, 8) * i)) for i in range(4)]

    assert run(lambda model: model.compile()) == run(lambda model: model)


def test_attributes_are_forwarded_to_the_module():
    module = MyModel()
    model = module.compile()
    assert model.first is module.first
    assert list(model.parameters()) == list(module.parameters())
    assert model.eval() is model
    assert not module.training
    assert model.state_dict().keys() == module.state_dict().keys()
    compiled = lucid.compile(set_attribute)
    assert compiled.__name__ == "set_attribute"
    assert compiled.__wrapped__ is set_attribute


def test_a_branch_on_values_is_always_the_right_one():
    def f(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    compiled = lucid.compile(f)
    for sign in (1, 1, -1, -1, 1):
        x = lucid.ones(3) * sign
        assert bits(compiled(x)) == bits(f(x))


def test_an_unknown_device_lists_the_devices():
    for target in (lucid.ones(1), MyModel()):
        with pytest.raises(ValueError, match="there is no device 'cuda'; the devices are: 'cpu'"):
            target.to("cuda")
    assert lucid.grad_enabled()


def test_counters_of_the_process():
    before = compiler.counters()
    compiled = lucid.compile(lambda x, flag: x.item() if flag else x * 2)
    x = lucid.ones(1)
    for _ in range(3):
        compiled(x, False)
        compiled(x, True)
    after = compiler.counters()
    changes = [new - old for old, new in zip(before, after)]
    assert changes == [2, 2, 1, 0, 3, 0, 0]
    assert compiler.cache_info(compiled) == compiled.cache_info()


FACTOR = 2


def test_explaining_a_call(monkeypatch):
    def f(x):
        return x * FACTOR

    compiled = lucid.compile(f)
    x = lucid.ones(2)
    assert "no plan for arguments of these types" in compiler.explain(compiled, x)
    compiled(x)
    assert "runs plan 1" in compiler.explain(compiled, x)
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert "recorded again" in compiler.explain(compiled, x)
    assert "FACTOR" in compiler.explain(compiled, x)
    assert bits(compiled(x)) == bits(x * 3)
    assert "FACTOR" in compiler.explain(compiled)
    with pytest.raises(TypeError, match=r"compiled by lucid\.compile"):
        compiler.explain(f)


def test_log_of_compiles_and_eager_calls():
    program = """
import lucid
f = lucid.compile(lambda x, flag: x.item() if flag else x * 2)
for flag in (False, True, False, True): f(lucid.ones(1), flag)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LUCID_LOG": "jit"},
        capture_output=True,
        text=True,
        check=True,
    )
    # Plans are compiled on another thread while calls continue.
    lines = sorted(done.stderr.strip().split("\n"))
    assert len(lines) == 2, lines
    assert lines[0].startswith("lucid[jit] <lambda>: compiled 1 nodes to 1 kernels in ")
    assert lines[1] == "lucid[jit] <lambda>: runs eagerly: <string>:3: reads a value of a tensor"


class Box:
    def __init__(self, value):
        self.value = value


KEPT: list = []
STREAM = io.StringIO()
BOX = Box(0)


def set_attribute(x):
    BOX.value = BOX.value + 1
    return x + BOX.value


EAGER = {
    "item": (lambda x: x * x.sum().item(), "reads a value"),
    "numpy": (lambda x: x + x.numpy().sum(), "hands a tensor to NumPy"),
    "print to a stream": (lambda x: (print("called", file=STREAM), x + 1)[1], "prints to a stream other than"),
    "print a tensor": (lambda x: (str(x), x + 1)[1], "reads values of a tensor"),
    "clock": (lambda x: x + time.time(), "time"),
    "random": (lambda x: x + random.random(), "random"),
    "append": (lambda x: (KEPT.append(len(KEPT)), x + 1)[1], "KEPT"),
    "set attribute": (set_attribute, "BOX"),
    "mask": (lambda x: x[x > 0], "the output size of masked_select depends on values"),
    "iterator": (lambda x: iter([x + 1]), "returns a list_iterator"),
}


@pytest.mark.parametrize("name", EAGER)
def test_eager_calls_report_why(name, capsys):
    function, reason = EAGER[name]
    compiled = lucid.compile(function)
    for _ in range(8):
        compiled(lucid.ones(3))
    assert compiled.cache_info().hits == 0, compiled.explain()
    assert reason in compiled.explain()
