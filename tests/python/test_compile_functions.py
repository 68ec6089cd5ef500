"""Compiled matches eager: custom autograd functions and hooks. Numbers refer to docs/failures.md."""

import lucid
import pytest
from same import check
from worlds import calls_of, leaf

# Custom autograd functions.


class Cube(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x * x * grad


class Scaled(lucid.autograd.Function):
    """Stores numbers, a list and a result in ctx; one argument is not a tensor."""

    @staticmethod
    def forward(ctx, x, factor, y):
        ctx.factor = factor
        ctx.shapes = [x.shape, {"y": y.shape}]
        result = x * factor * y
        ctx.save_for_backward(x, y, None, result)
        return result, (x > 0)

    @staticmethod
    def backward(ctx, grad, _):
        x, y, nothing, result = ctx.saved_tensors
        assert nothing is None
        assert ctx.shapes == [x.shape, {"y": y.shape}]
        ctx.shapes.append(result)
        assert ctx.needs_input_grad == (True, False, y.requires_grad)
        return grad * y * ctx.factor, None, grad * x * ctx.factor + 0 * result


class SplitSetup(lucid.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x @ w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w.T, x.T @ grad


class Identity(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class KeepsTensor(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mask = x > 0
        return x * ctx.mask

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.mask


def test_35_a_custom_function():
    check(calls_of(lambda x: Cube.apply(x * 2).sum() + x, lambda: leaf(3)), min_hits=2)


def test_35_attributes_of_ctx():
    def f(x, y, factor):
        return Scaled.apply(x.exp(), factor, y)

    check(calls_of(f, lambda: leaf(3), lambda: leaf(3), lambda: 2.5), min_hits=2)
    check(calls_of(f, lambda: leaf(3), lambda: lucid.randn(3), lambda: 3), min_hits=2)


def test_35_setup_context_and_parameters():
    def world():
        w = leaf(4, 2)
        return (lambda x: SplitSetup.apply(x, w)), lambda: ([leaf(3, 4)] for _ in range(3)), lambda: [w]

    check(world)


def test_35_an_argument_as_the_result():
    check(calls_of(lambda x: Identity.apply(x), lambda: leaf(3)), min_hits=2)
    check(calls_of(lambda x: Identity.apply(x * 1)[1:], lambda: leaf(3)), min_hits=2)


def test_35_second_derivatives_of_a_custom_function():
    def penalty(x):
        (slope,) = lucid.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
        return slope.pow(2).sum()

    check(calls_of(penalty, lambda: leaf(3)))


def test_35_a_tensor_in_an_attribute_of_ctx_runs_eagerly():
    check(calls_of(lambda x: KeepsTensor.apply(x), lambda: leaf(3)), fallback="keeps a tensor of the call in ctx.mask")


def test_35_a_custom_function_in_a_training_step():
    def world():
        w = leaf(4)
        optimizer = lucid.optim.Adam([w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = Cube.apply(x * w).sum() + KeepsTensor.apply(w).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step, lambda: ([lucid.randn(4)] for _ in range(6)), lambda: [w]

    check(world, backward=False)


def test_35_backward_of_a_copy_raises_the_error_of_the_function():
    class Failing(lucid.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("no gradient today")

    check(calls_of(lambda x: Failing.apply(x), lambda: leaf(3)), min_hits=2)


# Hooks.


def test_27_hooks_on_intermediates_run_and_change_gradients():
    def f(x):
        h = x * 2
        h.register_hook(lambda grad: grad * 3)
        h.register_hook(lambda grad: None)
        return (h * h).sum()

    check(calls_of(f, lambda: leaf(3)), min_hits=2)


def test_27_hooks_that_store_gradients_outside():
    seen = []

    def f(x, factor):
        h = x * factor
        h.register_hook(lambda grad: seen.append(grad * factor))
        return h.exp()

    def world():
        seen.clear()
        return f, lambda: ([leaf(3), 2.5] for _ in range(4)), lambda: list(seen)

    # The list changes between calls, so a call that read it would be recorded each time.
    check(world, min_hits=0)


def test_27_hooks_that_use_a_tensor_of_the_call_run_eagerly():
    def f(x):
        mask = x > 0
        h = x * 2
        h.register_hook(lambda grad: grad * mask)
        return h

    check(calls_of(f, lambda: leaf(3)), fallback="keeps a tensor of the call in a gradient hook")


def test_27_hooks_that_fill_a_list_of_the_call_run_eagerly():
    def f(x):
        seen = []
        h = x * 2
        h.register_hook(seen.append)
        return h

    check(calls_of(f, lambda: leaf(3)), fallback="a gradient hook")

    def g(x):
        count = 0

        def hook(grad):
            nonlocal count
            count += 1
            return grad * count

        h = x * 2
        h.register_hook(hook)
        return h

    check(calls_of(g, lambda: leaf(3)), fallback="the variable count of the call, which it changes, in a gradient hook")


def test_27_a_hook_that_is_removed_inside():
    def f(x):
        h = x * 2
        handle = h.register_hook(lambda grad: grad * 100)
        handle.remove()
        return h.sum()

    check(calls_of(f, lambda: leaf(3)), min_hits=2)


def test_27_hooks_on_arguments_and_parameters_before_the_call():
    def world():
        w = leaf(3)
        w.register_hook(lambda grad: grad * 2)
        w.register_post_accumulate_grad_hook(lambda tensor: None)

        def calls():
            for _ in range(3):
                x = leaf(3)
                y = x * 2
                x.register_hook(lambda grad: grad + 1)
                y.register_hook(lambda grad: grad * 5)
                yield [x, y]

        return (lambda x, y: x * y * w), calls, lambda: [w]

    check(world, min_hits=2)


def test_27_hooks_of_parameters_inside_a_step():
    def world():
        w = leaf(3)
        w.register_hook(lambda grad: grad * 2)
        optimizer = lucid.optim.SGD([w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = (x * w).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        def calls():
            for i in range(12):
                if i == 6:
                    handle = w.register_hook(lambda grad: grad + 1)
                if i == 9:
                    handle.remove()
                yield [lucid.randn(3)]

        return step, calls, lambda: [w]

    check(world, backward=False, min_hits=4)


class Net(lucid.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = lucid.nn.Linear(4, 5)
        self.second = lucid.nn.Linear(5, 2)

    def forward(self, x):
        return self.second(lucid.relu(self.first(x)))


HOOKS = {
    "pre": lambda module: module.register_forward_pre_hook(lambda m, args: (args[0] * 2,)),
    "forward": lambda module: module.register_forward_hook(lambda m, args, result: result + 1),
    "backward": lambda module: module.register_full_backward_hook(
        lambda m, gin, gout: (None if gin[0] is None else gin[0] * 3,)
    ),
    "backward_pre": lambda module: module.register_full_backward_pre_hook(lambda m, gout: (gout[0] * 3,)),
}


@pytest.mark.parametrize("where", ["root", "first", "second"])
@pytest.mark.parametrize("kind", HOOKS)
def test_27_hooks_of_modules_added_and_removed(kind, where):
    def world():
        net = Net()
        module = net if where == "root" else getattr(net, where)

        def calls():
            handle = HOOKS[kind](module)
            for i in range(9):
                if i == 3:
                    handle.remove()
                if i == 6:
                    HOOKS[kind](module)
                yield [leaf(3, 4)]

        return net, calls, lambda: list(net.parameters())

    check(world, min_hits=4)


def test_27_hooks_of_modules_that_return_nothing():
    seen = []

    def world():
        seen.clear()
        net = Net()
        for module in (net, net.first):
            module.register_full_backward_hook(lambda m, gin, gout: seen.append((gin, gout)))

        return net, lambda: ([leaf(3, 4)] for _ in range(4)), lambda: [*net.parameters(), *seen]

    check(world, min_hits=2)


@pytest.mark.parametrize("kind", ["backward", "backward_pre"])
def test_27_backward_hooks_of_modules_inside_a_step(kind):
    def world():
        net = Net()
        HOOKS[kind](net.second)
        HOOKS[kind](net)
        optimizer = lucid.optim.SGD(net.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = net(x).pow(2).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step, lambda: ([lucid.randn(3, 4)] for _ in range(6)), lambda: list(net.parameters())

    check(world, backward=False)
