"""Hooks: functions that run before and after the calls of modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core, _effects
from .._core import ModuleHookHandle

_effects.pure_module()

# Hook kinds. The values are indices into `kSetters` in module_methods.cpp.
_FORWARD_PRE, _FORWARD, _BACKWARD, _BACKWARD_PRE, _STATE_PRE, _STATE, _LOAD_PRE, _LOAD_POST = range(8)


class Hooked(_core.Module):
    """The part of Module that registers hooks. Each method returns a handle whose remove() unregisters the hook."""

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> ModuleHookHandle:
        """Registers `hook(module, args)` to run before forward(). A result other than None replaces the arguments.

        With `with_kwargs`, the hook is called as `hook(module, args, kwargs)` and returns None or (args, kwargs).
        `prepend` puts the hook before those already registered.
        """
        return self._add_hook(_FORWARD_PRE, hook, with_kwargs, False, prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> ModuleHookHandle:
        """Registers `hook(module, args, output)` to run after forward(). A result other than None replaces the output.

        With `with_kwargs`, the hook is called as `hook(module, args, kwargs, output)`. With `always_call`, it also runs
        when forward() raises. `prepend` puts the hook before those already registered.

        >>> layer = lucid.nn.Identity()
        >>> handle = layer.register_forward_hook(lambda module, args, output: output * 2)
        >>> layer(lucid.ones(2))
        tensor([2., 2.])
        >>> handle.remove()
        >>> layer(lucid.ones(2))
        tensor([1., 1.])
        """
        return self._add_hook(_FORWARD, hook, with_kwargs, always_call, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> ModuleHookHandle:
        """Registers `hook(module, grad_input, grad_output)` to run when the gradients of the inputs are computed.

        A result other than None replaces grad_input.
        """
        return self._add_hook(_BACKWARD, hook, False, False, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> ModuleHookHandle:
        """Registers `hook(module, grad_output)` to run when the gradients of the outputs are computed.

        A result other than None replaces grad_output.
        """
        return self._add_hook(_BACKWARD_PRE, hook, False, False, prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Registers `hook(module, prefix, keep_vars)` to run before the module's state is saved."""
        return self._add_hook(_STATE_PRE, hook, False, False, False)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Registers `hook(module, state_dict, prefix, local_metadata)` to run after the module's state is saved."""
        return self._add_hook(_STATE, hook, False, False, False)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Registers a hook to run before the module's state is loaded.

        It is called as `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)`.
        """
        return self._add_hook(_LOAD_PRE, hook, False, False, False)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Registers `hook(module, incompatible_keys)` to run after the module's state is loaded."""
        return self._add_hook(_LOAD_POST, hook, False, False, False)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> ModuleHookHandle:
    """Registers `hook(module, args)` to run before the forward() of every module."""
    return _core.add_module_hook(_FORWARD_PRE, hook, False, False, False)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> ModuleHookHandle:
    """Registers `hook(module, args, output)` to run after the forward() of every module."""
    return _core.add_module_hook(_FORWARD, hook, with_kwargs, always_call, False)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> ModuleHookHandle:
    """Registers `hook(module, grad_input, grad_output)` for every module."""
    return _core.add_module_hook(_BACKWARD, hook, False, False, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> ModuleHookHandle:
    """Registers `hook(module, grad_output)` for every module."""
    return _core.add_module_hook(_BACKWARD_PRE, hook, False, False, False)
