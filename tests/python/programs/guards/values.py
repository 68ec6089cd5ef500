"""Tensor values that are read in Python."""

import logging

import lucid

from .._harness import Net, Programs, program, repeat, sample, vary


class Values(Programs, compiles=True, guards=True):
    @program(branches=True)
    def while_tol(run):
        def f(x):
            n = 0
            while x.max() > 0.1:
                x = x * 0.5
                n += 1
            return (x, n)

        run.repeat(run.compile(f), sample, n=20)

    @program(one_call=True)
    def item_logged_list(run):
        log = []

        def f(x):
            items = x.mean()
            log.append(items.item())
            return items

        run.repeat(run.compile(f), sample, n=20, see=lambda: (list(log),))

    @program(one_call=True)
    def float_logged_list(run):
        log = []

        def f(x):
            items = x.mean()
            log.append(float(items))
            return items

        run.repeat(run.compile(f), sample, n=20, see=lambda: (list(log),))

    @program(one_call=True)
    def tensor_logged_list(run):
        log = []

        def f(x):
            items = x.mean()
            log.append(items)
            return items

        run.repeat(run.compile(f), sample, n=12, see=lambda: (list(log),))

    @program(eager="the call writes closure log", reported="reads a value of a tensor")
    def item_logged_and_read(run):
        log = []

        def f(x):
            items = x.mean()
            log.append(items.item())
            return items * len(log)

        run.repeat(run.compile(f), sample, n=14, see=lambda: (list(log),))

    @program(reads="reads a value of a tensor")
    def item_times_tensor(run):
        run.repeat(run.compile(lambda x: x * x.max().item()), sample, n=20)

    @program(eager="the call writes self.scale", reported="reads a value of a tensor")
    def item_ema_on_self(run):
        class M(Net):
            def forward(self, x):
                self.scale = 0.9 * self.scale + 0.1 * x.mean().item()
                return x * self.scale

        m = M()
        run.repeat(run.compile(m), sample, n=20, see=lambda: (m.scale,))

    @program(branches=True)
    def int_item_index(run):
        def f(x):
            k = int(x.sum().item() > 0)
            return x[k]

        run.repeat(run.compile(f), sample, n=20)

    @program(branches=True)
    def assert_value(run):
        def f(x):
            assert x.max() > 0.5, "small"
            return x * 2

        run.repeat(run.compile(f), vary(lambda i: sample(i) * (0.0 if i % 5 == 4 else 1.0)), n=12)

    @program(branches=True)
    def early_exit(run):
        def f(x):
            for k in range(4):
                x = x * 0.5
                if x.max() < 0.4:
                    return (x, k)
            return (x, -1)

        run.repeat(run.compile(f), sample, n=20)

    @program(reads="reads a value of a tensor", one_call=True)
    def print_tensor(run):
        buf = []

        def show(*a):
            buf.append(" ".join(map(str, a)))

        def f(x):
            show(x.sum())
            return x

        run.repeat(run.compile(f), sample, n=8, see=lambda: (list(buf),))

    def print_plain(run):
        def f(x):
            print("called", x.shape)
            return x * 2

        run.repeat(run.compile(f), sample, n=8)

    def print_in_helper(run):
        def log(m):
            print(m, end="")

        def f(x):
            log("a")
            return x * 2

        run.repeat(run.compile(f), sample, n=8)

    def logging_call(run):
        lg = logging.getLogger("proto")

        def f(x):
            lg.debug("hi")
            return x * 2

        run.repeat(run.compile(f), sample, n=8)

    @program(reads="hands a tensor to NumPy")
    def numpy_inside(run):
        run.repeat(run.compile(lambda x: x * float(x.numpy().sum())), sample, n=8)

    @program(reads="reads values of a tensor")
    def tolist_inside(run):
        run.repeat(run.compile(lambda x: lucid.tensor(x.tolist()) * 2), sample, n=14)


class BranchesValues(Programs, compiles=True, guards=True, branches=True):
    if_sum = repeat(lambda x: x * 2 if x.sum() > 0 else x - 1, sample, n=20)
    item_in_condition = repeat(lambda x: x if x.mean().item() > 0 else -x, sample, n=20)
    item_returned = repeat(lambda x: (x * 2, x.sum().item()), sample, n=20)
    tensor_max_builtin = repeat(lambda x, y: max(x.sum(), y.sum()), sample, vary(lambda i: sample(i + 1)), n=12)
