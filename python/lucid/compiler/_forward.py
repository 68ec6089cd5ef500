"""Special methods of what is compiled, for the classes of compiled objects and modules.

Python looks special methods up in the class, so a wrapper has exactly those that the class of the wrapped object has.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from .. import _core, _effects
from ._type_tables import mro_of

# Methods that are about the wrapper itself, or that the wrapper defines in terms of what it wraps.
_KEPT = frozenset(
    {
        "__annotate__", "__call__", "__class__", "__class_getitem__", "__copy__", "__deepcopy__", "__del__",
        "__delattr__", "__dict__", "__getattr__", "__getattribute__", "__getnewargs__", "__getnewargs_ex__",
        "__getstate__", "__init__", "__init_subclass__", "__new__", "__post_init__", "__prepare__", "__reduce__",
        "__reduce_ex__", "__set_name__", "__setattr__", "__setstate__", "__subclasshook__", "__weakref__",
    }
)  # fmt: skip


@_effects.pure
class WrapperClasses:
    """The class of the wrappers for each class, by identity: a metaclass may define `__eq__` and `__hash__`."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[type], type]] = {}

    def of(self, cls: type, make: Callable[[type], type]) -> type:
        """Returns the class for a class, made at first use and dropped with that class."""
        found = self._made.get(id(cls))
        if found is not None and found[0]() is cls:
            return found[1]
        key, made = id(cls), make(cls)

        def drop(reference: weakref.ref[type]) -> None:
            if (entry := self._made.get(key)) is not None and entry[0] is reference:
                del self._made[key]

        self._made[key] = weakref.ref(cls, drop), made
        return made


def _is_method(value: Any) -> bool:
    # None says that there is no such method: `__hash__ = None`.
    return value is None or callable(value) or isinstance(value, staticmethod | classmethod)


def special_methods(cls: type, below: frozenset[type], wrapped: Callable[[Any], Any]) -> dict[str, Any]:
    """The special methods that a class has and the classes `below` may lack, as methods of a wrapper.

    `wrapped` returns what a wrapper wraps.
    """
    found: dict[str, Any] = {}
    for base in mro_of(cls):
        if base in below:
            continue
        for name, value in _core.class_dict(base).items():
            is_special = type(name) is str and name.startswith("__") and name.endswith("__")
            if is_special and name not in _KEPT and name not in found and _is_method(value):
                found[name] = None if value is None else _forward(name, wrapped)
    return found


@_effects.pure
def _forward(name: str, wrapped: Callable[[Any], Any]) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        target = wrapped(self)
        result = _bound(target, name)(*args, **kwargs)
        return self if result is target else result

    method.__name__ = method.__qualname__ = name
    return method


@_effects.pure
def _bound(target: Any, name: str) -> Any:
    """A special method of an object, found as Python finds it: in the class only."""
    cls = type(target)
    for base in mro_of(cls):
        attributes = _core.class_dict(base)
        if name in attributes:
            value = attributes[name]
            return value.__get__(target, cls) if hasattr(type(value), "__get__") else value
    raise TypeError(f"'{cls.__name__}' object has no {name}")
