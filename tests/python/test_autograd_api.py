"""The interface of lucid.autograd: modes, backward, hooks and custom functions."""

import gc
import threading
import weakref

import lucid
import pytest
from lucid.autograd import Function, GradcheckError, gradcheck


def leaf(*values):
    return lucid.tensor(list(values), requires_grad=True)


def test_backward_accumulates_until_grad_is_cleared():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8]
    x.grad = None
    assert x.grad is None
    x.grad = lucid.ones(2)
    x.sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises((RuntimeError, ValueError, TypeError)):
        x.grad = lucid.ones(3)
    with pytest.raises(TypeError, match="expected a tensor, not an int"):
        x.grad = 3


def test_backward_of_a_non_scalar_needs_a_gradient():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError):
        (x * 2).backward()
    (x * 2).backward(lucid.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2, 20]


def test_backward_twice_needs_retain_graph():
    x = leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [12]
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_grad_does_not_change_dot_grad_and_can_be_differentiated_again():
    x = lucid.tensor(3.0, requires_grad=True)
    (first,) = lucid.autograd.grad(x**3, x, create_graph=True)
    (second,) = lucid.autograd.grad(first, x)
    assert first.item() == 27
    assert second.item() == 18
    assert x.grad is None
    unused = lucid.tensor(1.0, requires_grad=True)
    assert lucid.autograd.grad(x * 2, [x, unused], allow_unused=True)[1] is None
    with pytest.raises(RuntimeError):
        lucid.autograd.grad(x * 2, [unused])


def test_backward_inputs_limit_accumulation():
    x, y = leaf(1.0), leaf(2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [2]
    assert y.grad is None


def test_leaves_and_requires_grad():
    x = leaf(1.0)
    y = x * 2
    assert x.is_leaf
    assert not y.is_leaf
    assert y.requires_grad
    assert not y.detach().requires_grad
    assert repr(y.grad_fn) == "<MulBackward>"
    assert y.grad_fn.next_functions[0][0].name() == "AccumulateGradBackward"
    assert x.grad_fn is None
    z = lucid.zeros(2)
    z.requires_grad = True
    assert z.requires_grad
    assert not z.requires_grad_(False).requires_grad
    with pytest.raises(RuntimeError):
        lucid.tensor([1]).requires_grad_()
    with pytest.raises(TypeError, match="True or False"):
        z.requires_grad = 1


def test_retain_grad():
    x = leaf(1.0)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.tolist() == [6]
    assert y.retains_grad


def test_modes_as_context_managers_and_decorators():
    x = leaf(1.0)
    assert lucid.is_grad_enabled()
    with lucid.no_grad():
        assert not lucid.grad_enabled()
        assert not (x * 2).requires_grad
        with lucid.enable_grad():
            assert (x * 2).requires_grad
        assert not lucid.is_grad_enabled()
    assert lucid.is_grad_enabled()
    for make in (
        lucid.no_grad,
        lambda: lucid.no_grad,
        lucid.inference_mode,
        lambda: lucid.inference_mode,
        lambda: lucid.set_grad_enabled(False),
    ):

        @make()
        def double(v):
            """Doubles."""
            return v * 2

        assert lucid.is_grad_enabled()
        assert not double(x).requires_grad
        assert double.__name__ == "double"
        assert double.__doc__ == "Doubles."
    with lucid.inference_mode():
        assert lucid.autograd.is_inference_mode_enabled()
    with lucid.set_grad_enabled(False):
        assert not lucid.is_grad_enabled()
    assert lucid.is_grad_enabled()
    lucid.set_grad_enabled(False)
    assert not lucid.is_grad_enabled()
    lucid.set_grad_enabled(True)


def test_modes_are_restored_after_errors_and_in_recursion():
    with pytest.raises(KeyError), lucid.no_grad():
        raise KeyError
    assert lucid.is_grad_enabled()
    mode = lucid.no_grad()
    with mode, lucid.enable_grad(), mode:
        assert not lucid.is_grad_enabled()
    assert lucid.is_grad_enabled()


def test_decorated_generators_run_in_the_mode_and_their_consumers_do_not():
    @lucid.no_grad()
    def numbers():
        received = yield lucid.is_grad_enabled()
        try:
            yield (received, lucid.is_grad_enabled())
        except KeyError:
            yield "thrown"

    generator = numbers()
    assert next(generator) is False
    assert lucid.is_grad_enabled()
    assert generator.send(5) == (5, False)
    assert generator.throw(KeyError()) == "thrown"
    assert list(generator) == []


def test_each_thread_has_its_own_mode():
    seen = []
    with lucid.no_grad():
        thread = threading.Thread(target=lambda: seen.append(lucid.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_hooks_see_and_replace_gradients():
    x = leaf(1.0, 2.0)
    y = x * 3
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    handle = y.register_hook(lambda g: g * 10)
    y.sum().backward(retain_graph=True)
    assert seen == [[1, 1]]
    assert x.grad.tolist() == [30, 30]
    handle.remove()
    handle.remove()
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError):
        lucid.zeros(1).register_hook(print)


def test_errors_in_hooks_reach_the_caller():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    z = x * 2
    z.register_hook(lambda g: "text")
    with pytest.raises(TypeError, match="expected a tensor, not a str"):
        z.backward()


def test_hooks_are_freed_with_their_graph():
    class Marker:
        def __call__(self, grad):
            return None

    marker = Marker()
    reference = weakref.ref(marker)
    x = leaf(1.0)
    y = x * 2
    y.register_hook(marker)
    del marker
    assert reference() is not None
    del y
    assert reference() is None


@pytest.mark.parametrize(
    ("make", "register"),
    [
        (lambda: leaf(1.0) * 2, "register_hook"),
        (lambda: leaf(1.0), "register_hook"),
        (lambda: leaf(1.0), "register_post_accumulate_grad_hook"),
    ],
)
def test_hooks_that_refer_to_their_own_tensor_are_collected(make, register):
    def reference_to_tensor():
        x = make()
        getattr(x, register)(lambda _: x.shape)
        return weakref.ref(x)

    reference = reference_to_tensor()
    gc.collect()
    assert reference() is None


def test_post_accumulate_hooks_get_the_tensor():
    x = leaf(1.0, 2.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.tolist())))
    (x * 2).sum().backward()
    assert seen == [(True, [2, 2])]


