"""Positions and weights of ONNX's Resize along one dimension, where `lucid.interpolate` has no such mode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _effects
from ._node import Node

_effects.pure_module()

_MAX_WEIGHTS = 2**26


def _coordinate(
    node: Node, place: int, old: int, new: int, ratio: float, where: str, bounds: tuple[float, float] | None
) -> float:
    """The position in the operand of an element of the result."""
    match where:
        case "half_pixel":
            return (place + 0.5) / ratio - 0.5
        case "half_pixel_symmetric":
            adjustment = new / (ratio * old)
            center = old / 2
            return center * (1 - adjustment) + (place + 0.5) / ratio - 0.5
        case "pytorch_half_pixel":
            return (place + 0.5) / ratio - 0.5 if new > 1 else 0.0
        case "align_corners":
            # The length of the result before it is rounded down.
            length = ratio * old
            return place * (old - 1) / (length - 1) if length != 1 else 0.0
        case "asymmetric":
            return place / ratio
        case "tf_crop_and_resize":
            start, end = bounds or (0.0, 1.0)
            if new > 1:
                return start * (old - 1) + place * (end - start) * (old - 1) / (new - 1)
            return 0.5 * (start + end) * (old - 1)
    node.unsupported(f"coordinate_transformation_mode {where!r}")


def _nearest(node: Node, x: float) -> int:
    rounding = node.get("nearest_mode")
    if rounding in ("round_prefer_floor", "ceil"):
        return math.ceil(x if rounding == "ceil" else x - 0.5)
    if rounding in ("round_prefer_ceil", "floor"):
        return math.floor(x if rounding == "floor" else x + 0.5)
    node.fail(f"nearest_mode is {rounding!r}")


def _taps(node: Node, mode: str, x: float, ratio: float) -> list[tuple[int, float]]:
    """The positions that take part, with their weights."""
    # With antialiasing, the filter grows when the result is smaller.
    stretch = min(ratio, 1.0) if node.get("antialias") else 1.0
    reach = (1 if mode == "linear" else 2) / stretch
    first = math.floor(x - reach) + 1
    last = math.floor(x + reach)
    if mode == "linear":
        taps = [(i, max(0.0, 1 - abs(x - i) * stretch)) for i in range(first, last + 1)]
    else:
        a = node.get("cubic_coeff_a")
        taps = [(i, _cubic(abs(x - i) * stretch, a)) for i in range(first, last + 1)]
    total = sum(weight for _, weight in taps)
    return [(i, weight / total) for i, weight in taps] if stretch < 1 else taps


def _cubic(d: float, a: float) -> float:
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0.0


def places_of(node: Node, old: int, new: int, ratio: float, where: str, bounds: tuple[float, float] | None) -> Any:
    """The nearest positions in the operand, and which elements of the result are outside the operand."""
    if new > _MAX_WEIGHTS:
        node.unsupported(f"resizing {old} elements to {new}")
    exact = [_coordinate(node, place, old, new, ratio, where, bounds) for place in range(new)]
    places = [min(max(_nearest(node, x), 0), old - 1) for x in exact]
    return np.asarray(places, np.int64), np.asarray([_is_outside(x, old, where) for x in exact], bool)


def _is_outside(x: float, old: int, where: str) -> bool:
    return where == "tf_crop_and_resize" and not 0 <= x <= old - 1


def weights_of(
    node: Node, old: int, new: int, ratio: float, mode: str, where: str, bounds: tuple[float, float] | None
) -> tuple[Any, Any]:
    """A matrix [new, old] of weights, and which elements of the result are outside the operand."""
    if new * old > _MAX_WEIGHTS:
        node.unsupported(f"resizing {old} elements to {new}")
    weights = np.zeros((new, old))
    outside = np.zeros(new, bool)
    for place in range(new):
        x = _coordinate(node, place, old, new, ratio, where, bounds)
        outside[place] = _is_outside(x, old, where)
        taps = _taps(node, mode, x, ratio)
        if node.get("exclude_outside"):
            taps = [(i, weight) for i, weight in taps if 0 <= i < old]
            total = sum(weight for _, weight in taps)
            taps = [(i, weight / total) for i, weight in taps]
        for i, weight in taps:
            weights[place, min(max(i, 0), old - 1)] += weight
    return weights, outside
