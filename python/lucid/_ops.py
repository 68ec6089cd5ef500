"""All public ops, as functions."""

from . import _core

globals().update({name: _core.ops[name] for name in _core.public_ops})
