"""What the documents for engineers name exists: all names in docs/tour.md, files and C++ names in the others."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("include", "src", "python")
FILE = re.compile(r"[\w./-]+\.(?:cpp|h|py|md)")
NAME = re.compile(r"\w+(?:(?:::|\.)\w+)*")


@functools.cache
def sources(*suffixes: str) -> dict[Path, str]:
    """The text of the library's files with these suffixes."""
    files = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes]
    return {path: path.read_text(encoding="utf-8") for path in files}


@functools.cache
def python_definitions() -> set[str]:
    """Names of classes and functions of the package and its stubs, methods and attributes as `Class.name`."""
    found: set[str] = set()
    stubs = ROOT / "tools/generators/stubs.pyi.in"
    for path, text in [*sources(".py").items(), (stubs, stubs.read_text(encoding="utf-8"))]:
        for node in ast.walk(ast.parse(text, str(path))):
            if isinstance(node, ast.ClassDef):
                for part in ast.walk(node):
                    if isinstance(part, ast.FunctionDef):
                        found.add(f"{node.name}.{part.name}")
                    elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        found.add(f"{node.name}.{part.target.id}")
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found.add(node.name)
    return found


@functools.cache
def is_type(name: str) -> bool:
    """Whether C++ defines a class of this name, or Python does."""
    definition = re.compile(rf"^ *(?:class|struct|enum class|union) (?:\w+ )?{name}\b(?! *;)|\busing {name} =", re.M)
    return name in python_definitions() or any(definition.search(text) for text in sources(".h", ".cpp").values())


@functools.cache
def is_function(name: str) -> bool:
    return name in python_definitions() or any(
        re.search(rf"\b{name}\(", text) for text in sources(".h", ".cpp").values()
    )


@functools.cache
def is_member(owner: str, name: str) -> bool:
    """Whether the class has this member: defined as `Owner::name`, or in a file that defines the class."""
    if f"{owner}.{name}" in python_definitions():
        return True
    outside, inside = re.compile(rf"\b{owner}::{name}\("), re.compile(rf"\b(?:class|struct) (?:\w+ )?{owner}\b(?! *;)")
    return any(
        outside.search(text) or (inside.search(text) and re.search(rf"\b{name}\b", text))
        for text in sources(".h", ".cpp").values()
    )


def is_file(span: str, folders: list[Path]) -> bool:
    """Whether the file is below the root or `src`, in one of the folders, or a generated public header."""
    include = f'#include "{span.removeprefix("include/")}"\n'
    return any((folder / span).exists() for folder in (ROOT, ROOT / "src", *folders)) or any(
        include in text for path, text in sources(".h").items() if path.is_relative_to(ROOT / "include")
    )


def exists(span: str, folders: list[Path], examples: str) -> bool:
    if FILE.fullmatch(span) or "/" in span:
        return is_file(span, folders)
    if setting := re.fullmatch(r"(LUCID_\w+)(?:=.*)?", span):
        return any(f'"{setting[1]}"' in text for text in sources(".h", ".cpp", ".py").values())
    name = span.removesuffix("()")
    if not NAME.fullmatch(name):
        return False
    *scopes, last = re.split(r"::|\.", name)
    if scopes and scopes[-1][0].isupper():
        return is_member(scopes[-1], last)
    if last[0].isupper():
        return is_type(last)
    return is_function(last) or re.search(rf"\b{last}\b", examples) is not None


def unknown_names(text: str) -> list[str]:
    """The code spans of a page that name nothing. A bare file name must be in a folder that was named before it."""
    blocks = re.compile(r"^```.*?^```", re.M | re.S)
    examples = "\n".join(blocks.findall(text))
    folders: list[Path] = []
    missing = []
    for span in re.findall(r"`([^`\n]+)`", blocks.sub("", text)):
        if "/" in span and (ROOT / span).exists():
            folders.append(ROOT / span if (ROOT / span).is_dir() else (ROOT / span).parent)
        if not exists(span, folders, examples):
            missing.append(span)
    return missing


def test_every_name_in_the_tour_exists() -> None:
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    assert len(re.findall(r"`([^`\n]+)`", text)) > 30
    assert unknown_names(text) == []


def test_every_link_of_the_tour_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "docs" / "tour.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []


# A path, a C++ member, or a C++ constant. Other names may belong to a library.
CHECKED = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?|\w+\.(?:cpp|h|py|md)|[A-Z]\w+::\w+(?:\(\))?|k[A-Z]\w+")
# Made by a build, or named as examples.
ELSEWHERE = re.compile(
    r"build/.*|(?:\w+/)*x(?:_test)?\.(?:cpp|h)|/.*|\w+/(?:emitter_methods|ops|methods|method_calls)\.\w+"
)


def folders_of(page: Path) -> list[Path]:
    """The folders in which a document may name files by their names only: its own, and those that it names."""
    bases = [ROOT, *(ROOT / name for name in ("src", "include", "python", "python/lucid")), page.parent]
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]+)*)/?`", page.read_text(encoding="utf-8"))
    named = [base / path for base in bases for path in paths if (base / path).exists()]
    return [*bases, *(each if each.is_dir() else each.parent for each in named)]


def missing_names(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    spans = [span for span in re.findall(r"`([^`\n]+)`", text) if CHECKED.fullmatch(span)]
    folders = folders_of(page)
    return [span for span in spans if not ELSEWHERE.fullmatch(span) and not exists_in_code(span, folders)]


@functools.cache
def constants() -> set[str]:
    """The constants in the C++ sources."""
    return {word for text in sources(".h", ".cpp").values() for word in re.findall(r"\bk[A-Z]\w+", text)}


def exists_in_code(span: str, folders: list[Path]) -> bool:
    if re.fullmatch(r"k[A-Z]\w+", span):
        return span in constants()
    # Such as `jit/recorder`: a header with its source.
    return exists(span, folders, "") or ("/" in span and exists(f"{span}.h", folders, ""))


PAGES = [
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "src").rglob("README.md")),
    *sorted((ROOT / "python").rglob("README.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_in_other_documents_exist(page: Path) -> None:
    assert missing_names(page) == []


@pytest.mark.parametrize(
    "span",
    [
        *(
            "src/ir/graph.h",
            "ir/graph.h",
            "src/tensor",
            "docs/tour.md",
            "LUCID_LOG=passes",
            "IRGraph",
            "IRGraph.parse",
            "Plan::run",
        ),
        *("Module.compile", "lucid.compile", "lucid::compile", "parse()", "cached", "src/ir/`, `graph.h"),
    ],
)
def test_existing_names_are_found(span: str) -> None:
    assert unknown_names(f"```python\n>>> cached = 1\n```\n`{span}`\n") == []


@pytest.mark.parametrize(
    "span",
    [
        *(
            "src/ir/no_such_file.h",
            "no_such_folder/",
            "graph.h",
            "LUCID_NO_SUCH=1",
            "NoSuchClass",
            "no_such_function()",
        ),
        *("IRGraph::no_such_method", "Module.no_such_method", "lucid.no_such_function", "no_such_name", "a + b"),
    ],
)
def test_missing_names_are_reported(span: str) -> None:
    assert unknown_names(f"Text with `{span}` in it.") == [span]
