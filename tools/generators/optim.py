"""Code that follows from the signatures of optimizers and learning rate schedules.

Reads optim.json, which the build writes from the names and signatures in src/optim
(docs/decisions/0038-layers-declared-once.md).
"""

import ast
import json
from collections.abc import Iterator

from .options import KINDS, ZEROS, Declared, Option, arguments_of, comment, cpp_literal, with_constructors

NOTICE = "// Generated from the signatures in src/optim by tools/generate; do not edit.\n// clang-format off\n"
PYTHON = ("python/lucid/optim/optimizers.py", "python/lucid/optim/lr_scheduler.py")


class Value(Option):
    """An option that is a plain value. Which numbers are given is known, even if they have no default."""

    def in_cpp(self):
        if self.required and self.kind in ZEROS:
            return f"std::optional<{KINDS[self.kind][0]}> {self.name} = std::nullopt;"
        return super().in_cpp()

    def default_value(self):
        """The default as a Tree."""
        if self.default in (None, "None"):
            return "{}"
        tuple_of = "Tree::Tuple{%s}" if self.kind in ("pair", "triple") else "%s"
        return tuple_of % cpp_literal(self.default)


class Optimizer(Declared):
    """An optimizer, or a schedule."""

    def __init__(self, entry):
        super().__init__(entry, Value)
        self.is_schedule = self.file.startswith("schedule")

    def constructor(self, sizes):
        """The head and the body of the method __init__."""
        if self.is_schedule:
            return self.constructor_head(["self", "optimizer: Optimizer"]), (
                "        self._make(optimizer, _options(locals()))\n"
            )
        return self.constructor_head(["self", "params: Params"]), (
            "        super().__init__(params, _options(locals()))\n"
        )

    def struct(self, docstring):
        """The options in C++, and the class that takes them."""
        docs = arguments_of(docstring)
        text = f'struct {self.name}Options {{\n  static constexpr const char* kName = "{self.name}";\n'
        for option in self.of_cpp():
            text += comment(docs.get(option.name, ""), "  ") + f"  {option.in_cpp()}\n"
        base = "BuiltInSchedule" if self.is_schedule else "BuiltIn"
        summary = comment(docstring.split("\n\n")[0], "")
        return text + f"  Tree::Dict dict() const;\n}};\n{summary}using {self.name} = {base}<{self.name}Options>;\n"

    def dict(self):
        """The definition of dict()."""
        values = [f'{{"{o.name}", tree_of({o.name})}}' for o in self.of_cpp() if o.kind != "function"]
        return f"Tree::Dict {self.name}Options::dict() const {{ return {{{', '.join(values)}}}; }}\n"

    def defaults(self):
        """The entry of the table of defaults. Schedules keep their epoch elsewhere."""
        plain = [option for option in self.options if option.kind != "function" and option.name != "last_epoch"]
        values = [f'{{"{option.name}", {option.default_value()}}}' for option in plain]
        return f'      {{"{self.name}", {{{", ".join(values)}}}}},\n'


def read_declared(build):
    entries = json.loads((build / "generated/optim.json").read_text())
    return [Optimizer(entry) for entry in entries if entry["has_signature"]]


def docstrings(path):
    classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
    return {node.name: ast.get_docstring(node) or "" for node in classes}


def header(declared, docs, include):
    text = NOTICE + f'#pragma once\n\n#include <array>\n#include "{include}"\n\n'
    text += "#pragma GCC visibility push(default)\nnamespace lucid::optim {\n\n"
    text += "\n".join(each.struct(docs[each.name]) for each in declared)
    return text + "\n}  // namespace lucid::optim\n#pragma GCC visibility pop\n"


def source(declared):
    return (
        NOTICE
        + f"""
#include <lucid/optimizers.h>
#include <lucid/schedules.h>

#include <map>

#include "optim/declared.h"

namespace lucid::optim {{

{"".join(each.dict() for each in declared)}
const Tree::Dict& declared_defaults(const std::string& name) {{
  // Never destroyed: used until the process ends.
  static const auto& all = *new std::map<std::string, Tree::Dict>{{
{"".join(each.defaults() for each in declared)}  }};
  static const Tree::Dict& none = *new Tree::Dict;
  const auto found = all.find(name);
  return found != all.end() ? found->second : none;
}}

}}  // namespace lucid::optim
"""
    )


def of_kind(declared, is_schedule):
    return [each for each in declared if each.is_schedule == is_schedule]


def sources(root, build) -> Iterator[tuple[str, str]]:
    """The files of a build, with their texts."""
    declared = read_declared(build)
    yield "optim/declared.cpp", source(declared)
    for is_schedule, name, include in ((False, "optimizers", "optim"), (True, "schedules", "lr_scheduler")):
        docs = docstrings(root / PYTHON[is_schedule])
        own = sorted(of_kind(declared, is_schedule), key=lambda each: [*docs].index(each.name))
        yield f"include/lucid/{name}.h", header(own, docs, f"lucid/{include}.h")
        yield f"tests/{name}.inc", NOTICE + ", ".join(each.name for each in of_kind(declared, is_schedule)) + "\n"


def constructors(root, build) -> Iterator[tuple[str, str]]:
    """The files of lucid.optim that hold optimizers and schedules, with their constructors."""
    declared = read_declared(build)
    for is_schedule, path in enumerate(PYTHON):
        yield path, with_constructors(root / path, of_kind(declared, bool(is_schedule)))
