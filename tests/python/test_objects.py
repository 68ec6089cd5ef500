"""Identity, copies, pickles, attributes and conversions of Tensor objects."""

import copy
import gc
import pickle
import weakref

import lucid
import numpy as np
import pytest


def test_the_same_tensor_is_the_same_object():
    x = lucid.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad is x.grad
    grad = x.grad
    seen = id(grad)
    del grad
    assert id(x.grad) == seen or x.grad is not None
    y = lucid.zeros(2)
    assert y.add_(1) is y
    assert y.to(lucid.float32) is y
    assert y.float() is y
    assert y.contiguous() is y
    assert y.cpu() is y


def test_a_destroyed_object_is_recreated_for_the_same_tensor():
    x = lucid.tensor([3.0], requires_grad=True)
    (x * 2).backward()
    first = weakref.ref(x.grad)
    gc.collect()
    assert first() is None
    x.grad.fill_(7)
    assert x.grad.tolist() == [7]


def test_weak_references():
    x = lucid.zeros(2)
    died = []
    reference = weakref.ref(x, lambda _: died.append(True))
    assert reference() is x
    del x
    assert reference() is None
    assert died == [True]


def test_subclasses_keep_their_type_and_attributes():
    class Named(lucid.Tensor):
        def __init__(self, data, name):
            self.name = name

    x = Named([1.0, 2.0], "x")
    assert x.tolist() == [1, 2]
    assert x.name == "x"
    assert type(x + 1) is lucid.Tensor
    assert isinstance(x, lucid.Tensor)
    assert type(copy.deepcopy(x)) is Named


class Labelled(lucid.Tensor):
    pass


def test_attributes_of_subclasses_are_copied_and_pickled():
    x = Labelled([1.0])
    x.labels = ["a"]
    y = copy.deepcopy(x)
    y.labels.append("b")
    z = pickle.loads(pickle.dumps(x))
    assert (type(y), y.labels) == (Labelled, ["a", "b"])
    assert (type(z), z.labels, z.tolist()) == (Labelled, ["a"], [1.0])
    assert x.labels == ["a"]


def test_objects_created_without_init_are_valid():
    x = lucid.Tensor.__new__(lucid.Tensor)
    assert x.shape == (0,)
    assert (x + 1).shape == (0,)
    assert lucid.Tensor([1, 2]).dtype is lucid.int64


