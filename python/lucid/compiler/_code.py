"""What a code object names: globals, attributes and imports, and on which lines."""

from __future__ import annotations

import dis
import os
import sys
import weakref
from types import CodeType
from typing import Any

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"}
_CELLS = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_DEREF", "DELETE_DEREF"}

_LOADS = _GLOBALS | _ATTRIBUTES | _CELLS
# What follows a load of something that is not handed on.
_USES = {"PUSH_NULL", "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"}
_NOTHING = {"CACHE", "EXTENDED_ARG", "NOP"}

# Attributes by which code may get at attributes that it does not name.
REFLECTING = {
    "__dict__",
    "__getattribute__",
    "__setattr__",
    "__delattr__",
    "__getstate__",
    "__reduce__",
    "__reduce_ex__",
    "format",
    "format_map",
}

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The folder that the package was imported from: that of the files in its code objects.
OWN = os.path.dirname(sys.modules["lucid"].__file__ or _HERE) + os.sep
# Where code lies that is not the user's: the standard library, with what is installed below it, and other packages.
LIBRARIES = (
    os.path.dirname(os.__file__) + os.sep,
    *(path + os.sep for path in sys.path if path.endswith(("site-packages", "dist-packages"))),
    "<frozen",
)


def _is_called(instructions: list[dis.Instruction], number: int) -> bool:
    """Whether what is loaded is called then and there, or only its attributes are used."""
    after = instructions[number + 1].opname if number + 1 < len(instructions) else ""
    if instructions[number].opname == "LOAD_METHOD" or after in _USES:
        return True
    # `time.sleep(1)`: the mark that a call follows lies before `time`.
    if instructions[number].opname == "LOAD_ATTR" and _is_flagged(instructions[number]):
        return True
    while number > 0 and instructions[number].opname == "LOAD_ATTR":
        number -= 1
    return _is_flagged(instructions[number]) or (number > 0 and instructions[number - 1].opname == "PUSH_NULL")


def _is_flagged(load: dis.Instruction) -> bool:
    """Whether the instruction prepares a call, too."""
    if load.opname == "LOAD_ATTR" and sys.version_info < (3, 12):
        return False
    return load.opname in ("LOAD_GLOBAL", "LOAD_ATTR") and bool((load.arg or 0) & 1)


def _line_of(instruction: dis.Instruction) -> int | None:
    """The line that begins here, as far as the version of Python says."""
    if sys.version_info >= (3, 13):
        return instruction.line_number
    return instruction.starts_line


class Named:
    """The names in a code object and in the code objects inside it."""

    __slots__ = ("attributes", "codes", "globals", "imports", "passed", "reads", "reflects", "writes")

    def __init__(self, code: CodeType) -> None:
        self.globals: set[str] = set()
        self.attributes: set[str] = set()
        self.imports: set[str] = set()
        self.codes: set[CodeType] = set()
        self.reads: dict[str, int] = {}
        self.writes: dict[str, int] = {}
        # Names of values that are used otherwise than by calling them, or by reading or writing their attributes.
        self.passed: set[str] = set()
        # Whether names that are not to be seen here may be looked up.
        self.reflects = False
        self._add(code)

    def _add(self, code: CodeType) -> None:
        self.codes.add(code)
        line = code.co_firstlineno
        instructions = [each for each in dis.get_instructions(code) if each.opname not in _NOTHING]
        for number, instruction in enumerate(instructions):
            line = _line_of(instruction) or line
            operation, name = instruction.opname, instruction.argval
            if operation in _LOADS and not _is_called(instructions, number):
                self.passed.add(name)
            if operation in _WRITES:
                self.writes.setdefault(name, line)
                if operation.endswith("ATTR"):
                    self.attributes.add(name)
                elif operation.endswith("GLOBAL"):
                    self.globals.add(name)
            elif operation in _GLOBALS:
                self.globals.add(name)
                self.reads.setdefault(name, line)
            elif operation in _ATTRIBUTES:
                self.attributes.add(name)
                self.reads.setdefault(name, line)
            elif operation in _CELLS:
                self.reads.setdefault(name, line)
            elif operation == "IMPORT_NAME":
                self.imports.add(name)
                self.globals.add("__import__")
            elif operation == "MATCH_CLASS":
                # The names of the attributes are constants.
                self.reflects = True
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._add(constant)
        self.reflects = self.reflects or not self.attributes.isdisjoint(REFLECTING)


_known: weakref.WeakKeyDictionary[CodeType, Named] = weakref.WeakKeyDictionary()


def named_by(code: CodeType) -> Named:
    """What the code names; remembered as long as the code lives."""
    found = _known.get(code)
    if found is None:
        found = _known[code] = Named(code)
    return found


def is_own(code: CodeType) -> bool:
    """Whether the code is Lucid's."""
    return code.co_filename.startswith(OWN)


def _folder_of(name: str) -> str | None:
    module: Any = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    return os.path.dirname(file) + os.sep if file else None


def is_numpy(code: CodeType) -> bool:
    """Whether the code is NumPy's, that of random numbers excepted: what it computes depends on its arguments only."""
    folder = _folder_of("numpy")
    if folder is None or not code.co_filename.startswith(folder):
        return False
    return not code.co_filename.startswith(folder + "random" + os.sep)


def is_library(code: CodeType) -> bool:
    """Whether the code is that of the standard library or of an installed package."""
    return code.co_filename.startswith(LIBRARIES)


def is_library_file(file: str) -> bool:
    """Whether a file is ours, or one of the standard library or of an installed package."""
    return file.startswith((OWN, *LIBRARIES))


def site(code: CodeType, line: int | None = None) -> str:
    """A line as messages show it."""
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno if line is None else line}"
