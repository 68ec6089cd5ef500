"""Optimizers compared with PyTorch's over 20 steps of a small network."""

from __future__ import annotations

from typing import Any

import lucid
import numpy as np
import pytest
import torch

STEPS = 20

# Every optimizer that PyTorch also has, with options that cover each branch of its arithmetic.
OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "amsgrad": True}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.2}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.2, "amsgrad": True}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.005, "momentum": 0.9, "weight_decay": 0.1, "centered": True, "alpha": 0.9}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.1}),
    ("Adamax", {"lr": 0.02}),
    ("Adamax", {"lr": 0.02, "betas": (0.8, 0.95), "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.01}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.05}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adadelta", {"lr": 10.0}),
    ("Adadelta", {"lr": 10.0, "rho": 0.8, "weight_decay": 0.1}),
    ("Rprop", {"lr": 0.01}),
    ("Rprop", {"lr": 0.01, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}),
    ("ASGD", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "lambd": 0.01, "t0": 5.0, "weight_decay": 0.01}),
]

# These call the closure several times, and have no for-loop implementation (foreach=False).
LINE_SEARCHES: list[dict[str, Any]] = [
    {"lr": 0.1},
    {"lr": 0.5, "max_iter": 4, "history_size": 3},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 5, "history_size": 2, "lr": 0.8},
]


def initial_weights(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) * 0.5 for shape in ((6, 16), (16,), (16, 3), (3,))]


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(32, 6)), rng.normal(size=(32, 3))


def run(library: Any, make: Any, dtype: Any, sign: float = 1.0, steps: int = STEPS, after: Any = None) -> list[float]:
    """The losses of a run. `make` creates the optimizer from the parameters; `after` is called after each step."""
    params = [library.tensor(w, dtype=dtype, requires_grad=True) for w in initial_weights(0)]
    x, y = (library.tensor(a, dtype=dtype) for a in data(1))
    optimizer = make(params)
    losses = []
    for _ in range(steps):

        def closure() -> Any:
            optimizer.zero_grad()
            hidden = (x @ params[0] + params[1]).tanh()
            loss = sign * ((hidden @ params[2] + params[3] - y) ** 2).mean()
            loss.backward()
            losses.append(sign * loss.item())
            return loss

        optimizer.step(closure)
        if after:
            after(optimizer)
    return losses


