"""Tensors on memory that other libraries own: gradients, parameters, results and lifetimes."""

import lucid
import numpy as np
from lucid import nn

from .._harness import Programs, vary, xg


def flat(count=8):
    return np.arange(count, dtype=np.float32)


def write_both(a, b):
    b.mul_(2.0)
    a.add_(10.0)
    return b + 0.0


def repeat(run, function, memory, *tensors, calls=4):
    """Calls a function on the same tensors, and shows the memory after each call."""
    f = run.compile(function)
    for _ in range(calls):
        run.call(f, *tensors)
        run.see(memory)


def lenet():
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))


def give_flat_gradients(model):
    """Makes the gradients slices of one array, as libraries that reduce gradients do."""
    parameters = list(model.parameters())
    gradients = np.zeros(sum(p.numel() for p in parameters), np.float32)
    at = 0
    for p in parameters:
        p.grad = lucid.from_numpy(gradients[at : at + p.numel()].reshape(tuple(p.shape)))
        at += p.numel()
    return gradients


class ImportedWrites(Programs):
    def imported_fields(run):
        memory = np.zeros(4, dtype=[("x", np.float32), ("y", np.float32), ("n", np.int32)])
        memory["x"], memory["y"], memory["n"] = 1, 2, 3
        fields = [lucid.from_numpy(memory[name]) for name in ("x", "y")]
        repeat(run, write_both, memory["x"].copy(), *fields)
        run.see(*(memory[name].copy() for name in ("x", "y", "n")))

    def imported_scalars(run):
        memory = flat(3)
        repeat(run, write_both, memory, lucid.from_numpy(memory), lucid.from_numpy(memory[1:2].reshape(())))

    def imported_copies_and_empty(run):
        memory = flat()
        readonly = memory[:4].view()
        readonly.flags.writeable = False
        whole = lucid.from_numpy(memory)
        for other in (readonly, memory[::-1], memory[:0], memory[3:3]):
            f = run.compile(lambda a, b: (a.add_(1.0), b.mul_(2.0), b + 0.0)[2])
            run.repeat(f, whole, vary(lambda _: lucid.from_numpy(other)), see=lambda: (memory, other.copy()))

    def imported_views_of_views(run):
        def step(a, b):
            a[1:].copy_(b[:-1])
            b.view(2, 3)[1].zero_()
            return a[::2] + b[::2]

        memory = flat()
        repeat(run, step, memory, lucid.from_numpy(memory[:6]), lucid.from_numpy(memory[2:]))

    def imported_overlap_in_one_op(run):
        memory = flat()
        a, b = lucid.from_numpy(memory[1:7]), lucid.from_numpy(memory[:6])
        repeat(run, lambda a, b: a.copy_(b), memory, a, b)
        repeat(run, lambda a, b: a.add_(b), memory, a, b)
        repeat(run, lambda a, b: b.mul_(a), memory, a, b)
        repeat(run, lambda a, b: a.copy_(b.flip(0)), memory, a, b)

    def imported_returned(run):
        def step(a, b):
            a.add_(1.0)
            return a, b, b[1:], a.detach()

        f = run.compile(step)
        memory = flat()
        a, b = lucid.from_numpy(memory), lucid.from_numpy(memory[2:5])
        for _ in range(4):
            results = run.call(f, a, b)
            results[2].mul_(2.0)
            results[3].add_(1.0)
            run.see(memory, results[0] is a, results[1] is b)

    def imported_under_grad(run):
        def step(x, a, b):
            y = x * a
            b.mul_(3.0)
            z = y * b
            a.add_(1.0)
            return z.sum()

        f = run.compile(step)
        memory = flat(4)
        a, b = lucid.from_numpy(memory[:3]), lucid.from_numpy(memory[1:])
        for _ in range(4):
            x = xg()
            loss = run.call(f, x, a, b)
            memory += 1
            loss.backward()
            run.see(x.grad, memory)

    def imported_leaf_under_grad(run):
        def step(w, part):
            loss = (w * w).sum()
            with lucid.no_grad():
                part.mul_(0.5)
            return loss + (w * 2).sum()

        f = run.compile(step)
        memory = flat(4)
        w, part = lucid.from_numpy(memory).requires_grad_(), lucid.from_numpy(memory[:2])
        for _ in range(4):
            run.call(f, w, part).backward()
            run.see(w.grad, memory)

    def imported_gradients(run):
        model = lenet()
        gradients = give_flat_gradients(model)
        whole = lucid.from_numpy(gradients)
        optimizer = lucid.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            whole.zero_()
            loss = (model(x) ** 2).mean()
            loss.backward()
            whole.mul_(0.5)
            optimizer.step()
            return loss

        f = run.compile(step)
        run.repeat(f, vary(lambda _: lucid.randn(4, 6)), n=5, see=lambda: (gradients, *model.parameters()))

    def imported_gradients_reduced_outside(run):
        model = lenet()
        gradients = give_flat_gradients(model)
        whole = lucid.from_numpy(gradients)
        optimizer = lucid.optim.Adam(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad(set_to_none=False)
            (model(x) ** 2).mean().backward()

        f, g = run.compile(step), run.compile(optimizer.step)
        for _ in range(4):
            run.call(f, lucid.randn(4, 6))
            whole.div_(2.0)
            run.call(g)
            run.see(gradients, *model.parameters())

    def imported_parameters(run):
        model = lenet()
        values = np.linspace(-1, 1, sum(p.numel() for p in model.parameters())).astype(np.float32)
        whole = lucid.from_numpy(values)
        at = 0
        for p in model.parameters():
            p.data = lucid.from_numpy(values[at : at + p.numel()].reshape(tuple(p.shape)))
            at += p.numel()
        optimizer = lucid.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean() + whole.abs().sum()
            loss.backward()
            optimizer.step()
            with lucid.no_grad():
                whole.mul_(0.99)
            return loss, whole.sum()

        run.repeat(run.compile(step), vary(lambda _: lucid.randn(4, 6)), n=5, see=lambda: (values,))

    def imported_memory_is_freed(run):
        f = run.compile(write_both)
        for i in range(8):
            memory = flat(1024)
            a = lucid.from_numpy(memory[:512])
            b = lucid.from_numpy(memory[i * 128 : i * 128 + 512] if i < 5 else np.ones(512, np.float32))
            del memory
            run.call(f, a, b)
            run.see(a, b)

    def imported_windows(run):
        total = lucid.zeros(4)

        def step(x, y):
            total.add_(x * y)
            return total + 0.0

        f = run.compile(step)
        data = flat(32)
        for i in (0, 1, 7, 3, 4, 0):
            run.call(f, lucid.from_numpy(data[i : i + 4]), lucid.from_numpy(data[2 * i : 2 * i + 4]))

    def imported_inside(run):
        memory = flat()
        whole = lucid.from_numpy(memory)

        def step(x):
            part = lucid.from_numpy(memory[2:4])
            whole.add_(x)
            part.mul_(2.0)
            return whole + 0.0, part

        run.repeat(run.compile(step), vary(lambda _: lucid.ones(8)), n=4, see=lambda: (memory,))

    def imported_operands(run):
        memory = flat()
        part = lucid.from_numpy(memory[2:6])

        def step(x):
            part.add_(x)
            return part * memory[:4]

        run.repeat(run.compile(step), vary(lambda _: lucid.ones(4)), n=4, see=lambda: (memory,))
