"""backward() of compiled calls runs plans, and gives the same bits as node by node."""

import functools

import lucid
import pytest
from lucid import models, nn, optim
from lucid.nn import functional as F
from planned import check_planned, gated, gradients, leaves
from same import bits, seen_of


@pytest.fixture
def set_threads():
    before = lucid.get_num_threads()
    yield lucid.set_num_threads
    lucid.set_num_threads(before)


def images(*shape):
    return lambda: lucid.randn(*shape)


NETWORKS = {
    "mlp": (lambda: models.mlp((12, 8, 5)), images(6, 12), 6),
    "lenet_5": (lambda: models.lenet_5(5), images(4, 1, 32, 32), 4),
    "resnet_18": (lambda: models.resnet_18(5), images(2, 3, 16, 16), 2),
    "gpt": (
        lambda: models.gpt(vocab_size=5, context=8, dim=16, heads=2, layers=2, dropout=0.1),
        lambda: lucid.randint(0, 5, (2, 8)),
        16,
    ),
}


def training_loop(name):
    make, batch, count = NETWORKS[name]

    def scenario(wrap):
        network = make()
        call = wrap(network)
        optimizer = optim.SGD(network.parameters(), lr=0.01)
        seen = []
        for _ in range(4):
            loss = F.cross_entropy(call(batch()).reshape(count, 5), lucid.arange(count) % 5)
            optimizer.zero_grad()
            loss.backward()
            seen.append([loss.detach(), gradients(network.parameters())])
            optimizer.step()
        return seen

    return scenario


# The cases of a network run one after the other, so keeping one is enough.
@functools.lru_cache(maxsize=1)
def seen_eagerly(name):
    lucid.set_num_threads(1)
    return seen_of(training_loop(name), lambda network: network)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_training_loop_runs_backward_plans(name, threads, set_threads):
    made = []

    def compiled(network):
        made.append(lucid.compile(network))
        return made[-1]

    expected = seen_eagerly(name)
    set_threads(threads)
    assert seen_of(training_loop(name), compiled) == expected
    report = made[0].explain()
    assert "backward: " in report, report
    assert "2 runs" in report, report
    assert "one by one" not in report, report


def test_gradient_sums_continue_in_eager_order():
    def scenario(wrap):
        f = wrap(gated)
        seen = []
        for _ in range(5):
            x, w = leaves((6, 6), (6, 6))
            before = x * 3 + w
            ((f(x, w) * x).sum() + (x * w).tanh().sum() + before.sum() * 0.1 + f(before, w).sum()).backward()
            seen.append(gradients([x, w]))
        return seen

    # Each backward passes through f twice, with different gradients already accumulated. Each variant is recorded once.
    check_planned(scenario, runs=7)


def test_chained_modules_each_run_a_plan():
    def scenario(wrap):
        first, second = nn.Linear(6, 6), nn.LayerNorm(6)
        f, g = wrap(first), wrap(second)
        seen = []
        for _ in range(4):
            (x,) = leaves((3, 6))
            (g(f(x).relu()) ** 2).mean().backward()
            seen.append(gradients([x, *first.parameters(), *second.parameters()]))
        return seen

    check_planned(scenario, runs=4)


def test_a_module_used_twice_in_a_loss():
    def scenario(wrap):
        module = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
        f = wrap(module)
        seen = []
        for _ in range(4):
            (x,) = leaves((3, 6))
            (f(f(x)) * f(x * 2)).sum().backward()
            seen.append(gradients([x, *module.parameters()]))
            module.zero_grad()
        return seen

    # No accumulated gradients, those of the parameters, and also that of x: each variant is recorded once.
    check_planned(scenario, runs=8, min_hits=11)


def test_gradients_accumulate_over_passes():
    def scenario(wrap):
        module = nn.Sequential(nn.Linear(6, 6), nn.GELU(), nn.Linear(6, 2))
        f = wrap(module)
        seen = []
        for _ in range(6):
            f(lucid.randn(3, 6)).square().sum().backward()
            seen.append(gradients(module.parameters()))
        return seen

    check_planned(scenario, runs=4)


def test_a_retained_graph_runs_twice_and_then_raises():
    def scenario(wrap):
        f = wrap(gated)
        seen = []
        for _ in range(4):
            x, w = leaves((4, 4), (4, 4))
            total = f(x, w).sum()
            total.backward(retain_graph=True)
            total.backward()
            seen.append(gradients([x, w]))
            with pytest.raises(RuntimeError, match="second time") as error:
                total.backward()
            seen.append(str(error.value))
        return seen

    check_planned(scenario, runs=5)


