"""tools/generate on small dumps: what it writes into a build folder."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STUBS = ("__init__", "_core", "return_types")


def parameter(name: str, kind: str = "tensor", **others: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "optional": False, **others}


def op(name: str, parameters: list[dict[str, Any]], **others: Any) -> dict[str, Any]:
    for each in parameters:
        each.update({"aliases": [], "keyword_only": False, "spread": False} | each)
    entry = {"name": name, "signature": f"{name}(...)", "doc": "", "file": "some.cpp", "parameters": parameters}
    return {**entry, "results": [], "returns_list": False, **others}


def run(*arguments: Any) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools/generate"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def generate(
    build: Path, ops: list[dict[str, Any]], in_place: tuple[str, ...] = (), factories: tuple[str, ...] = ()
) -> dict[str, str]:
    """The written files by name. All ops are functions and methods."""
    folder = build / "generated"
    folder.mkdir(exist_ok=True)
    (folder / "signatures.json").write_text(json.dumps(ops))
    for classes in ("layers", "optim"):
        (folder / f"{classes}.json").write_text("[]")
    every = [op["name"] for op in ops]
    names = {"public": every, "methods": every, "in_place": in_place, "factories": factories, "takes_alpha": []}
    (folder / "names.json").write_text(json.dumps(names))
    assert run("--sources", build) == (0, "")
    assert run("--methods", build) == (0, "")
    files = ["ir/emitter_methods.inc", "ops/emitter_methods.cpp", "tensor/ops.cpp", "tensor/methods.cpp"]
    files += ["include/lucid/ops.h", "include/lucid/tensor_methods.h", *(f"python/{name}.pyi" for name in STUBS)]
    return {name: (folder / name).read_text() for name in files}


def declaration(build: Path, parameters: list[dict[str, Any]], **others: Any) -> str:
    return generate(build, [op("f", parameters, **others)])["ir/emitter_methods.inc"].splitlines()[-1]


def test_each_kind_of_parameter_has_a_type_and_a_default(tmp_path: Path) -> None:
    parameters = [
        parameter("x"),
        parameter("xs", "tensors"),
        parameter("bias", optional=True),
        parameter("a", "bool", default=True),
        parameter("b", "int", default=-3),
        parameter("c", "float", default=2.0),
        parameter("d", "float", default="-inf"),
        parameter("e", "ints", default=[1, 2]),
        parameter("g", "dtype", default="bf16"),
        parameter("h", "str", default="mean"),
        parameter("i", "float", optional=True, default=None),
        parameter("j", "axis", default=-1),
        parameter("k", "axes", optional=True, default=None),
    ]
    assert declaration(tmp_path, parameters) == (
        "Value f(Operand x, std::span<const Value> xs, Operand bias = {}, bool a = true, SymInt b = -3, "
        "double c = 2.0, double d = -std::numeric_limits<double>::infinity(), const Dims& e = Dims{1, 2}, "
        'Dtype g = Dtype::kBF16, const std::string& h = "mean", std::optional<double> i = std::nullopt, '
        "int64_t j = -1, const std::optional<Dims>& k = std::nullopt);"
    )


def test_only_the_last_parameters_have_defaults(tmp_path: Path) -> None:
    parameters = [parameter("a", "int", default=1), parameter("x"), parameter("b", "bool", default=False)]
    assert declaration(tmp_path, parameters) == "Value f(SymInt a, Operand x, bool b = false);"


def test_several_results_are_values(tmp_path: Path) -> None:
    assert declaration(tmp_path, [parameter("x")], results=["a", "b"]) == "Values f(Operand x);"
    assert declaration(tmp_path, [parameter("x")], returns_list=True) == "Values f(Operand x);"


def test_results_with_names_are_a_struct(tmp_path: Path) -> None:
    text = generate(tmp_path, [op("top_k", [parameter("x")], results=["values", "indices"])])["tensor/ops.cpp"]
    assert "TopKResult top_k(const Argument& x) {" in text
    assert "return {wrap(results[0]), wrap(results[1])};" in text


def test_methods_take_the_other_parameters(tmp_path: Path) -> None:
    parameters = [parameter("x"), parameter("y"), parameter("dim", "ints", optional=True, default=None)]
    text = generate(tmp_path, [op("f", parameters)], in_place=("f",))["tensor/methods.cpp"]
    assert "Tensor TensorMethods::f(const Argument& y, OptionalInts dim) const {" in text
    assert "return lucid::f(tensor(this), y, dim);" in text
    assert "Tensor& TensorMethods::f_(const Argument& y, OptionalInts dim) {" in text
    assert "others.push_back(operand_of(y));" in text
    assert "return write(this, this_op, others, {attribute_of(dims_of(dim))});" in text


def test_updates_of_optimizers_have_no_functions(tmp_path: Path) -> None:
    files = generate(tmp_path, [op("f", [parameter("x")]), op("step", [parameter("x")], file="optimizer.cpp")])
    assert 'R"(step(...))"' in files["ops/emitter_methods.cpp"]
    assert "Emitter::f(" in files["ops/emitter_methods.cpp"]
    assert "Emitter::step(" not in files["ops/emitter_methods.cpp"]
    assert "step" not in files["ir/emitter_methods.inc"] + files["tensor/ops.cpp"]


def test_generated_files_are_marked_in_their_first_line(tmp_path: Path) -> None:
    for name, text in generate(tmp_path, [op("f", [parameter("x")])]).items():
        comment = "#" if name.endswith(".pyi") else "//"
        assert text.startswith(f"{comment} Generated from the op table by tools/generate; do not edit.\n")


def test_an_op_is_a_function_and_a_method_in_the_stubs(tmp_path: Path) -> None:
    files = generate(tmp_path, [op("opposite", [parameter("x")])], in_place=("opposite",))
    assert "\ndef opposite(x: TensorLike) -> Tensor: ...\n" in files["python/__init__.pyi"]
    assert "\n    def opposite(self) -> Tensor: ...\n" in files["python/_core.pyi"]
    assert "\n    def opposite_(self) -> Self: ...\n" in files["python/_core.pyi"]


def test_stubs_have_an_overload_for_each_name_of_an_argument(tmp_path: Path) -> None:
    text = generate(tmp_path, [op("f", [parameter("x", aliases=["input"])])])["python/__init__.pyi"]
    assert (
        "@overload\ndef f(x: TensorLike) -> Tensor: ...\n@overload\ndef f(input: TensorLike) -> Tensor: ...\n" in text
    )


def test_factories_take_a_device_in_the_stubs(tmp_path: Path) -> None:
    text = generate(tmp_path, [op("ten", [parameter("size", "ints")])], factories=("ten",))["python/__init__.pyi"]
    assert (
        "def ten(size: Ints, *, device: DeviceLike = ..., requires_grad: builtins.bool = ...) -> Tensor: ...\n" in text
    )


def test_names_that_the_package_defines_itself_are_reexports_in_the_stubs(tmp_path: Path) -> None:
    files = generate(tmp_path, [op("allclose", [parameter("x")])])
    assert "from ._overloads import allclose as allclose\n" in files["python/__init__.pyi"]
    assert "def allclose(" not in files["python/__init__.pyi"]
    assert files["python/_core.pyi"].count("    def allclose(") == 1


def test_named_results_have_types_in_the_stubs(tmp_path: Path) -> None:
    files = generate(tmp_path, [op("top", [parameter("x")], results=["values", "indices"])])
    assert "\nclass top(NamedTuple):\n    values: Tensor\n    indices: Tensor\n" in files["python/return_types.pyi"]
    assert "-> return_types.top: ..." in files["python/__init__.pyi"]


def test_equal_files_are_not_rewritten(tmp_path: Path) -> None:
    ops = [op("f", [parameter("x")])]
    generate(tmp_path, ops)
    file = tmp_path / "generated/ir/emitter_methods.inc"
    before = file.stat().st_mtime_ns
    generate(tmp_path, ops)
    assert file.stat().st_mtime_ns == before


def test_a_stale_constructor_fails_the_check(tmp_path: Path) -> None:
    generate(tmp_path, [op("f", [parameter("x")])])
    default = {"name": "inplace", "kind": "bool", "only": "", "optional": False, "private": False, "required": True}
    entry = {"name": "ReLU", "file": "activation.h", "has_signature": True}
    entry["parameters"] = [{**default, "keyword_only": False}]
    (tmp_path / "generated/layers.json").write_text(json.dumps([entry]))
    code, message = run("--build", tmp_path, "--check")
    assert code == 1
    assert "stale: python/lucid/nn/activation.py" in message


def test_a_folder_that_was_not_built_is_named(tmp_path: Path) -> None:
    code, message = run("--build", tmp_path, "--check")
    assert code == 1
    assert str(tmp_path) in message
