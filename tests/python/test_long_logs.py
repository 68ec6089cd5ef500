"""Lists that code only appends to: plans compare nothing of them, however long they are."""

import lucid
import pytest
from lucid import nn


def step_of(model, optimizer, losses):
    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        return loss.detach()

    return step


def trained(compile, length, batches):
    lucid.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = lucid.optim.SGD(model.parameters(), lr=0.1)
    losses = [0.25] * length
    step = compile(step_of(model, optimizer, losses))
    return [step(lucid.ones(size, 3)).item() for size in batches], losses, step


@pytest.mark.parametrize("length", [0, 4_999, 5_001, 40_000])
def test_a_log_of_losses_has_no_limit(length):
    batches = [2] * 4 + [3] * 4
    results, losses, step = trained(lucid.compile, length, batches)
    assert (results, losses) == trained(lambda f: f, length, batches)[:2]
    assert step.cache_info().hits >= 4, step.explain()


def test_the_guards_do_not_grow_with_the_log():
    def guards(length):
        _, _, step = trained(lucid.compile, length, [2] * 3)
        return [line.split(", ")[3] for line in step.explain().splitlines() if line.startswith("  plan")]

    assert guards(20_000) == guards(1)


def test_a_log_in_a_dict():
    history = {"loss": [0.5] * 6_000, "name": "a"}

    def f(x):
        history["loss"].append(x.sum().item())
        return x * 2

    compiled = lucid.compile(f)
    for _ in range(4):
        compiled(lucid.ones(2))
    assert history["loss"][-4:] == [2.0] * 4
    assert compiled.cache_info().hits == 3, compiled.explain()


def test_a_call_that_does_not_append_to_the_log():
    log = [1.0] * 6_000

    def f(x):
        if x.ndim > 1:
            log.append(2.0)
        return x * 2

    compiled = lucid.compile(f)
    for _ in range(3):
        compiled(lucid.ones(2))
    log.append(3.0)
    compiled(lucid.ones(2))
    assert compiled.cache_info().hits == 3, compiled.explain()


READERS = {
    "its length": lambda log: float(len(log)),
    "an item": lambda log: log[-1],
    "all of it": lambda log: max(log[-3:]),
    "another name": lambda log, other=[]: other[0][-1] if other else log[0],
}


@pytest.mark.parametrize("reader", READERS)
def test_a_long_list_that_code_reads_is_refused(reader):
    log, read = [1.0] * 6_000, READERS[reader]

    def f(x):
        y = x * read(log)
        log.append(log[-1] + 1)
        return y

    compiled = lucid.compile(f)
    for number in range(4):
        expected = read(log)
        assert compiled(lucid.ones(1)).item() == expected
        assert len(log) == 6_001 + number
    assert compiled.cache_info().hits == 0


def test_the_reason_names_the_list():
    log = [1.0] * 6_000
    compiled = lucid.compile(lambda x: x * log[5])
    compiled(lucid.ones(1)), compiled(lucid.ones(1))
    assert "reads closure log, a list of 6000 items" in compiled.explain()


def test_a_long_list_of_objects_is_refused():
    items = [[1.0]] * 5_001
    compiled = lucid.compile(lambda x: (items.append(2.0), x * 2)[1])
    for _ in range(3):
        compiled(lucid.ones(1))
    assert compiled.cache_info().hits == 0
    assert "a list of 500" in compiled.explain()
