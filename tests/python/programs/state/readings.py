"""What code reads of tensors, modules, functions and compiled functions, changed between calls."""

import copy
import functools

import lucid
from lucid import nn

from .._harness import Programs, program, x0, xg

READINGS = dict(
    contiguous=lambda t: t.is_contiguous(),
    stride=lambda t: t.stride()[0],
    offset=lambda t: t.storage_offset(),
    needs_grad=lambda t: t.requires_grad,
    leaf=lambda t: t.is_leaf,
    kind=lambda t: 2 if t.dtype is lucid.float32 else 3,
    function=lambda t: 2 if t.grad_fn is None else 3,
    retains=lambda t: t.retains_grad,
    gradient=lambda t: 2 if t.grad is None else 3,
    view=lambda t: t._is_view(),
    cls=lambda t: len(type(t).__name__),
    size=lambda t: t.nbytes,
    element=lambda t: t.element_size(),
    dimensions=lambda t: t.ndim + t.dim(),
    item=lambda t: t[0].item(),
    truth=lambda t: bool(t[0] > 2),
    length=lambda t: len(t),
    text=lambda t: len(str(t)),
    listed=lambda t: t.tolist()[0],
    array=lambda t: t.detach().numpy()[0].item(),
    pointer=lambda t: t.data_ptr() % 2 + 1,
    hashed=lambda t: (hash(t) == hash(t)) + 1,
)


def _tensors():
    yield "wide", lucid.ones(6)[::2]
    yield "late", lucid.arange(5).float()[2:]
    yield "double", lucid.ones(3, dtype=lucid.float64)
    yield "needing", xg()
    yield "computed", xg() * 2
    yield "parameter", nn.Parameter(x0())
    yield "values", lucid.tensor([9.0, 8.0, 7.0])
    yield "longer", lucid.ones(5)
    yield "two", lucid.ones(3, 2)
    written = x0()
    written.add_(1)
    yield "written", written
    held = xg()
    held.grad = x0()
    yield "held", held


class Readings(Programs):
    def whether_buffers_are_saved(run):
        m = nn.Module()
        b = x0()
        m.register_buffer("b", b, persistent=False)

        run.changes(
            lambda x: (x * 2, list(m.state_dict())), lambda: m.register_buffer("b", b, persistent=True), args=(x0,)
        )

    def hooks_of_all_modules(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        k = [2.0]
        f = run.compile(lambda x: m(x).sum().backward())

        def go():
            for _ in range(3):
                m.zero_grad()
                run.call(f, x0())
                run.see(*(p.grad for p in m.parameters()))

        go()
        handles = [nn.register_module_full_backward_hook(lambda m, i, o: tuple(g * k[0] for g in i if g is not None))]
        try:
            go()
            k[0] = 3.0
            go()
            handles.append(nn.register_module_forward_pre_hook(lambda m, i: (i[0] * k[0],)))
            go()
            k[0] = 4.0
            go()
        finally:
            for handle in handles:
                handle.remove()
        go()

    def compiled_inside(run):
        k = [2.0]
        compile = lucid.compile if run.compiled else (lambda f: f)

        run.changes(lambda x: compile(lambda y: y * k[0])(x) + 1, lambda: k.__setitem__(0, 3.0), args=(x0,))

    def a_module_compiled_inside(run):
        m = nn.Linear(3, 3)
        compile = lucid.compile if run.compiled else (lambda f: f)

        run.changes(
            lambda x: compile(m)(x), lambda: m.weight.data.mul_(2), lambda: setattr(m, "bias", None), args=(x0,)
        )

    def a_module_copied_inside(run):
        m = nn.Linear(3, 3)
        m.gain = [2.0]

        def write():
            m.weight.data.mul_(2)

        run.changes(
            lambda x: copy.deepcopy(m)(x) * copy.copy(m).gain[0], lambda: m.gain.__setitem__(0, 3.0), write, args=(x0,)
        )

    def a_function_class_made_inside(run):
        k = [2.0]

        def step(x, scale):
            class Scale(lucid.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x * scale

                @staticmethod
                def backward(ctx, g):
                    return g * scale * k[0]

            return Scale.apply(x)

        f = run.compile(step)
        for i in range(8):
            if i == 5:
                k[0] = 3.0
            x = xg()
            y = run.call(f, x, 2.0 if i < 3 else 4.0)
            if i == 6:
                k[0] = 9.0
            y.sum().backward()
            run.see(x.grad)

    def results_with_gradients(run):
        def step(x):
            y = x * 2
            y.retain_grad()
            (y * y).sum().backward()
            z = x.detach() * 3
            z.grad = x.detach() * 4
            return y, z

        f = run.compile(step)
        for _ in range(4):
            y, z = run.call(f, xg())
            run.see(y.grad, z.grad)

    def numbers_of_other_types(run):
        k, t = [2], lucid.tensor([1, 2, 3])

        steps = [functools.partial(k.__setitem__, 0, v) for v in (2.0, True, 1, 1.0, 0.0, -0.0, 2, lucid.tensor(2), 2j)]
        run.changes(lambda: (t * k[0], type(k[0]).__name__), *steps)

    def keys_of_other_types(run):
        d = {1: 2.0}

        def true():
            d.clear()
            d[True] = 2.0

        def real():
            d.clear()
            d[1.0] = 2.0

        def text():
            d.clear()
            d["1"] = 2.0

        run.changes(lambda x: (x * sum(d.values()), [type(k).__name__ for k in d]), true, real, text, args=(x0,))

    @program("reading_{}_of_an_argument", each=READINGS)
    def of_an_argument(run, read):
        f = run.compile(lambda t: lucid.ones(2) * read(t))
        run.repeat(f, x0)
        for name, t in _tensors():
            run.see(name)
            run.repeat(f, t, n=2)

    @program("reading_{}_of_state", each=READINGS)
    def of_state(run, read):
        held = [x0()]
        f = run.compile(lambda: lucid.ones(2) * read(held[0]))
        run.repeat(f)
        for name, t in _tensors():
            run.see(name)
            held[0] = t
            run.repeat(f, n=2)

    @program("reading_{}_of_a_gradient", each=READINGS)
    def of_a_gradient(run, read):
        w = xg()
        w.grad = x0()
        f = run.compile(lambda: lucid.ones(2) * read(w.grad))
        run.repeat(f)
        for name, t in _tensors():
            run.see(name)
            with run.errors():
                w.grad = t
            run.repeat(f, n=2)

    @program("reading_{}_of_data", each=READINGS)
    def of_data(run, read):
        w = x0()
        f = run.compile(lambda: lucid.ones(2) * read(w))
        run.repeat(f)
        for name, t in _tensors():
            run.see(name)
            with run.errors():
                w.data = t.detach()
            run.repeat(f, n=2)
