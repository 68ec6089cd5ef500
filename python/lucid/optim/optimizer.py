"""The base class of optimizers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

from .. import _core, _effects
from .._core import Tensor
from .._foreign import check_iterable, own_tensors

_effects.pure_module()

Params = Iterable[Tensor] | Iterable[Mapping[str, Any]] | Iterable[tuple[str, Tensor]]
Closure = Callable[[], Any]
Hook = Callable[..., Any]


def _show(mapping: Any) -> str:
    return repr(dict(mapping.items()))


# The core's mappings define item access; the other methods of a mapping follow from it.
_mapping: Any
for _mapping in (_core.ParamGroup, _core.ParamState):
    for _name in ("__contains__", "get", "keys", "items", "values", "pop", "popitem", "setdefault", "update", "__eq__"):
        setattr(_mapping, _name, getattr(MutableMapping, _name))
    _mapping.__hash__ = None
    _mapping.__repr__ = _show
    MutableMapping.register(_mapping)
for _name in ("get", "keys", "items", "values"):
    setattr(_core.OptimizerState, _name, getattr(Mapping, _name))
_core.OptimizerState.__repr__ = _show  # type: ignore[method-assign]
Mapping.register(_core.OptimizerState)


class RemovableHandle:
    """A handle that removes its hook."""

    def __init__(self, hooks: dict[int, Hook], key: int) -> None:
        self._hooks = hooks
        self._key = key

    def remove(self) -> None:
        """Removes the hook. Further calls have no effect."""
        self._hooks.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *unused: object) -> None:
        self.remove()


def _with_hooks(step: Callable[..., Any], counts_itself: bool) -> Callable[..., Any]:
    """Wraps a step so that it runs the hooks and is counted."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        for hook in tuple(self._pre_hooks.values()):
            replaced = hook(self, args, kwargs)
            if replaced is not None:
                if not isinstance(replaced, tuple) or len(replaced) != 2:
                    raise RuntimeError(f"a step pre-hook must return None or (args, kwargs), not {replaced!r}")
                args, kwargs = replaced
        result = step(self, *args, **kwargs)
        if not counts_itself:
            self._count_step()
        for hook in tuple(self._post_hooks.values()):
            hook(self, args, kwargs)
        return result

    return hooked


def _groups(name: str, params: Params) -> list[dict[str, Any]]:
    """Converts the `params` argument of an optimizer to a list of groups."""
    if isinstance(params, Tensor):
        raise TypeError(f"{name}: params must be an iterable of tensors or dicts, not a single Tensor; use [tensor]")
    if isinstance(params, Mapping):
        raise TypeError(f"{name}: params must be a list of dicts or tensors, not a single dict")
    check_iterable(name, params, "params", "lr=")
    listed: list[Any] = list(params)
    if not listed:
        raise ValueError("params: got an empty list of parameters")
    if isinstance(listed[0], Mapping):
        return [dict(group) for group in listed]
    return [{"params": listed}]


def _split(group: Mapping[str, Any]) -> tuple[list[Tensor], dict[str, Any]]:
    """Splits a group into its parameters and its options."""
    if "params" not in group:
        raise ValueError("a parameter group must have 'params'")
    options = {name: value for name, value in group.items() if name != "params"}
    params = group["params"]
    if isinstance(params, set | frozenset):
        raise TypeError("params: expected an ordered collection such as a list, not a set")
    params = [params] if isinstance(params, Tensor) else list(params)
    if params and isinstance(params[0], tuple):
        options["param_names"] = [name for name, _ in params]
        params = [param for _, param in params]
    for param in params:
        if not isinstance(param, Tensor):
            raise TypeError(f"params: expected tensors, not {_core.describe(param)}")
    return params, options


