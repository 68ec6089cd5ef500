"""Learning rate schedules: progress, state, warnings, custom classes."""

import copy
import gc
import pickle
import warnings
import weakref

import lucid
import pytest
from lucid.optim import SGD, Adam, lr_scheduler


def make_optimizer(lr=1.0, **options):
    return SGD([lucid.ones(1, requires_grad=True)], lr=lr, **options)


def rates(optimizer, scheduler, steps):
    found = []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return found


def test_the_rate_is_set_and_reported():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    assert rates(optimizer, scheduler, 5) == [1.0, 1.0, 0.5, 0.5, 0.25]
    assert scheduler.last_epoch == 5
    assert scheduler.get_last_lr() == [0.25]
    assert scheduler.base_lrs == [1.0]
    assert scheduler.gamma == 0.5
    assert optimizer.param_groups[0]["initial_lr"] == 1.0
    with pytest.raises(AttributeError):
        _ = scheduler.nothing


def test_a_step_before_the_optimizers_warns_once():
    scheduler = lr_scheduler.ExponentialLR(make_optimizer(), 0.5)
    with pytest.warns(UserWarning, match="before optimizer"):
        scheduler.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()


def test_steps_of_a_custom_optimizer_count():
    class Nothing(lucid.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0})

        def step(self, closure=None):
            pass

    optimizer = Nothing([lucid.ones(1, requires_grad=True)])
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rates(optimizer, scheduler, 3) == [1.0, 0.5, 0.25]


MAKERS = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 3),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, T_mult=2),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, 2.0, total_steps=20),
    "CyclicLR": lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, step_size_up=3),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, total_iters=3), lr_scheduler.ExponentialLR(o, 0.5)], [3]
    ),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, total_iters=3), lr_scheduler.ExponentialLR(o, 0.5)]
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_loaded_state_continues(name):
    optimizer = make_optimizer(momentum=0.9)
    scheduler = MAKERS[name](optimizer)
    rates(optimizer, scheduler, 4)
    other_optimizer = make_optimizer(momentum=0.9)
    other = MAKERS[name](other_optimizer)
    other_optimizer.load_state_dict(optimizer.state_dict())
    other.load_state_dict(scheduler.state_dict())
    assert other.get_last_lr() == scheduler.get_last_lr()
    assert rates(other_optimizer, other, 8) == rates(optimizer, scheduler, 8)


def half_each_epoch(epoch):
    return 0.5**epoch


class Falling(lr_scheduler.LRScheduler):
    def __init__(self, optimizer, slope):
        self.slope = slope
        super().__init__(optimizer)

    def get_lr(self):
        return [base - self.slope * self.last_epoch for base in self.base_lrs]


COPIED = {
    **MAKERS,
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, half_each_epoch),
    "MultiplicativeLR": lambda o: lr_scheduler.MultiplicativeLR(o, [half_each_epoch]),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, [2, 6]),
    "CyclicLR with a function": lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, 3, scale_fn=half_each_epoch),
    "one of one's own": lambda o: Falling(o, 0.05),
}


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("name", COPIED)
def test_copies_are_independent(name, duplicate):
    optimizer = make_optimizer(momentum=0.9)
    scheduler = COPIED[name](optimizer)
    rates(optimizer, scheduler, 4)
    before = dict(optimizer.param_groups[0])
    twin_optimizer, twin = duplicate((optimizer, scheduler))
    assert twin.optimizer is twin_optimizer
    assert dict(optimizer.param_groups[0]) == before
    assert twin.state_dict() == scheduler.state_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        going_on = rates(twin_optimizer, twin, 8)
    assert scheduler.last_epoch == 4
    assert rates(optimizer, scheduler, 8) == going_on
    assert dict(twin_optimizer.param_groups[0], params=None) == dict(optimizer.param_groups[0], params=None)


def test_a_copy_knows_that_its_optimizer_has_stepped():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    early = copy.deepcopy(scheduler)
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(scheduler)).step()
    with pytest.warns(UserWarning, match="before optimizer"):
        early.step()


