"""NumPy, the buffer protocol and DLPack, both ways."""

import gc

import lucid
import numpy as np
import pytest


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 3), (2, 3)])
def test_round_trips_keep_dtype_shape_and_values(dtype, shape):
    array = np.ones(shape, dtype)
    x = lucid.from_numpy(array)
    for again in (x.numpy(), np.asarray(x), np.array(x), np.asarray(memoryview(x)), np.from_dlpack(x)):
        assert again.dtype == array.dtype
        assert again.shape == shape
        np.testing.assert_array_equal(again, array)
    y = lucid.from_dlpack(array)
    assert y.shape == shape
    np.testing.assert_array_equal(y.numpy(), array)


def test_numpy_shares_memory_and_keeps_its_values():
    x = lucid.ones(4)
    array = x.numpy()
    assert array.__array_interface__["data"][0] == x.data_ptr()
    assert not array.flags.writeable
    view = x[1:]
    x += 1
    assert array.tolist() == [1, 1, 1, 1]
    assert view.tolist() == [2, 2, 2]
    del x
    gc.collect()
    assert array.tolist() == [1, 1, 1, 1]


def test_strided_views_are_exported_with_their_strides():
    x = lucid.arange(6).reshape(2, 3)
    assert x.T.numpy().strides == (8, 24)
    np.testing.assert_array_equal(x[:, 1:].numpy(), [[1, 2], [4, 5]])
    np.testing.assert_array_equal(np.from_dlpack(x.T), x.T.tolist())
    with pytest.raises(BufferError, match="not C-contiguous"):
        np.frombuffer(x.T)
    assert np.frombuffer(x, np.int64).tolist() == [0, 1, 2, 3, 4, 5]


def test_array_conversion():
    x = lucid.tensor([1.5, 2.5])
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.array(x, copy=True).flags.writeable
    assert np.sin(x).dtype == np.float32
    assert float(np.sum(x)) == 4.0


def test_tensors_that_cannot_be_exported():
    p = lucid.ones(2, requires_grad=True)
    for export in (lambda: p.numpy(), lambda: np.asarray(p), lambda: np.from_dlpack(p)):
        with pytest.raises(RuntimeError, match="requires grad; use detach"):
            export()
    assert p.numpy(force=True).tolist() == [1, 1]
    with pytest.raises(TypeError, match="bfloat16 has no counterpart"):
        lucid.ones(2, dtype=lucid.bfloat16).numpy()


def test_dlpack_shares_writable_memory_of_producers():
    array = np.zeros(3, np.float32)
    x = lucid.from_dlpack(array)
    array[0] = 1
    assert x.tolist() == [1, 0, 0]
    x[1] = 2
    assert array.tolist() == [1, 2, 0]
    array.flags.writeable = False
    y = lucid.from_dlpack(array)
    y[0] = 9
    assert array[0] == 1


def test_dlpack_exports_read_only_memory_and_copies_for_old_consumers():
    x = lucid.ones(3)
    assert x.__dlpack_device__() == (1, 0)
    array = np.from_dlpack(x)
    assert not array.flags.writeable
    x += 1
    assert array.tolist() == [1, 1, 1]
    old = lucid.from_dlpack(x.__dlpack__())
    old += 5
    assert x.tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="copy"):
        x.__dlpack__(copy=False)
    capsule = x.__dlpack__(max_version=(1, 0))
    again = lucid.from_dlpack(capsule)
    assert again.tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="only once"):
        lucid.from_dlpack(capsule)
    with pytest.raises(TypeError, match="expected an object with __dlpack__, not a list"):
        lucid.from_dlpack([1])
    bf16 = lucid.ones(2, dtype=lucid.bfloat16)
    assert lucid.from_dlpack(bf16).dtype is lucid.bfloat16


def test_unused_capsules_release_their_memory():
    x = lucid.ones(3)
    for version in (None, (1, 0)):
        x.__dlpack__(max_version=version)
    before = x.data_ptr()
    x += 1
    assert x.data_ptr() == before


def test_array_operators_return_tensors():
    array = np.ones(2, np.float32)
    x = lucid.ones(2)
    for result in (array + x, array * x, array - x, array == x, np.float32(2) * x, np.int64(3) + x):
        assert type(result) is lucid.Tensor
    assert type(x @ array) is lucid.Tensor
    assert type(lucid.add(array, array)) is lucid.Tensor


def test_backward_uses_imported_memory_before_later_writes():
    array = np.array([2.0, 3.0], np.float32)
    p = lucid.ones(2, requires_grad=True)
    loss = (p * lucid.from_numpy(array)).sum()
    array[:] = 100
    loss.backward()
    assert p.grad.tolist() == [2, 3]


@pytest.mark.parametrize("take", [lucid.from_numpy, lucid.from_dlpack])
def test_products_see_writes_of_numpy_to_shared_memory(take):
    array = np.ones((40, 70), np.float32)
    weight = take(array)
    x = lucid.ones(20, 70)
    for i in range(4):
        array[0, 0] = i
        assert (x @ weight.T)[0, 0].item() == 69 + i
