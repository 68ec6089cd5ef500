"""Ops that are not exported, with the reason."""

from __future__ import annotations

from .. import _core

_RANDOM = "it draws random numbers"
_BACKWARD = "it is part of a backward pass; export the forward pass"
_OPTIMIZER = "it is a step of an optimizer; export the forward pass"
_VALUES = "the size of its result depends on values, which a recording cannot hold"
_INTERNAL = "only plans use it; a recording has the op that it is part of"

REASONS = {
    "nonzero": _VALUES,
    "masked_select": _VALUES,
    "unique_all": _VALUES,
    "bincount": _VALUES,
    "ctc_loss": "ONNX has no op for it, and a function of it would be a loop over time",
    **dict.fromkeys(("attention", "checked_probability", "embedding_bag_offsets", "max_pool"), _INTERNAL),
    **dict.fromkeys(("max_position", "mean_pool", "resample"), _INTERNAL),
    "convolution_weight": _BACKWARD,
    "max_pool_back": _BACKWARD,
    "mean_pool_back": _BACKWARD,
}


def reason_of(op: str) -> str:
    """Why an op is not exported."""
    if op in REASONS:
        return REASONS[op]
    if op.startswith("random_"):
        return _RANDOM
    if op.endswith("_backward"):
        return _BACKWARD
    if op.endswith("_step"):
        return _OPTIMIZER
    return "ONNX has no equivalent"


def not_exported(exported: set[str]) -> dict[str, str]:
    """All entries of the op table that are not exported, with the reason."""
    names = [entry["name"] for entry in _core.op_table()]
    return {name: reason_of(name) for name in names if name not in exported}
