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


class _Formatter:
    """Chooses one format and a common width for all elements that are shown."""

    def __init__(self, values: list[Any], is_float: bool) -> None:
        self._is_float = is_float
        self._spec = ""
        self._point = False
        if is_float:
            self._choose(values)
        self.width = max((len(self._text(value)) for value in values), default=1)

    def _choose(self, values: list[float]) -> None:
        sizes = [abs(v) for v in values if v != 0 and math.isfinite(v)]
        precision = _options.precision
        if not sizes:
            self._spec, self._point = ".0f", True
            return
        low, high = min(sizes), max(sizes)
        whole = all(v == math.ceil(v) for v in sizes)
        scientific = _options.sci_mode
        if scientific is None:
            scientific = high / low > 1000 or high > 1e8 or (not whole and low < 1e-4)
        if scientific:
            self._spec = f".{precision}e"
        elif whole:
            self._spec, self._point = ".0f", True
        else:
            self._spec = f".{precision}f"

    def _text(self, value: Any) -> str:
        if not self._is_float:
            return str(value)
        if not math.isfinite(value):
            return str(value)
        return format(value, self._spec) + ("." if self._point else "")

    def format(self, value: Any) -> str:
        return self._text(value).rjust(self.width)


_ELLIPSIS = "..."


def _shown(tensor: Tensor, summarize: bool) -> Any:
    """Returns the elements to show as nested lists. Omitted elements are replaced by one ellipsis."""
    if tensor.dim() == 0:
        return tensor.item()
    edge = _options.edgeitems
    size = tensor.shape[0]
    if not summarize or size <= 2 * edge:
        if tensor.dim() == 1:
            return tensor.tolist()
        return [_shown(tensor[i], summarize) for i in range(size)]
    if tensor.dim() == 1:
        return [*tensor[:edge].tolist(), _ELLIPSIS, *tensor[size - edge :].tolist()]
    first = [_shown(tensor[i], summarize) for i in range(edge)]
    last = [_shown(tensor[i], summarize) for i in range(size - edge, size)]
    return [*first, _ELLIPSIS, *last]


def _leaves(shown: Any) -> list[Any]:
    if not isinstance(shown, list):
        return [] if shown is _ELLIPSIS else [shown]
    return [leaf for part in shown for leaf in _leaves(part)]


def _layout(shown: Any, formatter: _Formatter, dims: int, indent: int) -> str:
    if dims == 0:
        return formatter.format(shown)
    if dims == 1:
        per_line = max(1, (_options.linewidth - indent) // (formatter.width + 2))
        texts = [" ..." if item is _ELLIPSIS else formatter.format(item) for item in shown]
        lines = [texts[i : i + per_line] for i in range(0, len(texts), per_line)]
        separator = ",\n" + " " * (indent + 1)
        return "[" + separator.join(", ".join(line) for line in lines) + "]"
    parts = [_ELLIPSIS if item is _ELLIPSIS else _layout(item, formatter, dims - 1, indent + 1) for item in shown]
    return "[" + ("," + "\n" * (dims - 1) + " " * (indent + 1)).join(parts) + "]"


def _add_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    pieces = [text]
    last_line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last_line + len(suffix) + 2 > _options.linewidth:
            pieces.append(",\n" + " " * indent + suffix)
            last_line = indent + len(suffix)
        else:
            pieces.append(", " + suffix)
            last_line += len(suffix) + 2
    return "".join(pieces) + ")"


def to_text(tensor: Tensor, name: str = "tensor") -> str:
    """Returns the text of repr() of a tensor."""
    prefix = f"{name}("
    indent = len(prefix)
    suffixes = []
    values = tensor.detach()
    if tensor.numel() == 0:
        text = "[]"
        if tensor.dim() != 1:
            suffixes.append(f"size={tensor.shape}")
    else:
        shown = _shown(values, tensor.numel() > _options.threshold)
        formatter = _Formatter(_leaves(shown), tensor.dtype.is_floating_point)
        text = _layout(shown, formatter, tensor.dim(), indent)
    default = _core.get_default_dtype()
    if tensor.dtype not in (default, _core.int64, _core.bool) or (tensor.numel() == 0 and tensor.dtype != default):
        suffixes.append(f"dtype={tensor.dtype!r}")
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn={tensor.grad_fn!r}")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _add_suffixes(prefix + text, suffixes, indent)
