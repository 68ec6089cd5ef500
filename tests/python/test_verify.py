"""`lucid.compile(f, verify=n)` compares compiled calls with the function itself."""

import re

import lucid
import lucid.nn as nn
import pytest
from interpreter import run_python
from same import bits


class DropsReLU(lucid.compiler.Pass):
    """A wrong pass: what relu() returns is replaced by its operand, wherever that is possible."""

    def run(self, graph):
        changed = False
        for node in graph.nodes:
            if node.op == "relu" and node.outputs[0] not in graph.output_ids:
                graph.replace(node.outputs[0], node.input_ids[0])
                changed = True
        return changed


def failure(function, *args):
    with pytest.raises(RuntimeError, match="differs from the function") as error:
        function(*args)
    return str(error.value)


def test_a_difference_names_the_node_and_its_line():
    def f(x):
        y = x * 2 - 1
        z = y.relu()
        return (z + 3).sqrt()

    line = f.__code__.co_firstlineno + 2
    compiled = lucid.compile(f, passes=[DropsReLU], verify=1)
    x = lucid.tensor([1.0, -1.0])
    assert bits(compiled(x)) == bits(f(x))
    text = failure(compiled, x)
    assert text.startswith(
        "f: the compiled call differs from the function in element 1 of the result: 0.0 instead of 1.73"
    )
    assert re.search(
        rf"The first node that is compiled wrong is %\d+: f32\[2\] = add\(.*test_verify.py:{line + 1}$", text
    )
    # It finds the difference when it occurs, not before.
    assert bits(compiled(lucid.ones(2))) == bits(f(lucid.ones(2)))


def test_one_of_n_calls_runs_the_function():
    def f(x):
        return x.relu() + 1

    compiled = lucid.compile(f, passes=[DropsReLU], verify=4)
    x = lucid.tensor([-2.0])
    results = [compiled(x).item()]
    for _ in range(8):
        try:
            results.append(compiled(x).item())
        except RuntimeError:
            results.append(None)
    assert results == [1, None, -1, -1, -1, None, -1, -1, -1]


def test_effects_happen_once():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = 0
            self.last = None
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x):
            self.steps += 1
            self.last = self.norm(x)
            return self.last * 2

    lucid.manual_seed(0)
    module, other = Counter(), Counter()
    compiled = lucid.compile(module, verify=1)
    for _ in range(5):
        x = lucid.randn(4, 3)
        assert bits(compiled(x)) == bits(other(x))
        assert bits(module.last) == bits(other.last)
    assert module.steps == other.steps == 5
    assert [bits(value) for value in module.buffers()] == [bits(value) for value in other.buffers()]
    assert compiled.cache_info().hits > 2


def test_training_steps_and_random_numbers():
    def train(verify):
        lucid.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 1))
        optimizer = lucid.optim.Adam(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        run = step if verify is None else lucid.compile(step, verify=verify)
        losses = [bits(run(lucid.randn(16, 4))) for _ in range(6)]
        return losses, [bits(parameter) for parameter in model.parameters()]

    assert train(None) == train(1) == train(2)


def test_state_that_differs_is_named():
    weight = lucid.ones(2)

    def f(x):
        weight.copy_(x.relu() * 2)
        return x * 1.5

    compiled = lucid.compile(f, passes=[DropsReLU], verify=1)
    compiled(lucid.tensor([-1.0, 1.0]))
    text = failure(compiled, lucid.tensor([-1.0, 1.0]))
    assert "differs from the function in closure weight. The first node" in text
    assert "mul" in text


def test_gradients_that_differ_are_named():
    weight = lucid.ones(2, requires_grad=True)

    def f(x):
        weight.grad = None
        (x.relu() * weight).sum().backward()

    compiled = lucid.compile(f, passes=[DropsReLU], verify=1)
    for _ in range(3):
        compiled(lucid.ones(2))
    assert "in the gradient of closure weight. The first node" in failure(compiled, lucid.tensor([-1.0, 1.0]))


def test_stored_values_that_differ_are_named():
    class Keeper:
        def __init__(self):
            self.kept = None

        def __call__(self, x):
            self.kept = x.relu() + 1
            return x * 2

    keeper = Keeper()
    compiled = lucid.compile(keeper, passes=[DropsReLU], verify=1)
    for _ in range(3):
        compiled(lucid.ones(1))
    assert "in element 0 of self.kept: 0.0 instead of 1.0" in failure(compiled, lucid.tensor([-1.0]))


def test_branches_sizes_and_numbers_that_vary():
    def f(x, k):
        if x.sum() > 0:
            return {"scaled": x * k, "positive": True}
        return {"scaled": (x - k).sum(0), "positive": False}

    compiled = lucid.compile(f, verify=1)
    lucid.manual_seed(0)
    for i in range(40):
        x = lucid.randn(2 + i % 7, 3)
        a, b = compiled(x, 0.5 * i), f(x, 0.5 * i)
        assert bits(a["scaled"]) == bits(b["scaled"])
        assert a["positive"] == b["positive"]
    assert compiled.cache_info().hits > 10


def test_a_plan_for_other_sizes_is_checked_as_such():
    def f(x):
        return (x.relu() + x.shape[0]).sum(0)

    compiled = lucid.compile(f, passes=[DropsReLU], verify=1)
    for size in (4, 5, 6):
        compiled(lucid.ones(size, 2))
    assert compiled.cache_info().compiles == 2
    text = failure(compiled, -lucid.ones(9, 2))
    assert "f32[9,2] = add" in text


@pytest.mark.parametrize("verify", [-1, "1", 0.5])
def test_mistakes_raise(verify):
    with pytest.raises((TypeError, ValueError), match="verify must be"):
        lucid.compile(lambda x: x, verify=verify)


def test_the_environment_gives_the_default():
    program = (
        "import lucid\n"
        "class Wrong(lucid.compiler.Pass):\n"
        "    def run(self, graph):\n"
        "        [relu] = [node for node in graph.nodes if node.op == 'relu']\n"
        "        graph.replace(relu.outputs[0], relu.input_ids[0])\n"
        "        return True\n"
        "for verify in (None, 0):\n"
        "    f = lucid.compile(lambda x: x.relu() + 1, passes=[Wrong], verify=verify)\n"
        "    f(-lucid.ones(1))\n"
        "    try:\n"
        "        print(f(-lucid.ones(1)).item())\n"
        "    except RuntimeError as error:\n"
        "        print('raised')\n"
    )
    assert run_python(program, LUCID_VERIFY="1").split() == ["raised", "0.0"]
