"""Access to optional third-party modules without importing them."""

from __future__ import annotations

import sys
from typing import Any

from . import _effects

_effects.pure_module()


def imported(name: str) -> Any:
    """Returns a module if the program has imported it, else None.

    A module that another thread is still importing counts as not imported.
    """
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return None if getattr(spec, "_initializing", False) else module
