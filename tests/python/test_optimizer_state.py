"""State that does not fit the parameters: loaded from another model, or replaced."""

import lucid
import pytest
from lucid import nn, optim

OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Adagrad": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adadelta": {},
    "Rprop": {},
    "ASGD": {},
    "Lion": {},
    "Muon": {},
}
NUMBERS = ("step", "eta", "mu", "mu_product")
UNFIT = {
    "0-d": lambda: lucid.tensor(0.5),
    "one": lambda: lucid.ones(1),
    "row": lambda: lucid.ones(4),
    "column": lambda: lucid.ones(3, 1),
    "wider": lambda: lucid.ones(5, 3, 4),
    "longer": lambda: lucid.ones(6, 4),
    "flat": lambda: lucid.ones(12),
    "empty": lambda: lucid.zeros(0, 3, 4),
}


def stepped(name, compiled):
    """An optimizer that has taken some steps, its parameter and a function that takes another."""
    p = nn.Parameter(lucid.arange(12.0).reshape(3, 4) / 7)
    optimizer = getattr(optim, name)([p], **OPTIMIZERS[name])

    def step():
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()

    call = lucid.compile(step, wait=True) if compiled else step
    for _ in range(3):
        call()
    return optimizer, p, call


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state_of_another_shape_is_refused(name, compiled):
    for loads in (False, True):
        optimizer, p, call = stepped(name, compiled)
        for key in list(optimizer.state[p]):
            kept = optimizer.state[p][key]
            for label, make in UNFIT.items():
                if key in NUMBERS and label == "0-d":
                    continue
                before = p.detach().clone()
                if loads:
                    state = optimizer.state_dict()
                    state["state"][0][key] = make()
                    optimizer.load_state_dict(state)
                else:
                    optimizer.state[p][key] = make()
                shape = list(make().shape)
                with pytest.raises(ValueError, match=f"{name}: parameter 0 .* its {key} must have shape") as error:
                    call()
                assert str(shape).replace(" ", "") in str(error.value).replace(" ", "")
                assert lucid.equal(p, before)
            optimizer.state[p][key] = kept
        call()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state_whose_elements_share_memory_is_refused(name, compiled):
    optimizer, p, call = stepped(name, compiled)
    for key in [key for key in optimizer.state[p] if key not in NUMBERS]:
        kept = optimizer.state[p][key]
        for shared in (lucid.ones(1).expand(3, 4), lucid.ones(1, 4).expand(3, 4)):
            optimizer.state[p][key] = shared
            with pytest.raises(ValueError, match=f"{name}: parameter 0 .*{key}.* share one memory location"):
                call()
        optimizer.state[p][key] = kept
    call()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_gradient_that_no_longer_fits_its_parameter(name):
    optimizer, p, _ = stepped(name, False)
    p.grad = lucid.ones(3, 4)
    p.data = lucid.ones(1, 4)
    with pytest.raises(ValueError, match=f"{name}: parameter 0"):
        optimizer.step()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_learning_rate_is_one_number(name, compiled):
    optimizer, p, call = stepped(name, compiled)
    if name == "Rprop":  # its rate is that of the first step only
        return
    group = optimizer.param_groups[0]
    for rate in (lucid.ones(4), lucid.ones(3, 4), lucid.zeros(0)):
        group["lr"] = rate
        with pytest.raises(ValueError, match=f"{name}: parameter 0 .* its option lr must be a number, got f32"):
            call()
    group["lr"] = 0.01
    before = p.detach().clone()
    call()
    by_number = p.detach().clone()
    with lucid.no_grad():
        p.copy_(before)
    optimizer, p, call = stepped(name, compiled)
    optimizer.param_groups[0]["lr"] = lucid.tensor([0.01])
    call()
    assert p.shape == by_number.shape


def test_state_with_the_momentum_of_a_wider_model():
    wide = nn.Parameter(lucid.ones(5, 3))
    wide.grad = lucid.ones(5, 3)
    first = optim.SGD([wide], lr=0.1, momentum=0.9)
    first.step()
    p = nn.Parameter(lucid.ones(3))
    p.grad = lucid.ones(3)
    second = optim.SGD([p], lr=0.1, momentum=0.9)
    second.load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match=r"its momentum_buffer must have shape \[3\], got f32\[5,3\]"):
        second.step()
    assert p.tolist() == [1, 1, 1]
    second.state[p]["momentum_buffer"] = lucid.ones(3)
    second.step()


# LBFGS.


