"""Valid calls to mutate: samples of the op table as functions, methods and in-place methods, and Python functions."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lucid
import numpy as np
import op_samples


@dataclass
class Parameter:
    """`kind` is a kind of the op table, "strict" for a tensor that cannot be a number, "generator" or "data"."""

    name: str
    kind: str
    optional: bool = False
    has_default: bool = False
    role: str = ""  # for tensors: "index" for indices, "mask" for bools


@dataclass
class ValidCall:
    name: str
    function: Callable[..., Any]
    parameters: list[Parameter]
    arguments: dict[str, Any]  # by parameter; missing ones have defaults
    op: dict[str, Any] | None = None
    bound: bool = False  # the call is a method: the first parameter is positional
    in_place: bool = False
    pointwise: bool = False

    def parameter(self, name: str) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def tensors(self) -> list[Any]:
        found: list[Any] = []
        for value in self.arguments.values():
            found += [
                part for part in (value if isinstance(value, list) else [value]) if isinstance(part, lucid.Tensor)
            ]
        return found


@functools.cache
def table() -> list[dict[str, Any]]:
    return [op for op in lucid._core.op_table() if op["public"] and not op["random"]]


@functools.cache
def parameters_of(name: str) -> list[Parameter]:
    op = next(op for op in table() if op["name"] == name)
    defaults = inspect.signature(lucid._core.ops[name]).parameters
    return [
        Parameter(
            entry["name"],
            entry["kind"],
            entry["optional"],
            entry["optional"] or defaults[entry["name"]].default is not inspect.Parameter.empty,
        )
        for entry in op["parameters"]
    ]


def with_roles(op: dict[str, Any], sample: dict[str, Any]) -> list[Parameter]:
    """The op's parameters with the role of each tensor in this sample."""
    tensors = iter(sample["tensors"])
    single = sum(entry["kind"] == "tensor" for entry in op["parameters"])
    found = []
    for parameter in parameters_of(op["name"]):
        count = {"tensor": 1, "tensors": len(sample["tensors"]) - single}.get(parameter.kind, 0)
        fills = {(tensor or {}).get("fill") for tensor in (next(tensors) for _ in range(count))}
        role = "index" if fills & {"index", "offset"} else "mask" if fills & {"mask", "true_mask"} else ""
        found.append(Parameter(parameter.name, parameter.kind, parameter.optional, parameter.has_default, role))
    return found


def from_table(rng: random.Random) -> ValidCall:
    op = rng.choice(table())
    dtype = rng.choice([dtype for dtype in op["dtypes"] if dtype in op_samples.NUMPY_DTYPES])
    position = rng.randrange(len(op["samples"]))
    sample = op_samples.make_call(op, position, dtype)
    arguments = {name: op_samples.as_lucid(value) for name, value in sample.arguments.items()}
    name = sample.name
    call = ValidCall(name, lucid._core.ops[name], with_roles(op, op["samples"][position]), arguments, op)
    call.pointwise = bool(op["pointwise"])
    first = next(iter(arguments.values()), None)
    form = rng.random()
    # Methods that are not ops (`to`, factories, overloads) are called in from_python().
    if form < 0.3 and isinstance(first, lucid.Tensor) and isinstance(method_of(name), type(lucid.Tensor.add)):
        call.function, call.bound, call.name = method_of(name), True, f"Tensor.{name}"
    elif form < 0.55 and isinstance(first, lucid.Tensor) and name != "index_put" and method_of(f"{name}_"):
        written = first.clone() if first.is_contiguous() else first.contiguous()
        in_place = {**arguments, next(iter(arguments)): written}
        if fits_in_place(name, position, dtype, in_place):
            call.function, call.bound, call.name = method_of(f"{name}_"), True, f"Tensor.{name}_"
            call.in_place, call.arguments = True, in_place
    return call


def method_of(name: str) -> Any:
    return getattr(lucid.Tensor, name, None)


_fitting: dict[tuple[str, int, Any], bool] = {}


def fits_in_place(name: str, sample: int, dtype: Any, arguments: dict[str, Any]) -> bool:
    """Whether the result of a sample can be written into its first tensor: same shape, and no higher kind of dtype."""
    key = (name, sample, dtype)
    if key not in _fitting:
        result = lucid._core.ops[name](**arguments)
        first = next(iter(arguments.values()))
        _fitting[key] = result.shape == first.shape and kind_of(result.dtype) <= kind_of(first.dtype)
    return _fitting[key]


