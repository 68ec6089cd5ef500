"""A program for each entry of the tables in docs/capture.md, which changes what the entry guards."""

from . import families, functions, rules, rules_of_holders  # noqa: F401
