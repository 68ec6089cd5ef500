"""Losses warn if their operands broadcast, as PyTorch does: once per line, eager and compiled alike."""

import subprocess
import sys
import warnings

import lucid
import pytest
from lucid import nn
from lucid.nn import functional as F

COLUMN, ROW = lucid.ones(4, 1), lucid.ones(4)
LOSSES = ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"]


def warned(function, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(*args)
    return [(str(one.message), one.category, one.filename, one.lineno) for one in found]


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_that_broadcasts_warns(name):
    loss = getattr(F, name)
    ((message, category, file, _),) = warned(lambda: loss(COLUMN, ROW))
    assert message == (
        f"{name}: x f32[4,1] and target f32[4] have different shapes and are broadcast to [4,4], which is likely a "
        "mistake; give them the same shape"
    )
    assert category is UserWarning
    assert file == __file__
    assert warned(loss, COLUMN, COLUMN) == warned(loss, ROW, 1.0) == []
    assert len(warned(loss, COLUMN.requires_grad_(), lucid.tensor(1.0))) == 1


@pytest.mark.parametrize("name", ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "SoftMarginLoss"])
def test_modules_name_the_line_that_calls_them(name):
    module = getattr(nn, name)()
    ((_, _, file, _),) = warned(lambda: module(COLUMN, ROW))
    assert file == __file__
    ((_, _, file, _),) = warned(lambda: nn.Sequential(nn.Identity())(COLUMN) is None or module(COLUMN, ROW))
    assert file == __file__


def test_it_is_shown_once_for_each_line():
    code = """
import lucid
from lucid.nn import functional as F
a, b = lucid.ones(4, 1), lucid.ones(4)
loss = lucid.compile(lambda: F.mse_loss(a, b))
for f in (lambda: F.mse_loss(a, b), loss):
    for _ in range(4):
        f()
        lucid.compiler.wait()
assert loss.cache_info().hits > 0
print("done")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "done\n", run.stderr
    assert run.stderr.count("UserWarning: mse_loss: x f32[4,1] and target f32[4]") == 2


def test_a_plan_repeats_the_warning():
    compiled = lucid.compile(lambda x, y: F.mse_loss(x, y) * 2)
    expected = warned(lambda: F.mse_loss(COLUMN, ROW))[0][0]
    for _ in range(5):
        ((message, category, file, _),) = warned(compiled, COLUMN, ROW)
        assert (message, category, file) == (expected, UserWarning, __file__)
        lucid.compiler.wait()
    assert compiled.cache_info().hits > 0
    module = nn.MSELoss().compile()
    for _ in range(5):
        assert [one[0] for one in warned(module, COLUMN, ROW)] == [expected]
        lucid.compiler.wait()


def test_sizes_that_vary():
    compiled = lucid.compile(lambda x, y: F.mse_loss(x, y))
    for n in (2, 3, 4, 5, 6):
        assert warned(compiled, lucid.ones(n), lucid.ones(n)) == []
        lucid.compiler.wait()
    for n in (2, 3, 4, 5):
        (one,) = warned(compiled, lucid.ones(n, 1), lucid.ones(n))
        assert f"x f32[{n},1] and target f32[{n}]" in one[0]
        lucid.compiler.wait()
    assert warned(compiled, lucid.ones(7), lucid.ones(7)) == []
    assert len(warned(compiled, lucid.ones(7), lucid.ones(1))) == 1


def test_a_warning_that_is_an_error_ends_the_call():
    compiled = lucid.compile(lambda x, y: F.mse_loss(x, y))
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="mse_loss: x"):
                compiled(COLUMN, ROW)
        lucid.compiler.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compiled(COLUMN, ROW).item() == 0
