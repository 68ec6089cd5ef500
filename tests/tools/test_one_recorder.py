"""Calls are recorded, run again and resized in one place each; what does it is listed here, with its clients.

Another loop that did one of these would drift from the first: docs/decisions/0037-one-recorder.md.
"""

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("include", "src", "python")
COMMENT = re.compile(r"^\s*(//|#(?!include)).*$", re.MULTILINE)

ONLY_IN = {
    # What observes a run.
    r"\b(TracingContext>? \w+[;({]|make_\w+<(jit::)?TracingContext>|new (jit::)?TracingContext)": {
        "src/jit/recorder.h",
    },
    # A run from C++: compiled calls, backward passes, exports, and what Python starts.
    r"\bRecorder \w+[;({]": {
        "src/jit/cpp_call.cpp",
        "src/jit/backward_copy.cpp",
        "src/program/export_function.cpp",
        "python/bindings/tracing.h",
    },
    # A run from Python: those of compiled callables start in C++.
    r"\bnew PythonTracing\b": {"python/bindings/python_call.cpp"},
    r"\b_core\.Tracing\(": {
        "python/lucid/compiler/_tracing.py",  # what the user records explicitly
        "python/lucid/compiler/_symbolic_retrace.py",
    },
    r"\b(recorder_?|tracing)\.trace_sizes\(": {
        "src/jit/cpp_call.cpp",
        "src/program/export_function.cpp",
        "python/bindings/tracing.cpp",
        "python/lucid/compiler/_symbolic_retrace.py",
    },
    r"\bsys\.settrace\(": {"python/lucid/compiler/_symbolic_retrace.py"},
    # The clients of the one loop around a retrace.
    r"(?<!def )(?<!end_)\bretrace\(": {
        "python/lucid/_export.py",
        "python/lucid/_export_sizes.py",
        "python/lucid/compiler/_compiled.py",
        "python/lucid/onnx/_dynamic.py",
    },
    # Which numbers and sizes vary is decided by the plan table.
    r"\bfixed_\[": {"src/jit/varying_numbers.cpp"},
    # Examples of other sizes, and the loop that makes them.
    r"\bTensorRef resized\(": {"src/jit/recorder.h", "src/jit/recorder.cpp"},
    r"\b(jit::|_core\.)resized\(": {
        "src/program/example_calls.cpp",
        "python/bindings/tracing.cpp",
        "python/lucid/onnx/_dynamic.py",
    },
    r"while \(.*missing_sizes\(": {"src/program/example_calls.cpp"},
}
# Graphs of recorded calls do not need plans.
NEVER_IN = {
    r"\b(compile_now|compile_later|\.program\()": "python/lucid/onnx",
}


@functools.cache
def code() -> dict[str, str]:
    """The sources by path, without comments."""
    paths = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*"))]
    return {
        str(path.relative_to(ROOT)): COMMENT.sub("", path.read_text(encoding="utf-8"))
        for path in paths
        if path.suffix in (".h", ".cpp", ".py")
    }


def files_with(pattern: str) -> set[str]:
    return {path for path, text in code().items() if re.search(pattern, text)}


@pytest.mark.parametrize("pattern", ONLY_IN)
def test_each_step_of_recording_is_in_one_place(pattern: str) -> None:
    assert files_with(pattern) == ONLY_IN[pattern]


@pytest.mark.parametrize("pattern", NEVER_IN)
def test_graphs_are_taken_without_compiling(pattern: str) -> None:
    assert not [path for path in files_with(pattern) if path.startswith(NEVER_IN[pattern])]
