"""Tensors from data, and loops."""

import itertools

import lucid

from ._common import CALLS, Net, program, sample


@program
def tensor_from_list(compile):
    items = [1, 2, 3, 4]
    f = compile(lambda x: x * lucid.tensor(items))
    for i in range(CALLS):
        items[0] = i // 3
        yield f(sample(i))


@program
def comprehension_vars(compile):
    ks = (1.0, 2.0)

    def f(x):
        return sum([x * k for k in ks if k > 0], x)

    f = compile(f)
    for i in range(CALLS):
        ks = (1.0, 2.0) if i < 4 else (3.0,)
        yield f(sample(i))


@program
def generator_inside(compile):
    ks = [1.0, 2.0]

    def f(x):

        def gen():
            for k in ks:
                yield (x * k)

        return sum(gen(), x)

    f = compile(f)
    for i in range(CALLS):
        ks[0] = float(i // 3)
        yield f(sample(i))


@program
def generator_method(compile):

    class M(Net):
        def outs(self, x):
            for items in self.layers:
                x = items(x)
                yield x

        def forward(self, x):
            return list(self.outs(x))

    m = M()
    f = compile(m)
    for i in range(CALLS):
        yield f(sample(i))


@program
def itertools_inside(compile):
    f = compile(lambda x: sum([x * a * b for a, b in itertools.product([1, 2], [3, 4])], x))
    for i in range(CALLS):
        yield f(sample(i))


@program
def zip_args(compile):
    f = compile(lambda xs, ks: sum([x * k for x, k in zip(xs, ks)], xs[0]))
    for i in range(CALLS):
        yield f([sample(i), sample(i + 1)], [1.0, 2.0])


@program
def out_loop_setitem(compile):

    def f(x):
        o = lucid.zeros(3, 4)
        for j in range(3):
            o[j] = x[j] * j
        return o

    f = compile(f)
    for i in range(CALLS):
        yield f(sample(i))


@program
def inplace_arg(compile):

    def f(x):
        x += 1
        return x.sum()

    f = compile(f)
    for i in range(CALLS):
        x = sample(i)
        yield (f(x), x)


@program
def two_args_same(compile):

    def f(x, y):
        x += 1
        return y * 2

    f = compile(f)
    for i in range(CALLS):
        x = sample(i)
        y = x if i % 2 else sample(i + 1)
        yield (f(x, y), x, y)


@program
def walrus_ternary_chain(compile):
    f = compile(lambda x: (y := (x * 2)) + (1 if 0 < y.ndim < 3 else 0))
    for i in range(CALLS):
        yield f(sample(i))
