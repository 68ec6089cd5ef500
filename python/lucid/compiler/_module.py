"""Compiled modules."""

from __future__ import annotations

import copy
import types
from collections.abc import Sequence
from typing import Any

from .. import _core, _effects
from ..nn import Module
from ._compiled import CacheInfo, Compiled
from ._forward import WrapperClasses, special_methods
from ._passes import Pass
from ._type_tables import mro_of

# Names of the wrapper itself. A name that the wrapped module defines takes precedence.
_OWN = frozenset({"invalidate_cache", "cache_info", "explain", "graph", "compile"})
_SPECIAL = frozenset({"__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__"})
_MODULE_BASES = frozenset(mro_of(Module))


@_effects.pure
class JITModule(Module):
    """A compiled module. It behaves like the module that it wraps: attributes are read from and written to that module.
    Calls run compiled, including calls from the module's own methods."""

    _compiled: Compiled
    _table: _core.CompiledCallable
    _wrapped: Module

    def __new__(cls, module: Module, *options: Any, **named: Any) -> JITModule:
        return super().__new__(_class_for(type(module)))

    def __init__(
        self,
        module: Module,
        max_cache_entries: int = 8,
        passes: Sequence[Pass | type[Pass]] | None = None,
        wait: bool = False,
        dynamic: bool | None = None,
        verify: int | None = None,
    ) -> None:
        super().__init__()
        table = _core.CompiledCallable()
        compiled = Compiled(table, module, type(module).__name__, max_cache_entries, passes, wait, dynamic, verify)
        # Stored directly in the dict: the wrapped module is not a submodule of this one.
        own = object.__getattribute__(self, "__dict__")
        own["_wrapped"] = module
        own["_compiled"] = compiled
        own["_table"] = table

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._table(*args, **kwargs)

    def __getattribute__(self, name: str) -> Any:
        get = object.__getattribute__
        if name in ("_compiled", "_table", "_wrapped") or (name.startswith("__") and name in _SPECIAL):
            return get(self, name)
        wrapped: Module | None = get(self, "__dict__").get("_wrapped")
        if wrapped is None:
            return get(self, name)
        if name == "__class__":
            return type(wrapped)
        if name in _OWN and not hasattr(wrapped, name):
            return get(self, name)
        if name in _OWN and getattr(type(wrapped), name, None) is getattr(Module, name, None):
            return get(self, name)
        value = getattr(wrapped, name)
        if type(value) is types.MethodType and value.__self__ is wrapped:
            return types.MethodType(value.__func__, self)
        if isinstance(value, (types.BuiltinMethodType, types.MethodWrapperType)) and value.__self__ is wrapped:
            return _answering(value, wrapped, self)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._wrapped, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._wrapped, name)

    def __repr__(self) -> str:
        return repr(self._wrapped)

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *dir(self._wrapped)})

    def __copy__(self) -> JITModule:
        return JITModule(copy.copy(self._wrapped), *self._compiled.options)

    def __deepcopy__(self, memo: dict[int, Any]) -> JITModule:
        return JITModule(copy.deepcopy(self._wrapped, memo), *self._compiled.options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return JITModule, (self._wrapped, *self._compiled.options)

    def compile(self, **kwargs: Any) -> JITModule:
        """Returns itself: it is already compiled."""
        return self

    @_effects.effect("clears the plan cache")
    def invalidate_cache(self) -> None:
        """Removes all plans; the next call is recorded again."""
        self._compiled.invalidate()

    @_effects.effect("reads the counters of plans")
    def cache_info(self) -> CacheInfo:
        """How many plans were compiled, and how often they were used."""
        return self._compiled.cache_info()

    @_effects.effect("reads the counters of plans")
    def explain(self) -> str:
        """A report of the plans, their sizes, and why calls were recorded again or run eagerly."""
        return self._compiled.explain()

    @_effects.effect("reads a plan")
    def graph(self, *args: Any, **kwargs: Any) -> _core.IRGraph:
        """The graph of the plan that a call with these arguments runs; printing it shows its text."""
        return self._compiled.program(args, kwargs).graph


_core.register_wrapper(JITModule)

_classes = WrapperClasses()


@_effects.pure
def _class_for(module: type) -> type[JITModule]:
    """The class of compiled modules of a class: JITModule under that class's name."""
    return _classes.of(module, _make_class)


@_effects.pure
def _make_class(module: type) -> type:
    names = {name: getattr(module, name) for name in ("__module__", "__qualname__", "__doc__")}
    names |= special_methods(module, _MODULE_BASES, lambda wrapper: wrapper._wrapped)
    return type(module.__name__, (JITModule,), names)


@_effects.pure
def _answering(method: Any, wrapped: Module, wrapper: JITModule) -> Any:
    """A method of the wrapped module that returns the wrapper where the original returns the module."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        return wrapper if result is wrapped else result

    call.__name__ = call.__qualname__ = method.__name__
    call.__doc__ = method.__doc__
    return call
