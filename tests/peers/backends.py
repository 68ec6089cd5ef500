"""One vocabulary of steps for Lucid and PyTorch: a program is a list of steps, and each library runs the same list."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import lucid
import torch


class Ref(NamedTuple):
    """The result of an earlier step."""

    slot: int


class Values(NamedTuple):
    """A constant, as nested lists."""

    data: Any


class Mask(NamedTuple):
    data: Any


class Indices(NamedTuple):
    data: list[int]


@dataclass(frozen=True)
class Step:
    slot: int
    op: str
    arguments: tuple[Any, ...]
    records: bool = True  # false: under no_grad

    def __str__(self) -> str:
        call = f"#{self.slot} = {self.op}({', '.join(map(text_of, self.arguments))})"
        return call if self.records else f"{call}  [no_grad]"


def text_of(argument: Any) -> str:
    if isinstance(argument, Ref):
        return f"#{argument.slot}"
    if isinstance(argument, list):
        return f"[{', '.join(map(text_of, argument))}]"
    return repr(argument)


def references(argument: Any) -> set[int]:
    if isinstance(argument, Ref):
        return {argument.slot}
    if isinstance(argument, list):
        return set().union(*map(references, argument))
    return set()


# Exceptions that a step may raise. All others, including InternalError, end the comparison.
EXPECTED_ERRORS = (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError)


class Backend:
    """Runs steps in one library. `slots` holds their results; `hook_calls` the arguments of each hook."""

    library: Any

    def __init__(self) -> None:
        self.slots: dict[int, Any] = {}
        self.hook_calls: dict[int, list[Any]] = defaultdict(list)

    def run(self, step: Step) -> None:
        arguments = [self.resolve(argument) for argument in step.arguments]
        with self.mode(step):
            result = getattr(self, step.op)(*arguments)
        if result is not None:
            self.slots[step.slot] = result

    def mode(self, step: Step) -> contextlib.AbstractContextManager[Any]:
        return self.library.set_grad_enabled(step.records)

    def resolve(self, argument: Any) -> Any:
        if isinstance(argument, Ref):
            return self.slots[argument.slot]
        if isinstance(argument, Values):
            return self.library.tensor(argument.data, dtype=self.library.float64)
        if isinstance(argument, Mask):
            return self.library.tensor(argument.data, dtype=self.library.bool)
        if isinstance(argument, Indices):
            return self.library.tensor(argument.data, dtype=self.library.int64)
        if isinstance(argument, list) and any(isinstance(part, Ref) for part in argument):
            return [self.resolve(part) for part in argument]
        return argument

    def source(self, source: Any, target: Any) -> Any:
        """The source of a write: a tensor that may overlap the target."""
        return source

    # Values.

    def new(self, values: Any, requires_grad: bool) -> Any:
        return values.clone().requires_grad_(requires_grad)

    def binary(self, name: str, x: Any, y: Any) -> Any:
        return x / (y * y + 1.0) if name == "div" else getattr(self.library, name)(x, y)

    def unary(self, name: str, x: Any) -> Any:
        return getattr(self.library, name)(x)

    def matmul(self, x: Any, y: Any) -> Any:
        return x @ y

    def reduce(self, name: str, x: Any, dim: int | None, keepdim: bool) -> Any:
        function = getattr(self.library, name)
        return function(x) if dim is None else function(x, dim, keepdim)

    def where(self, mask: Any, x: Any, y: Any) -> Any:
        return self.library.where(mask, x, y)

    def join(self, name: str, parts: list[Any], dim: int) -> Any:
        return getattr(self.library, name)(parts, dim)

    def clone(self, x: Any) -> Any:
        return x.clone()

    def contiguous(self, x: Any) -> Any:
        return x.contiguous()

    # Views.

    def view(self, name: str, x: Any, *arguments: Any) -> Any:
        return getattr(x, name)(*arguments)

    def getitem(self, x: Any, key: Any) -> Any:
        found = x[key]
        # The layout of elements selected by an index tensor differs: see differences.py.
        return found.contiguous() if isinstance(key, type(x)) else found

    def detach(self, x: Any) -> Any:
        return x.detach()

    def data(self, x: Any) -> Any:
        return x.data

    # Writes.

    def inplace(self, name: str, x: Any, *arguments: Any) -> None:
        *first, last = arguments or (None,)
        if isinstance(last, type(x)):
            arguments = (*first, self.source(last, x))
        getattr(x, name)(*arguments)

    def setitem(self, x: Any, key: Any, source: Any) -> None:
        x[key] = self.source(source, x)

    def augmented(self, name: str, x: Any, key: Any, source: Any) -> None:
        part = x[key]
        getattr(part, name)(self.source(source, x))
        x[key] = part

    # Gradients.

    def require(self, x: Any, wanted: bool) -> None:
        x.requires_grad_(wanted)

    def retain(self, x: Any) -> None:
        x.retain_grad()

    def hook(self, x: Any, number: int, doubles: bool) -> None:
        calls = self.hook_calls[number]  # a hook that holds `self` would keep alive the graph that holds the hook

        def call(gradient: Any) -> Any:
            calls.append(gradient.tolist())
            return gradient * 2.0 if doubles else None

        x.register_hook(call)

    def backward(self, x: Any, weights: Any, retain_graph: bool) -> None:
        x.backward(weights, retain_graph=retain_graph)

    def grad(self, output: Any, inputs: list[Any], weights: Any, create_graph: bool) -> Any:
        """The gradients, flattened and joined."""
        found = self.library.autograd.grad(
            output, inputs, weights, create_graph=create_graph, retain_graph=True, allow_unused=True
        )
        found = [gradient.reshape(-1) for gradient in found if gradient is not None]
        return self.library.cat(found) if found else None

    def take_grad(self, x: Any) -> Any:
        return x.grad

    def clear_grad(self, x: Any) -> None:
        x.grad = None

    # Observations.

    def flags(self, x: Any) -> tuple[Any, ...]:
        return tuple(x.shape), x.requires_grad, x.is_leaf

    def strides(self, x: Any) -> tuple[int, ...]:
        return tuple(stride for size, stride in zip(x.shape, x.stride()) if size > 1)

    def values(self, x: Any) -> Any:
        return x.detach().tolist()

    def gradient(self, x: Any) -> Any:
        return None if x.grad is None else x.grad.detach().tolist()

    def poke(self, x: Any, value: float) -> None:
        with self.library.no_grad():
            x.detach().fill_(value)


class Lucid(Backend):
    library = lucid


class Torch(Backend):
    """PyTorch, extended to operations that it rejects or leaves undefined: saves copies, copies overlapping sources."""

    library = torch

    def mode(self, step: Step) -> contextlib.AbstractContextManager[Any]:
        stack = contextlib.ExitStack()
        stack.enter_context(torch.set_grad_enabled(step.records))
        stack.enter_context(
            torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach().clone(), lambda tensor: tensor)
        )
        return stack

    def source(self, source: Any, target: Any) -> Any:
        shared = source.untyped_storage().data_ptr() == target.untyped_storage().data_ptr()
        return source.clone() if shared and source is not target else source

    def inplace(self, name: str, x: Any, *arguments: Any) -> None:
        if name == "index_add_" and arguments[-1] is x:
            arguments = (*arguments[:-1], x.clone())
        super().inplace(name, x, *arguments)

    def setitem(self, x: Any, key: Any, source: Any) -> None:
        super().setitem(x, key, x.clone() if source is x else source)

    def augmented(self, name: str, x: Any, key: Any, source: Any) -> None:
        part = x[key]
        getattr(part, name)(self.source(x.clone() if source is x else source, x))
        # A view of a base that has just started to require grad: PyTorch reports a leaf until its grad_fn is read.
        self.is_stale(x)
        x[key] = part

    def flags(self, x: Any) -> tuple[Any, ...]:
        return tuple(x.shape), x.requires_grad, None if self.is_stale(x) else x.is_leaf

    def is_stale(self, x: Any) -> bool:
        """Whether a view was created under no_grad and its base written since: PyTorch raises when its node is read."""
        try:
            x.grad_fn  # noqa: B018
        except RuntimeError:
            return True
        return False
