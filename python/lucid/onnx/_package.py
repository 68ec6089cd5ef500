"""The optional package `onnx`, imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

OLDEST_OPSET = 13
NEWEST_OPSET = 23
DEFAULT_OPSET = 23
# The domain of functions that hold one op of Lucid each.
DOMAIN = "lucid"
# The key of a model's metadata that lists which initializers are buffers, as JSON.
BUFFERS = "lucid.buffers"
# What the bytes of one protobuf message may total.
MAX_MESSAGE = 2**31 - 1


def onnx_package() -> Any:
    """The package `onnx`. Raises ImportError with the command that installs it."""
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise ImportError(
            f"lucid.onnx needs the package onnx ({error}); install it with: pip install lucid-jit[onnx]"
        ) from error
