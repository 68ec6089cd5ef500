"""What may happen to a training loop; used by chaos.py. Each action does to a world what a random generator decides."""

import copy

import lucid
from lucid import nn

# By name: the function, "call" or "change", and how often it is chosen.
ACTIONS = {}


def action(weight=1, kind="change"):
    """Registers an action, a function of a world and a random.Random. What it returns must be equal in both worlds."""

    def register(function):
        ACTIONS[function.__name__] = (function, kind, weight)
        return function

    return register


def batch(choose):
    count = choose.choice((4,) * 9 + (7,))
    lucid.manual_seed(choose.randrange(10**6))
    x, y = lucid.randn(count, 5), lucid.randint(0, 3, (count,))
    if choose.random() < 0.05:
        x = lucid.randn(5, count).t()
    if choose.random() < 0.1:
        x = x.requires_grad_()
    return x, y


# Calls.


@action(10, "call")
def step(world, choose):
    return world.step(*batch(choose))


@action(3, "call")
def steps(world, choose):
    data = batch(choose)
    return [world.step(*data) for _ in range(3)]


@action(4, "call")
def micro_step(world, choose):
    return world.micro_step(*batch(choose))


@action(2, "call")
def update(world, choose):
    return world.update()


@action(2, "call")
def accumulate(world, choose):
    losses = [world.micro_step(*batch(choose)) for _ in range(2)]
    world.update()
    world.model.zero_grad()
    return losses


@action(3, "call")
def scaled_step(world, choose):
    scale = choose.choice((2.0, 2.0, 4.0))
    return world.scaled_step(*batch(choose), scale)


@action(2, "call")
def average(world, choose):
    return world.average(choose.choice((0.5, 0.5, 0.25)))


@action(4, "call")
def loss(world, choose):
    x, y = batch(choose)
    value = world.loss(x, y)
    if value.requires_grad:
        value.backward(retain_graph=choose.random() < 0.3)
    return value, x.grad


@action(1, "call")
def two_losses(world, choose):
    x, y = batch(choose)
    first, second = world.loss(x, y), world.loss(x * 2, y)
    if first.requires_grad:
        (first * second).backward()
    return first, second, x.grad


@action(2, "call")
def forward(world, choose):
    return world.forward(batch(choose)[0])


@action(2, "call")
def compiled_module(world, choose):
    value = world.compiled_model(batch(choose)[0])
    if value.requires_grad and choose.random() < 0.7:
        value.sum().backward()
    return value


@action(1, "call")
def without_gradient(world, choose):
    x, _ = batch(choose)
    with lucid.no_grad():
        return world.forward(x), world.compiled_model(x)


@action(1, "call")
def inference(world, choose):
    with lucid.inference_mode():
        return world.forward(batch(choose)[0]).clone().sum().item()


@action(1, "call")
def second_derivative(world, choose):
    x, y = batch(choose)
    (gradient,) = lucid.autograd.grad(world.loss(x.requires_grad_(), y), x, create_graph=True)
    if gradient.requires_grad:
        (gradient**2).sum().backward()
    return gradient, x.grad


@action(1, "call")
def bad_target(world, choose):
    x, y = batch(choose)
    return world.step(x, y + 7)


@action(1, "call")
def bad_shape(world, choose):
    return world.forward(lucid.ones(2, 6))


# The model.


@action(2)
def train(world, choose):
    world.model.train(choose.random() < 0.5)


@action()
def train_child(world, choose):
    choose.choice(list(world.model.children())).train(choose.random() < 0.5)


@action()
def freeze(world, choose):
    world.parameter(choose).requires_grad_(choose.random() < 0.6)


@action()
def set_data(world, choose):
    parameter = world.parameter(choose)
    parameter.data = choose.choice((lambda d: d * 1.01, lambda d: d.clone(), lambda d: d.t().contiguous().t()))(
        parameter.data
    )


@action()
def write_in_place(world, choose):
    with lucid.no_grad():
        world.parameter(choose).mul_(0.99)


@action()
def new_parameter(world, choose):
    layer = world.model[choose.choice((0, 5))]
    layer.weight = nn.Parameter(layer.weight.detach() * 1.01)


@action()
def share_parameter(world, choose):
    if choose.random() < 0.5:
        world.model[4].linear.weight = world.model[2].linear.weight
    else:
        world.model[4].linear.weight = nn.Parameter(world.model[2].linear.weight.detach().clone())


@action()
def remove_bias(world, choose):
    layer = world.model[2].linear
    layer.bias = None if choose.random() < 0.5 else nn.Parameter(lucid.zeros(8))


@action()
def set_scale(world, choose):
    world.model[choose.choice((2, 4))].scale = choose.choice((1.0, 0.5, 2, True))


@action()
def set_activation(world, choose):
    world.model[choose.choice((2, 4))].activation = choose.choice(("relu", "gelu"))


@action()
def set_dropout(world, choose):
    if isinstance(world.model[3], nn.Dropout):
        world.model[3].p = choose.choice((0.0, 0.3, 0.5))


@action(2)
def set_norm(world, choose):
    name, value = choose.choice(
        (("momentum", 0.2), ("momentum", None), ("momentum", 0.1), ("eps", 1e-4), ("eps", 1e-5))
    )
    setattr(world.model[1], name, value)


@action()
def reset_norm(world, choose):
    world.model[1].reset_running_stats()


@action()
def set_buffer(world, choose):
    module = world.model[choose.choice((2, 4))]
    module.count = module.count.clone() if choose.random() < 0.5 else lucid.zeros(1)


@action()
def replace_child(world, choose):
    world.model[3] = choose.choice((lambda: nn.Dropout(0.3), nn.Identity, nn.Tanh))()


@action()
def replace_block(world, choose):
    world.model[4] = copy.deepcopy(world.model[choose.choice((2, 4))])


@action()
def patch_forward(world, choose):
    module = world.model[choose.choice((2, 4))]
    if "forward" in vars(module):
        del module.forward
    else:
        scale = choose.choice((0.5, 2.0))
        module.forward = lambda x: x * scale


@action()
def load_model(world, choose):
    world.model.load_state_dict({name: value * 1.0 for name, value in world.model.state_dict().items()})


@action()
def change_dtype(world, choose):
    if choose.random() < 0.4:
        world.model.double()
        if choose.random() < 0.9:
            world.model.float()
    else:
        world.model.float()


# Everything else.


@action()
def weight(world, choose):
    world.settings["weight"] = choose.choice((1.0, 2, 0.5, 1))


@action(2)
def clip(world, choose):
    world.settings["clip"] = choose.choice((None, 1.0, 0.1, ("value", 0.05)))


@action()
def smoothing(world, choose):
    world.settings["smoothing"] = choose.choice((0.0, 0.1))


@action()
def seed(world, choose):
    lucid.manual_seed(choose.randrange(10))
