"""Shapes that differ from call to call."""

import math

import lucid
from lucid import nn

from ._common import Net, program, sample


@program
def shape_batch_varies(compile):
    f = compile(lambda x: x.reshape(x.shape[0] * 4) * (1.0 / x.shape[0]))
    for i in range(20):
        yield f(sample(i, 2 + i % 7, 4))


@program
def shape_mean_manual(compile):
    f = compile(lambda x: x.sum(0) / x.shape[0])
    for i in range(20):
        yield f(sample(i, 2 + i, 4))


@program
def shape_branch(compile):
    f = compile(lambda x: x * 2 if x.shape[0] > 8 else x + 1)
    for i in range(20):
        yield f(sample(i, 2 + i, 4))


@program
def shape_range_loop(compile):

    def f(x):
        o = x[0]
        for j in range(1, x.shape[0]):
            o = o + x[j]
        return o

    f = compile(f)
    for i in range(20):
        yield f(sample(i, 2 + i % 3, 4))


@program
def shape_arange_mask(compile):
    f = compile(lambda x: x * (lucid.arange(x.shape[1]) < 3).to(lucid.float32))
    for i in range(20):
        yield f(sample(i, 3, 2 + i))


@program
def shape_rand(compile):
    d = nn.Dropout(0.5)
    f = compile(lambda x: d(x))
    for i in range(20):
        yield (f(sample(i, 2 + i, 3)), lucid.get_rng_state())


@program
def shape_len(compile):
    f = compile(lambda x: x / len(x))
    for i in range(20):
        yield f(sample(i, 2 + i, 3))


@program
def shape_unpack_tuple(compile):

    def f(x):
        b, c = x.shape
        return (x.reshape(b, c // 2, 2).sum(2), (b, c))

    f = compile(f)
    for i in range(20):
        yield f(sample(i, 2 + i, 4))


@program
def shape_eq_assert(compile):

    def f(x, y):
        assert x.shape == y.shape
        return x + y

    f = compile(f)
    for i in range(20):
        yield f(sample(i, 2 + i, 4), sample(i, 2 + i, 4))


@program
def shape_of_derived(compile):

    def f(x):
        y = lucid.cat([x, x])
        return y.reshape(y.shape[0] // 2, 8)

    f = compile(f)
    for i in range(20):
        yield f(sample(i, 2 + i, 4))


@program
def shape_slice_half(compile):
    f = compile(lambda x: x[: x.shape[0] // 2] * 2)
    for i in range(20):
        yield f(sample(i, 2 + i, 4))


@program
def shape_math_sqrt(compile):
    f = compile(lambda x: x / math.sqrt(x.shape[0]))
    for i in range(20):
        yield f(sample(i, 2 + i, 4))


@program
def shape_broadcast_1(compile):
    f = compile(lambda x, y: x + y)
    for i in range(20):
        yield f(sample(i, 1 + i % 3, 4), sample(i, 3 if i % 3 != 1 else 2, 4) if i % 3 else sample(i, 3, 4))


@program
def shape_stored_on_self(compile):

    class M(Net):
        def forward(self, x):
            self.bs = x.shape[0]
            return x * self.bs

    m = M()
    f = compile(m)
    for i in range(20):
        yield (f(sample(i, 2 + i, 4)), m.bs)
