"""Shapes that differ from call to call."""

import math

import lucid
from lucid import nn

from .._harness import Net, Programs, program, repeat, sample, vary


class Shapes(Programs, compiles=True, guards=True):
    def shape_batch_varies(run):
        f = run.compile(lambda x: x.reshape(x.shape[0] * 4) * (1.0 / x.shape[0]))
        run.repeat(f, vary(lambda i: sample(i, 2 + i % 7, 4)), n=20)

    def shape_range_loop(run):
        def f(x):
            o = x[0]
            for j in range(1, x.shape[0]):
                o = o + x[j]
            return o

        run.repeat(run.compile(f), vary(lambda i: sample(i, 2 + i % 3, 4)), n=20)

    @program(one_call=True)
    def shape_arange_mask(run):
        f = run.compile(lambda x: x * (lucid.arange(x.shape[1]) < 3).to(lucid.float32))
        run.repeat(f, vary(lambda i: sample(i, 3, 2 + i)), n=20)

    @program(never_twice=True)
    def shape_rand(run):
        d = nn.Dropout(0.5)
        f = run.compile(lambda x: d(x))
        run.repeat(f, vary(lambda i: sample(i, 2 + i, 3)), n=20, see=lambda: (lucid.get_rng_state(),))

    @program(never_twice=True)
    def shape_unpack_tuple(run):
        def f(x):
            b, c = x.shape
            return (x.reshape(b, c // 2, 2).sum(2), (b, c))

        run.repeat(run.compile(f), vary(lambda i: sample(i, 2 + i, 4)), n=20)

    @program(one_call=True)
    def shape_eq_assert(run):
        def f(x, y):
            assert x.shape == y.shape
            return x + y

        run.repeat(run.compile(f), vary(lambda i: sample(i, 2 + i, 4)), vary(lambda i: sample(i, 2 + i, 4)), n=20)

    @program(one_call=True)
    def shape_of_derived(run):
        def f(x):
            y = lucid.cat([x, x])
            return y.reshape(y.shape[0] // 2, 8)

        run.repeat(run.compile(f), vary(lambda i: sample(i, 2 + i, 4)), n=20)

    def shape_broadcast_1(run):
        f = run.compile(lambda x, y: x + y)
        for i in range(20):
            run.call(f, sample(i, 1 + i % 3, 4), sample(i, 3 if i % 3 != 1 else 2, 4) if i % 3 else sample(i, 3, 4))

    @program(eager="the call writes self.bs")
    def shape_stored_on_self(run):
        class M(Net):
            def forward(self, x):
                self.bs = x.shape[0]
                return x * self.bs

        m = M()
        run.repeat(run.compile(m), vary(lambda i: sample(i, 2 + i, 4)), n=20, see=lambda: (m.bs,))


class OneCallShapes(Programs, compiles=True, guards=True, one_call=True):
    shape_mean_manual = repeat(lambda x: x.sum(0) / x.shape[0], vary(lambda i: sample(i, 2 + i, 4)), n=20)
    shape_branch = repeat(lambda x: x * 2 if x.shape[0] > 8 else x + 1, vary(lambda i: sample(i, 2 + i, 4)), n=20)
    shape_slice_half = repeat(lambda x: x[: x.shape[0] // 2] * 2, vary(lambda i: sample(i, 2 + i, 4)), n=20)


class NeverTwiceShapes(Programs, compiles=True, guards=True, never_twice=True):
    shape_len = repeat(lambda x: x / len(x), vary(lambda i: sample(i, 2 + i, 3)), n=20)
    shape_math_sqrt = repeat(lambda x: x / math.sqrt(x.shape[0]), vary(lambda i: sample(i, 2 + i, 4)), n=20)
