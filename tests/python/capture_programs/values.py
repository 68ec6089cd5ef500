"""Tensor values that are read in Python."""

import logging

import lucid

from ._common import CALLS, Net, attempt, program, sample


@program
def if_sum(compile):
    f = compile(lambda x: x * 2 if x.sum() > 0 else x - 1)
    for i in range(20):
        yield f(sample(i))


@program
def while_tol(compile):

    def f(x):
        n = 0
        while x.max() > 0.1:
            x = x * 0.5
            n += 1
        return (x, n)

    f = compile(f)
    for i in range(20):
        yield f(sample(i))


@program
def item_in_condition(compile):
    f = compile(lambda x: x if x.mean().item() > 0 else -x)
    for i in range(20):
        yield f(sample(i))


@program
def item_logged_list(compile):
    log = []

    def f(x):
        items = x.mean()
        log.append(items.item())
        return items

    f = compile(f)
    for i in range(20):
        yield (f(sample(i)), list(log))


@program
def float_logged_list(compile):
    log = []

    def f(x):
        items = x.mean()
        log.append(float(items))
        return items

    f = compile(f)
    for i in range(20):
        yield (f(sample(i)), list(log))


@program
def tensor_logged_list(compile):
    log = []

    def f(x):
        items = x.mean()
        log.append(items)
        return items

    f = compile(f)
    for i in range(12):
        yield (f(sample(i)), list(log))


@program
def item_logged_and_read(compile):
    log = []

    def f(x):
        items = x.mean()
        log.append(items.item())
        return items * len(log)

    f = compile(f)
    for i in range(14):
        yield (f(sample(i)), list(log))


@program
def item_returned(compile):
    f = compile(lambda x: (x * 2, x.sum().item()))
    for i in range(20):
        yield f(sample(i))


@program
def item_times_tensor(compile):
    f = compile(lambda x: x * x.max().item())
    for i in range(20):
        yield f(sample(i))


@program
def item_ema_on_self(compile):

    class M(Net):
        def forward(self, x):
            self.scale = 0.9 * self.scale + 0.1 * x.mean().item()
            return x * self.scale

    m = M()
    f = compile(m)
    for i in range(20):
        yield (f(sample(i)), m.scale)


@program
def int_item_index(compile):

    def f(x):
        k = int(x.sum().item() > 0)
        return x[k]

    f = compile(f)
    for i in range(20):
        yield f(sample(i))


@program
def tensor_max_builtin(compile):
    f = compile(lambda x, y: max(x.sum(), y.sum()))
    for i in range(12):
        yield f(sample(i), sample(i + 1))


@program
def assert_value(compile):

    def f(x):
        assert x.max() > 0.5, "small"
        return x * 2

    f = compile(f)
    for i in range(12):
        yield attempt(f, sample(i) * (0.0 if i % 5 == 4 else 1.0))


@program
def early_exit(compile):

    def f(x):
        for k in range(4):
            x = x * 0.5
            if x.max() < 0.4:
                return (x, k)
        return (x, -1)

    f = compile(f)
    for i in range(20):
        yield f(sample(i))


@program
def print_tensor(compile):
    buf = []

    def show(*a):
        buf.append(" ".join(map(str, a)))

    def f(x):
        show(x.sum())
        return x

    f = compile(f)
    for i in range(CALLS):
        yield (f(sample(i)), list(buf))


@program
def print_plain(compile):

    def f(x):
        print("called", x.shape)
        return x * 2

    f = compile(f)
    for i in range(CALLS):
        yield f(sample(i))


@program
def print_in_helper(compile):

    def log(m):
        print(m, end="")

    def f(x):
        log("a")
        return x * 2

    f = compile(f)
    for i in range(CALLS):
        yield f(sample(i))


@program
def logging_call(compile):
    lg = logging.getLogger("proto")

    def f(x):
        lg.debug("hi")
        return x * 2

    f = compile(f)
    for i in range(CALLS):
        yield f(sample(i))


@program
def numpy_inside(compile):
    f = compile(lambda x: x * float(x.numpy().sum()))
    for i in range(CALLS):
        yield f(sample(i))


@program
def tolist_inside(compile):
    f = compile(lambda x: lucid.tensor(x.tolist()) * 2)
    for i in range(14):
        yield f(sample(i))
