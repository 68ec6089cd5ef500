"""The list of programs, and runs of one program whose calls depend on their number only."""

import contextlib
import io
import random
from collections.abc import Callable

import lucid
import numpy as np
from same import bits, tensors_in

PROGRAMS: dict[str, Callable] = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def in_turn(items):
    """The arguments of calls that use `items` one after the other, again and again."""
    return lambda i: items[i % len(items)]


class Generators:
    """The global random generators."""

    def __init__(self):
        self.states = random.getstate(), np.random.get_state(), lucid.get_rng_state()

    def restore(self):
        random.setstate(self.states[0])
        np.random.set_state(self.states[1])
        lucid.set_rng_state(self.states[2])

    @staticmethod
    def seed(number):
        random.seed(number)
        np.random.seed(number)
        lucid.manual_seed(number)

    def as_bits(self):
        legacy, words, *rest = self.states[1]
        return self.states[0], (legacy, words.tobytes(), *rest), bits(self.states[2])


class Run:
    """A program, eager or compiled. Two runs can alternate: each keeps its own random generators."""

    def __init__(self, name, wrap=lambda function: function):
        Generators.seed(0)
        function, self.arguments, self.state = PROGRAMS[name]()
        self.function = wrap(function)
        self.generators = Generators()
        self.count = 0

    def call(self, timer=lambda: 0):
        """Makes the next call. Returns the time, and the result, the exception and the text in comparable form."""
        self.generators.restore()
        arguments = self.arguments(self.count)
        self.count += 1
        printed, result, error = io.StringIO(), None, None
        with contextlib.redirect_stdout(printed):
            start = timer()
            try:
                result = self.function(*arguments)
            except Exception as raised:
                error = repr(raised)
            seconds = timer() - start
        self.generators = Generators()
        return seconds, (bits(result), error, printed.getvalue())

    def final(self):
        """The state, its gradients and the random generators in comparable form."""
        state = self.state()
        return bits(state), bits([tensor.grad for tensor in tensors_in(state)]), self.generators.as_bits()
