"""`lucid.compile`: a call is recorded once, then its plan runs instead."""

from __future__ import annotations

import copy
import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from .. import _core, _effects
from ..nn import Module
from ._compiled import CacheInfo, Compiled
from ._forward import WrapperClasses, special_methods
from ._module import JITModule
from ._passes import Pass
from ._type_tables import is_heap_class, printable, simple_name_of

P = ParamSpec("P")
R = TypeVar("R")


# Attributes of the class, which would hide those of the function.
_HIDDEN = ("__module__", "__doc__", "__annotations__")
_own: Any = _core.class_dict(_core.CompiledCallable)["__dict__"].__get__


class JITFunction(_core.CompiledCallable, Generic[P, R]):
    """A compiled function. It returns what the function would return, bit for bit.

    It behaves like the function: attributes are read from and written to the function, and copying and pickling treat
    it as they would treat the function. A compiled object has the special methods of the object.
    """

    __wrapped__: Callable[P, R]
    _compiled: Compiled

    def __new__(cls, function: Callable[P, R], *options: Any, **named: Any) -> JITFunction[P, R]:
        made: Any = _class_for(type(function)) if cls is JITFunction else cls
        return super().__new__(made)

    def __init__(
        self,
        function: Callable[P, R],
        max_cache_entries: int = 8,
        passes: Sequence[Pass | type[Pass]] | None = None,
        wait: bool = False,
        dynamic: bool | None = None,
        verify: int | None = None,
    ) -> None:
        own = _own(self)
        own["__wrapped__"] = function
        own.update({name: getattr(function, name) for name in _HIDDEN if hasattr(function, name)})
        name = getattr(function, "__name__", None)
        name = printable(name if type(name) is str else simple_name_of(type(function)))
        own["_compiled"] = Compiled(self, function, name, max_cache_entries, passes, wait, dynamic, verify)

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    @_effects.pure
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # Only functions become methods.
        is_bound = instance is None or type(self.__wrapped__) is not types.FunctionType
        return self if is_bound else types.MethodType(self, instance)

    @_effects.pure
    def __getattr__(self, name: str) -> Any:
        # A copy that is being made has no function yet.
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    @_effects.pure
    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__wrapped__, name, value)
        # What the class defines would hide it.
        if any(name in _core.class_dict(base) for base in JITFunction.__mro__):
            _own(self)[name] = value

    @_effects.pure
    def __delattr__(self, name: str) -> None:
        delattr(self.__wrapped__, name)
        _own(self).pop(name, None)

    @property
    @_effects.pure
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return vars(self.__wrapped__)

    @property  # type: ignore[misc]
    @_effects.pure
    def __class__(self) -> Any:
        # To isinstance it is a function, or a method, as well as a JITFunction.
        return type(_own(self)["__wrapped__"]) if "__wrapped__" in _own(self) else JITFunction

    def __repr__(self) -> str:
        return f"JITFunction({self._compiled.name})"

    def __copy__(self) -> JITFunction[P, R]:
        return self._around(copy.copy(self.__wrapped__))

    def __deepcopy__(self, memo: dict[int, Any]) -> JITFunction[P, R]:
        return self._around(copy.deepcopy(self.__wrapped__, memo))

    def _around(self, function: Callable[P, R]) -> JITFunction[P, R]:
        """The same for a copy of the function. Most functions are copied as themselves."""
        if function is self.__wrapped__:
            return self
        return JITFunction(function, *self._compiled.options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A decorated function is found by its name, like any other; elsewhere its function is.
        found: Any = sys.modules.get(self.__module__)
        name = getattr(self, "__qualname__", None)
        for part in name.split(".") if isinstance(name, str) else ():
            found = getattr(found, part, None)
        if found is self:
            return name
        return JITFunction, (self.__wrapped__, *self._compiled.options)

    def invalidate_cache(self) -> None:
        """Removes all plans; the next call is recorded again."""
        self._compiled.invalidate()

    def cache_info(self) -> CacheInfo:
        """How many plans were compiled, and how often they were used."""
        return self._compiled.cache_info()

    def explain(self) -> str:
        """A report of the plans, their sizes, and why calls were recorded again or run eagerly."""
        return self._compiled.explain()

    def graph(self, *args: P.args, **kwargs: P.kwargs) -> _core.IRGraph:
        """The graph of the plan that a call with these arguments runs; printing it shows its text."""
        return self._compiled.program(args, kwargs).graph


_classes = WrapperClasses()


@_effects.pure
def _class_for(cls: type) -> type[JITFunction[..., Any]]:
    """The class of compiled objects of a class. Functions, and whatever else is written in C, need no special one."""
    return _classes.of(cls, _make_class) if is_heap_class(cls) else JITFunction


@_effects.pure
def _make_class(cls: type) -> type:
    methods = special_methods(cls, frozenset({object}), lambda wrapper: wrapper.__wrapped__)
    return type("JITFunction", (JITFunction,), {"__module__": __name__, **methods})


_Passes = Sequence[Pass | type[Pass]] | None
_Dynamic = bool | None


@overload
def compile(
    target: Module,
    *,
    max_cache_entries: int = 8,
    passes: _Passes = None,
    wait: bool = False,
    dynamic: _Dynamic = None,
    verify: int | None = None,
) -> Any: ...
@overload
def compile(
    target: Callable[P, R],
    *,
    max_cache_entries: int = 8,
    passes: _Passes = None,
    wait: bool = False,
    dynamic: _Dynamic = None,
    verify: int | None = None,
) -> JITFunction[P, R]: ...
@overload
def compile(
    target: None = None,
    *,
    max_cache_entries: int = 8,
    passes: _Passes = None,
    wait: bool = False,
    dynamic: _Dynamic = None,
    verify: int | None = None,
) -> Callable[[Callable[P, R]], JITFunction[P, R]]: ...
def compile(
    target: Any = None,
    *,
    max_cache_entries: int = 8,
    passes: _Passes = None,
    wait: bool = False,
    dynamic: _Dynamic = None,
    verify: int | None = None,
) -> Any:
    """Compiles a function or a module. Results, gradients, random numbers and state stay the same, bit for bit.

    The first call runs eagerly and is recorded; if it created state, such as that of an optimizer, the second call is
    recorded instead. Another thread compiles the recording to a plan. Later calls with arguments of the same types run
    that plan. Until it is there they run eagerly or, with `wait=True` or if the environment variable LUCID_COMPILE_WAIT
    is 1, wait for it. A call that cannot be compiled as a whole runs in pieces, by plans between the points at which
    Python needs values, and `explain()` says why. If plans are hardly ever used again, because arguments or state keep
    changing, fewer and fewer calls are recorded. The cache holds at most `max_cache_entries` plans and evicts the
    oldest first. `passes`, classes or objects derived from `lucid.compiler.Pass`, replace the standard passes.

    When sizes of arguments vary, one recording serves other sizes too, if the function does the same for them. By
    default the second call with other sizes is recorded for that; with `dynamic=True` the first call is, and with
    `dynamic=False` all sizes have plans of their own.

    With `verify=n`, one of n calls that a plan serves also runs the function, returns its results, and compares
    results and state bit for bit. A difference raises RuntimeError with the first node that is compiled wrong and its
    source line. The default is the environment variable LUCID_VERIFY, or 0, which means never.

    >>> @lucid.compile(wait=True)
    ... def f(x, y):
    ...     return (x * y + x).sum()
    >>> f(lucid.ones(3), lucid.ones(3)), f(lucid.ones(3), lucid.zeros(3))
    (tensor(6.), tensor(3.))
    >>> f.cache_info().hits
    1
    """
    if target is None:
        return functools.partial(
            compile, max_cache_entries=max_cache_entries, passes=passes, wait=wait, dynamic=dynamic, verify=verify
        )
    if isinstance(target, (JITFunction, JITModule)):
        return target
    if isinstance(target, Module):
        return JITModule(target, max_cache_entries, passes, wait, dynamic, verify)
    if callable(target):
        return JITFunction(target, max_cache_entries, passes, wait, dynamic, verify)
    raise TypeError(f"lucid.compile() expects an nn.Module or a callable, got {type(target)}")


jit = compile
