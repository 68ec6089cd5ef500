"""Automatic differentiation: backward passes, gradient modes and custom functions."""

from ._backward import backward, grad
from ._modes import (
    enable_grad,
    grad_enabled,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .function import Function
from .gradcheck import GradcheckError, gradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "enable_grad",
    "grad",
    "grad_enabled",
    "gradcheck",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]
