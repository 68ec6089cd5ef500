"""What the tests of exported programs share."""

import lucid
import pytest
from lucid import nn
from same import bits

F = nn.functional
SIZES = (1, 2, 3, 8, 31, 64)
LEVELS = ["scalar", "avx2", "avx512"]
# The levels that this machine can run.
RUNNABLE = LEVELS[: LEVELS.index(lucid._core.cpu_level()) + 1]
BOTH = pytest.mark.parametrize("trusted", [False, True])


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def row_major(tensor):
    return tensor.detach().clone().reshape(-1).reshape(tensor.shape)


def tensors_of(result):
    """The tensors of a result, in row-major order: what a program returns."""
    if isinstance(result, lucid.Tensor):
        return [row_major(result)]
    items = result.values() if isinstance(result, dict) else result
    return [tensor for item in items for tensor in tensors_of(item)]


def run(program, call):
    return tensors_of(program(*[arg for arg in as_tuple(call) if isinstance(arg, lucid.Tensor)]))


def check(make, args, path, *, calls=None, **options):
    """Exports `make()`, and compares calls of the program with those of another `make()`. Returns the last program."""
    lucid.manual_seed(1)
    lucid.export(make(), args, path, **options)
    for trusted in (False, True):
        lucid.manual_seed(1)
        function = make()
        program = lucid.load_program(path, trusted=trusted)
        for call in calls or [args]:
            assert bits(run(program, call)) == bits(tensors_of(function(*as_tuple(call)))), (trusted, call)
    return program


def check_or_refuse(reason, make, args, path, *, calls=None, **options):
    """Like check(). The export may also refuse the function, and say why."""
    try:
        lucid.export(make(), args, path, **options)
    except ValueError as error:
        assert reason in str(error)  # noqa: PT017
    else:
        check(make, args, path, calls=calls, **options)


def check_sizes(function, path, *, sizes=SIZES, columns=3, **bounds):
    """Checks a function of one f32[n,columns] for several n."""
    calls = [lucid.randn(size, columns) for size in sizes]
    return check(
        lambda: function,
        lucid.randn(4, columns),
        path,
        calls=calls,
        dynamic={"x": {0: lucid.Dim("n", **bounds)}},
    )


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", lucid.zeros(1))
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        self.count += 1
        return self.linear(x) * self.count
