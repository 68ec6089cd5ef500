"""The names that a code object uses: globals, attributes and imports, and their lines."""

from __future__ import annotations

import dis
import os
import sys
import weakref
from types import CodeType
from typing import Any, cast

from .. import _effects

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"}
_CELLS = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "STORE_DEREF", "DELETE_DEREF"}

_SETS = {"BUILD_SET", "SET_ADD", "SET_UPDATE"}
_FORMATS = {"FORMAT_VALUE", "CONVERT_VALUE", "FORMAT_SIMPLE"}
# Functions and methods whose results may contain the address or the hash of an object.
_TEXTS = {
    "ascii", "format", "format_map", "hash", "print", "repr", "str", "__format__", "__hash__", "__repr__", "__str__",
}  # fmt: skip

# Instructions that load local variables. Two of them load two at once.
_LOCALS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"}
_PAIRS = {"LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"}
_LOADS = _GLOBALS | _ATTRIBUTES | _CELLS | _LOCALS
# Instructions after a load which show that the value is not passed on.
_USES = {"PUSH_NULL", "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"}
# The largest number that is tested, and the comparisons.
MAX_INTEGER = 2**53
_OPERATORS = {"<", "<=", "==", "!=", ">", ">="}
# A test of an integer: the modulus that it is reduced by, or 0, the operator, and a constant.
Test = tuple[int, str, int]
# Instructions that load a key.
_KEYS = {"LOAD_CONST", "LOAD_SMALL_INT"} | _LOCALS
_NOTHING = {"CACHE", "EXTENDED_ARG", "NOP"}

# Attributes through which code can reach attributes that it does not name.
REFLECTING = {
    "__dict__",
    "__getattribute__",
    "__setattr__",
    "__delattr__",
    "__getstate__",
    "__reduce__",
    "__reduce_ex__",
    "cell_contents",
    "format",
    "format_map",
}

# Attributes that count as named by code that has their names as text, for getattr().
_BY_TEXT = ("__globals__", "__builtins__")

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The folder that the package was imported from, as it appears in the file names of its code objects.
OWN = os.path.dirname(sys.modules["lucid"].__file__ or _HERE) + os.sep
# The folders of code that is not the user's: the standard library, packages installed below it, and other packages.
LIBRARIES = (
    os.path.dirname(os.__file__) + os.sep,
    *(path + os.sep for path in sys.path if path.endswith(("site-packages", "dist-packages"))),
    "<frozen",
)


_CACHING = tuple(os.path.join(os.path.dirname(os.__file__), name) for name in ("functools.py", "logging" + os.sep))


def _is_called(instructions: list[dis.Instruction], index: int) -> bool:
    """Whether the loaded value is called immediately, or only its attributes are used."""
    after = instructions[index + 1].opname if index + 1 < len(instructions) else ""
    if instructions[index].opname == "LOAD_METHOD" or after in _USES:
        return True
    # `time.sleep(1)`: the mark that a call follows comes before `time`.
    if instructions[index].opname == "LOAD_ATTR" and _is_flagged(instructions[index]):
        return True
    while index > 0 and instructions[index].opname == "LOAD_ATTR":
        index -= 1
    return _is_flagged(instructions[index]) or (index > 0 and instructions[index - 1].opname == "PUSH_NULL")


def _is_flagged(load: dis.Instruction) -> bool:
    """Whether the instruction also prepares a call."""
    if load.opname == "LOAD_ATTR" and sys.version_info < (3, 12):
        return False
    return load.opname in ("LOAD_GLOBAL", "LOAD_ATTR") and bool((load.arg or 0) & 1)


def _is_method(load: dis.Instruction) -> bool:
    """Whether the instruction loads a method to call it."""
    return load.opname == "LOAD_METHOD" or (load.opname == "LOAD_ATTR" and _is_flagged(load))


def _is_subscript(instruction: dis.Instruction) -> bool:
    """Whether the instruction looks up a key."""
    return instruction.opname == "BINARY_SUBSCR" or (instruction.opname == "BINARY_OP" and instruction.argrepr == "[]")


