"""Every difference that docs/coming-from-pytorch.md lists, in both libraries."""

import warnings

import lucid
import numpy as np
import pytest
import torch


@pytest.fixture(autouse=True)
def _ignore_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def both(function):
    """The results in both libraries, as lists; an exception's class for one that raises."""
    found = []
    for library in (lucid, torch):
        try:
            found.append(function(library))
        except Exception as error:
            found.append(type(error))
    return found


def leaf(library, data):
    return library.tensor(data, requires_grad=True)


# Writes and gradients.


@pytest.mark.parametrize("through_data", [False, True])
def test_tensors_saved_for_backward_may_be_written(through_data):
    def run(library):
        x = leaf(library, [1.0, 2.0])
        y = x * 1.0
        z = (y * y).sum()
        (y.data if through_data else y).zero_()
        z.backward()
        return x.grad.tolist()

    assert both(run) == [[2.0, 4.0], [0.0, 0.0] if through_data else RuntimeError]


def test_source_and_target_of_a_write_may_overlap():
    x = lucid.arange(5.0)
    x[1:] = x[:-1]
    assert x.tolist() == [0.0, 0.0, 1.0, 2.0, 3.0]
    x = lucid.arange(5.0)
    x[:-1] = x[1:]
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0, 4.0]


def test_a_write_that_is_not_recorded_keeps_the_graph():
    def run(library):
        x = leaf(library, [1.0, 2.0])
        view, seen = x.reshape(2, 1), []
        view.register_hook(lambda gradient: seen.append(gradient.tolist()))
        with library.no_grad():
            x.mul_(3.0)
        view.sum().backward()
        return len(seen)

    assert both(run) == [1, 0]


def test_requires_grad_applies_to_existing_views():
    def run(library):
        x = library.ones(3)
        view = x[1:]
        x.requires_grad_()
        view.sum().backward()
        return None if x.grad is None else x.grad.tolist()

    assert both(run) == [[0.0, 1.0, 1.0], None]

    def write(library):
        x, w = library.ones(3), library.ones(3, requires_grad=True)
        view = x[1:]
        x.mul_(w)
        view.mul_(2.0)
        x.sum().backward()
        return w.grad.tolist()

    assert both(write) == [[1.0, 2.0, 2.0], RuntimeError]


