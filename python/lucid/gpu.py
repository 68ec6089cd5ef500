"""Graphics processors: none is supported yet, so there is never one."""

from . import _effects

_effects.pure_module()


def is_available() -> bool:
    """Whether tensors can be placed on a graphics processor."""
    return False


def device_count() -> int:
    """How many graphics processors there are."""
    return 0
