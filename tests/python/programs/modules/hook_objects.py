"""Hooks of modules that are objects, methods and closures with state."""

import copy
import functools

import lucid
from lucid import nn

from .._harness import Programs, vary, x0
from ..training.hooks import training


class HookObjects(Programs):
    def module_hooks_that_are_objects(run):
        class Hook:
            def __init__(self):
                self.factor = 2.0

            def __call__(self, module, inputs, output):
                return output * self.factor

            def before(self, module, inputs):
                return (inputs[0] * self.factor,)

            def backward(self, module, grad_in, grad_out):
                return (grad_in[0] * self.factor,)

        h = Hook()
        m, opt, go = training(run)
        handles = [
            m[2].register_forward_hook(h),
            m[2].register_forward_pre_hook(h.before),
            m[2].register_full_backward_hook(h.backward),
        ]
        go()
        h.factor = 0.5
        go()
        for handle in handles:
            handle.remove()
            go(2)

    def module_hooks_that_are_builtins(run):
        for register in ("register_forward_hook", "register_full_backward_hook"):
            log = []
            m, opt, go = training(run)
            getattr(m[0], register)(lambda *a: log.append(a[2]))
            getattr(m[2], register)(functools.partial(log.insert, 0) if False else lambda *a: log.append(a[1]))
            go()
            run.see(len(log), log[-1])

    def a_forward_pre_hook_that_appends(run):
        m, opt, go = training(run)
        pairs = []
        m[0].register_forward_pre_hook(lambda *a: pairs.append(a[1]))
        go()
        run.see(pairs)

    def a_backward_pre_hook(run):
        m, opt, go = training(run)
        k = [2.0]
        handle = m[2].register_full_backward_pre_hook(lambda module, grad_out: (grad_out[0] * k[0],))
        go()
        k[0] = 3.0
        go()
        handle.remove()
        go(2)

    def hooks_with_kwargs_and_always_call(run):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(3, 3)

            def forward(self, x, scale=1.0):
                return self.lin(x) * scale

        m = Net()
        k = [2.0]
        f = run.compile(m)
        m.register_forward_pre_hook(
            lambda module, args, kwargs: (args, {"scale": kwargs["scale"] * k[0]}), with_kwargs=True
        )
        run.repeat(f, x0, scale=2.0, n=6, at={4: lambda: k.__setitem__(0, 7.0)})

    def hooks_on_copied_parameters(run):
        m, opt, go = training(run)
        m[0].weight.register_hook(lambda g: g * 2)
        go(2)
        clone = copy.deepcopy(m)
        f = run.compile(lambda x: clone(x).sum().backward())
        run.repeat(f, vary(lambda _: lucid.ones(1, 3)), see=lambda: (*(p.grad for p in clone.parameters()),))
