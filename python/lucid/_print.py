"""Printing of tensors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from . import _core, _effects
from ._core import Tensor

# The text also depends on the print options, but a call that reads elements is never replayed.
_effects.pure_module()


class PrintOptions(NamedTuple):
    """The options of set_printoptions."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = PrintOptions()


@_effects.effect("sets the print options")
def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets options for printing tensors.

    Args:
        precision: Digits after the decimal point.
        threshold: Tensors with more elements are summarized.
        edgeitems: Elements shown at each end of a summarized dimension.
        linewidth: Characters per line.
        profile: 'default', 'short' or 'full'. Sets all options; other arguments override it.
        sci_mode: Whether to use scientific notation. None decides per tensor.
    """
    global _options
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"set_printoptions: profile must be one of {sorted(_PROFILES)}, got {profile!r}")
        _options = _PROFILES[profile]
    given: dict[str, Any] = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    _options = _options._replace(**{k: v for k, v in given.items() if v is not None}, sci_mode=sci_mode)


@_effects.effect("reads the print options")
def get_printoptions() -> PrintOptions:
    """Returns the current print options."""
    return _options


def to_text(tensor: Tensor, name: str = "tensor") -> str:
    """Returns the text of repr() of a tensor."""
    return _core.tensor_text(tensor, name, *_options)
