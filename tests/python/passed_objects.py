"""Objects that tests pass to compiled functions."""

import lucid


class Batch:
    """An ordinary object with tensors."""

    def __init__(self, x, y=None, **others):
        self.x, self.y = x, y
        vars(self).update(others)

    def total(self):
        return self.x.sum() if self.y is None else (self.x * self.y).sum()


class Entries(dict):
    """A dict with attributes and methods."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.scale = 2.0

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def first(self):
        return next(iter(self.values()))


class Default(dict):
    """Gives what is missing."""

    def __missing__(self, key):
        return len(key)


class Scaled:
    factor = 2

    def scaled(self, t):
        return t * self.factor


def tensor():
    return lucid.randn(3)


def scaler(factor):
    def scale(t):
        return t * factor

    return scale


def counter():
    """A function that counts its calls."""
    count = 0

    def call(t):
        nonlocal count
        count += 1
        return t * count

    return call
