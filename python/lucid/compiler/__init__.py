"""Recording calls and compiling them."""

import os

from .. import _core
from ._compile import CacheInfo, JITFunction, compile, jit
from ._module import JITModule

_core.set_package_folder(os.path.dirname(os.path.dirname(__file__)) + os.sep)

__all__ = ["CacheInfo", "JITFunction", "JITModule", "compile", "jit"]
