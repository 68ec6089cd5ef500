"""Plans as text and as SVG."""

import xml.etree.ElementTree

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import pytest

SVG = "{http://www.w3.org/2000/svg}"


def compiled_step():
    """A compiled training step, and arguments for which it has a plan."""
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
    stages = [stage for step in plan.steps for stage in step.stages]
    assert len(stages) == len(lines) - 1 - len(plan.steps)
    assert any("matmul" in stage.name for stage in stages)


def test_every_buffer_is_written_before_it_is_read():
    step, arguments = compiled_step()
    known = set()
    for stages in (step.stages for step in lucid.compiler.plan(step, *arguments).steps):
        local = set()
        for stage in stages:
            # A matrix product reads its result while accumulating, after initializing it.
            missing = {location for location in stage.reads if location not in stage.writes} - known - local
            assert all(location.kind == "input" for location in missing), (stage, missing)
            (local if len(stages) > 1 else known).update(stage.writes)
        known |= {location for location in local if location.kind != "local"}


def test_the_svg_shows_every_kernel_and_its_memory():
    step, arguments = compiled_step()
    plan = lucid.compiler.plan(step, *arguments)
    words = words_in(plan.svg())
    for number, shown in enumerate(plan.steps):
        assert any(word.startswith(f"step {number}: ") for word in words)
        for stage in shown.stages:
            assert stage.name in words
            reads, writes = (
                " ".join(location.name for location in locations) for locations in (stage.reads, stage.writes)
            )
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


def test_without_a_plan_the_reason_is_shown():
    f = lucid.compile(lambda x: x + 1)
    with pytest.raises(ValueError, match="has no plan for these arguments"):
        lucid.compiler.plan(f, lucid.ones(2))
    with pytest.raises(TypeError, match=r"expected a function or module compiled by lucid\.compile\(\)"):
        lucid.compiler.plan(len, lucid.ones(2))


def times_in(plan):
    return [float(line.split(", ")[-1].removesuffix(" us")) for line in str(plan).splitlines() if "step " in line[:5]]


def test_a_timed_plan_shows_the_time_of_each_step():
    step, arguments = compiled_step()
    plan = lucid.compiler.plan(step, *arguments, timed=True)
    times = times_in(plan)
    assert len(times) == len(plan.steps)
    assert all(time >= 0 for time in times)
    assert sum(times) > 0


def test_timing_gives_back_random_numbers_and_leaves_state():
    weight = lucid.ones(8)

    @lucid.compile
    def noisy(x):
        weight.add_(x)
        return lucid.rand(8) * weight

    x = lucid.ones(8)
    for _ in range(3):
        noisy(x)
    lucid.manual_seed(5)
    kept = weight.tolist()
    lucid.compiler.plan(noisy, x, timed=True)
    assert weight.tolist() == kept
    found = noisy(x).tolist()
    lucid.manual_seed(5)
    weight.copy_(lucid.tensor(kept))
    assert found == noisy(x).tolist()


def test_a_call_that_raises_has_no_times():
    f = lucid.compile(lambda x, i: x[i] * 2)
    x = lucid.arange(4.0)
    for _ in range(3):
        f(x, lucid.tensor([1, 2]))
    assert len(times_in(lucid.compiler.plan(f, x, lucid.tensor([0, 3]), timed=True))) > 0
    with pytest.raises(RuntimeError, match="runs eagerly"):
        lucid.compiler.plan(f, x, lucid.tensor([0, 9]), timed=True)