@pytest.mark.parametrize("dtype", ["bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_pickle_keeps_values_dtype_and_shape(dtype, shape):
    x = lucid.full(shape, 1, dtype=dtype)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert y.dtype is x.dtype
        assert y.shape == x.shape
        assert y.tolist() == x.tolist()


def test_pickle_of_views_parameters_and_results():
    x = lucid.arange(6).reshape(2, 3)
    assert pickle.loads(pickle.dumps(x.T)).tolist() == x.T.tolist()
    p = lucid.ones(2, requires_grad=True)
    assert pickle.loads(pickle.dumps(p)).requires_grad
    result = pickle.loads(pickle.dumps(p * 2))
    assert (result.tolist(), result.requires_grad, result.is_leaf) == ([2, 2], True, True)


def test_pickle_of_dtypes_devices_functions_and_result_tuples():
    for value in (
        lucid.float32,
        lucid.device("cpu"),
        lucid.add,
        lucid.Tensor.add,
        lucid.Tensor.add_,
        lucid.max,
        lucid.tensor,
    ):
        assert pickle.loads(pickle.dumps(value)) is value
    result = lucid.tensor([[1, 2]]).max(1)
    again = pickle.loads(pickle.dumps(result))
    assert type(again) is type(result)
    assert again.indices.tolist() == [1]
    generator = lucid.Generator().manual_seed(5)
    assert pickle.loads(pickle.dumps(generator)).initial_seed() == 5


def test_broken_pickles_are_rejected():
    with pytest.raises(ValueError, match="3 bytes are not the data of"):
        lucid._core.rebuild_tensor(lucid.Tensor, b"abc", (2,), lucid.float32, False)
    with pytest.raises(TypeError, match="subclass of Tensor"):
        lucid._core.rebuild_tensor(int, b"", (0,), lucid.float32, False)


def test_deepcopy_copies_leaves_with_their_gradients():
    x = lucid.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    pair = copy.deepcopy([x, x])
    assert pair[0] is pair[1]
    assert pair[0] is not x
    assert pair[0].requires_grad
    assert pair[0].grad.tolist() == [3, 3]
    assert pair[0].grad is not x.grad
    with lucid.no_grad():
        pair[0].fill_(9)
    assert x.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="only leaves can be copied deeply"):
        copy.deepcopy(x * 2)


def test_copy_shares_memory():
    x = lucid.ones(2)
    y = copy.copy(x)
    y += 1
    assert x.tolist() == [2, 2]
    assert y is not x


def test_attributes():
    x = lucid.zeros(2, 3, dtype=lucid.float64)
    assert x.shape == x.size() == (2, 3)
    assert isinstance(x.shape, tuple)
    assert x.size(0) == 2
    assert x.size(dim=-1) == 3
    assert x.ndim == x.dim() == 2
    assert x.numel() == 6
    assert x.stride() == (3, 1)
    assert x.T.stride() == (1, 3)
    assert x.T.stride(0) == 1
    assert x.is_contiguous()
    assert not x.T.is_contiguous()
    assert x[1].storage_offset() == 3
    assert x[1].data_ptr() == x.data_ptr() + 24
    assert x.element_size() == x.itemsize == 8
    assert x.nbytes == 48
    assert x.mT.shape == (3, 2)
    assert lucid.zeros(2, 3, 4).T.shape == (4, 3, 2)
    assert x.device == lucid.device("cpu")
    assert str(x.device) == "cpu"
    with pytest.raises(IndexError, match="size"):
        x.size(2)
    with pytest.raises(AttributeError):
        x.shape = (3, 2)
    with pytest.raises(AttributeError):
        x.nonsense = 1


@pytest.mark.parametrize(
    ("method", "dtype"),
    [
        ("float", lucid.float32),
        ("double", lucid.float64),
        ("half", lucid.float16),
        ("bfloat16", lucid.bfloat16),
        ("long", lucid.int64),
        ("int", lucid.int32),
        ("short", lucid.int16),
        ("char", lucid.int8),
        ("byte", lucid.uint8),
        ("bool", lucid.bool),
    ],
)
def test_conversions(method, dtype):
    x = lucid.tensor([0.0, 1.0, 2.5])
    assert getattr(x, method)().dtype is dtype
    assert x.to(dtype).dtype is dtype
    assert x.to(dtype=dtype.name).dtype is dtype
    assert x.to("cpu", dtype).dtype is dtype
    assert x.to(lucid.device("cpu"), dtype=dtype).dtype is dtype
    assert x.to(lucid.zeros(1, dtype=dtype)).dtype is dtype
    assert x.type_as(lucid.zeros(1, dtype=dtype)).dtype is dtype


def test_to_copies_only_if_needed_or_requested():
    x = lucid.ones(2)
    assert x.to("cpu") is x
    assert x.to(lucid.float32, copy=True) is not x
    with pytest.raises(ValueError, match="to: there is no device 'cuda'"):
        x.to("cuda")
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        x.to(foo=1)


def test_item_and_tolist():
    assert lucid.tensor([[5]]).item() == 5
    assert type(lucid.tensor(True).item()) is bool
    assert type(lucid.tensor(1.0).item()) is float
    x = lucid.arange(6).reshape(2, 3)
    assert x.T.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x[:, ::2].tolist() == [[0, 2], [3, 5]]
    assert lucid.zeros(2, 0).tolist() == [[], []]
    assert lucid.tensor([1.5], dtype=lucid.bfloat16).tolist() == [1.5]
    with pytest.raises(RuntimeError, match=r"item: .* has 6 elements"):
        x.item()


def test_view_shares_memory_or_raises():
    x = lucid.zeros(2, 3)
    x.view(6)[0] = 1
    x.view(3, -1)[2, 1] = 2
    assert x.tolist() == [[1, 0, 0], [0, 0, 2]]
    with pytest.raises(RuntimeError, match=r"cannot be viewed as .* without a copy; use reshape"):
        x.T.view(6)
    assert x.T.reshape(6).tolist() == [1, 0, 0, 0, 0, 2]


def test_writing_methods():
    x = lucid.zeros(3)
    assert x.fill_(2) is x
    assert x.tolist() == [2, 2, 2]
    assert x.copy_(np.arange(3)).tolist() == [0, 1, 2]
    assert x.zero_().tolist() == [0, 0, 0]
    assert x.copy_(5).tolist() == [5, 5, 5]
    with pytest.raises(RuntimeError, match=r"copy_: the source .* does not broadcast"):
        x.copy_(lucid.zeros(2))


def test_data_can_be_read_and_replaced():
    p = lucid.ones(2, requires_grad=True)
    p.data.fill_(3)
    assert p.tolist() == [3, 3]
    assert not p.data.requires_grad
    p.data = lucid.zeros(4)
    assert p.shape == (4,)
    assert p.requires_grad


def test_dtype_objects():
    assert repr(lucid.float32) == "lucid.float32"
    assert str(lucid.float32) == lucid.float32.name == "float32"
    assert lucid.f32 is lucid.float32 is lucid.float is lucid.dtype("f32") is lucid.dtype(np.float32)
    assert lucid.half is lucid.float16
    assert lucid.long is lucid.int64
    assert lucid.float16.itemsize == 2
    assert lucid.float16.is_floating_point
    assert not lucid.int8.is_floating_point
    assert lucid.int8.is_signed
    assert not lucid.uint8.is_signed
    assert lucid.finfo(lucid.float32).max == np.finfo(np.float32).max
    assert lucid.finfo(lucid.float64).tiny == np.finfo(np.float64).tiny
    assert lucid.finfo("f16").eps == np.finfo(np.float16).eps
    assert lucid.iinfo(lucid.int32).min == -(2**31)
    assert lucid.iinfo("u8").max == 255
    with pytest.raises(TypeError, match="not a floating-point dtype"):
        lucid.finfo(lucid.int8)


def test_default_dtype():
    assert lucid.get_default_dtype() is lucid.float32
    try:
        lucid.set_default_dtype(lucid.float64)
        assert lucid.tensor(1.0).dtype is lucid.float64
        assert lucid.zeros(1).dtype is lucid.float64
        assert (lucid.tensor([1]) / 2).dtype is lucid.float64
        with pytest.raises(TypeError, match="expected a float dtype"):
            lucid.set_default_dtype(lucid.int64)
    finally:
        lucid.set_default_dtype(lucid.float32)


def test_threads_and_devices():
    threads = lucid.get_num_threads()
    try:
        lucid.set_num_threads(1)
        assert lucid.get_num_threads() == 1
        for wrong in (0, -1, 10**9):
            with pytest.raises(ValueError, match="set_num_threads"):
                lucid.set_num_threads(wrong)
    finally:
        lucid.set_num_threads(threads)
    with pytest.raises(ValueError, match="there is no device 'cuda'; the devices are: 'cpu'"):
        lucid.device("cuda")