def lbfgs(**options):
    p = nn.Parameter(lucid.ones(3))
    optimizer = optim.LBFGS([p], **{"max_iter": 4, **options})

    def closure():
        optimizer.zero_grad()
        loss = ((p - 2) ** 4).sum()
        loss.backward()
        return loss

    return optimizer, p, closure


@pytest.mark.parametrize("size", [0, -1, 2**70, None, "x"])
def test_lbfgs_needs_a_history(size):
    with pytest.raises((ValueError, TypeError, OverflowError), match=r"history_size|int|2\^63"):
        lbfgs(history_size=size)
    optimizer, _, closure = lbfgs()
    optimizer.step(closure)
    if size != 2**70:
        optimizer.param_groups[0]["history_size"] = size
        with pytest.raises((ValueError, TypeError), match="history_size"):
            optimizer.step(closure)


def test_lbfgs_with_a_shorter_history_than_that_of_its_state():
    optimizer, _, closure = lbfgs(history_size=3)
    for _ in range(3):
        optimizer.step(closure)
    optimizer.param_groups[0]["history_size"] = 1
    optimizer.step(closure)
    assert optimizer.state_dict()["state"][0]["n_iter"] > 3


def test_lbfgs_without_parameters():
    optimizer = optim.LBFGS([{"params": []}])
    with pytest.raises(ValueError, match="LBFGS: the parameter group is empty"):
        optimizer.step(lambda: lucid.tensor(1.0))


@pytest.mark.parametrize("key", ["old_dirs", "old_stps", "ro"])
def test_lbfgs_whose_lists_have_different_lengths(key):
    for items in ([], None):
        optimizer, _, closure = lbfgs()
        optimizer.step(closure)
        state = optimizer.state_dict()
        kept = state["state"][0][key]
        state["state"][0][key] = kept * 2 if items is None else items
        optimizer.load_state_dict(state)
        with pytest.raises(ValueError, match="must have the same length"):
            optimizer.step(closure)


@pytest.mark.parametrize("key", ["d", "prev_flat_grad", "old_dirs", "old_stps"])
def test_lbfgs_whose_vectors_are_those_of_another_model(key):
    for other in (lucid.ones(12), lucid.ones(1), lucid.tensor(1.0), lucid.ones(1, 3)):
        optimizer, _, closure = lbfgs()
        optimizer.step(closure)
        entry = optimizer.state_dict()["state"][0][key]
        state = optimizer.state_dict()
        state["state"][0][key] = [other] * len(entry) if isinstance(entry, list) else other
        optimizer.load_state_dict(state)
        with pytest.raises(ValueError, match=rf"LBFGS: {key} of the state must have shape \[3\]"):
            optimizer.step(closure)


def test_lbfgs_continues_without_a_direction():
    optimizer, p, closure = lbfgs()
    optimizer.step(closure)
    del optimizer.state[p]["d"]
    optimizer.step(closure)
    assert optimizer.state[p]["n_iter"] > 0


@pytest.mark.parametrize("change", ["clear", "load", "empty"])
def test_lbfgs_whose_closure_changes_its_state(change):
    optimizer, p, closure = lbfgs()
    optimizer.step(closure)

    def changing():
        if change == "clear":
            optimizer.state.clear()
        elif change == "load":
            optimizer.load_state_dict(optimizer.state_dict())
        else:
            for key in list(optimizer.state[p]):
                del optimizer.state[p][key]
        return closure()

    for _ in range(10):
        optimizer.step(changing)


class Clears:
    """Changes the optimizer when it is destroyed."""

    def __init__(self, act):
        self.act = act

    def __del__(self):
        self.act()


def test_values_that_change_the_optimizer_when_they_are_destroyed():
    p = nn.Parameter(lucid.ones(3))
    p.grad = lucid.ones(3)
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9)
    optimizer.step()
    state, group = optimizer.state[p], optimizer.param_groups[0]

    def fill():
        for i in range(100):
            state[f"entry {i}"] = i
            group[f"option {i}"] = i

    for act in (optimizer.state.clear, fill):
        state["x"] = Clears(act)
        state["x"] = 1
        state["x"] = Clears(act)
        del state["x"]
        group["x"] = Clears(act)
        group["x"] = 1
        group["x"] = Clears(act)
        del group["x"]
        state["x"] = Clears(act)
        optimizer.load_state_dict(optimizer.state_dict())
        optimizer.state[p]["x"] = Clears(act)
        optimizer.state.clear()
        state, group = optimizer.state[p], optimizer.param_groups[0]
    optimizer.step()
