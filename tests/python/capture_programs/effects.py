"""Calls whose results depend on more than guards can check."""

import pathlib
import random
import tempfile
import time

import numpy as np

from ._common import CALLS, program, sample

FILE = pathlib.Path(tempfile.mkdtemp()) / "number"


@program
def random_random(compile):
    random.seed(3)
    f = compile(lambda x: x * random.random())
    for i in range(CALLS):
        yield f(sample(i))


@program
def random_from_import(compile):
    random.seed(3)
    rr = random.random
    f = compile(lambda x: x * rr())
    for i in range(CALLS):
        yield f(sample(i))


@program
def random_choice(compile):
    random.seed(3)
    f = compile(lambda x: x * random.choice([1.0, 2.0, 3.0]))
    for i in range(CALLS):
        yield f(sample(i))


@program
def time_time(compile):
    f = compile(lambda x: x * (time.time() > 0))
    for i in range(CALLS):
        yield f(sample(i))


@program
def np_random(compile):
    np.random.seed(3)  # noqa: NPY002
    f = compile(lambda x: x * float(np.random.rand()))  # noqa: NPY002
    for i in range(CALLS):
        yield f(sample(i))


@program
def np_default_rng_held(compile):
    r = np.random.default_rng(3)
    f = compile(lambda x: x * float(r.random()))
    for i in range(CALLS):
        yield f(sample(i))


@program
def np_default_rng_bound_held(compile):
    r = np.random.default_rng(3).random
    f = compile(lambda x: x * float(r()))
    for i in range(CALLS):
        yield f(sample(i))


@program
def random_instance_inside(compile):
    f = compile(lambda x: x * random.Random(4).random())
    for i in range(CALLS):
        yield f(sample(i))


@program
def file_read(compile):
    FILE.write_text("1.0")

    def f(x):
        with open(FILE) as h:
            return x * float(h.read())

    f = compile(f)
    for i in range(CALLS):
        FILE.write_text(str(1.0 + i // 3))
        yield f(sample(i))
