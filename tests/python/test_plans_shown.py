"""Plans as people see them: text and drawing."""

import xml.etree.ElementTree

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import pytest

SVG = "{http://www.w3.org/2000/svg}"


def compiled_step():
    """A whole step of training, and arguments that it has a plan for."""
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = lucid.optim.Adam(model.parameters())

    @lucid.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    arguments = lucid.randn(16, 64), lucid.randint(0, 10, (16,))
    for _ in range(4):
        step(*arguments)
    return step, arguments


def words_in(svg):
    root = xml.etree.ElementTree.fromstring(svg)
    assert root.tag == SVG + "svg"
    return ["".join(text.itertext()) for text in root.iter(SVG + "text")]


def test_a_plan_lists_its_steps():
    step, arguments = compiled_step()
    plan = lucid.compiler.plan(step, *arguments)
    program = lucid.compiler.plan_cache(step)[-1].program
    assert len(plan.steps) == program.kernels + len(program.packing_names)
    lines = str(plan).splitlines()
    assert lines[0] == repr(plan)
    assert f"{program.arena_bytes} bytes" in lines[0]
    titles = [line.split(":")[0] for line in lines[1:] if not line.startswith(" ")]
    assert titles == [f"step {number}" for number in range(len(plan.steps))]
    turns = [turn for step in plan.steps for turn in step.turns]
    assert len(turns) == len(lines) - 1 - len(plan.steps)
    assert any("matmul" in turn.name for turn in turns)


def test_everything_read_was_written_before():
    step, arguments = compiled_step()
    known = set()
    for turns in (step.turns for step in lucid.compiler.plan(step, *arguments).steps):
        local = set()
        for turn in turns:
            # A product adds to what it reads, after it has filled it.
            missing = {place for place in turn.reads if place not in turn.writes} - known - local
            assert all(place.kind == "input" for place in missing), (turn, missing)
            (local if len(turns) > 1 else known).update(turn.writes)
        known |= {place for place in local if place.kind != "local"}


def test_the_drawing_shows_every_kernel_and_its_memory():
    step, arguments = compiled_step()
    plan = lucid.compiler.plan(step, *arguments)
    words = words_in(plan.svg())
    for number, shown in enumerate(plan.steps):
        assert any(word.startswith(f"step {number}: ") for word in words)
        for turn in shown.turns:
            assert turn.name in words
            reads, writes = (" ".join(place.name for place in places) for places in (turn.reads, turn.writes))
            assert f"{reads} → {writes}".strip() in words
    assert plan._repr_svg_() == plan.svg()


def test_steps_on_the_host_are_shown():
    f = lucid.compile(lambda x: lucid.sort(x * 2 + 1)[0] * 3)
    x = lucid.randn(33)
    for _ in range(3):
        f(x)
    plan = lucid.compiler.plan(f, x)
    assert "sort" in [step.name for step in plan.steps]
    assert "sort" in words_in(plan.svg())


def test_without_a_plan_it_says_why():
    f = lucid.compile(lambda x: x + 1)
    with pytest.raises(ValueError, match="has no plan for these arguments"):
        lucid.compiler.plan(f, lucid.ones(2))
    with pytest.raises(TypeError, match=r"expected what lucid\.compile\(\)"):
        lucid.compiler.plan(len, lucid.ones(2))
