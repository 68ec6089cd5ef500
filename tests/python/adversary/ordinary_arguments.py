"""Ordinary programs: arrays, configurations, objects and containers as arguments."""

import collections
import dataclasses
import functools
import math
import sys
import types

import lucid
import numpy as np

from ._harness import prog, x0


def rep(run, f, *a, n=5, **k):
    for _ in range(n):
        run.call(f, *a, **k)


@prog(want="hit")
def np_consts(run):
    rep(
        run,
        run.compile(lambda x: x * np.pi + math.inf * 0 if False else x * float(np.sqrt(2.0)) * int(np.prod(x.shape))),
        x0(),
    )


@prog(want="hit")
def np_finfo(run):
    rep(run, run.compile(lambda x: x.clamp(min=float(np.finfo(np.float32).eps))), x0())


@prog(want="hit")
def lucid_finfo(run):
    rep(run, run.compile(lambda x: x.clamp(min=lucid.finfo(x.dtype).eps)), x0())


@prog(want="hit")
def np_table_large(run):
    tab = np.random.rand(100, 100).astype("f4")
    rep(run, run.compile(lambda x: x @ lucid.from_numpy(tab)), lucid.ones(2, 100))


@prog(want="hit")
def np_table_small(run):
    tab = np.random.rand(3).astype("f4")
    rep(run, run.compile(lambda x: x * lucid.tensor(tab)), x0())


@prog(want="hit")
def np_arg(run):
    a = np.ones(3, dtype="f4")
    rep(run, run.compile(lambda x, a: x * lucid.tensor(a)), x0(), a)


@prog(want="hit")
def np_float_arg(run):
    f = run.compile(lambda x, k: x * float(k))
    for _ in range(6):
        run.call(f, x0(), np.float64(0.5))


@prog(want="hit")
def np_int_arg(run):
    f = run.compile(lambda x, k: x[: int(k)])
    for _ in range(6):
        run.call(f, x0(), np.int64(2))


@prog(want="hit")
def slice_arg(run):
    f = run.compile(lambda x, s: x[s])
    for _ in range(6):
        run.call(f, x0(), slice(0, 2))


@prog(want="hit")
def lambda_arg(run):
    f = run.compile(lambda x, fn: fn(x))
    for _ in range(6):
        run.call(f, x0(), lambda t: t * 2)


@prog(want="hit")
def partial_arg(run):
    f = run.compile(lambda x, fn: fn(x))
    for _ in range(6):
        run.call(f, x0(), functools.partial(lucid.clamp, min=2))


@prog(want="hit")
def config_obj(run):
    class Cfg:
        pass

    c = Cfg()
    c.k = 2
    rep(run, run.compile(lambda x, c: x * c.k), x0(), c)


@prog(want="hit")
def config_with_path(run):
    import pathlib

    @dataclasses.dataclass
    class Cfg:
        k: int = 2
        out: pathlib.Path = pathlib.Path("/tmp")

    rep(run, run.compile(lambda x, c: x * c.k), x0(), Cfg())


@prog(want="hit")
def argparse_ns(run):
    import argparse

    a = argparse.Namespace(k=2, fn=print)
    rep(run, run.compile(lambda x, c: x * c.k), x0(), a)


@prog(want="hit")
def argparse_global(run):
    import argparse

    a = argparse.Namespace(k=2, fn=print, out=sys.stdout)
    rep(run, run.compile(lambda x: x * a.k), x0())


@prog(want="hit")
def object_arg_tensors(run):
    class Batch:
        def __init__(self, x, y):
            self.x = x
            self.y = y

    f = run.compile(lambda b: b.x * b.y)
    for _ in range(5):
        run.call(f, Batch(x0(), x0()))


@prog(want="hit")
def ns_arg_tensors(run):
    f = run.compile(lambda b: b.x * b.y)
    for _ in range(5):
        run.call(f, types.SimpleNamespace(x=x0(), y=x0()))


@prog(want="hit")
def odict_arg(run):
    f = run.compile(lambda b: b["x"] * 2)
    for _ in range(5):
        run.call(f, collections.OrderedDict(x=x0()))


@prog(want="hit")
def dictsub_arg(run):
    class BatchEncoding(dict):
        pass

    f = run.compile(lambda b: b["x"] * 2)
    for _ in range(5):
        run.call(f, BatchEncoding(x=x0()))


@prog(want="hit")
def set_arg(run):
    f = run.compile(lambda x, s: x * 2 if "a" in s else x)
    for _ in range(5):
        run.call(f, x0(), {"a"})


@prog(want="hit")
def frozenset_arg(run):
    f = run.compile(lambda x, s: x * 2 if "a" in s else x)
    for _ in range(5):
        run.call(f, x0(), frozenset({"a"}))


@prog(want="hit")
def odict_ret(run):
    rep(run, run.compile(lambda x: collections.OrderedDict(out=x * 2)), x0())


@prog(want="hit")
def obj_ret(run):
    class Out:
        def __init__(self, y):
            self.y = y

    f = run.compile(lambda x: Out(x * 2))
    for _ in range(5):
        f(x0())
