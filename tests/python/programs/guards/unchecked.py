"""Calls whose results depend on more than guards can check."""

import pathlib
import random
import tempfile
import time

import numpy as np

from .._harness import Programs, program, sample

FILE = pathlib.Path(tempfile.mkdtemp()) / "number"


class Unchecked(Programs, compiles=True, guards=True):
    @program(eager="calls random.Random.random")
    def random_random(run):
        random.seed(3)
        run.repeat(run.compile(lambda x: x * random.random()), sample, n=8)

    @program(eager="calls random.Random.random")
    def random_from_import(run):
        random.seed(3)
        rr = random.random
        run.repeat(run.compile(lambda x: x * rr()), sample, n=8)

    @program(eager="calls random.Random.getrandbits")
    def random_choice(run):
        random.seed(3)
        run.repeat(run.compile(lambda x: x * random.choice([1.0, 2.0, 3.0])), sample, n=8)

    @program(eager="calls time.time")
    def time_time(run):
        run.repeat(run.compile(lambda x: x * (time.time() > 0)), sample, n=8)

    @program(eager="may call global np.random.random, whose effects cannot be known")
    def np_random(run):
        np.random.seed(3)  # noqa: NPY002
        run.repeat(run.compile(lambda x: x * float(np.random.rand())), sample, n=8)  # noqa: NPY002

    @program(eager="reads closure r, a numpy.random._generator.Generator whose state cannot be checked")
    def np_default_rng_held(run):
        r = np.random.default_rng(3)
        run.repeat(run.compile(lambda x: x * float(r.random())), sample, n=8)

    @program(eager="may call closure r, whose effects cannot be known")
    def np_default_rng_bound_held(run):
        r = np.random.default_rng(3).random
        run.repeat(run.compile(lambda x: x * float(r())), sample, n=8)

    @program(eager="calls random.Random.seed")
    def random_instance_inside(run):
        run.repeat(run.compile(lambda x: x * random.Random(4).random()), sample, n=8)

    @program(eager="calls open")
    def file_read(run):
        FILE.write_text("1.0")

        def f(x):
            with open(FILE) as h:
                return x * float(h.read())

        run.repeat(run.compile(f), sample, n=8, before=lambda i: FILE.write_text(str(1.0 + i // 3)))
