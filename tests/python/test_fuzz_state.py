"""Random changes to the state that compiled functions read; LUCID_LONG_TESTS=1 runs more of them."""

import os

import chaos
import heap_fuzzer
import pytest

LONG = os.environ.get("LUCID_LONG_TESTS") == "1"


@pytest.mark.filterwarnings("ignore")
def test_random_heaps_are_the_same_compiled():
    outcome = heap_fuzzer.run(seed=0, steps=20_000 if LONG else 1_200)
    assert not outcome.failures, outcome.failures[0]
    assert outcome.hits >= outcome.steps // 5


@pytest.mark.filterwarnings("ignore")
def test_a_training_loop_in_chaos_is_the_same_compiled():
    outcome = chaos.run(seed=0, steps=10_000 if LONG else 200)
    assert not outcome.failures, outcome.failures[0]
    assert outcome.hits >= outcome.steps // 5
