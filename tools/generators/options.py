"""Options of classes: their types in C++, their parameters in Python's constructors, and their descriptions.

Layers, optimizers and schedules declare them in signatures, which the build parses (tools/signatures/declaration.h).
The comments of options are the arguments in Python's docstrings.
"""

import ast
import pathlib
import re
import textwrap

WIDTH = 120
# The type in C++, and the annotation in Python.
KINDS = {
    "bool": ("bool", "bool"),
    "int": ("int64_t", "int"),
    "float": ("double", "float"),
    "str": ("std::string", "str"),
    "dtype": ("Dtype", "Any"),
    "ints": ("Sizes", "_Sizes"),
    "sizes": ("Tree", "_Sizes"),
    "shape": ("Sizes", "tuple[int, ...]"),
    "sizes_or_str": ("Tree", "_Sizes | str"),
    "open_sizes": ("Tree", "int | Sequence[int | None]"),
    "factors": ("Tree", "float | Sequence[float]"),
    "item": ("Tree", "Any"),
    "tensor": ("Tensor", "Tensor"),
    "module": ("Ptr<Module>", "Module"),
    "rate": ("double", "float | Tensor"),
    "rates": ("Tree", "float | list[float]"),
    "pair": ("std::pair<double, double>", "tuple[float, float]"),
    "triple": ("std::array<double, 3>", "tuple[float, float, float]"),
    "epochs": ("std::vector<int64_t>", "Iterable[int]"),
    "function": ("std::function<double(int64_t)>", "Callable[[int], float]"),
}
# What they are without a default. Values of the other kinds are empty.
ZEROS = {"bool": "false", "int": "0", "float": "0.0"}
# They have a value for None.
NULLABLE = {"sizes": "kNone", "factors": "kNone", "tensor": "{}", "module": "nullptr", "function": "nullptr"}


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

    def in_cpp(self):
        """The declaration in the struct of options."""
        cpp = KINDS[self.kind][0]
        if self.optional and self.kind not in NULLABLE:
            cpp = f"std::optional<{cpp}>"
        return f"{cpp} {self.name} = {self.cpp_default()};"

    def cpp_default(self):
        if self.default is None:
            return ZEROS.get(self.kind, "{}")
        if self.default == "None":
            return NULLABLE.get(self.kind, "std::nullopt")
        return cpp_literal(self.default)

    def in_python(self, sizes):
        """The declarations in the signature of Python."""
        if self.kind == "dtype":
            return ["device: Any = None", "dtype: Any = None"]
        annotation = KINDS[self.kind][1].replace("_Sizes", sizes) + (" | None" if self.optional else "")
        return [f"{self.name}: {annotation}" + ("" if self.required else f" = {self.default}")]


def cpp_literal(text):
    """A default in C++, which is given as in Python."""
    return {"True": "true", "False": "false"}.get(text, text.replace("(", "{").replace(")", "}"))


class Declared:
    """A class with options."""

    def __init__(self, entry, option=Option):
        self.name = entry["name"]
        self.file = pathlib.Path(entry["file"]).stem
        self.has_signature = entry["has_signature"]
        self.options = [option(parameter) for parameter in entry["parameters"]]

    def of_cpp(self):
        return [option for option in self.options if option.only != "python"]

    def of_python(self):
        return [option for option in self.options if option.only != "cpp"]

    def constructor_head(self, first, sizes=""):
        """The first lines of Python's __init__. `first` are the parameters before the options."""
        parameters = list(first)
        for option in self.of_python():
            if option.keyword_only and "*" not in parameters:
                parameters.append("*")
            parameters += option.in_python(sizes)
        return fitted("def __init__(", parameters, ") -> None:", "    ")


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


def comment(text, indent):
    lines = textwrap.wrap(text, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{indent}/// {line}\n" for line in lines)


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


def methods_of(node):
    return {child.name: child for child in node.body if isinstance(child, ast.FunctionDef)}


def is_by_hand(lines, method):
    return lines[method.lineno - 2].strip().startswith("# By hand:")


def with_constructors(path, declared):
    """The text of a Python file, with the __init__ methods of its declared classes up to date.

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
    for each in declared:
        node = classes.get(each.name)
        if node is None or not each.of_python():
            continue
        owner = owner_of(node)
        head, body = each.constructor(sizes)
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
            raise SystemExit(f"tools/generate: {path}: {owner.name} has classes with different signatures")
    for (begin, end), text in sorted(changes.items(), reverse=True):
        lines[begin:end] = [text]
    return "".join(lines)
