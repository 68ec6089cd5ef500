"""Calls that no plan serves defer their ops, and run those between two reads of values by one plan."""

import functools
import queue
import threading

import deferred_random
import lucid
import numpy as np
import pytest
from lucid import nn, optim
from lucid.nn import functional as F
from same import bits

CALLS = 12


@pytest.fixture(params=[0, 1], autouse=True)
def verify(request, monkeypatch):
    """Every test also runs with each batch compared with its ops one by one."""
    monkeypatch.setattr(lucid, "compile", functools.partial(lucid.compile, verify=request.param))


def check(make, arguments, calls=CALLS, pieces=2):
    """Compares two instances of a program, one of them compiled; at least `pieces` calls run in pieces."""
    lucid.manual_seed(3)
    eager, eager_state = make()
    lucid.manual_seed(3)
    function, state = make()
    compiled = lucid.compile(function)
    for i in range(calls):
        outcomes = []
        for f in (eager, compiled):
            lucid.manual_seed(100 + i)
            try:
                outcomes.append(bits(f(*arguments(i))))
            except Exception as error:
                outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1], f"call {i}: {compiled.explain()}"
        assert bits(eager_state()) == bits(state()), f"call {i}: {compiled.explain()}"
    assert compiled.cache_info().pieces >= pieces, compiled.explain()
    return compiled


def opaque(value):
    """Makes a call run eagerly: the walk knows nothing of this function's module."""
    return queue.Queue() and value


def learner():
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    return model, optimizer


def batch(i):
    generator = np.random.default_rng(i)
    return lucid.tensor(generator.standard_normal((6, 8), np.float32)), lucid.tensor(generator.integers(0, 4, 6))


def test_a_training_step_that_computes_with_what_it_reads():
    def make():
        model, optimizer = learner()
        totals = {"loss": 0.0, "correct": 0}

        def step(x, y):
            out = model(x)
            loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            totals["loss"] += loss.item() * len(x)
            totals["correct"] += (out.argmax(1) == y).sum().item()
            return round(totals["loss"], 4), totals["correct"] / 6

        return step, lambda: [*model.parameters(), totals]

    check(make, batch)


def test_values_decide_the_way_through_a_call():
    def make():
        seen = []

        def f(x):
            y = (x * 2 + 1).sin()
            for _ in range(int(y.abs().sum().item()) % 5):
                y = y * x - y.mean()
            seen.append(opaque(y.sum().item()))
            return y.exp() if seen[-1] > 0 else y - 1

        return f, lambda: seen

    check(make, lambda i: (batch(i)[0],), calls=40)


def test_writes_and_views_keep_their_order():
    def make():
        kept = lucid.zeros(4, 8)

        def f(x):
            before = kept.clone()
            view = kept[1]
            kept.add_(x[:4])
            view.mul_(2)
            after = kept + view
            opaque(after.sum().item())
            kept[2:].sub_(before[:2])
            return before, after, kept * 1, view

        return f, lambda: [kept]

    check(make, lambda i: (batch(i)[0],))


def test_a_gradient_sees_what_was_saved_before_a_write():
    def make():
        weight = lucid.randn(8, 8, requires_grad=True)

        def f(x):
            y = (x @ weight).tanh()
            with lucid.no_grad():
                weight.mul_(0.5)
            z = (y * weight[:6]).sum()
            opaque(z.item())
            z.backward()
            gradient = weight.grad.clone()
            weight.grad = None
            return gradient

        return f, lambda: [weight]

    check(make, lambda i: (batch(i)[0],))


def test_errors_are_raised_where_they_are_raised_eagerly():
    def make():
        table = lucid.randn(5, 3)
        log = []

        def f(x, index):
            y = x.exp() + 1
            log.append("before")
            try:
                z = table[index] * 2
            except IndexError as error:
                log.append(str(error))
                z = y.sum()
            log.append(opaque(float(z.sum())))
            return y, z

        return f, lambda: log

    check(make, lambda i: (batch(i)[0], lucid.tensor([0, 4 + (i % 3 == 2)])))


