"""Functions that run before and after what modules do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core, _effects
from .._core import ModuleHookHandle

_effects.pure_module()

# The kinds of hooks, as the core numbers them.
_FORWARD_PRE, _FORWARD, _BACKWARD, _BACKWARD_PRE, _STATE_PRE, _STATE, _LOAD_PRE, _LOAD_POST = range(8)


class Hooked(_core.Module):
    """The part of Module that registers hooks."""

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> ModuleHookHandle:
        """Calls hook(module, args) before forward(); what it returns, if not None, replaces the arguments.

        With with_kwargs, hook(module, args, kwargs) returns None or (args, kwargs).
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
        """Calls hook(module, args, output) after forward(); what it returns, if not None, replaces the output.

        With with_kwargs it is hook(module, args, kwargs, output); with always_call it runs also when forward() raises.

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
        """Calls hook(module, grad_input, grad_output) when the gradients of the inputs are known.

        What it returns, if not None, replaces grad_input.
        """
        return self._add_hook(_BACKWARD, hook, False, False, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> ModuleHookHandle:
        """Calls hook(module, grad_output) when the gradients of the outputs are known; may replace them."""
        return self._add_hook(_BACKWARD_PRE, hook, False, False, prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Calls hook(module, prefix, keep_vars) before the module's state is saved."""
        return self._add_hook(_STATE_PRE, hook, False, False, False)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Calls hook(module, state_dict, prefix, local_metadata) after the module's state was saved."""
        return self._add_hook(_STATE, hook, False, False, False)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Calls hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

        before the module's state is loaded.
        """
        return self._add_hook(_LOAD_PRE, hook, False, False, False)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> ModuleHookHandle:
        """Calls hook(module, incompatible_keys) after the module's state was loaded."""
        return self._add_hook(_LOAD_POST, hook, False, False, False)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> ModuleHookHandle:
    """Calls hook(module, args) before every module's forward()."""
    return _core.add_module_hook(_FORWARD_PRE, hook, False, False, False)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> ModuleHookHandle:
    """Calls hook(module, args, output) after every module's forward()."""
    return _core.add_module_hook(_FORWARD, hook, with_kwargs, always_call, False)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> ModuleHookHandle:
    """Calls hook(module, grad_input, grad_output) for every module."""
    return _core.add_module_hook(_BACKWARD, hook, False, False, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> ModuleHookHandle:
    """Calls hook(module, grad_output) for every module."""
    return _core.add_module_hook(_BACKWARD_PRE, hook, False, False, False)
