"""Arguments of ops: accepted forms, and messages for invalid ones."""

import inspect

import lucid
import numpy as np
import pytest

X = lucid.tensor([[1.0, 2.0], [3.0, 4.0]])


def test_argument_names_of_numpy_and_torch_are_accepted():
    for call in (
        lambda: lucid.sum(X, 1, True),
        lambda: lucid.sum(X, dim=1, keepdim=True),
        lambda: lucid.sum(X, axis=1, keepdims=True),
        lambda: lucid.sum(x=X, axis=(1,), keepdims=True),
        lambda: lucid.sum(input=X, dim=[-1], keepdim=True),
        lambda: X.sum(axis=np.int64(1), keepdim=np.bool_(True)),
    ):
        assert call().tolist() == [[3], [7]]
    assert lucid.add(input=X, other=1).tolist() == (X + 1).tolist()


def test_integers_may_be_spread():
    assert X.reshape(4).shape == X.reshape((4,)).shape == X.reshape([4]).shape == X.reshape(shape=(4,)).shape == (4,)
    assert X.reshape(2, 1, -1).shape == (2, 1, 2)
    assert X.permute(1, 0).tolist() == X.permute((1, 0)).tolist() == X.permute(dims=[1, 0]).tolist() == X.T.tolist()
    assert lucid.flip(X, 0, 1).tolist() == [[4, 3], [2, 1]]
    assert X.reshape(lucid.tensor([4])).shape == X.reshape(np.array([4])).shape == (4,)


def test_tensors_may_be_numbers_arrays_and_lists():
    assert lucid.maximum(X, 2).tolist() == [[2, 2], [3, 4]]
    assert lucid.maximum(2, X).tolist() == [[2, 2], [3, 4]]
    assert lucid.add(np.ones(2), np.float32(1)).dtype is lucid.float64
    assert lucid.sum([1.0, 2.0]).item() == 3
    assert lucid.cat([X, np.ones((1, 2), np.float32)]).shape == (3, 2)
    assert lucid.cat((X, X), dim=1).shape == lucid.cat(X, X, dim=1).shape == (2, 4)
    assert lucid.clamp(X, max=2).tolist() == lucid.clamp(X, None, 2).tolist() == [[1, 2], [2, 2]]


def test_several_results_are_named():
    result = X.max(1)
    assert result.values.tolist() == [2, 4]
    assert result.indices.tolist() == [1, 1]
    values, indices = result
    assert values is result[0]
    assert indices is result.indices
    assert repr(result).startswith("lucid.return_types.max_dim(")
    parts = X.split(1)
    assert isinstance(parts, tuple)
    assert [p.shape for p in parts] == [(1, 2), (1, 2)]


