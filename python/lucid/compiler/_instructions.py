"""Reads the instructions of code: what happens to a value that a call returns, and what the arguments of a call are."""

from __future__ import annotations

import bisect
import dis
import inspect
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, TypeVar

from .. import _core
from ._escape_analysis import Comparison, Escapes, Pass, Used, variable_in

# The code that makes a call, and the offset of the instruction.
Site = tuple[CodeType, int]
_Result = TypeVar("_Result")

_IGNORED = {"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "KW_NAMES", "NOT_TAKEN"}
_LOADS = {
    "LOAD_CONST",
    "LOAD_SMALL_INT",
    "LOAD_FAST",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_BORROW",
    "LOAD_DEREF",
    "LOAD_NAME",
    "PUSH_NULL",
}
_LOCALS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"}
_CONSTANTS = {"LOAD_CONST", "LOAD_SMALL_INT"}
_CALLS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}
# The flags of generators and coroutines, whose `return` does not return to the caller.
GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
# The ops for comparisons of a float with a number: with the float on the left, and on the right.
_COMPARISONS = {
    "<": ("lt", "gt"),
    "<=": ("le", "ge"),
    ">": ("gt", "lt"),
    ">=": ("ge", "le"),
    "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
}
# Functions of `math` that count as comparisons. Ops have the same names.
_CLASSIFIERS = ("isnan", "isinf", "isfinite")
# Flags of FORMAT_VALUE.
_CONVERSION = 3
_HAS_SPECIFICATION = 4
# The maximum number of instructions from the read of a value to the one that forwards it.
_MAX_STEPS = 200


@dataclass
class _Symbol:
    """A value on the stack: the instruction that pushed it."""

    index: int
    # The name of the method, if the value is the callable of a method call.
    method: str | None = None
    # The value of which this is a method, an attribute or an item.
    owner: _Symbol | None = None