def both(name: str, options: dict[str, Any], lucid_dtype: Any, torch_dtype: Any, sign: float = 1.0) -> tuple[Any, Any]:
    # foreach and fused kernels round differently; the plain loop is PyTorch's reference.
    theirs = run(torch, lambda p: getattr(torch.optim, name)(p, foreach=False, **options), torch_dtype, sign)
    ours = run(lucid, lambda p: getattr(lucid.optim, name)(p, **options), lucid_dtype, sign)
    return np.array(ours), np.array(theirs)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_losses_agree(name: str, options: dict[str, Any]) -> None:
    ours, theirs = both(name, options, lucid.float64, torch.float64)
    assert theirs[-1] < 0.9 * theirs[0]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_losses_agree_with_maximize(name: str, options: dict[str, Any]) -> None:
    ours, theirs = both(name, options | {"maximize": True}, lucid.float64, torch.float64, sign=-1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_state_dicts_agree(name: str, options: dict[str, Any]) -> None:
    def state_of(library: Any, **more: Any) -> Any:
        held = []

        def make(params: Any) -> Any:
            held.append(getattr(library.optim, name)(params, **options, **more))
            return held[0]

        run(library, make, library.float64, steps=3)
        return held[0].state_dict()

    ours, theirs = state_of(lucid), state_of(torch, foreach=False)
    assert list(ours["state"]) == list(theirs["state"])
    for number, expected in theirs["state"].items():
        found = ours["state"][number]
        assert set(found) == {key for key, value in expected.items() if value is not None}
        for key, value in expected.items():
            if isinstance(value, torch.Tensor):
                assert str(found[key].dtype).split(".")[-1] == str(value.dtype).split(".")[-1], key
                np.testing.assert_allclose(found[key].numpy(), value.numpy(), rtol=1e-9, atol=1e-12, err_msg=key)
    for ours_group, their_group in zip(ours["param_groups"], theirs["param_groups"], strict=True):
        assert set(ours_group) == set(their_group)
        for key in set(their_group) - {"foreach"}:
            assert ours_group[key] == their_group[key], key


@pytest.mark.parametrize("options", LINE_SEARCHES)
def test_lbfgs_agrees(options: dict[str, Any]) -> None:
    theirs = run(torch, lambda p: torch.optim.LBFGS(p, **options), torch.float64, steps=5)
    ours = run(lucid, lambda p: lucid.optim.LBFGS(p, **options), lucid.float64, steps=5)
    assert len(ours) == len(theirs)
    assert theirs[-1] < 0.9 * theirs[0]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def test_every_optimizer_is_compared() -> None:
    compared = {name for name, _ in OPTIMIZERS} | {"LBFGS", "Lion", "Muon"}
    assert compared | {"Optimizer", "lr_scheduler"} == set(lucid.optim.__all__)


def reference_losses(update: Any) -> list[float]:
    """The losses of the same run with gradients from PyTorch and `update(step, weights, gradients)` in NumPy."""
    weights = initial_weights(0)
    losses = []
    x, y = (torch.tensor(a) for a in data(1))
    for step in range(STEPS):
        params = [torch.tensor(w, requires_grad=True) for w in weights]
        loss = ((((x @ params[0] + params[1]).tanh()) @ params[2] + params[3] - y) ** 2).mean()
        loss.backward()
        losses.append(loss.item())
        update(step, weights, [p.grad.numpy() for p in params])
    return losses


def test_lion_follows_its_definition() -> None:
    averages = [np.zeros_like(w) for w in initial_weights(0)]

    def update(step: int, weights: list[np.ndarray], gradients: list[np.ndarray]) -> None:
        for w, m, g in zip(weights, averages, gradients, strict=True):
            direction = np.sign(0.9 * m + 0.1 * g)
            w *= 1 - 0.01 * 0.1
            w -= 0.01 * direction
            m *= 0.99
            m += 0.01 * g

    theirs = reference_losses(update)
    ours = run(lucid, lambda p: lucid.optim.Lion(p, lr=0.01, weight_decay=0.1), lucid.float64)
    assert theirs[-1] < 0.9 * theirs[0]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def orthogonalized(matrix: np.ndarray) -> np.ndarray:
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / max(np.linalg.norm(x), 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (-4.775 * gram + 2.0315 * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


@pytest.mark.parametrize("nesterov", [True, False])
@pytest.mark.parametrize("adjust", [None, "match_rms_adamw"])
def test_muon_follows_its_definition(nesterov: bool, adjust: str | None) -> None:
    buffers = [np.zeros_like(w) for w in initial_weights(0)]

    def update(step: int, weights: list[np.ndarray], gradients: list[np.ndarray]) -> None:
        for w, buffer, g in zip(weights, buffers, gradients, strict=True):
            if w.ndim != 2:
                continue
            buffer += 0.05 * (g - buffer)
            direction = orthogonalized(g + 0.95 * (buffer - g) if nesterov else buffer)
            rows, columns = w.shape
            factor = np.sqrt(max(1, rows / columns)) if adjust is None else 0.2 * np.sqrt(max(rows, columns))
            w *= 1 - 0.02 * 0.1
            w -= 0.02 * factor * direction

    def make(params: Any) -> Any:
        matrices = [p for p in params if p.ndim == 2]
        return lucid.optim.Muon(matrices, lr=0.02, nesterov=nesterov, adjust_lr_fn=adjust)

    theirs = reference_losses(update)
    assert theirs[-1] < 0.9 * theirs[0]
    np.testing.assert_allclose(run(lucid, make, lucid.float64), theirs, rtol=0, atol=1e-9)


# Every schedule, on two groups of an optimizer with momentum and one with betas.
SCHEDULES: list[tuple[str, Any]] = [
    ("StepLR", lambda s, o: s.StepLR(o, 3, gamma=0.5)),
    ("MultiStepLR", lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3)),
    ("ConstantLR", lambda s, o: s.ConstantLR(o, factor=0.25, total_iters=4)),
    ("LinearLR", lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.8, total_iters=6)),
    ("ExponentialLR", lambda s, o: s.ExponentialLR(o, 0.8)),
    ("PolynomialLR", lambda s, o: s.PolynomialLR(o, total_iters=7, power=1.7)),
    ("CosineAnnealingLR", lambda s, o: s.CosineAnnealingLR(o, 6, eta_min=0.01)),
    ("CosineAnnealingWarmRestarts", lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01)),
    ("CyclicLR", lambda s, o: s.CyclicLR(o, 0.01, [0.1, 0.2], step_size_up=3, step_size_down=5)),
    ("CyclicLR", lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=4, mode="triangular2")),
    ("CyclicLR", lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=4, mode="exp_range", gamma=0.9)),
    ("CyclicLR", lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=4, scale_fn=lambda x: 1 / x, cycle_momentum=False)),
    ("OneCycleLR", lambda s, o: s.OneCycleLR(o, 0.5, total_steps=STEPS + 1)),
    (
        "OneCycleLR",
        lambda s, o: s.OneCycleLR(
            o, [0.5, 0.4], epochs=3, steps_per_epoch=7, three_phase=True, anneal_strategy="linear", pct_start=0.4
        ),
    ),
    ("LambdaLR", lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)])),
    ("MultiplicativeLR", lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95 if e % 2 else 1.01)),
    (
        "SequentialLR",
        lambda s, o: s.SequentialLR(
            o,
            [s.LinearLR(o, start_factor=0.1, total_iters=4), s.CosineAnnealingLR(o, 8), s.ExponentialLR(o, 0.9)],
            [4, 12],
        ),
    ),
    (
        "ChainedScheduler",
        lambda s, o: s.ChainedScheduler([s.ConstantLR(o, factor=0.1, total_iters=3), s.ExponentialLR(o, 0.9)]),
    ),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "make"), SCHEDULES)