def test_metadata_of_functions_and_methods():
    assert lucid.add.__name__ == "add"
    assert lucid.add.__module__ == "lucid"
    assert lucid.Tensor.add_.__qualname__ == "Tensor.add_"
    assert repr(lucid.add) == "<function 'lucid.add'>"
    assert repr(lucid.Tensor.add) == "<method 'Tensor.add'>"
    assert lucid.add.__doc__.startswith("Returns x + y")
    assert str(inspect.signature(lucid.sum)) == "(x, dim=None, keepdim=False, *, dtype=None)"
    assert lucid.Tensor.add(X, 1).tolist() == X.add(1).tolist()

    class Holder:
        act = lucid.relu

    assert Holder().act(X).tolist() == X.tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lucid.add(), TypeError, "add: missing argument 'x'"),
        (lambda: lucid.add(X), TypeError, "add: missing argument 'y'"),
        (lambda: lucid.add(X, 1, 2), TypeError, "add: takes 2 positional arguments, 3 were given"),
        (lambda: lucid.exp(X, 1), TypeError, "exp: takes 1 positional argument, 2 were given"),
        (lambda: lucid.add(X, 1, z=2), TypeError, "add: got an unexpected keyword argument 'z'"),
        (lambda: lucid.add(X, 1, y=2), TypeError, "add: got several values for argument 'y'"),
        (lambda: lucid.sum(X, dim=0, axis=1), TypeError, "sum: got several values for argument 'dim'"),
        (lambda: lucid.add(X, "a"), TypeError, "add: argument 'y' must be a tensor or a number, not a str"),
        (lambda: lucid.add(X, None), TypeError, "add: argument 'y' must be a tensor or a number, not None"),
        (lambda: lucid.add(X, [object()]), TypeError, "expected a number"),
        (
            lambda: X.sum(1.5),
            TypeError,
            "sum: argument 'dim' must be an integer or a sequence of integers, not a float",
        ),
        (lambda: X.sum("0"), TypeError, "not a str"),
        (lambda: X.sum([0, "a"]), TypeError, "sum: argument 'dim' must be an integer, not a str"),
        (lambda: X.sum(True), TypeError, "not a bool"),
        (lambda: X.sum(0, keepdim=1), TypeError, "sum: argument 'keepdim' must be True or False, not an int"),
        (lambda: X.sum(2), IndexError, "sum"),
        (lambda: X.sum(2**70), OverflowError, "sum: argument 'dim': the integer .* does not fit in 64 bits"),
        (lambda: X.sum(dtype="float7"), ValueError, "sum: argument 'dtype': there is no dtype 'float7'"),
        (lambda: X.sum(dtype=7), TypeError, "sum: argument 'dtype' must be a dtype, not an int"),
        (lambda: lucid.cat(3), TypeError, "cat: argument 'tensors' must be a sequence of tensors, not an int"),
        (lambda: lucid.cat([X, "a"]), TypeError, r"cat: argument 'tensors\[1\]' must be a tensor, not a str"),
        (lambda: lucid.cat([]), ValueError, "cat: expected at least one tensor"),
        (lambda: lucid.cat([X, X], dim=2), IndexError, "cat: axis 2 is out of range for a tensor with 2 dimensions"),
        (lambda: X.max(dim=2), IndexError, "max_dim: axis 2 is out of range"),
        (lambda: X.roll(1, 2), IndexError, "roll: axis 2 is out of range for a tensor with 2 dimensions"),
        (lambda: lucid.cat([lucid.tensor(1.0)]), ValueError, "cat: 0-d tensors cannot be concatenated; use stack"),
        (lambda: lucid.gelu(X, approximate=3), TypeError, "gelu: argument 'approximate' must be a string, not an int"),
        (
            lambda: lucid.leaky_relu(X, "a"),
            TypeError,
            "leaky_relu: argument 'negative_slope' must be a number, not a str",
        ),
        (lambda: X.add_(), TypeError, "add_: missing argument 'y'"),
        (lambda: lucid.Tensor.add_(3, 4), TypeError, "add_: the first argument must be the tensor to write"),
        (lambda: X + lucid.zeros(3), ValueError, "add"),
        (lambda: X.reshape(3), ValueError, "reshape"),
        (lambda: lucid.tensor([1]).sub_(0.5), RuntimeError, "sub_: a result of dtype f32 cannot be stored"),
        (lambda: lucid.tensor([1]) // 0, (RuntimeError, ValueError, ZeroDivisionError), "zero"),
    ],
)
def test_messages_name_the_op_and_the_argument(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_errors_leave_no_pending_exception():
    for _ in range(100):
        with pytest.raises(TypeError):
            lucid.add(X, "a")
    assert (X + 1).tolist() == [[2, 3], [4, 5]]


def test_huge_and_hostile_arguments_never_crash():
    class Evil:
        def __index__(self):
            raise KeyError("index")

        def __len__(self):
            return 2**62

        def __getitem__(self, i):
            raise IndexError

    with pytest.raises((KeyError, TypeError)):
        X.sum(Evil())
    with pytest.raises((ValueError, IndexError)):
        X.reshape([1] * 100_000)
    with pytest.raises((ValueError, IndexError)):
        X.sum(list(range(1000)))
    with pytest.raises((ValueError, MemoryError, TypeError, IndexError)):
        lucid.tensor(Evil())
    with pytest.raises((ValueError, RuntimeError, MemoryError)):
        X.repeat(2**40, 2**40)


def test_internal_errors_are_runtime_errors():
    assert issubclass(lucid.InternalError, RuntimeError)
