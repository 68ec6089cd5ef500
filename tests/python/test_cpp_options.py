"""The options of optimizers and schedules in C++, in order, are the parameters of Python's constructors."""

import inspect
import re
from pathlib import Path

import pytest
from lucid import optim
from lucid.optim import lr_scheduler

HEADERS = Path(__file__).parents[2] / "include" / "lucid"
TEXT = "\n".join(path.read_text() for path in sorted(HEADERS.glob("*.h")))


def structs() -> dict[str, list[str]]:
    """The fields of each struct of options."""
    found = re.finditer(r"^struct (\w+Options) \{\n(.*?)^\};", TEXT, re.MULTILINE | re.DOTALL)
    return {match[1]: re.findall(r"^  [\w:<>, ()]+ (\w+) = .*;$", match[2], re.MULTILINE) for match in found}


STRUCTS = structs()
# The first argument, and parameters that C++ does not have.
ONLY_OPTIM = {"params", "optimizer", "foreach", "fused", "capturable", "differentiable"}
# They take functions or schedules, not options.
COMBINED = {"LambdaLR", "MultiplicativeLR", "SequentialLR", "ChainedScheduler"}


@pytest.mark.parametrize(
    "name",
    sorted({*optim.__all__, *lr_scheduler.__all__} - {"Optimizer", "lr_scheduler", "LRScheduler", *COMBINED}),
)
def test_the_options_of_optimizers_and_schedules_are_those_of_python(name: str) -> None:
    parameters = inspect.signature(getattr(optim, name, None) or getattr(lr_scheduler, name)).parameters
    assert STRUCTS[f"{name}Options"] == [each for each in parameters if each not in ONLY_OPTIM]
