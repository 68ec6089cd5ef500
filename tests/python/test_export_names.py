"""Names of targets, outputs, functions and object files that lucid.export writes."""

import shutil
import subprocess
from pathlib import Path

import lucid
import pytest
from exporting import check

HEADERS = Path(__file__).parents[2] / "include"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


# ---- Targets.


def test_targets_that_are_listed_twice(path):
    check(lambda: lambda x: x + 1, lucid.ones(3), path, targets=["scalar", "scalar"])


@pytest.mark.parametrize("targets", ["avx2", 3, [3], [None], [["avx2"]]])
def test_targets_that_are_no_names(targets, path):
    with pytest.raises(TypeError, match=r"lucid\.export: targets must be a list.*, such as \['?\"?avx2|got 3"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path, targets=targets)
    assert not path.exists()


def test_target_that_is_no_text(path):
    with pytest.raises(ValueError, match="is not a target"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path, targets=["\ud800"])


# ---- Outputs and functions.


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda x: {"a": [x + 1], "output0": x + 2}, ["output0", "output1"]),
        (lambda x: {"output1": x + 1, "output0": x + 2}, ["output0", "output1"]),
        (lambda x: {"output0": x + 1, "a": [x + 2]}, ["output0", "output1"]),
        (lambda x: {"output7": x + 1, "outputs": x + 2}, ["output0", "outputs"]),
        (lambda x: {"\ud800": x + 1}, ["\\ud800"]),
    ],
)
def test_names_of_outputs(function, names, path):
    program = check(lambda: function, lucid.ones(3), path)
    assert program.outputs == [f"{name}: f32[3]" for name in names]


@pytest.mark.parametrize(("name", "shown"), [(5, "function"), ("\ud800", "\\ud800")])
def test_name_of_the_function(name, shown, path):
    class Function:
        def __call__(self, x):
            return x + 1

    function = Function()
    function.__name__ = name
    assert check(lambda: function, lucid.ones(3), path).name == shown.replace("function", "Function")


# ---- Object files.


def export_object(path):
    lucid.export(lambda x: x + 1, lucid.ones(3), path, ahead_of_time=True)


@pytest.mark.parametrize("name", ["model.h", "model", "model.obj", "model.c"])
def test_suffix_of_an_object_file(name, tmp_path):
    with pytest.raises(ValueError, match=r"ahead_of_time=True writes an object file; end its name in \.o"):
        export_object(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    [
        "int", "class", "co_await", "restrict", "main", "printf", "memcpy", "sin", "index", "NULL", "EOF", "INT32_MAX",
        "size_t", "_start", "__model", "lucid_program_open", "1a", "r\u00e9sum\u00e9", "\udcff", "a+b", "a\nb",
    ],
)  # fmt: skip
def test_names_that_c_cannot_use(name, tmp_path):
    with pytest.raises(ValueError, match=r"names a variable in C, whose name must.*such as my_model\.o"):
        export_object(tmp_path / f"{name}.o")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_headers_of_object_files(tmp_path):
    names = {"lucid": "lucid", "my-model.v2": "my_model_v2", "Model": "Model", "model": "model"}
    for name in names:
        export_object(tmp_path / f"{name}.o")
    lines = [f'#include "{name}.h"' for name in names]
    uses = [f"&{symbol}" for symbol in names.values()]
    lines.append(f"const lucid_linked_program* all[] = {{{', '.join(uses)}}};")
    source = tmp_path / "uses.c"
    source.write_text("\n".join(lines) + "\n")
    compiled = subprocess.run(
        ["cc", "-std=c99", "-Werror", "-fsyntax-only", f"-I{HEADERS}", source],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr
