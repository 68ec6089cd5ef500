"""Type stubs of the Python package: the op table, the template stubs.pyi.in, and the names of __init__.py."""

import ast
import itertools
import json
import pathlib
import re

from .ops import read_names

NOTICE = "# Generated from the op table by tools/generate; do not edit.\n# fmt: off\n# ruff: noqa\n"
TYPES = {
    "tensor": "TensorLike",
    "tensors": "Sequence[TensorLike]",
    "bool": "builtins.bool",
    "int": "builtins.int",
    "axis": "builtins.int",
    "float": "builtins.float",
    "ints": "Ints",
    "axes": "Ints",
    "dtype": "DtypeLike",
    "str": "str",
}
ALPHA = ["alpha: TensorLike = ..."]
FACTORY = ["device: DeviceLike = ...", "requires_grad: builtins.bool = ..."]


class Parameter:
    def __init__(self, entry):
        self.name = entry["name"]
        self.aliases = entry["aliases"]
        self.type = TYPES[entry["kind"]] + (" | None" if entry["optional"] else "")
        self.has_default = "default" in entry or (entry["kind"] == "tensor" and entry["optional"])
        # The type of one element, for parameters that may be spread over several positional arguments.
        self.element = {"ints": "builtins.int", "axes": "builtins.int", "tensors": "TensorLike"}.get(entry["kind"])
        self.is_spread = entry["spread"] or entry["kind"] == "tensors"

    def spellings(self):
        """Declarations of the parameter: one for each of its names if it is required, one if it is optional."""
        if self.has_default:
            return [f"{self.name}: {self.type} = ..."]
        return [f"{name}: {self.type}" for name in (self.name, *self.aliases)]

    def others(self):
        """Declarations of its aliases, if it is optional."""
        return [f"{name}: {self.type} = ..." for name in self.aliases] if self.has_default else []


class Function:
    """The stub of one op."""

    def __init__(self, entry):
        self.name = entry["name"]
        parameters = [(Parameter(parameter), parameter["keyword_only"]) for parameter in entry["parameters"]]
        self.positional = [parameter for parameter, keyword_only in parameters if not keyword_only]
        self.keywords = [parameter for parameter, keyword_only in parameters if keyword_only]
        self.fields = entry["results"]
        self.returns = "Tensor"
        if entry["returns_list"]:
            self.returns = "tuple[Tensor, ...]"
        elif self.fields:
            self.returns = f"return_types.{self.name}"

    def variants(self, method, extras):
        """Parameter lists: one per combination of names of the required parameters, and one with spread arguments."""
        positional = self.positional[1:] if method else self.positional
        others = [other for p in positional + self.keywords for other in p.others()]
        for spelt in itertools.product(*(p.spellings() for p in positional + self.keywords)):
            keywords = [*spelt[len(positional) :], *others, *extras]
            yield [*spelt[: len(positional)], *(["*", *keywords] if keywords else [])]
        for i, p in enumerate(positional):
            if p.is_spread:
                before = [p.spellings()[0] for p in positional[:i]]
                after = [f"{p.name}: {p.type} = ..." for p in positional[i + 1 :]]
                keywords = [p.spellings()[0] for p in self.keywords]
                yield [*before, f"*{p.name}: {p.element}", *after, *keywords, *others, *extras]

    def declare(self, name=None, method=False, extras=(), returns=None, indent=""):
        variants = list(self.variants(method, extras))
        lines = []
        for variant in variants:
            if len(variants) > 1:
                lines.append(f"{indent}@overload")
            arguments = ", ".join((["self"] if method else []) + variant)
            lines.append(f"{indent}def {name or self.name}({arguments}) -> {returns or self.returns}: ...")
        return "\n".join(lines) + "\n"


class Table:
    """The stubs of all ops, and where the ops are visible."""

    def __init__(self, build):
        entries = json.loads((build / "generated/signatures.json").read_text())
        self.functions = {entry["name"]: Function(entry) for entry in entries}
        self.names = read_names(build)

    def extras(self, name):
        """Declarations of the keywords that the function takes in addition to the op's parameters."""
        if name in self.names["factories"]:
            return FACTORY
        return ALPHA if name in self.names["takes_alpha"] else ()

    def methods(self, declared):
        """Those of Tensor that are not declared by hand."""
        found = [(name, name, {}) for name in self.names["methods"]]
        found += [(f"{name}_", name, {"returns": "Self"}) for name in self.names["in_place"]]
        return "".join(
            self.functions[name].declare(method, method=True, extras=self.extras(name), indent="    ", **returns)
            for method, name, returns in sorted(found)
            if method not in declared
        )

    def public_functions(self, declared):
        names = (name for name in sorted(self.names["public"]) if name not in declared)
        return "".join(self.functions[name].declare(extras=self.extras(name)) for name in names)


def core_stub(table):
    template = pathlib.Path(__file__).with_suffix(".pyi.in").read_text()
    classes = {node.name: node for node in ast.parse(template).body if isinstance(node, ast.ClassDef)}
    by_hand = {node.name for node in classes["Tensor"].body if isinstance(node, ast.FunctionDef)}
    return NOTICE + template.replace("    # methods of the op table\n", table.methods(by_hand))


def results_stub(table):
    text = NOTICE + "from typing import NamedTuple\n\nfrom ._core import Tensor\n"
    for name, function in table.functions.items():
        if function.fields:
            text += f"\nclass {name}(NamedTuple):\n" + "".join(f"    {field}: Tensor\n" for field in function.fields)
    return text


def imports_of(package):
    """The names that the package imports, each with its module."""
    for module, names in re.findall(r"^ *from (\.\w*) import (\([^)]*\)|.+)$", package.read_text(), re.MULTILINE):
        for name in re.findall(r"\w+", names.split("#")[0]):
            yield name, module


def package_stub(table, package):
    imports = list(imports_of(package))
    text = NOTICE + "import builtins\nfrom collections.abc import Sequence\nfrom typing import overload\n\n"
    # Written as explicit re-exports.
    text += "".join(f"from {module} import {name} as {name}\n" for name, module in imports)
    text += "from ._core import DeviceLike, DtypeLike, Ints, TensorLike\n\n__version__: str\n\n"
    return text + table.public_functions(dict(imports))


def sources(root, build):
    """The stubs, with their texts."""
    table = Table(build)
    yield "python/_core.pyi", core_stub(table)
    yield "python/return_types.pyi", results_stub(table)
    yield "python/__init__.pyi", package_stub(table, root / "python/lucid/__init__.py")
