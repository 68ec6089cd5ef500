"""tools/generators on small dumps: the options of layers in C++, and their constructors in Python."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
LAYERS = importlib.import_module("generators.layers")
OPTIM = importlib.import_module("generators.optim")

SCALE = '''"""Layers."""

_Sizes = int | Sequence[int]


@layer
class Scale(Module):
    """Multiplies by a learned number.

    Args:
        init: Initial value of the
            number.
    """

    weight: Any
'''


def option(name: str, kind: str, default: str | None = None, **others: Any) -> dict[str, Any]:
    entry = {"name": name, "kind": kind, "only": "", "optional": False, "private": False, "keyword_only": False}
    return {**entry, "required": default is None, **({} if default is None else {"default": default}), **others}


def layer(name: str, *options: dict[str, Any]) -> Any:
    return LAYERS.Layer({"name": name, "file": "x.h", "has_signature": True, "parameters": list(options)})


def constructed(folder: Path, source: str, *layers: Any) -> str:
    """The source with the constructors of the layers."""
    path = folder / "x.py"
    path.write_text(source)
    text: str = LAYERS.with_constructors(path, layers)
    path.write_text(text)
    assert LAYERS.with_constructors(path, layers) == text
    return text


INIT = option("init", "float", "1.0")
DTYPE = option("dtype", "dtype", "None", optional=True)


def test_a_new_layer_gets_a_constructor(tmp_path: Path) -> None:
    text = constructed(tmp_path, SCALE, layer("Scale", INIT, DTYPE))
    assert text == SCALE + (
        "\n    def __init__(self, init: float = 1.0, device: Any = None, dtype: Any = None) -> None:\n"
        "        self._build(dtype, device=device, init=init)\n"
    )


def test_a_changed_signature_replaces_the_constructor(tmp_path: Path) -> None:
    before = constructed(tmp_path, SCALE, layer("Scale", INIT)) + "\n    def other(self) -> None: ...\n"
    after = constructed(tmp_path, before, layer("Scale", INIT, option("size", "sizes", "None", optional=True)))
    assert "def __init__(self, init: float = 1.0, size: _Sizes | None = None) -> None:\n" in after
    assert "self._build(None, init=init, size=size)\n\n    def other" in after


def test_a_body_by_hand_stays(tmp_path: Path) -> None:
    source = SCALE + "\n    # By hand: it checks.\n    def __init__(self) -> None:\n        check(init)\n"
    text = constructed(tmp_path, source, layer("Scale", INIT))
    assert "# By hand: it checks.\n    def __init__(self, init: float = 1.0) -> None:\n        check(init)\n" in text


def test_layers_share_the_constructor_of_their_base(tmp_path: Path) -> None:
    source = "class _Base(Module):\n    def __init__(self) -> None: ...\n\n"
    source += '@layer\nclass A(_Base):\n    """A."""\n\n\n@layer\nclass B(_Base):\n    """B."""\n'
    text = constructed(tmp_path, source, layer("A", INIT), layer("B", INIT))
    assert text.count("init: float = 1.0") == 1
    with pytest.raises(SystemExit, match="_Base has classes with different signatures"):
        constructed(tmp_path, source, layer("A", INIT), layer("B", DTYPE))


def test_options_reach_the_settings_or_the_buffers(tmp_path: Path) -> None:
    options = [
        option("weight", "tensor", "None", optional=True),
        option("pos_weight", "tensor", "None", optional=True),
        option("bias", "bool", "True", private=True),
        option("stride", "sizes", "None", optional=True, same_as="bias"),
        option("only_here", "bool", "False", only="python"),
        option("only_there", "bool", "False", only="cpp"),
        option("last", "str", '"a"', keyword_only=True),
    ]
    text = constructed(tmp_path, SCALE, layer("Scale", *options))
    assert 'only_here: bool = False,\n        *,\n        last: str = "a",\n    ) -> None:\n' in text
    assert text.endswith(
        "        super().__init__()\n"
        "        self._set_weight(weight)\n"
        '        self._set_weight(pos_weight, "pos_weight")\n'
        "        self._build(None, _bias=bias, stride=bias if stride is None else stride, last=last)\n"
    )


def test_options_are_structs_with_the_comments_of_python(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(SCALE)
    docs = LAYERS.option_docs(tmp_path)
    options = [INIT, option("bias", "bool", "True", private=True), option("shape", "ints"), DTYPE]
    text = LAYERS.struct_text("ScaleOptions", [layer("Scale", *options), layer("Shift", *options)], docs)
    assert text == (
        "/// Options of Scale and Shift.\n"
        "struct ScaleOptions {\n"
        "  /// Initial value of the number.\n"
        "  double init = 1.0;\n"
        "  bool bias = true;\n"
        "  Sizes shape = {};\n"
        "  std::optional<Dtype> dtype = std::nullopt;\n"
        "\n"
        "  void fields(auto& visit) {\n"
        '    visit("init", init);\n'
        '    visit("_bias", bias);\n'
        '    visit("shape", shape);\n'
        "  }\n"
        "};\n"
    )
    with pytest.raises(SystemExit, match="share ScaleOptions, but their options differ"):
        LAYERS.struct_text("ScaleOptions", [layer("Scale", INIT), layer("Shift", DTYPE)], docs)


def test_classes_name_their_options_or_a_base_does() -> None:
    header = (
        "class A : public OptionsLayer<A, AOptions> {\n};\n"
        "class Base : public Module {\n  using Options = BaseOptions;\n};\n"
        "class B : public Layer<B, Base> {\n};\n"
    )
    assert LAYERS.structs_of_classes(header) == {"A": "AOptions", "Base": "BaseOptions", "B": "BaseOptions"}


def test_the_list_of_layers_has_all_of_them() -> None:
    text = LAYERS.layer_types([layer(f"Layer{i}") for i in range(40)])
    assert text.count("Layer3") == 11
    assert max(map(len, text.splitlines())) <= 120


def test_a_new_layer_is_a_class_in_cpp_and_one_in_python(tmp_path: Path) -> None:
    for folder in ("include/lucid/nn", "python/lucid/nn"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    header, package = tmp_path / "include/lucid/nn/linear.h", tmp_path / "python/lucid/nn/linear.py"
    header.write_text(header.read_text() + "class Scale : public OptionsLayer<Scale, ScaleOptions> {\n};\n")
    package.write_text(package.read_text() + SCALE.partition("\n\n\n")[2])
    dump = tmp_path / "generated/layers.json"
    dump.parent.mkdir()
    entry = {"name": "Scale", "file": "linear.h", "has_signature": True, "parameters": [INIT, DTYPE]}
    dump.write_text(json.dumps([entry]))
    files = {**dict(LAYERS.constructors(tmp_path, tmp_path)), **dict(LAYERS.sources(tmp_path, tmp_path))}
    before = {name: (tmp_path / name).read_text() for name in files if (tmp_path / name).exists()}
    changed = {name: text for name, text in files.items() if text != before.get(name)}
    options = changed.pop("include/lucid/nn/options/linear.h")
    assert "struct ScaleOptions {\n  /// Initial value of the number.\n  double init = 1.0;\n" in options
    assert "    def __init__(self, init: float = 1.0, device: Any" in changed.pop("python/lucid/nn/linear.py")
    assert "layer_types_of<\n    Scale>()" in changed.pop("nn/layer_types.cpp")
    assert changed.keys() == {"tests/layers.inc"}


OPTIMIZER = {
    "name": "Plain",
    "file": "rules_plain.cpp",
    "has_signature": True,
    "parameters": [
        option("lr", "rate", "1e-3"),
        option("betas", "pair", "(0.9, 0.99)"),
        option("foreach", "bool", "None", optional=True, only="python", keyword_only=True),
    ],
}


def test_an_optimizer_is_a_struct_and_an_entry_of_the_defaults() -> None:
    optimizer = OPTIM.Optimizer(OPTIMIZER)
    assert optimizer.struct("Steps.\n\nArgs:\n    lr: Rate.\n") == (
        "struct PlainOptions {\n"
        '  static constexpr const char* kName = "Plain";\n'
        "  /// Rate.\n"
        "  double lr = 1e-3;\n"
        "  std::pair<double, double> betas = {0.9, 0.99};\n"
        "  Tree::Dict dict() const;\n"
        "};\n"
        "/// Steps.\n"
        "using Plain = BuiltIn<PlainOptions>;\n"
    )
    assert '{"lr", tree_of(lr)}, {"betas", tree_of(betas)}}; }' in optimizer.dict()
    assert '{"Plain", {{"lr", 1e-3}, {"betas", Tree::Tuple{{0.9, 0.99}}}, {"foreach", {}}}},' in optimizer.defaults()


def test_constructors_of_optimizers_pass_their_arguments_on(tmp_path: Path) -> None:
    text = constructed(tmp_path, 'class Plain(Optimizer):\n    """Steps."""\n', OPTIM.Optimizer(OPTIMIZER))
    assert "        params: Params,\n        lr: float | Tensor = 1e-3,\n" in text
    assert "= (0.9, 0.99),\n        *,\n        foreach: bool | None = None,\n    ) -> None:\n" in text
    assert text.endswith("        super().__init__(params, _options(locals()))\n")


def test_schedules_know_which_numbers_are_given_and_keep_their_epoch() -> None:
    parameters = [
        option("size", "int"),
        option("by", "function", "None", optional=True),
        option("last_epoch", "int", "-1"),
    ]
    entry = {"name": "Plain", "file": "schedule_rules.cpp", "has_signature": True, "parameters": parameters}
    schedule = OPTIM.Optimizer(entry)
    text = schedule.struct("Waits.")
    assert "  std::optional<int64_t> size = std::nullopt;\n  std::function<double(int64_t)> by = nullptr;\n" in text
    assert text.endswith("using Plain = BuiltInSchedule<PlainOptions>;\n")
    assert schedule.defaults() == '      {"Plain", {{"size", {}}}},\n'
    assert "tree_of(last_epoch)" in schedule.dict()
    assert "by" not in schedule.dict()


def test_nothing_else_lists_layers() -> None:
    """The header and the Python file of a layer name it."""
    package = ROOT / "python/lucid/nn"
    names = [
        name for path in package.glob("*.py") for name in re.findall(r"^@layer\nclass (\w+)", path.read_text(), re.M)
    ]
    command = ["git", "ls-files", "--", "*.h", "*.cpp", "*.py", "*.cmake", "tools"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    texts = {file: set(re.findall(r"\w+", (ROOT / file).read_text())) for file in listed}
    places = {name: {file for file, words in texts.items() if name in words} for name in names}
    assert len(places) > 100
    least = min(places.values(), key=len)
    assert {re.sub(r"\w+\.", "*.", file) for file in least} == {
        "include/lucid/nn/*.h",
        "python/lucid/nn/*.py",
    }
