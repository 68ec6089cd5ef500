"""backward() outside what is compiled runs by plans, and gives the same bits as node by node."""

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


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_training_loop_goes_backward_by_plans(name, threads, set_threads):
    make, batch, count = NETWORKS[name]

    def story(wrap):
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

    made = []

    def compiled(network):
        made.append(lucid.compile(network))
        return made[-1]

    set_threads(1)
    expected = seen_of(story, lambda network: network)
    set_threads(threads)
    assert seen_of(story, compiled) == expected
    report = made[0].explain()
    assert "backward: " in report, report
    assert "2 runs" in report, report
    assert "one by one" not in report, report


def test_sums_that_others_began_go_on_in_eagers_order():
    def story(wrap):
        f = wrap(gated)
        seen = []
        for _ in range(5):
            x, w = leaves((6, 6), (6, 6))
            before = x * 3 + w
            ((f(x, w) * x).sum() + (x * w).tanh().sum() + before.sum() * 0.1 + f(before, w).sum()).backward()
            seen.append(gradients([x, w]))
        return seen

    # Two passes through f in each backward, with different sums begun: each way is recorded once.
    check_planned(story, runs=7)


def test_modules_in_a_chain_each_run_a_plan():
    def story(wrap):
        first, second = nn.Linear(6, 6), nn.LayerNorm(6)
        f, g = wrap(first), wrap(second)
        seen = []
        for _ in range(4):
            (x,) = leaves((3, 6))
            (g(f(x).relu()) ** 2).mean().backward()
            seen.append(gradients([x, *first.parameters(), *second.parameters()]))
        return seen

    check_planned(story, runs=4)


def test_a_module_that_is_used_twice_in_a_loss():
    def story(wrap):
        module = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
        f = wrap(module)
        seen = []
        for _ in range(4):
            (x,) = leaves((3, 6))
            (f(f(x)) * f(x * 2)).sum().backward()
            seen.append(gradients([x, *module.parameters()]))
            module.zero_grad()
        return seen

    # With no sum begun, with those of the parameters, and with that of x too: each way is recorded once.
    check_planned(story, runs=8, least_hits=11)


def test_gradients_accumulate_over_passes():
    def story(wrap):
        module = nn.Sequential(nn.Linear(6, 6), nn.GELU(), nn.Linear(6, 2))
        f = wrap(module)
        seen = []
        for _ in range(6):
            f(lucid.randn(3, 6)).square().sum().backward()
            seen.append(gradients(module.parameters()))
        return seen

    check_planned(story, runs=4)


def test_a_graph_that_is_retained_serves_twice_and_then_fails_as_ever():
    def story(wrap):
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

    check_planned(story, runs=5)


def test_outputs_one_after_the_other_fail_where_they_share_what_was_freed():
    def story(wrap):
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

    check_planned(story, runs=2)


def test_a_graph_of_gradients_is_made_by_nodes():
    def story(wrap):
        f = wrap(gated)
        seen = []
        for _ in range(4):
            x, w = leaves((4, 4), (4, 4))
            first = lucid.autograd.grad(f(x, w).sum(), [x, w], create_graph=True)
            sum((g * g).sum() for g in first).backward()
            seen.append([[bits(g) for g in first], gradients([x, w])])
        return seen

    # The second pass comes through the call's nodes again, and creates no graph.
    check_planned(story, runs=2)


def test_hooks_that_come_later_see_every_gradient():
    def story(wrap):
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

    # Leaves that were made for the call stand between the nodes, and those here are watched.
    check_planned(story, runs=0)


def test_a_hook_on_a_parameter_does_not_hinder():
    def story(wrap):
        module = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
        f = wrap(module)
        seen = []
        module[0].weight.register_hook(lambda g: seen.append(bits(g)))
        module[2].bias.register_post_accumulate_grad_hook(lambda p: seen.append(bits(p.grad)))
        for _ in range(4):
            f(lucid.randn(3, 4)).sum().backward()
            seen.append(gradients(module.parameters()))
        return seen

    check_planned(story, runs=2)


def test_only_some_gradients_are_asked_for():
    def story(wrap):
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

    # Three ways of asking for some, by two ways of calling, each recorded once; the first call is no copy.
    check_planned(story, runs=11, least_hits=17)


def test_the_gradient_of_a_result_itself():
    def story(wrap):
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

    check_planned(story, runs=0)


def test_results_that_are_not_used_and_arguments_that_want_nothing():
    def story(wrap):
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

    check_planned(story, runs=2, least_hits=6)


def test_results_that_are_also_used_inside():
    def story(wrap):
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

    check_planned(story, runs=3)


def test_gradients_that_are_given_share_memory_in_other_ways():
    def story(wrap):
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

    check_planned(story, runs=8)


def test_one_tensor_for_two_arguments_that_were_two():
    def story(wrap):
        f = wrap(gated)
        seen = []
        for number in range(6):
            x, w = leaves((4, 4), (4, 4))
            (f(x, x if number in (2, 4) else w) * 0.5).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(story, runs=2)


def test_a_leaf_that_was_written_after_the_call():
    def story(wrap):
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

    check_planned(story, runs=4)


def test_results_that_are_written_in_place():
    def story(wrap):
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

    check_planned(story, runs=3)


@pytest.mark.parametrize("dtype", [lucid.float16, lucid.bfloat16, lucid.float64])
def test_dtypes(dtype):
    def story(wrap):
        def f(x, w):
            return F.layer_norm(lucid.tanh(x @ w).float() * x.float(), (6,)).to(dtype)

        f = wrap(f)
        seen = []
        for _ in range(4):
            x, w = leaves((5, 6), (6, 6), dtype=dtype)
            (f(x, w) * x).sum().backward()
            seen.append(gradients([x, w]))
        return seen

    check_planned(story, runs=2)


def test_random_draws():
    def story(wrap):
        module = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 8))
        f = wrap(module)
        seen = []
        for _ in range(5):
            f(lucid.randn(4, 8)).square().mean().backward()
            seen.append(gradients(module.parameters()))
        return seen

    check_planned(story, runs=3)
