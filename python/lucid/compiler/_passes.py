"""Passes over graphs: the standard ones, and the base class for custom ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core


class Pass:
    """A rewrite of a graph that does not change its results.

    Subclasses define `run`, which may remove nodes with `graph.remove(node)` and replace all uses of a value by another
    with `graph.replace(gone, by)`. The graph is verified afterwards.
    """

    def run(self, graph: _core.IRGraph) -> bool:
        """Rewrites the graph. Returns whether it changed."""
        raise NotImplementedError(f"{type(self).__name__} does not define run(graph)")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Standard(Pass):
    """A standard pass, implemented in C++."""

    def run(self, graph: _core.IRGraph) -> bool:
        return _core.run_pass(type(self).__name__, graph)


class DeadNodeElimPass(_Standard):
    """Removes nodes whose results reach neither an output nor an update, unless they may raise."""


class NoGradStripPass(_Standard):
    """Marks every node as not differentiated: no backward pass runs through it."""


class ConstantFoldPass(_Standard):
    """Evaluates nodes whose operands are all constants."""


class ExactIdentityPass(_Standard):
    """Removes nodes that return their operand bit for bit."""


class CommonSubexpressionPass(_Standard):
    """Merges nodes that compute the same value."""


def to_core(passes: Sequence[Pass | type[Pass]] | None) -> list[Any] | None:
    """Passes in the form that the C++ core expects: standard passes by name."""
    if passes is None:
        return None
    found: list[Any] = []
    for item in passes:
        made = item() if isinstance(item, type) else item
        if not isinstance(made, Pass):
            raise TypeError(f"lucid.compile() expects passes derived from lucid.compiler.Pass, got {item!r}")
        found.append(type(made).__name__ if type(made) in _STANDARD else made)
    return found


_STANDARD = frozenset(_Standard.__subclasses__())
