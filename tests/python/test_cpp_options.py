"""The options of modules, optimizers and schedules in C++, in order, are the parameters of Python's constructors."""

import inspect
import re
from pathlib import Path

import pytest
from lucid import nn, optim
from lucid.optim import lr_scheduler

HEADERS = Path(__file__).parents[2] / "include" / "lucid"
TEXT = "\n".join(path.read_text() for path in [*sorted(HEADERS.glob("nn/*.h")), *sorted(HEADERS.glob("*.h"))])
# Parameters that C++ does not have. A dtype follows them, so that it is passed by name.
ONLY_PYTHON = {"device", "_weight", "_freeze", "custom_encoder", "custom_decoder", "enable_nested_tensor", "mask_check"}
ONLY_PYTHON |= {"recompute_scale_factor"}
RENAMED = {"encoder_layer": "layer", "decoder_layer": "layer"}
# Their arguments are modules or parameters.
CONTAINERS = {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Identity"}
# One class in C++, with its settings: Upsample.
ALIASES = {"UpsamplingBilinear2d", "UpsamplingNearest2d"}


def structs() -> dict[str, list[str]]:
    """The fields of each struct of options."""
    found = re.finditer(r"^struct (\w+Options) \{\n(.*?)^\};", TEXT, re.MULTILINE | re.DOTALL)
    return {match[1]: re.findall(r"^  [\w:<>, ()]+ (\w+) = .*;$", match[2], re.MULTILINE) for match in found}


def options_of_classes() -> dict[str, str]:
    """The struct of options that each class takes."""
    found = {}
    bases = {}
    pattern = r"^class (\w+)(?: : public (.*?))? \{\n(.*?)^\};"
    for name, base, body in re.findall(pattern, TEXT, re.MULTILINE | re.DOTALL):
        bases[name] = re.findall(r"\w+", base)
        struct = re.search(r"using Options = (\w+Options);", body) or re.search(r"\b(\w+Options)\b", base)
        if struct:
            found[name] = struct[1]
        elif any(word.startswith("Activation") for word in bases[name]):
            found[name] = "ActivationOptions"
    for name, words in bases.items():
        for word in words:
            if name not in found and word in found:
                found[name] = found[word]
    return found


STRUCTS = structs()
OPTIONS = options_of_classes()
MODULES = sorted(
    name
    for name, value in vars(nn).items()
    if inspect.isclass(value) and issubclass(value, nn.Module) and value.__module__.startswith("lucid.nn")
    if name not in {"Module", *CONTAINERS, *ALIASES}
)


@pytest.mark.parametrize("name", MODULES)
def test_the_order_is_that_of_python(name: str) -> None:
    parameters = [
        RENAMED.get(each, each)
        for each in inspect.signature(getattr(nn, name)).parameters
        if each not in {*ONLY_PYTHON, "dtype"}
    ]
    fields = [each for each in STRUCTS[OPTIONS[name]] if each != "dtype"] if parameters else []
    # A struct that several classes share may have options of the others, which follow.
    assert fields[: len(parameters)] == parameters


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
