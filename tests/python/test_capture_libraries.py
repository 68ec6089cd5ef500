"""Guards of tensors, modules and optimizers."""

import lucid
import pytest
from capture_record import Box, X, expect_change, expect_no_change, guards_of, record
from lucid import nn

# Tensors, modules and optimizers.


def test_tensors_are_found_with_their_paths(monkeypatch):
    weights = [lucid.ones(3)]
    box = Box(w=lucid.zeros(3))
    monkeypatch.setitem(globals(), "W", lucid.ones(3))

    def function(x):
        return x * weights[0] + box.w + W  # noqa: F821

    outcome = record(function, X)
    places = {place for _, place in outcome.tensors.values()}
    assert {"closure weights[0]", "closure box.w", "global W", "the state of the default generator"} == places
    expect_no_change(outcome.guards, lambda: weights[0].add_(1))
    expect_change(outcome.guards, lambda: weights.__setitem__(0, lucid.ones(3)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(3)
        self.layers = nn.ModuleList([nn.ReLU(), nn.Linear(3, 3)])
        self.scale = 2.0

    def forward(self, x):
        x = self.norm(self.drop(self.fc(x)))
        for layer in self.layers:
            x = layer(x)
        return x * self.scale


def test_properties_of_a_tensor_are_guarded_without_its_values():
    weight = lucid.ones(3, requires_grad=True)
    other = lucid.ones(3)
    guards = guards_of(lambda x: x * len(weight) if weight.grad is None else x, X)
    expect_no_change(guards, lambda: weight.data.add_(1))
    expect_change(guards, lambda: setattr(weight, "grad", other), lambda: setattr(weight, "grad", None))
    expect_change(guards, lambda: weight.requires_grad_(False), weight.requires_grad_)
    words = expect_change(guards, lambda: setattr(weight, "data", lucid.ones(5)))
    assert words.startswith("closure weight.shape: was f32[3], is f32[5]")


def test_grad_is_guarded_only_if_the_code_names_it():
    weight = lucid.ones(3, requires_grad=True)
    guards = guards_of(lambda x: x * weight, X)
    expect_no_change(guards, lambda: setattr(weight, "grad", lucid.ones(3)))


def test_a_module():
    net = Net()
    x = lucid.ones(2, 3)
    outcome = record(net, x)
    guards = outcome.guards
    assert guards is not None, outcome.reason
    places = {place for _, place in outcome.tensors.values()}
    assert {"self.fc.weight", "self.layers[1].bias", "self.norm.running_mean"} <= places
    args = (x,)

    def expect(change, undo):
        return expect_change(guards, change, undo, args)

    expect_no_change(guards, lambda: setattr(net, "unrelated", 1), args)
    expect_no_change(guards, lambda: net.fc.weight.data.add_(1), args)
    assert expect(net.eval, net.train).startswith("self.")
    expect(net.drop.eval, net.drop.train)
    expect(lambda: setattr(net, "scale", 3.0), lambda: setattr(net, "scale", 2.0))
    expect(lambda: setattr(net.drop, "p", 0.1), lambda: setattr(net.drop, "p", 0.5))
    expect(lambda: net.__dict__.update(scale=3.0), lambda: net.__dict__.update(scale=2.0))
    weight, linear = net.fc.weight, net.fc
    expect(lambda: setattr(net.fc, "weight", nn.Parameter(weight.detach())), lambda: setattr(net.fc, "weight", weight))
    expect(lambda: setattr(net, "fc", nn.Linear(3, 3)), lambda: setattr(net, "fc", linear))
    expect(lambda: net.layers.append(nn.ReLU()), lambda: net.layers.pop())
    expect(lambda: setattr(net.fc, "forward", lambda x: x), lambda: delattr(net.fc, "forward"))
    buffer = net.norm.running_mean
    expect(lambda: setattr(net.norm, "running_mean", lucid.zeros(3)), lambda: setattr(net.norm, "running_mean", buffer))


def test_hooks_of_modules():
    factor = 2.0
    net = nn.Linear(3, 3)

    def scale(module, args, output):
        return output * factor

    def set_factor(value):
        nonlocal factor
        factor = value

    guards = guards_of(net, X)
    handles = []
    expect_change(guards, lambda: handles.append(net.register_forward_hook(scale)), lambda: handles.pop().remove())
    handle = net.register_forward_hook(scale)
    guards = guards_of(net, X)
    expect_change(guards, lambda: set_factor(3.0), lambda: set_factor(2.0))
    expect_change(guards, handle.remove)


def test_global_module_hooks_are_guarded():
    net = nn.Linear(3, 3)
    guards = guards_of(net, X)
    handle = nn.register_module_forward_hook(lambda *_: None)
    assert not guards.check((X,))
    handle.remove()


def test_all_attributes_of_lucid_layers_are_guarded():
    net = nn.Sequential(nn.Linear(3, 3))
    guards = guards_of(lambda x: net(x), X)
    expect_change(guards, lambda: setattr(net[0], "anything", 1), lambda: delattr(net[0], "anything"))


def test_patched_lucid_classes(monkeypatch):
    net = nn.Linear(3, 3)
    guards = guards_of(lambda x: net(x), X)
    expect_change(guards, lambda: monkeypatch.setattr(nn.Linear, "forward", lambda self, x: x), monkeypatch.undo)


@pytest.mark.parametrize("kind", [lucid.optim.SGD, lucid.optim.Adam, lucid.optim.AdamW])
def test_an_optimizer(kind):
    net = nn.Linear(3, 2)
    optimizer = kind(net.parameters(), 0.1, weight_decay=0.5)

    def step(x):
        loss = net(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    outcome = record(step, X)
    guards = outcome.guards
    assert guards is not None, outcome.reason
    group = optimizer.param_groups[0]
    places = {place for _, place in outcome.tensors.values()}
    assert {"closure optimizer.param_groups[0]['lr']", "closure net.weight", "closure net.bias"} <= places
    # The numbers are in tensors. The ops of a step depend only on which of them are zero.
    expect_no_change(guards, lambda: group.update(lr=0.5, weight_decay=0.25))
    expect_change(guards, lambda: group.update(weight_decay=0.0), lambda: group.update(weight_decay=0.1))
    expect_no_change(guards, lambda: step(X))
    words = expect_change(guards, lambda: group.update(maximize=True), lambda: group.update(maximize=False))
    assert words.startswith("closure optimizer.param_groups[0]['maximize']")
    handles = []
    expect_change(
        guards,
        lambda: handles.append(optimizer.register_step_post_hook(lambda *_: None)),
        lambda: handles.pop().remove(),
    )
    expect_change(guards, lambda: optimizer.add_param_group({"params": [lucid.ones(1, requires_grad=True)]}))


def test_the_state_of_an_optimizer_is_replaced():
    net = nn.Linear(3, 2)
    optimizer = lucid.optim.Adam(net.parameters(), 0.1)

    def step(x):
        net(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    guards = guards_of(step, X)
    average = optimizer.state[net.weight]["exp_avg"]

    def set_average(value):
        optimizer.state[net.weight]["exp_avg"] = value

    expect_change(guards, lambda: set_average(average.clone()), lambda: set_average(average))
    expect_change(guards, lambda: optimizer.load_state_dict(optimizer.state_dict()))


def test_a_schedule_between_calls_changes_nothing_and_inside_is_repeated():
    weight = lucid.ones(3, requires_grad=True)
    optimizer = lucid.optim.SGD([weight], 0.1)
    schedule = lucid.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    def step(x):
        (weight * x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    guards = guards_of(step, X)
    expect_no_change(guards, schedule.step)

    @lucid.compile(wait=True)
    def whole(x):
        step(x)
        schedule.step()

    rate = optimizer.param_groups[0]["lr"]
    for _ in range(4):
        whole(X)
    assert whole.cache_info().hits == 3
    assert optimizer.param_groups[0]["lr"] == rate * 0.5**4
