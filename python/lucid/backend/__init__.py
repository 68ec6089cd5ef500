"""Ways into the machinery."""

from . import jit

__all__ = ["jit"]
