"""Helpers of the programs."""

import lucid
import numpy as np
from lucid import nn

PROGRAMS = {}
CALLS = 8


def program(function):
    """Registers a program: a generator that takes the compiler and yields results to compare with eager."""
    PROGRAMS[function.__name__] = function
    return function


def sample(seed=0, *shape):
    """A tensor that depends only on the seed."""
    return lucid.tensor(np.random.RandomState(seed).randn(*(shape or (3, 4))).astype("f4"))


def attempt(function, *args, **kwargs):
    """The result, or the error that was raised instead."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return (type(error).__name__, str(error))


class Box:
    """An object with attributes."""

    def __init__(self, **values):
        self.__dict__.update(values)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)
        self.scale = 1.0
        self.n = 0
        self.log = []
        self.hidden = None
        self.flags = {"r": True}
        self.layers = [nn.Linear(4, 4), nn.ReLU()]
        self.cfg = Box(a=1.0, b=Box(c=2.0))
        self.w = lucid.ones(4)
