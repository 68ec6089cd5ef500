"""Ordinary programs: arrays, configurations, objects and containers as arguments."""

import collections
import dataclasses
import functools
import math
import sys
import types

import lucid
import numpy as np

from .._harness import Programs, repeat, vary, x0


class OrdinaryArguments(Programs, ordinary=True):
    np_float_arg = repeat(lambda x, k: x * float(k), x0, vary(lambda _: np.float64(0.5)), n=6)
    np_int_arg = repeat(lambda x, k: x[: int(k)], x0, vary(lambda _: np.int64(2)), n=6)
    slice_arg = repeat(lambda x, s: x[s], x0, vary(lambda _: slice(0, 2)), n=6)
    lambda_arg = repeat(lambda x, fn: fn(x), x0, vary(lambda _: lambda t: t * 2), n=6)
    partial_arg = repeat(lambda x, fn: fn(x), x0, vary(lambda _: functools.partial(lucid.clamp, min=2)), n=6)
    ns_arg_tensors = repeat(lambda b: b.x * b.y, vary(lambda _: types.SimpleNamespace(x=x0(), y=x0())), n=5)
    odict_arg = repeat(lambda b: b["x"] * 2, vary(lambda _: collections.OrderedDict(x=x0())), n=5)
    set_arg = repeat(lambda x, s: x * 2 if "a" in s else x, x0, vary(lambda _: {"a"}), n=5)
    frozenset_arg = repeat(lambda x, s: x * 2 if "a" in s else x, x0, vary(lambda _: frozenset({"a"})), n=5)

    def np_consts(run):
        run.repeat(
            run.compile(
                lambda x: x * np.pi + math.inf * 0 if False else x * float(np.sqrt(2.0)) * int(np.prod(x.shape))
            ),
            x0(),
            n=5,
        )

    def np_finfo(run):
        run.repeat(run.compile(lambda x: x.clamp(min=float(np.finfo(np.float32).eps))), x0(), n=5)

    def lucid_finfo(run):
        run.repeat(run.compile(lambda x: x.clamp(min=lucid.finfo(x.dtype).eps)), x0(), n=5)

    def np_table_large(run):
        tab = np.random.rand(100, 100).astype("f4")
        run.repeat(run.compile(lambda x: x @ lucid.from_numpy(tab)), lucid.ones(2, 100), n=5)

    def np_table_small(run):
        tab = np.random.rand(3).astype("f4")
        run.repeat(run.compile(lambda x: x * lucid.tensor(tab)), x0(), n=5)

    def np_arg(run):
        a = np.ones(3, dtype="f4")
        run.repeat(run.compile(lambda x, a: x * lucid.tensor(a)), x0(), a, n=5)

    def config_obj(run):
        class Cfg:
            pass

        c = Cfg()
        c.k = 2
        run.repeat(run.compile(lambda x, c: x * c.k), x0(), c, n=5)

    def config_with_path(run):
        import pathlib

        @dataclasses.dataclass
        class Cfg:
            k: int = 2
            out: pathlib.Path = pathlib.Path("/tmp")

        run.repeat(run.compile(lambda x, c: x * c.k), x0(), Cfg(), n=5)

    def argparse_ns(run):
        import argparse

        a = argparse.Namespace(k=2, fn=print)
        run.repeat(run.compile(lambda x, c: x * c.k), x0(), a, n=5)

    def argparse_global(run):
        import argparse

        a = argparse.Namespace(k=2, fn=print, out=sys.stdout)
        run.repeat(run.compile(lambda x: x * a.k), x0(), n=5)

    def object_arg_tensors(run):
        class Batch:
            def __init__(self, x, y):
                self.x = x
                self.y = y

        run.repeat(run.compile(lambda b: b.x * b.y), vary(lambda _: Batch(x0(), x0())), n=5)

    def dictsub_arg(run):
        class BatchEncoding(dict):
            pass

        run.repeat(run.compile(lambda b: b["x"] * 2), vary(lambda _: BatchEncoding(x=x0())), n=5)

    def odict_ret(run):
        run.repeat(run.compile(lambda x: collections.OrderedDict(out=x * 2)), x0(), n=5)

    def obj_ret(run):
        class Out:
            def __init__(self, y):
                self.y = y

        f = run.compile(lambda x: Out(x * 2))
        for _ in range(5):
            f(x0())
