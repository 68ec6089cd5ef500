"""What Python can see of tensors, and errors that depend on values."""

import pickle

import lucid
import numpy as np
from lucid import nn

from .._harness import Programs, x0, xg


class VisibleInPython(Programs):
    def error_that_depends_on_values(run):
        def f(x, index):
            try:
                return x[index] * 2
            except IndexError:
                return x * 3

        f = run.compile(f)
        for at in (9, 9, 9, 1, 1, 9, 1):
            run.call(f, x0(), lucid.tensor([at]))

    def error_that_depends_on_values_in_a_function(run):
        table = lucid.tensor([[1.0], [2.0]])

        def f(index):
            try:
                return nn.functional.embedding(index, table)
            except Exception:
                return table * 3

        f = run.compile(f)
        for at in (9, 9, 9, 1, 1, 9, 1):
            run.call(f, lucid.tensor([at]))

    def error_of_a_matrix(run):
        def f(m):
            try:
                return lucid.linalg.inv(m)
            except Exception:
                return m * 3

        f = run.compile(f)
        for m in (
            lucid.zeros(2, 2),
            lucid.zeros(2, 2),
            lucid.zeros(2, 2),
            lucid.eye(2) * 2,
            lucid.eye(2),
            lucid.zeros(2, 2),
        ):
            run.call(f, m)

    def error_of_an_item(run):
        def f(x):
            try:
                return x * 2 if bool(x) else x * 3
            except Exception:
                return x * 5

        f = run.compile(f)
        run.repeat(f, x0)
        for value in (1.0, 1.0, 0.0):
            run.call(f, lucid.tensor([value]))

    def values_read_as_python(run):
        for read in (
            lambda x: x[0].item(),
            lambda x: float(x[0]),
            lambda x: int(x[0]),
            lambda x: x.tolist()[0],
            lambda x: len(str(x)),
            lambda x: len(f"{x[0]:.3f}"),
            lambda x: float(np.asarray(x)[0]),
            lambda x: float(x.numpy()[0]),
            lambda x: [1, 2, 3][lucid.tensor(1).__index__()] + float(x[1]),
            lambda x: 2.0 if x[0] in [lucid.tensor(1.0)] else 3.0,
            lambda x: 2.0 if x[0] else 3.0,
            lambda x: float(max(x[0], x[1])),
            lambda x: float(sorted(x)[0]),
            lambda x: 2.0 if (x == x0()).all() else 3.0,
            lambda x: 2.0 if lucid.equal(x, x0()) else 3.0,
            lambda x: float(sum(x)),
            lambda x: memoryview(x.numpy())[0],
            lambda x: pickle.dumps(x.tolist())[-3],
            lambda x: len({float(v) for v in x}),
            lambda x: float(round(float(x[2]))),
            lambda x: float(hash(float(x[0])) % 7),
        ):
            f = run.compile(lambda x, read=read: x * read(x))
            for values in (
                [1.0, 2.0, 3.0],
                [1.0, 2.0, 3.0],
                [1.0, 2.0, 3.0],
                [0.0, 5.0, 5.5],
                [0.0, 5.0, 5.5],
                [1.0, 2.0, 3.0],
            ):
                run.call(f, lucid.tensor(values))

    def facts_of_tensors(run):
        base = lucid.arange(12.0)
        variants = [
            lambda: x0(),
            lambda: xg(),
            lambda: xg() * 1,
            lambda: base[1:4],
            lambda: base[0:9:3],
            lambda: base.reshape(4, 3)[1],
            lambda: xg().detach(),
            lambda: nn.Parameter(x0()),
            lambda: x0().expand(3),
            lambda: lucid.tensor([1, 2, 3]),
        ]
        for read in (
            lambda x: x.storage_offset(),
            lambda x: x.stride()[0],
            lambda x: x.is_leaf,
            lambda x: x.grad_fn is None,
            lambda x: x.requires_grad,
            lambda x: x.is_contiguous(),
            lambda x: x.grad is None,
            lambda x: isinstance(x, nn.Parameter),
            lambda x: len(type(x).__name__),
            lambda x: x.dtype is lucid.float32,
            lambda x: x.is_floating_point(),
            lambda x: getattr(x, "_base", None) is None,
            lambda x: x.element_size() + x.ndim + x.numel(),
            lambda x: len(repr(x.grad_fn)) > 5,
            lambda x: hasattr(x, "tag"),
        ):
            f = run.compile(lambda x, read=read: lucid.ones(3) * int(read(x)))
            for make in variants:
                for _ in range(2):
                    x = make()
                    run.repeat(f, x, n=2)

    def attribute_of_a_tensor_argument(run):
        f = run.compile(lambda x: x * (2 if getattr(x, "tag", None) == "a" else 3))
        w = nn.Parameter(x0())
        for tag in (None, "a", "b", "a"):
            w.tag = tag
            run.repeat(f, w)
        del w.tag
        run.call(f, w)

    def gradient_hooks_added_later(run):
        seen = []
        w = nn.Parameter(x0())

        def f(x):
            loss = (x * w).sum()
            loss.backward()
            return loss

        f = run.compile(f)
        run.repeat(f, x0)
        handle = w.register_hook(lambda g: seen.append(1))
        run.repeat(f, x0, at={2: lambda: handle.remove()})
        run.see(len(seen), w.grad)

    def shape_as_a_key(run):
        table = {(3,): 2.0, (2,): 5.0}
        f = run.compile(lambda x: x * table[tuple(x.shape)])
        for size in (3, 3, 3, 2, 2, 3):
            run.call(f, lucid.ones(size))
        table[(3,)] = 7.0
        run.call(f, lucid.ones(3))

    def result_is_the_argument(run):
        f = run.compile(lambda x, flag: x if flag else x * 2)
        x = x0()
        for flag in (True, True, True, False, False, True):
            run.see(f(x, flag) is x)

    def result_shares_memory(run):
        f = run.compile(lambda x: (x, x[1:], x.reshape(3, 1)))
        for _ in range(3):
            x = x0()
            a, b, c = f(x)
            x.add_(1)
            run.see(a, b, c)

    def hook_removed_by_the_call(run):
        seen = []
        w = nn.Parameter(x0())
        handle = w.register_hook(lambda g: seen.append(1))

        def f(x):
            handle.remove()
            return x * 2

        f = run.compile(f)
        for _ in range(4):
            run.call(f, x0())
            (w * 2).sum().backward()
            handle = w.register_hook(lambda g: seen.append(1))
        run.see(len(seen), w.grad)

    def module_hook_removed_by_the_call(run):
        seen = []
        model = nn.Linear(3, 3)
        handles = [model.register_forward_hook(lambda *args: seen.append(1)) for _ in range(5)]
        n = [0]

        def f(x):
            handles[n[0]].remove()
            return x * 2

        f = run.compile(f)
        for i in range(5):
            n[0] = min(i, 1)
            run.call(f, x0())
            model(x0())
            run.see(len(seen))

    def same_module_hook_removed_again(run):
        seen = []
        model = nn.Linear(3, 3)
        holder = [model.register_forward_hook(lambda *args: seen.append(1))]
        f = run.compile(lambda x: (holder[0].remove(), x * 2)[1])
        run.repeat(f, x0, n=4)
        holder[0] = model.register_forward_hook(lambda *args: seen.append(1))
        run.call(f, x0())
        model(x0())
        run.see(len(seen))

    def denormals_flushed(run):
        f = run.compile(lambda x: x * 0.5)
        tiny = lucid.tensor([1.5e-38, 2e-38, 3e-38])
        try:
            for flush in (False, False, True, True, False):
                lucid.set_flush_denormal(flush)
                run.call(f, tiny)
        finally:
            lucid.set_flush_denormal(False)

    def default_dtype_inside(run):
        f = run.compile(
            lambda x: x.double() * lucid.tensor(0.1) * (2 if lucid.get_default_dtype() is lucid.float32 else 3)
        )
        for dtype in (lucid.float32, lucid.float32, lucid.float32, lucid.float64, lucid.float64, lucid.float32):
            lucid.set_default_dtype(dtype)
            run.call(f, x0())

    def grad_mode_read(run):
        f = run.compile(lambda x: x * (2 if lucid.is_grad_enabled() else 3) + int(lucid.is_inference_mode_enabled()))
        run.repeat(f, x0)
        with lucid.no_grad():
            run.repeat(f, x0, n=2)
        with lucid.inference_mode():
            run.repeat(f, x0, n=2)
        run.call(f, x0())

    def generator_seed_read(run):
        f = run.compile(lambda x: x * (lucid.initial_seed() % 7) + lucid.rand(3))
        for seed in (1, 1, 1, 2, 2, 1):
            lucid.manual_seed(seed)
            run.repeat(f, x0, n=2)

    def generator_passed(run):
        f = run.compile(lambda x, g: x * lucid.rand(3, generator=g))
        a, b = lucid.Generator(), lucid.Generator()
        a.manual_seed(1)
        b.manual_seed(2)
        run.over(f, a, a, a, b, a, b, None, a)

    def threads_and_print_options(run):
        f = run.compile(lambda x: x * lucid.get_num_threads() + len(repr(lucid.get_printoptions())))
        before = lucid.get_num_threads()
        try:
            for threads in (1, 1, 1, 2, 1):
                lucid.set_num_threads(threads)
                run.call(f, x0())
        finally:
            lucid.set_num_threads(before)

    def mode_of_a_module_set_by_the_call(run):
        model = nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 3))

        def f(x):
            model.train()
            y = model(x)
            model.eval()
            return y + model(x)

        f = run.compile(f)
        for _ in range(4):
            run.call(f, x0())
            run.see(model.training)
            model.train()

    def gradient_nodes_read(run):
        f = run.compile(lambda x: lucid.ones(3) * len(x.grad_fn.next_functions) if x.grad_fn is not None else x * 3)
        a = xg()
        for make in (lambda: a * 1, lambda: a * 1, lambda: a * a, lambda: a + a * 2, lambda: a, lambda: a * 1):
            run.call(f, make())

    def node_kept_as_state(run):
        holder = [xg() * 2]
        run.steps(run.compile(lambda x: x * len(holder[0].grad_fn.name())), lambda: holder.__setitem__(0, xg().exp()))

    def view_of_state_changes(run):
        base = lucid.arange(6.0)
        view = base[1:4]
        f = run.compile(lambda x: x * view + base[1:4])

        def change():
            base.add_(1)
            view.mul_(2)

        run.steps(f, change)

    def argument_that_is_a_view_of_state(run):
        base = lucid.arange(3.0)

        def f(x):
            base.add_(1)
            return x * 2

        f = run.compile(f)
        for x in (x0(), x0(), x0(), base[:], base, x0(), base.reshape(3)):
            run.call(f, x)
        run.see(base)