def test_a_second_output_raises_if_shared_saved_tensors_were_freed():
    def scenario(wrap):
        def f(x, w):
            h = lucid.tanh(x @ w)
            return h * h.exp(), (h * 2).sigmoid() * h

        f = wrap(f)
        seen = []
        for _ in range(4):
            x, w = leaves((4, 4), (4, 4))
            first, second = f(x, w)
            first.sum().backward()
            seen.append(gradients([x, w]))
            with pytest.raises(RuntimeError, match="second time") as error:
                second.sum().backward()
            seen.append([str(error.value), gradients([x, w])])
        return seen

    check_planned(scenario, runs=2)


def test_create_graph_runs_node_by_node():
    def scenario(wrap):
        f = wrap(gated)
        seen = []
        for _ in range(4):
            x, w = leaves((4, 4), (4, 4))
            first = lucid.autograd.grad(f(x, w).sum(), [x, w], create_graph=True)
            sum((g * g).sum() for g in first).backward()
            seen.append([[bits(g) for g in first], gradients([x, w])])
        return seen

    # The second backward runs through the call's nodes again, without create_graph.
    check_planned(scenario, runs=2)


def test_hooks_added_after_the_call_see_every_gradient():
    def scenario(wrap):
        f = wrap(gated)
        seen = []
        for number in range(6):
            x, w = leaves((4, 4), (4, 4))
            y = f(x, w)
            if number % 2:
                y.register_hook(lambda g: g * 2)
                assert y.grad_fn.next_functions
            if number == 4:
                y.retain_grad()
            x.register_hook(lambda g: seen.append(bits(g)))
            w.register_post_accumulate_grad_hook(lambda w: seen.append(bits(w.grad)))
            y.sum().backward()
            seen.append([gradients([x, w]), bits(y.grad) if number == 4 else None])
        return seen

    # Leaves that the call creates are between the nodes, and these have hooks.
    check_planned(scenario, runs=0)


def test_a_parameter_hook_does_not_prevent_plans():
    def scenario(wrap):
        module = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
        f = wrap(module)
        seen = []
        module[0].weight.register_hook(lambda g: seen.append(bits(g)))
        module[2].bias.register_post_accumulate_grad_hook(lambda p: seen.append(bits(p.grad)))
        for _ in range(4):
            f(lucid.randn(3, 4)).sum().backward()
            seen.append(gradients(module.parameters()))
        return seen

    check_planned(scenario, runs=2)


def test_gradients_of_a_subset_of_inputs():
    def scenario(wrap):
        f = wrap(gated)
        seen = []
        for number in range(9):
            x, w = leaves((4, 4), (4, 4))
            h = x * 2
            total = (f(h, w) * 0.5).sum()
            wanted = [[w], [h, w], [x]][number % 3]
            seen.append([bits(g) for g in lucid.autograd.grad(total, wanted)])
            total = f(h, w).sum()
            total.backward(inputs=wanted)
            seen.append(gradients([x, w]))
        return seen

    # Three subsets for grad() and for backward(), each recorded once. The first call is not a copy.
    check_planned(scenario, runs=11, min_hits=17)


def test_the_gradient_with_respect_to_a_result():
    def scenario(wrap):
        def f(x, w):
            h = lucid.tanh(x @ w)
            return h, h * h.exp()

        f = wrap(f)
        seen = []
        for _ in range(4):
            x, w = leaves((4, 4), (4, 4))
            h, y = f(x, w)
            seen.append([bits(g) for g in lucid.autograd.grad((y * h).sum(), [h, w])])
        return seen

    check_planned(scenario, runs=0)


