"""Number of kernels and memory of compiled functions. No pass changes any bit of the results."""

import compile_programs
import lucid
import pytest
from lucid import nn
from lucid.nn import functional as F
from worlds import peak_of


def compiled(function, *args):
    """The compiled function, called often enough to have a plan."""
    result = lucid.compile(function)
    for _ in range(3):
        result(*args)
    assert result.cache_info().fallbacks == 0
    assert result.cache_info().hits > 0
    return result


def kernels(function, *args):
    plans = list(lucid.compiler.plan_cache(compiled(function, *args)))
    return plans[-1].program.kernels


CHAINS = {
    "normalize along the rows": lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5),
    "softmax": lambda x: F.softmax(x, -1),
    "layer norm": lambda x: F.layer_norm(x, (x.shape[-1],)),
    "gelu chain": lambda x: F.gelu(x * 1.5 + 0.5, approximate="tanh") * lucid.sigmoid(x) + lucid.tanh(x) - x.abs(),
    "log softmax": lambda x: F.log_softmax(x, -1),
    "rms norm": lambda x: F.rms_norm(x, (x.shape[-1],)),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_over_rows_and_columns_take_one_kernel(name):
    x = lucid.randn(1024, 1024)
    function = compiled(CHAINS[name], x)
    plan = list(lucid.compiler.plan_cache(function))[-1]
    assert plan.program.kernels == 1
    # Only the argument and the result are in memory. The other buffers of the kernels are a few rows on the stack.
    assert plan.program.arena_bytes == 0
    stages = [stage for step in lucid.compiler.plan(function, x).steps for stage in step.stages]
    touched = {location.name for stage in stages for location in stage.reads + stage.writes if location.kind != "local"}
    assert touched == {"in0", "out0"}
    assert lucid.equal(function(x), CHAINS[name](x))


def test_column_reductions_take_one_kernel():
    def normalize(x):
        return (x - x.mean(0, keepdim=True)) / (x.std(0, keepdim=True) + 1e-5)

    # The division along the rows is a second kernel: fused by column panels it is slower than both together.
    assert kernels(normalize, lucid.randn(1024, 1024)) == 2


def test_a_transformer_block_takes_few_kernels():
    block = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True, activation="gelu").eval()
    with lucid.no_grad():
        assert kernels(block, lucid.randn(8, 128, 64)) <= 10


def whole_step(model, optimizer, loss):
    def step(x, y):
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()
        return value

    return step


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.Tanh(),
        nn.Linear(120, 84),
        nn.Tanh(),
        nn.Linear(84, 10),
    )


def test_a_step_of_lenet_takes_few_kernels():
    model = lenet()
    step = whole_step(model, lucid.optim.Adam(model.parameters()), F.cross_entropy)
    assert kernels(step, lucid.randn(64, 1, 28, 28), lucid.randint(0, 10, (64,))) <= 25


def test_a_step_of_adam_updates_all_parameters_at_once():
    # One kernel for the scalars of the step, and one for the elements of all parameters.
    for model in (lenet(), nn.Linear(300, 200), nn.TransformerEncoderLayer(64, 4, 256)):
        optimizer = lucid.optim.Adam(model.parameters())
        for parameter in model.parameters():
            parameter.grad = lucid.randn(*parameter.shape)
        assert kernels(optimizer.step) <= 2


def test_state_is_updated_in_place():
    model = nn.Linear(300, 200)
    step = whole_step(model, lucid.optim.Adam(model.parameters()), F.mse_loss)
    function = compiled(step, lucid.randn(16, 300), lucid.randn(16, 200))
    places = [parameter.data_ptr() for parameter in model.parameters()]
    before = model.weight.detach().clone()
    function(lucid.randn(16, 300), lucid.randn(16, 200))
    assert [parameter.data_ptr() for parameter in model.parameters()] == places
    assert not lucid.equal(model.weight.detach(), before)


def test_exported_state_keeps_its_values():
    weight = lucid.randn(300, 200)

    @lucid.compile
    def double():
        weight.mul_(2)

    for _ in range(3):
        double()
    view, array = weight[0], weight.numpy()
    copy, old = weight.clone(), array.copy()
    double()
    assert double.cache_info().hits > 0
    assert lucid.equal(weight, copy * 2)
    assert lucid.equal(view, copy[0] * 2)
    # As after an eager write, the exported array keeps its values.
    assert (array == old).all()


def test_a_failed_check_does_not_change_state():
    model = nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 4))
    step = whole_step(model, lucid.optim.Adam(model.parameters()), F.cross_entropy)
    x, y = lucid.randint(0, 10, (32,)), lucid.randint(0, 4, (32,))
    function = compiled(step, x, y)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    x[5] = 10
    with pytest.raises(IndexError):
        function(x, y)
    assert all(lucid.equal(a, b.detach()) for a, b in zip(before, model.parameters()))


def test_a_failed_check_does_not_change_gradients():
    model = nn.Sequential(nn.Embedding(16384, 64), nn.Linear(64, 4))
    parameters = list(model.parameters())
    optimizer = lucid.optim.SGD(parameters)

    @lucid.compile
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()

    x, y = lucid.randint(0, 16384, (32,)), lucid.randint(0, 4, (32,))
    for _ in range(3):
        step(x, y)
    peak = peak_of(step, x, y)
    assert step.cache_info().hits > 0
    # Indices that are in range in an embedding are in range in its gradient. No check can fail when gradients are
    # written, so they reuse the memory of the old ones. Matrix products need some scratch memory in addition.
    assert peak < 16384 * 64 * 2 + (256 << 10)
    before = [parameter.grad.clone() for parameter in parameters]
    x[5] = 16384
    with pytest.raises(IndexError):
        step(x, y)
    assert all(lucid.equal(a, b.grad) for a, b in zip(before, parameters))


def test_horizontally_fused_launches_are_independent():
    def rolled(x, y):
        return lucid.roll(x, 1, 0), lucid.roll(lucid.roll(y, 1, 0), 1, 0)

    compiled = lucid.compile(rolled)
    for _ in range(8):
        x, y = lucid.randn(600, 600), lucid.randn(600, 600)
        assert all(lucid.equal(a, b) for a, b in zip(compiled(x, y), rolled(x, y)))
    assert [shown.name for shown in lucid.compiler.plan(compiled, x, y).steps] == ["roll_one", "roll_one"]


PASSES = ["Rematerialize", "PlaceInResults", "FuseSteps", "HorizontalFusion", "DonateBuffers", "ReuseMemory"]
# Former names of the passes.
ALIASES = "Recompute,LaunchBeside,OverwriteState"


@pytest.mark.parametrize("disabled", [*PASSES, ",".join(PASSES), ALIASES])
def test_each_pass_can_be_disabled(disabled, monkeypatch):
    monkeypatch.setenv("LUCID_DISABLE_PASSES", disabled)
    failures, total = compile_programs.run_programs(0, 40)
    assert failures == 0
    assert total.programs == 40
