"""Optimizers in Python: groups, state, hooks, copies, custom classes."""

import copy
import functools
import gc
import pickle
import weakref

import lucid
import pytest
from lucid import optim


def leaf(*values):
    return lucid.tensor(values, dtype=lucid.float64, requires_grad=True)


def take_steps(optimizer, params, count):
    for step in range(count):
        optimizer.zero_grad()
        loss = sum(((p - step) ** 2).sum() for p in params)
        loss.backward()
        optimizer.step()
    return loss.item()


def test_options_read_and_assign_as_plain_values():
    w = leaf(1.0)
    optimizer = optim.Adam([w], lr=1)
    group = optimizer.param_groups[0]
    assert group["lr"] == 1.0
    assert type(group["lr"]) is float
    assert group["betas"] == (0.9, 0.999)
    assert group["params"][0] is w
    group["lr"] = 0.25
    group["betas"] = (0.5, 0.6)
    assert optimizer.param_groups[0]["lr"] == 0.25
    assert optimizer.param_groups[0]["betas"] == (0.5, 0.6)
    assert list(group)[:2] == ["params", "lr"]
    assert "lr" in group
    assert "nothing" not in group
    assert group.get("nothing", 3) == 3
    assert dict(group)["eps"] == 1e-8
    group["note"] = "mine"
    assert group.pop("note") == "mine"
    with pytest.raises(KeyError):
        group["note"]


def test_an_assigned_rate_is_used():
    w = leaf(0.0)
    optimizer = optim.SGD([w], lr=1.0)
    w.sum().backward()
    optimizer.param_groups[0]["lr"] = 0.5
    optimizer.step()
    assert w.item() == -0.5


def test_a_rate_may_be_a_tensor():
    w = leaf(0.0)
    rate = lucid.tensor(0.5)
    optimizer = optim.SGD([w], lr=rate)
    w.sum().backward()
    optimizer.step()
    assert w.item() == -0.5
    rate.fill_(0.25)
    optimizer.step()
    assert w.item() == -0.75
    assert optimizer.param_groups[0]["lr"] is rate


def test_groups_have_options_of_their_own():
    a, b = leaf(0.0), leaf(0.0)
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 2}], lr=1.0)
    (a + b).sum().backward()
    optimizer.step()
    assert (a.item(), b.item()) == (-1.0, -2.0)
    c = leaf(0.0)
    optimizer.add_param_group({"params": [c], "lr": 3.0})
    assert len(optimizer.param_groups) == 3
    c.sum().backward()
    optimizer.step()
    assert c.item() == -3.0


def test_named_parameters_keep_their_names():
    a, b = leaf(0.0), leaf(0.0)
    optimizer = optim.SGD([("first", a), ("second", b)], lr=1.0)
    assert optimizer.param_groups[0]["param_names"] == ["first", "second"]
    assert optimizer.param_groups[0]["params"] == [a, b]


def test_parameters_without_gradient_are_skipped():
    a, b = leaf(1.0), leaf(1.0)
    optimizer = optim.Adam([a, b])
    a.sum().backward()
    optimizer.step()
    assert b.item() == 1.0
    assert b not in optimizer.state
    assert set(optimizer.state[a]) == {"step", "exp_avg", "exp_avg_sq"}
    assert optimizer.state[a]["step"].item() == 1.0


def test_zero_grad():
    a = leaf(1.0)
    optimizer = optim.SGD([a])
    a.sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.item() == 0.0
    optimizer.zero_grad()
    assert a.grad is None


def test_a_closure_is_recorded_and_its_loss_returned():
    w = leaf(3.0)
    optimizer = optim.SGD([w], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with lucid.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert w.item() == 0.0


def test_errors_in_a_closure_are_raised():
    optimizer = optim.SGD([leaf(1.0)])
    with pytest.raises(ZeroDivisionError):
        optimizer.step(lambda: 1 / 0)


def test_state_dict_has_the_usual_layout():
    w = leaf(1.0, 2.0)
    optimizer = optim.Adam([w], lr=0.1)
    take_steps(optimizer, [w], 2)
    saved = optimizer.state_dict()
    assert list(saved) == ["state", "param_groups"]
    assert list(saved["state"]) == [0]
    assert saved["param_groups"][0]["params"] == [0]
    assert saved["param_groups"][0]["lr"] == 0.1
    assert saved["state"][0]["step"].dtype == lucid.float32


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_a_loaded_state_continues_where_it_stopped(kind):
    options = {"momentum": 0.9} if kind == "SGD" else {}
    w = leaf(1.0, 2.0)
    optimizer = getattr(optim, kind)([w], lr=0.1, **options)
    take_steps(optimizer, [w], 3)
    saved = copy.deepcopy(optimizer.state_dict())
    other = w.detach().clone().requires_grad_()
    resumed = getattr(optim, kind)([other], lr=5.0)
    resumed.load_state_dict(saved)
    for tensor, chosen in ((w, optimizer), (other, resumed)):
        take_steps(chosen, [tensor], 3)
    assert w.tolist() == other.tolist()
    # The loaded state is a copy.
    assert saved["param_groups"][0]["lr"] == 0.1
    assert optimizer.state_dict()["state"].keys() == saved["state"].keys()


def test_state_follows_the_dtype_of_the_parameter():
    w = leaf(1.0)
    optimizer = optim.Adam([w])
    take_steps(optimizer, [w], 1)
    half = w.detach().to(lucid.float32).requires_grad_()
    other = optim.Adam([half])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[half]["exp_avg"].dtype == lucid.float32
    assert other.state[half]["step"].dtype == lucid.float32


def test_hooks_run_around_each_step_until_removed():
    w = leaf(1.0)
    optimizer = optim.SGD([w])
    seen = []
    before = optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append(("before", opt is optimizer)))
    with optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append(("after", args))):
        optimizer.step()
    before.remove()
    optimizer.step()
    assert seen == [("before", True), ("after", (None,))]


