"""Compiled functions that raise are recorded only a few times, and are compiled once they stop raising."""

import lucid
import pytest

LIMIT = {"at": 0}


def step(x):
    y = x * 2
    if LIMIT["at"] > 0:
        raise KeyError("no batch")
    return y


@pytest.fixture
def recordings(monkeypatch):
    """Counts the recordings."""
    from lucid.compiler import _capture

    count = [0]
    begin = _capture.Capture.begin

    def counted(self, *args):
        count[0] += 1
        return begin(self, *args)

    monkeypatch.setattr(_capture.Capture, "begin", counted)
    LIMIT["at"] = 0
    return count


def test_a_function_that_always_raises_is_recorded_only_a_few_times(recordings):
    LIMIT["at"] = 1
    fast = lucid.compile(step)
    for _ in range(20):
        with pytest.raises(KeyError, match="no batch"):
            fast(lucid.ones(3))
    assert recordings[0] == 3
    assert "raised KeyError" in fast.explain()
    assert fast.cache_info().misses == 20


def test_a_function_that_stops_raising_is_compiled(recordings):
    LIMIT["at"] = 1
    fast = lucid.compile(step)
    for _ in range(5):
        with pytest.raises(KeyError):
            fast(lucid.ones(3))
    LIMIT["at"] = 0
    for _ in range(4):
        assert fast(lucid.ones(3)).tolist() == [2, 2, 2]
    assert fast.cache_info().compiles == 1
    assert fast.cache_info().hits >= 1


def test_another_key_is_recorded_although_one_raises(recordings):
    fast = lucid.compile(lambda x: x.reshape(4) if x.numel() == 3 else x * 2)
    for _ in range(6):
        with pytest.raises(ValueError, match="reshape"):
            fast(lucid.ones(3))
        assert fast(lucid.ones(4)).tolist() == [2, 2, 2, 2]
    assert recordings[0] == 4
    assert fast.cache_info().compiles == 1


def test_an_interrupt_does_not_count_as_raising(recordings):
    def interrupted(x):
        raise KeyboardInterrupt

    fast = lucid.compile(interrupted)
    for _ in range(6):
        with pytest.raises(KeyboardInterrupt):
            fast(lucid.ones(3))
    assert recordings[0] == 6


def test_keys_that_raise_are_evicted(recordings):
    LIMIT["at"] = 1
    fast = lucid.compile(step)
    for size in range(1, 100):
        with pytest.raises(KeyError):
            fast(lucid.ones(size))
    assert fast._compiled.table.known_keys <= 64
