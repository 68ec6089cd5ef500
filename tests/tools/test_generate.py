"""tools/generate on small dumps: what it writes into a build folder."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def parameter(name: str, kind: str = "tensor", **others: Any) -> dict[str, Any]:
    return {"name": name, "kind": kind, "optional": False, **others}


def op(name: str, parameters: list[dict[str, Any]], **others: Any) -> dict[str, Any]:
    entry = {"name": name, "signature": f"{name}(...)", "doc": "", "file": "some.cpp", "parameters": parameters}
    return {**entry, "results": [], "returns_list": False, **others}


def run(*arguments: Any) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools/generate"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def generate(build: Path, ops: list[dict[str, Any]], in_place: tuple[str, ...] = ()) -> dict[str, str]:
    """The written files by name. All ops are methods."""
    folder = build / "generated"
    folder.mkdir(exist_ok=True)
    (folder / "signatures.json").write_text(json.dumps(ops))
    for classes in ("layers", "optim"):
        (folder / f"{classes}.json").write_text("[]")
    (folder / "methods.json").write_text(json.dumps({"methods": [op["name"] for op in ops], "in_place": in_place}))
    assert run("--sources", build) == (0, "")
    assert run("--methods", build) == (0, "")
    names = ("ir/emitter_methods.inc", "ops/emitter_methods.cpp", "tensor/ops.cpp", "tensor/methods.cpp")
    return {name: (folder / name).read_text() for name in names}


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
        "Value f(Operand x, std::span<const Value> xs, Operand bias = {}, bool a = true, Dim b = -3, "
        "double c = 2.0, double d = -std::numeric_limits<double>::infinity(), const Dims& e = Dims{1, 2}, "
        'Dtype g = Dtype::kBF16, const std::string& h = "mean", std::optional<double> i = std::nullopt, '
        "int64_t j = -1, const std::optional<Dims>& k = std::nullopt);"
    )


def test_only_the_last_parameters_have_defaults(tmp_path: Path) -> None:
    parameters = [parameter("a", "int", default=1), parameter("x"), parameter("b", "bool", default=False)]
    assert declaration(tmp_path, parameters) == "Value f(Dim a, Operand x, bool b = false);"


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
    for text in generate(tmp_path, [op("f", [parameter("x")])]).values():
        assert text.startswith("// Generated from the op table by tools/generate; do not edit.\n")


def test_equal_files_are_not_rewritten(tmp_path: Path) -> None:
    ops = [op("f", [parameter("x")])]
    generate(tmp_path, ops)
    file = tmp_path / "generated/ir/emitter_methods.inc"
    before = file.stat().st_mtime_ns
    generate(tmp_path, ops)
    assert file.stat().st_mtime_ns == before


def test_a_stale_header_fails_the_check(tmp_path: Path) -> None:
    generate(tmp_path, [op("f", [parameter("x")])])
    code, message = run("--build", tmp_path, "--check")
    assert code == 1
    assert "include/lucid/ops.h" in message


def test_a_folder_that_was_not_built_is_named(tmp_path: Path) -> None:
    code, message = run("--build", tmp_path, "--check")
    assert code == 1
    assert str(tmp_path) in message