class Optimizer(_core.OptimizerBase):
    """The base class of optimizers. A subclass passes the defaults of its options to __init__() and overrides step().

    Args:
        params: Parameters, (name, parameter) pairs, or dicts that describe groups with their own options.
        defaults: Default values of the options.

    >>> class Plain(lucid.optim.Optimizer):
    ...     def __init__(self, params, lr=0.1):
    ...         super().__init__(params, {"lr": lr})
    ...
    ...     @lucid.no_grad()
    ...     def step(self, closure=None):
    ...         for group in self.param_groups:
    ...             for p in group["params"]:
    ...                 if p.grad is not None:
    ...                     p -= group["lr"] * p.grad
    >>> w = lucid.ones(2, requires_grad=True)
    >>> optimizer = Plain([w])
    >>> (3 * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.7000, 0.7000], requires_grad=True)
    """

    _pre_hooks: dict[int, Hook]
    _post_hooks: dict[int, Hook]

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        self._pre_hooks = {}
        self._post_hooks = {}
        groups = [_split(group) for group in _groups(type(self).__name__, params)]
        super().__init__(self._kind(), groups, defaults)
        # The caller's own objects, which param_groups returns.
        self._params = [param for group, _ in groups for param in group]

    @classmethod
    def _kind(cls) -> str | None:
        """Returns the name of the core optimizer that implements this class, if one does."""
        return next((base.__name__ for base in cls.__mro__ if base.__module__ == f"{__package__}.optimizers"), None)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"], False)  # type: ignore[method-assign]

    def step(self, closure: Closure | None = None) -> Any:
        """Updates the parameters once.

        `closure`, if given, is called to compute the loss and its gradients; its loss is returned.
        """
        if not self._pre_hooks and not self._post_hooks:
            return self._step(closure)
        return _with_hooks(Optimizer._step, True)(self, closure)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Adds a group of parameters, such as those of layers that are unfrozen later: {"params": ..., "lr": ...}."""
        group = _split(param_group)
        self._add_group(group)
        self._params.extend(group[0])

    def _step_alone(self, closure: None) -> Any:
        """A step without its hooks, in a method that can be compiled."""
        return self._step(closure)

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Registers `hook(optimizer, args, kwargs)` to run before each step. It may return new (args, kwargs)."""
        return self._register(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Registers `hook(optimizer, args, kwargs)` to run after each step."""
        return self._register(self._post_hooks, hook)

    def _register(self, hooks: dict[int, Hook], hook: Hook) -> RemovableHandle:
        key = self.__dict__["_hook_count"] = self.__dict__.get("_hook_count", 0) + 1
        hooks[key] = hook
        return RemovableHandle(hooks, key)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Copies a state returned by state_dict() into this optimizer. Its tensors may be arrays or PyTorch's."""
        state = state_dict.get("state") if isinstance(state_dict, Mapping) else None
        if isinstance(state, Mapping):
            own = {key: own_tensors(value) if isinstance(value, Mapping) else value for key, value in state.items()}
            state_dict = {**state_dict, "state": own}
        super().load_state_dict(state_dict)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])

    def __reduce_ex__(self, protocol: Any) -> Any:
        groups = [dict(group) for group in self.param_groups]
        states = [{"param": param, "state": dict(state)} for param, state in self.state.items()]
        attributes = {name: value for name, value in self.__dict__.items() if name != "_params"}
        return _rebuild, (type(self), groups, self.defaults, states, attributes, self._has_stepped)


def _rebuild(
    cls: type[Optimizer],
    groups: list[dict[str, Any]],
    defaults: dict[str, Any],
    states: list[dict[str, Any]],
    attributes: dict[str, Any],
    has_stepped: bool,
) -> Optimizer:
    """Reconstructs an optimizer from a copy or a pickle."""
    made = cls.__new__(cls)
    Optimizer.__init__(made, groups, defaults)
    for entry in states:
        made.state[entry["param"]].update(entry["state"])
    made.__dict__.update(attributes)
    if has_stepped:
        made._count_step()  # schedulers check whether it has stepped
    return made
