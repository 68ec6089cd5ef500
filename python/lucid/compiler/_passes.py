"""Passes over graphs: ours, and what others are written from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core


class Pass:
    """A rewriting of a graph that nobody can notice by its results.

    Subclasses define `run`, which may take nodes away with `graph.remove(node)` and have a value read in place of
    another with `graph.replace(gone, by)`. The graph is checked afterwards.
    """

    def run(self, graph: _core.IRGraph) -> bool:
        """Changes the graph; returns whether it did."""
        raise NotImplementedError(f"{type(self).__name__} does not say what run(graph) does")

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Standard(Pass):
    """One of the library's own."""

    def run(self, graph: _core.IRGraph) -> bool:
        return _core.run_pass(type(self).__name__, graph)


class DeadNodeElimPass(_Standard):
    """Removes nodes whose results reach neither an output nor an update, unless they may raise."""


class NoGradStripPass(_Standard):
    """Marks every node as one that no backward pass runs through."""


class ConstantFoldPass(_Standard):
    """Computes what depends on constants alone."""


class ExactIdentityPass(_Standard):
    """Skips nodes that give back their operand, bit for bit."""


class CommonSubexpressionPass(_Standard):
    """Computes once what would be computed twice."""


def to_core(passes: Sequence[Pass | type[Pass]] | None) -> list[Any] | None:
    """Passes as the library takes them: its own by name."""
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
