"""Schedules of learning rates that a compiled step advances: plans repeat it."""

import lucid
import pytest
from lucid import nn, optim
from lucid.optim import lr_scheduler
from same import check

SCHEDULES = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [2, 5]),
    "ConstantLR": lambda o: lr_scheduler.ConstantLR(o, total_iters=4),
    "LinearLR": lr_scheduler.LinearLR,
    "ExponentialLR": lambda o: lr_scheduler.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda o: lr_scheduler.PolynomialLR(o, 20),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 9),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, 2),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 3),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 0.1, 40),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o), lr_scheduler.ExponentialLR(o, 0.9)], [4]
    ),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.LinearLR(o), lr_scheduler.ExponentialLR(o, 0.9)]
    ),
}


class Trainer:
    """A step, what it does before and after the schedule, and its state."""

    def __init__(self, make, before=None, after=None, result=None, calls=12):
        self.make, self.before, self.after, self.result, self.calls = make, before, after, result, calls

    def __call__(self):
        model = nn.Linear(3, 2)
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        scheduler = self.make(optimizer)
        losses = []

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            if self.before:
                self.before(optimizer, scheduler)
            optimizer.step()
            scheduler.step()
            if self.after:
                self.after(optimizer, scheduler)
            losses.append(loss.item())
            return loss.detach() if self.result is None else self.result(optimizer, scheduler)

        def state():
            rates = [group["lr"] for group in optimizer.param_groups]
            return [*model.parameters(), rates, scheduler.state_dict(), losses]

        return step, [(lucid.ones(2, 3) * (1 + i % 3),) for i in range(self.calls)], state


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_step_advances_its_schedule(name):
    check(Trainer(SCHEDULES[name]), min_hits=8)


def test_writes_after_the_schedule():
    def after(optimizer, scheduler):
        for parameter in optimizer.param_groups[0]["params"]:
            with lucid.no_grad():
                parameter.mul_(0.99)

    check(Trainer(SCHEDULES["StepLR"], after=after), min_hits=8)


def set_rate(optimizer, scheduler):
    optimizer.param_groups[0]["lr"] = 0.25


RATES_USED_AFTERWARDS = {
    "another step of the optimizer": {"after": lambda optimizer, scheduler: optimizer.step()},
    "a rate that is set": {"after": set_rate},
    "a rate that is returned": {"result": lambda optimizer, scheduler: optimizer.param_groups[0]["lr"]},
    "the rates of the schedule": {"result": lambda optimizer, scheduler: scheduler.get_last_lr()},
    "another step of the schedule": {"after": lambda optimizer, scheduler: scheduler.step()},
    "the state of the optimizer": {"result": lambda optimizer, scheduler: optimizer.state_dict()["param_groups"]},
}


@pytest.mark.parametrize("name", RATES_USED_AFTERWARDS)
def test_rates_that_are_used_after_the_schedule(name):
    check(Trainer(SCHEDULES["StepLR"], **RATES_USED_AFTERWARDS[name]), fallback="runs eagerly", min_hits=0)


def test_a_rate_that_is_set_before_the_schedule():
    check(Trainer(SCHEDULES["ExponentialLR"], before=set_rate), min_hits=8)


def test_effects_see_the_rates_of_their_moment():
    def world():
        model = nn.Linear(3, 2)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        scheduler = lr_scheduler.ExponentialLR(optimizer, 0.9)
        seen = []

        @lucid.compiler.effect
        def log():
            seen.append(scheduler.get_last_lr())

        def function(x):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
            log()
            try:
                scheduler.step()
            finally:
                result = x * 2
            log()
            return result

        return function, [(lucid.ones(2, 3),) for _ in range(8)], lambda: [*model.parameters(), seen]

    check(world, min_hits=5)


def test_schedules_of_several_optimizers():
    def world():
        models = [nn.Linear(3, 2) for _ in range(2)]
        optimizers = [optim.Adam(model.parameters(), lr=0.01) for model in models]
        schedulers = [lr_scheduler.StepLR(optimizer, 2, 0.5) for optimizer in optimizers]

        def function(x):
            for model, optimizer, scheduler in zip(models, optimizers, schedulers):
                optimizer.zero_grad()
                model(x).square().sum().backward()
                optimizer.step()
                scheduler.step()

        def state():
            return [list(model.parameters()) for model in models], [each.state_dict() for each in schedulers]

        return function, [(lucid.ones(2, 3),) for _ in range(8)], state

    check(world, min_hits=5)


def test_functions_of_the_user_run_eagerly():
    schedules = [
        lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
        lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.1, 3, scale_fn=lambda cycle: 1 / cycle),
        lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.9)]),
    ]
    for make in schedules:
        check(Trainer(make), fallback="learning rate schedule", min_hits=0)


def test_a_schedule_that_ends():
    """Its last steps raise before the call stores anything."""
    check(Trainer(lambda o: lr_scheduler.OneCycleLR(o, 0.1, 10), calls=16), fallback="", min_hits=0)


def test_a_schedule_that_steps_before_the_optimizer_warns():
    def world():
        model = nn.Linear(3, 2)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        scheduler = lr_scheduler.StepLR(optimizer, 2)

        def function(x):
            scheduler.step()
            return x * 2

        def calls():
            for _ in range(6):
                yield (lucid.ones(2),)
                scheduler.load_state_dict(lr_scheduler.StepLR(optimizer, 2).state_dict())

        return function, calls, scheduler.state_dict

    with pytest.warns(UserWarning, match="before optimizer.step"):
        check(world, fallback="", min_hits=0)
