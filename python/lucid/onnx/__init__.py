"""ONNX files: `export` writes what a function computes, `load` returns a module that computes what a file says.

The package `onnx` is needed: `pip install lucid-jit[onnx]`.
"""

from ._export import export
from ._load import load, supported_ops
from ._module import ONNXModule

__all__ = ["ONNXModule", "export", "load", "supported_ops"]
