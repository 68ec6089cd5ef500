"""Compiled matches eager bit for bit: whole training steps. Numbers refer to docs/failures.md."""

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import pytest
from same import bits, check
from worlds import calls, numbered, parts_of

OPTIMIZERS = {
    "SGD": lambda params: lucid.optim.SGD(params, lr=0.1),
    "momentum": lambda params: lucid.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01),
    "Nesterov": lambda params: lucid.optim.SGD(params, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda params: lucid.optim.Adam(params, lr=0.01),
    "AdamW": lambda params: lucid.optim.AdamW(params, lr=0.01, amsgrad=True),
    "RMSprop": lambda params: lucid.optim.RMSprop(params, lr=0.01),
    "Adagrad": lambda params: lucid.optim.Adagrad(params, lr=0.01),
    "Adadelta": lambda params: lucid.optim.Adadelta(params),
    "Adamax": lambda params: lucid.optim.Adamax(params, lr=0.01),
    "NAdam": lambda params: lucid.optim.NAdam(params, lr=0.01),
    "RAdam": lambda params: lucid.optim.RAdam(params, lr=0.01),
    "Rprop": lambda params: lucid.optim.Rprop(params, lr=0.01),
    "Lion": lambda params: lucid.optim.Lion(params, lr=0.01),
}


def step_world(make_optimizer, change=None):
    """A whole training step. `change(optimizer, number)` runs before each."""

    def world():
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))
        optimizer = make_optimizer(net.parameters())

        def step(x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            return loss.detach(), norm

        def make():
            generator = lucid.Generator().manual_seed(1)
            for number in range(8):
                if change is not None:
                    change(optimizer, number)
                yield lucid.randn(6, 4, generator=generator), lucid.randint(0, 3, (6,), generator=generator)

        return step, make, parts_of(net)

    return world


def falling_rate(optimizer, number):
    optimizer.param_groups[0]["lr"] = 0.01 / (1 + number)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_35_38_a_training_step(name):
    check(step_world(OPTIMIZERS[name], falling_rate), min_hits=5, compiles=1)


def test_38_an_optimizer_that_reads_its_state():
    check(step_world(lambda params: lucid.optim.ASGD(params, lr=0.01)), min_hits=5, compiles=1)


@pytest.mark.parametrize("setting", ["lr", "weight_decay", "momentum"])
def test_38_settings_that_change_at_each_step(setting):
    def change(optimizer, number):
        optimizer.param_groups[0][setting] = 0.1 / (2 + number)

    check(step_world(OPTIMIZERS["momentum"], change), min_hits=5, compiles=1)


SCHEDULES = {
    "38 StepLR": lambda optimizer: lucid.optim.lr_scheduler.StepLR(optimizer, 2),
    "38 CosineAnnealingLR": lambda optimizer: lucid.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8),
    "38 OneCycleLR": lambda optimizer: lucid.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20),
    "38 LambdaLR": lambda optimizer: lucid.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.9**step),
}


@numbered(SCHEDULES)
def test_schedules(case):
    schedulers = {}

    def change(optimizer, number):
        if number == 0:
            schedulers.clear()
            schedulers[0] = case(optimizer)
        else:
            schedulers[0].step()

    check(step_world(OPTIMIZERS["Adam"], change), min_hits=5, compiles=1)


def test_38_a_number_that_becomes_zero_is_detected():
    def change(optimizer, number):
        optimizer.param_groups[0]["weight_decay"] = 0.0 if 3 <= number < 6 else 0.1

    check(step_world(OPTIMIZERS["momentum"], change), min_hits=4)


def test_38_loss_scaling():
    def world():
        net = nn.Linear(4, 3)
        optimizer = lucid.optim.SGD(net.parameters(), lr=0.1)
        scale = lucid.tensor(1024.0)

        def step(x):
            optimizer.zero_grad()
            (net(x).square().mean() * scale).backward()
            with lucid.no_grad():
                for parameter in net.parameters():
                    parameter.grad.div_(scale)
            optimizer.step()

        def change(number):
            scale.mul_(0.5 if number % 2 else 2.0)

        return step, calls((5, 4), count=8, before=change), lambda: [*net.parameters(), scale]

    check(world, min_hits=6, compiles=1)


@pytest.mark.parametrize("how", ["norm", "value"])
def test_38_clipping(how):
    def world():
        net = nn.Linear(4, 3)
        optimizer = lucid.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            net(x).square().sum().backward()
            if how == "norm":
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            else:
                nn.utils.clip_grad_value_(net.parameters(), 0.1)
            optimizer.step()

        return step, calls((5, 4), count=7), parts_of(net)

    check(world, min_hits=5, compiles=1)


def test_35_training_outside_and_inside_are_the_same():
    def train(whole, compile):
        lucid.manual_seed(7)
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        optimizer = lucid.optim.Adam(net.parameters(), lr=0.01)
        forward = net if whole else compile(net)

        def step(x):
            optimizer.zero_grad()
            loss = forward(x).square().mean()
            loss.backward()
            optimizer.step()

        step = compile(step) if whole else step
        for (x,) in calls((5, 4), count=6)():
            step(x)
        return bits(list(net.parameters()))

    results = [train(whole, compile) for whole in (True, False) for compile in (lucid.compile, lambda f: f)]
    assert results[1:] == results[:-1]
