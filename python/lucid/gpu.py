"""GPU devices. None is supported yet, so none is ever available."""

from . import _effects

_effects.pure_module()


def is_available() -> bool:
    """Returns whether tensors can be placed on a GPU."""
    return False


def device_count() -> int:
    """Returns the number of GPUs."""
    return 0
