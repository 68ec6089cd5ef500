"""Building the dicts and sets of a hostile file takes linear time, also if their keys are chosen to collide."""

import io
import struct

import lucid
import pytest
from colliding_keys import harmless, numbers_of_one_chain, pairs_of_one_hash
from torch_writer import archive, call, group, number

COUNT = 3000
PAIRS = pairs_of_one_hash(COUNT)
# As many as fit into a table of this size.
NUMBERS = numbers_of_one_chain(4096, 2730)


def written(key):
    if isinstance(key, float):
        return b"G" + struct.pack(">d", key)
    return group(*map(number, key)) if isinstance(key, tuple) else number(key)


CONTAINERS = {
    "items": lambda keys: b"}(" + b"".join(key + b"N" for key in keys) + b"u",
    "one item at a time": lambda keys: b"}" + b"".join(key + b"Ns" for key in keys),
    "ordered dict": lambda keys: call("collections.OrderedDict", b"](" + b"".join(group(k, b"N") for k in keys) + b"e"),
    "set": lambda keys: b"\x8f(" + b"".join(keys) + b"\x90",
    "set, one at a time": lambda keys: b"\x8f" + b"".join(b"(" + key + b"\x90" for key in keys),
    "frozen set": lambda keys: b"(" + b"".join(keys) + b"\x91",
    "set of a list": lambda keys: call("builtins.set", b"](" + b"".join(keys) + b"e"),
    "frozen set of a list": lambda keys: call("builtins.frozenset", b"](" + b"".join(keys) + b"e"),
}


def loaded(container, keys):
    return lucid.load_torch(io.BytesIO(archive(CONTAINERS[container]([written(key) for key in keys]))))


@pytest.mark.parametrize("container", CONTAINERS)
def test_keys_that_collide_are_refused(container):
    kind = "set" if "set" in container else "dict"
    for keys in (PAIRS, NUMBERS) if kind == "dict" else (PAIRS,):
        with pytest.raises(ValueError, match=f"the keys of a {kind} are chosen such that they collide"):
            loaded(container, keys)


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_keys_of_programs_are_loaded(container):
    for keys in harmless(COUNT).values():
        assert list(loaded(container, keys)) == keys or set(loaded(container, keys)) == set(keys)
    grid = [(i, j) for i in range(50) for j in range(50)]
    assert set(loaded(container, grid)) == set(grid)
    halves = [i / 2 for i in range(COUNT)]
    assert set(loaded(container, halves)) == set(halves)


def test_a_key_that_is_set_again_and_again_is_no_collision():
    assert loaded("items", [*range(100), *[7] * 20_000]) == dict.fromkeys(range(100))


def test_few_keys_may_collide():
    assert len(loaded("items", PAIRS[:60])) == 60


def test_values_of_a_pickle_are_numbered_in_order():
    # The memo is a dict too.
    with pytest.raises(ValueError, match="does not number its values in order"):
        lucid.load_torch(io.BytesIO(archive(b"Nr" + (5000).to_bytes(4, "little"))))
    assert lucid.load_torch(io.BytesIO(archive(b"Nr" + (1).to_bytes(4, "little")))) is None


def test_the_same_holds_for_files_of_save():
    def again(keys):
        return lucid.load(io.BytesIO(lucid._core.save_bytes(dict.fromkeys(keys, 1))))

    with pytest.raises(ValueError, match="the keys of a dict are chosen such that they collide"):
        again(NUMBERS)
    for keys in harmless(COUNT).values():
        assert list(again(keys)) == keys
