"""What Python can tell of a tensor without looking at its values."""

import lucid
from lucid import nn

from .._harness import Programs, vary, x0


class Metadata(Programs):
    def container_alias_args(run):
        f = run.compile(lambda x, a, b: x * 2 if a is b else x * 3)
        l = [1, 2]
        run.repeat(f, x0, l, l)
        run.call(f, x0(), [1, 2], [1, 2])
        run.call(f, x0(), l, l)

    def container_sentinel_arg(run):
        D = {}
        f = run.compile(lambda x, o: x * 2 if o is D else x * 3)
        run.repeat(f, x0, D)
        run.call(f, x0(), {})
        run.call(f, x0(), D)

    def default_sentinel_list(run):
        D = []

        def g(x, o=D):
            return x * 2 if o is D else x * 3

        f = run.compile(g)
        run.repeat(f, x0, vary(lambda _: []))
        run.call(f, x0(), D)
        run.call(f, x0())
        run.call(f, x0(), [])

    def sentinel_tuple_str(run):
        S = "sentinel-" + str(1)
        f = run.compile(lambda x, o: x * 2 if o is S else x * 3)
        run.repeat(f, x0, S)
        run.call(f, x0(), "".join(["sentinel", "-", "1"]))

    def hash_of_arg(run):
        f = run.compile(lambda x: x * (hash(x) % 1000003))
        xs = [x0() for _ in range(4)]
        for x in xs:
            r = f(x)
            run.see(bool((r == x * (hash(x) % 1000003)).all().item()))

    def set_of_args_order(run):
        def g(a, b, c, d):
            o = lucid.zeros(3)
            for t in {a, b, c, d}:
                o = o * 2 + t
            return o

        f = run.compile(g)
        import random as R

        for s in range(6):
            keep = [x0() for _ in range(40)]
            R.Random(s).shuffle(keep)
            for i, t in enumerate(keep):
                t.mul_(i + 1)
            a = keep[:4]
            run.see(bool((f(*a) == g(*a)).all().item()))

    def dict_by_tensor_id_order(run):
        class O:
            pass

        def g(x, a, b, c):
            s = 0
            for _i, o in enumerate({a, b, c}):
                s = s * 2 + o.k
            return x * s

        f = run.compile(g)
        for s in range(8):
            os_ = [O() for _ in range(9)]
            for i, o in enumerate(os_):
                o.k = i
            import random as R

            l = os_[:3]
            R.Random(s).shuffle(l)
            for i, o in enumerate(l):
                o.k = i + 1
            run.see(bool((f(x0(), *l) == g(x0(), *l)).all().item()))

    def is_leaf_arg(run):
        f = run.compile(lambda x: x * 2 if x.is_leaf else x * 3)
        a = x0().requires_grad_()
        run.repeat(f, a)
        run.call(f, a * 1)
        run.call(f, a)

    def grad_fn_arg(run):
        f = run.compile(lambda x: x * 2 if x.grad_fn is None else x * 3)
        a = x0().requires_grad_()
        run.repeat(f, a)
        run.call(f, a * 1)
        run.call(f, a)

    def grad_fn_name_arg(run):
        f = run.compile(lambda x: x * len(str(x.grad_fn.name if not callable(x.grad_fn.name) else x.grad_fn.name())))
        a = x0().requires_grad_()
        run.repeat(f, vary(lambda _: a * 1))
        run.call(f, a.softmax(0))
        run.call(f, a * 1)

    def storage_offset_arg(run):
        f = run.compile(lambda x: x * (1 + x.storage_offset()))
        a = lucid.arange(10).float()
        run.repeat(f, vary(lambda _: a[0:3]))
        run.call(f, a[2:5])

    def is_view_arg(run):
        f = run.compile(lambda x: x * 2 if x._is_view() else x * 3)
        a = lucid.arange(10).float()
        run.repeat(f, vary(lambda _: a[0:3]))
        run.call(f, lucid.ones(3))

    def retains_grad_arg(run):
        f = run.compile(lambda x: x * 2 if x.retains_grad else x * 3)
        a = x0().requires_grad_()
        run.repeat(f, vary(lambda _: a * 1))
        b = a * 1
        b.retain_grad()
        run.call(f, b)

    def data_ptr_arg(run):
        f = run.compile(lambda x: x * (x.data_ptr() % 7919))
        keep = []
        for _ in range(4):
            x = lucid.ones(3 * (1))
            keep.append(x)
            run.see(bool((f(x) == x * (x.data_ptr() % 7919)).all().item()))

    def state_is_leaf(run):
        w = [x0().requires_grad_()]
        b = x0().requires_grad_()

        f = run.compile(lambda x: x * 2 if w[0].is_leaf else x * 3)
        run.repeat(f, x0, n=4, at={3: lambda: w.__setitem__(0, b * 1)})

    def state_inplace_becomes_nonleaf(run):
        w = x0()
        b = x0().requires_grad_()

        run.repeat(run.compile(lambda x: x * 2 if w.is_leaf else x * 3), x0, n=4, at={3: lambda: w.add_(b)})

    def state_grad_fn_changes(run):
        b = x0().requires_grad_()
        w = b * 1

        f = run.compile(lambda x: x * len(w.grad_fn.name() if callable(w.grad_fn.name) else w.grad_fn.name))
        run.repeat(f, x0, n=4, at={3: lambda: w.sigmoid_()})

    def state_retains_grad(run):
        b = x0().requires_grad_()
        w = b * 1
        run.repeat(run.compile(lambda x: x * 2 if w.retains_grad else x * 3), x0, n=4, at={3: lambda: w.retain_grad()})

    def tensor_attr_arg(run):
        f = run.compile(lambda x: x * x.scale)

        class TT(lucid.Tensor):
            pass

        def mk(s):
            t = nn.Parameter(x0())
            t.scale = s
            return t

        run.repeat(f, vary(lambda _: mk(2.0)))
        run.call(f, mk(3.0))

    def tensor_plain_attr(run):
        t = x0()
        try:
            t.scale = 2.0
        except AttributeError as e:
            run.see(e)
            return
        run.repeat(run.compile(lambda x: x * x.scale), t, n=4, at={3: lambda: setattr(t, "scale", 3.0)})

    def grad_is_none_arg(run):
        f = run.compile(lambda x: x * 2 if x.grad is None else x * 3)
        a = x0().requires_grad_()
        run.repeat(f, a, n=5, at={3: lambda: setattr(a, "grad", x0()), 4: lambda: setattr(a, "grad", None)})

    def grad_shape_state(run):
        w = nn.Parameter(x0())
        w.grad = x0()
        f = run.compile(lambda x: x + w.grad)
        run.repeat(f, x0, n=5, at={3: lambda: setattr(w, "grad", x0() * 5), 4: lambda: setattr(w, "grad", None)})
