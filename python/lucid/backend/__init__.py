"""Lower-level access to tracing and compiling."""

from . import jit

__all__ = ["jit"]
