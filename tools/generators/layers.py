"""Code that follows from the signatures of layers.

Reads layers.json, which the build writes from the constants kName and kSignature in include/lucid/nn/*.h
(docs/decisions/0038-layers-declared-once.md). The comments of options are the arguments in Python's docstrings.
"""

import ast
import json
import pathlib
import re
import textwrap
from collections.abc import Iterator

WIDTH = 120
NOTICE = "// Generated from the signatures of layers by tools/generate; do not edit.\n// clang-format off\n"
# The type in C++, and the annotation in Python.
KINDS = {
    "bool": ("bool", "bool"),
    "int": ("int64_t", "int"),
    "float": ("double", "float"),
    "str": ("std::string", "str"),
    "dtype": ("Dtype", "Any"),
    "ints": ("Sizes", "_Sizes"),
    "sizes": ("Setting", "_Sizes"),
    "shape": ("Sizes", "tuple[int, ...]"),
    "sizes_or_str": ("Setting", "_Sizes | str"),
    "open_sizes": ("Setting", "int | Sequence[int | None]"),
    "factors": ("Setting", "float | Sequence[float]"),
    "item": ("Item", "Any"),
    "tensor": ("Tensor", "Tensor"),
    "module": ("Ptr<Module>", "Module"),
}
# What they are without a default. Values of the other kinds are empty.
ZEROS = {"bool": "false", "int": "0", "float": "0.0"}
# They have a value for None.
NULLABLE = {"sizes", "factors", "tensor", "module"}
# They are passed to build(), or registered as buffers and submodules.
NO_SETTINGS = {"dtype", "tensor", "module"}


class Option:
    def __init__(self, entry):
        self.name = entry["name"]
        self.kind = entry["kind"]
        self.only = entry["only"]
        self.optional = entry["optional"]
        self.required = entry["required"]
        self.keyword_only = entry["keyword_only"]
        self.default = entry.get("default")
        self.same_as = entry.get("same_as")
        # The name among the settings of the module.
        self.setting = ("_" if entry["private"] else "") + self.name
        if self.kind == "float" and self.default is not None:
            self.default = float_text(self.default)

    def in_cpp(self):
        """The declaration in the struct of options."""
        cpp = KINDS[self.kind][0]
        if self.optional and self.kind not in NULLABLE:
            cpp = f"std::optional<{cpp}>"
        return f"{cpp} {self.name} = {self.cpp_default()};"

    def cpp_default(self):
        if self.default is None or self.kind == "tensor":
            return ZEROS.get(self.kind, "{}")
        if self.default == "None":
            return "nullptr" if self.kind == "module" else "kNone" if self.kind in NULLABLE else "std::nullopt"
        return {"True": "true", "False": "false"}.get(self.default, self.default)

    def in_python(self, sizes):
        """The declarations in the signature of Python."""
        if self.kind == "dtype":
            return ["device: Any = None", "dtype: Any = None"]
        annotation = KINDS[self.kind][1].replace("_Sizes", sizes) + (" | None" if self.optional else "")
        return [f"{self.name}: {annotation}" + ("" if self.required else f" = {self.default}")]

    def argument(self):
        """The argument of Module._build()."""
        value = f"{self.same_as} if {self.name} is None else {self.name}" if self.same_as else self.name
        return f"{self.setting}={value}"


def float_text(text):
    """A float as people write it: 1e-5, not 1e-05."""
    return text.replace("e-0", "e-") if re.search(r"[.en]", text) else text + ".0"


class Layer:
    def __init__(self, entry):
        self.name = entry["name"]
        self.file = pathlib.Path(entry["file"]).stem
        self.has_signature = entry["has_signature"]
        self.options = [Option(parameter) for parameter in entry["parameters"]]

    def of_cpp(self):
        return [option for option in self.options if option.only != "python"]

    def of_python(self):
        return [option for option in self.options if option.only != "cpp"]


def read_layers(build):
    return [Layer(entry) for entry in json.loads((build / "generated/layers.json").read_text())]


