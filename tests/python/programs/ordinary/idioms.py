"""Ordinary programs: idioms of Python around tensors."""

import collections
import contextlib
import enum
import functools
import itertools
import numbers
import os
import re
import sys
import time
import typing
import warnings

import lucid
from lucid import nn

from .._harness import Programs, patched, x0


class OrdinaryIdioms(Programs, ordinary=True):
    def print_shape(run):
        import io

        with patched(sys, "stdout", io.StringIO()):
            run.repeat(run.compile(lambda x: (print(x.shape), x * 2)[1]), x0(), n=5)

    def timing(run):
        def g(x):
            t = time.perf_counter()
            y = x * 2
            d = time.perf_counter() - t
            return y

        run.repeat(run.compile(g), x0(), n=5)

    def assert_finite(run):
        def g(x):
            assert lucid.isfinite(x).all()
            return x * 2

        run.repeat(run.compile(g), x0(), n=5)

    def mask_select(run):
        run.repeat(run.compile(lambda x: x[x > 1].sum()), x0(), n=5)

    def any_branch(run):
        def g(x, mask):
            if mask is not None and mask.any():
                x = x.masked_fill(mask, 0.0)
            return x * 2

        run.repeat(run.compile(g), x0(), lucid.tensor([True, False, False]), n=5)

    def lengths_tolist(run):
        run.repeat(run.compile(lambda x, l: [x[:n].sum() for n in l.tolist()]), x0(), lucid.tensor([1, 2]), n=5)

    def warn_once(run):
        def g(x):
            if x.dim() > 5:
                warnings.warn("big")
            return x * 2

        run.repeat(run.compile(g), x0(), n=5)

    def enum_mode(run):
        class Mode(enum.Enum):
            A = "a"
            B = "b"

        def g(x, m):
            if m == Mode.A:
                return x * 2
            return x * 3

        run.repeat(run.compile(g), x0(), Mode.A, n=5)

    def enum_from_str(run):
        class Mode(enum.Enum):
            A = "a"
            B = "b"

        run.repeat(run.compile(lambda x, s: x * 2 if Mode(s) is Mode.A else x), x0(), "a", n=5)

    def abc_isinstance(run):
        run.repeat(
            run.compile(
                lambda x, k: (
                    x * k
                    if isinstance(k, numbers.Number)
                    else x * k[0]
                    if isinstance(k, collections.abc.Sequence)
                    else x
                )
            ),
            x0(),
            2,
            n=5,
        )

    def typing_checks(run):
        def g(x: lucid.Tensor, k: typing.Optional[int] = None) -> typing.List[lucid.Tensor]:
            k = typing.cast(int, k or 2)
            return [x * k]

        run.repeat(run.compile(g), x0(), n=5)

    def singledisp(run):
        @functools.singledispatch
        def h(a):
            return 1

        @h.register
        def _(a: int):
            return 2

        run.repeat(run.compile(lambda x: x * h(1)), x0(), n=5)

    def env_flag(run):
        def g(x):
            if os.environ.get("ZZDEBUG"):
                return x
            return x * 2

        run.repeat(run.compile(g), x0(), n=5)

    def global_flag_argparse(run):
        run.repeat(run.compile(lambda x: x * len(sys.argv)), x0(), n=5)

    def rand_python(run):
        import random as R

        run.repeat(run.compile(lambda x: x * 2 if R.random() < 0.5 else x * 3), x0(), n=5)

    def contextmgr(run):
        @contextlib.contextmanager
        def scope(n):
            yield n

        def g(x):
            with scope("a"), lucid.no_grad():
                return x * 2

        run.repeat(run.compile(g), x0(), n=5)

    def nullctx(run):
        def g(x):
            with contextlib.nullcontext() if x.dim() else lucid.no_grad():
                return x * 2

        run.repeat(run.compile(g), x0(), n=5)

    def tuple_dict_keys(run):
        tab = {(0, 1): 2.0, (1, 0): 3.0}
        run.repeat(run.compile(lambda x: x * tab[(0, 1)]), x0(), n=5)

    def generator_expr(run):
        run.repeat(run.compile(lambda x: sum(t * i for i, t in enumerate(x.unbind()))), x0(), n=5)

    def zip_modules(run):
        ms = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

        def g(x):
            outs = []
            for m, s in zip(ms, (1, 2)):
                x = m(x) * s
                outs.append(x)
            return outs

        run.repeat(run.compile(g), x0(), n=5)

    def itertools_use(run):
        run.repeat(
            run.compile(
                lambda x: sum(x * i for i in itertools.chain(range(2), itertools.islice(itertools.count(), 2)))
            ),
            x0(),
            n=5,
        )

    def re_parse(run):
        def g(x, s):
            m = re.match(r"(\d+)", s)
            return x * int(m.group(1))

        run.repeat(run.compile(g), x0(), "12a", n=5)

    def einops_like(run):
        def rearr(x, p):
            l, r = p.split("->")
            l = l.split()
            r = r.split()
            return x.permute(*[l.index(q) for q in r])

        run.repeat(run.compile(lambda x: rearr(x, "a b -> b a")), lucid.ones(2, 3), n=5)

    def str_format(run):
        def g(x):
            name = "w_{}".format(1)
            return {name: x * 2}

        run.repeat(run.compile(g), x0(), n=5)

    def fstring(run):
        run.repeat(run.compile(lambda x: {f"w_{i}": x * i for i in range(2)}), x0(), n=5)

    def str_format_globals(run):
        """str.format makes every attribute of everything reachable count"""

        class Holder:
            pass

        h = Holder()
        h.w = x0()
        h.file = sys.stderr
        h.t = 0

        def g(x):
            name = "w_{}".format(1)
            return {name: x * h.w}

        f = run.compile(g)
        for _ in range(12):
            run.call(f, x0())
            h.t += 1
