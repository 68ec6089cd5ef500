"""Programs that change Python state between calls of a compiled function.

Each program takes the compiler, which may be the identity, and yields results. They are compared with the results
of the identity.
"""

from . import (  # noqa: F401 -- they register their programs
    attributes,
    effects,
    equalities,
    functions,
    holders,
    lookups,
    loops,
    names,
    protocols,
    scalars,
    scopes,
    shapes,
    state,
    structures,
    tensors,
    values,
)
from ._common import PROGRAMS

__all__ = ["PROGRAMS"]
