"""Signatures of ops, for inspect and help()."""

from __future__ import annotations

import inspect
import math
from typing import Any


def parse(text: str) -> inspect.Signature:
    """Parses the text of a signature, such as `(x, dim=None)`."""
    names: dict[str, Any] = {"inf": math.inf, "nan": math.nan}
    exec(f"def function{text}: ...", names)
    return inspect.signature(names["function"])
