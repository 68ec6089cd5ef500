"""Objects that hold numbers, for the tests of floats that leave a call."""


class Box:
    def __init__(self, **values):
        vars(self).update(values)


class Limits:
    """A limit in an attribute, and others that are computed."""

    computed = property(lambda self: self.limit * 2)

    def __init__(self):
        self.limit = 0.25

    def __getattr__(self, name):
        return len(name) / 100