def test_a_copy_that_watches_a_metric_remembers_the_best():
    scheduler = lr_scheduler.ReduceLROnPlateau(make_optimizer(), patience=1)
    scheduler.step(1.0)
    scheduler.step(2.0)
    twin = pickle.loads(pickle.dumps(scheduler))
    twin.step(2.0)
    assert twin.get_last_lr() == [0.1]
    assert scheduler.get_last_lr() == [1.0]


def test_functions_without_a_name_are_copied_but_not_pickled():
    scheduler = lr_scheduler.LambdaLR(make_optimizer(), lambda epoch: 0.5**epoch)
    assert copy.deepcopy(scheduler).get_last_lr() == [1.0]
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(scheduler)


def test_a_state_is_plain_data(tmp_path):
    scheduler = lr_scheduler.MultiStepLR(make_optimizer(), [2, 5])
    lucid.save(scheduler.state_dict(), tmp_path / "state")
    assert lucid.load(tmp_path / "state") == scheduler.state_dict()


def test_plateaus():
    optimizer = make_optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    for metric in (1.0, lucid.tensor(1.0), 1.0):
        scheduler.step(metric)
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert scheduler.best == 1.0
    state = scheduler.state_dict()
    other = lr_scheduler.ReduceLROnPlateau(make_optimizer(), patience=1, factor=0.5)
    other.load_state_dict(state)
    assert other.num_bad_epochs == scheduler.num_bad_epochs


def test_a_custom_schedule_may_read_everything():
    class Mine(lr_scheduler.LRScheduler):
        def __init__(self, optimizer, factor):
            self.factor = factor
            super().__init__(optimizer)

        def get_lr(self):
            if self.last_epoch == 0:
                return self.base_lrs
            return [group["lr"] * self.factor for group in self.optimizer.param_groups]

    optimizer = make_optimizer()
    scheduler = Mine(optimizer, 0.5)
    assert rates(optimizer, scheduler, 3) == [1.0, 0.5, 0.25]
    alive = weakref.ref(scheduler)
    del scheduler
    gc.collect()
    assert alive() is None


def test_momentum_moves_against_the_rate():
    optimizer = Adam([lucid.ones(1, requires_grad=True)])
    scheduler = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=10)
    assert optimizer.param_groups[0]["betas"] == (0.95, 0.999)
    for _ in range(2):
        optimizer.step()
        scheduler.step()
    assert optimizer.param_groups[0]["betas"] == (pytest.approx(0.85), 0.999)
    with pytest.raises(ValueError, match="momentum"):
        lr_scheduler.OneCycleLR(lucid.optim.Adagrad([lucid.ones(1, requires_grad=True)]), 1.0, total_steps=10)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda o: lr_scheduler.StepLR(3, 1), TypeError, "must be an Optimizer"),
        (lambda o: lr_scheduler.StepLR(o, 0), ValueError, "step_size"),
        (lambda o: lr_scheduler.StepLR(o, 1, last_epoch=3), ValueError, "initial_lr"),
        (lambda o: lr_scheduler.LinearLR(o, start_factor=0.0), ValueError, "start_factor"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0), ValueError, "total_steps"),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, mode="round"), ValueError, "mode"),
        (lambda o: lr_scheduler.LambdaLR(o, [lambda e: 1, lambda e: 1]), ValueError, "2 functions"),
        (lambda o: lr_scheduler.LambdaLR(o, 3), TypeError, "function"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=2.0), ValueError, "factor"),
        (lambda o: lr_scheduler.ChainedScheduler([]), ValueError, "at least one"),
        (
            lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(make_optimizer(), 1)], []),
            ValueError,
            "the same optimizer",
        ),
        (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 1)], [3]), ValueError, "milestones"),
        (
            lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(o)]),
            ValueError,
            "metric",
        ),
        (lambda o: lr_scheduler.LRScheduler(o), NotImplementedError, "get_lr"),
    ],
)
def test_invalid_arguments_are_reported(make, error, message):
    with pytest.raises(error, match=message):
        make(make_optimizer())


def test_errors_in_a_function_are_raised():
    with pytest.raises(ZeroDivisionError):
        lr_scheduler.LambdaLR(make_optimizer(), lambda epoch: 1 / epoch)
