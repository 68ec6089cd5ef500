"""tools/check_layers on small trees: what it must accept and what it must report."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(root: Path, files: dict[str, str]) -> tuple[int, str]:
    """Runs the checker on a tree with the real list of layers and `files`."""
    layers = root / "cmake" / "LucidLayers.cmake"
    layers.parent.mkdir(parents=True, exist_ok=True)
    layers.write_text((ROOT / "cmake" / "LucidLayers.cmake").read_text())
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    command = [sys.executable, str(ROOT / "tools" / "check_layers"), "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("src/base/a.h", "<vector>"),
        ("src/base/a.h", '"base/b.h"'),
        ("src/ops/a.cpp", '"ir/op.h"'),
        ("src/jit/a.cpp", '"codegen/code_generator.h"'),
        ("src/codegen/a.cpp", '"loop/kernel.h"'),
        ("src/codegen/a.cpp", "<llvm/IR/IRBuilder.h>"),
        ("src/tensor/a.cpp", '"lucid/tensor.h"'),
        ("include/lucid/nn.h", '"lucid/tensor.h"'),
        ("include/lucid/nn.h", "<lucid/tensor.h>"),
        ("python/bindings/a.cpp", "<nanobind/nanobind.h>"),
        ("python/bindings/a.cpp", '"tensor/tensor.h"'),
        ("tests/ir/a_test.cpp", '"support/graphs.h"'),
    ],
)
def test_allowed_includes_pass(tmp_path: Path, file: str, include: str) -> None:
    assert check(tmp_path, {file: f"#include {include}\n"}) == (0, "")


@pytest.mark.parametrize(
    ("file", "include", "message"),
    [
        ("src/base/a.h", '"ir/graph.h"', "ir comes after base"),
        ("src/ir/a.cpp", '"ops/table.h"', "ops comes after ir"),
        ("src/runtime/a.cpp", '"jit/guard.h"', "jit comes after runtime"),
        ("src/codegen/a.cpp", '"ir/graph.h"', "codegen includes only base, loop and code"),
        ("src/codegen/a.cpp", '"ops/table.h"', "codegen includes only base, loop and code"),
        ("src/runtime/a.cpp", "<llvm/IR/Module.h>", "only src/codegen includes it"),
        ("src/runtime/a.cpp", '"llvm/IR/Module.h"', "name it from src"),
        ("src/tensor/a.cpp", "<Python.h>", "only python/ includes Python"),
        ("src/tensor/a.cpp", "<nanobind/nanobind.h>", "only python/ includes Python"),
        ("src/spirv/a.cpp", '"device/gpu.h"', "spirv includes only base, loop and code"),
        ("src/runtime/a.cpp", "<vulkan/vulkan.h>", "only src/device includes it"),
        ("src/device/a.cpp", "<spirv/unified1/spirv.hpp11>", "only src/spirv includes it"),
        ("python/bindings/a.cpp", "<llvm/IR/Module.h>", "only src/codegen includes it"),
        ("tests/ir/a_test.cpp", '"llvm/IR/Module.h"', "only src/codegen includes it"),
        ("src/base/a.cpp", '"dtype.h"', "name it from src"),
        ("include/lucid/nn.h", '"tensor/tensor.h"', "public headers include only public headers"),
        ("src/elsewhere/a.cpp", '"base/dtype.h"', "not in a layer"),
    ],
)
def test_violations_are_reported_with_file_and_line(tmp_path: Path, file: str, include: str, message: str) -> None:
    code, output = check(tmp_path, {file: f"#include {include}\n"})
    assert code == 1
    assert output.startswith(f"{file}:1: ")
    assert message in output


def test_comments_are_ignored_and_lines_counted_through_them(tmp_path: Path) -> None:
    text = '// #include "jit/a.h"\n/* one\n#include "jit/b.h"\n*/\n#  include "jit/c.h"\n'
    assert check(tmp_path, {"src/base/a.h": text}) == (1, 'src/base/a.h:5: "jit/c.h": jit comes after base\n')


def test_every_violation_is_reported(tmp_path: Path) -> None:
    files = {"src/base/a.h": '#include "ir/op.h"\n', "src/loop/b.h": '\n#include "nn/module.h"\n'}
    code, output = check(tmp_path, files)
    assert code == 1
    assert [line.split(": ")[0] for line in output.splitlines()] == ["src/base/a.h:1", "src/loop/b.h:2"]


def test_this_checkout_follows_its_layers() -> None:
    done = subprocess.run([ROOT / "tools" / "check_layers"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
