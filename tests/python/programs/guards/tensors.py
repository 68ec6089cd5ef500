"""Tensors, parameters and trees of modules that change in unusual ways."""

import lucid
from lucid import nn

from .._harness import Box, Net, Programs, sample, vary


class Tensors(Programs, compiles=True, guards=True):
    def arguments_that_are_one(run):
        f = run.compile(lambda a, b: a * 2 if a is b else a * b)
        for i in range(8):
            x, y = sample(i), sample(i + 1)
            run.see(f(x, x) if i % 3 == 2 else f(x, y))

    def argument_that_is_state(run):
        weight = sample(1)
        f = run.compile(lambda x: x * 2 if x is weight else x * 3)
        run.repeat(f, vary(lambda i: weight if i % 3 == 2 else sample(i)), n=8)

    def argument_in_a_list(run):
        known = [sample(1), sample(2)]
        f = run.compile(lambda x: x * (2 if any(x is item for item in known) else 3))
        run.repeat(f, vary(lambda i: known[i % 2] if i % 4 < 2 else sample(i)), n=8)

    def gradient_asked_for(run):
        f = run.compile(lambda x: x * (2 if x.requires_grad else 3))
        run.repeat(f, vary(lambda i: sample(i).requires_grad_(i % 4 < 2)), n=8)

    def gradient_of_a_parameter_asked_for(run):
        weight = nn.Parameter(sample(1))
        f = run.compile(lambda x: x * (2 if weight.grad is None else 3))
        run.repeat(f, sample, n=8, before=lambda i: setattr(weight, "grad", None if i % 4 < 2 else sample(2)))

    def data_replaced(run):
        weight = nn.Parameter(sample(1))
        f = run.compile(lambda x: x * weight)
        run.repeat(f, sample, n=8, before=lambda i: i % 3 == 2 and setattr(weight, "data", sample(i)))

    def parameter_frozen(run):
        layer = nn.Linear(4, 2)
        f = run.compile(layer)
        for i in range(8):
            layer.weight.requires_grad_(i % 4 < 2)
            y = f(sample(i))
            y.sum().backward()
            run.see(y, None if layer.weight.grad is None else layer.weight.grad.clone(), layer.bias.grad.clone())

    def tensor_of_another_shape(run):
        weights = [sample(1), sample(1, 4), sample(1, 1, 4)]
        box = Box(w=weights[0])
        run.repeat(run.compile(lambda x: x * box.w), sample, n=9, before=lambda i: setattr(box, "w", weights[i % 3]))

    def tensor_resized_in_place(run):
        weight = sample(1, 3, 4)
        run.repeat(run.compile(lambda x: x * weight), sample, n=8, at={4: lambda: weight.unsqueeze_(0)})

    def tensor_transposed_in_place(run):
        weight = sample(1, 4, 4)
        run.repeat(run.compile(lambda x: x @ weight), sample, n=8, before=lambda i: i % 3 == 2 and weight.t_())

    def state_that_becomes_a_view(run):
        box = Box(a=sample(1), b=sample(2))

        def f(x):
            box.a.add_(1)
            return x * box.a + box.b

        f = run.compile(f)
        for i in range(8):
            if i == 3:
                box.b = box.a
            if i == 6:
                box.b = box.a[:]
            run.call(f, sample(i))
            run.see(box.a.clone(), box.b.clone())

    def layer_inserted(run):
        net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        f = run.compile(net)
        run.repeat(f, sample, n=8, at={3: lambda: net.append(nn.Tanh()), 6: lambda: net.__setitem__(0, nn.Identity())})

    def module_dict_changed(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Tanh()})

            def forward(self, x):
                for part in self.parts.values():
                    x = part(x)
                return x

        m = M()
        f = run.compile(m)
        for i in range(8):
            if i == 3:
                m.parts["c"] = nn.ReLU()
            if i == 6:
                del m.parts["b"]
            run.call(f, sample(i))

    def parameter_list_changed(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.weights = nn.ParameterList([nn.Parameter(sample(1, 4)), nn.Parameter(sample(2, 4))])

            def forward(self, x):
                for weight in self.weights:
                    x = x * weight
                return x

        m = M()
        run.repeat(run.compile(m), sample, n=8, at={4: lambda: m.weights.append(nn.Parameter(sample(3, 4)))})

    def buffer_registered_again(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", lucid.ones(4))

            def forward(self, x):
                return x - self.mean

        m = M()
        f = run.compile(m)
        for i in range(8):
            if i == 4:
                m.register_buffer("mean", lucid.zeros(4))
            if i == 6:
                m.mean = lucid.full((1,), 3.0)
            run.call(f, sample(i))

    def mode_read_in_forward(run):
        class M(Net):
            def forward(self, x):
                return self.l(x) * (2 if self.training else 3)

        m = M()
        run.repeat(run.compile(m), sample, n=8, before=lambda i: m.train(i % 4 < 2))

    def mode_of_a_part(run):
        net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        run.repeat(run.compile(net), sample, n=8, before=lambda i: net[1].train(i % 4 < 2))

    def children_counted(run):
        class M(Net):
            def forward(self, x):
                return x * len(list(self.children())) + sum(p.numel() for p in self.parameters())

        m = M()
        run.repeat(run.compile(m), sample, n=8, at={4: lambda: setattr(m, "more", nn.Linear(2, 2))})

    def hook_removed_and_added(run):
        net = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        f = run.compile(net)
        handle = None
        for i in range(9):
            if i % 3 == 1:
                handle = net[0].register_forward_hook(lambda module, args, out, k=i: out * k)
            if i % 3 == 0 and handle is not None:
                handle.remove()
            run.call(f, sample(i))

    def hook_that_reads_a_closure(run):
        box = Box(k=2.0)
        net = nn.Linear(4, 4)
        net.register_forward_pre_hook(lambda module, args: (args[0] * box.k,))
        run.repeat(run.compile(net), sample, n=8, before=lambda i: setattr(box, "k", 2.0 + i // 3))

    def optimizer_gets_a_group(run):
        one, two = nn.Parameter(sample(1)), nn.Parameter(sample(2))
        optimizer = lucid.optim.SGD([one], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            (x * one * two).sum().backward()
            optimizer.step()

        step = run.compile(step)
        for i in range(8):
            if i == 4:
                optimizer.add_param_group({"params": [two], "lr": 0.5})
            step(sample(i))
            run.see(one.detach().clone(), two.detach().clone())

    def optimizer_state_loaded(run):
        weight = nn.Parameter(sample(1))
        optimizer = lucid.optim.Adam([weight], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            (x * weight).square().sum().backward()
            optimizer.step()

        step = run.compile(step)
        saved = None
        for i in range(10):
            if i == 4:
                saved = optimizer.state_dict()
            if i == 7:
                optimizer.load_state_dict(saved)
            step(sample(i))
            run.see(weight.detach().clone())
