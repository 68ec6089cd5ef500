"""A node of a loaded model, and the table of functions that run nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from .. import _core, _effects
from ._dtypes import DTYPES, name_of
from ._pairs import pair_of

_effects.pure_module()

ops = _core.ops

# Arrays of more elements are tensors, even if they are constants.
HOST_SIZE = 4096


class Node:
    """An op with its attributes, those with their defaults too. `version` is that of its definition: the opset in which
    it last changed."""

    __slots__ = ("attributes", "label", "op", "outputs", "pair", "version")

    def __init__(
        self, op: str, version: int, given: dict[str, Any], defaults: dict[str, Any], outputs: int, label: str
    ) -> None:
        self.op = op
        self.version = version
        self.attributes = {**defaults, **given}
        changed = {name for name, value in given.items() if name not in defaults or value != defaults[name]}
        self.pair = pair_of(op, self.attributes, changed)
        self.outputs = outputs
        self.label = label

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def axis(self, rank: int) -> int:
        """The attribute `axis`, counted from 0."""
        return axis_of(self, self.attributes["axis"], rank)

    def fail(self, reason: str) -> NoReturn:
        raise ValueError(f"lucid.onnx: {self.label}: {reason}")

    def unsupported(self, reason: str) -> NoReturn:
        raise NotImplementedError(f"lucid.onnx: {self.label}: {reason} is not supported")


Run = Callable[..., Any]
RUN: dict[str, tuple[Run, tuple[int, ...]]] = {}


def runs(*names: str, known: tuple[int, ...] = ()) -> Callable[[Run], Run]:
    """Registers the function that runs nodes: it gets the node and its operands, of which absent ones are None.

    Operands are tensors. Those at the positions `known` are left as they are: arrays if they are known before the call.
    """

    def register(run: Run) -> Run:
        RUN.update(dict.fromkeys(names, (run, known)))
        return run

    return register


# The device of a call's arguments, if it is not the CPU.
call_device: ContextVar[Any] = ContextVar("call_device", default=None)


def _placed(made: Any) -> Any:
    device = call_device.get()
    return made if device is None else made.to(device)


def tensor(value: Any) -> Any:
    """An operand as a tensor: constants that are known before the call are arrays."""
    return _placed(_core.tensor(value)) if isinstance(value, np.ndarray | np.generic) else value


def created(op: str, *args: Any, **kwargs: Any) -> Any:
    """The result of an op without operands, on the device of the call."""
    return _placed(ops[op](*args, **kwargs))


def operand(value: Any) -> Any:
    """An operand of an op that takes numbers in the place of tensors."""
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind != "b":
        return value.item()
    return tensor(value)


def array(node: Node, value: Any, name: str) -> Any:
    """An operand whose elements are needed: shapes, axes and the like."""
    if isinstance(value, np.ndarray):
        return value
    if value is None:
        node.fail(f"{name} is missing")
    if value.numel() > HOST_SIZE:
        node.fail(f"{name} has {value.numel()} elements")
    value = value.detach().cpu()
    return (value.to(_core.float32) if value.dtype is _core.bfloat16 else value).numpy()


def ints(node: Node, value: Any, name: str) -> list[int]:
    """An operand that is a vector of integers."""
    found = array(node, value, name)
    if found.dtype.kind not in "iu" or found.ndim > 1:
        node.fail(f"{name} must be a vector of integers")
    return [int(each) for each in found.reshape(-1)]


def integer(node: Node, value: Any, name: str) -> int:
    found = ints(node, value, name)
    if len(found) != 1:
        node.fail(f"{name} must be one integer")
    return found[0]


def axis_of(node: Node, axis: int, rank: int) -> int:
    """An axis, counted from 0."""
    if not -rank <= axis < rank:
        node.fail(f"axis is {axis}, but the operand has {rank} dimensions")
    return axis % rank


def axes_of(node: Node, axes: Sequence[int], rank: int) -> list[int]:
    found = [axis_of(node, axis, rank) for axis in axes]
    if len(set(found)) != len(found):
        node.fail(f"axes {list(axes)} repeat")
    return found


def wanted_dtype(node: Node, number: int) -> _core.dtype:
    """The dtype that an attribute names."""
    found = DTYPES.get(number)
    if found is None:
        node.unsupported(name_of(number))
    return found


def option(node: Node, name: str, choices: Collection[str]) -> str:
    """An attribute that is one of some words. The first one is meant by definitions without the attribute."""
    value = node.get(name, next(iter(choices)))
    if value not in choices:
        node.fail(f"{name} is {value!r}, which is none of {', '.join(choices)}")
    return str(value)


def padded(x: Any, before: Sequence[int], after: Sequence[int], value: float = 0.0) -> Any:
    """Pads the last dimensions."""
    return ops["constant_pad"](x, [size for pair in reversed(list(zip(before, after))) for size in pair], value)


def ranged(count: int, rank: int) -> Any:
    """0, 1, 2, ... along the first of some dimensions."""
    return created("arange", count).reshape([-1] + [1] * (rank - 1))
