"""Datasets, samplers and collation."""

import collections
import gzip
import struct

import lucid
import numpy as np
import pytest
from lucid.utils import data

Point = collections.namedtuple("Point", "x y")


def test_lucid_data_is_an_alias():
    assert lucid.data.DataLoader is data.DataLoader
    assert set(data.__all__) <= set(dir(lucid.data))


def test_tensor_dataset():
    dataset = data.TensorDataset(lucid.arange(6).reshape(3, 2), lucid.arange(3))
    assert len(dataset) == 3
    x, y = dataset[1]
    assert x.tolist() == [2, 3]
    assert y.item() == 1
    with pytest.raises(ValueError, match="same first size"):
        data.TensorDataset(lucid.ones(2), lucid.ones(3))


def test_concatenated_and_partial_datasets():
    both = data.ConcatDataset([["a", "b"], ["c"]])
    assert [both[i] for i in range(-3, 3)] == ["a", "b", "c"] * 2
    with pytest.raises(IndexError):
        both[3]
    part = data.Subset(both, [2, 0])
    assert [part[i] for i in range(len(part))] == ["c", "a"]
    named = data.StackDataset(x=[1, 2], y=[3, 4])
    assert named[1] == {"x": 2, "y": 4}


def test_sums_of_datasets():
    class Numbers(data.Dataset):
        def __init__(self, *values):
            self.values = values

        def __getitem__(self, index):
            return self.values[index]

        def __len__(self):
            return len(self.values)

    joined = Numbers(1, 2) + Numbers(3)
    assert [joined[i] for i in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("lengths", [[6, 4], [0.6, 0.4], [1.0]])
def test_random_split(lengths):
    generator = lucid.Generator().manual_seed(1)
    parts = data.random_split(range(10), lengths, generator=generator)
    assert sorted(i for part in parts for i in part.indices) == list(range(10))
    again = data.random_split(range(10), lengths, generator=lucid.Generator().manual_seed(1))
    assert [part.indices for part in parts] == [part.indices for part in again]


def test_random_split_must_add_up():
    with pytest.raises(ValueError, match="add up to 9"):
        data.random_split(range(10), [5, 4])
    assert [len(p) for p in data.random_split(range(10), [1 / 3, 1 / 3, 1 / 3])] == [4, 3, 3]


def test_samplers():
    generator = lucid.Generator().manual_seed(0)
    assert list(data.SequentialSampler(range(3))) == [0, 1, 2]
    order = list(data.RandomSampler(range(20), generator=generator))
    assert sorted(order) == list(range(20))
    assert order != list(range(20))
    assert len(list(data.RandomSampler(range(3), num_samples=8))) == 8
    assert set(data.RandomSampler(range(3), replacement=True, num_samples=50)) == {0, 1, 2}
    assert sorted(data.SubsetRandomSampler([4, 9, 2])) == [2, 4, 9]
    samples = list(data.WeightedRandomSampler([0.0, 1.0, 3.0], 400, generator=generator))
    assert set(samples) == {1, 2}
    assert samples.count(2) > 2 * samples.count(1)
    assert sorted(data.WeightedRandomSampler([1, 2, 3], 3, replacement=False)) == [0, 1, 2]
    assert list(data.BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert len(data.BatchSampler(range(5), 2, False)) == 3


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_distributed_shares_are_equal_and_cover_everything(drop_last, shuffle):
    shares = []
    for rank in range(3):
        sampler = data.DistributedSampler(range(10), 3, rank, shuffle=shuffle, drop_last=drop_last)
        sampler.set_epoch(5)
        shares.append(list(sampler))
        assert len(sampler) == len(shares[-1])
    assert len({len(share) for share in shares}) == 1
    seen = {i for share in shares for i in share}
    assert len(seen) == (9 if drop_last else 10)


def test_the_epoch_changes_a_distributed_order():
    sampler = data.DistributedSampler(range(50), 2, 0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ([1, 2], "tensor([1, 2])"),
        ([1.5, 2.0], "tensor([1.5000, 2.0000], dtype=lucid.float64)"),
        ([True, False], "tensor([ True, False])"),
        (["a", "b"], "['a', 'b']"),
        ([(1, "a"), (2, "b")], "[tensor([1, 2]), ['a', 'b']]"),
        ([{"x": 1}, {"x": 2}], "{'x': tensor([1, 2])}"),
        ([Point(1, [2]), Point(3, [4])], "Point(x=tensor([1, 3]), y=[tensor([2, 4])])"),
        ([np.float32(1), np.float32(2)], "tensor([1., 2.])"),
        ([np.array([1, 2]), np.array([3, 4])], "tensor([[1, 2],\n        [3, 4]])"),
        ([lucid.ones(1), lucid.zeros(1)], "tensor([[1.],\n        [0.]])"),
    ],
)
def test_collation(samples, expected):
    assert repr(data.default_collate(samples)) == expected


@pytest.mark.parametrize(
    ("samples", "error", "message"),
    [
        ([lucid.ones(1), lucid.ones(2)], RuntimeError, "different shapes"),
        ([[1], [1, 2]], RuntimeError, "different lengths"),
        ([object()], TypeError, "collate_fn"),
        ([np.array(["a"])], TypeError, "cannot be converted to tensors"),
    ],
)
def test_uncollatable_types_are_named(samples, error, message):
    with pytest.raises(error, match=message):
        data.default_collate(samples)


def idx(code, shape, payload):
    return bytes([0, 0, code, len(shape)]) + b"".join(struct.pack(">I", size) for size in shape) + payload


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("code", "dtype"),
    [(0x08, "u1"), (0x09, "i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")],
)
def test_idx_files(code, dtype, compressed, tmp_path):
    array = np.arange(-6, 6).reshape(3, 2, 2).astype(dtype)
    content = idx(code, array.shape, array.tobytes())
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(content) if compressed else content)
    found = data.read_idx(path)
    np.testing.assert_array_equal(found.numpy(), array)
    assert found.numpy().dtype == array.dtype.newbyteorder("=")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "two zero bytes"),
        (b"\x00\x00\x08", "two zero bytes"),
        (b"\x01\x00\x08\x01", "two zero bytes"),
        (idx(0x07, (1,), b"1"), "0x07"),
        (b"\x00\x00\x08\x03\x00", "ends within"),
        (idx(0x08, (4,), b"123"), "should hold 4 bytes"),
        (idx(0x08, (2,), b"123"), "should hold 2 bytes"),
        (idx(0x08, (2**32 - 1,) * 3, b""), "too large"),
        (idx(0x08, (2**32 - 1,), b"1"), "at most"),
        (gzip.compress(idx(0x08, (2**31,), b"1")), "at most"),
        (gzip.compress(idx(0x08, (4,), b"123")), "should hold 4 bytes"),
        (gzip.compress(idx(0x08, (2,), b"123")), "data follows"),
        (gzip.compress(idx(0x08, (4,), b"1234"))[:-9], "cut short"),
        (gzip.compress(idx(0x08, (4,), b"1234"))[:-8] + bytes(8), "damaged"),
        (b"\x1f\x8b" + bytes(20), "damaged"),
    ],
)
def test_damaged_idx_files_are_rejected_with_a_reason(content, message, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        data.read_idx(path)


def test_idx_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        data.read_idx(tmp_path / "nothing")
