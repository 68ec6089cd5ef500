"""Random programs run by Lucid and by PyTorch, a thousand of them. `programs.py` runs more."""

import programs
import pytest

CHUNK = 100


# PyTorch warns where a gradient is asked of a tensor that is no leaf.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("first", range(0, 1000, CHUNK))
def test_random_programs_agree(first):
    for seed in range(first, first + CHUNK):
        generator = programs.Generator(seed)
        mismatch = generator.make()
        assert mismatch is None, programs.report(generator, mismatch)
