"""Programs written to tell a compiled function from the function itself; `_harness` says how one is written."""

import importlib
import pkgutil

from ._harness import PROGRAMS, run_program

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["PROGRAMS", "run_program"]
