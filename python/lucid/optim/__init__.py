"""Optimizers: update parameters from their gradients.

>>> w = lucid.tensor([1.0, -2.0], requires_grad=True)
>>> optimizer = lucid.optim.SGD([w], lr=0.1)
>>> (w * w).sum().backward()
>>> optimizer.step()
>>> w
tensor([ 0.8000, -1.6000], requires_grad=True)
>>> optimizer.param_groups[0]["lr"] = 0.01
"""

from . import lr_scheduler
from .optimizer import Optimizer
from .optimizers import (
    ASGD,
    LBFGS,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    Muon,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
)

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
]
