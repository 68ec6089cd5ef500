"""Resizing and sampling of images in loaded models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core, _effects
from ._dtypes import FLOATS
from ._node import Node, array, axes_of, ints, ops, option, runs, tensor
from ._resize import places_of, weights_of

_effects.pure_module()

_MAX_SIZE = 2**31 - 1


@runs("GridSample")
def _grid_sample(node: Node, x: Any, grid: Any) -> Any:
    mode = option(node, "mode", ("linear", "bilinear", "nearest", "cubic", "bicubic"))
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    outside = option(node, "padding_mode", ("zeros", "border", "reflection"))
    return ops["grid_sample"](x, grid, mode, outside, bool(node.get("align_corners")))


@runs("AffineGrid", known=(1,))
def _affine_grid(node: Node, theta: Any, size: Any) -> Any:
    return ops["affine_grid"](theta, ints(node, size, "size"), bool(node.get("align_corners")))


def _target(node: Node, x: Any, scales: Any, sizes: Any) -> tuple[list[int], list[float]]:
    """The size of the result and the ratio for each dimension."""
    axes = axes_of(node, node.get("axes", list(range(x.ndim))), x.ndim)
    new, ratios = [int(size) for size in x.shape], [1.0] * x.ndim
    if sizes is not None and array(node, sizes, "sizes").size:
        given = ints(node, sizes, "sizes")
        if len(given) != len(axes):
            node.fail("sizes must have one number for each axis")
        if any(size != 0 and x.shape[axis] == 0 for size, axis in zip(given, axes)):
            node.fail(f"the operand has the shape {list(x.shape)}, of which no elements can be repeated")
        wanted = [size / x.shape[axis] if x.shape[axis] else 1.0 for size, axis in zip(given, axes)]
        policy = option(node, "keep_aspect_ratio_policy", ("stretch", "not_larger", "not_smaller"))
        if policy != "stretch":
            ratio = min(wanted) if policy == "not_larger" else max(wanted)
            given = [math.floor(ratio * x.shape[axis] + 0.5) for axis in axes]
            wanted = [ratio] * len(axes)
        for size, ratio, axis in zip(given, wanted, axes):
            new[axis], ratios[axis] = size, ratio
        return new, ratios
    given_scales = [float(each) for each in array(node, scales, "scales").reshape(-1)]
    if len(given_scales) != len(axes):
        node.fail("scales must have one number for each axis")
    if not all(0 < scale < math.inf for scale in given_scales):
        node.fail(f"scales must be positive and finite, got {given_scales}")
    for ratio, axis in zip(given_scales, axes):
        new[axis], ratios[axis] = math.floor(x.shape[axis] * ratio), ratio
    return new, ratios


@runs("Resize", known=(1, 2, 3))
def _resize(node: Node, x: Any, roi: Any = None, scales: Any = None, sizes: Any = None) -> Any:
    mode = option(node, "mode", ("nearest", "linear", "cubic"))
    where = node.get("coordinate_transformation_mode")
    has_sizes = sizes is not None and array(node, sizes, "sizes").size > 0
    new, ratios = _target(node, x, scales, sizes)
    if min(new, default=0) < 0 or max(new, default=0) > _MAX_SIZE:
        node.fail(f"the result would have the shape {new}")
    lucid_mode = _lucid_mode(node, x, mode, where, new)
    if lucid_mode is not None:
        spatial = x.ndim - 2
        aligned = where == "align_corners"
        corners = None if lucid_mode.startswith("nearest") else aligned
        same = all(ratio == ratios[2] for ratio in ratios[2:])
        if not has_sizes and not aligned and same and spatial and _scaled(x, ratios[2]) == new[2:]:
            return ops["interpolate"](x, None, ratios[2], lucid_mode, corners)
        if has_sizes or all(float(size) * ratio == n for size, ratio, n in zip(x.shape, ratios, new)):
            return ops["interpolate"](x, new[2:], None, lucid_mode, corners)
    return _resize_by_dimension(node, x, mode, where, new, ratios, roi)


def _scaled(x: Any, ratio: float) -> list[int]:
    return [math.floor(size * ratio) for size in x.shape[2:]]


def _lucid_mode(node: Node, x: Any, mode: str, where: str, new: list[int]) -> str | None:
    """The mode of `interpolate` that does the same; None if there is none."""
    if x.dtype not in FLOATS or x.ndim not in (3, 4, 5) or new[:2] != list(x.shape[:2]):
        return None
    if node.get("antialias") or node.get("exclude_outside") or 0 in new or x.numel() == 0:
        return None
    if mode == "nearest":
        rounding = node.get("nearest_mode")
        if where == "asymmetric" and rounding == "floor":
            return "nearest"
        return "nearest-exact" if where == "half_pixel" and rounding == "round_prefer_ceil" else None
    if where not in ("half_pixel", "align_corners"):
        return None
    if mode == "linear":
        return {3: "linear", 4: "bilinear", 5: "trilinear"}[x.ndim]
    return "bicubic" if x.ndim == 4 and node.get("cubic_coeff_a") == -0.75 else None


def _resize_by_dimension(
    node: Node, x: Any, mode: str, where: str, new: list[int], ratios: list[float], roi: Any
) -> Any:
    """Resizes one dimension after another: selects the nearest elements, or multiplies with matrices of weights."""
    region = None
    if where == "tf_crop_and_resize":
        region = [float(each) for each in array(node, roi, "roi").reshape(-1)]
        axes = axes_of(node, node.get("axes", list(range(x.ndim))), x.ndim)
        if len(region) != 2 * len(axes):
            node.fail("roi must have two numbers for each axis")
        region = [
            region[axes.index(dim) + part * len(axes)] if dim in axes else float(part)
            for part in (0, 1)
            for dim in range(x.ndim)
        ]
    dtype, is_nearest = x.dtype, mode == "nearest"
    found = x if is_nearest or dtype in FLOATS else x.to(_core.float64)
    outside = np.zeros([1] * x.ndim, bool)
    for dim in range(x.ndim):
        bounds = None if region is None else (region[dim], region[dim + x.ndim])
        if new[dim] == x.shape[dim] and ratios[dim] == 1 and bounds in (None, (0.0, 1.0)):
            continue
        old, size, ratio = int(x.shape[dim]), new[dim], ratios[dim]
        if is_nearest:
            places, beyond = places_of(node, old, size, ratio, where, bounds)
            found = ops["index_select"](found, dim, tensor(places))
        else:
            weights, beyond = weights_of(node, old, size, ratio, mode, where, bounds)
            matrix = tensor(weights).to(found.dtype)
            moved = ops["transpose"](found, dim, x.ndim - 1)
            found = ops["transpose"](ops["matmul"](moved, ops["permute"](matrix, [1, 0])), dim, x.ndim - 1)
        outside = outside | beyond.reshape([-1 if d == dim else 1 for d in range(x.ndim)])
    if outside.any():
        fill = node.get("extrapolation_value")
        found = ops["where"](tensor(outside), fill if found.dtype in FLOATS else int(fill), found)
    return found if found.dtype is dtype else ops["round"](found).to(dtype)