def kind_of(dtype: Any) -> int:
    """The rank of a dtype in the order bools, integers, floats."""
    return 0 if dtype == lucid.bool else 2 if dtype.is_floating_point else 1


def function_templates() -> list[tuple[str, Any, list[Parameter], dict[str, Callable[[], Any]]]]:
    """(name, function, parameters, factories of arguments) of functions that Python adds to the op table."""
    p = Parameter
    size, dtype = p("size", "ints"), p("dtype", "dtype", True, True)
    open_size = p("size", "ints", True, True)  # without it, the result is 0-d, or the arguments shift
    generator, gradient = p("generator", "generator", True, True), p("requires_grad", "bool", False, True)
    x, like = p("x", "tensor"), p("x", "strict")
    dim, dims = p("dim", "axis", True, True), p("dim", "axes", True, True)
    keepdim = p("keepdim", "bool", False, True)
    seeded = lucid.Generator

    def matrix() -> Any:
        return lucid.ones(3, 4)

    def shape() -> Any:
        return (2, 3)

    random_arguments = {"size": shape, "dtype": lambda: lucid.float32, "generator": seeded}
    reduced = {"x": matrix, "dim": lambda: 1, "keepdim": lambda: True}
    statistic = [x, dims, keepdim, p("correction", "float", True, True), p("unbiased", "flag", True, True)]
    tensor = lucid.Tensor
    return [
        ("rand", lucid.rand, [open_size, dtype, generator, gradient], random_arguments),
        ("randn", lucid.randn, [open_size, dtype, generator, gradient], random_arguments),
        (
            "randint",
            lucid.randint,
            [p("low", "int"), p("high", "int", True, True), open_size, dtype, generator],
            {"low": lambda: 0, "high": lambda: 9, "size": shape, "dtype": lambda: lucid.int32, "generator": seeded},
        ),
        ("rand_like", lucid.rand_like, [like, dtype, generator], {"x": matrix, "generator": seeded}),
        ("randn_like", lucid.randn_like, [like, dtype, generator], {"x": matrix, "generator": seeded}),
        (
            "randint_like",
            lucid.randint_like,
            [like, p("low", "int"), p("high", "int", True, True), dtype, generator],
            {"x": matrix, "low": lambda: 0, "high": lambda: 9, "generator": seeded},
        ),
        ("randperm", lucid.randperm, [p("n", "int"), dtype, generator], {"n": lambda: 7, "generator": seeded}),
        ("bernoulli", lucid.bernoulli, [p("p", "tensor"), generator], {"p": matrix, "generator": seeded}),
        (
            "multinomial",
            lucid.multinomial,
            [p("p", "tensor"), p("num_samples", "int"), p("replacement", "bool", False, True), generator],
            {"p": matrix, "num_samples": lambda: 2, "replacement": lambda: True, "generator": seeded},
        ),
        (
            "normal",
            lucid.normal,
            [p("mean", "tensor", False, True), p("std", "tensor", False, True), size, dtype, generator],
            {"mean": lambda: 0.5, "std": lambda: 2.0, "size": shape, "generator": seeded},
        ),
        ("max", lucid.max, [x, dim, keepdim], reduced),
        ("min", lucid.min, [x, dim, keepdim], reduced),
        ("median", lucid.median, [x, dim, keepdim], reduced),
        ("unique", lucid.unique, [x, dim], {"x": matrix, "dim": lambda: 0}),
        (
            "where",
            lucid.where,
            [p("condition", "tensor", role="mask"), x, p("y", "tensor")],
            {"condition": lambda: matrix() > 0, "x": matrix, "y": lambda: 1.0},
        ),
        ("nonzero", lucid.nonzero, [x], {"x": matrix}),
        ("var", lucid.var, statistic, reduced),
        ("std", lucid.std, statistic, reduced),
        ("var_mean", lucid.var_mean, statistic, reduced),
        (
            "allclose",
            lucid.allclose,
            [x, p("y", "tensor"), p("rtol", "float", False, True), p("equal_nan", "bool", False, True)],
            {"x": matrix, "y": matrix, "rtol": lambda: 0.1},
        ),
        ("equal", lucid.equal, [like, p("y", "strict")], {"x": matrix, "y": matrix}),
        ("numel", lucid.numel, [like], {"x": matrix}),
        ("is_floating_point", lucid.is_floating_point, [like], {"x": matrix}),
        ("tensor", lucid.tensor, [p("data", "data"), dtype, gradient], {"data": lambda: [[1, 2], [3, 4]]}),
        ("as_tensor", lucid.as_tensor, [p("data", "data"), dtype], {"data": lambda: np.ones((2, 3))}),
        ("Tensor.fill_", tensor.fill_, [like, p("value", "tensor")], {"x": matrix, "value": lambda: 2.0}),
        ("Tensor.copy_", tensor.copy_, [like, p("source", "tensor")], {"x": matrix, "source": matrix}),
        ("Tensor.type_as", tensor.type_as, [like, p("other", "strict")], {"x": matrix, "other": matrix}),
        ("Tensor.expand_as", tensor.expand_as, [like, p("other", "strict")], {"x": matrix, "other": matrix}),
        ("Tensor.view_as", tensor.view_as, [like, p("other", "strict")], {"x": matrix, "other": matrix}),
        ("Tensor.reshape_as", tensor.reshape_as, [like, p("other", "strict")], {"x": matrix, "other": matrix}),
        ("Tensor.t", tensor.t, [like], {"x": matrix}),
        ("Tensor.view", tensor.view, [like, p("shape", "ints", False, True)], {"x": matrix, "shape": lambda: (4, 3)}),
        ("Tensor.size", tensor.size, [like, dim], {"x": matrix, "dim": lambda: 1}),
        ("Tensor.stride", tensor.stride, [like, dim], {"x": matrix, "dim": lambda: 1}),
        ("Tensor.to", tensor.to, [like, dtype], {"x": matrix, "dtype": lambda: lucid.int32}),
        (
            "Tensor.requires_grad_",
            tensor.requires_grad_,
            [like, gradient],
            {"x": matrix, "requires_grad": lambda: True},
        ),
        ("Tensor.new_zeros", tensor.new_zeros, [like, size], {"x": matrix, "size": shape}),
        ("Tensor.new_ones", tensor.new_ones, [like, size], {"x": matrix, "size": shape}),
        (
            "Tensor.new_full",
            tensor.new_full,
            [like, size, p("fill_value", "tensor")],
            {"x": matrix, "size": shape, "fill_value": lambda: 3.0},
        ),
        (
            "Tensor.uniform_",
            tensor.uniform_,
            [like, p("low", "float", False, True), p("high", "float", False, True), generator],
            {"x": matrix, "low": lambda: 1.0, "high": lambda: 2.0, "generator": seeded},
        ),
        (
            "Tensor.normal_",
            tensor.normal_,
            [like, p("mean", "float", False, True), p("std", "float", False, True), generator],
            {"x": matrix, "mean": lambda: 1.0, "std": lambda: 2.0, "generator": seeded},
        ),
        (
            "Tensor.bernoulli_",
            tensor.bernoulli_,
            [like, p("p", "float", False, True), generator],
            {"x": matrix, "p": lambda: 0.25, "generator": seeded},
        ),
        (
            "Tensor.exponential_",
            tensor.exponential_,
            [like, p("lambd", "float", False, True), generator],
            {"x": matrix, "lambd": lambda: 2.0, "generator": seeded},
        ),
    ]


# Methods with positional-only arguments.
POSITIONAL = {"Tensor.fill_", "Tensor.copy_", "Tensor.type_as", "Tensor.view"}
IN_PLACE = {
    *("Tensor.fill_", "Tensor.copy_", "Tensor.uniform_", "Tensor.normal_"),
    *("Tensor.bernoulli_", "Tensor.exponential_"),
}


@functools.cache
def templates() -> list[tuple[str, Any, list[Parameter], dict[str, Callable[[], Any]]]]:
    return function_templates()


def from_python(rng: random.Random) -> ValidCall:
    name, function, parameters, makers = rng.choice(templates())
    arguments = {key: make() for key, make in makers.items()}
    call = ValidCall(name, function, parameters, arguments, bound=name.startswith("Tensor."))
    call.in_place = name in IN_PLACE
    return call
