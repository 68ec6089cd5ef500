"""Modules of others, if the program has imported them."""

from __future__ import annotations

import sys
from typing import Any

from . import _effects

_effects.pure_module()


def imported(name: str) -> Any:
    """A module that has been imported; None while another thread is still importing it."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return None if getattr(spec, "_initializing", False) else module
