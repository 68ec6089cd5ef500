"""Results that are parts of arguments, gradients or optimizers; datasets, loaders and schedules."""

import asyncio

import lucid
from lucid import nn
from lucid.utils import data

from .._harness import Programs, x0, xg

O = lucid.optim


class Config:
    def __init__(self):
        self.items = [1.0, 2.0]
        self.pair = (3.0, [4.0])
        self.table = {"k": [5.0]}


SAME = ("contiguous()", "float()", "cpu()", "detach()", "view(3)", "reshape(3)", "expand(3)", "to(lucid.float32)")


SAME += (
    "requires_grad_(False)",
    "squeeze()",
    "flatten()",
    "view_as(x)",
    "type_as(x)",
    "data",
    "clone()",
    "T",
    "ravel()",
)


class PartsOfState(Programs):
    def attributes_set_on_results(run):
        def step(x):
            y = nn.Parameter(x * 2)
            y.note = "n"
            return y

        f = run.compile(step)
        for _ in range(4):
            run.see(run.call(f, x0()).note)

    def parts_of_an_argument_returned(run):
        f = run.compile(lambda x, c: (x * 2, c.items, c.pair, c.pair[1], c.table["k"], c.table))
        for _ in range(4):
            c = Config()
            _, items, pair, inner, k, table = f(x0(), c)
            run.see(items is c.items, pair is c.pair, inner is c.pair[1], k is c.table["k"], table is c.table)

    def parts_of_an_argument_written(run):
        def step(x, c):
            c.items.append(3.0)
            c.table["k"][0] += 1
            return x * len(c.items)

        f = run.compile(step)
        c = Config()
        run.repeat(f, x0, c, n=4, see=lambda: (c.items, c.table))

    def an_argument_that_is_returned(run):
        f = run.compile(lambda x, c: (x * 2, c))
        for _ in range(4):
            c = Config()
            run.see(f(x0(), c)[1] is c)

    def a_schedule_of_ones_own(run):
        class Mine(O.lr_scheduler.LRScheduler):
            def __init__(self, opt):
                self.k = 2.0
                super().__init__(opt)

            def get_lr(self):
                return [0.1 for _ in self.base_lrs]

            def scale(self, x):
                return x * self.k

        w = xg()
        s = Mine(O.SGD([w], lr=0.5))

        run.changes(lambda x: x * s.k, lambda: setattr(s, "k", 3.0), args=(x0,))
        run.changes(lambda x: s.scale(x), lambda: setattr(s, "k", 4.0), args=(x0,))

    def the_optimizer_of_a_schedule(run):
        w = xg()
        s = O.lr_scheduler.StepLR(O.SGD([w], lr=0.5), 1)

        def step(x):
            s.optimizer.zero_grad()
            (w * x).sum().backward()
            s.optimizer.step()

        def rate():
            s.optimizer.param_groups[0]["lr"] = 3.0

        run.changes(step, lambda: setattr(s, "optimizer", O.SGD([w], lr=0.01)), rate, args=(x0,), see=lambda: (w,))

    def datasets_read_inside(run):
        d = data.TensorDataset(lucid.arange(6).float(), lucid.arange(6).float() * 10)
        s = data.Subset(d, [0, 2, 4])

        def inside():
            s.indices[1] = 0

        def tensors():
            d.tensors = (lucid.ones(6), lucid.zeros(6))

        run.changes(
            lambda x: x + d[1][0] + s[1][1], lambda: setattr(s, "indices", [1, 3, 5]), inside, tensors, args=(x0,)
        )

    def datasets_of_ones_own(run):
        class Mine(data.TensorDataset):
            pass

        d = Mine(lucid.arange(6).float(), lucid.arange(6).float() * 10)

        def tensors():
            d.tensors = (lucid.ones(6), lucid.zeros(6))

        run.changes(lambda x: x + d[1][0] + len(d), tensors, lambda: d.tensors[0].fill_(9), args=(x0,))

    def loaders_read_inside(run):
        d = data.TensorDataset(lucid.arange(6).float())

        def step(x):
            for (b,) in loader:
                x = x + b.sum()
            return x

        loader = data.DataLoader(d, batch_size=2, shuffle=True)

        run.changes(step, lambda: d.tensors[0].mul_(2), args=(x0,))

    def views_of_gradients_returned(run):
        w = xg()

        def step(x):
            w.grad = None
            (w * x).sum().backward()
            return w.grad[1:], w.grad.detach(), w.grad.view(3, 1)

        f = run.compile(step)
        for _ in range(4):
            a, b, c = run.call(f, x0())
            a.add_(10)
            run.see(w.grad, b, c)

    def accumulated_gradients_returned(run):
        w = xg()

        def step(x):
            (w * x).sum().backward()
            return w.grad, [w.grad], w.grad[1:]

        f = run.compile(step)
        for _ in range(4):
            a, (b,), c = run.call(f, x0())
            run.see(a is w.grad, b is a)
            c.add_(10)
            run.see(w.grad)

    def gradients_of_arguments_returned(run):
        def step(x):
            (x * x).sum().backward()
            return x.grad, x.grad.view(3)

        f = run.compile(step)
        for _ in range(4):
            x = xg()
            a, b = run.call(f, x)
            b.add_(10)
            run.see(a is x.grad, x.grad)

    def state_of_the_optimizer_returned(run):
        w = xg()
        opt = O.SGD([w], lr=0.1, momentum=0.9)

        def step(x):
            opt.zero_grad()
            (w * x).sum().backward()
            opt.step()
            return opt.state[w]["momentum_buffer"], opt.state[w]["momentum_buffer"][1:]

        f = run.compile(step)
        for _ in range(5):
            a, b = run.call(f, x0())
            run.see(a is opt.state[w]["momentum_buffer"])
            b.zero_()
            run.see(a, w)

    def methods_that_may_return_the_tensor_itself(run):
        w = x0()
        for method in SAME:
            for source in ("x", "w"):
                with run.errors(AttributeError):
                    f = run.compile(eval(f"lambda x: {source}.{method}", {"lucid": lucid, "w": w}))
                    for _ in range(4):
                        x = x0()
                        y = run.call(f, x)
                        run.see(method, y is x, y is w, isinstance(y, lucid.Tensor) and y.data_ptr() == x.data_ptr())

    def coroutines(run):
        k = [2.0]

        async def work(x):
            return x * k[0]

        f = run.compile(work)
        for i in range(5):
            k[0] = 2.0 if i < 3 else 3.0
            run.see(asyncio.run(f(x0())))

    def asynchronous_iteration(run):
        async def numbers(x):
            for i in range(3):
                yield x * i

        async def collect(f):
            return [v async for v in f(x0())]

        f = run.compile(numbers)
        for _ in range(3):
            run.see(asyncio.run(collect(f)))
