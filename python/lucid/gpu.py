"""GPUs, by way of Vulkan.

`lucid.device("gpu")` is the first GPU, `"gpu:1"` the second. Tensors move with `x.to("gpu")`, `x.gpu()` and `x.cpu()`,
modules with `model.to("gpu")`. Work is done in order and in the background: reading values waits for it.
"""

from __future__ import annotations

from typing import Any

from . import _core, _effects

_effects.pure_module()


def is_available() -> bool:
    """Returns whether tensors can be placed on a GPU."""
    return _core.gpu_count() > 0


def device_count() -> int:
    """Returns the number of GPUs."""
    return _core.gpu_count()


def _index_of(device: Any) -> int:
    if isinstance(device, int) and not isinstance(device, bool):
        device = f"gpu:{device}"
    place = _core.device(device)
    if place.index is None:
        raise ValueError(f"expected a gpu, got device '{place}'")
    return place.index


def get_device_name(device: Any = "gpu") -> str:
    """Returns the name of a GPU."""
    return _core.gpu_name(_index_of(device))


@_effects.effect("waits for a gpu")
def synchronize(device: Any = "gpu") -> None:
    """Waits until all work for a GPU is done. For measurements: reading values of tensors waits anyway."""
    _core.gpu_synchronize(_index_of(device))


@_effects.effect("reads statistics of a gpu")
def memory_stats(device: Any = "gpu") -> dict[str, int]:
    """Returns statistics of the memory that tensors use: bytes_in_use, peak_bytes, cached_bytes and allocations."""
    return _core.gpu_memory_stats(_index_of(device))


@_effects.effect("changes statistics of a gpu")
def reset_peak_memory_stats(device: Any = "gpu") -> None:
    """Sets peak_bytes of memory_stats() to the bytes in use."""
    _core.gpu_reset_peak_memory(_index_of(device))


@_effects.effect("frees memory of a gpu")
def empty_cache(device: Any = "gpu") -> None:
    """Returns cached memory to the driver. Waits until all work is done."""
    _core.gpu_empty_cache(_index_of(device))


@_effects.effect("reads statistics of a gpu")
def work_stats(device: Any = "gpu") -> dict[str, int]:
    """Returns how much work was submitted: submissions, dispatches, barriers, recordings, uploads and downloads."""
    return _core.gpu_work_stats(_index_of(device))
