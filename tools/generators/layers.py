"""Code that follows from the signatures of layers.

Reads layers.json, which the build writes from the constants kName and kSignature in include/lucid/nn/*.h
(docs/decisions/0038-layers-declared-once.md).
"""

import json
import re
import textwrap
from collections.abc import Iterator

from .options import WIDTH, Declared, comment, fitted, option_docs, with_constructors

NOTICE = "// Generated from the signatures of layers by tools/generate; do not edit.\n// clang-format off\n"
# They are passed to build(), or registered as buffers and submodules.
NO_SETTINGS = {"dtype", "tensor", "module"}


class Layer(Declared):
    def constructor(self, sizes):
        """The head and the body of the method __init__."""
        options = self.of_python()
        body = ""
        tensors = [option.name for option in options if option.kind == "tensor"]
        if tensors:
            body += "        super().__init__()\n"
            for name in tensors:
                buffer = "" if name == "weight" else f', "{name}"'
                body += f"        self._set_weight({name}{buffer})\n"
        with_dtype = any(option.kind == "dtype" for option in options)
        arguments = ["dtype", "device=device"] if with_dtype else ["None"]
        arguments += [argument_of(o) for o in options if o.kind not in NO_SETTINGS and o.only != "python"]
        return self.constructor_head(["self"], sizes), body + fitted("self._build(", arguments, ")", "        ")


def argument_of(option):
    """The argument of Module._build()."""
    value = f"{option.same_as} if {option.name} is None else {option.name}" if option.same_as else option.name
    return f"{option.setting}={value}"


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


def listed(names):
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


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


def sources(root, build) -> Iterator[tuple[str, str]]:
    """The files of a build, with their texts."""
    layers = read_layers(build)
    yield from option_headers(root, layers)
    yield "nn/layer_types.cpp", layer_types(layers)
    yield "tests/layers.inc", list_of_types(layers)


def constructors(root, build) -> Iterator[tuple[str, str]]:
    """The files of lucid.nn that hold layers, with their constructors."""
    layers = read_layers(build)
    for path in sorted((root / "python/lucid/nn").glob("*.py")):
        yield str(path.relative_to(root)), with_constructors(path, layers)
