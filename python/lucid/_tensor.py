"""Methods of Tensor that are implemented in Python."""

from __future__ import annotations

import copyreg
from typing import Any

from . import _core, _effects, _overloads, _print, _random
from ._core import Tensor
from .autograd import _backward

_effects.pure_module()


def _repr(self: Tensor) -> str:
    return _print.to_text(self)


def _format(self: Tensor, spec: str) -> str:
    """Formats a tensor without dimensions as its number, and others, without a spec, as repr()."""
    if self.dim() == 0 and (spec or type(self) is Tensor):
        return format(self.item(), spec)
    if not spec:
        return repr(self)
    raise TypeError(f"format: {spec!r} applies to numbers, but the tensor has shape {self.shape}; format its elements")


def _numpy(self: Tensor, *, force: bool = False) -> Any:
    """Returns a read-only NumPy array that shares this tensor's memory.

    The array keeps its values: a later write gives the tensor new memory. `force` detaches a tensor that requires grad.
    """
    import numpy

    if force:
        self = self.detach()
    if self.requires_grad:
        raise RuntimeError("numpy: the tensor requires grad; use detach() first")
    if self.dtype is _core.bfloat16:
        raise TypeError("numpy: bfloat16 has no counterpart in NumPy; convert with float() first")
    return numpy.asarray(memoryview(self))


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    array = _numpy(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"__array__: {self.dtype} cannot be converted to {dtype} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def _dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    return _core.to_dlpack(self, stream, max_version, dl_device, copy)


def _dlpack_device(self: Tensor) -> tuple[int, int]:
    cpu, vulkan = 1, 7
    return (cpu, 0) if self.device.index is None else (vulkan, self.device.index)


def _maker(op: str, name: str, doc: str) -> Any:
    function = _core.ops[op]

    def make(self: Tensor, *size: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        kwargs.setdefault("device", self.device)
        return function(*size, dtype=self.dtype if dtype is None else dtype, **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc
    return make


def _new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, **kwargs: Any) -> Tensor:
    """Returns a tensor filled with one value, of this tensor's dtype."""
    kwargs.setdefault("device", self.device)
    return _core.ops["full"](size, fill_value, dtype=self.dtype if dtype is None else dtype, **kwargs)


def _new_tensor(self: Tensor, data: Any, *, dtype: Any = None, **kwargs: Any) -> Tensor:
    """Returns a tensor with a copy of the data, of this tensor's dtype."""
    kwargs.setdefault("device", self.device)
    return _core.tensor(data, dtype=self.dtype if dtype is None else dtype, **kwargs)


def _expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Expands this tensor to the shape of another."""
    return self.expand(_overloads.expect_tensor("expand_as", "other", other).shape)


def _view_as(self: Tensor, other: Tensor) -> Tensor:
    """Views this tensor with the shape of another."""
    return self.view(_overloads.expect_tensor("view_as", "other", other).shape)


def _reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """Reshapes this tensor to the shape of another."""
    return self.reshape(_overloads.expect_tensor("reshape_as", "other", other).shape)


def _t(self: Tensor) -> Tensor:
    """Transposes a matrix. Returns vectors and 0-d tensors unchanged."""
    if self.dim() > 2:
        raise RuntimeError(f"t: expected at most 2 dimensions, got shape {self.shape}; use mT or permute()")
    return self.T


def _t_in_place(self: Tensor) -> Tensor:
    """Transposes a matrix in place. Leaves vectors and 0-d tensors unchanged."""
    if self.dim() > 2:
        raise RuntimeError(f"t_: expected at most 2 dimensions, got shape {self.shape}; use transpose_()")
    return self.transpose_(0, 1) if self.dim() == 2 else self


def _array_namespace(self: Tensor, *, api_version: str | None = None) -> Any:
    """Returns `lucid.array_api`, the namespace of the Python array API standard."""
    from . import array_api

    if api_version is not None and api_version > array_api.__array_api_version__:
        raise ValueError(
            f"__array_namespace__: version {api_version} is not supported, only {array_api.__array_api_version__}"
        )
    return array_api


def _to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """Returns the tensor on a device: itself if it is there, otherwise a copy."""
    return self.to(device=device)


def _where(self: Tensor, condition: Any, y: Any) -> Tensor:
    """Returns this tensor where the condition is true, and y elsewhere."""
    return _core.ops["where"](condition, self, y)


def _index_put_(self: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """Writes values at the positions given by index tensors for the leading dimensions.

    With `accumulate`, adds the values to the elements instead.
    """
    return _table_index_put_(self, values, indices, accumulate)


_table_index_put_ = Tensor.index_put_


def rebuild_tensor(
    cls: type[Tensor],
    data: bytes,
    shape: tuple[int, ...],
    dtype: _core.dtype,
    requires_grad: bool,
    device: _core.device | None = None,
) -> Tensor:
    """Creates a tensor from its pickle. Pickles of older versions have no device."""
    return _core.rebuild_tensor(cls, data, shape, dtype, requires_grad, device)


def _reduce_function(function: Any) -> str:
    """Pickles functions of the extension module by name, like other functions."""
    return str(function.__name__)


def install() -> None:
    """Adds these methods to Tensor."""
    copyreg.pickle(type(_core.tensor), _reduce_function)
    methods: dict[str, Any] = {
        "__repr__": _repr,
        "__str__": _repr,
        "__format__": _format,
        "__array__": _array,
        "__array_namespace__": _array_namespace,
        "__dlpack__": _dlpack,
        "__dlpack_device__": _dlpack_device,
        "numpy": _numpy,
        "backward": _backward._tensor_backward,
        "register_hook": _backward._tensor_register_hook,
        "register_post_accumulate_grad_hook": _backward._tensor_register_post_accumulate_grad_hook,
        "new_zeros": _maker("zeros", "new_zeros", "Returns a tensor of zeros with this tensor's dtype."),
        "new_ones": _maker("ones", "new_ones", "Returns a tensor of ones with this tensor's dtype."),
        "new_empty": _maker("empty", "new_empty", "Returns an uninitialized tensor with this tensor's dtype."),
        "new_full": _new_full,
        "new_tensor": _new_tensor,
        "expand_as": _expand_as,
        "view_as": _view_as,
        "reshape_as": _reshape_as,
        "t": _t,
        "t_": _t_in_place,
        "to_device": _to_device,
        "where": _where,
        "index_put_": _index_put_,
        "uniform_": _random._uniform_in_place,
        "normal_": _random._normal_in_place,
        "bernoulli_": _random._bernoulli_in_place,
        "exponential_": _random._exponential_in_place,
        "bernoulli": _random.bernoulli,
        "multinomial": _random.multinomial,
    }
    for name in (
        "max",
        "min",
        "median",
        "unique",
        "std",
        "tensordot",
        "var",
        "var_mean",
        "nonzero",
        "allclose",
        "equal",
        "index_put",
    ):
        methods[name] = getattr(_overloads, name)
    for name, method in methods.items():
        setattr(Tensor, name, method)