def list_of_types(layers):
    """The layers with options, for tests."""
    return NOTICE + ", ".join(layer.name for layer in layers if layer.has_signature) + "\n"


def layer_types(layers):
    """The source file that lists all layers."""
    names = textwrap.indent(textwrap.fill(", ".join(layer.name for layer in layers), WIDTH - 8), "    ")
    return (
        NOTICE
        + f"""
#include <lucid/nn.h>

namespace lucid::nn {{

const std::vector<LayerType>& layer_types() {{
  // Never destroyed: used until the process ends.
  static const auto& all = *new std::vector<LayerType>(layer_types_of<
{names}>());
  return all;
}}

}}  // namespace lucid::nn
"""
    )


# The structs of options.


def structs_of_classes(text):
    """The struct of options that each class of a header takes: named by the class, or by one of its bases."""
    found, bases = {}, {}
    for name, base, body in re.findall(r"^class (\w+)(?: : public (.*?))? \{\n(.*?)^\};", text, re.M | re.S):
        bases[name] = re.findall(r"\w+", base)
        struct = re.search(r"\b(\w+Options)\b", base) or re.search(r"using Options = (\w+Options);", body)
        if struct:
            found[name] = struct[1]
        for word in bases[name]:
            if name not in found and word in found:
                found[name] = found[word]
    return found


def arguments_of(docstring):
    """The descriptions in the section Args of a docstring, by name."""
    section = re.search(r"^Args:\n((?:    .*\n|\n)*)", docstring + "\n", re.M)
    found, name = {}, None
    for line in textwrap.dedent(section[1]).splitlines() if section else ():
        if match := re.match(r"(\w+): (.*)", line):
            name = match[1]
            found[name] = match[2]
        elif line.strip():
            found[name] += " " + line.strip()
    return found


def option_docs(package):
    """The descriptions of arguments, by class and name. Those of the first class of a file serve its other ones."""
    docs = {}
    for path in sorted(package.glob("*.py")):
        first = {}
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                own = arguments_of(ast.get_docstring(node) or "")
                first = {**own, **first}
                docs[node.name] = (own, first)
    return docs


