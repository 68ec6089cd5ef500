"""C++ that follows from the op table: the methods of Emitter, the public functions and the methods of Tensor.

Optimizer updates get no methods and no functions: only lucid::optim runs them, by name.
"""

import json
import re
import sys
import textwrap

NOTICE = "// Generated from the op table by tools/generate; do not edit.\n// clang-format off\n"
NOT_CALLED = "optimizer.cpp"

# Sizes and indices may be traced inside the library; its public functions take plain integers.
CPP_TYPES = {
    "bool": "bool",
    "int": "SymInt",
    "axis": "int64_t",
    "float": "double",
    "ints": "Dims",
    "axes": "Dims",
    "dtype": "Dtype",
    "str": "std::string",
}


class Parameter:
    def __init__(self, entry):
        self.name = entry["name"]
        self.kind = entry["kind"]
        self.is_list = self.kind in ("ints", "axes")
        self.optional = entry["optional"]
        self.default = entry.get("default")
        # An optional tensor may be omitted, even without `= None` in its signature.
        self.has_default = "default" in entry or (self.kind == "tensor" and self.optional)

    @property
    def is_attribute(self):
        return self.kind not in ("tensor", "tensors")

    def declaration(self, with_default):
        if self.kind == "tensors":
            return f"std::span<const Value> {self.name}"
        if self.kind == "tensor":
            return f"Operand {self.name}" + (" = {}" if with_default else "")
        cpp = CPP_TYPES[self.kind]
        if self.optional:
            cpp = f"std::optional<{cpp}>"
        if self.is_list or self.kind == "str":
            cpp = f"const {cpp}&"
        return f"{cpp} {self.name}" + (f" = {self.cpp_default()}" if with_default else "")

    def cpp_default(self):
        value = self.default
        if value is None:
            return "std::nullopt"
        if self.is_list:
            return f"Dims{{{', '.join(map(str, value))}}}"
        if self.kind == "str":
            return json.dumps(value)
        if self.kind == "bool":
            return str(value).lower()
        if self.kind == "dtype":
            return "Dtype::" + {"bool": "kBool"}.get(value, "k" + value.upper())
        if value in ("inf", "-inf"):
            return value.replace("inf", "std::numeric_limits<double>::infinity()")
        return repr(value)

    def public_declaration(self, with_default):
        """Declaration as a parameter of the public function."""
        if self.kind == "tensors":
            return f"const std::vector<Tensor>& {self.name}"
        if self.kind == "tensor":
            return f"const Argument& {self.name}" + (" = Argument()" if with_default else "")
        if self.is_list:
            cpp = "OptionalInts" if self.optional else "Ints"
            default = "kNone" if self.default is None else f"{{{', '.join(map(str, self.default))}}}"
            return f"{cpp} {self.name}" + (f" = {default}" if with_default else "")
        cpp = CPP_TYPES[self.kind]
        if self.optional:
            cpp = f"std::optional<{cpp}>"
        if self.kind == "str":
            cpp = f"const {cpp}&"
        return f"{cpp} {self.name}" + (f" = {self.cpp_default()}" if with_default else "")

    def passed_on(self):
        """Converts the argument of the public function to that of the Emitter's method."""
        if self.kind == "tensors":
            return f"values_of({self.name})"
        if self.kind == "tensor":
            return f"operand_of({self.name})"
        return f"dims_of({self.name})" if self.is_list else self.name


