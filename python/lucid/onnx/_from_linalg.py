"""Matrix products of loaded models."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from ._dtypes import FLOATS
from ._node import Node, ops, runs

_effects.pure_module()


@runs("MatMul")
def _matmul(node: Node, x: Any, y: Any) -> Any:
    return ops["matmul"](x, y)


@runs("Gemm")
def _gemm(node: Node, x: Any, y: Any, z: Any = None) -> Any:
    alpha, beta = node.get("alpha"), node.get("beta")
    if x.ndim != 2 or y.ndim != 2:
        node.fail("the operands must be matrices")
    if node.get("transA"):
        x = ops["permute"](x, [1, 0])
    is_linear = node.get("transB") and alpha == 1 and x.dtype in FLOATS
    if is_linear and (z is None or (beta == 1 and z.ndim == 1 and z.shape[0] == y.shape[0])):
        return ops["linear"](x, y, z)
    if node.get("transB"):
        y = ops["permute"](y, [1, 0])
    if z is None:
        found = ops["matmul"](x, y)
        return found if alpha == 1 else ops["mul"](found, alpha).to(found.dtype)
    if x.dtype not in FLOATS:
        found = ops["mul"](ops["matmul"](x, y), alpha)
        return ops["add"](found, ops["mul"](z, beta)).to(x.dtype)
    return ops["addmm"](z, x, y, beta=beta, alpha=alpha)


@runs("Einsum")
def _einsum(node: Node, *operands: Any) -> Any:
    return ops["einsum"](node.get("equation"), list(operands))


@runs("MatMulInteger")
def _matmul_integer(node: Node, x: Any, y: Any, x_zero: Any = None, y_zero: Any = None) -> Any:
    x, y = x.to(_core.int32), y.to(_core.int32)
    if x_zero is not None:
        zero = x_zero.to(_core.int32)
        x = ops["sub"](x, zero if zero.ndim != 1 or zero.numel() == 1 else ops["unsqueeze"](zero, 1))
    if y_zero is not None:
        y = ops["sub"](y, y_zero.to(_core.int32))
    return ops["matmul"](x, y)
