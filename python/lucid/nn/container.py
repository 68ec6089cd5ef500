"""Modules that contain other modules or parameters."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, overload

from .. import _effects
from .module import Module, layer
from .parameter import Parameter

_effects.pure_module()

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class _IndexedModules(Module):
    """The base class of modules that hold submodules by index."""

    def _index(self, index: Any) -> int:
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"{type(self).__name__}: index {position} is out of range for {len(self)} modules")
        return position % len(self)

    def _values(self) -> list[Module]:
        return list(self._parts()[3].values())

    def _replace(self, modules: Iterable[Module]) -> None:
        listed = list(modules)
        self._clear()
        for index, module in enumerate(listed):
            self.add_module(str(index), module)

    def __len__(self) -> int:
        return self._part_counts()[2]

    def __iter__(self) -> Iterator[Module]:
        return iter(self._values())

    def __contains__(self, module: object) -> bool:
        return any(module is own for own in self._values())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        if isinstance(index, slice):
            return type(self)(*self._values()[index])
        return self._values()[self._index(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, list(self._parts()[3])[self._index(index)], module)

    def __delitem__(self, index: int | slice) -> None:
        modules = self._values()
        del modules[index]
        self._replace(modules)

    def append(self, module: Module) -> Self:
        """Appends a module."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Appends all modules of an iterable."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Inserts a module before the given index."""
        modules = self._values()
        modules.insert(index, module)
        self._replace(modules)
        return self

    def pop(self, index: int = -1) -> Module:
        """Removes and returns the module at an index, by default the last."""
        module = self[index]
        del self[index]
        return module


@layer
class Sequential(_IndexedModules):
    """A chain of modules: each is called on the output of the previous one.

    >>> net = lucid.nn.Sequential(lucid.nn.Linear(4, 8), lucid.nn.ReLU(), lucid.nn.Linear(8, 2))
    >>> net(lucid.ones(3, 4)).shape
    (3, 2)
    >>> net[0]
    Linear(in_features=4, out_features=8, bias=True)

    A dict names the modules:

    >>> lucid.nn.Sequential({"fc": lucid.nn.Linear(4, 8), "act": lucid.nn.ReLU()}).fc.out_features
    8
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], list | tuple):
            raise TypeError("Sequential: the modules are arguments, not a list; write Sequential(*modules)")
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._parts()[3].items())[index]))
        return super().__getitem__(index)

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, slice):
            for name in list(self._parts()[3])[index]:
                delattr(self, name)
        else:
            delattr(self, list(self._parts()[3])[self._index(index)])
        if all(name.isdigit() for name in self._parts()[3]):
            self._replace(self._values())

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)


@layer
class ModuleList(_IndexedModules):
    """A list of modules. It registers them, but cannot be called.

    >>> layers = lucid.nn.ModuleList(lucid.nn.Linear(4, 4) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    >>> layers
    ModuleList(
      (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)
    )
    """

    _inputs = ""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self._values()[index])
        return super().__getitem__(index)

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])


@layer
class ModuleDict(Module):
    """A dict of modules by name. It registers them, but cannot be called.

    >>> choices = lucid.nn.ModuleDict({"relu": lucid.nn.ReLU(), "tanh": lucid.nn.Tanh()})
    >>> choices["tanh"](lucid.zeros(1))
    tensor([0.])
    """

    _inputs = ""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._parts()[3][key]  # type: ignore[no-any-return]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return self._part_counts()[2]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts()[3])

    def __contains__(self, key: object) -> bool:
        return key in self._parts()[3]

    def clear(self) -> None:
        """Removes all modules."""
        self._clear()

    def pop(self, key: str) -> Module:
        """Removes and returns a module."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Iterable[str]:
        """Returns the names."""
        return self._parts()[3].keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Returns (name, module) pairs."""
        return self._parts()[3].items()

    def values(self) -> Iterable[Module]:
        """Returns the modules."""
        return self._parts()[3].values()

    def update(self, modules: Any) -> None:
        """Adds modules from a dict or from (name, module) pairs."""
        pairs = modules.items() if isinstance(modules, Mapping | ModuleDict) else modules
        for name, module in pairs:
            self[name] = module


def _as_parameter(value: Any) -> Any:
    if value is None or isinstance(value, Parameter):
        return value
    return Parameter(value)


@layer
class ParameterList(Module):
    """A list of parameters. Tensors added to it become parameters.

    >>> weights = lucid.nn.ParameterList([lucid.ones(2), lucid.zeros(3)])
    >>> [name for name, _ in weights.named_parameters()]
    ['0', '1']
    """

    _inputs = ""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        if values is not None:
            self.extend(values)

    def _name(self, index: Any) -> str:
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"ParameterList: index {position} is out of range for {len(self)} parameters")
        return str(position % len(self))

    def __len__(self) -> int:
        return self._part_counts()[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts()[0].values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return ParameterList(list(self)[index])
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name(index), _as_parameter(value))

    def append(self, value: Any) -> Self:
        """Appends a parameter."""
        self.register_parameter(str(len(self)), _as_parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Appends all parameters of an iterable."""
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)


@layer
class ParameterDict(Module):
    """A dict of parameters by name. Tensors added to it become parameters.

    >>> weights = lucid.nn.ParameterDict({"left": lucid.ones(2)})
    >>> weights["left"].requires_grad
    True
    """

    _inputs = ""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._parts()[0][key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.register_parameter(key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return self._part_counts()[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts()[0])

    def __contains__(self, key: object) -> bool:
        return key in self._parts()[0]

    def clear(self) -> None:
        """Removes all parameters."""
        self._clear()

    def pop(self, key: str) -> Any:
        """Removes and returns a parameter."""
        value = self[key]
        del self[key]
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the parameter with this name, or `default` if there is none."""
        return self._parts()[0].get(key, default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Returns the parameter with this name, after adding `default` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def keys(self) -> Iterable[str]:
        """Returns the names."""
        return self._parts()[0].keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Returns (name, parameter) pairs."""
        return self._parts()[0].items()

    def values(self) -> Iterable[Any]:
        """Returns the parameters."""
        return self._parts()[0].values()

    def update(self, parameters: Any) -> None:
        """Adds parameters from a dict or from (name, tensor) pairs."""
        pairs = parameters.items() if isinstance(parameters, Mapping | ParameterDict) else parameters
        for name, value in pairs:
            self[name] = value
