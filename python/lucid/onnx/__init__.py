"""ONNX files: `export` writes what a function computes, `load` returns a module that computes what a file says.

The package `onnx` is needed: `pip install lucid-jit[onnx]`.

Both ways: an op that is one node of ONNX with the same operands and attributes is one entry of `_pairs`. Export:
`_record` records a call, `_export` converts it op by op, with the pairs and the entries of `_to_*` that `_call`
collects in two tables. `_builder` writes nodes, `_sizes` reads sizes that vary. Import: `_protos` reads messages,
`_load` makes an `ONNXModule` of them (`_module`), whose nodes run by the pairs and the entries of `_from_*` or, for
shapes, of `_host`.
"""

from ._export import export
from ._load import load, supported_ops
from ._module import ONNXModule

__all__ = ["ONNXModule", "export", "load", "supported_ops"]
