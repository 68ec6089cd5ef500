"""Programs that run eagerly and compiled; `_harness` says how one is written."""

import importlib
import pkgutil

from ._harness import PROGRAMS, run_program, run_shadow

for _module in sorted(module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.") if not module.ispkg):
    importlib.import_module(_module)

__all__ = ["PROGRAMS", "run_program", "run_shadow"]
