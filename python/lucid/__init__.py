"""Lucid: a tensor library with a tracing just-in-time compiler.

>>> x = lucid.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

# ruff: noqa: F401, F403, I001 -- the imports are the package's names, in this order

from typing import TYPE_CHECKING

from ._ops import *  # first: later imports override these names

from . import _core, _effects, _tensor, _warnings, autograd, data, gpu, models, nn, optim, return_types, utils
from ._core import (
    Generator,
    InternalError,
    Tensor,
    as_tensor,
    default_generator,
    device,
    empty_cache,
    from_dlpack,
    from_numpy,
    get_default_device,
    get_default_dtype,
    get_num_threads,
    memory_stats,
    promote_types,
    reset_peak_memory,
    set_default_device,
    set_default_dtype,
    set_flush_denormal,
    set_num_threads,
    tensor,
)
from ._dtypes import (
    bf16,
    bfloat16,
    bool,
    double,
    dtype,
    f16,
    f32,
    f64,
    finfo,
    float,
    float16,
    float32,
    float64,
    half,
    i8,
    i16,
    i32,
    i64,
    iinfo,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    short,
    u8,
    uint8,
)
from ._export import Dim, export
from ._files import load, load_torch, save
from ._overloads import (
    allclose,
    broadcast_shapes,
    equal,
    index_put,
    is_floating_point,
    is_tensor,
    max,
    median,
    min,
    nonzero,
    numel,
    result_type,
    std,
    tensordot,
    unique,
    var,
    var_mean,
    where,
)
from ._print import get_printoptions, set_printoptions
from ._program import Program, load_program
from ._random import (
    bernoulli,
    get_rng_state,
    initial_seed,
    manual_seed,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)
from ._windows import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    conv1d,
    conv2d,
    conv3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from .autograd import enable_grad, grad_enabled, inference_mode, is_grad_enabled, no_grad, set_grad_enabled

if TYPE_CHECKING:
    from . import backend, compiler, onnx
    from .compiler import JITFunction, JITModule, compile, jit

__version__ = "0.1.0"

_tensor.install()


# The compiler and these packages are imported on first use.
_COMPILER = {"JITFunction", "JITModule", "compile", "compiler", "jit"}
_PACKAGES = {"backend", "onnx"}


@_effects.pure
def __getattr__(name: str) -> object:
    if name in _COMPILER:
        from importlib import import_module

        compiler = import_module(".compiler", __name__)
        return compiler if name == "compiler" else getattr(compiler, name)
    if name in _PACKAGES:
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | _COMPILER | _PACKAGES)