class Signature:
    def __init__(self, entry):
        self.name = entry["name"]
        self.text = entry["signature"]
        self.doc = entry["doc"]
        self.results = entry["results"]
        self.many = entry["returns_list"] or bool(self.results)
        self.is_called = entry["file"] != NOT_CALLED
        self.parameters = [Parameter(parameter) for parameter in entry["parameters"]]

    @property
    def returns(self):
        return "Values" if self.many else "Value"

    def first_default(self):
        """Index of the first default that C++ can express: all later parameters must have one too."""
        first = len(self.parameters)
        while first > 0 and self.parameters[first - 1].has_default:
            first -= 1
        return first

    def declaration(self):
        parts = [p.declaration(i >= self.first_default()) for i, p in enumerate(self.parameters)]
        return f"{self.returns} {self.name}({', '.join(parts)})"

    @property
    def result_type(self):
        """The name of the struct of the results, of an op that names them."""
        return "".join(word.capitalize() for word in self.name.split("_")) + "Result"

    @property
    def public_returns(self):
        if self.results:
            return self.result_type
        return "std::vector<Tensor>" if self.many else "Tensor"

    def result_struct(self):
        fields = "".join(f"  Tensor {name};\n" for name in self.results)
        return f"struct {self.result_type} {{\n{fields}}};\n"

    def public_parameters(self, with_defaults, first=0):
        defaults = self.first_default() if with_defaults else len(self.parameters)
        return ", ".join(p.public_declaration(i >= defaults) for i, p in enumerate(self.parameters) if i >= first)

    def public_declaration(self, with_defaults):
        return f"{self.public_returns} {self.name}({self.public_parameters(with_defaults)})"

    def public_definition(self):
        arguments = ", ".join(p.passed_on() for p in self.parameters)
        call = f"eager().{self.name}({arguments})"
        if self.results:
            fields = ", ".join(f"wrap(results[{i}])" for i in range(len(self.results)))
            body = f"  const Values results = {call};\n  return {{{fields}}};\n"
        else:
            body = f"  return wrap({call});\n"
        return f"{self.public_declaration(False)} {{\n{body}}}\n"

    def method_declaration(self):
        return f"{self.public_returns} {self.name}({self.public_parameters(True, first=1)}) const"

    def method_definition(self):
        arguments = ", ".join(["tensor(this)", *(p.name for p in self.parameters[1:])])
        head = f"{self.public_returns} TensorMethods::{self.name}({self.public_parameters(False, first=1)}) const"
        return f"{head} {{\n  return lucid::{self.name}({arguments});\n}}\n"

    def test_call(self, in_place):
        """An entry of the table by which tests call every method: its name, the method, and the method in place."""
        attributes = [p for p in self.parameters if p.is_attribute]
        tensors = [p for p in self.parameters if not p.is_attribute]
        given = []
        for p in self.parameters[1:]:
            if p.is_attribute:
                given.append(f"given.{'optional_' if p.optional else ''}{p.kind}_({attributes.index(p)})")
            else:
                given.append(f"given.{p.kind}_({tensors.index(p)})")
        call = f"({', '.join(given)})"
        pick = ", ".join(f"results.{name}" for name in self.results)
        body = f"const auto results = x.{self.name}{call}; return {{{pick}}};" if self.results else ""
        body = body or f"return list(x.{self.name}{call});"
        given = "[[maybe_unused]] const Given& given"
        method = f"[](const TensorMethods& x, {given}) -> Results {{ {body} }}"
        write = f"[](TensorMethods& x, {given}) {{ x.{self.name}_{call}; }}" if in_place else "nullptr"
        return f'{{"{self.name}", {method}, {write}}},\n'

    def in_place_declaration(self):
        return f"Tensor& {self.name}_({self.public_parameters(True, first=1)})"

    def in_place_definition(self):
        tensors = [p for p in self.parameters[1:] if not p.is_attribute]
        attributes = ", ".join(f"attribute_of({p.passed_on()})" for p in self.parameters if p.is_attribute)
        lines = [f"Tensor& TensorMethods::{self.name}_({self.public_parameters(False, first=1)}) {{"]
        lines.append(f'  static const Op& this_op = op_table().at("{self.name}");')
        lines.append("  SmallVector<Operand, 4> others;")
        for p in tensors:
            if p.kind == "tensors":
                lines.append(f"  for (const Tensor& each : {p.name}) others.push_back(operand_of(each));")
            else:
                lines.append(f"  others.push_back({p.passed_on()});")
        lines.append(f"  return write(this, this_op, others, {{{attributes}}});")
        return "\n".join(lines) + "\n}\n"

    def definition(self):
        parts = [p.declaration(False) for p in self.parameters]
        lines = [f"{self.returns} Emitter::{self.name}({', '.join(parts)}) {{"]
        lines.append(f'  static const Op& this_op = op_table().at("{self.name}");')
        tensors = [p for p in self.parameters if not p.is_attribute]
        if any(p.kind == "tensors" for p in tensors):
            lines.append("  std::vector<Operand> these;")
            for p in tensors:
                if p.kind == "tensors":
                    lines.append(f"  these.insert(these.end(), {p.name}.begin(), {p.name}.end());")
                else:
                    lines.append(f"  these.push_back({p.name});")
            operands = "these"
        elif tensors:
            lines.append(f"  const Operand these[] = {{{', '.join(p.name for p in tensors)}}};")
            operands = "these"
        else:
            operands = "{}"
        attributes = ", ".join(f"attribute_of({p.name})" for p in self.parameters if p.is_attribute)
        function = "emit" if self.many else "emit_one"
        lines.append(f"  return {function}(this_op, {operands}, {{{attributes}}});")
        return "\n".join(lines) + "\n}\n"


def read_signatures(build):
    dump = build / "generated/signatures.json"
    if not dump.exists():
        sys.exit(f"tools/generate: no {dump}; build first, or name a build folder with --build")
    return [Signature(entry) for entry in json.loads(dump.read_text())]


METHODS_SOURCE = """
#include <limits>

#include "ir/emitter.h"
#include "ops/table.h"

namespace lucid {
namespace {

constexpr std::string_view kSignatures[] = {
"""


def emitter_declarations(signatures):
    return NOTICE + "".join(signature.declaration() + ";\n" for signature in signatures)


