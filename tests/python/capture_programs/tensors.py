"""Tensors, parameters and trees of modules that change in unusual ways."""

import lucid
from lucid import nn

from ._common import CALLS, Box, Net, program, sample


@program
def arguments_that_are_one(compile):
    f = compile(lambda a, b: a * 2 if a is b else a * b)
    for i in range(CALLS):
        x, y = sample(i), sample(i + 1)
        yield f(x, x) if i % 3 == 2 else f(x, y)


@program
def argument_that_is_state(compile):
    weight = sample(1)
    f = compile(lambda x: x * 2 if x is weight else x * 3)
    for i in range(CALLS):
        yield f(weight if i % 3 == 2 else sample(i))


@program
def argument_in_a_list(compile):
    known = [sample(1), sample(2)]
    f = compile(lambda x: x * (2 if any(x is item for item in known) else 3))
    for i in range(CALLS):
        yield f(known[i % 2] if i % 4 < 2 else sample(i))


@program
def gradient_asked_for(compile):
    f = compile(lambda x: x * (2 if x.requires_grad else 3))
    for i in range(CALLS):
        yield f(sample(i).requires_grad_(i % 4 < 2))


@program
def gradient_of_a_parameter_asked_for(compile):
    weight = nn.Parameter(sample(1))
    f = compile(lambda x: x * (2 if weight.grad is None else 3))
    for i in range(CALLS):
        weight.grad = None if i % 4 < 2 else sample(2)
        yield f(sample(i))


@program
def data_replaced(compile):
    weight = nn.Parameter(sample(1))
    f = compile(lambda x: x * weight)
    for i in range(CALLS):
        if i % 3 == 2:
            weight.data = sample(i)
        yield f(sample(i))


@program
def parameter_frozen(compile):
    layer = nn.Linear(4, 2)
    f = compile(layer)
    for i in range(CALLS):
        layer.weight.requires_grad_(i % 4 < 2)
        y = f(sample(i))
        y.sum().backward()
        yield y, None if layer.weight.grad is None else layer.weight.grad.clone(), layer.bias.grad.clone()


@program
def tensor_of_another_shape(compile):
    weights = [sample(1), sample(1, 4), sample(1, 1, 4)]
    box = Box(w=weights[0])
    f = compile(lambda x: x * box.w)
    for i in range(9):
        box.w = weights[i % 3]
        yield f(sample(i))


@program
def tensor_resized_in_place(compile):
    weight = sample(1, 3, 4)
    f = compile(lambda x: x * weight)
    for i in range(CALLS):
        if i == 4:
            weight.unsqueeze_(0)
        yield f(sample(i))


@program
def tensor_transposed_in_place(compile):
    weight = sample(1, 4, 4)
    f = compile(lambda x: x @ weight)
    for i in range(CALLS):
        if i % 3 == 2:
            weight.t_()
        yield f(sample(i))


@program
def state_that_becomes_a_view(compile):
    box = Box(a=sample(1), b=sample(2))

    def f(x):
        box.a.add_(1)
        return x * box.a + box.b

    f = compile(f)
    for i in range(CALLS):
        if i == 3:
            box.b = box.a
        if i == 6:
            box.b = box.a[:]
        yield f(sample(i)), box.a.clone(), box.b.clone()


@program
def layer_inserted(compile):
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    f = compile(net)
    for i in range(CALLS):
        if i == 3:
            net.append(nn.Tanh())
        if i == 6:
            net[0] = nn.Identity()
        yield f(sample(i))


@program
def module_dict_changed(compile):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Tanh()})

        def forward(self, x):
            for part in self.parts.values():
                x = part(x)
            return x

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 3:
            m.parts["c"] = nn.ReLU()
        if i == 6:
            del m.parts["b"]
        yield f(sample(i))


@program
def parameter_list_changed(compile):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.ParameterList([nn.Parameter(sample(1, 4)), nn.Parameter(sample(2, 4))])

        def forward(self, x):
            for weight in self.weights:
                x = x * weight
            return x

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 4:
            m.weights.append(nn.Parameter(sample(3, 4)))
        yield f(sample(i))


@program
def buffer_registered_again(compile):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", lucid.ones(4))

        def forward(self, x):
            return x - self.mean

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 4:
            m.register_buffer("mean", lucid.zeros(4))
        if i == 6:
            m.mean = lucid.full((1,), 3.0)
        yield f(sample(i))


@program
def mode_read_in_forward(compile):
    class M(Net):
        def forward(self, x):
            return self.l(x) * (2 if self.training else 3)

    m = M()
    f = compile(m)
    for i in range(CALLS):
        m.train(i % 4 < 2)
        yield f(sample(i))


@program
def mode_of_a_part(compile):
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    f = compile(net)
    for i in range(CALLS):
        net[1].train(i % 4 < 2)
        yield f(sample(i))


@program
def children_counted(compile):
    class M(Net):
        def forward(self, x):
            return x * len(list(self.children())) + sum(p.numel() for p in self.parameters())

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 4:
            m.more = nn.Linear(2, 2)
        yield f(sample(i))


@program
def hook_removed_and_added(compile):
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    f = compile(net)
    handle = None
    for i in range(9):
        if i % 3 == 1:
            handle = net[0].register_forward_hook(lambda module, args, out, k=i: out * k)
        if i % 3 == 0 and handle is not None:
            handle.remove()
        yield f(sample(i))


@program
def hook_that_reads_a_closure(compile):
    box = Box(k=2.0)
    net = nn.Linear(4, 4)
    net.register_forward_pre_hook(lambda module, args: (args[0] * box.k,))
    f = compile(net)
    for i in range(CALLS):
        box.k = 2.0 + i // 3
        yield f(sample(i))


@program
def optimizer_gets_a_group(compile):
    one, two = nn.Parameter(sample(1)), nn.Parameter(sample(2))
    optimizer = lucid.optim.SGD([one], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        (x * one * two).sum().backward()
        optimizer.step()

    step = compile(step)
    for i in range(CALLS):
        if i == 4:
            optimizer.add_param_group({"params": [two], "lr": 0.5})
        step(sample(i))
        yield one.detach().clone(), two.detach().clone()


@program
def optimizer_state_loaded(compile):
    weight = nn.Parameter(sample(1))
    optimizer = lucid.optim.Adam([weight], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        (x * weight).square().sum().backward()
        optimizer.step()

    step = compile(step)
    saved = None
    for i in range(10):
        if i == 4:
            saved = optimizer.state_dict()
        if i == 7:
            optimizer.load_state_dict(saved)
        step(sample(i))
        yield weight.detach().clone()
