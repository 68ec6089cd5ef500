"""Tensors from data, and loops."""

import itertools

import lucid

from .._harness import Net, Programs, repeat, sample, vary


class Loops(Programs, compiles=True, guards=True):
    walrus_ternary_chain = repeat(lambda x: (y := (x * 2)) + (1 if 0 < y.ndim < 3 else 0), sample, n=8)

    def tensor_from_list(run):
        items = [1, 2, 3, 4]
        f = run.compile(lambda x: x * lucid.tensor(items))
        run.repeat(f, sample, n=8, before=lambda i: items.__setitem__(0, i // 3))

    def comprehension_vars(run):
        ks = (1.0, 2.0)

        def f(x):
            return sum([x * k for k in ks if k > 0], x)

        f = run.compile(f)
        for i in range(8):
            ks = (1.0, 2.0) if i < 4 else (3.0,)
            run.call(f, sample(i))

    def generator_inside(run):
        ks = [1.0, 2.0]

        def f(x):

            def gen():
                for k in ks:
                    yield (x * k)

            return sum(gen(), x)

        run.repeat(run.compile(f), sample, n=8, before=lambda i: ks.__setitem__(0, float(i // 3)))

    def generator_method(run):
        class M(Net):
            def outs(self, x):
                for items in self.layers:
                    x = items(x)
                    yield x

            def forward(self, x):
                return list(self.outs(x))

        run.repeat(run.compile(M()), sample, n=8)

    def itertools_inside(run):
        f = run.compile(lambda x: sum([x * a * b for a, b in itertools.product([1, 2], [3, 4])], x))
        run.repeat(f, sample, n=8)

    def zip_args(run):
        f = run.compile(lambda xs, ks: sum([x * k for x, k in zip(xs, ks)], xs[0]))
        run.repeat(f, vary(lambda i: [sample(i), sample(i + 1)]), vary(lambda _: [1.0, 2.0]), n=8)

    def out_loop_setitem(run):
        def f(x):
            o = lucid.zeros(3, 4)
            for j in range(3):
                o[j] = x[j] * j
            return o

        run.repeat(run.compile(f), sample, n=8)

    def inplace_arg(run):
        def f(x):
            x += 1
            return x.sum()

        f = run.compile(f)
        for i in range(8):
            x = sample(i)
            run.call(f, x)
            run.see(x)

    def two_args_same(run):
        def f(x, y):
            x += 1
            return y * 2

        f = run.compile(f)
        for i in range(8):
            x = sample(i)
            y = x if i % 2 else sample(i + 1)
            run.call(f, x, y)
            run.see(x, y)