class _Code:
    """The instructions of one code object. It does not keep that alive."""

    def __init__(self, code: CodeType) -> None:
        instructions = list(dis.get_instructions(code))
        # The offsets of all instructions.
        self._offsets = [each.offset for each in instructions]
        self.instructions = [each for each in instructions if each.opname not in _IGNORED]
        self._names_of_arguments = [each for each in instructions if each.opname == "KW_NAMES"]
        self._constants, self._names_used = code.co_consts, code.co_names
        self._is_generator = bool(code.co_flags & GENERATOR)
        # The ranges of instructions whose exceptions are handled.
        self._handled = [(each.start, each.end) for each in dis._parse_exception_table(code)]  # type: ignore[attr-defined]

    def index_at(self, offset: int) -> int:
        """The call that is running when `offset` is the last instruction."""
        # The offset may be that of a cache entry after the instruction.
        start = self._offsets[max(bisect.bisect_right(self._offsets, offset) - 1, 0)]
        index = bisect.bisect_left(self.instructions, start, key=lambda each: each.offset)
        if index == len(self.instructions):
            raise Used
        return index

    def passes_exceptions_on(self, offset: int) -> bool:
        """Whether the code handles no exceptions of the call that is running when `offset` is the last instruction."""
        call = self.instructions[self.index_at(offset)]
        is_handled = any(start <= call.offset < end for start, end in self._handled)
        return call.opname in _CALLS and not is_handled and not self._is_generator

    def escapes_of_call(self, offset: int) -> Escapes:
        """The escapes of the result of `x.item()` or `float(x)`."""
        # They read local variables.
        if not {"vars", "dir"}.isdisjoint(self._names_used):
            raise Used
        return self._escapes_after(self.index_at(offset), frozenset(), reads_value=True)

    def _escapes_after(self, index: int, seen: frozenset[str], reads_value: bool = False) -> Escapes:
        """The escapes of the value that an instruction pushes."""

        def escapes(stack: list[_Symbol]) -> Escapes:
            if reads_value and not self._reads_value(index, stack):
                raise Used
            self._step(index, stack)
            return self._escapes(index, stack, seen)

        return self._at(index, escapes)

    def _at(self, index: int, action: Callable[[list[_Symbol]], _Result]) -> _Result:
        """Calls a function with the stack before an instruction."""
        # Where the statement begins is not known. If it began later, the stack would have too few values.
        for start in range(index, max(-1, index - _MAX_STEPS), -1):
            stack: list[_Symbol] = []
            try:
                for at in range(start, index):
                    self._step(at, stack)
                return action(stack)
            except IndexError:
                continue
        raise Used

    def arguments(self, frame: FrameType) -> dict[str | int, _Symbol]:
        """The arguments of the call that a frame makes, by position or name. Raises Used if they are not known."""
        index = self.index_at(frame.f_lasti)
        call = self.instructions[index]
        if call.opname != "CALL":
            raise Used
        count = call.arg or 0

        def symbols(stack: list[_Symbol]) -> list[_Symbol]:
            if len(stack) < count + 2:
                raise IndexError
            return stack[len(stack) - count :]

        names = self._names(index)
        return dict(zip([*range(count - len(names)), *names], self._at(index, symbols)))

    def _names(self, index: int) -> tuple[str, ...]:
        """The names of the named arguments of a call."""
        previous, call = self.instructions[index - 1].offset, self.instructions[index].offset
        found = [each.arg or 0 for each in self._names_of_arguments if previous < each.offset < call]
        names: tuple[str, ...] = self._constants[found[0]] if found else ()
        return names

    def values(self, frame: FrameType) -> dict[str | int, Any]:
        """The same, as objects. Raises Used if they are not constants or variables."""
        return {name: self._value(symbol, frame) for name, symbol in self.arguments(frame).items()}

    def stream(self, frame: FrameType) -> str:
        """The name of the stream in `sys` that a call of `print` writes to. Raises Used if it is not known."""
        index = self.index_at(frame.f_lasti)
        if self.instructions[index].opname == "CALL" and "file" not in self._names(index):
            return "stdout"
        source, name, attributes = self._variable(self.arguments(frame)["file"])
        if variable_in(frame, source, name) is not sys or len(attributes) != 1:
            raise Used
        return attributes[0]

    def _value(self, symbol: _Symbol, frame: FrameType) -> Any:
        load = self.instructions[symbol.index]
        if load.opname in _CONSTANTS:
            return load.argval
        source, name, attributes = self._variable(symbol)
        if attributes:
            raise Used
        return variable_in(frame, source, name)

    def _reads_value(self, index: int, stack: list[_Symbol]) -> bool:
        """Whether the instruction calls `item` of a value, or `float`."""
        call = self.instructions[index]
        if call.opname != "CALL":
            return False
        count = call.arg or 0
        if len(stack) < count + 2:
            raise IndexError
        callee = stack[-2 - count], stack[-1 - count]
        if call.arg == 0:
            return any(symbol.method == "item" for symbol in callee)
        names = [self.instructions[symbol.index] for symbol in callee]
        return call.arg == 1 and any(each.opname == "LOAD_GLOBAL" and each.argval == "float" for each in names)

    def _step(self, index: int, stack: list[_Symbol]) -> None:
        """Executes an instruction on symbols. Raises IndexError if the stack has too few, Used if it is not known."""
        instruction = self.instructions[index]
        name, count = instruction.opname, instruction.arg or 0
        flagged = bool(count & 1)
        if name in _LOADS:
            stack.append(_Symbol(index))
        elif name == "LOAD_GLOBAL":
            stack += [_Symbol(index)] * (1 + flagged)
        elif name == "LOAD_METHOD" or (name == "LOAD_ATTR" and flagged and sys.version_info >= (3, 12)):
            owner = stack.pop()
            stack += [_Symbol(index, instruction.argval, owner)] * 2
        elif name == "LOAD_ATTR":
            stack.append(_Symbol(index, owner=stack.pop()))
        elif name == "CALL":
            self._pop(stack, count + 2)
            stack.append(_Symbol(index))
        elif name in ("BINARY_OP", "COMPARE_OP"):
            self._pop(stack, 2)
            stack.append(_Symbol(index))
        elif name == "BINARY_SUBSCR":
            stack.pop()
            stack.append(_Symbol(index, owner=stack.pop()))
        elif name in ("UNARY_NEGATIVE", "UNARY_NOT", "FORMAT_SIMPLE", "CONVERT_VALUE"):
            stack.pop()
            stack.append(_Symbol(index))
        elif name in ("FORMAT_VALUE", "FORMAT_WITH_SPEC"):
            self._pop(stack, 2 if name == "FORMAT_WITH_SPEC" or count & _HAS_SPECIFICATION else 1)
            stack.append(_Symbol(index))
        elif name in ("BUILD_STRING", "BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP"):
            self._pop(stack, {"BUILD_MAP": 2 * count, "BUILD_CONST_KEY_MAP": count + 1}.get(name, count))
            stack.append(_Symbol(index))
        elif name in ("POP_TOP", "STORE_FAST", "STORE_GLOBAL", "STORE_DEREF", "RETURN_VALUE"):
            stack.pop()
        elif name == "STORE_ATTR":
            self._pop(stack, 2)
        else:
            raise Used

    @staticmethod
    def _pop(stack: list[_Symbol], count: int) -> None:
        if len(stack) < count:
            raise IndexError
        if count:
            del stack[-count:]

    def _escapes(self, index: int, stack: list[_Symbol], seen: frozenset[str]) -> Escapes:
        """The escapes of the value on top of the stack after an instruction."""
        value = stack[-1]
        for at in range(index + 1, min(index + _MAX_STEPS, len(self.instructions))):
            before = list(stack)
            instruction = self.instructions[at]
            name = instruction.opname
            if name.startswith("POP_JUMP_") and before[-1] is value:
                # A float is never None.
                return Escapes() if "NONE" in name else Escapes(comparisons=(Comparison("ne", "constant", 0),))
            self._step(at, stack)
            if any(symbol is value for symbol in stack):
                continue
            if name == "POP_TOP":
                return Escapes()
            if name == "RETURN_VALUE":
                return Escapes(is_returned=True)
            if name == "STORE_FAST":
                escapes = self._escapes_of_variable(instruction.argval, seen)
                # With other assignments, the call may get another value of the variable.
                if escapes.passes and self._assignments(instruction.argval) != 1:
                    raise Used
                return escapes
            if name.startswith("FORMAT_"):
                # A converted value is a text, and formatted as such.
                flags = (instruction.arg or 0) if name == "FORMAT_VALUE" else 0
                if flags & _CONVERSION and flags & _HAS_SPECIFICATION:
                    raise Used
                has_specification = name == "FORMAT_WITH_SPEC" or bool(flags & _HAS_SPECIFICATION)
                return self._escapes(at, stack, seen).shown(self._specification(before, value, has_specification))
            if name == "BUILD_STRING":
                # It is shown already.
                return self._escapes(at, stack, seen).shown("")
            if name.startswith("BUILD_"):
                escapes = self._escapes(at, stack, seen)
                # A container that is kept is another object at each call.
                if escapes.names or escapes.passes:
                    raise Used
                return escapes
            if name == "STORE_ATTR" and before[-2] is value:
                return Escapes(names=frozenset((instruction.argval,)))
            if name == "STORE_GLOBAL":
                return Escapes(names=frozenset((instruction.argval,)))
            if name == "CALL" and instruction.arg == 1 and before[-2].method == "append" and before[-1] is value:
                return self._escapes_into(before[-2].owner)
            if name == "COMPARE_OP":
                ops = _COMPARISONS.get(instruction.argval, ())
                is_right = before[-1] is value
                other = before[-2] if is_right else before[-1]
                if ops and other is not value:
                    return Escapes(comparisons=(self._comparison(ops[is_right], other, bool(seen)),))
            if name == "CALL":
                callee = self._callee(before, instruction.arg or 0)
                if instruction.arg == 1 and self._is_maths(callee):
                    return Escapes(comparisons=(self._classification(callee),))
                if all(symbol is not value for symbol in before[: len(before) - (instruction.arg or 0)]):
                    return Escapes(passes=frozenset((Pass(instruction.offset, *self._variable(callee)),)))
            raise Used
        raise Used

    def _specification(self, before: list[_Symbol], value: _Symbol, has_specification: bool) -> str:
        """How a value is formatted, from the stack before that."""
        if not has_specification:
            return ""
        load = self.instructions[before[-1].index]
        if before[-2] is not value or load.opname != "LOAD_CONST" or type(load.argval) is not str:
            raise Used
        return load.argval

    def _callee(self, stack: list[_Symbol], count: int) -> _Symbol:
        """The function that a call with this number of arguments calls, from the stack before it."""
        below, first = stack[-2 - count], stack[-1 - count]
        # The other one is a null.
        return first if self.instructions[below.index].opname in ("PUSH_NULL", "LOAD_GLOBAL") else below

    def _is_maths(self, callee: _Symbol) -> bool:
        owner = self.instructions[callee.owner.index] if callee.owner is not None else None
        return owner is not None and owner.opname == "LOAD_GLOBAL" and owner.argval == "math"

    def _variable(self, symbol: _Symbol) -> tuple[str, str, tuple[str, ...]]:
        """Where a value on the stack comes from: a "global" or "local" variable, its name, and the attributes that lead
        from it to the value."""
        load = self.instructions[symbol.index]
        attributes: tuple[str, ...] = ()
        while load.opname in ("LOAD_ATTR", "LOAD_METHOD") and symbol.owner is not None:
            attributes = (load.argval, *attributes)
            symbol = symbol.owner
            load = self.instructions[symbol.index]
        if load.opname == "LOAD_GLOBAL":
            return "global", load.argval, attributes
        if load.opname in _LOCALS or load.opname == "LOAD_DEREF":
            return "local", load.argval, attributes
        raise Used

    def _comparison(self, op: str, other: _Symbol, is_later: bool) -> Comparison:
        """A comparison with another value on the stack. If it comes later than the read, that must not change in
        between."""
        load = self.instructions[other.index]
        if load.opname in _CONSTANTS:
            return Comparison(op, "constant", load.argval)
        if is_later and (load.opname not in _LOCALS or self._assignments(load.argval) > 0):
            raise Used
        return Comparison(op, *self._variable(other))

    def _classification(self, function: _Symbol) -> Comparison:
        """A call of a function of `math` with the value."""
        load = self.instructions[function.index]
        if load.argval not in _CLASSIFIERS:
            raise Used
        return Comparison(load.argval, "math")

    def _assignments(self, name: str) -> int:
        """How many instructions give a local variable another value."""
        count = 0
        for each in self.instructions:
            names = each.argval if type(each.argval) is tuple else (each.argval,)
            stores = each.opname.startswith(("STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"))
            count += stores and name in names
        return count

    def _escapes_into(self, owner: _Symbol | None) -> Escapes:
        """The escapes of a value that is appended to a list, which has a name or is an item of what has one."""
        load = self.instructions[owner.index] if owner is not None else None
        if load is not None and load.opname == "BINARY_SUBSCR":
            owner = owner.owner if owner is not None else None
            load = self.instructions[owner.index] if owner is not None else None
        if load is None or load.opname not in ("LOAD_ATTR", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"):
            raise Used
        return Escapes(names=frozenset((load.argval,)))

    def _escapes_of_variable(self, name: str, seen: frozenset[str]) -> Escapes:
        """The escapes of the value of a local variable."""
        escapes = Escapes()
        if name in seen:
            return escapes
        for index, instruction in enumerate(self.instructions):
            loads = instruction.argval if "LOAD_FAST" in instruction.opname else None
            if loads == name and instruction.opname in _LOCALS:
                escapes |= self._escapes_after(index, seen | {name})
            elif loads == name or (type(loads) is tuple and name in loads):
                raise Used
        return escapes


_codes: weakref.WeakKeyDictionary[CodeType, _Code] = weakref.WeakKeyDictionary()
_known: weakref.WeakKeyDictionary[CodeType, dict[int, Escapes | None]] = weakref.WeakKeyDictionary()


def _code_of(code: CodeType) -> _Code:
    if (known := _codes.get(code)) is None:
        known = _codes[code] = _Code(code)
    return known


def escapes_of(code: CodeType, offset: int) -> Escapes | None:
    """How the result of the call `x.item()` or `float(x)` at `offset` escapes; None if it is used."""
    known = _known.setdefault(code, {})
    if offset not in known:
        try:
            known[offset] = _code_of(code).escapes_of_call(offset)
        except (Used, IndexError):
            known[offset] = None
    return known[offset]


def comparisons_of(frame: FrameType, offset: int) -> list[tuple[Any, ...]] | None:
    """The comparisons that a frame makes with the value that it reads: the op, and the other number. None if the value
    is used in another way."""
    escapes = escapes_of(frame.f_code, offset)
    if escapes is None or not all(each.is_repeated(frame) for each in escapes.passes):
        return None
    try:
        return [(each.op, *each.number(frame)) for each in escapes.comparisons]
    except Used:
        return None


_core.set_float_comparisons(comparisons_of)


def values_of(frame: FrameType) -> dict[str | int, Any] | None:
    """The arguments of the call that a frame makes, by position or name; None if they are not constants or
    variables."""
    try:
        return _code_of(frame.f_code).values(frame)
    except (Used, IndexError, KeyError):
        return None


def stream_of(frame: FrameType) -> str | None:
    """The name of the stream in `sys` that a frame prints to; None if it is not known."""
    try:
        return _code_of(frame.f_code).stream(frame)
    except (Used, IndexError, KeyError):
        return None


def passes_exceptions_on(frame: FrameType) -> bool:
    """Whether a frame passes on exceptions of the function that it calls, without running any code."""
    try:
        return _code_of(frame.f_code).passes_exceptions_on(frame.f_lasti)
    except Used:
        return False


def site_of(code: CodeType, offset: int) -> Site:
    """The site of the call that is running when `offset` is the last instruction."""
    try:
        known = _code_of(code)
        return code, known.instructions[known.index_at(offset)].offset
    except Used:
        return code, offset
