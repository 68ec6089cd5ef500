"""Random tensors, and the default generator."""

from __future__ import annotations

from typing import Any

from . import _core, _effects
from ._core import Generator, Tensor
from ._overloads import expect_tensor

_effects.pure_module()

_uniform = _core.random_ops["random_uniform"]
_normal = _core.random_ops["random_normal"]
_integers = _core.random_ops["random_integers"]
_bernoulli = _core.random_ops["random_bernoulli"]
_permutation = _core.random_ops["random_permutation"]
_multinomial = _core.random_ops["random_multinomial"]


def _size_of(function: str, positional: tuple[Any, ...], size: Any) -> Any:
    """Returns the size given as `rand(2, 3)`, `rand((2, 3))` or `rand(size=(2, 3))`."""
    if size is not None:
        if positional:
            raise TypeError(f"{function}: got several values for argument 'size'")
        return size
    if len(positional) == 1 and not isinstance(positional[0], int):
        return positional[0]
    return positional


def rand(
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    generator: Generator | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Returns samples of the uniform distribution on [0, 1).

    Keyword arguments are dtype, device, requires_grad and generator.

    >>> lucid.rand(2, 3).shape
    (2, 3)
    """
    size = _size_of("rand", shape, size)
    return _uniform(size, dtype=dtype, generator=generator, device=device, requires_grad=requires_grad)


def randn(
    *shape: Any,
    size: Any = None,
    dtype: Any = None,
    generator: Generator | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Returns samples of the standard normal distribution: mean 0, variance 1.

    Keyword arguments are dtype, device, requires_grad and generator.

    >>> lucid.randn(2, 3).shape
    (2, 3)
    """
    size = _size_of("randn", shape, size)
    return _normal(size, dtype=dtype, generator=generator, device=device, requires_grad=requires_grad)


def randint(low: int, high: Any = None, size: Any = None, **options: Any) -> Tensor:
    """Returns random integers in [low, high). `randint(high, size)` starts at 0.

    Keyword arguments are dtype, device, requires_grad and generator.

    >>> lucid.randint(5, 6, (3,))
    tensor([5, 5, 5])
    >>> lucid.randint(10, (2, 2)).shape
    (2, 2)
    """
    if size is None:
        low, high, size = 0, low, high
    if size is None:
        raise TypeError("randint: missing argument 'size'")
    if high is None:
        low, high = 0, low
    dtype = options.pop("dtype", None)
    if dtype is not None and _core.dtype(dtype).is_floating_point:
        requires_grad = options.pop("requires_grad", False)
        return _integers(size, low, high, **options).to(dtype).requires_grad_(requires_grad)
    return _integers(size, low, high, dtype=dtype, **options)


def _laid_out_like(x: Tensor, sample: Any, dtype: Any, requires_grad: bool = False, **options: Any) -> Tensor:
    """Returns the result of the random op `sample` with the shape, dtype and layout of x."""
    options.setdefault("device", x.device)
    result: Tensor = sample(x.shape, dtype=x.dtype if dtype is None else dtype, **options)
    if not x.is_contiguous():
        result = _core.ops["empty_like"](x, dtype=result.dtype).copy_(result)
    return result.requires_grad_() if requires_grad else result


def rand_like(x: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Returns samples of the uniform distribution on [0, 1) with the shape and dtype of x."""
    x = expect_tensor("rand_like", "x", x)
    return _laid_out_like(x, _uniform, dtype, **options)


def randn_like(x: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Returns samples of the standard normal distribution with the shape and dtype of x."""
    x = expect_tensor("randn_like", "x", x)
    return _laid_out_like(x, _normal, dtype, **options)


def randint_like(x: Tensor, low: int, high: int | None = None, *, dtype: Any = None, **options: Any) -> Tensor:
    """Returns random integers in [low, high) with the shape and dtype of x. `randint_like(x, high)` starts at 0."""
    x = expect_tensor("randint_like", "x", x)
    return _laid_out_like(x, lambda shape, **rest: randint(low, high, shape, **rest), dtype, **options)


def randperm(n: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """Returns a random permutation of the integers from 0 to n - 1.

    >>> lucid.randperm(4).sort().values
    tensor([0, 1, 2, 3])
    """
    result = _permutation(n, **options)
    return result if dtype is None else result.to(dtype)


def bernoulli(p: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Returns ones with the probabilities in `p`, and zeros otherwise.

    >>> lucid.bernoulli(lucid.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    return _bernoulli(p, generator=generator)


def multinomial(
    p: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Returns `num_samples` indices for each row of `p`, sampled with probabilities proportional to its elements.

    >>> lucid.multinomial(lucid.tensor([0.0, 1.0, 0.0]), 1)
    tensor([1])
    """
    return _multinomial(p, num_samples, replacement, generator=generator)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, **options: Any) -> Tensor:
    """Returns samples of normal distributions with the given means and standard deviations, numbers or tensors.

    `size` is required if both are numbers. Other keyword arguments are the same as for randn.

    >>> lucid.normal(0.0, 1.0, (2, 3)).shape
    (2, 3)
    """
    if size is None:
        tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
        if not tensors:
            raise TypeError("normal: missing argument 'size', which is required if mean and std are numbers")
        like = tensors[0] if len(tensors) == 1 else tensors[0] + tensors[1]
        size = like.shape
        options.setdefault("dtype", like.dtype)
        options.setdefault("device", like.device)
    requires_grad = options.pop("requires_grad", False)
    result: Tensor = _core.ops["add"](_core.ops["mul"](_normal(size, **options), std), mean)
    return result.requires_grad_() if requires_grad else result


def _number(function: str, argument: str, value: Any) -> float:
    # Not typing.SupportsFloat: its instance check runs Python code, which a recording would have to capture first.
    if not hasattr(type(value), "__float__"):
        raise TypeError(f"{function}: argument '{argument}' must be a number, not {type(value).__name__}")
    return float(value)


def _uniform_in_place(
    self: Tensor, low: float = 0.0, high: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fills the tensor with samples of the uniform distribution on [low, high)."""
    low, high = _number("uniform_", "low", low), _number("uniform_", "high", high)
    if not low <= high:
        raise ValueError(f"uniform_: low {low} must not be above high {high}")
    return self.copy_(
        _uniform(self.shape, dtype=self.dtype, device=self.device, generator=generator) * (high - low) + low
    )


def _normal_in_place(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fills the tensor with samples of a normal distribution."""
    mean, std = _number("normal_", "mean", mean), _number("normal_", "std", std)
    if not std >= 0:
        raise ValueError(f"normal_: std must not be negative, got {std}")
    return self.copy_(_normal(self.shape, dtype=self.dtype, device=self.device, generator=generator) * std + mean)


def _bernoulli_in_place(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fills the tensor with ones with probability p, a number or a tensor, and zeros otherwise."""
    if isinstance(p, Tensor):
        return self.copy_(_bernoulli(p.expand(self.shape), generator=generator))
    p = _number("bernoulli_", "p", p)
    if not 0 <= p <= 1:
        raise ValueError(f"bernoulli_: p must be from 0 to 1, got {p}")
    return self.copy_(_uniform(self.shape, device=self.device, generator=generator) < p)


def _exponential_in_place(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fills the tensor with samples of the exponential distribution with rate lambd."""
    lambd = _number("exponential_", "lambd", lambd)
    if not lambd > 0:
        raise ValueError(f"exponential_: lambd must be positive, got {lambd}")
    uniform = _uniform(self.shape, dtype=self.dtype, device=self.device, generator=generator)
    return self.copy_(_core.ops["log1p"](-uniform) * (-1.0 / lambd))


def manual_seed(seed: int) -> Generator:
    """Seeds the default generator and returns it.

    >>> lucid.manual_seed(0).initial_seed()
    0
    """
    return _core.default_generator().manual_seed(seed)


@_effects.effect("takes a seed from the operating system")
def seed() -> int:
    """Seeds the default generator from the operating system. Returns the seed."""
    return _core.default_generator().seed()


@_effects.effect("reads the state of the default generator")
def initial_seed() -> int:
    """Returns the seed of the default generator."""
    return _core.default_generator().initial_seed()


@_effects.effect("reads the state of the default generator")
def get_rng_state() -> Tensor:
    """Returns the state of the default generator."""
    return _core.default_generator().get_state()


@_effects.effect("sets the state of the default generator")
def set_rng_state(state: Tensor) -> None:
    """Sets the state of the default generator to one that get_rng_state() returned."""
    _core.default_generator().set_state(state)
