"""Random changes to the state that compiled functions read; LUCID_LONG_TESTS=1 runs more of them."""

import os
import pathlib
import sys

import chaos
import heap_fuzzer
import pytest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "fuzz"))
import aliased_state

LONG = os.environ.get("LUCID_LONG_TESTS") == "1"


@pytest.mark.filterwarnings("ignore")
def test_random_heaps_are_the_same_compiled():
    outcome = heap_fuzzer.run(seed=0, steps=20_000 if LONG else 1_200)
    assert not outcome.failures, outcome.failures[0]
    assert outcome.hits >= outcome.steps // 5


@pytest.mark.filterwarnings("ignore")
def test_random_functions_over_aliased_state_are_the_same_compiled():
    outcome = heap_fuzzer.run(seed=0, steps=20_000 if LONG else 1_000, make=aliased_state.aliased)
    assert not outcome.failures, outcome.failures[0]
    assert outcome.hits >= outcome.steps // 5


@pytest.mark.filterwarnings("ignore")
def test_a_training_loop_in_chaos_is_the_same_compiled():
    outcome = chaos.run(seed=0, steps=10_000 if LONG else 200)
    assert not outcome.failures, outcome.failures[0]
    assert outcome.hits >= outcome.steps // 5