def test_unused_results_and_arguments_without_grad():
    def scenario(wrap):
        def f(x, w):
            h = lucid.tanh(x @ w)
            return h * h, h.exp() * x, x + 1

        f = wrap(f)
        seen = []
        for number in range(8):
            x, w = leaves((4, 4), (4, 4))
            results = f(x.detach() if number % 2 else x, w)
            results[number // 4].sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(scenario, runs=2, min_hits=6)


def test_results_that_other_results_depend_on():
    def scenario(wrap):
        def f(x, w):
            h = lucid.tanh(x @ w)
            return h, lucid.sigmoid(h) * h

        f = wrap(f)
        seen = []
        for _ in range(5):
            x, w = leaves((4, 4), (4, 4))
            h, y = f(x, w)
            (h.exp() * y + h * 0.3 + x).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(scenario, runs=3)


def test_incoming_gradients_that_share_memory_differently():
    def scenario(wrap):
        def f(x, w):
            h = lucid.tanh(x @ w)
            return h, lucid.sigmoid(h) * x

        f = wrap(f)
        seen = []
        for number in range(12):
            x, w = leaves((4, 4), (4, 4))
            h, y = f(x, w)
            g = lucid.randn(4, 4)
            given = [(g, g), (g, g + 1), (g, g.T), (h.detach(), y.detach()), (g, lucid.ones(4, 1).expand(4, 4))][
                number % 5
            ]
            lucid.autograd.backward([h, y], list(given))
            seen.append([gradients([x, w]), bits(given)])
        return seen

    check_planned(scenario, runs=8)


def test_one_tensor_for_two_arguments_that_were_distinct():
    def scenario(wrap):
        f = wrap(gated)
        seen = []
        for number in range(6):
            x, w = leaves((4, 4), (4, 4))
            (f(x, x if number in (2, 4) else w) * 0.5).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(scenario, runs=2)


def test_a_leaf_written_after_the_call():
    def scenario(wrap):
        module = nn.Linear(4, 4)
        f = wrap(module)
        seen = []
        for number in range(6):
            (x,) = leaves((3, 4))
            y = f(x.T.contiguous().T).tanh()
            if number > 2:
                with lucid.no_grad():
                    module.weight.mul_(0.5)
                    x.add_(1)
            y.sum().backward()
            seen.append([gradients([x, *module.parameters()]), bits(module.weight)])
        return seen

    check_planned(scenario, runs=4)


def test_results_written_in_place():
    def scenario(wrap):
        def f(x, w):
            return lucid.tanh(x @ w) * lucid.sigmoid(x)

        f = wrap(f)
        seen = []
        for _ in range(5):
            x, w = leaves((4, 4), (4, 4))
            y = f(x, w)
            y[1:].mul_(x[1:])
            y.exp_()
            y.sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(scenario, runs=3)


@pytest.mark.parametrize("dtype", [lucid.float16, lucid.bfloat16, lucid.float64])
def test_dtypes(dtype):
    def scenario(wrap):
        def f(x, w):
            return F.layer_norm(lucid.tanh(x @ w).float() * x.float(), (6,)).to(dtype)

        f = wrap(f)
        seen = []
        for _ in range(4):
            x, w = leaves((5, 6), (6, 6), dtype=dtype)
            (f(x, w) * x).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(scenario, runs=2)


def test_random_ops():
    def scenario(wrap):
        module = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 8))
        f = wrap(module)
        seen = []
        for _ in range(5):
            f(lucid.randn(4, 8)).square().mean().backward()
            seen.append(gradients(module.parameters()))
        return seen

    check_planned(scenario, runs=3)


@pytest.mark.parametrize("needs_grad", [False, True])
def test_batches_may_be_slices_of_one_tensor(needs_grad):
    data = lucid.randn(24, 12, requires_grad=needs_grad)

    def scenario(wrap):
        model = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 5))
        call = wrap(model)
        seen = []
        for start in (0, 6, 18, 12, 0, 6):
            data.grad = None
            model.zero_grad()
            call(data[start : start + 6]).square().sum().backward()
            seen.append([gradients(model.parameters()), data.grad])
        return seen

    lucid.manual_seed(0)
    expected = bits(scenario(lambda model: model))
    lucid.manual_seed(0)
    assert bits(scenario(lucid.compile)) == expected


def test_saved_parts_of_slices_move_with_them():
    data = lucid.randn(40)
    weight = lucid.randn(4, requires_grad=True)

    def f(x):
        return (x[2:6] * weight).sum() + (x.reshape(2, 4)[1] * weight).exp().sum()

    compiled = lucid.compile(f)
    for start in (0, 8, 24, 16):
        x = data[start : start + 8]
        (expected,) = lucid.autograd.grad(f(x), weight)
        (found,) = lucid.autograd.grad(compiled(x), weight)
        assert bits(found) == bits(expected)
