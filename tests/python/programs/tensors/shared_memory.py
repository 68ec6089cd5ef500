"""Tensors that share memory, gradients of odd layouts, and memory of arrays."""

import lucid
import numpy as np
from lucid import nn

from .._harness import Programs, x0, xg


class SharedMemory(Programs):
    def data_exchanged(run):
        a, b = xg(), xg()
        b.data = x0() * 10

        def swap():
            a.data, b.data = b.data, a.data

        run.changes(lambda: (a * 2 + b).sum(), swap, swap, see=lambda: (a, b))

    def data_shared_by_two(run):
        a, b = lucid.ones(3), lucid.ones(3)

        def step():
            a.add_(1)
            b.mul_(3)
            return a - b

        def separate():
            b.data = a.clone()

        run.changes(
            step, lambda: setattr(b, "data", a.data), lambda: setattr(b, "data", a[:]), separate, see=lambda: (a, b)
        )

    def data_of_another_shape(run):
        w = lucid.ones(3)

        def strided():
            w.data = lucid.arange(6).float().view(2, 3).T

        def double():
            w.data = lucid.ones(3, dtype=lucid.float64)

        run.changes(lambda: w * 2 + w.sum(), lambda: setattr(w, "data", lucid.ones(2, 3)), strided, double)

    def state_replaced_by_a_view_of_the_argument(run):
        held = [lucid.ones(3)]

        def step(x):
            held[0].add_(1)
            return x * 2 + held[0]

        f = run.compile(step)
        for i in range(8):
            x = x0()
            if i in (3, 4, 6):
                held[0] = x if i == 4 else x.view(3)
            run.call(f, x)
            run.see(x, held[0])

    def arguments_that_share_memory_later(run):
        def step(a, b):
            a.add_(1)
            b.mul_(2)
            return a + b

        f = run.compile(step)
        base = lucid.arange(8).float()
        for a, b in (
            (x0(), x0()),
            (x0(), x0()),
            (base[:3], base[3:6]),
            (base[:3], base[1:4]),
            (base[:3], base[:3]),
            (base[::2], base[1::2]),
            (base[::2], base[::2]),
            (x0(), x0()),
        ):
            run.call(f, a, b)
            run.see(a, b, base)

    def numpy_memory_shared_later(run):
        array = np.arange(6, dtype=np.float32)
        w = [lucid.ones(3), lucid.ones(3)]

        def step():
            w[0].add_(1)
            w[1].mul_(2)
            return w[0] + w[1]

        def overlap():
            w[0], w[1] = lucid.from_numpy(array[:3]), lucid.from_numpy(array[1:4])

        def write():
            array[:] = 5

        run.changes(step, overlap, write, see=lambda: (array, *w))

    def gradients_of_odd_layouts(run):
        w = lucid.ones(2, 3, requires_grad=True)

        def step(x):
            (w * x).sum().backward()
            return w.grad * 1

        def transposed():
            w.grad = lucid.zeros(3, 2).T

        def expanded():
            w.grad = lucid.zeros(1).expand(2, 3)

        def sliced():
            w.grad = lucid.zeros(4, 6)[::2, ::2]

        def parameter():
            w.grad = nn.Parameter(lucid.zeros(2, 3), requires_grad=False)

        def needing():
            w.grad = lucid.zeros(2, 3, requires_grad=True)

        steps = (transposed, expanded, sliced, parameter, needing)
        run.changes(step, *steps, args=(lambda: lucid.ones(2, 3),), see=lambda: (w.grad, type(w.grad).__name__))

    def gradients_of_odd_types(run):
        w = xg()

        def double():
            w.grad = lucid.zeros(3, dtype=lucid.float64)

        def shape():
            w.grad = lucid.zeros(2, 3)

        def number():
            w.grad = 3

        run.changes(lambda x: (w * x).sum().backward(), double, shape, number, args=(x0,), see=lambda: (w.grad,))

    def a_gradient_with_attributes(run):
        w = xg()

        def step(x):
            (w * x).sum().backward()
            return getattr(w.grad, "note", 0)

        def clear():
            w.grad = None

        run.changes(step, lambda: setattr(w.grad, "note", 5), clear, args=(x0,), see=lambda: (w.grad,))

    def gradients_read_before_they_exist(run):
        w, v = xg(), xg()

        def step(x):
            if w.grad is None:
                return x
            if v.grad is not None:
                return x * w.grad + v.grad
            return x * w.grad

        def new():
            w.grad = x0() * 7

        def none():
            w.grad = None

        run.changes(step, lambda: setattr(w, "grad", x0()), lambda: setattr(v, "grad", x0() * 2), new, none, args=(x0,))

    def a_gradient_of_the_gradient(run):
        w = xg()
        w.grad = xg()
        w.grad.grad = x0()

        def replace():
            w.grad = xg()

        run.changes(lambda x: x * w.grad.grad, lambda: setattr(w.grad, "grad", x0() * 3), replace, args=(x0,))
