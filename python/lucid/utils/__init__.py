"""What surrounds tensors: reading data."""

from . import data

__all__ = ["data"]
