"""Schedules that run between steps and inside of them."""

import lucid

from .._harness import Programs, program
from ..training.hooks import training

S = lucid.optim.lr_scheduler


def _schedulers(opt):
    return dict(
        step=lambda: S.StepLR(opt, 2),
        exponential=lambda: S.ExponentialLR(opt, 0.5),
        cosine=lambda: S.CosineAnnealingLR(opt, 4),
        lambdas=lambda: S.LambdaLR(opt, lambda e: 1 / (1 + e)),
        one_cycle=lambda: S.OneCycleLR(opt, 0.5, total_steps=20),
        warmup=lambda: S.SequentialLR(opt, [S.LinearLR(opt, 0.1, total_iters=2), S.ExponentialLR(opt, 0.5)], [2]),
    )


class Schedules(Programs):
    def plateau_from_the_result(run):
        m, opt, go = training(run)
        s = S.ReduceLROnPlateau(opt, patience=0)
        for loss in (3.0, 3.0, 3.0, 1.0, 2.0):
            go(1)
            s.step(loss)
        run.see(opt.param_groups[0]["lr"])

    @program("scheduler_outside_{}", each=("step", "exponential", "cosine", "lambdas", "one_cycle", "warmup"))
    def scheduled(run, name):
        m, opt, go = training(run)
        s = _schedulers(opt)[name]()
        for _ in range(6):
            go(2)
            s.step()
            run.see(s.get_last_lr())

    @program("scheduler_inside_{}", each=("step", "exponential", "cosine", "lambdas", "one_cycle", "warmup"))
    def scheduled_inside(run, name):
        held = []
        m, opt, go = training(run, pre=lambda m, opt, loss: held and held[0].step())
        go(2)
        held.append(_schedulers(opt)[name]())
        go(4)
        run.see(opt.param_groups[0]["lr"])