def emitter_definitions(signatures):
    text = NOTICE + METHODS_SOURCE
    text += "".join(f'    R"({signature.text})",\n' for signature in signatures)
    text += """};

}  // namespace

std::span<const std::string_view> generated_signatures() { return kSignatures; }

"""
    text += "\n".join(signature.definition() for signature in signatures if signature.is_called)
    return text + "\n}  // namespace lucid\n"


PUBLIC_HEADER = """#pragma once

#include <lucid/tensor.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
/// All ops, as functions of tensors and numbers.
namespace lucid {

"""

PUBLIC_SOURCE = """
#include <lucid/ops.h>

#include "tensor/api.h"
#include "tensor/eager.h"

namespace lucid {
namespace {

Values values_of(const std::vector<Tensor>& tensors) {
  Values values;
  for (const Tensor& tensor : tensors) values.push_back(value_of(tensor));
  return values;
}

}  // namespace

"""


def comment_of(signature):
    return "".join(f"/// {line}\n" for line in signature.doc.split("\n\n")[0].splitlines())


def short_comment_of(signature):
    """The first sentence."""
    sentence = (
        re.split(r"\.\s+(?=[A-Z`])", signature.doc.split("\n\n")[0].strip(), maxsplit=1)[0].removesuffix(".") + "."
    )
    return "".join(f"  /// {line}\n" for line in textwrap.wrap(sentence, 114))


def public_declarations(signatures):
    text = NOTICE + PUBLIC_HEADER
    for signature in signatures:
        text += (signature.result_struct() + "\n") if signature.results else ""
        text += comment_of(signature) + signature.public_declaration(True) + ";\n\n"
    return text + "}  // namespace lucid\n#pragma GCC visibility pop\n"


def public_definitions(signatures):
    definitions = "\n".join(signature.public_definition() for signature in signatures)
    return NOTICE + PUBLIC_SOURCE + definitions + "\n}  // namespace lucid\n"


METHODS_HEADER = """#pragma once

#include <lucid/argument.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace lucid {

"""

METHODS_DOC = """\
/// The ops that are methods of Tensor, which derives from this class. Each one is the function of lucid/ops.h whose
/// first argument is the tensor. Those whose names end with _ write the result into the tensor and return it.
class TensorMethods {
 public:
"""

TENSOR_METHODS_SOURCE = """
#include <lucid/ops.h>

#include "ir/op.h"
#include "tensor/api.h"
#include "tensor/inplace.h"

namespace lucid {
namespace {

const Tensor& tensor(const TensorMethods* methods) { return *static_cast<const Tensor*>(methods); }

Tensor& write(TensorMethods* methods, const Op& op, const SmallVector<Operand, 4>& others,
              const Attributes& attributes) {
  Tensor& self = *static_cast<Tensor*>(methods);
  in_place(op, unwrap(self), {others.data(), others.size()}, attributes);
  return self;
}

}  // namespace

"""


def read_names(build):
    """Where the ops are visible: a list of ops for each kind of name."""
    return json.loads((build / "generated/names.json").read_text())


def method_declarations(methods, in_place):
    text = NOTICE + METHODS_HEADER
    text += "".join(f"struct {signature.result_type};\n" for signature in methods if signature.results) + "\n"
    text += METHODS_DOC
    for signature in methods:
        text += short_comment_of(signature) + f"  {signature.method_declaration()};\n"
        text += f"  {signature.in_place_declaration()};\n" if signature in in_place else ""
    return text + "};\n\n}  // namespace lucid\n#pragma GCC visibility pop\n"


def method_definitions(methods, in_place):
    text = NOTICE + TENSOR_METHODS_SOURCE
    for signature in methods:
        text += signature.method_definition() + "\n"
        text += signature.in_place_definition() + "\n" if signature in in_place else ""
    return text + "}  // namespace lucid\n"


def method_calls(methods, in_place):
    return NOTICE + "".join(signature.test_call(signature in in_place) for signature in methods)


def sources(root, build):
    """The files that follow from the signatures, with their texts."""
    signatures = read_signatures(build)
    called = [signature for signature in signatures if signature.is_called]
    yield "ir/emitter_methods.inc", emitter_declarations(called)
    yield "ops/emitter_methods.cpp", emitter_definitions(signatures)
    yield "include/lucid/ops.h", public_declarations(called)
    yield "tensor/ops.cpp", public_definitions(called)


def method_sources(build):
    """The files that follow from the names of the compiled op table."""
    names = read_names(build)
    signatures = read_signatures(build)
    methods, in_place = ([s for s in signatures if s.name in names[kind]] for kind in ("methods", "in_place"))
    yield "include/lucid/tensor_methods.h", method_declarations(methods, in_place)
    yield "tensor/methods.cpp", method_definitions(methods, in_place)
    yield "tests/method_calls.inc", method_calls(methods, in_place)
