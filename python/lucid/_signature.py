"""Signatures of functions that are written in C++, for inspect and help()."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any


def parse(text: str) -> inspect.Signature:
    """Parses the text of a signature, such as `(x, dim=None)`."""
    names: dict[str, Any] = {"inf": math.inf, "nan": math.nan}
    exec(f"def function{text}: ...", names)
    return inspect.signature(names["function"])


def of_bound(
    overloads: tuple[tuple[str, str | None, tuple[Any, ...] | None], ...], is_method: bool
) -> inspect.Signature:
    r"""Returns the signature of a function that nanobind binds, from its `__nb_signature__`.

    Its text is Python with types of C++ as annotations, which may be no expressions, and default values as `\0`, `\1`.
    """
    text, _, values = overloads[0]
    (arguments,) = re.findall(r"\((.*)\)(?: ->.*)?$", text.splitlines()[-1])
    parameters = _parameters(_split(arguments), values or ())
    return inspect.Signature(parameters[1:] if is_method else parameters)


def _split(text: str) -> list[str]:
    """Splits at the commas that are not in brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _parameters(parts: list[str], values: tuple[Any, ...]) -> list[inspect.Parameter]:
    found: list[inspect.Parameter] = []
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in parts:
        name = re.match(r"\**\w*", part).group()  # type: ignore[union-attr]
        if part == "/":
            found = [parameter.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for parameter in found]
        elif name.startswith("**"):
            found.append(inspect.Parameter(name[2:], inspect.Parameter.VAR_KEYWORD))
        elif name.startswith("*"):
            kind = inspect.Parameter.KEYWORD_ONLY
            if name[1:]:
                found.append(inspect.Parameter(name[1:], inspect.Parameter.VAR_POSITIONAL))
        else:
            place = re.search(r"= \\(\d+)$", part)
            default = values[int(place[1])] if place else inspect.Parameter.empty
            found.append(inspect.Parameter(name, kind, default=default))
    return found
