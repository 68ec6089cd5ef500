"""Which ops are exported: importing this module fills the tables."""

from __future__ import annotations

from . import (
    _to_activation,
    _to_image,
    _to_index,
    _to_linalg,
    _to_loss,
    _to_movement,
    _to_norm,
    _to_pointwise,
    _to_reduce,
    _to_windows,
)
from ._call import DIRECT, FUNCTIONS
from ._to_pairs import register_pairs

__all__ = ["DIRECT", "FAMILIES", "FUNCTIONS"]

FAMILIES = (
    *(_to_activation, _to_image, _to_index, _to_linalg, _to_loss, _to_movement, _to_norm, _to_pointwise, _to_reduce),
    _to_windows,
)
register_pairs()
