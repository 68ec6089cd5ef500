"""Globals, closures and defaults that change between calls."""

from .._harness import Programs, program, sample

G = 2.0
GT = None
GL = []
GD = {}
GF = None
GN = 0


class Names(Programs, compiles=True, guards=True):
    def global_float(run):
        global G
        G = 2.0
        f = run.compile(lambda x: x * G)
        for i in range(8):
            G = 2.0 + i // 3
            run.call(f, sample(i))

    def global_tensor_rebound(run):
        global GT

        def f(x):
            return x + GT

        f = run.compile(f)
        for i in range(8):
            if i % 3 == 0:
                GT = sample(100 + i)
            run.call(f, sample(i))

    def global_tensor_written(run):
        global GT
        GT = sample(5)

        run.repeat(run.compile(lambda x: x + GT), sample, n=8, before=lambda i: GT.mul_(1.5))

    def global_list_inplace(run):
        GL[:] = [1.0, 2.0]

        def f(x):
            for s in GL:
                x = x * s
            return x

        run.repeat(run.compile(f), sample, n=8, before=lambda i: i % 3 == 2 and GL.append(i))

    def global_list_setitem(run):
        GL[:] = [1.0, 2.0]
        f = run.compile(lambda x: x * GL[0] + GL[1])
        run.repeat(f, sample, n=8, before=lambda i: GL.__setitem__(0, float(i // 3)))

    def global_dict_value(run):
        GD.clear()
        GD["s"] = 1.0
        run.repeat(run.compile(lambda x: x * GD["s"]), sample, n=8, before=lambda i: GD.__setitem__("s", float(i // 3)))

    def global_dict_nested(run):
        GD.clear()
        GD["a"] = {"b": [1.0, {"c": 2.0}]}
        f = run.compile(lambda x: x * GD["a"]["b"][1]["c"])
        run.repeat(f, sample, n=8, before=lambda i: GD["a"]["b"][1].__setitem__("c", float(i // 3)))

    def global_function_rebound(run):
        global GF
        GF = lambda x: x + 1  # noqa: E731

        def f(x):
            return GF(x)

        f = run.compile(f)
        for i in range(8):
            if i == 4:
                GF = lambda x: x * 7  # noqa: E731
            run.call(f, sample(i))

    @program(eager="the call writes global GN")
    def global_written_inside(run):
        global GN
        GN = 0

        def f(x):
            global GN
            GN += 1
            return x * GN

        run.repeat(run.compile(f), sample, n=12, see=lambda: (GN,))

    def global_fn_monkeypatch_code(run):
        def h(x):
            return x + 1

        def h2(x):
            return x - 1

        run.repeat(run.compile(lambda x: h(x)), sample, n=8, at={5: lambda: setattr(h, "__code__", h2.__code__)})

    def closure_number(run):
        s = 1.0

        def f(x):
            return x * s

        f = run.compile(f)
        for i in range(8):
            s = 1.0 + i // 3
            run.call(f, sample(i))

    @program(one_call=True)
    def closure_nonlocal_counter(run):
        n = 0

        def f(x):
            nonlocal n
            n += 1
            return x + 1

        run.repeat(run.compile(f), sample, n=12, see=lambda: (n,))

    def closure_tensor(run):
        w = sample(9)

        def f(x):
            return x * w

        f = run.compile(f)
        for i in range(8):
            if i == 3:
                w.add_(1)
            if i == 5:
                w = sample(10)
            run.call(f, sample(i))

    def closure_list_of_tensors(run):
        ws = [sample(1), sample(2)]

        def f(x):
            for w in ws:
                x = x + w
            return x

        run.repeat(run.compile(f), sample, n=8, at={3: lambda: ws.__setitem__(0, sample(7)), 5: lambda: ws.pop()})

    def closure_of_closure(run):
        s = 1.0

        def outer():

            def inner(x):
                return x * s

            return inner

        g = outer()
        f = run.compile(lambda x: g(x))
        for i in range(8):
            s = 1.0 + i // 4
            run.call(f, sample(i))

    def default_arg_number(run):
        def f(x, s=2.0):
            return x * s

        run.repeat(run.compile(f), sample, n=8, at={4: lambda: setattr(f, "__defaults__", (5.0,))})

    def default_arg_list(run):
        def f(x, s=[1.0]):  # noqa: B006
            return x * s[0]

        d = f.__defaults__[0]
        run.repeat(run.compile(f), sample, n=8, before=lambda i: d.__setitem__(0, float(i // 3)))

    @program(eager="the call writes a default of f")
    def default_arg_accumulates(run):
        def f(x, acc=[]):  # noqa: B006
            acc.append(1)
            return x * len(acc)

        run.repeat(run.compile(f), sample, n=8)

    def kwdefault(run):
        def f(x, *, s=2.0):
            return x * s

        run.repeat(run.compile(f), sample, n=8, at={4: lambda: setattr(f, "__kwdefaults__", {"s": 5.0})})

    def kwdefault_inplace(run):
        def f(x, *, s=2.0):
            return x * s

        run.repeat(run.compile(f), sample, n=8, at={4: lambda: f.__kwdefaults__.__setitem__("s", 5.0)})
