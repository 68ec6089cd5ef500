"""Globals, closures and defaults that change between calls."""

from ._common import CALLS, program, sample

G = 2.0
GT = None
GL = []
GD = {}
GF = None
GN = 0


@program
def global_float(compile):
    global G
    G = 2.0
    f = compile(lambda x: x * G)
    for i in range(CALLS):
        G = 2.0 + i // 3
        yield f(sample(i))


@program
def global_tensor_rebound(compile):
    global GT

    def f(x):
        return x + GT

    f = compile(f)
    for i in range(CALLS):
        if i % 3 == 0:
            GT = sample(100 + i)
        yield f(sample(i))


@program
def global_tensor_written(compile):
    global GT
    GT = sample(5)

    def f(x):
        return x + GT

    f = compile(f)
    for i in range(CALLS):
        GT.mul_(1.5)
        yield f(sample(i))


@program
def global_list_inplace(compile):
    GL[:] = [1.0, 2.0]

    def f(x):
        for s in GL:
            x = x * s
        return x

    f = compile(f)
    for i in range(CALLS):
        if i % 3 == 2:
            GL.append(i)
        yield f(sample(i))


@program
def global_list_setitem(compile):
    GL[:] = [1.0, 2.0]
    f = compile(lambda x: x * GL[0] + GL[1])
    for i in range(CALLS):
        GL[0] = float(i // 3)
        yield f(sample(i))


@program
def global_dict_value(compile):
    GD.clear()
    GD["s"] = 1.0
    f = compile(lambda x: x * GD["s"])
    for i in range(CALLS):
        GD["s"] = float(i // 3)
        yield f(sample(i))


@program
def global_dict_nested(compile):
    GD.clear()
    GD["a"] = {"b": [1.0, {"c": 2.0}]}
    f = compile(lambda x: x * GD["a"]["b"][1]["c"])
    for i in range(CALLS):
        GD["a"]["b"][1]["c"] = float(i // 3)
        yield f(sample(i))


@program
def global_function_rebound(compile):
    global GF
    GF = lambda x: x + 1  # noqa: E731

    def f(x):
        return GF(x)

    f = compile(f)
    for i in range(CALLS):
        if i == 4:
            GF = lambda x: x * 7  # noqa: E731
        yield f(sample(i))


@program
def global_written_inside(compile):
    global GN
    GN = 0

    def f(x):
        global GN
        GN += 1
        return x * GN

    f = compile(f)
    for i in range(CALLS + 4):
        yield (f(sample(i)), GN)


@program
def global_fn_monkeypatch_code(compile):

    def h(x):
        return x + 1

    def h2(x):
        return x - 1

    def f(x):
        return h(x)

    f = compile(f)
    for i in range(CALLS):
        if i == 5:
            h.__code__ = h2.__code__
        yield f(sample(i))


@program
def closure_number(compile):
    s = 1.0

    def f(x):
        return x * s

    f = compile(f)
    for i in range(CALLS):
        s = 1.0 + i // 3
        yield f(sample(i))


@program
def closure_nonlocal_counter(compile):
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x + 1

    f = compile(f)
    for i in range(CALLS + 4):
        yield (f(sample(i)), n)


@program
def closure_tensor(compile):
    w = sample(9)

    def f(x):
        return x * w

    f = compile(f)
    for i in range(CALLS):
        if i == 3:
            w.add_(1)
        if i == 5:
            w = sample(10)
        yield f(sample(i))


@program
def closure_list_of_tensors(compile):
    ws = [sample(1), sample(2)]

    def f(x):
        for w in ws:
            x = x + w
        return x

    f = compile(f)
    for i in range(CALLS):
        if i == 3:
            ws[0] = sample(7)
        if i == 5:
            ws.pop()
        yield f(sample(i))


@program
def closure_of_closure(compile):
    s = 1.0

    def outer():

        def inner(x):
            return x * s

        return inner

    g = outer()
    f = compile(lambda x: g(x))
    for i in range(CALLS):
        s = 1.0 + i // 4
        yield f(sample(i))


@program
def default_arg_number(compile):

    def f(x, s=2.0):
        return x * s

    g = compile(f)
    for i in range(CALLS):
        if i == 4:
            f.__defaults__ = (5.0,)
        yield g(sample(i))


@program
def default_arg_list(compile):

    def f(x, s=[1.0]):  # noqa: B006
        return x * s[0]

    d = f.__defaults__[0]
    g = compile(f)
    for i in range(CALLS):
        d[0] = float(i // 3)
        yield g(sample(i))


@program
def default_arg_accumulates(compile):

    def f(x, acc=[]):  # noqa: B006
        acc.append(1)
        return x * len(acc)

    g = compile(f)
    for i in range(CALLS):
        yield g(sample(i))


@program
def kwdefault(compile):

    def f(x, *, s=2.0):
        return x * s

    g = compile(f)
    for i in range(CALLS):
        if i == 4:
            f.__kwdefaults__ = {"s": 5.0}
        yield g(sample(i))


@program
def kwdefault_inplace(compile):

    def f(x, *, s=2.0):
        return x * s

    g = compile(f)
    for i in range(CALLS):
        if i == 4:
            f.__kwdefaults__["s"] = 5.0
        yield g(sample(i))