class Halving(optim.Optimizer):
    """Halves its parameters and counts its steps."""

    def __init__(self, params, factor=0.5):
        super().__init__(params, {"factor": factor, "tags": ["a"]})

    @lucid.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["count"] = state.get("count", 0) + 1
                p *= group["factor"]


def test_a_custom_optimizer():
    w = leaf(8.0)
    optimizer = Halving([w])
    calls = []
    optimizer.register_step_post_hook(lambda *arguments: calls.append(1))
    optimizer.step()
    optimizer.step()
    assert w.item() == 2.0
    assert calls == [1, 1]
    assert optimizer.state[w]["count"] == 2
    assert optimizer.state_dict()["state"][0] == {"count": 2}
    assert optimizer.param_groups[0]["tags"] == ["a"]


def test_the_base_class_cannot_step():
    optimizer = optim.Optimizer([leaf(1.0)], {"lr": 1.0})
    with pytest.raises(NotImplementedError):
        optimizer.step()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_independent(duplicate):
    w = leaf(1.0, 2.0)
    optimizer = optim.Adam([{"params": [w], "lr": 0.3}], weight_decay=0.1)
    take_steps(optimizer, [w], 2)
    twin = duplicate({"w": w, "optimizer": optimizer})
    assert twin["optimizer"].param_groups[0]["params"][0] is twin["w"]
    assert twin["w"] is not w
    for each in (twin, {"w": w, "optimizer": optimizer}):
        take_steps(each["optimizer"], [each["w"]], 3)
    assert twin["w"].tolist() == w.tolist()
    assert twin["optimizer"].state[twin["w"]]["exp_avg"] is not optimizer.state[w]["exp_avg"]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("name", [name for name in optim.__all__ if name not in ("Optimizer", "lr_scheduler")])
def test_every_optimizer_is_copied_with_its_state(name, duplicate):
    w = lucid.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=lucid.float64, requires_grad=True)
    # With more iterations per step, LBFGS would converge in the first step.
    optimizer = getattr(optim, name)([w], **({"max_iter": 2} if name == "LBFGS" else {}))

    def go_on(optimizer, w):
        def closure():
            optimizer.zero_grad()
            loss = ((w - lucid.tensor([0.5, 4.0])) ** 4).sum()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        return w.tolist()

    first = go_on(optimizer, w)
    twin, twin_w = duplicate((optimizer, w))
    assert twin_w.tolist() == first
    assert go_on(twin, twin_w) == go_on(optimizer, w) != first


def test_a_cycle_through_a_hook_is_collected():
    optimizer = optim.SGD([leaf(1.0)])
    optimizer.register_step_post_hook(functools.partial(print, optimizer))
    alive = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert alive() is None


def test_repr_of_optimizers():
    text = repr(optim.SGD([leaf(1.0)], lr=0.5))
    assert text.startswith("SGD (\nParameter Group 0\n")
    assert "    lr: 0.5" in text


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda w: optim.SGD([]), ValueError, "empty"),
        (lambda w: optim.SGD(w), TypeError, "iterable"),
        (lambda w: optim.SGD([1.0]), TypeError, "float"),
        (lambda w: optim.SGD({"params": [w]}), TypeError, "list of dicts"),
        (lambda w: optim.SGD([{"params": {w}}]), TypeError, "order"),
        (lambda w: optim.SGD([w, w]), ValueError, "more than once"),
        (lambda w: optim.SGD([w * 2]), ValueError, "leaf"),
        (lambda w: optim.SGD([w], lr=-1), ValueError, "SGD: lr must be at least 0, got -1"),
        (lambda w: optim.SGD([w], nesterov=True), ValueError, "nesterov"),
        (lambda w: optim.Adam([w], betas=(1.0, 0.9)), ValueError, "betas"),
        (lambda w: optim.Adam([w], eps="x"), TypeError, "eps"),
        (lambda w: optim.Adam([w]).load_state_dict({}), ValueError, "param_groups"),
        (lambda w: optim.Adam([w]).load_state_dict({"state": {}, "param_groups": []}), ValueError, "groups"),
    ],
)
def test_invalid_arguments_are_reported(make, error, message):
    with pytest.raises(error, match=message):
        make(leaf(1.0))


def test_steps_do_not_grow_memory():
    w = lucid.ones(1000, requires_grad=True)
    optimizer = optim.Adam([w])
    w.sum().backward()
    optimizer.step()
    before = lucid.memory_stats()["bytes_in_use"]
    for _ in range(50):
        optimizer.step()
    assert lucid.memory_stats()["bytes_in_use"] == before
