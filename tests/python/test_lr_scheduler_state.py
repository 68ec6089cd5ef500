"""States of schedules that no schedule writes: what does not fit is refused before anything is loaded."""

import lucid
import pytest
from lucid import nn, optim

schedules = optim.lr_scheduler


def made():
    """A schedule of each kind on an optimizer of its own."""

    def optimizer():
        return optim.SGD([nn.Parameter(lucid.ones(2))], lr=0.1, momentum=0.9)

    first, second = optimizer(), optimizer()
    return {
        "StepLR": schedules.StepLR(optimizer(), 2),
        "MultiStepLR": schedules.MultiStepLR(optimizer(), [1, 3]),
        "PolynomialLR": schedules.PolynomialLR(optimizer(), 5),
        "CosineAnnealingLR": schedules.CosineAnnealingLR(optimizer(), 5),
        "CosineAnnealingWarmRestarts": schedules.CosineAnnealingWarmRestarts(optimizer(), 3, 2),
        "CyclicLR": schedules.CyclicLR(optimizer(), 0.01, 0.1, 2),
        "OneCycleLR": schedules.OneCycleLR(optimizer(), 0.1, total_steps=100),
        "ReduceLROnPlateau": schedules.ReduceLROnPlateau(optimizer()),
        "SequentialLR": schedules.SequentialLR(
            first, [schedules.StepLR(first, 2), schedules.CosineAnnealingLR(first, 4)], [2]
        ),
        "ChainedScheduler": schedules.ChainedScheduler(
            [schedules.CosineAnnealingLR(second, 4), schedules.StepLR(second, 2)]
        ),
    }


def step(schedule, *epoch):
    schedule.optimizer.step()
    if isinstance(schedule, schedules.ReduceLROnPlateau):
        schedule.step(1.0)
    else:
        schedule.step(*epoch)


PERIODS = {
    "StepLR": ["step_size"],
    "PolynomialLR": ["total_iters"],
    "CosineAnnealingLR": ["T_max"],
    "CosineAnnealingWarmRestarts": ["T_0", "T_mult", "T_i"],
    "CyclicLR": ["step_size_up", "step_size_down"],
    "OneCycleLR": ["total_steps"],
}


@pytest.mark.parametrize("value", [0, -1, -(2**63)])
@pytest.mark.parametrize("name", PERIODS)
def test_periods_that_are_not_positive_are_refused(name, value):
    for key in PERIODS[name]:
        schedule = made()[name]
        step(schedule)
        before = schedule.state_dict()
        state = schedule.state_dict()
        state["last_epoch"] = 7
        state[key] = value
        with pytest.raises(ValueError, match=f"{key}'? must be"):
            schedule.load_state_dict(state)
        assert schedule.state_dict() == before
        for _ in range(8):
            step(schedule)


@pytest.mark.parametrize("name", ["SequentialLR", "ChainedScheduler"])
def test_combined_schedules_load_all_parts_or_none(name):
    for part in range(2):
        schedule = made()[name]
        step(schedule)
        before = schedule.state_dict()
        state = schedule.state_dict()
        for each in state["_schedulers"]:
            each["last_epoch"] = 5
        broken = state["_schedulers"][part]
        broken["step_size" if "step_size" in broken else "T_max"] = 0
        with pytest.raises(ValueError, match="must be at least 1"):
            schedule.load_state_dict(state)
        assert schedule.state_dict() == before
        for _ in range(8):
            step(schedule)


@pytest.mark.parametrize("name", made())
def test_numbers_beyond_all_epochs_are_refused(name):
    for key, value in made()[name].state_dict().items():
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        for extreme in (2**63 - 1, -(2**63), 2**62):
            schedule = made()[name]
            state = schedule.state_dict()
            state[key] = extreme
            with pytest.raises(ValueError, match=r"2\^53|must be at least|steps"):
                schedule.load_state_dict(state)
            for _ in range(3):
                step(schedule)


@pytest.mark.parametrize("name", made())
def test_a_state_of_other_groups_is_refused(name):
    for key in ("base_lrs", "_last_lr"):
        schedule = made()[name]
        state = schedule.state_dict()
        state[key] = [0.1, 0.2, 0.3]
        with pytest.raises(ValueError, match="has 3 parameter groups"):
            schedule.load_state_dict(state)
        step(schedule)


@pytest.mark.parametrize("epoch", [2**63 - 1, -(2**63), 2**62])
def test_epochs_that_no_training_reaches_are_refused(epoch):
    for schedule in made().values():
        if isinstance(schedule, (schedules.ReduceLROnPlateau, schedules.SequentialLR, schedules.ChainedScheduler)):
            continue
        with pytest.raises(ValueError, match=r"epoch|is beyond"):
            step(schedule, epoch)


def test_long_waves_do_not_overflow():
    optimizer = optim.SGD([nn.Parameter(lucid.ones(2))], lr=0.1)
    schedule = schedules.CosineAnnealingWarmRestarts(optimizer, 1, 2**40)
    for _ in range(4):
        optimizer.step()
        schedule.step()
    schedule.step(2**52)
    assert 0 <= optimizer.param_groups[0]["lr"] <= 0.1


@pytest.mark.parametrize(
    "make",
    [
        lambda o: schedules.StepLR(o, 2, gamma=0.5),
        lambda o: schedules.CosineAnnealingLR(o, 5),
        lambda o: schedules.CosineAnnealingWarmRestarts(o, 3),
        lambda o: schedules.LambdaLR(o, lambda epoch: 0.5),
        lambda o: schedules.MultiplicativeLR(o, lambda epoch: 0.5),
    ],
)
def test_groups_that_are_added_after_the_schedule(make):
    optimizer = optim.SGD([nn.Parameter(lucid.ones(2))], lr=0.1)
    schedule = make(optimizer)
    for i in range(20):
        optimizer.add_param_group({"params": [nn.Parameter(lucid.ones(2))], "lr": 0.5 + i})
    for _ in range(4):
        optimizer.step()
        schedule.step()
    for i, group in enumerate(optimizer.param_groups[1:]):
        assert 0 <= group["lr"] <= 0.5 + i
    assert len(schedule.get_last_lr()) == 21