def _use_of(instructions: list[dis.Instruction], index: int) -> str:
    """How the loaded value is used: "called", "appended" to, "filled" by appending to its items, "counted" up or down,
    "tested" (see _test_of), or "used" in any other way."""
    load, after = instructions[index], instructions[index + 1 : index + 5]
    if _is_method(load):
        return "called"
    if after and _is_method(after[0]) and after[0].argval in ("append", "extend"):
        return "appended"
    if len(after) > 2 and after[0].opname in _KEYS and _is_subscript(after[1]) and _is_method(after[2]):
        return "filled" if after[2].argval == "append" else "used"
    # A constant, the sum, the object if the value is its attribute, and the store.
    after = [each for each in after if each.opname != "SWAP"]
    is_counted = (
        len(after) > 2
        and type(after[0].argval) is int
        and after[0].opname in ("LOAD_CONST", "LOAD_SMALL_INT")
        and after[1].argrepr in ("+=", "-=")
        and after[2].opname in _WRITES
        and after[2].argval == load.argval
    )
    if is_counted:
        return "counted"
    return "used" if _test_of(instructions, index) is None else "tested"


def _test_of(instructions: list[dis.Instruction], index: int) -> Test | None:
    """The test that is made with the loaded value: `n < 5`, `n % 10 == 0` or `if n % 10`."""
    modulus, rest = 0, instructions[index + 1 : index + 5]
    if len(rest) > 2 and _is_integer(rest[0]) and rest[1].opname == "BINARY_OP" and rest[1].argrepr == "%":
        modulus, rest = rest[0].argval, rest[2:]
        if modulus <= 0:
            return None
        if rest[0].opname == "UNARY_NOT" or (rest[0].opname.startswith("POP_JUMP_") and "NONE" not in rest[0].opname):
            return modulus, "!=", 0
    if len(rest) > 1 and _is_integer(rest[0]) and rest[1].opname == "COMPARE_OP" and rest[1].argval in _OPERATORS:
        return modulus, rest[1].argval, rest[0].argval
    return None


def _is_integer(load: dis.Instruction) -> bool:
    """Whether the instruction loads an integer of moderate size."""
    is_constant = load.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
    return is_constant and type(load.argval) is int and abs(load.argval) <= MAX_INTEGER


def _step_of(instructions: list[dis.Instruction], index: int) -> int:
    """The step by which the loaded value is counted."""
    after = [each for each in instructions[index + 1 : index + 5] if each.opname != "SWAP"]
    return int(after[0].argval) if after[1].argrepr == "+=" else -int(after[0].argval)


def _ends_count(instructions: list[dis.Instruction], index: int) -> bool:
    """Whether the instruction stores a number that was counted up or down."""
    name, before = instructions[index].argval, instructions[max(0, index - 4) : index]
    starts = [max(0, index - 4) + at for at, each in enumerate(before) if each.argval == name and each.opname in _LOADS]
    return bool(starts) and _use_of(instructions, starts[-1]) == "counted"


def _line_of(instruction: dis.Instruction) -> int | None:
    """The line of the instruction. Before Python 3.13 it is known only for the first instruction of a line."""
    if sys.version_info >= (3, 13):
        return instruction.line_number
    return instruction.starts_line


def _right_operand(instructions: list[dis.Instruction], index: int) -> tuple[str, str | None] | None:
    """The names of the last operand of the instruction, if that is a global or an attribute of one."""
    last = instructions[index - 1]
    if last.opname == "LOAD_GLOBAL":
        return last.argval, None
    if last.opname == "LOAD_ATTR" and instructions[index - 2].opname == "LOAD_GLOBAL":
        return instructions[index - 2].argval, last.argval
    return None


