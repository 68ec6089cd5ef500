"""Every public op of the table, as a function."""

from . import _core

globals().update({name: _core.ops[name] for name in _core.public_ops})