def listed(names):
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def comment(text, indent):
    lines = textwrap.wrap(text, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{indent}/// {line}\n" for line in lines)


def struct_text(name, layers, docs):
    options = layers[0].of_cpp()
    for layer in layers[1:]:
        if [option.in_cpp() for option in layer.of_cpp()] != [option.in_cpp() for option in options]:
            raise SystemExit(
                f"tools/generate: {layer.name} and {layers[0].name} share {name}, but their options differ"
            )
    text = comment(f"Options of {listed([layer.name for layer in layers])}.", "") + f"struct {name} {{\n"
    for option in options:
        own = [docs[layer.name][i].get(option.name) for i in (0, 1) for layer in layers if layer.name in docs]
        text += comment(next(filter(None, own), ""), "  ") + f"  {option.in_cpp()}\n"
    visits = [f'visit("{o.setting}", {o.name});' for o in options if o.kind not in NO_SETTINGS]
    text += (
        "\n  void fields(auto& visit) {\n" + "".join(f"    {visit}\n" for visit in visits) + "  }\n" if visits else ""
    )
    return text + "};\n"


def option_headers(root, layers) -> Iterator[tuple[str, str]]:
    """The public headers with the structs of options, one for each header with layers."""
    docs = option_docs(root / "python/lucid/nn")
    for file in sorted({layer.file for layer in layers if layer.has_signature}):
        known = structs_of_classes((root / f"include/lucid/nn/{file}.h").read_text())
        structs = {}
        for layer in layers:
            if layer.file == file and layer.has_signature:
                structs.setdefault(known[layer.name], []).append(layer)
        text = NOTICE + '#pragma once\n\n#include "lucid/nn/layer.h"\n\n'
        text += "#pragma GCC visibility push(default)\nnamespace lucid::nn {\n\n"
        text += "\n".join(struct_text(name, sharing, docs) for name, sharing in structs.items())
        yield f"include/lucid/nn/options/{file}.h", text + "\n}  // namespace lucid::nn\n#pragma GCC visibility pop\n"


# Python's constructors.


def fitted(before, parts, after, indent):
    """`before` + parts + `after` as ruff formats it: in one line, the parts in one line, or a line for each part."""
    flat = indent + before + ", ".join(parts) + after
    if len(flat) <= WIDTH:
        return flat + "\n"
    inner = indent + "    " + ", ".join(parts)
    if len(inner) <= WIDTH:
        return f"{indent}{before}\n{inner}\n{indent}{after}\n"
    return f"{indent}{before}\n" + "".join(f"{indent}    {part},\n" for part in parts) + f"{indent}{after}\n"


def constructor(layer, sizes):
    """The head and the body of the method __init__ of a layer."""
    options = layer.of_python()
    parameters = ["self"]
    for option in options:
        if option.keyword_only and "*" not in parameters:
            parameters.append("*")
        parameters += option.in_python(sizes)
    body = ""
    tensors = [option.name for option in options if option.kind == "tensor"]
    if tensors:
        body += "        super().__init__()\n"
        for name in tensors:
            buffer = "" if name == "weight" else f', "{name}"'
            body += f"        self._set_weight({name}{buffer})\n"
    with_dtype = any(option.kind == "dtype" for option in options)
    arguments = ["dtype", "device=device"] if with_dtype else ["None"]
    arguments += [o.argument() for o in options if o.kind not in NO_SETTINGS and o.only != "python"]
    body += fitted("self._build(", arguments, ")", "        ")
    return fitted("def __init__(", parameters, ") -> None:", "    "), body


def methods_of(node):
    return {child.name: child for child in node.body if isinstance(child, ast.FunctionDef)}


def is_by_hand(lines, method):
    return lines[method.lineno - 2].strip().startswith("# By hand:")


def with_constructors(path, layers):
    """The text of a Python file, with the __init__ methods of its layers up to date.

    A method belongs to the class, or to the base of its file that has one. Below a comment `# By hand: ...` only its
    parameters follow from the signature, not its body.
    """
    source = path.read_text()
    lines = source.splitlines(keepends=True)
    sizes = "_Sizes" if re.search(r"^_Sizes = ", source, re.M) else "int | Sequence[int]"
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}

    def owner_of(node):
        for base in [node.name, *(base.id for base in node.bases if isinstance(base, ast.Name))]:
            if base == node.name and "__init__" in methods_of(node):
                return node
            if base != node.name and base.startswith("_") and base in classes and (found := owner_of(classes[base])):
                return found
        return None

    changes = {}
    for layer in layers:
        node = classes.get(layer.name)
        if node is None or not layer.of_python():
            continue
        owner = owner_of(node)
        head, body = constructor(layer, sizes)
        text = head + body
        if owner is None:
            fixed = [child for child in node.body if not isinstance(child, ast.FunctionDef)]
            begin = end = fixed[-1].end_lineno
            text = "\n" + text
        else:
            method = methods_of(owner)["__init__"]
            begin, end = method.lineno - 1, method.end_lineno
            if is_by_hand(lines, method):
                text, end = head, method.body[0].lineno - 1
        if changes.setdefault((begin, end), text) != text:
            raise SystemExit(f"tools/generate: {path}: {owner.name} has layers with different signatures")
    for (begin, end), text in sorted(changes.items(), reverse=True):
        lines[begin:end] = [text]
    return "".join(lines)


def constructors(root, layers) -> Iterator[tuple[str, str]]:
    """The files of lucid.nn that hold layers."""
    for path in sorted((root / "python/lucid/nn").glob("*.py")):
        yield str(path.relative_to(root)), with_constructors(path, layers)


def sources(build) -> Iterator[tuple[str, str]]:
    """The files of a build, with their texts."""
    layers = read_layers(build)
    yield "nn/layer_types.cpp", layer_types(layers)
    yield "tests/layers.inc", list_of_types(layers)


def committed(root, build) -> Iterator[tuple[str, str]]:
    layers = read_layers(build)
    yield from option_headers(root, layers)
    yield from constructors(root, layers)