class Named:
    """The names in a code object and in the code objects inside it."""

    __slots__ = (
        "appended",
        "assigned",
        "attributes",
        "codes",
        "counted",
        "filled",
        "formats",
        "globals",
        "identities",
        "imports",
        "passed",
        "reads",
        "reflects",
        "shows_values",
        "steps",
        "tests",
        "texts",
        "used",
        "uses_hashes",
        "writes",
    )

    def __init__(self, code: CodeType) -> None:
        self.globals: set[str] = set()
        self.attributes: set[str] = set()
        self.imports: set[str] = set()
        self.codes: set[CodeType] = set()
        self.reads: dict[str, int] = {}
        self.writes: dict[str, int] = {}
        # Names by what code does with their values. It appends to them, appends to their items, counts them up or down,
        # assigns or deletes them, or uses them in any other way. A name may be in several sets.
        self.appended: set[str] = set()
        self.filled: set[str] = set()
        self.counted: set[str] = set()
        self.assigned: set[str] = set()
        self.used: set[str] = set()
        # The steps by which code counts names, and the tests of names.
        self.steps: dict[str, set[int]] = {}
        self.tests: dict[str, set[Test]] = {}
        # Names of values with which code does more than call them and access their attributes.
        self.passed: set[str] = set()
        # Whether the code may look up names that do not occur in it.
        self.reflects = False
        # Whether code may read the address of an object from its text or its hash.
        self.shows_values = False
        # Whether code formats a value with a specification.
        self.formats = False
        # Constants that may be names.
        self.texts: set[str] = set()
        # Whether the hashes of objects may matter, which depend on addresses.
        self.uses_hashes = False
        # The operands of `is`, except constants: a global, or an attribute of one, or None for any other operand.
        self.identities: set[tuple[str, str | None] | None] = set()
        self._add(code)

    def _add(self, code: CodeType) -> None:
        self.codes.add(code)
        line = code.co_firstlineno
        instructions = [each for each in dis.get_instructions(code) if each.opname not in _NOTHING]
        for index, instruction in enumerate(instructions):
            line = _line_of(instruction) or line
            operation, name = instruction.opname, instruction.argval
            if operation in _LOADS and not _is_called(instructions, index):
                self.passed.add(name)
            elif operation in _PAIRS:
                self.passed.update(name)
            if operation in _LOADS:
                use = _use_of(instructions, index)
                if use == "tested":
                    self.tests.setdefault(name, set()).add(cast(Test, _test_of(instructions, index)))
                elif use != "called":
                    getattr(self, use).add(name)
                if use == "counted":
                    self.steps.setdefault(name, set()).add(_step_of(instructions, index))
            if operation in _WRITES:
                self.writes.setdefault(name, line)
                if not _ends_count(instructions, index):
                    self.assigned.add(name)
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
            elif operation == "LOAD_BUILD_CLASS":
                self.globals.add("__build_class__")
            elif operation in _SETS:
                self.uses_hashes = True
            elif operation == "FORMAT_WITH_SPEC" or (operation == "FORMAT_VALUE" and (instruction.arg or 0) & 4):
                self.formats = self.shows_values = True
            elif operation in _FORMATS or (operation == "BINARY_OP" and instruction.argrepr in ("%", "%=")):
                self.shows_values = True
            elif operation == "IS_OP" and instructions[index - 1].opname != "LOAD_CONST":
                self.identities.add(_right_operand(instructions, index))
            elif operation == "MATCH_CLASS":
                # The attribute names are constants of the code.
                self.reflects = True
        constants = list(code.co_consts)
        while constants:
            constant = constants.pop()
            if isinstance(constant, CodeType):
                self._add(constant)
            elif type(constant) is str:
                self.texts.add(constant)
                if constant in _BY_TEXT:
                    self.attributes.add(constant)
            elif type(constant) in (tuple, frozenset):
                constants += constant
        names = self.globals | self.attributes
        self.uses_hashes = self.uses_hashes or not names.isdisjoint(("set", "frozenset", "hash", "__hash__"))
        self.shows_values = self.shows_values or not _TEXTS.isdisjoint(names)
        self.formats = self.formats or not names.isdisjoint(("format", "__format__"))
        self.reflects = self.reflects or not self.attributes.isdisjoint(REFLECTING)


_known: weakref.WeakKeyDictionary[CodeType, Named] = weakref.WeakKeyDictionary()


def named_by(code: CodeType) -> Named:
    """The names that the code uses; cached as long as the code is alive."""
    found = _known.get(code)
    if found is None:
        found = _known[code] = Named(code)
    return found


def is_own(code: CodeType) -> bool:
    """Whether the code is Lucid's: in its files, or generated by Python for a class that is declared pure."""
    return code.co_filename.startswith(OWN) or _effects.effect_of(code) is None


def _folder_of(name: str) -> str | None:
    module: Any = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    return os.path.dirname(file) + os.sep if file else None


def is_numpy(code: CodeType) -> bool:
    """Whether the code belongs to NumPy, except numpy.random.

    Its results depend on the arguments, on NumPy's modes, which are guarded, and on the globals that it names.
    """
    folder = _folder_of("numpy")
    if folder is None or not code.co_filename.startswith(folder):
        return False
    return not code.co_filename.startswith(folder + "random" + os.sep)


def is_library(code: CodeType) -> bool:
    """Whether the code belongs to the standard library or to an installed package."""
    return code.co_filename.startswith(LIBRARIES)


def is_caching(code: CodeType) -> bool:
    """Whether the code takes locks only to protect Python objects that a plan does not use."""
    return code.co_filename.startswith(_CACHING)


def is_library_file(file: str) -> bool:
    """Whether a file belongs to Lucid, to the standard library or to an installed package."""
    return file.startswith((OWN, *LIBRARIES))


def site(code: CodeType, line: int | None = None) -> str:
    """A line as messages show it."""
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno if line is None else line}"
