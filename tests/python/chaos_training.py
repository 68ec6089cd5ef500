"""What may happen to gradients, hooks and optimizers; used by chaos.py."""

import copy
import functools

import lucid
import numpy as np
from chaos_actions import action

# Gradients.


@action(2)
def zero(world, choose):
    choose.choice((world.model.zero_grad, world.optimizer.zero_grad))()


@action()
def zero_in_place(world, choose):
    for parameter in world.model.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()


@action(2)
def set_gradient(world, choose):
    parameter = world.parameter(choose)
    size = parameter.numel()
    shape = tuple(parameter.shape)
    dtype = parameter.dtype
    made = choose.choice(
        (
            lambda: None,
            lambda: lucid.ones(shape, dtype=dtype),
            lambda: lucid.ones(shape[::-1], dtype=dtype).t() if len(shape) == 2 else None,
            lambda: lucid.ones(2 * size, dtype=dtype)[::2].reshape(shape),
            lambda: lucid.ones(size + 3, dtype=dtype)[3:].reshape(shape),
            lambda: lucid.from_numpy(np.ones(shape, dtype=np.float32)).to(dtype),
        )
    )()
    parameter.grad = made


def _slices(world, flat):
    """The parts of one tensor or array that belong to the parameters."""
    at = 0
    for parameter in world.model.parameters():
        yield parameter, flat[at : at + parameter.numel()]
        at += parameter.numel()


@action()
def flat_gradients(world, choose):
    """All gradients are slices of one tensor."""
    flat = lucid.zeros(sum(parameter.numel() for parameter in world.model.parameters()))
    for parameter, part in _slices(world, flat):
        if parameter.dtype is lucid.float32:
            parameter.grad = part.reshape(parameter.shape)


@action()
def imported_gradients(world, choose):
    """All gradients are slices of one array, some imported by themselves."""
    memory = np.zeros(sum(parameter.numel() for parameter in world.model.parameters()), dtype=np.float32)
    flat = lucid.from_numpy(memory)
    for (parameter, part), (_, array) in zip(_slices(world, flat), _slices(world, memory)):
        if parameter.dtype is lucid.float32:
            chosen = part if choose.random() < 0.5 else lucid.from_numpy(array)
            parameter.grad = chosen.reshape(parameter.shape)


@action()
def same_gradient(world, choose):
    """Two parameters have the same tensor as gradient."""
    shared = lucid.ones(8, 8, dtype=world.model[2].linear.weight.dtype)
    world.model[2].linear.weight.grad = shared
    world.model[4].linear.weight.grad = shared


# Hooks.


@action(3)
def hook(world, choose):
    scale = choose.choice((0.5, 1.5))
    logged = world.log
    made = choose.choice(
        (
            lambda: lambda gradient: gradient * scale,
            lambda: functools.partial(_scaled, scale),
            lambda: world.recorder.scaled,
            lambda: world.recorder,
            lambda: world.recorder.seen.append,
            lambda: lambda gradient: logged.append("gradient"),
            lambda: lucid.neg,
        )
    )()
    world.handles.append(world.parameter(choose).register_hook(made))


def _scaled(scale, gradient):
    return gradient * scale


@action()
def accumulate_hook(world, choose):
    logged = world.log
    made = choose.choice((lambda parameter: logged.append("accumulated"), world.recorder.accumulated))
    world.handles.append(world.parameter(choose).register_post_accumulate_grad_hook(made))


@action()
def change_hook_state(world, choose):
    world.recorder.scale = choose.choice((0.5, 1.0, 2.0))
    world.recorder.seen.clear()


@action()
def forward_hook(world, choose):
    scale = choose.choice((1.01, 0.99))
    module = choose.choice(list(world.model.children()))
    world.handles.append(module.register_forward_hook(lambda module, inputs, output: output * scale))


@action()
def forward_pre_hook(world, choose):
    world.handles.append(world.model[0].register_forward_pre_hook(world.recorder.before))


@action()
def backward_hook(world, choose):
    logged = world.log
    made = lambda module, inputs, outputs: logged.append("backward")  # noqa: E731
    world.handles.append(world.model[0].register_full_backward_hook(made))


@action(6)
def remove_hook(world, choose):
    if world.handles:
        world.handles.pop(choose.randrange(len(world.handles))).remove()


@action()
def step_hook(world, choose):
    logged = world.log
    world.handles.append(world.optimizer.register_step_post_hook(lambda *arguments: logged.append("step")))


# The optimizer.


@action(2)
def learning_rate(world, choose):
    choose.choice(world.optimizer.param_groups)["lr"] = choose.choice((0.01, 0.02, 0.05, 0.0))


@action(2)
def option(world, choose):
    group = choose.choice(world.optimizer.param_groups)
    known = ("weight_decay", "momentum", "nesterov", "amsgrad", "maximize", "eps", "betas", "dampening")
    name = choose.choice([name for name in group if name in known])
    value = group[name]
    if name == "betas":
        group[name] = choose.choice(((0.9, 0.999), (0.8, 0.99)))
    elif isinstance(value, bool):
        group[name] = not value and not (name == "nesterov" and not group["momentum"])
    elif not (name in ("momentum", "dampening") and group.get("nesterov")):
        group[name] = choose.choice((0.0, 0.1, 0.3, value))


@action()
def clear_state(world, choose):
    world.optimizer.state.clear()


def _states(world):
    return [state for state in world.optimizer.state.values() if state]


@action(2)
def replace_state(world, choose):
    states = _states(world)
    if states:
        state = choose.choice(states)
        name = choose.choice(sorted(state))
        value = state[name]
        if isinstance(value, lucid.Tensor):
            state[name] = choose.choice((value * 0.5, value.clone(), lucid.zeros_like(value)))


@action()
def write_state(world, choose):
    states = _states(world)
    if states:
        state = choose.choice(states)
        value = state[choose.choice(sorted(state))]
        if isinstance(value, lucid.Tensor):
            value.mul_(0.5)


@action()
def delete_state(world, choose):
    states = _states(world)
    if states:
        state = choose.choice(states)
        for name in sorted(state) if choose.random() < 0.5 else [choose.choice(sorted(state))]:
            del state[name]


@action()
def swap_states(world, choose):
    """The state of one block goes to the other."""
    first, second = world.model[2].linear.weight, world.model[4].linear.weight
    state = world.optimizer.state
    if first in state and second in state:
        for name in set(state[first].keys()) & set(state[second].keys()):
            state[first][name], state[second][name] = state[second][name], state[first][name]


@action()
def reload_optimizer(world, choose):
    world.optimizer.load_state_dict(copy.deepcopy(world.optimizer.state_dict()))


@action()
def unfit_state(world, choose):
    """State of another shape: the next step of the parameter is refused, until the state is cleared."""
    states = _states(world)
    if states and choose.random() < 0.3:
        state = choose.choice(states)
        state[choose.choice(sorted(state))] = lucid.ones(choose.choice(((2, 3, 8, 8), (1,), (8, 1), (0,))))
        failed = _failure_of(world.optimizer.step)
        world.optimizer.state.clear()
        return failed
    return None


def _failure_of(function):
    try:
        function()
    except ValueError as error:
        return str(error)
    return None


@action()
def new_optimizer(world, choose):
    world.new_optimizer(choose)


@action()
def add_group(world, choose):
    known = {id(parameter) for group in world.optimizer.param_groups for parameter in group["params"]}
    extra = [parameter for parameter in world.model.parameters() if id(parameter) not in known]
    if extra:
        world.optimizer.add_param_group({"params": extra, "lr": 0.02})
