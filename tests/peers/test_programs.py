"""A thousand random programs run by Lucid and by PyTorch. `programs.py` runs more."""

import programs
import pytest
from backends import Ref, Step, Values

CHUNK = 100
# PyTorch warns when grad of a non-leaf tensor is read.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("first", range(0, 1000, CHUNK))
def test_random_programs_agree(first):
    for seed in range(first, first + CHUNK):
        generator = programs.Generator(seed)
        mismatch = generator.make()
        assert mismatch is None, programs.report(generator, mismatch)


def test_results_of_ops_are_not_views():
    """An op may end in a view of an internal tensor. Its result is still a tensor like any other: it keeps its gradient
    when it is written through a view, and can be written if it was created under no_grad."""
    matrix = Values([[1.0, 2.0], [3.0, 4.0]])
    kept = [
        Step(0, "new", (matrix, True)),
        Step(1, "matmul", (Ref(0), Ref(0))),
        Step(2, "retain", (Ref(1),)),
        Step(3, "view", ("reshape", Ref(1), (4,))),
        Step(4, "inplace", ("relu_", Ref(3))),
        Step(5, "backward", (Ref(3), Values([1.0, 2.0, 3.0, 4.0]), False)),
    ]
    assert programs.run(kept) is None
    written = [
        Step(0, "new", (matrix, False)),
        Step(1, "view", ("transpose", Ref(0), 0, 1)),
        Step(2, "view", ("reshape", Ref(1), (4,)), records=False),
        Step(3, "new", (Values([1.0, 2.0, 3.0, 4.0]), True)),
        Step(4, "inplace", ("mul_", Ref(2), Ref(3))),
        Step(5, "backward", (Ref(2), Values([1.0, 1.0, 1.0, 1.0]), False)),
    ]
    assert programs.run(written) is None
