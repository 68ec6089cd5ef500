"""The named tuples that ops with several results return."""

from . import _core

globals().update({name: value for name, value in vars(_core.return_types).items() if not name.startswith("_")})