class Cube(Function):
    @staticmethod
    def forward(ctx, x, scale=1.0):
        ctx.save_for_backward(x)
        ctx.scale = scale
        assert not lucid.is_grad_enabled()
        return x * x * x * scale

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return 3 * x * x * ctx.scale * grad, None


def test_custom_functions():
    x = leaf(1.0, 2.0)
    y = Cube.apply(x, 2.0)
    assert y.tolist() == [2, 16]
    assert "CubeBackward" in repr(y.grad_fn)
    y.sum().backward()
    assert x.grad.tolist() == [6, 24]
    assert not Cube.apply(x.detach(), 1.0).requires_grad


def test_custom_functions_keep_saved_values_after_writes():
    x = leaf(2.0)
    y = x * 1
    z = Cube.apply(y, 1.0)
    y.detach().fill_(100)
    z.sum().backward()
    assert x.grad.tolist() == [12]


def test_custom_functions_with_several_results_and_missing_gradients():
    class Split(Function):
        @staticmethod
        def forward(ctx, x):
            index = x.argmax(0)
            ctx.mark_non_differentiable(index)
            return x + 1, x * 2, index

        @staticmethod
        def backward(ctx, a, b, index):
            seen.append((a.tolist(), b.tolist()))
            return a + 2 * b

    seen = []
    x = leaf(1.0, 5.0)
    first, second, index = Split.apply(x)
    assert first.tolist() == [2, 6]
    assert not index.requires_grad
    second.sum().backward()
    assert seen == [([0, 0], [1, 1])]
    assert x.grad.tolist() == [2, 2]


def test_custom_functions_with_setup_context():
    class Scale(Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    x = leaf(1.0)
    Scale.apply(x, 4).backward()
    assert x.grad.tolist() == [4]


def test_invalid_custom_functions():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return "text"

    class Short(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            return grad

    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("inside")

    x = leaf(1.0)
    with pytest.raises(TypeError, match="Wrong: expected a tensor, not a str"):
        Wrong.apply(x)
    with pytest.raises(RuntimeError, match="Short: backward returned 1 gradients for 2 inputs"):
        Short.apply(x, leaf(2.0)).backward()
    with pytest.raises(KeyError, match="inside"):
        Bad.apply(x).backward()
    with pytest.raises(NotImplementedError, match="must define backward"):
        NoBackward.apply(x).backward()


def test_gradcheck_accepts_correct_and_rejects_wrong_gradients():
    x = lucid.tensor([0.3, 1.2], dtype=lucid.float64, requires_grad=True)
    assert gradcheck(lambda v: v.exp() * v, x)
    assert gradcheck(lambda v, w: (v * w).sum(), (x, lucid.tensor([2.0, 3.0], dtype=lucid.float64, requires_grad=True)))

    class Wrong(Function):
        @staticmethod
        def forward(ctx, v):
            return v * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    with pytest.raises(GradcheckError, match="is 3 by backward, 2"):
        gradcheck(Wrong.apply, x)
    assert not gradcheck(Wrong.apply, x, raise_exception=False)
    with pytest.raises(ValueError, match="float64"):
        gradcheck(lambda v: v, leaf(1.0))


def test_graphs_are_freed():
    before = lucid._core.live_nodes()
    x = leaf(1.0)
    y = x
    for _ in range(10):
        y = y * 2
    assert lucid._core.live_nodes() > before
    del x, y
    assert lucid._core.live_nodes() == before