def test_schedules_agree(name: str, make: Any, kind: str) -> None:
    def rates(library: Any) -> list[Any]:
        params = [library.ones(2, requires_grad=True) for _ in range(2)]
        options = {"momentum": 0.9} if kind == "SGD" else {}
        groups = [{"params": [params[0]]}, {"params": [params[1]], "lr": 0.3}]
        optimizer = getattr(library.optim, kind)(groups, lr=0.1, **options)
        scheduler = make(library.optim.lr_scheduler, optimizer)
        rows = []
        for _ in range(STEPS):
            momentum = [g["betas"][0] if kind == "Adam" else g["momentum"] for g in optimizer.param_groups]
            rows.append([g["lr"] for g in optimizer.param_groups] + list(scheduler.get_last_lr()) + momentum)
            optimizer.step()
            scheduler.step()
        return rows

    np.testing.assert_allclose(rates(lucid), rates(torch), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("options", [{}, {"mode": "max", "threshold_mode": "abs"}, {"cooldown": 2, "min_lr": 0.02}])
def test_plateaus_agree(options: dict[str, Any]) -> None:
    metrics = [5.0, 4.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.1, 3.2, 3.0, 3.0, 2.0, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5]

    def rates(library: Any) -> list[float]:
        optimizer = library.optim.SGD([library.ones(2, requires_grad=True)], lr=0.5)
        scheduler = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2, factor=0.3, **options)
        found = []
        for metric in metrics:
            optimizer.step()
            scheduler.step(metric)
            found.append(optimizer.param_groups[0]["lr"])
        return found

    np.testing.assert_allclose(rates(lucid), rates(torch), rtol=1e-12)


def test_every_schedule_is_compared() -> None:
    compared = {name for name, _ in SCHEDULES} | {"ReduceLROnPlateau", "LRScheduler"}
    assert compared == set(lucid.optim.lr_scheduler.__all__)


@pytest.mark.parametrize("name", ["StepLR", "LinearLR", "CosineAnnealingLR", "ExponentialLR", "PolynomialLR"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_going_to_an_epoch_agrees(name: str) -> None:
    (make,) = [make for known, make in SCHEDULES if known == name]

    def rates(library: Any) -> list[float]:
        optimizer = library.optim.SGD([{"params": [library.ones(1, requires_grad=True)]}], lr=0.1)
        scheduler = make(library.optim.lr_scheduler, optimizer)
        optimizer.step()
        found = []
        for epoch in (3, 5, 1, 0, 9):
            scheduler.step(epoch)
            found.append(optimizer.param_groups[0]["lr"])
        return found

    np.testing.assert_allclose(rates(lucid), rates(torch), rtol=1e-12)