def test_an_exception_leaves_what_was_written_before():
    def make():
        kept = lucid.zeros(8)

        def f(x, fails):
            kept.add_(x.sum(0))
            kept.mul_(2)
            if fails:
                raise KeyError(opaque("stop"))
            return opaque(kept.sum().item())

        return f, lambda: [kept]

    check(make, lambda i: (batch(i)[0], i % 2 == 1))


def test_random_numbers_dropout_and_normalization():
    def make():
        model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.3), nn.Linear(16, 4))
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x, y):
            noise = lucid.randn(*x.shape) * 0.1
            loss = F.cross_entropy(model(x + noise), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return opaque(loss.item()) + 1

        return step, lambda: [*model.parameters(), *model.buffers()]

    check(make, batch)


def test_memory_that_leaves_the_library_holds_the_values():
    def make():
        exported = []

        def f(x):
            y = x * 3
            array = y.numpy()
            y.add_(1)
            exported.append((array.copy(), y.tolist(), np.from_dlpack(y * 2).copy()))
            return y

        return f, lambda: [[a.tolist(), b, c.tolist()] for a, b, c in exported]

    check(make, lambda i: (batch(i)[0],), pieces=0)


def test_memory_of_numpy_may_change_after_an_op():
    def make():
        array = np.zeros(8, np.float32)

        def f(x):
            y = lucid.from_numpy(array) + x
            array[:] += 1
            z = lucid.from_numpy(array) * y
            return opaque(z.sum().item()), y

        return f, lambda: array.tolist()

    check(make, lambda i: (batch(i)[0],), pieces=0)


def test_tensors_replaced_by_the_call():
    def make():
        state = {"h": lucid.zeros(6, 8), "history": []}

        def f(x):
            state["h"] = (state["h"] * 0.9 + x).tanh()
            state["history"].append(state["h"].mean().item())
            x.data = state["h"]
            return x + opaque(1)

        return f, lambda: [state["h"], state["history"]]

    check(make, lambda i: (batch(i)[0],))


def test_another_thread_uses_a_tensor_whose_ops_wait():
    requests, answers = queue.Queue(), queue.Queue()

    def answer():
        while (tensor := requests.get()) is not None:
            answers.put((tensor.sum().item(), (tensor + 1).tolist()))

    helper = threading.Thread(target=answer)
    helper.start()

    def make():
        def f(x):
            y = (x * 2).exp()
            z = y - 1
            requests.put(y)
            z = z * y
            total, listed = answers.get()
            return z + total, listed

        return f, list

    check(make, lambda i: (batch(i)[0],), pieces=0)
    requests.put(None)
    helper.join()


def test_threads_that_share_a_model():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    x, _ = batch(0)

    def f(x):
        return opaque(model(x).softmax(-1).sum(0).max().item())

    expected = f(x)
    compiled = lucid.compile(f)
    wrong = []

    def work():
        for _ in range(200):
            if compiled(x) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("waits", [True, False])
def test_compiled_functions_inside(waits):
    inner = lucid.compile(lambda x: (x * 2).relu() + 1, wait=waits)

    def make():
        def f(x):
            y = x + 1
            z = inner(y) * y
            return opaque(z.sum().item()), inner(z)

        return f, list

    check(make, lambda i: (batch(i)[0],), pieces=0)


def test_hooks_run_while_ops_wait():
    def make():
        model, _ = learner()
        norms = []
        for parameter in model.parameters():
            parameter.register_hook(lambda gradient: norms.append(opaque(gradient.norm().item())) or gradient * 2)

        def f(x, y):
            for parameter in model.parameters():
                parameter.grad = None
            F.cross_entropy(model(x), y).backward()
            return [parameter.grad for parameter in model.parameters()]

        return f, lambda: norms

    check(make, batch)


def test_second_derivatives():
    def make():
        model, _ = learner()

        def f(x, y):
            loss = F.cross_entropy(model(x), y)
            gradients = lucid.autograd.grad(loss, list(model.parameters()), create_graph=True)
            penalty = sum((g * g).sum() for g in gradients)
            opaque(penalty.item())
            penalty.backward()
            result = [p.grad.clone() for p in model.parameters()]
            model.zero_grad()
            return result

        return f, lambda: list(model.parameters())

    check(make, batch)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_programs(first):
    assert sum(deferred_random.check(seed) for seed in range(first, first + 20)) > 20