EXPANDED = {
    "masked_fill_": lambda library, x: x.masked_fill_(library.tensor([True, False, True]), 1.0),
    "index_put_": lambda library, x: x.index_put_((library.tensor([0]),), library.tensor(1.0)),
    "add_": lambda library, x: x.add_(library.ones(3)),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_writes_to_expanded_tensors_raise(name):
    ours, theirs = both(lambda library: EXPANDED[name](library, library.zeros(1).expand(3)).tolist())
    assert ours is RuntimeError
    assert (theirs is RuntimeError) == (name == "add_")


def test_recorded_writes_to_a_part_of_an_expanded_tensor_raise():
    def run(library):
        x = library.zeros(1).expand(3).detach()
        x[:1].mul_(leaf(library, [2.0]))

    assert both(run) == [RuntimeError, None]


def test_some_writes_to_expanded_tensors_are_allowed_and_have_gradients():
    for write in (lambda x: x.fill_(2.0), lambda x: x.zero_(), lambda x: x.copy_(x)):

        def run(library, write=write):
            base = leaf(library, [1.0])
            x = (base * 1).expand(3)
            write(x)
            x.sum().backward()
            return base.grad.tolist()

        ours, theirs = both(run)
        assert isinstance(ours, list)
        assert theirs is RuntimeError


def test_grad_of_a_result_whose_hook_changes_it():
    def run(library):
        x = leaf(library, [1.0])
        y = x * 2.0
        y.register_hook(lambda gradient: gradient * 10.0)
        return [gradient.tolist() for gradient in library.autograd.grad(y, [y, x], library.ones(1))]

    assert both(run) == [[[10.0], [20.0]], [[1.0], [20.0]]]


WRITES = {
    "index_put": lambda library, x, v: x.index_put((library.tensor([0, 0]),), v),
    "scatter": lambda library, x, v: x.scatter(0, library.tensor([0, 0]), v),
    "index tensor": lambda library, x, v: assigned(x, library.tensor([0, 0]), v),
}


def assigned(x, index, values):
    x = x.clone()
    x[index] = values
    return x


@pytest.mark.parametrize("name", WRITES)
def test_of_several_writes_to_one_element_the_last_gets_the_gradient(name):
    def run(library):
        values = leaf(library, [1.0, 2.0])
        WRITES[name](library, library.zeros(1), values).sum().backward()
        return values.grad.tolist()

    assert both(run) == [[0.0, 1.0], [1.0, 1.0]]


def test_an_unused_operand_gets_no_gradient():
    def run(library):
        x = library.ones(2, 2, requires_grad=True)
        a = library.ones(2, 2, requires_grad=True)
        library.addmm(x, a, a, beta=0).sum().backward()
        return None if x.grad is None else x.grad.tolist()

    assert both(run) == [None, [[0.0, 0.0], [0.0, 0.0]]]


def second(library, function):
    x = leaf(library, [[0.5, 1.0], [2.0, 0.25]])
    (first,) = library.autograd.grad(function(library, x).sum(), x, create_graph=True)
    (result,) = library.autograd.grad(first.sum() + (x * 0).sum(), x)
    return result.tolist()


def test_more_ops_are_differentiable():
    for function in (
        lambda library, x: library.cdist(x, x + 1),
        lambda library, x: library.nn.functional.hardsigmoid(x) ** 2,
    ):
        ours, theirs = both(lambda library, function=function: second(library, function))
        assert isinstance(ours, list)
        assert theirs in (RuntimeError, NotImplementedError)
    for function in (
        lambda library, x: library.floor_divide(x, 2.0),
        lambda library, x: library.remainder(3.0, x),
    ):

        def first(library, function=function):
            x = leaf(library, [1.0, 2.0])
            function(library, x).sum().backward()
            return x.grad.tolist()

        ours, theirs = both(first)
        assert isinstance(ours, list)
        assert isinstance(theirs, type)


# Values.


def test_16_bit_floats_are_rounded_once():
    def run(library):
        source = library.full((300,), 1.0, dtype=library.bfloat16)
        return library.zeros(1, dtype=library.bfloat16).index_add(0, library.tensor([0] * 300), source).item()

    assert both(run) == [300.0, 256.0]


def test_dtypes_of_results():
    assert both(lambda library: library.tensor([1, 2]).mean().item()) == [1.5, RuntimeError]
    assert both(lambda library: str(library.tensor([0, 3], dtype=library.uint8).any().dtype)) == [
        "bool",
        "torch.uint8",
    ]
    assert both(lambda library: str(library.full((2,), library.tensor(7, dtype=library.int16)).dtype)) == [
        "int16",
        "torch.int64",
    ]
    assert both(lambda library: str(library.einsum("ii", library.ones(2, 2, dtype=library.int32)).dtype)) == [
        "int32",
        "torch.int64",
    ]
    assert both(lambda library: library.tensor([2, 3]).sum(dtype=library.bool).item()) == [TypeError, True]


def test_batch_norm_writes_nothing():
    def run(library):
        mean, var = library.zeros(2), library.ones(2)
        x = library.tensor([[1.0, 0.0], [3.0, 4.0]])
        if library is lucid:
            result = library.batch_norm(x, mean, var, training=True, momentum=0.5)
            assert result.running_mean.tolist() == [1.0, 1.0]
            assert lucid.instance_norm(lucid.ones(1, 2, 3), mean, var, use_input_stats=True)[1].shape == (2,)
        else:
            library.batch_norm(x, None, None, mean, var, True, 0.5, 1e-5, False)
        return mean.tolist()

    assert both(run) == [[0.0, 0.0], [1.0, 1.0]]
    for module in (lucid.nn.BatchNorm1d(2), torch.nn.BatchNorm1d(2)):
        library = lucid if isinstance(module, lucid.nn.Module) else torch
        module(library.tensor([[1.0, 0.0], [3.0, 4.0]]))
        np.testing.assert_allclose(module.running_mean.tolist(), [0.2, 0.2], rtol=1e-6)


def test_ctc_loss_is_differentiated_with_respect_to_its_input():
    def gradient(library, normalised):
        x = leaf(library, [[[0.1, 0.9, -0.5]], [[0.3, 0.2, 0.6]]])
        log_probs = x.log_softmax(2) if normalised else x
        lengths = library.tensor([2]), library.tensor([1])
        library.nn.functional.ctc_loss(log_probs, library.tensor([[1]]), *lengths).backward()
        return x.grad.tolist()

    np.testing.assert_allclose(*both(lambda library: gradient(library, True)), rtol=1e-4, atol=1e-6)
    ours, theirs = both(lambda library: gradient(library, False))
    assert not np.allclose(ours, theirs)
    assert np.allclose(np.sum(ours), -2)  # one unit of probability for each step


def test_embedding_bag_scales_by_the_uses_of_the_row():
    def run(library):
        bag = library.nn.EmbeddingBag(3, 1, mode="sum", scale_grad_by_freq=True)
        bag(library.tensor([[0, 0, 2]])).sum().backward()
        return bag.weight.grad.flatten().tolist()

    ours, theirs = both(run)
    assert ours == [1.0, 0.0, 1.0]
    assert theirs != ours


def test_numbers_are_accepted_as_tensors():
    assert both(lambda library: library.maximum(library.tensor([1.0, 3.0]), 2.0).tolist()) == [[2.0, 3.0], TypeError]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_random_numbers_do_not_depend_on_the_threads(threads):
    before = lucid.get_num_threads()
    lucid.set_num_threads(threads)
    lucid.manual_seed(0)
    found = lucid.randn(100_000)
    lucid.set_num_threads(before)
    lucid.manual_seed(0)
    assert lucid.equal(found, lucid.randn(100_000))
    torch.manual_seed(0)
    assert found[:8].tolist() != torch.randn(100_000)[:8].tolist()


def test_numpy_is_read_only_and_keeps_its_values():
    def run(library):
        x = library.zeros(2)
        array = x.numpy()
        x.add_(1.0)
        return array.flags.writeable, array.tolist()

    assert both(run) == [(False, [0.0, 0.0]), (True, [1.0, 1.0])]


def test_sub_converts_bools():
    def run(library):
        x, mask = library.tensor([2.0, 2.0]), library.tensor([True, False])
        return (x - mask).tolist(), (mask - x).tolist()

    assert both(run) == [([1.0, 2.0], [-1.0, -2.0]), RuntimeError]
    ours, theirs = both(lambda library: library.tensor([True]) - library.tensor([True]))
    assert ours is TypeError
    assert theirs is RuntimeError


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_alpha_multiplies_and_then_adds(dtype):
    x, y = (np.random.default_rng(seed).normal(size=1000).astype(dtype) for seed in (0, 1))

    def run(library):
        a, b = library.tensor(x), library.tensor(y)
        return library.add(a, b, alpha=0.1).tolist(), (a + 0.1 * b).tolist()

    (ours, steps), (theirs, their_steps) = both(run)
    assert ours == steps
    assert theirs != their_steps
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


def test_tensor_is_the_function_tensor():
    assert both(lambda library: str(library.Tensor([1, 2]).dtype)) == ["int64", "torch.float32"]
    assert both(lambda library: tuple(library.Tensor(5).shape)) == [TypeError, (5,)]


def test_numpys_reductions_return_tensors():
    assert both(lambda library: np.max(library.tensor([[1.0, 2.0]]), axis=1).tolist()) == [[2.0], TypeError]
    assert both(lambda library: np.var(library.tensor([1.0, 3.0])).item()) == [1.0, TypeError]


# Modules.


def test_dict_of_a_module_holds_plain_attributes():
    ours, theirs = lucid.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    ours.note = theirs.note = 1
    assert "note" in vars(ours)
    assert "in_features" not in vars(ours)
    assert "in_features" in vars(theirs)
    version = ours._version
    ours.__dict__["other"] = 2
    assert ours._version == version
    assert ours.other == 2
    assert {"_parameters", "_settings"} <= set(ours.__getstate__())


def test_a_lazy_module_keeps_its_class_and_parameters():
    def run(library):
        layer = library.nn.LazyLinear(2)
        weight = layer.weight
        layer(library.ones(5, 3))
        return layer.weight is weight, type(layer).__name__

    assert both(run) == [(True, "LazyLinear"), (True, "Linear")]


def test_computed_weights_are_buffers_that_are_not_saved():
    layer = lucid.nn.utils.weight_norm(lucid.nn.Linear(2, 2))
    assert "weight" in dict(layer.named_buffers())
    assert "weight" not in layer.state_dict()


def test_gradients_of_embeddings_are_dense():
    def run(library):
        layer = library.nn.Embedding(3, 2, sparse=True)
        layer(library.tensor([1])).sum().backward()
        return layer.weight.grad.tolist() if library is lucid else layer.weight.grad.is_sparse

    assert both(run) == [[[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]], True]


def test_assigning_a_state_keeps_the_parameters():
    def run(library):
        model, state = library.nn.Linear(2, 2), library.nn.Linear(2, 2).state_dict()
        weight = model.weight
        model.load_state_dict(state, assign=True)
        state["weight"].zero_()
        return model.weight is weight, model.weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]

    assert both(run) == [(True, True), (False, True)]
